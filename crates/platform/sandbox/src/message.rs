//! What the two processes say to each other.
//!
//! Both kinds of message are of one length, with little-endian numbers. The bytes of a frame follow their
//! [`Request`]; the samples of a picture are in the shared memory, rows and planes without gaps, before its
//! [`Answer`] is sent. An answer comes from a process that a hostile host may have taken over: every
//! sequence of bytes either is an answer or is refused.

use mimosa_facts::Codec;
use mimosa_units::one_line;
use mimosa_video::{BadSize, Colours, Matrix, Size};

/// The length of a request.
pub(crate) const REQUEST: usize = 24;
/// The length of an answer.
pub const ANSWER: usize = 184;
/// The most bytes that follow a request: as many as libavcodec's decoder is given at once.
pub(crate) const MOST_BYTES: usize = 1 << 28;
/// Where an answer's text begins. It extends to the answer's end.
const TEXT: usize = 24;

/// Slices of a frame that is not whole yet.
const SLICES: u8 = 1;
/// A whole frame.
const FRAME: u8 = 2;

/// Kinds of answers.
mod kind {
    pub(super) const READY: u8 = 1;
    pub(super) const FAILED: u8 = 2;
    pub(super) const PICTURE: u8 = 3;
    pub(super) const NOTHING: u8 = 4;
    pub(super) const REFUSED: u8 = 5;
}

/// Properties of a picture, a bit each.
mod bit {
    pub(super) const BT601: u8 = 1;
    pub(super) const FULL_RANGE: u8 = 2;
    pub(super) const DAMAGED: u8 = 4;
    pub(super) const ALL: u8 = BT601 | FULL_RANGE | DAMAGED;
}

/// A request, which as many bytes follow as it says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Request {
    /// Decode slices of a frame, and answer nothing.
    Slices {
        /// The caller's number of the frame.
        number: u64,
        /// Where in the frame the slices begin.
        from: u64,
        /// How many bytes follow.
        length: u32,
    },
    /// Decode a frame, and answer.
    Frame {
        /// The caller's number of the frame.
        number: u64,
        /// The codec of the frame.
        codec: Codec,
        /// How many bytes follow.
        length: u32,
    },
}

impl Request {
    pub(crate) fn bytes(self) -> [u8; REQUEST] {
        let (kind, codec, length, number, from) = match self {
            Self::Slices {
                number,
                from,
                length,
            } => (SLICES, 0, length, number, from),
            Self::Frame {
                number,
                codec,
                length,
            } => (FRAME, place(codec), length, number, 0),
        };
        let mut bytes = [0; REQUEST];
        bytes[0] = kind;
        bytes[1] = codec;
        bytes[4..8].copy_from_slice(&length.to_le_bytes());
        bytes[8..16].copy_from_slice(&number.to_le_bytes());
        bytes[16..24].copy_from_slice(&from.to_le_bytes());
        bytes
    }

    /// Reads a request; `None` if the bytes are none.
    pub(crate) fn parse(bytes: &[u8; REQUEST]) -> Option<Self> {
        let length = u32_at(bytes, 4);
        let (number, from) = (u64_at(bytes, 8), u64_at(bytes, 16));
        if length as usize > MOST_BYTES || bytes[2..4] != [0, 0] {
            return None;
        }
        match (bytes[0], bytes[1], from) {
            (SLICES, 0, from) => Some(Self::Slices {
                number,
                from,
                length,
            }),
            (FRAME, codec, 0) => Some(Self::Frame {
                number,
                codec: *Codec::ALL.get(usize::from(codec))?,
                length,
            }),
            _ => None,
        }
    }

    pub(crate) const fn length(self) -> usize {
        match self {
            Self::Slices { length, .. } | Self::Frame { length, .. } => length as usize,
        }
    }
}

/// What a decoder's process answers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Answer {
    /// The process can reach nothing any more, and decodes these codecs.
    Ready {
        /// The codecs, in the order of [`Codec::ALL`].
        codecs: Vec<Codec>,
    },
    /// The process does not decode, for a reason that is told in one line, and ends.
    Failed {
        /// The reason.
        reason: String,
    },
    /// The picture of a frame is in the shared memory.
    Picture {
        /// The number of the frame.
        number: u64,
        /// The size of the picture.
        size: Size,
        /// The meaning of its samples.
        colours: Colours,
        /// Whether libavcodec filled in something that was missing or wrong.
        is_damaged: bool,
    },
    /// A frame has no picture.
    Nothing {
        /// The number of the frame.
        number: u64,
    },
    /// A frame cannot be decoded, for a reason that is told in one line.
    Refused {
        /// The number of the frame.
        number: u64,
        /// The reason.
        reason: String,
    },
}

/// The bytes are not an answer.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BadAnswer {
    /// There are more or fewer of them than an answer has.
    #[error("{0} bytes in place of {ANSWER}")]
    Length(usize),
    /// No answer is of this kind.
    #[error("an answer of kind {0}")]
    Kind(u8),
    /// A field that means nothing in this kind of answer is not zero, or a bit that means nothing.
    #[error("a field that has no meaning is set")]
    Meaningless,
    /// No picture has this size.
    #[error(transparent)]
    Size(#[from] BadSize),
    /// The answer is about another frame than was asked for.
    #[error("an answer about frame {got}, not {expected}")]
    Number {
        /// The number that was asked for.
        expected: u64,
        /// The number in the answer.
        got: u64,
    },
    /// An answer that comes only at another time.
    #[error("an answer at the wrong time")]
    OutOfTurn,
}

