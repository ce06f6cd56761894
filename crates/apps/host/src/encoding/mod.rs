//! Encoders: those that are built in, those that a host has opened, and the thread in which one of
//! them works for a session.

mod built_in;
mod choices;
mod hardware;
mod plan;
mod scale;
mod thread;

pub use self::built_in::{ENCODERS, choose_encoder, open_encoder};
pub(crate) use self::choices::EncoderChoices;
pub use self::hardware::{Element, Hardware, Leaves, look_for_hardware};
pub(crate) use self::thread::{EncoderThread, FromEncoder};
