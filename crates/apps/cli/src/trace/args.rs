//! The arguments of `mimosa trace`.

use std::path::PathBuf;

use mimosa_trace::Format;
use mimosa_units::{Rate, TimeDelta};

use crate::sim::{Plot, Seeds};

/// The subcommands for traces.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(clap::Subcommand)]
pub(super) enum Command {
    /// Print what traces are like, a row each.
    Inspect(Inspect),
    /// Write a trace in the other format, or in the one that is said.
    Convert(Convert),
    /// Write a part of a trace.
    Cut(Cut),
    /// Write a trace with every rate times a factor.
    Scale(Scale),
    /// Write a trace that a model makes; `mimosa trace models` has them.
    Generate(Generate),
    /// Print the models' parameters, or with --seeds what their traces are like.
    Models(Models),
}

#[derive(clap::Args)]
pub(super) struct Inspect {
    /// Trace files, of either format; `-` for standard input.
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,

    /// Print the least, the median and the greatest of all files instead.
    #[arg(long)]
    pub(super) summary: bool,

    /// Count what is at or below this rate as an outage, e.g. `100kbit/s`;
    /// without it a twentieth of each trace's mean.
    #[arg(long, value_name = "RATE")]
    pub(super) floor: Option<Rate>,

    /// Print the tables as Markdown.
    #[arg(long, conflicts_with = "json")]
    pub(super) markdown: bool,

    /// Print one JSON object per file and line instead of the tables.
    #[arg(long, conflicts_with = "summary")]
    pub(super) json: bool,

    /// Draw the rates over time; the suffix .svg, .png or .html says how, and a
    /// page of HTML has the tables and the distributions, too.
    #[arg(long, value_name = "OUT")]
    pub(super) plot: Option<Plot>,
}

/// The file to which a trace is written.
#[derive(clap::Args)]
pub(super) struct Output {
    /// Trace file to write; `-` for standard output.
    #[arg(value_name = "OUT")]
    pub(super) path: PathBuf,

    /// Write OUT even if it is there already.
    #[arg(short, long)]
    pub(super) force: bool,
}

#[derive(clap::Args)]
pub(super) struct Convert {
    /// Trace file, of either format; `-` for standard input.
    #[arg(value_name = "IN")]
    pub(super) input: PathBuf,

    #[command(flatten)]
    pub(super) output: Output,

    /// Format to write; without it the one that IN is not in.
    #[arg(long)]
    pub(super) format: Option<FormatName>,
}

#[derive(clap::Args)]
pub(super) struct Cut {
    /// Trace file, of either format; `-` for standard input.
    #[arg(value_name = "IN")]
    pub(super) input: PathBuf,

    #[command(flatten)]
    pub(super) output: Output,

    /// Begin at this time, e.g. `30s`.
    #[arg(long, value_name = "T", default_value = "0s")]
    pub(super) from: TimeDelta,

    /// End before this time; without it at the end of the trace.
    #[arg(long, value_name = "T")]
    pub(super) to: Option<TimeDelta>,
}

#[derive(clap::Args)]
#[group(id = "how", required = true, multiple = false, args = ["factor", "mean"])]
pub(super) struct Scale {
    /// Trace file, of either format; `-` for standard input.
    #[arg(value_name = "IN")]
    pub(super) input: PathBuf,

    #[command(flatten)]
    pub(super) output: Output,

    /// Multiply every rate by this, e.g. `0.5`.
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub(super) factor: Option<f64>,

    /// Give the trace this mean rate, e.g. `20Mbit/s`.
    #[arg(long, value_name = "RATE")]
    pub(super) mean: Option<Rate>,
}

#[derive(clap::Args)]
pub(super) struct Generate {
    /// Name of the model.
    #[arg(value_name = "MODEL")]
    pub(super) model: String,

    #[command(flatten)]
    pub(super) output: Output,

    /// Seed; the same one makes the same trace.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(super) seed: u64,

    /// Length of the trace.
    #[arg(long, value_name = "T", default_value = "60s")]
    pub(super) duration: TimeDelta,

    /// Mean rate, e.g. `20Mbit/s`; without it the model's own.
    #[arg(long, value_name = "RATE")]
    pub(super) mean: Option<Rate>,

    /// Give a parameter another value; may be said several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(super) set: Vec<(String, String)>,

    /// Format to write.
    #[arg(long, default_value = "rows")]
    pub(super) format: FormatName,
}

#[derive(clap::Args)]
pub(super) struct Models {
    /// Names of models; without one all of them.
    #[arg(value_name = "MODEL")]
    pub(super) names: Vec<String>,

    /// Make a trace for each of these seeds, and print the least, the median and
    /// the greatest of what they are like.
    #[arg(long, value_name = "A..B")]
    pub(super) seeds: Option<Seeds>,

    /// Length of those traces.
    #[arg(long, value_name = "T", default_value = "300s", requires = "seeds")]
    pub(super) duration: TimeDelta,

    /// Give a parameter of each of them another value; may be said several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(super) set: Vec<(String, String)>,

    /// Print the tables as Markdown.
    #[arg(long)]
    pub(super) markdown: bool,
}

/// A format, as the command line names it.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum FormatName {
    /// One millisecond a line, at which 1500 bytes may leave.
    Mahimahi,
    /// `seconds Mbit/s [RTTms [loss]]`.
    Rows,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Mahimahi => Self::Mahimahi,
            FormatName::Rows => Self::Rows,
        }
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) => Ok((key.trim().to_owned(), value.trim().to_owned())),
        None => Err("it has no `=`; write a parameter and its value, e.g. shade=0.3".to_owned()),
    }
}