impl Answer {
    /// The answer as it is sent. Text that is too long is cut.
    #[must_use]
    pub fn bytes(&self) -> [u8; ANSWER] {
        let mut bytes = [0; ANSWER];
        let (kind, bits, number, text) = match self {
            Self::Ready { codecs } => {
                let mask = codecs
                    .iter()
                    .fold(0, |mask, codec| mask | 1 << place(*codec));
                (kind::READY, mask, 0, "")
            }
            Self::Failed { reason } => (kind::FAILED, 0, 0, reason.as_str()),
            Self::Picture {
                number,
                size,
                colours,
                is_damaged,
            } => {
                bytes[4..8].copy_from_slice(&size.width().to_le_bytes());
                bytes[8..12].copy_from_slice(&size.height().to_le_bytes());
                let set = |is_set, bit| if is_set { bit } else { 0 };
                let bits = set(colours.matrix == Matrix::Bt601, bit::BT601)
                    | set(colours.is_full_range, bit::FULL_RANGE)
                    | set(*is_damaged, bit::DAMAGED);
                (kind::PICTURE, bits, *number, "")
            }
            Self::Nothing { number } => (kind::NOTHING, 0, *number, ""),
            Self::Refused { number, reason } => (kind::REFUSED, 0, *number, reason.as_str()),
        };
        bytes[0] = kind;
        bytes[1] = bits;
        bytes[16..24].copy_from_slice(&number.to_le_bytes());
        let end = text.floor_char_boundary(ANSWER - TEXT);
        let text = text.get(..end).unwrap_or_default().as_bytes();
        for (place, byte) in bytes.iter_mut().skip(TEXT).zip(text) {
            *place = *byte;
        }
        bytes
    }

    /// Reads an answer.
    ///
    /// # Errors
    ///
    /// [`BadAnswer`] names what is wrong.
    pub fn parse(bytes: &[u8]) -> Result<Self, BadAnswer> {
        let bytes: &[u8; ANSWER] = bytes
            .try_into()
            .map_err(|_| BadAnswer::Length(bytes.len()))?;
        let (kind, bits, number) = (bytes[0], bytes[1], u64_at(bytes, 16));
        let (width, height) = (u32_at(bytes, 4), u32_at(bytes, 8));
        let has_text = bytes[TEXT..].iter().any(|byte| *byte != 0);
        let zero = |is_zero: bool| is_zero.then_some(()).ok_or(BadAnswer::Meaningless);
        zero(bytes[2..4] == [0; 2] && bytes[12..16] == [0; 4])?;
        zero(kind == kind::PICTURE || (width, height) == (0, 0))?;
        zero(!has_text || [kind::FAILED, kind::REFUSED].contains(&kind))?;
        match kind {
            kind::READY => {
                zero(number == 0 && bits < 1 << Codec::ALL.len())?;
                let codecs = Codec::ALL.into_iter();
                let is_there = |codec: &Codec| bits & 1 << place(*codec) != 0;
                Ok(Self::Ready {
                    codecs: codecs.filter(is_there).collect(),
                })
            }
            kind::FAILED => {
                zero(number == 0 && bits == 0)?;
                Ok(Self::Failed {
                    reason: text(bytes),
                })
            }
            kind::PICTURE => {
                zero(bits & !bit::ALL == 0)?;
                let matrix = if bits & bit::BT601 == 0 {
                    Matrix::Bt709
                } else {
                    Matrix::Bt601
                };
                Ok(Self::Picture {
                    number,
                    size: Size::new(width, height)?,
                    colours: Colours {
                        matrix,
                        is_full_range: bits & bit::FULL_RANGE != 0,
                    },
                    is_damaged: bits & bit::DAMAGED != 0,
                })
            }
            kind::NOTHING => {
                zero(bits == 0)?;
                Ok(Self::Nothing { number })
            }
            kind::REFUSED => {
                zero(bits == 0)?;
                let reason = text(bytes);
                Ok(Self::Refused { number, reason })
            }
            other => Err(BadAnswer::Kind(other)),
        }
    }
}

/// An answer's text, as a line that a log or a terminal may be given.
fn text(bytes: &[u8; ANSWER]) -> String {
    let text = bytes[TEXT..].split(|byte| *byte == 0).next();
    one_line(&String::from_utf8_lossy(text.unwrap_or_default()), ANSWER)
}

/// The place of a codec in [`Codec::ALL`].
fn place(codec: Codec) -> u8 {
    match codec {
        Codec::H264 => 0,
        Codec::H265 => 1,
        Codec::Av1 => 2,
    }
}

fn u32_at<const N: usize>(bytes: &[u8; N], at: usize) -> u32 {
    let field = bytes.get(at..).and_then(<[u8]>::first_chunk);
    u32::from_le_bytes(field.copied().unwrap_or_default())
}

fn u64_at<const N: usize>(bytes: &[u8; N], at: usize) -> u64 {
    let field = bytes.get(at..).and_then(<[u8]>::first_chunk);
    u64::from_le_bytes(field.copied().unwrap_or_default())
}

#[cfg(test)]
mod tests;
