//! `mimosa play`: the native client.

mod args;
mod error;
mod find;

use std::process::ExitCode;

use mimosa_client::{
    Address, ConnectionConfig, DataPlan, DecodeIn, Headless, Plan, Program, play, serve_decoder,
    test_line,
};
#[cfg(feature = "window")]
use mimosa_client::{Presentation, Windowed, play_in_window};
use mimosa_protocol::control::Role;
use mimosa_session::viewer::{ReporterConfig, SessionConfig, SoundConfig};
use mimosa_settings::LogFormat;
use mimosa_units::{Bytes, TimeDelta};

use self::args::Sandbox;
pub(crate) use self::args::{Args, DecoderArgs};
use self::error::{PlayError, heard};
use crate::log;
use crate::output::{Existing, Files};
use crate::secret_file;
use crate::terminal::say;

/// This program's command that decodes for another process of it.
pub(crate) const DECODER: &str = "decoder-process";

/// Decodes for the process that has started this one.
pub(crate) fn run_decoder(args: &DecoderArgs) -> ExitCode {
    serve_decoder(args.threads);
    ExitCode::SUCCESS
}

/// Where frames are decoded.
fn decoder(args: &Args) -> DecodeIn {
    match args.decoder_sandbox {
        Sandbox::On => DecodeIn::Sandbox(Program::own(DECODER)),
        Sandbox::Off => DecodeIn::Client,
    }
}

/// Plays until the player leaves or the host ends the session.
pub(crate) fn run(args: &Args) -> Result<(), PlayError> {
    log::start(args.log.clone(), LogFormat::Text).map_err(PlayError::Log)?;
    let url = match &args.address {
        Some(url) => url.clone(),
        None => match find::choose(args.list, args.json)? {
            Some(url) => url,
            None => return Ok(()),
        },
    };
    let mut files = Files::default();
    if let Some(file) = &args.token_file {
        files.reads("token", file);
    }
    let file = args.token_file.as_deref().map(secret_file::read);
    let token = file.transpose()?.or_else(|| args.token.clone());
    let config = ConnectionConfig {
        address: Address::parse(&url)?
            .with_key(args.key)?
            .with_token(token)
            .or_paired(),
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
        data: DataPlan {
            saves: args.save_data,
            month: args.monthly_data.map(|gigabytes| Plan {
                monthly: Bytes::new(u64::from(gigabytes) * 1_000_000_000),
                first_day: args.data_day,
            }),
        },
    };
    if args.test_line {
        // Who wants to play plays, whatever the line.
        match test_line(config.clone()) {
            Ok(report) => report.words.iter().for_each(|word| say(heard(word))),
            Err(error) => say(heard(&error.to_string())),
        }
    }
    if !args.headless {
        return in_window(args, &config);
    }
    let seconds = args.seconds.map(i64::from);
    let headless = Headless {
        duration: seconds.map(|seconds| TimeDelta::from_millis(seconds * 1_000)),
        pictures: args.pictures,
        wants_sound: !args.no_sound,
        probes: args.probe,
        decoder: decoder(args),
        threads: args.threads,
    };
    let mut create = |path| files.create(path, Existing::Replace);
    let output = args.report.as_deref().map(&mut create).transpose()?;
    let report = play(config, headless)?;
    if let Some(mut output) = output {
        output.put((report.to_json() + "\n").as_bytes())?;
        output.finish()?;
    }
    if report.has_pictures() {
        Ok(())
    } else if !report.was_connected() {
        Err(PlayError::NoWay)
    } else {
        Err(PlayError::NoPicture {
            end: report.end().unwrap_or("it was left").to_owned(),
        })
    }
}

/// Without a window, only `--headless` plays.
#[cfg(not(feature = "window"))]
fn in_window(_: &Args, _: &ConnectionConfig) -> Result<(), PlayError> {
    Err(PlayError::NoWindow(crate::left_out::Part::Window.error()))
}

/// Plays in a window until the player leaves, or the host ends the session, which is printed.
#[cfg(feature = "window")]
fn in_window(args: &Args, config: &ConnectionConfig) -> Result<(), PlayError> {
    let windowed = Windowed {
        is_fullscreen: args.fullscreen,
        presentation: match args.presentation {
            args::Presentation::Paced => Presentation::Paced,
            args::Presentation::AtOnce => Presentation::AtOnce,
        },
        waits_for_refresh: args.vsync,
        wants_sound: !args.no_sound,
        shares_clipboard: args.clipboard,
        shows_statistics: args.statistics,
        decoder: decoder(args),
        threads: args.threads,
    };
    if let Some(reason) = play_in_window(config, &windowed)? {
        say(heard(&reason));
    }
    Ok(())
}
