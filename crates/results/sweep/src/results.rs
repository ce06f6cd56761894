//! The files that a suite's runs leave.

use std::path::{Path, PathBuf};

use mimosa_lab::{Record, Suite};

use crate::error::SweepError;
use crate::outputs::Outputs;
use crate::store::Store;

/// Writes the results of `suite` into `folder`: `results.jsonl` with the line of each of
/// `records`, `means.json`, `claims.json` where the suite has claims, and `page.html` and
/// `page.md` with their figures. The records are those that [`run_suite`](crate::run_suite)
/// returned, and `store` is where it kept them. The same records give the same bytes, whether
/// they were run at once or resumed. Returns the path of `page.html`.
///
/// # Errors
///
/// [`SweepError::Output`] in the words of `outputs`, [`SweepError::Folder`] when a folder
/// cannot be made, and [`SweepError::Plot`] when a figure cannot be drawn.
pub fn write_results(
    suite: &Suite,
    records: &[Record],
    store: &Store,
    folder: &Path,
    outputs: &mut dyn Outputs,
) -> Result<PathBuf, SweepError> {
    for (name, text) in files(suite, records, store)? {
        let path = folder.join(name);
        let below = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        below.map_err(|source| SweepError::Folder {
            path: path.clone(),
            source,
        })?;
        outputs
            .write(&path, text.as_bytes())
            .map_err(SweepError::Output)?;
    }
    Ok(folder.join("page.html"))
}

/// The files by name, each with its text.
fn files(
    suite: &Suite,
    records: &[Record],
    store: &Store,
) -> Result<Vec<(String, String)>, SweepError> {
    let page = mimosa_lab::page(suite, records)?;
    let lines: Vec<_> = records
        .iter()
        .filter_map(|record| store.line(&record.key))
        .collect();
    let mut results = lines.join("\n");
    results.push('\n');
    let mut means = serde_json::to_string_pretty(&mimosa_lab::means(suite, records))?;
    means.push('\n');
    let mut files = vec![
        ("means.json".to_owned(), means),
        ("results.jsonl".to_owned(), results),
        ("page.html".to_owned(), page.html),
        ("page.md".to_owned(), page.markdown),
    ];
    if !suite.claims.is_empty() {
        let verdicts = mimosa_lab::verdicts(suite, records);
        let mut claims = serde_json::to_string_pretty(&verdicts)?;
        claims.push('\n');
        files.push(("claims.json".to_owned(), claims));
    }
    let drawings = page.figures.into_iter();
    files.extend(drawings.map(|drawing| (drawing.file, drawing.svg)));
    Ok(files)
}
