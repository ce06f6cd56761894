//! `mimosa play`: the native client.

mod args;
mod error;

use mimosa_client::{
    Address, ConnectionConfig, Headless, ReporterConfig, SessionConfig, SoundConfig, Windowed,
    play, play_in_window,
};
use mimosa_settings::LogFormat;
use mimosa_units::TimeDelta;
use mimosa_wire::control::Role;

pub(crate) use self::args::Args;
use self::error::PlayError;
use crate::log;

/// Plays until the player leaves or the host ends it.
pub(crate) fn run(args: &Args) -> Result<(), PlayError> {
    log::start(args.log.clone(), LogFormat::Text).map_err(PlayError::Log)?;
    let config = ConnectionConfig {
        address: Address::parse(&args.address)?.with_token(args.token.clone()),
        role: if args.watch {
            Role::Viewer
        } else {
            Role::Player
        },
        session: SessionConfig {
            reporter: ReporterConfig::default(),
            sound: SoundConfig::default(),
            decoder: "libavcodec".to_owned(),
        },
    };
    if !args.headless {
        return in_window(args, &config);
    }
    let seconds = args.seconds.map(i64::from);
    let headless = Headless {
        duration: seconds.map(|seconds| TimeDelta::from_millis(seconds * 1_000)),
        wants_sound: !args.no_sound,
        probes: args.probe,
        threads: args.threads,
    };
    let report = play(config, headless)?;
    if let Some(file) = &args.report {
        let text = report.to_json() + "\n";
        if file.as_os_str() == "-" {
            print!("{text}");
        } else {
            std::fs::write(file, text).map_err(|error| PlayError::Write {
                file: file.clone(),
                error,
            })?;
        }
    }
    if report.has_pictures() {
        Ok(())
    } else {
        Err(PlayError::NoPicture {
            end: report.end().unwrap_or("it was left").to_owned(),
        })
    }
}

/// Plays in a window until the player leaves, or the host ends it, which is said.
fn in_window(args: &Args, config: &ConnectionConfig) -> Result<(), PlayError> {
    let windowed = Windowed {
        is_fullscreen: args.fullscreen,
        waits_for_refresh: args.vsync,
        wants_sound: !args.no_sound,
        shares_clipboard: args.clipboard,
        shows_statistics: args.statistics,
        threads: args.threads,
    };
    if let Some(reason) = play_in_window(config, windowed)? {
        eprintln!("{reason}");
    }
    Ok(())
}
