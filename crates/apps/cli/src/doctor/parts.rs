//! Lists the parts that are built into the program, and how to build the others.

use super::report::{Finding, Report};
use crate::left_out::Part;

/// Lists the parts.
pub(super) fn look(report: &mut Report) {
    for finding in parts(&[
        (Part::Serve, cfg!(feature = "serve")),
        (Part::Play, cfg!(feature = "play")),
        (Part::Window, cfg!(feature = "window")),
        (Part::Lab, cfg!(feature = "lab")),
        (Part::Proxy, cfg!(feature = "proxy")),
    ]) {
        report.add(finding);
    }
}

/// A finding with the parts that are built in, and one with those that are not.
fn parts(parts: &[(Part, bool)]) -> Vec<Finding> {
    const CHECK: &str = "parts";
    let names = |wanted: bool| {
        let of = parts.iter().filter(|(_, is_there)| *is_there == wanted);
        of.map(|(part, _)| *part).collect::<Vec<_>>()
    };
    let joined = |parts: &[Part]| {
        let names: Vec<_> = parts.iter().map(|part| part.feature()).collect();
        names.join(", ")
    };
    let mut findings = vec![Finding::ok(
        CHECK,
        format!("built in: {}", joined(&names(true))),
    )];
    let absent = names(false);
    if !absent.is_empty() {
        let targets: Vec<_> = absent
            .iter()
            .map(|part| format!("{} by `{}`", part.feature(), part.target()))
            .collect();
        findings.push(Finding::ok(
            CHECK,
            format!("left out: {}", targets.join(", ")),
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(all: &[(Part, bool)]) -> String {
        let mut report = Report::default();
        for finding in parts(all) {
            report.add(finding);
        }
        report.text(false)
    }

    #[test]
    fn parts_are_named_with_how_to_build_those_that_are_missing() {
        let told_some = told(&[(Part::Serve, true), (Part::Play, false), (Part::Lab, false)]);
        assert!(
            told_some.starts_with("ok       parts  built in: serve\n")
                && told_some.contains("left out: play by `make client`, lab by `make all`\n"),
            "{told_some}"
        );
        let told_all = told(&[(Part::Serve, true), (Part::Lab, true)]);
        assert!(
            told_all.contains("built in: serve, lab\n") && !told_all.contains("left out"),
            "{told_all}"
        );
    }
}
