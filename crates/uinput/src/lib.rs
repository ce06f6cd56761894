//! Gamepads of the kernel's input system, through `/dev/uinput`.
//!
//! Each [`Pad`] is a device that every program finds as it finds one at the USB port: an
//! Xbox 360 controller, which games know without being told its buttons. It is there
//! from [`Pad::create`] until it is dropped. What a game has it do is read back, as
//! [`Rumble`](mimosa_wire::input::Rumble).
//!
//! What is said to the kernel and what it answers goes through [`Kernel`]. [`Device`] is
//! the real one; a test plays another. Which events a state means ([`mod@state`]), what
//! effects come to ([`mod@effects`]) and how the kernel lays out its structures
//! ([`mod@layout`]) is worked out without any.

#[expect(unsafe_code, reason = "uinput is spoken to by ioctl")]
mod device;
pub mod effects;
mod error;
pub mod layout;
mod pad;
pub mod state;

pub use device::{Device, PATH, check};
pub use error::UinputError;
pub use pad::{Kernel, Pad};
