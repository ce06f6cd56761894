//! Checks the programs that record sound.

use mimosa_settings::{Settings, SourceSettings};

use super::pictures::program;
use super::report::{Finding, Report};

const CHECK: &str = "sound";

/// Checks sound.
pub(super) fn look(settings: &Settings, report: &mut Report) {
    if !settings.sound.is_on {
        report.add(Finding::ok(CHECK, "off, by these settings"));
        return;
    }
    let needed: &[(&str, &str)] = match (&settings.sound.sink, &settings.source) {
        (Some(_), _) => &[("parec", "pulseaudio-utils")],
        (None, SourceSettings::Launch { .. }) => {
            &[("pulseaudio", "pulseaudio"), ("parec", "pulseaudio-utils")]
        }
        (None, SourceSettings::Demo) => {
            report.add(Finding::ok(CHECK, "the demo makes its own"));
            return;
        }
        (None, SourceSettings::X11 { .. }) => {
            let detail = "none: nobody says which of your sinks is meant";
            let remedy = "--sound-sink with one of `pactl list short sinks`";
            report.add(Finding::warning(CHECK, detail, remedy));
            return;
        }
    };
    match needed.iter().find(|(name, _)| program(name).is_none()) {
        Some((name, package)) => report.add(Finding::warning(
            CHECK,
            format!("no {name} in PATH, which records it"),
            format!("apt-get install {package}"),
        )),
        None => report.add(Finding::ok(CHECK, "can be recorded")),
    }
}
