//! The pieces in which an element hands out a frame, and the parts in which they leave.
//!
//! Source: GStreamer's base class of encoders (`gstvideoencoder.c`, from 1.18 on). An element whose caps have the
//! alignment `nal` gives a piece of a frame to `gst_video_encoder_finish_subframe`, which pushes it with the frame's
//! time, and the last one to `gst_video_encoder_finish_frame`, which adds a marker. Of a keyframe, the first piece alone
//! says that it is one. Parameter sets that the class repeats are pieces with an older time, or none.
//!
//! Not every element keeps to that: Hailo's (`gsthailoenc.cpp`, `multislice_encoding`) hands out slices and finishes no
//! frame. A [`Fault`] says what an element does instead.

use mimosa_facts::Codec;
use mimosa_video::FramePart;

use crate::library::Piece;

/// A coded frame.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Frame {
    pub(crate) data: Vec<u8>,
    pub(crate) is_keyframe: bool,
    /// The number of pieces with slices that it came in.
    pub(crate) pieces: u32,
}

/// What is wrong with the pieces of an element's frames.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum Fault {
    /// Nothing more came of a frame, of which no piece had the marker.
    #[error("it gives no piece of a frame the marker of the last")]
    NoMarker,
    /// A piece has another time than the ones before it, none of which had the marker.
    #[error("it begins another frame before a piece has the marker of the last")]
    OtherFrame,
    /// A piece came after the one of its frame that had the marker.
    #[error("it gives the marker to a piece of a frame that is not the last")]
    EarlyMarker,
    /// Frames come in one piece.
    #[error("it hands out each frame in one piece")]
    OnePiece,
    /// A keyframe cannot be decoded by a viewer that comes with it.
    #[error("its keyframes have no parameter sets")]
    NoParameterSets,
}

/// How the pieces of a frame become its parts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Sharing {
    /// The most parts.
    pub(crate) parts: u8,
    /// The number of pieces with slices that is expected.
    pub(crate) pieces: u32,
}

impl Sharing {
    /// Whether a part is complete when so many pieces are there, of which others have left in so many parts.
    fn is_due(self, pieces: u32, left: u32) -> bool {
        let parts = u32::from(self.parts);
        left + 1 < parts && pieces * parts >= (left + 1) * self.pieces
    }
}

/// A frame whose last piece has not come.
#[derive(Debug)]
pub(crate) struct Growing {
    codec: Codec,
    sharing: Sharing,
    /// The time of the frame before, if that was whole.
    before: Option<u64>,
    time: Option<u64>,
    frame: Frame,
    /// The number of parts that have left, and of their bytes.
    left: u32,
    gone: usize,
}

impl Growing {
    pub(crate) fn new(codec: Codec, sharing: Sharing, before: Option<u64>) -> Self {
        Self {
            codec,
            sharing,
            before,
            time: None,
            frame: Frame::default(),
            left: 0,
            gone: 0,
        }
    }

