//! What a host is told: a file, the environment and flags, in that order.
//!
//! [`KEYS`] is the one table of all there is to set. From it come the file's
//! keys, the environment's variables, the flags, the defaults and the commented
//! file that [`template`] writes. Nothing here reads a file or the process's
//! environment.
//!
//! ```
//! use mimosa_settings::{Flags, keys, resolve};
//! # struct Checks;
//! # impl mimosa_settings::Checks for Checks {
//! #     fn controllers(&self) -> &[&str] { &["mimosa"] }
//! #     fn pacers(&self) -> &[&str] { &["controller"] }
//! #     fn encoders(&self) -> &[&str] { &["auto"] }
//! #     fn params(
//! #         &self, _: &str, _: &toml::Table, _: mimosa_facts::Limits,
//! #     ) -> Result<(), String> { Ok(()) }
//! #     fn log(&self, _: &str) -> Result<(), String> { Ok(()) }
//! # }
//!
//! let mut flags = Flags::default();
//! flags.set(&keys::HTTP_PORT, "9000");
//! let environment = [("MIMOSA_VIEWERS".to_owned(), "2".to_owned())];
//! let file = ("mimosa.toml", "http_port = 80\nsize = \"640x480\"");
//! let settings = resolve(Some(file), environment, &flags, &Checks)?;
//! assert_eq!(settings.http_port, 9000);
//! assert_eq!(settings.viewers.0, 2);
//! assert_eq!(settings.size.to_string(), "640x480");
//! # Ok::<(), mimosa_settings::SettingsError>(())
//! ```

mod advertised;
mod bitrate;
mod edit;
mod element;
mod environment;
mod error;
mod file;
mod given;
mod key;
pub mod keys;
mod nearest;
mod relay;
mod resolve;
mod settings;
mod source;
mod template;

pub use advertised::{Advertised, NotAdvertised, PublicHost};
pub use edit::{CHANGEABLE, EditError, Listed, NextStart, changed, listed};
pub use element::ElementName;
pub use error::{Origin, Problem, SettingsError};
pub use given::Flags;
pub use key::{Key, PREFIX, Shape};
pub use keys::KEYS;
pub use relay::{NotRelayUrl, RelaySecret, RelaySettings, RelayTransport, RelayUrl};
pub use resolve::{Checks, resolve};
pub use settings::{
    AcmeSettings, ControllerSettings, EncoderName, EncoderSettings, FrameSizes, GamepadSettings,
    InputSettings, Limit, LogFormat, Settings, SizePrediction, SoundSettings, SourceSettings,
    Target, TlsFiles, TlsMode, TlsSettings, Token, Work,
};
pub use template::template;
