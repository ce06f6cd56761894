//! The arguments of `mimosa sim`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use mimosa_units::{TimeDelta, shortened};

/// The arguments; the table is printed unless `--json` is among them.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Scenario file (TOML).
    pub(super) file: PathBuf,

    /// Seeds to run, both ends included; without it the file's own.
    #[arg(long, value_name = "A..B")]
    pub(super) seeds: Option<Seeds>,

    /// Run this variant of the file alone; without it all of them.
    #[arg(long, value_name = "NAME")]
    pub(super) variant: Option<String>,

    /// Count and draw only what happens from this time on, e.g. `3s`.
    #[arg(long, value_name = "T", default_value = "0s")]
    pub(super) from: TimeDelta,

    /// Count and draw only what happens before this time.
    #[arg(long, value_name = "T")]
    pub(super) to: Option<TimeDelta>,

    /// Start the processes that the file names as controllers: `process:COMMAND` can do all that
    /// you can.
    #[arg(long)]
    pub(super) allow_processes: bool,

    /// Print the table as Markdown.
    #[arg(long, conflicts_with = "json")]
    pub(super) markdown: bool,

    /// Write one JSON object per run and line instead of printing the table;
    /// `-` for standard output.
    #[arg(long, value_name = "OUT")]
    pub(super) json: Option<PathBuf>,

    /// Record every frame, from the first to the last of each run, as Parquet.
    #[arg(long, value_name = "OUT.parquet", value_parser = file)]
    pub(super) frames: Option<PathBuf>,

    /// Record every packet in the same way.
    #[arg(long, value_name = "OUT.parquet", value_parser = file)]
    pub(super) packets: Option<PathBuf>,

    /// Draw the first run; the suffix .svg, .png or .html says how, and a page
    /// of HTML has the table, too.
    #[arg(long, value_name = "OUT")]
    pub(super) plot: Option<Plot>,
}

/// Most seeds of one command, because all results are kept until the last run ends.
const MOST_SEEDS: u64 = 100_000;

/// First and last seed.
#[derive(Clone, Copy)]
pub(crate) struct Seeds(pub(crate) u64, pub(crate) u64);

impl FromStr for Seeds {
    type Err = String;

    /// Parses `7` or `1..16`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mend = || {
            let text = shortened(text);
            format!("`{text}` is no range of seeds; write e.g. 1..16 or 7")
        };
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| mend());
        let (first, last) = match text.split_once("..") {
            Some((first, last)) => (number(first)?, number(last.trim_start_matches('='))?),
            None => (number(text)?, number(text)?),
        };
        if first > last {
            return Err(format!("{first} comes after {last}; write {last}..{first}"));
        }
        if last - first >= MOST_SEEDS {
            let end = first + (MOST_SEEDS - 1);
            return Err(format!(
                "at most {MOST_SEEDS} seeds are run; write e.g. {first}..{end}"
            ));
        }
        Ok(Self(first, last))
    }
}

/// The file for a plot, and the format of its suffix.
#[derive(Clone)]
pub(crate) struct Plot {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
}

/// A format of plots.
#[derive(Clone, Copy)]
pub(crate) enum Format {
    Svg,
    Png,
    Html,
}

impl FromStr for Plot {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let suffix = path.extension().and_then(|suffix| suffix.to_str());
        let format = match suffix.map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => Format::Svg,
            Some("png") => Format::Png,
            Some("html") => Format::Html,
            _ => return Err("its suffix names no format; write .svg, .png or .html".to_owned()),
        };
        Ok(Self { path, format })
    }
}

/// Parses a path that is not `-`, because a recording cannot go to a terminal.
fn file(text: &str) -> Result<PathBuf, String> {
    if Path::new(text) == Path::new("-") {
        return Err("a recording does not go to standard output; name a file".to_owned());
    }
    Ok(PathBuf::from(text))
}
