//! `mimosa report`: what came of a recorded session.

use std::fmt::Write as _;
use std::fs::File;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use mimosa_plot::PlotError;
use mimosa_record::{ReadError, Session, read_session};
use mimosa_report::Report;

/// The arguments; the tables are printed unless `--json` is among them.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Recording of a session (Parquet).
    file: PathBuf,

    /// Write the page of HTML here; without it beside the recording, with the
    /// suffix .html.
    #[arg(long, value_name = "OUT.html")]
    output: Option<PathBuf>,

    /// Print the numbers as a JSON object instead of tables, and write no page
    /// unless there is an --output.
    #[arg(long)]
    json: bool,
}

/// Each says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportError {
    /// The recording cannot be opened.
    #[error("cannot read {}: {source}; name the recording of a session", path.display())]
    Open {
        path: PathBuf,
        source: std::io::Error,
    },
    /// It is not what it should be.
    #[error("cannot report on {}: {source}", path.display())]
    Read { path: PathBuf, source: ReadError },
    /// It is damaged in a way that the library does not foresee.
    #[error("cannot report on {}: it is damaged; record the session again or take another copy", path.display())]
    Damaged { path: PathBuf },
    /// The page would replace the recording.
    #[error("the page would replace the recording {}; give it a file of its own with --output", path.display())]
    SameFile { path: PathBuf },
    /// The page cannot be written.
    #[error("cannot write {}: {source}; name a file in a folder that exists and can be written to", path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The figures cannot be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// The numbers cannot be put into JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Writes the page and gives what is to be printed.
pub(crate) fn run(args: &Args) -> Result<String, ReportError> {
    let file = open(&args.file)?;
    let page = page_path(args)?;
    let session = read(&args.file, file)?;
    let name = args.file.file_name().unwrap_or(args.file.as_os_str());
    let report = Report::new(&name.display().to_string(), session);
    let mut text = String::new();
    if args.json {
        text = report.to_json()?;
        text.push('\n');
    } else {
        let about = report.about();
        if !about.is_empty() {
            let _ = writeln!(text, "{about}\n");
        }
        for table in report.tables() {
            let _ = writeln!(text, "{}", table.to_text());
        }
    }
    if let Some(path) = page {
        let html = report.to_html()?;
        std::fs::write(&path, html).map_err(|source| ReportError::Write {
            path: path.clone(),
            source,
        })?;
        if !args.json {
            let _ = writeln!(text, "The figures are in {}.", path.display());
        }
    }
    Ok(text)
}

/// Where the page goes, if there is to be one.
fn page_path(args: &Args) -> Result<Option<PathBuf>, ReportError> {
    let path = match &args.output {
        Some(path) => path.clone(),
        None if args.json => return Ok(None),
        None => args.file.with_extension("html"),
    };
    let same = match (path.canonicalize(), args.file.canonicalize()) {
        (Ok(page), Ok(file)) => page == file,
        _ => false,
    };
    if same {
        return Err(ReportError::SameFile { path });
    }
    Ok(Some(path))
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

fn read(path: &Path, file: File) -> Result<Session, ReportError> {
    // The library panics over some damaged files; nobody needs to see where.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let read = catch_unwind(|| read_session(file));
    std::panic::set_hook(hook);
    match read {
        Ok(Ok(session)) => Ok(session),
        Ok(Err(source)) => Err(ReportError::Read {
            path: path.to_owned(),
            source,
        }),
        Err(_) => Err(ReportError::Damaged {
            path: path.to_owned(),
        }),
    }
}
