//! A decoder in a process of its own that can reach nothing: no file, no network, no other program.
//!
//! A hostile host can send any bytes as video, and libavcodec, which decodes them, has had mistakes by which
//! such bytes take over the program that it runs in. Here this is a process of the same program that has
//! given up everything else.
//!
//! ```text
//!    Sandboxed -- Request, a frame's bytes --> socket --> serve
//!        ^  ^----------- Answer <------------- socket <---- |
//!        |                                                  v
//!    a copy <---------- one picture in shared memory <---- Local (libavcodec)
//! ```
//!
//! | file | what |
//! |---|---|
//! | `local` | [`Local`]: a decoder of whatever codec comes |
//! | `child` | [`serve`]: the decoder's process |
//! | `confine`, `filter` | [`confine()`]: what the process gives up, and the system calls that are left |
//! | `message` | what the processes say to each other |
//! | `memory`, `raw` | the shared memory, as it is read and as it is written |
//! | `process`, `decoder` | [`Sandboxed`]: a process that is asked, and another when it ends |
//! | `picture` | [`CopiedPicture`]s |
//!
//! Nothing that a decoder's process says or writes is trusted: an [`Answer`] is of one length, names a picture
//! by its size alone, and every sequence of bytes is one or is refused; the memory's length is sealed, and
//! what is in it is copied without a reference to it, so that whoever writes there meanwhile changes what is
//! seen. Only `raw` has `unsafe` code.

mod child;
mod confine;
mod decoder;
mod error;
mod filter;
mod local;
mod memory;
mod message;
mod picture;
mod process;
mod raw;

pub use child::serve;
pub use confine::{ConfineError, confine};
pub use decoder::{Outcome, Sandboxed};
pub use error::{Death, SandboxError};
pub use local::Local;
pub use message::{ANSWER, Answer, BadAnswer};
pub use picture::CopiedPicture;
pub use process::{Program, Stop};
