//! A window with pictures, sound and a player's input, by SDL.
//!
//! ```no_run
//! use mimosa_video::{Picture, Size};
//! use mimosa_window::{Window, WindowConfig, WindowEvent};
//!
//! let size = Size::new(1280, 720)?;
//! let mut window = Window::open(&WindowConfig::new("a game", size))?;
//! let waker = window.waker();
//! std::thread::spawn(move || waker.wake());
//! let picture = Picture::new(size);
//! loop {
//!     for event in window.wait(None) {
//!         match event {
//!             WindowEvent::Act(action) => println!("for the game: {action:?}"),
//!             WindowEvent::Quit => return Ok(()),
//!             _ => {}
//!         }
//!     }
//!     window.show(&picture.view(), &["60 pictures a second".to_owned()])?;
//! }
//! # #[expect(unreachable_code, reason = "gives the error its type")]
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | what |
//! |---|---|
//! | `raw` | SDL's functions made safe; the one folder with `unsafe` |
//! | `window` | [`Window`], which puts these together |
//! | `input` | what the player does, for the game or for the client itself |
//! | `keys` | Linux's numbers of keys |
//! | `pointer` | where the picture lies in the window, and the pointer in the picture |
//! | `gamepads` | gamepads in the W3C's standard mapping |
//! | `overlay` | where text is written over the picture |
//! | `speaker` | [`Speaker`] |
//!
//! SDL 3 is built from its source with this crate and linked statically. What it needs of
//! the system (X11, Wayland, OpenGL, PulseAudio) it loads when it is there, so that a
//! program starts without.

mod error;
mod gamepads;
mod input;
mod keys;
mod overlay;
mod pointer;
mod raw;
mod speaker;
mod window;

pub use error::WindowError;
pub use speaker::Speaker;
pub use window::{Waker, Window, WindowConfig, WindowEvent};
