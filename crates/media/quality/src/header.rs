//! The first line of a YUV4MPEG2 file, and the faults that a file can have.
//!
//! The format is that of `yuv4mpeg(5)` of the mjpegtools: a line of parameters, then for
//! each frame a line that begins with `FRAME`, and the frame's planes.

use crate::frame::PlaneSize;

/// The beginning of the first line.
const MAGIC: &str = "YUV4MPEG2";
/// The longest side of a picture that a file may claim.
const LONGEST_SIDE: usize = 16_384;
/// The supported layouts: planes of 8 bits with colours halved both ways. They differ in
/// where the colour samples lie, which no measure of this crate takes into account.
const LAYOUTS: [&str; 4] = ["420", "420jpeg", "420mpeg2", "420paldv"];

/// The reason why bytes are not a YUV4MPEG2 file of 8 bits and 4:2:0. `byte` counts from
/// the beginning of the file.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Y4mError {
    /// The file does not begin with `YUV4MPEG2`.
    #[error("byte 0: the file does not begin with `YUV4MPEG2 `; name a .y4m file")]
    NotY4m,
    /// A line is too long.
    #[error("byte {byte}: a line of more than {most} bytes; the file is damaged or no .y4m file")]
    LongLine {
        /// The place where the line begins.
        byte: u64,
        /// The most bytes that a line may have.
        most: usize,
    },
    /// A parameter has an impossible value.
    #[error("byte {byte}: `{text}` is not a valid {what}; write e.g. `{example}`")]
    BadParameter {
        /// The place of the parameter.
        byte: u64,
        /// The parameter as the file has it.
        text: String,
        /// The thing that the parameter should state.
        what: &'static str,
        /// A valid parameter.
        example: &'static str,
    },
    /// The first line does not state the width or the height.
    #[error("byte 0: the first line has no {what}; write e.g. `{example}`")]
    Missing {
        /// The parameter that is missing.
        what: &'static str,
        /// A valid parameter.
        example: &'static str,
    },
    /// The layout of the colours is another one, or samples have more than 8 bits.
    #[error(
        "byte {byte}: the layout `{text}` is not 8 bits in 4:2:0; convert it, e.g. `ffmpeg -i IN.y4m -pix_fmt yuv420p OUT.y4m`"
    )]
    Layout {
        /// The place of the parameter.
        byte: u64,
        /// The parameter as the file has it.
        text: String,
    },
    /// Frames are interlaced: they consist of two fields.
    #[error(
        "byte {byte}: `{text}` means interlaced; convert it, e.g. `ffmpeg -i IN.y4m -vf yadif OUT.y4m`"
    )]
    Interlaced {
        /// The place of the parameter.
        byte: u64,
        /// The parameter as the file has it.
        text: String,
    },
    /// A frame should begin, but something else does.
    #[error(
        "byte {byte}: no `FRAME` where frame {frame}, counted from zero, should begin; the file is damaged, or its first line states another size"
    )]
    NoFrame {
        /// The place where the frame should begin.
        byte: u64,
        /// The number of the frame, counted from zero.
        frame: u64,
    },
    /// The file ends within a line or a frame.
    #[error("byte {byte}: the file ends within {what}; copy or write it again in full")]
    Truncated {
        /// The place where the file ends.
        byte: u64,
        /// The part that is cut off.
        what: &'static str,
    },
}

/// A frame rate as a fraction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FrameRate {
    /// The number of frames in [`FrameRate::seconds`].
    pub frames: u32,
    /// The number of seconds that [`FrameRate::frames`] take.
    pub seconds: u32,
}

/// The contents of the first line.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Header {
    /// The size of the pictures.
    pub size: PlaneSize,
    /// The frame rate; `None` when unknown.
    pub rate: Option<FrameRate>,
}

impl Header {
    /// The first line with its line end, for progressive frames with square pixels in
    /// limited range.
    #[must_use]
    pub fn to_line(&self) -> String {
        let PlaneSize { width, height } = self.size;
        let (frames, seconds) = self.rate.map_or((0, 0), |rate| (rate.frames, rate.seconds));
        format!(
            "{MAGIC} W{width} H{height} F{frames}:{seconds} Ip A1:1 C420jpeg XCOLORRANGE=LIMITED\n"
        )
    }

    /// Reads the first line, which is given without its line end.
    pub(crate) fn parse(line: &[u8]) -> Result<Self, Y4mError> {
        let rest = line
            .strip_prefix(MAGIC.as_bytes())
            .filter(|rest| rest.first().is_none_or(|byte| *byte == b' '))
            .ok_or(Y4mError::NotY4m)?;
        let (mut width, mut height, mut rate) = (None, None, None);
        let mut byte = MAGIC.len() as u64;
        for word in rest.split(|byte| *byte == b' ') {
            let word = Word { byte, text: word };
            byte += word.text.len() as u64 + 1;
            match word.text.split_first() {
                Some((b'W', value)) => width = Some(word.side(value, "width", "W1280")?),
                Some((b'H', value)) => height = Some(word.side(value, "height", "H720")?),
                Some((b'F', value)) => rate = word.rate(value)?,
                Some((b'I', value)) => word.progressive(value)?,
                Some((b'C', value)) => word.layout(value)?,
                // The shape of pixels, comments, and parameters that other programs add.
                _ => {}
            }
        }
        let missing = |what, example| Y4mError::Missing { what, example };
        Ok(Self {
            size: PlaneSize {
                width: width.ok_or_else(|| missing("width", "W1280"))?,
                height: height.ok_or_else(|| missing("height", "H720"))?,
            },
            rate,
        })
    }
}

