//! `mimosa report`: reports on a recorded session or link.

use std::fmt::Write as _;
use std::fs::File;
use std::panic::{UnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use mimosa_facts::SessionFrame;
use mimosa_plot::{PlotError, Table};
use mimosa_record::{Link, ReadError, Recorded, Session, read_link, read_recording};
use mimosa_report::{JoinError, LinkReport, Report};
use mimosa_units::{Time, TimeDelta, one_line};

use crate::output::{Existing, Files, Output, OutputError};

/// Most characters of a recording's description of itself, longer than any of ours.
const LONGEST_ABOUT: usize = 1_000;

/// The arguments; the tables are printed unless `--json` is among them.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Recording of a session, or of a link alone (Parquet).
    file: PathBuf,

    /// Recording of a link that the session went through: its packets are found in it,
    /// and show the true queue. As often as there are links.
    #[arg(long = "link", value_name = "LINK.parquet")]
    links: Vec<PathBuf>,

    /// Leave out the frames captured before this time after the start of the host,
    /// e.g. `5s`.
    #[arg(long, value_name = "T")]
    from: Option<TimeDelta>,

    /// Leave out those captured then or later.
    #[arg(long, value_name = "T")]
    to: Option<TimeDelta>,

    /// Say how many frames have a delay above this or were given up, e.g. `50ms`. As
    /// often as there are delays of interest.
    #[arg(long, value_name = "T")]
    above: Vec<TimeDelta>,

    /// Write the page of HTML here; without it beside the recording, with the
    /// suffix .html.
    #[arg(long, value_name = "OUT.html")]
    output: Option<PathBuf>,

    /// Print the numbers as a JSON object instead of tables, and write no page
    /// unless there is an --output.
    #[arg(long)]
    json: bool,
}

/// Why `mimosa report` failed. Each error says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportError {
    /// The recording cannot be opened.
    #[error("cannot read {}: {source}; name the recording of a session or of a link", path.display())]
    Open {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The file is not a recording that can be read.
    #[error("cannot report on {}: {source}", path.display())]
    Read { path: PathBuf, source: ReadError },
    /// The recording is damaged so that the Parquet library panics.
    #[error("cannot report on {}: it is damaged; record again or take another copy", path.display())]
    Damaged { path: PathBuf },
    /// `--link` was added to the recording of a link.
    #[error("{} is the recording of a link, which --link cannot be added to; name the recording of a session first, or one link alone", path.display())]
    LinkFirst { path: PathBuf },
    /// No frame was captured in the span asked for.
    #[error("{} has no frame {}; its frames were captured from {begin} to {end}", path.display(), span(*from, *to))]
    NoFrames {
        path: PathBuf,
        from: Option<TimeDelta>,
        to: Option<TimeDelta>,
        begin: TimeDelta,
        end: TimeDelta,
    },
    /// A link has no frames, which the arguments are about.
    #[error("{} is the recording of a link, which has no frames that --from, --to and --above could speak of; leave them out, or name the recording of a session", path.display())]
    NotOfLinks { path: PathBuf },
    /// The link does not belong to the session.
    #[error("cannot join {} with {}: {source}", link.display(), session.display())]
    Join {
        link: PathBuf,
        session: PathBuf,
        source: JoinError,
    },
    /// The page cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The figures cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// The numbers cannot be put into JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// A report on a session or on a link.
enum Either {
    Session(Box<Report>),
    Link(LinkReport),
}

impl Either {
    /// Reads all recordings.
    fn new(args: &Args, file: File) -> Result<Self, ReportError> {
        match read(&args.file, file, read_recording)? {
            Recorded::Link(_) if !args.links.is_empty() => Err(ReportError::LinkFirst {
                path: args.file.clone(),
            }),
            Recorded::Link(_)
                if args.from.is_some() || args.to.is_some() || !args.above.is_empty() =>
            {
                Err(ReportError::NotOfLinks {
                    path: args.file.clone(),
                })
            }
            Recorded::Link(link) => Ok(Self::Link(LinkReport::new(&name(&args.file), link))),
            Recorded::Session(mut session) => {
                cut(&mut session, args)?;
                let mut report = Report::new(&name(&args.file), session);
                for limit in &args.above {
                    report.count_above(*limit);
                }
                for path in &args.links {
                    let link: Link = read(path, open(path)?, read_link)?;
                    let joined = report.add_link(&name(path), link);
                    joined.map_err(|source| ReportError::Join {
                        link: path.clone(),
                        session: args.file.clone(),
                        source,
                    })?;
                }
                Ok(Self::Session(Box::new(report)))
            }
        }
    }

    fn about(&self) -> String {
        match self {
            Self::Session(report) => report.about(),
            Self::Link(report) => report.about(),
        }
    }

    fn tables(&self) -> Vec<Table> {
        match self {
            Self::Session(report) => report.tables(),
            Self::Link(report) => report.tables(),
        }
    }

    fn to_json(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Session(report) => report.to_json(),
            Self::Link(report) => report.to_json(),
        }
    }

    fn to_html(&self) -> Result<String, PlotError> {
        match self {
            Self::Session(report) => report.to_html(),
            Self::Link(report) => report.to_html(),
        }
    }
}

