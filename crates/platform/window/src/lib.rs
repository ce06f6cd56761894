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
//! | `raw` | a safe interface to SDL's functions; the one folder with `unsafe` |
//! | `window` | [`Window`], which puts these together |
//! | `input` | the player's input, for the game or for the client itself |
//! | `keys` | Linux's key codes |
//! | `pointer` | the place of the picture in the window, and of the pointer in the picture
//! |
//! | `gamepads` | gamepads in the W3C's standard mapping |
//! | `overlay` | the layout of text over the picture |
//! | `refresh` | [`Refreshes`] |
//! | `speaker` | [`Speaker`] |
//!
//! SDL 3 is built from source with this crate and linked statically. It loads the parts of
//! the system that it uses (X11, Wayland, OpenGL, PulseAudio) only where they are
//! installed, so that a program also starts without them.

mod error;
mod gamepads;
mod input;
mod keys;
mod overlay;
mod pointer;
mod raw;
mod refresh;
mod speaker;
mod window;

pub use error::WindowError;
pub use refresh::Refreshes;
pub use speaker::Speaker;
pub use window::{Waker, Window, WindowConfig, WindowEvent};
