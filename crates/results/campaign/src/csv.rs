//! The rows as a table of comma-separated values (RFC 4180).

use std::fmt::Write as _;

use crate::figures::METRICS;
use crate::row::{Outcome, Row};

/// The rows as CSV, with a line of names first. A figure that could not be measured is empty.
#[must_use]
pub fn csv(rows: &[Row]) -> String {
    let mut text = "id,block,path,test,arm,started_s,outcome,cause".to_owned();
    for metric in METRICS {
        let _ = write!(text, ",{}", metric.name);
    }
    text.push('\n');
    for row in rows {
        let outcome = match row.outcome {
            Outcome::Done => "done",
            Outcome::Failed => "failed",
        };
        let cause = row
            .cause
            .as_deref()
            .unwrap_or_default()
            .replace('"', "\"\"");
        let _ = write!(
            text,
            "{},{},{},{},{},{},{outcome},\"{cause}\"",
            row.id, row.block, row.path, row.test, row.arm, row.started
        );
        for metric in METRICS {
            text.push(',');
            if let Some(value) = row.figures.get(metric.name) {
                let _ = write!(text, "{value}");
            }
        }
        text.push('\n');
    }
    text
}
