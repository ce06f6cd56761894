//! `mimosa soak`: whole sessions in virtual time, under faults drawn from seeds.

use std::fmt::Write;

use clap::ValueEnum;
use mimosa_world::{FaultKind, Plan, Summary, TransportKind, Violation, run as play};

use crate::sim::{Seeds, sweep};

/// Arguments of `mimosa soak`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Seeds to run, both ends included.
    #[arg(long, value_name = "A..B", default_value = "1..100")]
    seeds: Seeds,

    /// What carries datagrams between host and player.
    #[arg(long, value_enum, default_value_t = Transport::Plain)]
    transport: Transport,
}

/// A transport, as the command line names it.
#[derive(Clone, Copy, ValueEnum)]
enum Transport {
    /// A connection without encryption, of the same interface: many more seeds in a second.
    Plain,
    /// WebRTC at both ends.
    Webrtc,
}

impl Transport {
    const fn kind(self) -> TransportKind {
        match self {
            Self::Plain => TransportKind::Plain,
            Self::Webrtc => TransportKind::WebRtc,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Webrtc => "webrtc",
        }
    }
}

/// Why a soak failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SoakError {
    /// A rule was broken.
    #[error(
        "{violation}\nmimosa soak --seeds {} --transport {transport} repeats it",
        violation.seed
    )]
    Broken {
        /// The broken rule.
        violation: Box<Violation>,
        /// Name of the transport.
        transport: &'static str,
    },
}

/// Runs the seeds on all cores, and returns the summary as text.
///
/// # Errors
///
/// [`SoakError::Broken`] at the first seed that breaks a rule.
pub(crate) fn run(args: &Args) -> Result<String, SoakError> {
    let Seeds(first, last) = args.seeds;
    let seeds: Vec<_> = (first..=last).collect();
    let mut all = Summary::default();
    sweep::run(
        &seeds,
        |_, seed| play(&Plan::draw(*seed, args.transport.kind())),
        |_, result| match result {
            Ok(summary) => {
                all.add(&summary);
                Ok(())
            }
            Err(violation) => Err(SoakError::Broken {
                violation: Box::new(violation),
                transport: args.transport.name(),
            }),
        },
    )?;
    Ok(table(&all))
}

/// The summary as text.
fn table(all: &Summary) -> String {
    let mut text = String::new();
    let counts = [
        ("runs", all.runs),
        ("sessions", all.sessions),
        ("frames coded", all.coded),
        ("keyframes", all.keyframes),
        ("frames shown", all.shown),
        ("keyframes wanted", all.keyframes_wanted),
        ("blocks of sound", all.sound),
        ("actions", all.actions),
        ("datagrams sent", all.datagrams),
        ("datagrams arrived", all.arrived),
    ];
    // Writing to a string does not fail.
    let _ = writeln!(text, "{:<20}{:>12.0} s", "virtual time", all.time.as_secs());
    for (name, count) in counts {
        let _ = writeln!(text, "{name:<20}{count:>12}");
    }
    for kind in FaultKind::ALL {
        let count = all.faults.get(kind.name()).copied().unwrap_or(0);
        let _ = writeln!(text, "{:<20}{count:>12}", kind.name());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_soak_says_what_was_met() {
        let args = Args {
            seeds: Seeds(1, 3),
            transport: Transport::Plain,
        };
        let text = run(&args).unwrap();
        assert!(text.starts_with("virtual time"), "{text}");
        assert_eq!(text.lines().count(), 11 + FaultKind::ALL.len());
    }
}
