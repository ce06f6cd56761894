//! The findings of all checks, as a table or as JSON.

use std::fmt::Write;

use serde::Serialize;

/// The finding of one check.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    check: &'static str,
    state: Condition,
    detail: String,
    remedy: Option<String>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Condition {
    /// All is as it should be.
    Ok,
    /// `mimosa serve` runs, but something does less than it could.
    Warning,
    /// `mimosa serve` does not run with these settings.
    Missing,
}

impl Finding {
    /// A finding that all is as it should be.
    pub(super) fn ok(check: &'static str, detail: impl Into<String>) -> Self {
        Self {
            check,
            state: Condition::Ok,
            detail: detail.into(),
            remedy: None,
        }
    }

    /// A finding that something does less than it could.
    pub(super) fn warning(
        check: &'static str,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::bad(check, Condition::Warning, detail, remedy)
    }

    /// A finding that `mimosa serve` cannot run.
    pub(super) fn missing(
        check: &'static str,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self::bad(check, Condition::Missing, detail, remedy)
    }

    /// A finding that something is absent: `Missing` if it `is_needed`, otherwise a warning.
    pub(super) fn absent(
        is_needed: bool,
        check: &'static str,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let state = if is_needed {
            Condition::Missing
        } else {
            Condition::Warning
        };
        Self::bad(check, state, detail, remedy)
    }

    fn bad(
        check: &'static str,
        state: Condition,
        detail: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            check,
            state,
            detail: detail.into(),
            remedy: Some(remedy.into()).filter(|remedy| !remedy.is_empty()),
        }
    }
}

/// The findings of all checks.
#[derive(Default)]
pub(super) struct Report(Vec<Finding>);

impl Report {
    pub(super) fn add(&mut self, finding: Finding) {
        self.0.push(finding);
    }

    /// Whether nothing is missing.
    pub(super) fn is_good(&self) -> bool {
        self.0.iter().all(|found| found.state != Condition::Missing)
    }

    /// What does less than it could, a line each with its remedy.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        let warnings = self.0.iter();
        let warnings = warnings.filter(|found| found.state == Condition::Warning);
        warnings.map(|found| {
            let (check, detail) = (found.check, found.detail.lines().next().unwrap_or_default());
            match &found.remedy {
                Some(remedy) => format!("{check}: {detail}; {remedy}"),
                None => format!("{check}: {detail}"),
            }
        })
    }

    /// The findings as a JSON array of objects.
    pub(super) fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(&self.0).map(|json| json + "\n")
    }

    /// The findings as text: a line for each, and another for the remedy.
    pub(super) fn text(&self, is_terminal: bool) -> String {
        let mark = |state| match (state, is_terminal) {
            (Condition::Ok, true) => "✓",
            (Condition::Warning, true) => "–",
            (Condition::Missing, true) => "✗",
            (Condition::Ok, false) => "ok     ",
            (Condition::Warning, false) => "warning",
            (Condition::Missing, false) => "missing",
        };
        let width = self.0.iter().map(|found| found.check.len()).max();
        let width = width.unwrap_or_default();
        let mut text = String::new();
        for found in &self.0 {
            let mark = mark(found.state);
            let mut lines = found.detail.lines();
            let first = lines.next().unwrap_or_default();
            let _ = writeln!(text, "{mark}  {:<width$}  {first}", found.check);
            let below = mark.chars().count() + 2 + width + 2;
            for line in lines {
                let _ = writeln!(text, "{:below$}{line}", "");
            }
            if let Some(remedy) = &found.remedy {
                let arrow = if is_terminal { "→" } else { "->" };
                let _ = writeln!(text, "{:below$}{arrow} {remedy}", "");
            }
        }
        let end = if self.is_good() {
            "`mimosa serve` can run with these settings."
        } else {
            "`mimosa serve` cannot run with these settings."
        };
        let _ = writeln!(text, "\n{end}");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let mut report = Report::default();
        report.add(Finding::ok("one", "is there"));
        report.add(Finding::warning("another", "is slow\nvery", "wait"));
        report
    }

    #[test]
    fn a_table_for_people() {
        assert_eq!(
            report().text(true),
            "✓  one      is there\n\
             –  another  is slow\n\
             \x20           very\n\
             \x20           → wait\n\
             \n`mimosa serve` can run with these settings.\n"
        );
        let plain = report().text(false);
        assert!(
            plain.is_ascii() && plain.contains("warning  another  is slow\n"),
            "{plain}"
        );
    }

    #[test]
    fn a_line_for_each_warning() {
        let lines: Vec<_> = report().warnings().collect();
        assert_eq!(lines, ["another: is slow; wait"]);
    }

    #[test]
    fn an_array_for_programs() {
        let json: serde_json::Value = serde_json::from_str(&report().json().unwrap()).unwrap();
        assert_eq!(json[0]["state"], "ok");
        assert!(json[0]["remedy"].is_null());
        assert_eq!(json[1]["check"], "another");
        assert_eq!(json[1]["remedy"], "wait");
    }

    #[test]
    fn what_is_needed_decides() {
        let mut report = report();
        report.add(Finding::absent(false, "game", "none", "buy one"));
        assert!(report.is_good());
        report.add(Finding::absent(true, "port", "none", "free one"));
        assert!(!report.is_good());
        assert!(report.text(false).contains("cannot run"));
    }
}
