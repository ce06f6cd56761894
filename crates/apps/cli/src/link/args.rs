//! The arguments of `mimosa link`.

use std::ffi::OsString;
use std::path::PathBuf;

use mimosa_link::{End, Waiting};
use mimosa_units::{Rate, TimeDelta};

/// The subcommands for links.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(clap::Subcommand)]
pub(super) enum Command {
    /// Run a command behind the link; it ends with it.
    #[command(after_help = "In the command's environment, MIMOSA_LINK_ADDRESS and \
                            MIMOSA_LINK_PEER are the addresses of its own end and of the other.")]
    Run(RunArgs),
    /// Keep a link between two hosts of its own until `down`.
    Up(UpArgs),
    /// What `up` leaves behind.
    #[command(hide = true)]
    Hold(UpArgs),
    /// End a link.
    Down(NameArgs),
    /// Run a command at one end of a link.
    Exec(ExecArgs),
    /// Show what links do: rates, queues, delays, drops and marks.
    Status(StatusArgs),
    /// Change a link while it runs.
    Set(SetArgs),
}

/// What there is to say of any link.
#[derive(clap::Args)]
pub(super) struct LinkArgs {
    /// Variant of the file; needed when it has several.
    #[arg(long, value_name = "NAME")]
    pub(super) variant: Option<String>,

    /// Seed of jitter, loss and queues; without it the file's own.
    #[arg(long)]
    pub(super) seed: Option<u64>,

    /// Record every packet as Parquet; `mimosa report` reads it.
    #[arg(long, value_name = "OUT.parquet")]
    pub(super) log: Option<PathBuf>,

    /// Largest packet that the link carries.
    #[arg(long, value_name = "BYTES", default_value_t = 1_500, value_parser = clap::value_parser!(u16).range(1_280..))]
    pub(super) mtu: u16,

    /// How to wait for a packet's time: `spin` is the most exact and takes a core for
    /// each direction under load, `sleep` takes the least.
    #[arg(long, value_enum, default_value_t = Wait::Hybrid)]
    pub(super) wait: Wait,
}

#[derive(clap::Args)]
pub(super) struct RunArgs {
    /// Scenario file (TOML); of it, `[link]` and `[link.reverse]`.
    pub(super) file: PathBuf,

    /// Name by which `status`, `set` and `exec` find the link.
    #[arg(long)]
    pub(super) name: Option<String>,

    /// The end that the command is at: `[link]` is the way from the sender to the
    /// receiver.
    #[arg(long, value_enum, default_value_t = Side::Receiver)]
    pub(super) side: Side,

    /// Let the other end be a host of its own, where this shell command runs, instead of
    /// this machine.
    #[arg(long, value_name = "COMMAND")]
    pub(super) peer: Option<String>,

    /// Let the other end be a host of its own with nothing on it yet.
    #[arg(long)]
    pub(super) isolated: bool,

    /// Write what the link did as JSON, in the form of `status --json`.
    #[arg(long, value_name = "OUT.json")]
    pub(super) summary: Option<PathBuf>,

    /// Print nothing at the end.
    #[arg(long, short)]
    pub(super) quiet: bool,

    /// Run the command, and that of `--peer`, as this user, by name or number, where the link
    /// takes root's rights.
    #[arg(long, value_name = "USER")]
    pub(super) user: Option<String>,

    #[command(flatten)]
    pub(super) link: LinkArgs,

    /// The command and its arguments.
    #[arg(last = true, required = true)]
    pub(super) command: Vec<OsString>,
}

#[derive(clap::Args)]
pub(super) struct UpArgs {
    /// The link's name.
    pub(super) name: String,

    /// Scenario file (TOML); of it, `[link]` and `[link.reverse]`.
    pub(super) file: PathBuf,

    #[command(flatten)]
    pub(super) link: LinkArgs,
}

#[derive(clap::Args)]
pub(super) struct NameArgs {
    /// The link's name; not needed when there is only one.
    pub(super) name: Option<String>,
}

#[derive(clap::Args)]
pub(super) struct ExecArgs {
    /// The end.
    #[arg(value_enum)]
    pub(super) side: Side,

    /// The link's name; not needed when there is only one.
    #[arg(long)]
    pub(super) name: Option<String>,

    /// Run the command as this user, by name or number.
    #[arg(long, value_name = "USER")]
    pub(super) user: Option<String>,

    /// The command and its arguments.
    #[arg(last = true, required = true)]
    pub(super) command: Vec<OsString>,
}

#[derive(clap::Args)]
pub(super) struct StatusArgs {
    /// The link's name; without it all of them.
    pub(super) name: Option<String>,

    /// Show it anew every second, until interrupted or the link is gone.
    #[arg(long, short, conflicts_with = "json")]
    pub(super) watch: bool,

    /// Print one JSON object for each link and line.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(clap::Args)]
#[command(group(
    clap::ArgGroup::new("changes").required(true).multiple(true).args(["rate", "delay", "loss"])
))]
pub(super) struct SetArgs {
    /// The link's name; not needed when there is only one.
    pub(super) name: Option<String>,

    /// Change the way from the receiver to the sender.
    #[arg(long)]
    pub(super) reverse: bool,

    /// One rate in place of the file's rates, e.g. `8Mbit/s`; `0Mbit/s` is an outage.
    #[arg(long)]
    pub(super) rate: Option<Rate>,

    /// One propagation delay in place of the file's, e.g. `20ms`.
    #[arg(long)]
    pub(super) delay: Option<TimeDelta>,

    /// One share of packets lost in place of the file's, e.g. `0.01`.
    #[arg(long, value_parser = share)]
    pub(super) loss: Option<f64>,
}

/// An end of the link.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum Side {
    Sender,
    Receiver,
}

impl From<Side> for End {
    fn from(side: Side) -> Self {
        match side {
            Side::Sender => Self::Sender,
            Side::Receiver => Self::Receiver,
        }
    }
}

/// How to wait.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(super) enum Wait {
    /// Sleep until the packet's time.
    Sleep,
    /// Sleep until 50 us before, then look at the clock.
    Hybrid,
    /// Look at the clock while any packet is under way.
    Spin,
}

impl Wait {
    pub(super) fn waiting(self) -> Waiting {
        match self {
            Self::Sleep => Waiting {
                spin: TimeDelta::ZERO,
            },
            Self::Hybrid => Waiting::default(),
            Self::Spin => Waiting {
                spin: TimeDelta::from_millis(1_000),
            },
        }
    }

    /// The name on the command line.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Sleep => "sleep",
            Self::Hybrid => "hybrid",
            Self::Spin => "spin",
        }
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text
        .parse()
        .map_err(|_| "write a share between 0 and 1, e.g. 0.01".to_owned())?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err("a share is between 0 and 1; write e.g. 0.01 for 1 %".to_owned())
    }
}
