//! Gamepads of the kernel's input system, through `/dev/uinput`.
//!
//! Each [`Pad`] is a device that programs find like a gamepad at the USB port: an Xbox 360
//! controller, whose buttons games know. It exists from [`Pad::create`] until it is
//! dropped. A game's effects are read back as [`Rumble`](mimosa_protocol::input::Rumble).
//!
//! Requests to the kernel and its answers go through [`Kernel`]. [`Device`] is the real
//! kernel; a test plays another one. The events that a state means ([`mod@state`]), the sum
//! of effects ([`mod@effects`]) and the layout of the kernel's structures ([`mod@layout`])
//! are worked out without a kernel.

#[expect(unsafe_code, reason = "uinput is used by ioctl")]
mod device;
pub mod effects;
mod error;
pub mod layout;
mod pad;
pub mod state;

pub use device::{Device, PATH, check};
pub use error::UinputError;
pub use pad::{Kernel, Pad};
