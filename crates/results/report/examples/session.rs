//! Reports on a made-up session in `/tmp/session.html`, with its recording in
//! `/tmp/session.parquet`.

#[path = "../tests/report/synthetic.rs"]
mod synthetic;

use std::error::Error;
use std::fs::File;

use mimosa_record::SessionRecorder;
use mimosa_report::Report;

fn main() -> Result<(), Box<dyn Error>> {
    let frames = match std::env::args().nth(1) {
        Some(count) => count.parse()?,
        None => 7_200,
    };
    let session = synthetic::session(frames);
    let mut recorder = SessionRecorder::new(File::create("/tmp/session.parquet")?, &session.about)?;
    for frame in &session.frames {
        recorder.push(*frame)?;
    }
    drop(recorder.finish()?);
    let report = Report::new("session.parquet", session);
    std::fs::write("/tmp/session.html", report.to_html()?)?;
    for table in report.tables() {
        println!("{}", table.to_text());
    }
    Ok(())
}
