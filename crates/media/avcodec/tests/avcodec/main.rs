//! Streams of real encoders through the real libavcodec.

#![allow(clippy::unwrap_used, reason = "a test may")]
#![allow(clippy::cast_possible_truncation, reason = "small numbers")]

mod codecs;
mod garbage;
mod pictures;
mod recovery;
mod slices;
mod stream;

/// A driver decodes in one thread and shows the pictures in another, so every type must be
/// `Send`.
#[test]
fn all_can_go_to_another_thread() {
    fn check<T: Send>() {}
    check::<mimosa_avcodec::Decoder>();
    check::<mimosa_avcodec::DecodedPicture>();
}