/// A parameter and its place in the file.
#[derive(Clone, Copy)]
struct Word<'a> {
    byte: u64,
    text: &'a [u8],
}

impl Word<'_> {
    fn lossy(self) -> String {
        String::from_utf8_lossy(self.text).into_owned()
    }

    fn bad(self, what: &'static str, example: &'static str) -> Y4mError {
        Y4mError::BadParameter {
            byte: self.byte,
            text: self.lossy(),
            what,
            example,
        }
    }

    fn side(
        self,
        value: &[u8],
        what: &'static str,
        example: &'static str,
    ) -> Result<usize, Y4mError> {
        number(value)
            .filter(|side| (1..=LONGEST_SIDE).contains(side))
            .ok_or_else(|| self.bad(what, example))
    }

    /// Reads a frame rate; `0:0` stands for an unknown one.
    fn rate(self, value: &[u8]) -> Result<Option<FrameRate>, Y4mError> {
        let mut parts = value.split(|byte| *byte == b':').map(number);
        match (parts.next(), parts.next(), parts.next()) {
            (Some(Some(0)), Some(Some(0)), None) => Ok(None),
            (Some(Some(frames)), Some(Some(seconds)), None) if frames > 0 && seconds > 0 => {
                Ok(Some(FrameRate { frames, seconds }))
            }
            _ => Err(self.bad("frame rate", "F60:1")),
        }
    }

    fn progressive(self, value: &[u8]) -> Result<(), Y4mError> {
        match value {
            b"p" | b"?" => Ok(()),
            b"t" | b"b" | b"m" => Err(Y4mError::Interlaced {
                byte: self.byte,
                text: self.lossy(),
            }),
            _ => Err(self.bad("kind of interlacing", "Ip")),
        }
    }

    fn layout(self, value: &[u8]) -> Result<(), Y4mError> {
        if LAYOUTS.iter().any(|layout| layout.as_bytes() == value) {
            Ok(())
        } else {
            Err(Y4mError::Layout {
                byte: self.byte,
                text: self.lossy(),
            })
        }
    }
}

/// Reads a whole number that consists of digits only.
pub(crate) fn number<T: std::str::FromStr>(text: &[u8]) -> Option<T> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    let text = is_number.then(|| std::str::from_utf8(text).ok())??;
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Header, String> {
        Header::parse(line.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_line_is_read_as_it_is_written() {
        for rate in [
            None,
            Some(FrameRate {
                frames: 60_000,
                seconds: 1_001,
            }),
        ] {
            let header = Header {
                size: PlaneSize {
                    width: 1279,
                    height: 1,
                },
                rate,
            };
            let line = header.to_line();
            assert_eq!(parse(line.trim_end()), Ok(header));
        }
    }

    #[test]
    fn lines_of_other_programs_are_read() {
        for line in [
            "YUV4MPEG2 W320 H240 F30:1 Ip A1:1 C420jpeg XYSCSS=420JPEG",
            "YUV4MPEG2 H240  W320 F30:1 C420mpeg2 I? A0:0",
            "YUV4MPEG2 W320 H240 F30:1",
        ] {
            let header = parse(line).unwrap();
            assert_eq!(header.size.to_string(), "320x240");
            let rate = header.rate.map(|rate| (rate.frames, rate.seconds));
            assert_eq!(rate, Some((30, 1)));
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place_and_its_mend() {
        for (line, message) in [
            (
                "YUV4MPEG W320 H240",
                "byte 0: the file does not begin with `YUV4MPEG2 `; name a .y4m file",
            ),
            (
                "YUV4MPEG2 W0 H240",
                "byte 10: `W0` is not a valid width; write e.g. `W1280`",
            ),
            (
                "YUV4MPEG2 W320 H16385",
                "byte 15: `H16385` is not a valid height; write e.g. `H720`",
            ),
            (
                "YUV4MPEG2 W320 H+24",
                "byte 15: `H+24` is not a valid height; write e.g. `H720`",
            ),
            (
                "YUV4MPEG2 W320",
                "byte 0: the first line has no height; write e.g. `H720`",
            ),
            (
                "YUV4MPEG2 W320 H240 F30",
                "byte 20: `F30` is not a valid frame rate; write e.g. `F60:1`",
            ),
            (
                "YUV4MPEG2 W320 H240 F30:0",
                "byte 20: `F30:0` is not a valid frame rate; write e.g. `F60:1`",
            ),
            (
                "YUV4MPEG2 W320 H240 Iq",
                "byte 20: `Iq` is not a valid kind of interlacing; write e.g. `Ip`",
            ),
            (
                "YUV4MPEG2 W320 H240 It",
                "byte 20: `It` means interlaced; convert it, e.g. `ffmpeg -i IN.y4m -vf yadif OUT.y4m`",
            ),
            (
                "YUV4MPEG2 W320 H240 C420p10",
                "byte 20: the layout `C420p10` is not 8 bits in 4:2:0; convert it, e.g. `ffmpeg -i IN.y4m -pix_fmt yuv420p OUT.y4m`",
            ),
        ] {
            assert_eq!(parse(line), Err(message.to_owned()));
        }
    }
}
