//! `mimosa campaign`: sessions over real paths between machines, and the comparison of the arms.

mod error;
mod folder;
mod remote;
mod run;
mod session;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mimosa_campaign::Campaign;

use self::error::CliError;
use self::folder::Folder;
use crate::text;

/// The subcommands for campaigns.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Print the sessions of a campaign in their order, and run none.
    Plan {
        /// Campaign file (TOML).
        file: PathBuf,
    },
    /// Run the sessions that the folder does not have yet, and compare the arms.
    Run {
        /// Campaign file (TOML).
        file: PathBuf,
        /// Folder of the data set, which is created where there is none.
        #[arg(long, value_name = "FOLDER")]
        out: PathBuf,
    },
    /// Compare the arms in the sessions that a folder has.
    Report {
        /// Folder of the data set.
        folder: PathBuf,
        /// Print the tables as Markdown.
        #[arg(long)]
        markdown: bool,
    },
}

/// Runs a subcommand, and returns what it prints on standard output.
pub(crate) fn run(args: &Args) -> Result<String, CliError> {
    match &args.command {
        Command::Plan { file } => Ok(plan(&read(file)?.1)),
        Command::Run { file, out } => {
            let (text, campaign) = read(file)?;
            let folder = Folder::open(out, &text)?;
            run::run(&campaign, &folder)?;
            folder.report(&campaign, false)
        }
        Command::Report { folder, markdown } => {
            let file = folder.join(folder::CAMPAIGN);
            let campaign = read(&file)?.1;
            Folder::existing(folder).report(&campaign, *markdown)
        }
    }
}

fn read(file: &Path) -> Result<(String, Campaign), CliError> {
    let text = text::read(
        file,
        "name a campaign file, or a folder that `run` has made",
    )?;
    let campaign = Campaign::parse(&text, &file.display().to_string())?;
    Ok((text, campaign))
}

/// The sessions in their order, and how long they take at least.
fn plan(campaign: &Campaign) -> String {
    let sessions = campaign.sessions();
    let mut text = String::new();
    for (number, session) in sessions.iter().enumerate() {
        let streams = campaign.streams(session);
        let arms: Vec<String> = streams
            .iter()
            .map(|stream| format!("{} from {}", campaign.arms[stream.arm].name, stream.start))
            .collect();
        let _ = writeln!(
            text,
            "{:>4}  {}: {}",
            number + 1,
            session.id,
            arms.join(", ")
        );
    }
    let of_one = sessions.iter().filter(|session| session.path == 0).count();
    let count = if campaign.paths_at_once {
        of_one
    } else {
        sessions.len()
    };
    let each = campaign.session + campaign.pause;
    let _ = writeln!(
        text,
        "{} sessions over {} paths, which take at least {:.1} minutes",
        sessions.len(),
        campaign.paths.len(),
        each.as_secs() * count as f64 / 60.0
    );
    text
}