    /// Takes the next piece, and gives a part to `out` when it is complete. Returns whether the frame is whole.
    ///
    /// # Errors
    ///
    /// The [`Fault`] that the piece shows; the piece is not taken then.
    pub(crate) fn take(
        &mut self,
        piece: &Piece,
        out: &mut dyn FnMut(FramePart<'_>),
    ) -> Result<bool, Fault> {
        if !piece.is_header && piece.time.is_some() {
            if piece.time == self.before {
                return Err(Fault::EarlyMarker);
            }
            if self.time.is_some() && piece.time != self.time {
                return Err(Fault::OtherFrame);
            }
            self.time = piece.time;
        }
        let has_slice = has_slice(self.codec, &piece.data);
        self.frame.data.extend_from_slice(&piece.data);
        self.frame.is_keyframe |= piece.is_keyframe;
        self.frame.pieces += u32::from(has_slice);
        if piece.has_marker || has_slice && self.sharing.is_due(self.frame.pieces, self.left) {
            self.leave(piece.has_marker, out);
        }
        Ok(piece.has_marker)
    }

    /// Whether nothing has come.
    pub(crate) const fn is_empty(&self) -> bool {
        self.frame.data.is_empty()
    }

    /// Whether a part has left.
    pub(crate) const fn has_left(&self) -> bool {
        self.left > 0
    }

    /// The frame, and its time.
    pub(crate) fn whole(self) -> (Frame, Option<u64>) {
        (self.frame, self.time)
    }

    /// Ends a frame of which parts have left with what there is. Filler data (H.264, 7.3.2.7; H.265, 7.3.2.8), which
    /// decoders leave out, is its last part if nothing else is.
    pub(crate) fn cut(mut self, out: &mut dyn FnMut(FramePart<'_>)) -> Frame {
        self.frame.data.extend_from_slice(filler(self.codec));
        self.leave(true, out);
        self.frame
    }

    fn leave(&mut self, is_last: bool, out: &mut dyn FnMut(FramePart<'_>)) {
        out(FramePart {
            data: &self.frame.data[self.gone..],
            is_keyframe: self.frame.is_keyframe,
            is_last,
        });
        self.left += 1;
        self.gone = self.frame.data.len();
    }
}

/// Whether elements may hand out frames of this codec in pieces.
pub(crate) const fn has_pieces(codec: Codec) -> bool {
    matches!(codec, Codec::H264 | Codec::H265)
}

/// Whether the units of a byte stream contain parameter sets of a sequence.
pub(crate) fn has_parameter_sets(codec: Codec, data: &[u8]) -> bool {
    kinds(codec, data).any(|kind| match codec {
        Codec::H264 => kind == 7,
        Codec::H265 => kind == 33,
        Codec::Av1 => false,
    })
}

/// Whether the units of a byte stream contain a slice.
fn has_slice(codec: Codec, data: &[u8]) -> bool {
    kinds(codec, data).any(|kind| match codec {
        Codec::H264 => (1..=5).contains(&kind),
        Codec::H265 => kind < 32,
        Codec::Av1 => false,
    })
}

/// The types of the units of a byte stream: H.264, 7.3.1; H.265, 7.3.1.2.
fn kinds(codec: Codec, data: &[u8]) -> impl Iterator<Item = u8> {
    let begins = data
        .windows(4)
        .filter(|bytes| bytes.starts_with(&[0, 0, 1]));
    begins.map(move |bytes| match codec {
        Codec::H265 => bytes[3] >> 1 & 63,
        Codec::H264 | Codec::Av1 => bytes[3] & 31,
    })
}

/// A unit of filler data, as short as there is.
const fn filler(codec: Codec) -> &'static [u8] {
    match codec {
        Codec::H265 => &[0, 0, 0, 1, 38 << 1, 1, 0xff, 0x80],
        Codec::H264 | Codec::Av1 => &[0, 0, 0, 1, 12, 0xff, 0x80],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slice of a frame at `time`.
    fn slice(time: u64, has_marker: bool) -> Piece {
        Piece {
            data: vec![0, 0, 1, 0x41, 9],
            time: Some(time),
            is_keyframe: false,
            is_header: false,
            has_marker,
        }
    }

    fn parameter_sets(time: Option<u64>) -> Piece {
        Piece {
            data: vec![0, 0, 0, 1, 0x67, 1],
            time,
            is_keyframe: true,
            is_header: true,
            has_marker: false,
        }
    }

    fn growing(parts: u8, pieces: u32) -> Growing {
        Growing::new(Codec::H264, Sharing { parts, pieces }, Some(1))
    }

    /// The lengths of the parts that leave with each of `pieces`, and whether they are the last.
    fn left(growing: &mut Growing, pieces: &[Piece]) -> Vec<Option<(usize, bool)>> {
        let mut all = Vec::new();
        for piece in pieces {
            let mut part = None;
            let is_whole = growing.take(piece, &mut |left| {
                assert!(part.is_none());
                part = Some((left.data.len(), left.is_last));
            });
            assert_eq!(is_whole, Ok(piece.has_marker));
            all.push(part);
        }
        all
    }

    #[test]
    fn each_slice_leaves_with_what_precedes_it() {
        let mut growing = growing(8, 3);
        let pieces = [
            parameter_sets(Some(1)),
            parameter_sets(None),
            slice(2, false),
            slice(2, false),
            slice(2, true),
        ];
        let parts = [
            None,
            None,
            Some((17, false)),
            Some((5, false)),
            Some((5, true)),
        ];
        assert_eq!(left(&mut growing, &pieces), parts);
        let (frame, time) = growing.whole();
        assert_eq!((frame.data.len(), frame.pieces, time), (27, 3, Some(2)));
        assert!(frame.is_keyframe && has_parameter_sets(Codec::H264, &frame.data));
    }

    #[test]
    fn units_of_h265_are_known_by_their_own_types() {
        // An access unit delimiter and parameter sets of video and sequence; a slice of a keyframe; a trailing one.
        let before = [
            &[0, 0, 0, 1, 70, 1, 80][..],
            &[0, 0, 1, 64, 1, 12, 0, 0, 1, 66, 1],
        ]
        .concat();
        let key = [0, 0, 1, 19 << 1, 1, 0xaf];
        let trailing = [0, 0, 0, 1, 1 << 1, 1, 0xd0];
        for (data, slice, sets) in [
            (&before[..], false, true),
            (&key, true, false),
            (&trailing, true, false),
        ] {
            assert_eq!(has_slice(Codec::H265, data), slice, "{data:?}");
            assert_eq!(has_parameter_sets(Codec::H265, data), sets, "{data:?}");
        }
    }

    #[test]
    fn a_frame_has_no_more_parts_than_asked_for() {
        // Six pieces, as expected; more than expected; and fewer.
        for (parts, expected, ends) in [
            (3, 6, &[2, 4, 6][..]),
            (4, 6, &[2, 3, 5, 6]),
            (1, 6, &[6]),
            (3, 2, &[1, 2, 6]),
            (8, 6, &[1, 2, 3, 4, 5, 6]),
            (2, 12, &[6]),
        ] {
            let mut pieces = vec![slice(2, false); 5];
            pieces.push(slice(2, true));
            let parts_left = left(&mut growing(parts, expected), &pieces);
            let found: Vec<_> = (1..)
                .zip(parts_left)
                .filter_map(|(n, part)| part.map(|_| n))
                .collect();
            assert_eq!(found, ends, "{parts} {expected}");
        }
    }

    #[test]
    fn what_an_element_does_wrong_is_said() {
        let none = &mut |_: FramePart<'_>| panic!("a part");
        let mut late = growing(1, 2);
        assert_eq!(late.take(&slice(1, false), none), Err(Fault::EarlyMarker));
        assert!(late.is_empty() && !late.has_left());
        let mut other = growing(1, 2);
        assert_eq!(other.take(&slice(2, false), none), Ok(false));
        assert_eq!(other.take(&slice(3, true), none), Err(Fault::OtherFrame));
        // What says no time belongs to the frame that is there.
        let timeless = Piece {
            time: None,
            ..slice(2, false)
        };
        assert_eq!(other.take(&timeless, none), Ok(false));
        assert_eq!(other.whole().0.pieces, 2);
    }

    #[test]
    fn a_frame_without_its_end_ends_with_filler() {
        let mut growing = growing(8, 3);
        left(&mut growing, &[slice(2, false), slice(2, false)]);
        let mut last = Vec::new();
        let frame = growing.cut(&mut |part| {
            assert!(part.is_last);
            last.extend_from_slice(part.data);
        });
        assert_eq!(last, filler(Codec::H264));
        assert!(frame.data.ends_with(&last) && frame.data.len() == 10 + last.len());
        for codec in [Codec::H264, Codec::H265] {
            assert!(!has_slice(codec, filler(codec)) && !has_parameter_sets(codec, filler(codec)));
        }
    }
}