/// Writes the page, and returns the text to print.
pub(crate) fn run(args: &Args) -> Result<String, ReportError> {
    let file = open(&args.file)?;
    let page = page(args)?;
    let report = Either::new(args, file)?;
    let mut text = String::new();
    if args.json {
        text = report.to_json()?;
        text.push('\n');
    } else {
        let about = one_line(&report.about(), LONGEST_ABOUT);
        if !about.is_empty() {
            let _ = writeln!(text, "{about}\n");
        }
        for table in report.tables() {
            let _ = writeln!(text, "{}", table.to_text());
        }
    }
    if let Some(mut page) = page {
        page.put(report.to_html()?.as_bytes())?;
        if !args.json {
            let _ = writeln!(text, "The figures are in {}.", page.path().display());
        }
        page.finish()?;
    }
    Ok(text)
}

/// Keeps the frames in the span asked for.
fn cut(session: &mut Session, args: &Args) -> Result<(), ReportError> {
    let captured = |frame: &SessionFrame| frame.captured.since(Time::ZERO);
    let all = || session.frames.iter().map(captured);
    let Some((begin, end)) = all().min().zip(all().max()) else {
        return Ok(());
    };
    session.frames.retain(|frame| {
        let at = captured(frame);
        args.from.is_none_or(|from| at >= from) && args.to.is_none_or(|to| at < to)
    });
    if session.frames.is_empty() {
        return Err(ReportError::NoFrames {
            path: args.file.clone(),
            from: args.from,
            to: args.to,
            begin,
            end,
        });
    }
    Ok(())
}

/// A span of time in words.
fn span(from: Option<TimeDelta>, to: Option<TimeDelta>) -> String {
    let words = [("from", from), ("before", to)];
    let words = words.map(|(word, at)| at.map(|at| format!("{word} {at}")));
    words
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" and ")
}

/// The output for the page, if there is one.
fn page(args: &Args) -> Result<Option<Output>, OutputError> {
    let path = match &args.output {
        Some(path) => path.clone(),
        None if args.json => return Ok(None),
        None => args.file.with_extension("html"),
    };
    let mut files = Files::default();
    for path in std::iter::once(&args.file).chain(&args.links) {
        files.reads("recording", path);
    }
    files.create(&path, Existing::Replace).map(Some)
}

fn open(path: &Path) -> Result<File, ReportError> {
    let failed = |source| ReportError::Open {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(failed(std::io::ErrorKind::IsADirectory.into()));
    }
    Ok(file)
}

/// Name of a recording without its folder.
fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.display().to_string()
}

/// The result of `read` for a file.
fn read<T>(
    path: &Path,
    file: File,
    read: impl FnOnce(File) -> Result<T, ReadError> + UnwindSafe,
) -> Result<T, ReportError> {
    match caught(|| read(file)) {
        Some(Ok(recorded)) => Ok(recorded),
        Some(Err(source)) => Err(ReportError::Read {
            path: path.to_owned(),
            source,
        }),
        None => Err(ReportError::Damaged {
            path: path.to_owned(),
        }),
    }
}

/// The result of `read`; `None` if it panics, as the Parquet library does over some damaged files.
/// The panic is not printed.
pub(crate) fn caught<T>(read: impl FnOnce() -> T + UnwindSafe) -> Option<T> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let read = catch_unwind(read);
    std::panic::set_hook(hook);
    read.ok()
}
