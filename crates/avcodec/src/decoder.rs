//! The decoder itself.

use mimosa_video::{BadSize, Codec, Samples, Size, TooFewSamples, View};

use crate::raw::{Format, Frame, Raw, Refusal};

/// The most threads that a frame's slices are worth.
const MOST_THREADS: u8 = 16;
/// The most bytes of an access unit: more than a picture of the largest size has.
const LARGEST: usize = 1 << 28;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// No threads, or more than frames have slices.
    #[error("{0} threads; state 1 to {MOST_THREADS}")]
    Threads(u8),
    /// libavcodec was built without it.
    #[error("libavcodec has no decoder of {}; install one that has, e.g. Debian's libavcodec59", .0.name())]
    Missing(Codec),
    /// It does not open.
    #[error("libavcodec does not open its decoder of {}: {reason}", .codec.name())]
    Open {
        /// Of what.
        codec: Codec,
        /// libavcodec's word for why.
        reason: String,
    },
    /// Far more than a picture can be.
    #[error("a frame of {0} bytes; {LARGEST} are the most")]
    TooLarge(usize),
    /// What came is not of the codec, or not all of it. A keyframe starts anew.
    #[error("libavcodec decodes nothing of a frame of {bytes} bytes: {reason}")]
    Damaged {
        /// How much it was.
        bytes: usize,
        /// libavcodec's word for why.
        reason: String,
    },
    /// A picture that is stored in another way.
    #[error("pictures in libavutil's format {0}; only 4:2:0 with 8 bits is decoded")]
    Format(i32),
    /// A size that pictures do not have here.
    #[error("a decoded picture cannot be used: {0}")]
    Size(#[from] BadSize),
    /// libavcodec gave less than it said.
    #[error("a decoded picture is not whole: {0}")]
    Samples(#[from] TooFewSamples),
}

/// The codecs that libavcodec has decoders of.
#[must_use]
pub fn decodable() -> Vec<Codec> {
    let all = Codec::ALL.into_iter();
    all.filter(|codec| Raw::is_there(*codec)).collect()
}

/// A decoder without delay: one frame in, its picture out.
///
/// After an error it goes on: what comes next is decoded if it can be.
#[derive(Debug)]
pub struct Decoder {
    codec: Codec,
    threads: u8,
    raw: Raw,
    /// Frames so far.
    frames: i64,
    /// `raw` has given a picture.
    has_shown: bool,
}

/// A picture out of a [`Decoder`]. It stays as it is while the decoder goes on.
#[derive(Debug)]
pub struct DecodedPicture {
    frame: Frame,
    size: Size,
}

impl Decoder {
    /// Opens a decoder. One thread decodes in the thread of the caller; more share the
    /// slices or tiles of a frame, where it has several. Neither waits for another frame.
    ///
    /// libavcodec's own messages, which it would write to standard error, are switched
    /// off in the whole process.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Threads`], [`DecodeError::Missing`] or [`DecodeError::Open`].
    pub fn new(codec: Codec, threads: u8) -> Result<Self, DecodeError> {
        if !(1..=MOST_THREADS).contains(&threads) {
            return Err(DecodeError::Threads(threads));
        }
        Ok(Self {
            codec,
            threads,
            raw: open(codec, threads)?,
            frames: 0,
            has_shown: false,
        })
    }

    /// What it decodes.
    #[must_use]
    pub const fn codec(&self) -> Codec {
        self.codec
    }

    /// Decodes one frame in the form that its [`Codec`] names: the NAL units of one picture
    /// as a byte stream, or the OBUs of a temporal unit. `None` if there is no picture in
    /// it, or none yet that can be shown: all before the first keyframe.
    ///
    /// libavcodec keeps some of what a damaged stream said, for instance that pictures come
    /// in another order, and from then on gives each a frame late. So a frame that it has no
    /// picture of is given to a fresh decoder as well, which takes over if it has one: of
    /// every keyframe.
    ///
    /// # Errors
    ///
    /// [`DecodeError`]; the decoder can be used further.
    pub fn decode(&mut self, frame: &[u8]) -> Result<Option<DecodedPicture>, DecodeError> {
        if frame.is_empty() {
            // To libavcodec it would be the end of the stream.
            return Ok(None);
        }
        if frame.len() > LARGEST {
            return Err(DecodeError::TooLarge(frame.len()));
        }
        self.frames += 1;
        let mut result = picture(&mut self.raw, frame, self.frames);
        if self.has_shown && !matches!(result, Ok(Some(_))) {
            let mut fresh = open(self.codec, self.threads)?;
            if let Ok(Some(picture)) = picture(&mut fresh, frame, self.frames) {
                self.raw = fresh;
                result = Ok(Some(picture));
            }
        }
        self.has_shown |= matches!(result, Ok(Some(_)));
        result
    }
}

fn open(codec: Codec, threads: u8) -> Result<Raw, DecodeError> {
    Raw::open(codec, i32::from(threads))
        .map_err(|refusal| DecodeError::Open {
            codec,
            reason: refusal.to_string(),
        })?
        .ok_or(DecodeError::Missing(codec))
}

/// The picture of this very frame, the one of that number.
fn picture(
    raw: &mut Raw,
    frame: &[u8],
    number: i64,
) -> Result<Option<DecodedPicture>, DecodeError> {
    let damaged = |refusal: Refusal| DecodeError::Damaged {
        bytes: frame.len(),
        reason: refusal.to_string(),
    };
    let sent = raw.send(frame, number).map_err(damaged);
    // More than one picture comes out only of what is not one frame. The
    // newest counts, and none stays behind.
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

    /// Its size; another than that of the picture before, if the stream's changed.
    #[must_use]
    pub const fn size(&self) -> Size {
        self.size
    }

    /// Something in its frame was missing or wrong: libavcodec filled in what was
    /// near, in time or place. Whole frames that are missing before it are not seen here:
    /// the stream says that its frame numbers may have gaps.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.frame.is_damaged()
    }

    /// The picture where libavcodec has put it. A stream that does not say what its
    /// colours are has those of ITU-R BT.709 in limited range.
    ///
    /// # Panics
    ///
    /// Never: it was looked at once before.
    #[must_use]
    #[expect(clippy::expect_used, reason = "was checked when the picture was made")]
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
