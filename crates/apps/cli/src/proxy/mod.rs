//! `mimosa proxy`: congestion control around an RTP application that has none.

mod args;
mod error;

use std::net::SocketAddr;
use std::path::Path;

use mimosa_facts::{Controller, Limits};
use mimosa_proxy::{Far, FarConfig, Key, Near, NearConfig, VoiceConfig};
use mimosa_relay::{Commands, FarEnd, FarPlaces, NearEnd, NearPlaces, stop};
use mimosa_settings::LogFormat;
use mimosa_stream::pace::Policy;
use mimosa_stream::{EcnConfig, EcnUse};
use mimosa_units::{Bytes, Ecn};

pub(crate) use self::args::Args;
use self::args::{Command, FarArgs, NearArgs};
use self::error::ProxyError;
use crate::log;
use crate::secret_file;
use crate::terminal;

/// Bytes of the headers of UDP and of either version of IP.
const HEADERS_V4: Bytes = Bytes::new(28);
const HEADERS_V6: Bytes = Bytes::new(48);

/// Runs one end until the program is ended.
pub(crate) fn run(args: &Args) -> Result<(), ProxyError> {
    match &args.command {
        Command::Near(args) => near(args),
        Command::Far(args) => far(args),
    }
}

fn near(args: &NearArgs) -> Result<(), ProxyError> {
    log::start(args.log.clone(), LogFormat::Text).map_err(ProxyError::Log)?;
    let near = near_end(args)?;
    let places = NearPlaces {
        listen: args.listen,
        to: args.to,
        is_muxed: args.rtcp_mux,
        interface: args.interface.clone(),
        commands: Commands {
            on_bitrate: args.on_bitrate.clone(),
            on_keyframe: args.on_keyframe.clone(),
            apart: std::time::Duration::from_millis(args.command_gap),
        },
    };
    let end = NearEnd::bind(&places, near)?;
    ready(end.address())?;
    // Nobody stops this end: it ends with the program.
    let (_stop, stopped) = stop().map_err(ProxyError::Start)?;
    end.run(&stopped);
    Ok(())
}

fn far(args: &FarArgs) -> Result<(), ProxyError> {
    log::start(args.log.clone(), LogFormat::Text).map_err(ProxyError::Log)?;
    let places = FarPlaces {
        listen: args.listen,
        to: args.to,
        from: args.from,
        is_muxed: args.rtcp_mux,
    };
    let far = Far::new(FarConfig::default(), mimosa_relay::random());
    let far = match key(args.key_file.as_deref())? {
        Some(key) => far.with_key(key),
        None => far,
    };
    let end = FarEnd::bind(&places, far)?;
    ready(end.address())?;
    let (_stop, stopped) = stop().map_err(ProxyError::Start)?;
    end.run(&stopped);
    Ok(())
}

/// Says where this end listens, once it does.
fn ready(address: SocketAddr) -> Result<(), ProxyError> {
    Ok(terminal::print(&format!("listening at {address}\n"))?)
}

/// The near end with the controller that the arguments name.
fn near_end(args: &NearArgs) -> Result<Near, ProxyError> {
    if args.min_bitrate > args.max_bitrate {
        return Err(ProxyError::Limits {
            min: args.min_bitrate,
            max: args.max_bitrate,
        });
    }
    let limits = Limits::new(args.min_bitrate, args.start_bitrate, args.max_bitrate);
    let params: toml::Table = match &args.params {
        Some(text) => toml::from_str(&format!("params = {{ {text} }}"))
            .ok()
            .and_then(|mut table: toml::Table| table.remove("params")?.try_into().ok())
            .ok_or_else(|| ProxyError::Params(text.clone()))?,
        None => toml::Table::new(),
    };
    // The first controller shows whether names and parameters are right.
    let first = build(&args.controller, &params, limits)?;
    drop(first);
    let config = NearConfig {
        policy: Policy::from_name(&args.pacer)?,
        ecn: if args.no_ecn {
            EcnUse::Fixed(Ecn::NotEct)
        } else {
            EcnUse::Auto(EcnConfig::default())
        },
        headers: if args.to.is_ipv4() {
            HEADERS_V4
        } else {
            HEADERS_V6
        },
        codec: args.codec.map(args::CodecName::codec),
        paced_types: args.video_types.clone(),
        voice: VoiceConfig {
            keyframe_on_loss: !args.no_keyframe_on_loss,
            rate_request: args.request_bitrate.map(args::RateMessage::request),
            keyframe_request: args.request_keyframe.map(args::KeyframeMessage::request),
            ..VoiceConfig::default()
        },
        ..NearConfig::new(limits)
    };
    let name = args.controller.clone();
    let make = move |limits| {
        build(&name, &params, limits).unwrap_or_else(|error| {
            // The same name and parameters were built above.
            tracing::error!(%error, "the controller cannot be made again");
            fixed(limits)
        })
    };
    let near = Near::new(config, mimosa_relay::random(), Box::new(make));
    Ok(match key(args.key_file.as_deref())? {
        Some(key) => near.with_key(key, mimosa_relay::random_bytes()),
        None => near,
    })
}

/// The key in this file.
fn key(file: Option<&Path>) -> Result<Option<Key>, ProxyError> {
    let Some(file) = file else {
        return Ok(None);
    };
    let text = secret_file::read(file)?;
    let key = Key::new(&text).ok_or_else(|| ProxyError::Key(file.to_owned()))?;
    Ok(Some(key))
}

/// A controller that keeps to the first target.
fn fixed(limits: Limits) -> Box<dyn Controller> {
    Box::new(mimosa_cc::fixed::Fixed::new(
        mimosa_cc::fixed::Config::default(),
        limits,
    ))
}

fn build(
    name: &str,
    params: &toml::Table,
    limits: Limits,
) -> Result<Box<dyn Controller>, ProxyError> {
    if name == mimosa_cc::oracle::NAME {
        return Err(ProxyError::Oracle);
    }
    let params = toml::Value::Table(params.clone());
    Ok(mimosa_cc::build(name, params, limits)?)
}
