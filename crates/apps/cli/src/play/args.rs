//! The options of `mimosa play`.

use std::path::PathBuf;

use clap::{Args as Arguments, ValueEnum, value_parser};
use mimosa_client::KeyHash;
use tracing_subscriber::filter::Targets;

use crate::log;

/// What to play, and how.
#[derive(Arguments)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
pub(crate) struct Args {
    /// The host, as `mimosa serve` prints it: https://HOST:PORT/#token=TOKEN&key=KEY; without it, one of
    /// those found in this network
    #[arg(value_name = "URL", conflicts_with = "list")]
    pub(crate) address: Option<String>,
    /// List the hosts of this network, and play none
    #[arg(long)]
    pub(crate) list: bool,
    /// List them as JSON
    #[arg(long, requires = "list")]
    pub(crate) json: bool,
    /// The host's token, in place of the address's
    #[arg(long)]
    pub(crate) token: Option<String>,
    /// A file with the host's token, which `ps` does not show
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    pub(crate) token_file: Option<PathBuf>,
    /// The host's key, in place of the address's: 64 hexadecimal digits
    #[arg(long, value_parser = key)]
    pub(crate) key: Option<KeyHash>,
    /// Watch, while somebody else plays
    #[arg(long)]
    pub(crate) watch: bool,
    /// Without sound
    #[arg(long)]
    pub(crate) no_sound: bool,
    /// Threads that share the slices of a frame
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    pub(crate) threads: u8,
    /// Whether what the host sends is decoded in a process without files and network
    #[arg(long, value_enum, default_value_t = Sandbox::On)]
    pub(crate) decoder_sandbox: Sandbox,
    /// Cover the whole screen; F11 goes back
    #[arg(long, conflicts_with = "headless")]
    pub(crate) fullscreen: bool,
    /// When pictures are shown: one at each refresh of the display, where something tells of them, or as
    /// soon as they are decoded
    #[cfg(feature = "window")]
    #[arg(long, conflicts_with = "headless", value_enum, default_value = "paced")]
    pub(crate) presentation: Presentation,
    /// Have pictures that are shown at once wait for the display's refresh: none is torn, each is later
    #[arg(long, conflicts_with = "headless")]
    pub(crate) vsync: bool,
    /// Show the statistics; Ctrl+Alt+Shift+S hides them
    #[arg(long, conflicts_with = "headless")]
    pub(crate) statistics: bool,
    /// Tell the host what is copied here, where it takes it
    #[arg(long, conflicts_with = "headless")]
    pub(crate) clipboard: bool,
    /// Take at most 5 Mbit/s, which is 2.3 GB an hour
    #[arg(long)]
    pub(crate) save_data: bool,
    /// Take no more than makes this many GB last for a month, and remember what is used
    #[arg(long, value_name = "GB", value_parser = value_parser!(u32).range(1..=100_000))]
    pub(crate) monthly_data: Option<u32>,
    /// The day of the month on which the data begins anew
    #[arg(long, value_name = "DAY", default_value_t = 1, requires = "monthly_data", value_parser = value_parser!(u8).range(1..=28))]
    pub(crate) data_day: u8,
    /// First find out in a few seconds what the line is like, and say so
    #[arg(long)]
    pub(crate) test_line: bool,
    /// Which messages go to standard error: a level, or more of it, e.g. `warn,mimosa_client=debug`
    #[arg(long, value_name = "FILTER", default_value = "warn", value_parser = log::filter)]
    pub(crate) log: Targets,
    /// Without a window
    #[arg(long)]
    pub(crate) headless: bool,
    /// Leave after so many seconds
    #[arg(long, value_name = "SECONDS", requires = "headless")]
    pub(crate) seconds: Option<u32>,
    /// Leave once so many pictures were shown, or after `--seconds`, whichever is first
    #[arg(long, value_name = "COUNT", requires = "headless", value_parser = value_parser!(u32).range(1..))]
    pub(crate) pictures: Option<u32>,
    /// Press the space bar now and then, and measure when the demo shows it
    #[arg(long, requires = "headless")]
    pub(crate) probe: bool,
    /// Write what was seen to this file, as JSON; `-` is standard output
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub(crate) report: Option<PathBuf>,
}

/// Whether the decoder has a process that can reach nothing.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Sandbox {
    On,
    Off,
}

/// How to decode for another process of this program.
#[derive(Arguments)]
pub(crate) struct DecoderArgs {
    /// Threads that share the slices of a frame
    pub(crate) threads: u8,
}

/// When pictures are shown.
#[cfg(feature = "window")]
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Presentation {
    /// At the display's refreshes
    Paced,
    /// As soon as they are decoded
    AtOnce,
}

/// The key that is written in `text`.
fn key(text: &str) -> Result<KeyHash, &'static str> {
    KeyHash::parse(text).ok_or("it has to be 64 hexadecimal digits, as `key=` in the host's URL")
}
