//! Reading YUV4MPEG2 from bytes as they arrive.

use crate::frame::Frame;
use crate::header::{Header, Y4mError, number};
use crate::writer::{FRAME, NUMBER};

/// The longest first line, and the longest line before a frame. Our choice.
const LONGEST_HEADER: usize = 1_024;
const LONGEST_FRAME_LINE: usize = 256;

/// The part of the file that comes next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Header,
    FrameLine,
    Planes,
}

/// A reader that takes bytes in pieces of any size and gives frames.
///
/// Memory grows with the bytes that arrive, not with the size that a file claims. After an
/// error, nothing more can be read.
#[derive(Debug)]
pub struct Reader {
    part: Part,
    header: Option<Header>,
    /// The bytes of a line or of planes that are not whole yet.
    held: Vec<u8>,
    /// The place in the file at which `held` begins.
    byte: u64,
    frames: u64,
    number: Option<u64>,
}

impl Default for Reader {
    fn default() -> Self {
        Self::new()
    }
}

impl Reader {
    /// A reader at the beginning of a file.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            part: Part::Header,
            header: None,
            held: Vec::new(),
            byte: 0,
            frames: 0,
            number: None,
        }
    }

    /// The contents of the first line, once it is read.
    #[must_use]
    pub const fn header(&self) -> Option<Header> {
        self.header
    }

    /// Takes bytes from the front of `input` up to the end of a frame, and returns the
    /// frame; returns `None` when all bytes were taken and the next frame is not whole.
    ///
    /// # Errors
    ///
    /// [`Y4mError`] with the place of the fault.
    pub fn read(&mut self, input: &mut &[u8]) -> Result<Option<Frame>, Y4mError> {
        while !input.is_empty() {
            match (self.part, self.header) {
                (Part::Planes, Some(header)) => {
                    let missing = header.size.frame_len() - self.held.len();
                    let (taken, rest) = input.split_at(missing.min(input.len()));
                    self.held.extend_from_slice(taken);
                    *input = rest;
                    if taken.len() == missing {
                        let mut frame = Frame::new(header.size, self.take());
                        self.part = Part::FrameLine;
                        self.frames += 1;
                        if let Some(frame) = &mut frame {
                            frame.number = self.number;
                        }
                        return Ok(frame);
                    }
                }
                (Part::FrameLine, Some(_)) => {
                    let line = self.line(input, LONGEST_FRAME_LINE, FRAME.as_bytes());
                    let line = line.map_err(|error| match error {
                        Y4mError::NotY4m => Y4mError::NoFrame {
                            byte: self.byte,
                            frame: self.frames,
                        },
                        other => other,
                    })?;
                    if let Some(line) = line {
                        self.frame_line(&line)?;
                    }
                }
                _ => {
                    if let Some(line) = self.line(input, LONGEST_HEADER, b"YUV4MPEG2")? {
                        self.header = Some(Header::parse(&line)?);
                        self.part = Part::FrameLine;
                    }
                }
            }
        }
        Ok(None)
    }

    /// Checks whether a file may end here.
    ///
    /// # Errors
    ///
    /// [`Y4mError::Truncated`] when the first line or a frame is not whole.
    pub fn end(&self) -> Result<(), Y4mError> {
        let what = match self.part {
            Part::Header => "its first line",
            Part::FrameLine if self.held.is_empty() => return Ok(()),
            Part::FrameLine => "a frame's line",
            Part::Planes => "a frame",
        };
        Err(Y4mError::Truncated {
            byte: self.byte + self.held.len() as u64,
            what,
        })
    }

    /// Returns the rest of a line which begins with `magic`, without its line end, once it
    /// is whole; [`Y4mError::NotY4m`] when it begins otherwise.
    fn line(
        &mut self,
        input: &mut &[u8],
        most: usize,
        magic: &[u8],
    ) -> Result<Option<Vec<u8>>, Y4mError> {
        let end = input.iter().position(|byte| *byte == b'\n');
        let (taken, rest) = input.split_at(end.unwrap_or(input.len()));
        let room = most.saturating_sub(self.held.len());
        self.held
            .extend_from_slice(taken.get(..room).unwrap_or(taken));
        if self.held.iter().zip(magic).any(|(got, want)| got != want)
            || (end.is_some() && self.held.len() < magic.len())
        {
            return Err(Y4mError::NotY4m);
        }
        if taken.len() > room {
            return Err(Y4mError::LongLine {
                byte: self.byte,
                most,
            });
        }
        *input = rest.get(1..).unwrap_or_default();
        Ok(end.map(|_| {
            let line = self.take();
            self.byte += 1;
            line
        }))
    }

    /// Reads the line before a frame.
    fn frame_line(&mut self, line: &[u8]) -> Result<(), Y4mError> {
        let parameters = line.get(FRAME.len()..).unwrap_or_default();
        if parameters.first().is_some_and(|byte| *byte != b' ') {
            return Err(Y4mError::NoFrame {
                byte: self.byte - line.len() as u64 - 1,
                frame: self.frames,
            });
        }
        let mut words = parameters.split(|byte| *byte == b' ');
        self.number = words.find_map(|word| number(word.strip_prefix(NUMBER.as_bytes())?));
        self.part = Part::Planes;
        Ok(())
    }

    fn take(&mut self) -> Vec<u8> {
        let held = std::mem::take(&mut self.held);
        self.byte += held.len() as u64;
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::PlaneSize;
    use crate::writer::frame_line;

    const SIZE: PlaneSize = PlaneSize {
        width: 3,
        height: 5,
    };

    /// A file of three frames, of which the second has no number.
    fn file() -> Vec<u8> {
        let header = Header {
            size: SIZE,
            rate: None,
        };
        let mut file = header.to_line().into_bytes();
        for (number, sample) in [(Some(7), 1), (None, 2), (Some(9), 3)] {
            file.extend(frame_line(number).into_bytes());
            file.extend(vec![sample; SIZE.frame_len()]);
        }
        file
    }

    fn read(file: &[u8], piece: usize) -> Result<Vec<Frame>, Y4mError> {
        let mut reader = Reader::new();
        let mut frames = Vec::new();
        for mut piece in file.chunks(piece) {
            while let Some(frame) = reader.read(&mut piece)? {
                frames.push(frame);
            }
            assert!(piece.is_empty(), "something was not taken");
        }
        reader.end()?;
        Ok(frames)
    }

    #[test]
    fn frames_are_the_same_in_pieces_of_any_size() {
        let file = file();
        // 15 samples of brightness, two times 2 x 3 of colour.
        assert_eq!(SIZE.frame_len(), 27);
        for piece in 1..file.len() {
            let frames = read(&file, piece).unwrap();
            let numbers: Vec<_> = frames.iter().map(|frame| frame.number).collect();
            assert_eq!(numbers, [Some(7), None, Some(9)]);
            for (frame, sample) in frames.iter().zip(1..) {
                assert_eq!(frame.planes().map(<[u8]>::len), [15, 6, 6]);
                assert!(frame.data().iter().all(|got| *got == sample));
            }
        }
    }

    #[test]
    fn a_cut_file_says_where_and_in_what() {
        let file = file();
        let header = file.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for length in 0..file.len() {
            let result = read(&file[..length], 64);
            let place = |error: &Y4mError| match error {
                Y4mError::Truncated { byte, what } => (*byte, *what),
                other => panic!("{other} after {length} bytes"),
            };
            match length {
                0.. if length < header => {
                    let error = result.unwrap_err();
                    assert_eq!(place(&error), (length as u64, "its first line"));
                }
                _ => match result {
                    Ok(frames) => assert!(frames.len() < 3),
                    Err(error) => assert_eq!(place(&error).0, length as u64),
                },
            }
        }
        let cut = read(&file[..header + 3], 64).unwrap_err().to_string();
        assert_eq!(
            cut,
            format!(
                "byte {}: the file ends within a frame's line; copy or write it again in full",
                header + 3
            )
        );
    }

    #[test]
    fn what_is_no_frame_is_told_at_once() {
        let whole = file();
        let header = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let mut wrong = whole.clone();
        wrong[header] = b'G';
        assert_eq!(
            read(&wrong, 1),
            Err(Y4mError::NoFrame {
                byte: header as u64,
                frame: 0
            })
        );
        // The first line states one row less than there is.
        let text = String::from_utf8(whole[..header].to_vec()).unwrap();
        let mut wrong = text.replace("W3", "W4").into_bytes();
        wrong.extend(&whole[header..]);
        let second = header as u64 + "FRAME XNUMBER=7\n".len() as u64 + 32;
        assert_eq!(
            read(&wrong, 7),
            Err(Y4mError::NoFrame {
                byte: second,
                frame: 1
            })
        );
        let mut wrong = whole[..header].to_vec();
        wrong.extend(b"FRAMES\n");
        assert_eq!(
            read(&wrong, 5),
            Err(Y4mError::NoFrame {
                byte: header as u64,
                frame: 0
            })
        );
        assert_eq!(read(b"RIFF", 1), Err(Y4mError::NotY4m));
        assert_eq!(read(b"YUV4\n", 9), Err(Y4mError::NotY4m));
    }

    #[test]
    fn a_line_without_end_is_not_kept() {
        let mut file = file();
        let header = file.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for piece in [1, 100, 10_000] {
            let long = [b"YUV4MPEG2 X".as_slice(), &[b'x'; 5_000]].concat();
            assert_eq!(
                read(&long, piece),
                Err(Y4mError::LongLine {
                    byte: 0,
                    most: LONGEST_HEADER
                })
            );
        }
        file.truncate(header);
        file.extend(b"FRAME X");
        file.extend([b'x'; 300]);
        assert_eq!(
            read(&file, 64),
            Err(Y4mError::LongLine {
                byte: header as u64,
                most: LONGEST_FRAME_LINE
            })
        );
    }
}
