//! `mimosa soak`: whole sessions in virtual time, under faults drawn from seeds.

use std::fmt::Write;

use clap::ValueEnum;
use mimosa_sweep::parallel;
use mimosa_world::{Codecs, FaultKind, Plan, Summary, TransportKind, Violation, run_with};

use crate::bar::bar;
use crate::sim::Seeds;

/// Arguments of `mimosa soak`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Seeds to run, both ends included.
    #[arg(long, value_name = "A..B", default_value = "1..100")]
    seeds: Seeds,

    /// What carries datagrams between host and player.
    #[arg(long, value_enum, default_value_t = Transport::Plain)]
    transport: Transport,

    /// What codes pictures and decodes them.
    #[arg(long, value_enum, default_value_t = Pictures::Model)]
    pictures: Pictures,
}

/// An encoder and a decoder, as the command line names them.
#[derive(Clone, Copy, ValueEnum)]
enum Pictures {
    /// Models, which say in each frame's bytes which frame it refers to.
    Model,
    /// libx264 and libavcodec; each picture shown is compared with the picture coded.
    #[cfg(feature = "x264")]
    X264,
}

impl Pictures {
    const fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            #[cfg(feature = "x264")]
            Self::X264 => "x264",
        }
    }

    /// The codecs, or `None` for models.
    const fn codecs(self) -> Option<Codecs> {
        match self {
            Self::Model => None,
            #[cfg(feature = "x264")]
            Self::X264 => Some(Codecs::X264),
        }
    }
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
        "{violation}\nmimosa soak --seeds {} --transport {transport} --pictures {pictures} repeats it{plan}",
        violation.seed
    )]
    Broken {
        /// The broken rule.
        violation: Box<Violation>,
        /// Name of the transport.
        transport: &'static str,
        /// The name of what coded the pictures.
        pictures: &'static str,
        /// The seed's plan as text, if only one seed was run.
        plan: String,
    },
}

/// Runs the seeds on all cores, and returns the summary as text.
///
/// # Errors
///
/// [`SoakError::Broken`] at the first seed that breaks a rule.
pub(crate) fn run(args: &Args) -> Result<String, SoakError> {
    let Seeds(first, last) = args.seeds;
    let codecs = args.pictures.codecs();
    let seeds: Vec<_> = (first..=last).collect();
    let mut all = Summary::default();
    parallel(
        &seeds,
        |_, seed| run_with(&Plan::draw(*seed, args.transport.kind()), codecs),
        |_, result| match result {
            Ok(summary) => {
                all.add(&summary);
                Ok(())
            }
            Err(violation) => Err(SoakError::Broken {
                plan: if first == last {
                    format!("\n{:#?}", Plan::draw(first, args.transport.kind()))
                } else {
                    String::new()
                },
                violation: Box::new(violation),
                transport: args.transport.name(),
                pictures: args.pictures.name(),
            }),
        },
        bar(),
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
            pictures: Pictures::Model,
        };
        let text = run(&args).unwrap();
        assert!(text.starts_with("virtual time"), "{text}");
        assert_eq!(text.lines().count(), 11 + FaultKind::ALL.len());
    }
}
