//! [`Decoder`]: a frame in, its picture out.

use mimosa_dynamic::Absent;
use mimosa_facts::Codec;
use mimosa_video::{BadSize, Samples, Size, TooFewSamples, View};

use crate::raw::{Format, Frame, NotOpen, Raw, Refusal, Threads};
use crate::units::units;

/// The most threads that the slices of a frame are worth.
const MOST_THREADS: u8 = 16;
/// The most bytes of an access unit: more than a picture of the largest size has.
const LARGEST: usize = 1 << 28;

/// The reason why a decoder gives no picture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The number of threads is zero, or larger than the number of slices of any frame.
    #[error("{0} threads; state 1 to {MOST_THREADS}")]
    Threads(u8),
    /// No libavcodec is installed, or none that this crate knows.
    #[error(transparent)]
    Absent(#[from] Absent),
    /// The installed libavcodec was built without a decoder of this codec.
    #[error("libavcodec has no decoder of {}; install one that has, e.g. Debian's libavcodec59", .0.name())]
    Missing(Codec),
    /// libavcodec does not open its decoder.
    #[error("libavcodec does not open its decoder of {}: {reason}", .codec.name())]
    Open {
        /// The codec of the decoder.
        codec: Codec,
        /// libavcodec's message.
        reason: String,
    },
    /// The frame is far larger than a coded picture can be.
    #[error("a frame of {0} bytes is too large; the most is {LARGEST}")]
    TooLarge(usize),
    /// The bytes are not of the codec, or some are missing. The next keyframe decodes
    /// again.
    #[error("libavcodec cannot decode a frame of {bytes} bytes: {reason}")]
    Damaged {
        /// The number of bytes.
        bytes: usize,
        /// libavcodec's message.
        reason: String,
    },
    /// The decoded picture is stored in a layout that is not supported.
    #[error("pictures in libavutil's format {0}; only 4:2:0 with 8 bits is decoded")]
    Format(i32),
    /// The decoded picture has a size that [`Size`] does not allow.
    #[error("a decoded picture cannot be used: {0}")]
    Size(#[from] BadSize),
    /// The decoded picture has fewer samples than its size needs.
    #[error("a decoded picture is not whole: {0}")]
    Samples(#[from] TooFewSamples),
}

/// Lists the codecs that the installed libavcodec decodes; none without libavcodec.
#[must_use]
pub fn decodable() -> Vec<Codec> {
    let all = Codec::ALL.into_iter();
    all.filter(|codec| Raw::is_there(*codec)).collect()
}

/// A decoder without delay: one frame in, its picture out.
///
/// The decoder can be used after an error: it decodes the next frame if that is possible.
#[derive(Debug)]
pub struct Decoder {
    codec: Codec,
    threads: Threads,
    raw: Raw,
    /// The number of frames so far.
    frames: i64,
    /// Whether `raw` has given a picture.
    has_shown: bool,
    begun: Option<Begun>,
    /// Whether libavcodec may have slices of a picture that has not ended.
    is_partial: bool,
}

/// The frame of which slices have been decoded.
#[derive(Clone, Copy, Debug)]
struct Begun {
    /// The caller's number of the frame.
    frame: u64,
    /// Number of bytes of its slices.
    bytes: usize,
}

/// A picture out of a [`Decoder`]. Later calls of the decoder do not change it.
#[derive(Debug)]
pub struct DecodedPicture {
    frame: Frame,
    size: Size,
}

impl Decoder {
    /// Opens a decoder. With one thread, the caller's thread decodes; several threads share
    /// the slices or tiles of a frame, where it has several. No thread waits for another
    /// frame.
    ///
    /// libavcodec's own messages, which it would write to standard error, are switched
    /// off in the whole process.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Threads`], [`DecodeError::Absent`], [`DecodeError::Missing`] or
    /// [`DecodeError::Open`].
    pub fn new(codec: Codec, threads: u8) -> Result<Self, DecodeError> {
        if !(1..=MOST_THREADS).contains(&threads) {
            return Err(DecodeError::Threads(threads));
        }
        Self::open(codec, Threads::Slices(i32::from(threads)))
    }

    /// Opens a decoder of H.264 that decodes each slice when it is there, in the caller's thread:
    /// [`Self::begin`].
    ///
    /// A frame in which something is wrong is not filled with something near: where libavcodec notices,
    /// the picture [is damaged](DecodedPicture::is_damaged), or there is none.
    ///
    /// # Errors
    ///
    /// As of [`Self::new`].
    pub fn of_slices() -> Result<Self, DecodeError> {
        Self::open(Codec::H264, Threads::OneByOne)
    }

    fn open(codec: Codec, threads: Threads) -> Result<Self, DecodeError> {
        Ok(Self {
            codec,
            threads,
            raw: open(codec, threads)?,
            frames: 0,
            has_shown: false,
            begun: None,
            is_partial: false,
        })
    }

    /// The codec that this decoder decodes.
    #[must_use]
    pub const fn codec(&self) -> Codec {
        self.codec
    }

    /// Decodes one frame in the form that its [`Codec`] names: the NAL units of one picture
    /// as a byte stream, or the OBUs of a temporal unit. Returns `None` if the frame has no
    /// picture, or none that can be shown yet, as before the first keyframe.
    ///
    /// libavcodec remembers some of what a damaged stream stated, for instance that
    /// pictures come in another order, and gives every picture one frame late from then on.
    /// Therefore a frame without a picture also goes to a fresh decoder, which takes over
    /// if it gives a picture, as it does for every keyframe.
    ///
    /// # Errors
    ///
    /// [`DecodeError`]; the decoder can still be used.
    pub fn decode(&mut self, frame: &[u8]) -> Result<Option<DecodedPicture>, DecodeError> {
        self.begun = None;
        self.decode_from(frame, 0)
    }

    /// Decodes slices of a frame before the frame is whole: `units` are the bytes of its access unit from
    /// the byte `from` on. [`Self::decode_begun`] follows with the whole frame, or another frame follows
    /// instead, and what has been decoded is thrown away. What cannot be decoded is found out then.
    ///
    /// Does nothing unless the decoder is one [of slices](Self::of_slices).
    pub fn begin(&mut self, frame: u64, from: usize, slices: &[u8]) {
        let known = self.begun.take().filter(|begun| begun.frame == frame);
        let before = known.map_or(0, |begun| begun.bytes);
        // Without an earlier slice, all wait for the whole frame.
        let is_next = from == before && !slices.is_empty() && slices.len() <= LARGEST;
        if self.threads != Threads::OneByOne || !is_next {
            return;
        }
        if from == 0 {
            self.clear();
            self.frames += 1;
            self.is_partial = true;
        }
        let frames = self.frames;
        if units(slices).all(|unit| self.raw.send(unit, frames).is_ok()) {
            let bytes = before + slices.len();
            self.begun = Some(Begun { frame, bytes });
        }
    }

    /// Decodes the frame with the caller's number `frame`, of which [`Self::begin`] may have decoded the
    /// first slices.
    ///
    /// # Errors
    ///
    /// As of [`Self::decode`].
    pub fn decode_begun(
        &mut self,
        frame: u64,
        access_unit: &[u8],
    ) -> Result<Option<DecodedPicture>, DecodeError> {
        let begun = self.begun.take().filter(|begun| begun.frame == frame);
        let decoded = begun.map_or(0, |begun| begun.bytes);
        // A picture comes with its last slice.
        let decoded = if decoded < access_unit.len() {
            decoded
        } else {
            0
        };
        self.decode_from(access_unit, decoded)
    }

    /// Decodes a frame, of which the first `decoded` bytes have been decoded.
    fn decode_from(
        &mut self,
        frame: &[u8],
        decoded: usize,
    ) -> Result<Option<DecodedPicture>, DecodeError> {
        if frame.is_empty() {
            // libavcodec would take an empty packet for the end of the stream.
            return Ok(None);
        }
        if frame.len() > LARGEST {
            return Err(DecodeError::TooLarge(frame.len()));
        }
        if decoded == 0 {
            self.clear();
            self.frames += 1;
        }
        let rest = frame.get(decoded..).unwrap_or(frame);
        let mut result = picture((&mut self.raw, self.threads), rest, self.frames);
        if self.has_shown && !matches!(result, Ok(Some(_))) {
            let mut fresh = open(self.codec, self.threads)?;
            if let Ok(Some(picture)) = picture((&mut fresh, self.threads), frame, self.frames) {
                self.raw = fresh;
                result = Ok(Some(picture));
            }
        }
        let has_picture = matches!(result, Ok(Some(_)));
        self.has_shown |= has_picture;
        self.is_partial = !has_picture && self.threads == Threads::OneByOne;
        result
    }

    /// Throws away the slices of a picture that will not end.
    fn clear(&mut self) {
        if std::mem::take(&mut self.is_partial) {
            self.raw.abandon();
        }
    }
}

fn open(codec: Codec, threads: Threads) -> Result<Raw, DecodeError> {
    Raw::open(codec, threads)
        .map_err(|error| match error {
            NotOpen::Absent(absent) => absent.into(),
            NotOpen::Refused(refusal) => DecodeError::Open {
                codec,
                reason: refusal.to_string(),
            },
        })?
        .ok_or(DecodeError::Missing(codec))
}

/// Takes the picture of the frame with this number.
fn picture(
    (raw, threads): (&mut Raw, Threads),
    frame: &[u8],
    number: i64,
) -> Result<Option<DecodedPicture>, DecodeError> {
    let damaged = |refusal: Refusal| DecodeError::Damaged {
        bytes: frame.len(),
        reason: refusal.to_string(),
    };
    let sent = match threads {
        Threads::Slices(_) => raw.send(frame, number),
        // What follows a slice that is wrong is decoded all the same.
        Threads::OneByOne => units(frame)
            .map(|unit| raw.send(unit, number))
            .fold(Ok(()), Result::and),
    };
    let sent = sent.map_err(damaged);
    // Several pictures come out only if the bytes were more than one frame. The newest one
    // counts, and none stays in the decoder.
    let mut newest = None;
    while let Some(frame) = raw.receive().map_err(damaged)? {
        newest = Some(frame);
    }
    sent?;
    let own = newest.filter(|newest| newest.number() == number);
    own.map(DecodedPicture::new).transpose()
}

impl DecodedPicture {
    fn new(frame: Frame) -> Result<Self, DecodeError> {
        if let Format::Other(format) = frame.format() {
            return Err(DecodeError::Format(format));
        }
        let (width, height) = frame.size();
        let positive = |side: i32| u32::try_from(side).unwrap_or_default();
        let size = Size::new(positive(width), positive(height))?;
        view(&frame, size)?;
        Ok(Self { frame, size })
    }

    /// The size of this picture. It differs from the size of the previous picture if the
    /// stream changed its size.
    #[must_use]
    pub const fn size(&self) -> Size {
        self.size
    }

    /// Whether something in this picture's frame was missing or wrong, so that libavcodec
    /// filled the gap with something near in time or place. Whole missing frames before
    /// this one do not count, because the stream says that its frame numbers may have gaps.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.frame.is_damaged()
    }

    /// The picture in libavcodec's memory. A stream that does not state its colours is
    /// taken as ITU-R BT.709 in limited range.
    ///
    /// # Panics
    ///
    /// Never: the planes were checked when the picture was made.
    #[must_use]
    #[expect(
        clippy::expect_used,
        reason = "the planes were checked when the picture was made"
    )]
    pub fn view(&self) -> View<'_> {
        view(&self.frame, self.size).expect("as it was before")
    }
}

fn view(frame: &Frame, size: Size) -> Result<View<'_>, TooFewSamples> {
    let planes = [0, 1, 2].map(|number| {
        let (data, stride) = frame.plane(number).unwrap_or_default();
        Samples { data, stride }
    });
    View::new(size, planes, frame.colours())
}
