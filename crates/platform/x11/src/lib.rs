//! The X Window System: capture, input and a private server for a game.
//!
//! ```no_run
//! use mimosa_video::{Picture, Size};
//! use mimosa_x11::{Capture, Captured, Display, Game, Injector, PrivateServer, Target};
//! use std::time::{Duration, Instant};
//!
//! let size = Size::new(1280, 720)?;
//! let server = PrivateServer::start(size)?;
//! let mut game = Game::launch(&mimosa_x11::dsda_doom_command(size), &server, &[])?;
//! let display = Display::Private(&server);
//! let mut capture = Capture::open(display, &Target::Screen)?;
//! let mut injector = Injector::open(display, &Target::Screen)?;
//! let mut picture = Picture::new(capture.size());
//! while game.has_ended().is_none() {
//!     # #[expect(clippy::disallowed_methods, reason = "an example of a driver")]
//!     let deadline = Instant::now() + Duration::from_millis(100);
//!     match capture.next(deadline, &mut picture)? {
//!         Captured::Picture { damaged } => println!("a picture, damaged at {damaged:?}"),
//!         Captured::Nothing => {}
//!         Captured::Resized(size) => println!("now {size}: open the encoder anew"),
//!     }
//!     injector.apply(mimosa_facts::Action::ReleaseAll, capture.size())?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A game that needs no set-up
//!
//! Debian's `dsda-doom` with `freedoom` (`apt-get install dsda-doom freedoom
//! xvfb`) runs at 60 pictures a second in the size of the private server:
//!
//! ```text
//! dsda-doom -iwad freedoom1.wad -geom 1280x720w -vidmode sw \
//!     -assign uncapped_framerate=1 dsda_fps_limit=60 render_vsync=0
//! ```
//!
//! [`dsda_doom_command`] writes this line for a size. Without input the game shows demos
//! that people recorded, a load that repeats; with `-warp 1 1` play starts at once.

mod authority;
mod capture;
mod clipboard;
mod colours;
mod confine;
mod cursor;
mod display;
mod fence;
mod focus;
mod game;
mod gamepad;
mod held;
mod image;
mod input;
mod server;
#[expect(unsafe_code, reason = "maps memory that the X server writes into")]
mod shared_memory;
mod target;
mod translate;
mod typing;
mod watch;

pub use capture::{Capture, CaptureError, Captured};
pub use clipboard::{Clipboard, ClipboardError};
pub use display::{Display, DisplayError};
pub use game::{Game, GameError, dsda_doom_command};
pub use input::{Injector, InputError};
pub use server::{PrivateServer, ServerError};
pub use target::{Target, TargetError};
