//! One suite of tests and one benchmark for every video encoder.
//!
//! An encoder's crate describes its encoder once, as a [`Subject`]: how it is opened, and
//! what it promises. [`suite!`] turns every check of this crate into a test of that subject:
//!
//! ```text
//! fn subject() -> mimosa_conformance::Subject { … }
//! mimosa_conformance::suite!(subject());
//! ```
//!
//! A check asks for what [`Capabilities`](mimosa_video::Capabilities) state: a capability
//! that is true has an effect, and one that is false has none. Streams are decoded by
//! the `ffmpeg` command, which shares no code with the encoders. The parts from which the checks are
//! made, [`Clip`], [`Stream`] and [`decode`], serve the tests that only one encoder needs.
//!
//! This crate is a dependency of tests and benchmarks only. Every function panics when
//! the encoder fails the check.

#![allow(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "checks report what they find by panicking"
)]

mod checks;
mod clip;
mod comparison;
mod ffmpeg;
mod request;
mod stream;
mod subject;
mod units;

pub use checks::budgets::{
    random_budgets_are_kept_and_used, small_budgets_are_kept, steps_are_followed,
    still_pictures_use_little,
};
pub use checks::capabilities::{complexity_has_the_stated_effect, the_stream_states_what_it_is};
pub use checks::decoding::{
    a_missing_frame_is_missed, decoded_pictures_do_not_drift, every_frame_is_a_picture,
};
pub use checks::keyframes::{keyframes_come_when_asked_for, keyframes_need_nothing_before_them};
pub use checks::opening::{
    an_unused_encoder_closes, every_size_encodes, pictures_of_another_size_are_refused,
    sizes_beyond_the_limits_are_refused,
};
pub use checks::quantiser::no_quantiser_is_below_the_finest;
pub use checks::recovery::{a_loss_is_recovered_from, what_arrives_after_a_loss_is_what_was_coded};
pub use checks::repetition::the_same_pictures_give_the_same_stream;
pub use clip::Clip;
pub use comparison::{Contestant, compare};
pub use ffmpeg::{decode, probe, try_to_decode};
pub use request::{INTERVAL, amount, plain_request};
pub use stream::{BUDGET, FRAMES, Stream, luma_psnr, stream_size};
pub use subject::{
    Budgets, MissingFrame, Open, Pictures, QuantiserLimit, Setup, Sizes, Subject, Units,
};

/// Makes a test of every check, each for the encoder that `$subject` describes.
#[macro_export]
macro_rules! suite {
    ($subject:expr) => {
        $crate::suite!($subject;
            a_loss_is_recovered_from
            a_missing_frame_is_missed
            an_unused_encoder_closes
            complexity_has_the_stated_effect
            decoded_pictures_do_not_drift
            every_frame_is_a_picture
            every_size_encodes
            keyframes_come_when_asked_for
            keyframes_need_nothing_before_them
            no_quantiser_is_below_the_finest
            pictures_of_another_size_are_refused
            random_budgets_are_kept_and_used
            sizes_beyond_the_limits_are_refused
            small_budgets_are_kept
            steps_are_followed
            still_pictures_use_little
            the_same_pictures_give_the_same_stream
            the_stream_states_what_it_is
        );
    };
    ($subject:expr; $($check:ident)*) => {
        $(
            #[test]
            fn $check() {
                $crate::$check(&$subject);
            }
        )*
    };
}
