//! Makes settings from the given values, and refuses wrong ones.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use mimosa_facts::{Complexity, EntropyCoding, Limits};
use mimosa_protocol::pairing::Allowed;
use mimosa_stream::ProtectionKind;
use mimosa_units::{Rate, TimeDelta};
use toml::Value;

use crate::advertised::{Advertised, PublicHost};
use crate::bitrate;
use crate::element::ElementName;
use crate::environment;
use crate::error::{Problem, SettingsError};
use crate::file;
use crate::given::{Flags, Given, Said};
use crate::key::Key;
use crate::keys;
use crate::relay::{RelaySecret, RelaySettings, RelayUrl};
use crate::settings::{
    AcmeSettings, ControllerSettings, EncoderName, EncoderSettings, FrameSizes, GamepadSettings,
    InputSettings, Limit, LogFormat, Settings, SizePrediction, SoundSettings, TlsFiles, TlsMode,
    TlsSettings, Token, Work,
};
use crate::source;

/// Checks that only the program can make, which has the controllers, the pacers and the log.
pub trait Checks {
    /// Names of the controllers.
    fn controllers(&self) -> &[&str];

    /// Checks a controller that is not part of the program, such as `wasm:aimd.wasm`, by making
    /// one; `None` if the name has no form of such names. By default no name has.
    ///
    /// # Errors
    ///
    /// A text that says what is wrong with the controller, and what to write instead.
    fn outside(
        &self,
        name: &str,
        params: &toml::Table,
        limits: Limits,
    ) -> Option<Result<(), String>> {
        let _ = (name, params, limits);
        None
    }

    /// Names of the pacers.
    fn pacers(&self) -> &[&str];

    /// Names of the encoders that are built in, and `auto`.
    fn encoders(&self) -> &[&str];

    /// Checks parameters of a controller.
    ///
    /// # Errors
    ///
    /// What is wrong with them, in the controller's words.
    fn params(&self, controller: &str, params: &toml::Table, limits: Limits) -> Result<(), String>;

    /// Checks a filter for the log.
    ///
    /// # Errors
    ///
    /// What is wrong with it, in the log's words.
    fn log(&self, filter: &str) -> Result<(), String>;
}

/// Resolves the settings from a file, given by its name and text, from environment variables, of
/// which only those with the prefix `MIMOSA_` count, and from flags. Later ones win.
///
/// # Errors
///
/// [`SettingsError`] about the first value that is wrong, with its origin.
pub fn resolve(
    file: Option<(&str, &str)>,
    environment: impl IntoIterator<Item = (String, String)>,
    flags: &Flags,
    checks: &dyn Checks,
) -> Result<Settings, SettingsError> {
    let mut said = Said::default();
    if let Some((name, text)) = file {
        file::read(name, text, &mut said)?;
    }
    environment::read(environment, &mut said)?;
    flags.add_to(&mut said)?;
    let bind = said.read(&keys::BIND, addresses)?;
    let (is_open, token, view_token) = tokens(&said, &bind)?;
    Ok(Settings {
        bind,
        http_port: said.read(&keys::HTTP_PORT, |value| number(value, 0..=u16::MAX))?,
        udp_port: said.read(&keys::UDP_PORT, |value| number(value, 0..=u16::MAX))?,
        advertise: said.read(&keys::ADVERTISE, advertised)?,
        announces: said.read(&keys::ANNOUNCE, switch)?,
        forwards_ports: said.read(&keys::FORWARD_PORTS, switch)?,
        tls: tls(&said)?,
        allowed_origins: said.read(&keys::ALLOWED_ORIGINS, origins)?,
        is_open,
        token,
        view_token,
        pair: said.read(&keys::PAIR, |value| match value.as_str()? {
            "play" => Some(Some(Allowed::Play)),
            "view" => Some(Some(Allowed::View)),
            "off" => Some(None),
            _ => None,
        })?,
        viewers: Limit(said.read(&keys::VIEWERS, |value| number(value, 0..=100))?),
        source: source::choose(&said)?,
        size: said.read(&keys::SIZE, |value| value.as_str()?.parse().ok())?,
        frames_per_second: said.read(&keys::FRAMES_PER_SECOND, |value| number(value, 1..=240))?,
        viewer_frames_per_second: said.read(&keys::VIEWER_FRAMES_PER_SECOND, |value| {
            number(value, 1..=240)
        })?,
        encoder: EncoderSettings {
            name: encoder(&said, checks)?,
            element: said.read(&keys::ENCODER_ELEMENT, |value| {
                ElementName::new(value.as_str()?)
            })?,
            work: said.read(&keys::ENCODER_COMPLEXITY, work)?,
            buffer_frames: said
                .read(&keys::ENCODER_BUFFER_FRAMES, |value| number(value, 1..=60))?,
            size_prediction: said.read(&keys::SIZE_PREDICTION, |value| {
                match value.as_str()? {
                    "motion" => Some(SizePrediction::Motion),
                    "difference" => Some(SizePrediction::Difference),
                    _ => None,
                }
            })?,
            adapts_detail: said.read(&keys::DETAIL, |value| match value.as_str()? {
                "adaptive" => Some(true),
                "full" => Some(false),
                _ => None,
            })?,
            relieves: said.read(&keys::RELIEF, |value| match value.as_str()? {
                "adaptive" => Some(true),
                "off" => Some(false),
                _ => None,
            })?,
            entropy: entropy(&said)?,
            finest_quantiser: said.read(&keys::FINEST_QUANTISER, |value| number(value, 1..=51))?,
            sizes: said.read(&keys::FRAME_SIZES, |value| match value.as_str()? {
                "carried" => Some(FrameSizes::Carried),
                "strict" => Some(FrameSizes::Strict),
                _ => None,
            })?,
            parts: said.read(&keys::ENCODER_PARTS, |value| number(value, 1..=16))?,
            threads: said.read(&keys::ENCODER_THREADS, |value| number(value, 1..=16))?,
        },
        sound: sound(&said)?,
        input: input(&said)?,
        relay: relay(&said)?,
        updates: updates(&said)?,
        controller: controller(&said, checks)?,
        retransmission_deadline: said.read(&keys::RETRANSMISSION_DEADLINE, |value| match value
            .as_str()?
        {
            "auto" => Some(None),
            // Frames are kept for two seconds (crates/session/transport).
            _ => duration_within(value, 0..=2_000_000).map(Some),
        })?,
        repair_deadline: duration(&said, &keys::REPAIR_DEADLINE, 1_000..=10_000_000)?,
        protection: said.read(&keys::PROTECTION, |value| {
            let name = value.as_str()?;
            let mut all = ProtectionKind::ALL.into_iter();
            all.find(|kind| kind.name() == name)
        })?,
        presentation_deadline: duration(&said, &keys::PRESENTATION_DEADLINE, 1_000..=10_000_000)?,
        shortest_gap: duration(&said, &keys::SHORTEST_GAP, 0..=10_000)?,
        record: said.text(&keys::RECORD)?.map(PathBuf::from),
        record_pictures: said.text(&keys::RECORD_PICTURES)?.map(PathBuf::from),
        record_pictures_limit: said.read(&keys::RECORD_PICTURES_LIMIT, |value| {
            number(value, 1..=1_000_000)
        })?,
        log: log(&said, checks)?,
        log_format: said.read(&keys::LOG_FORMAT, |value| match value.as_str()? {
            "text" => Some(LogFormat::Text),
            "json" => Some(LogFormat::Json),
            _ => None,
        })?,
    })
}

/// `on` or `off`.
fn switch(value: &Value) -> Option<bool> {
    match value.as_str()? {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

/// A whole number within `range`.
fn number<T: TryFrom<i64> + PartialOrd>(value: &Value, range: RangeInclusive<T>) -> Option<T> {
    let number = T::try_from(value.as_integer()?).ok()?;
    range.contains(&number).then_some(number)
}

/// A duration within `micros` microseconds.
fn duration(
    said: &Said,
    key: &'static Key,
    micros: RangeInclusive<i64>,
) -> Result<TimeDelta, SettingsError> {
    said.read(key, |value| duration_within(value, micros.clone()))
}

fn duration_within(value: &Value, micros: RangeInclusive<i64>) -> Option<TimeDelta> {
    let (least, most) = micros.into_inner();
    let range = TimeDelta::from_micros(least)..=TimeDelta::from_micros(most);
    let duration = value.as_str()?.parse().ok()?;
    range.contains(&duration).then_some(duration)
}

fn addresses(value: &Value) -> Option<Vec<IpAddr>> {
    let mut addresses = Vec::new();
    for address in value.as_array()? {
        let address: IpAddr = address.as_str()?.parse().ok()?;
        if addresses.contains(&address) {
            return None;
        }
        addresses.push(address);
    }
    (!addresses.is_empty()).then_some(addresses)
}

/// Most places that a host can advertise. Our choice: each is a line in every answer, and a path that
/// a browser tries.
const MOST_ADVERTISED: usize = 16;

fn advertised(value: &Value) -> Option<Vec<Advertised>> {
    let places = value.as_array()?;
    let places = places.iter().map(|place| place.as_str()?.parse().ok());
    let places: Vec<_> = places.collect::<Option<_>>()?;
    (places.len() <= MOST_ADVERTISED).then_some(places)
}

fn origins(value: &Value) -> Option<Vec<String>> {
    let origin = |value: &Value| {
        let text = value.as_str()?;
        let host = text
            .strip_prefix("https://")
            .or_else(|| text.strip_prefix("http://"))?;
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-._:[]".contains(c);
        (!host.is_empty() && host.chars().all(fits)).then(|| text.to_owned())
    };
    value.as_array()?.iter().map(origin).collect()
}

/// The encoder, which has to be one that is built into this program.
fn encoder(said: &Said, checks: &dyn Checks) -> Result<EncoderName, SettingsError> {
    let known = checks.encoders();
    let given = said.of(&keys::ENCODER);
    let name = given.value.as_str().filter(|name| known.contains(name));
    EncoderName::ALL
        .into_iter()
        .find(|encoder| Some(encoder.name()) == name)
        .ok_or_else(|| given.wrong_as(&one_of(known)))
}

/// The entropy coding that is always used; none for the one that suits the bitrate.
fn entropy(said: &Said) -> Result<Option<EntropyCoding>, SettingsError> {
    said.read(&keys::ENTROPY_CODING, |value| match value.as_str()? {
        "adaptive" => Some(None),
        "cabac" => Some(Some(EntropyCoding::Arithmetic)),
        "cavlc" => Some(Some(EntropyCoding::VariableLength)),
        _ => None,
    })
}

fn work(value: &Value) -> Option<Work> {
    let name = value.as_str()?;
    if name == "adaptive" {
        return Some(Work::Adaptive);
    }
    let mut levels = Complexity::ALL.into_iter();
    levels.find(|level| level.name() == name).map(Work::Always)
}

fn sound(said: &Said) -> Result<SoundSettings, SettingsError> {
    let range = Rate::from_kbps(16)..=Rate::from_kbps(256);
    Ok(SoundSettings {
        is_on: said.read(&keys::SOUND, |value| match value.as_str()? {
            "auto" => Some(true),
            "off" => Some(false),
            _ => None,
        })?,
        sink: said.text(&keys::SOUND_SINK)?,
        bitrate: said.read(&keys::SOUND_BITRATE, |value| {
            bitrate::rate(value).filter(|rate| range.contains(rate))
        })?,
    })
}

fn input(said: &Said) -> Result<InputSettings, SettingsError> {
    Ok(InputSettings {
        gamepads: said.read(&keys::GAMEPADS, |value| {
            let name = value.as_str()?;
            let mut all = GamepadSettings::ALL.into_iter();
            all.find(|gamepads| gamepads.name() == name)
        })?,
        clipboard: said.read(&keys::CLIPBOARD, switch)?,
    })
}

fn tls(said: &Said) -> Result<TlsSettings, SettingsError> {
    let path = |key| Ok(said.text(key)?.map(PathBuf::from));
    let files = match (path(&keys::TLS_CERTIFICATE)?, path(&keys::TLS_KEY)?) {
        (Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
        (None, None) => None,
        (Some(_), None) => return Err(alone(said, &keys::TLS_CERTIFICATE, &keys::TLS_KEY)),
        (None, Some(_)) => return Err(alone(said, &keys::TLS_KEY, &keys::TLS_CERTIFICATE)),
    };
    let mode = said.read(&keys::TLS, |value| match value.as_str()? {
        "auto" => Some(TlsMode::Auto),
        "on" => Some(TlsMode::On),
        "off" => Some(TlsMode::Off),
        _ => None,
    })?;
    let acme = acme(said)?;
    if acme.is_some() && files.is_some() {
        let certificate = said.of(&keys::TLS_CERTIFICATE);
        return Err(said.of(&keys::ACME).excludes(&certificate));
    }
    Ok(TlsSettings { mode, files, acme })
}

/// A URL that begins with `https://`.
fn https(value: &Value) -> Option<String> {
    let url = value.as_str()?;
    let host = url.strip_prefix("https://")?;
    let fits = |c: char| c.is_ascii_graphic();
    (!host.is_empty() && host.chars().all(fits)).then(|| url.to_owned())
}

/// Whom to ask for the newest version, if anybody.
fn updates(said: &Said) -> Result<Option<String>, SettingsError> {
    match said.text(&keys::UPDATES)? {
        Some(_) => said.read(&keys::UPDATES, https).map(Some),
        None => Ok(None),
    }
}

/// The authority that gives a certificate, if there are names for it.
fn acme(said: &Said) -> Result<Option<AcmeSettings>, SettingsError> {
    let names = said.read(&keys::ACME, dns_names)?;
    let agrees = said.read(&keys::ACME_TERMS, switch)?;
    let directory = said.read(&keys::ACME_DIRECTORY, https)?;
    let contact = said.read(&keys::ACME_CONTACT, |value| {
        let address = value.as_str()?;
        let fits = |c: char| c.is_ascii_graphic() && !",?&".contains(c);
        let is_address = address
            .split_once('@')
            .is_some_and(|(user, host)| !user.is_empty() && !host.is_empty());
        (address.is_empty() || is_address && address.chars().all(fits)).then(|| address.to_owned())
    })?;
    let root = said.text(&keys::ACME_ROOT)?.map(PathBuf::from);
    if names.is_empty() {
        return Ok(None);
    }
    if !agrees {
        return Err(said.of(&keys::ACME).error(Problem::Terms { directory }));
    }
    Ok(Some(AcmeSettings {
        names,
        directory,
        contact: Some(contact).filter(|contact| !contact.is_empty()),
        root,
    }))
}

/// Names as authorities take them: with a dot, and no addresses.
fn dns_names(value: &Value) -> Option<Vec<String>> {
    let name = |value: &Value| {
        let place: Advertised = value.as_str()?.parse().ok()?;
        match (place.host, place.port) {
            (PublicHost::Name(name), None) if name.contains('.') => Some(name.to_ascii_lowercase()),
            _ => None,
        }
    };
    let names: Vec<_> = value.as_array()?.iter().map(name).collect::<Option<_>>()?;
    (names.len() <= MOST_ADVERTISED).then_some(names)
}

/// Most ways to a relay. Our choice: a browser asks for an address by each, and three are all there are.
const MOST_RELAY_URLS: usize = 4;

fn relay(said: &Said) -> Result<Option<RelaySettings>, SettingsError> {
    let urls = said.read(&keys::RELAY, |value| {
        let urls = value.as_array()?.iter();
        let urls: Vec<RelayUrl> = urls
            .map(|url| url.as_str()?.parse().ok())
            .collect::<Option<_>>()?;
        (urls.len() <= MOST_RELAY_URLS).then_some(urls)
    })?;
    let secret = said.read(&keys::RELAY_SECRET, |value| match value.as_str()? {
        "" => Some(None),
        text => RelaySecret::new(text).map(Some),
    })?;
    match (urls.is_empty(), secret) {
        (true, None) => Ok(None),
        (false, Some(secret)) => Ok(Some(RelaySettings { urls, secret })),
        (true, Some(_)) => Err(alone(said, &keys::RELAY_SECRET, &keys::RELAY)),
        (false, None) => Err(alone(said, &keys::RELAY, &keys::RELAY_SECRET)),
    }
}

/// The error that a key stands without another one.
fn alone(said: &Said, key: &'static Key, other: &'static Key) -> SettingsError {
    said.of(key).error(Problem::Alone {
        key: key.path,
        other: other.path,
    })
}

/// Whether the host is open, and its tokens.
fn tokens(
    said: &Said,
    bind: &[IpAddr],
) -> Result<(bool, Option<Token>, Option<Token>), SettingsError> {
    let given = said.of(&keys::TOKEN);
    if given.value.as_str() == Some("off") {
        let is_beyond = |address: &&IpAddr| !address.is_loopback();
        if let Some(&address) = bind.iter().find(is_beyond) {
            return Err(given.error(Problem::OpenBeyond { address }));
        }
        let view = said.of(&keys::VIEW_TOKEN);
        if view.value.as_str() != Some("") {
            return Err(view.excludes(&given));
        }
        return Ok((true, None, None));
    }
    let token = |key| {
        said.read(key, |value| match value.as_str()? {
            "" => Some(None),
            text => Token::new(text).map(Some),
        })
    };
    let (play, view) = (token(&keys::TOKEN)?, token(&keys::VIEW_TOKEN)?);
    if play.is_some() && play == view {
        return Err(said.of(&keys::VIEW_TOKEN).error(Problem::SameToken));
    }
    Ok((false, play, view))
}

fn log(said: &Said, checks: &dyn Checks) -> Result<String, SettingsError> {
    let given = said.of(&keys::LOG);
    let filter = said.text(&keys::LOG)?.ok_or_else(|| given.wrong())?;
    checks
        .log(&filter)
        .map_err(|why| given.error(Problem::Log { why }))?;
    Ok(filter)
}

fn controller(said: &Said, checks: &dyn Checks) -> Result<ControllerSettings, SettingsError> {
    let limits = bitrate::limits(said)?;
    let given = said.of(&keys::CONTROLLER);
    let text = given.value.as_str().ok_or_else(|| given.wrong())?;
    let (params, last) = params(said, text)?;
    let known = checks.controllers();
    let name = known.iter().find(|name| **name == text);
    let outside = match name {
        Some(_) => None,
        None => checks.outside(text, &params, limits),
    };
    match (name, outside) {
        (Some(name), _) => {
            if let Err(why) = checks.params(name, &params, limits) {
                let key = keys::PARAMS.path;
                return Err(last.error(Problem::Params { key, why }));
            }
        }
        (None, Some(checked)) => checked.map_err(|why| given.error(Problem::Outside { why }))?,
        (None, None) => return Err(given.wrong_as(&one_of(known))),
    }
    let name = text;
    let known = checks.pacers();
    let given = said.of(&keys::PACER);
    let pacer = given.value.as_str().filter(|name| known.contains(name));
    let pacer = pacer.ok_or_else(|| given.wrong_as(&one_of(known)))?;
    Ok(ControllerSettings {
        name: name.to_owned(),
        params,
        pacer: pacer.to_owned(),
        limits,
        viewer_max: said.read(&keys::VIEWER_MAX_BITRATE, bitrate::rate)?,
        blind_rate: said.read(&keys::BLIND_RATE, bitrate::rate)?,
    })
}

/// The parameters of all origins, merged key by key, and the last origin. Parameters that were
/// given together with another controller's name do not count.
fn params(said: &Said, controller: &str) -> Result<(toml::Table, Given), SettingsError> {
    let meant = |rank: u8| {
        let mut names = said.all(&keys::CONTROLLER).iter();
        let name = names.rfind(|given| given.origin.rank() <= rank);
        name.map_or(Some(keys::CONTROLLER.default), |given| given.value.as_str())
    };
    let mut all = toml::Table::new();
    for given in said.all(&keys::PARAMS) {
        let params = given.value.as_table().ok_or_else(|| given.wrong())?;
        if meant(given.origin.rank()) == Some(controller) {
            all.extend(params.clone());
        }
    }
    Ok((all, said.of(&keys::PARAMS)))
}

/// `a`, `b` or `c`.
fn one_of(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => "nothing".to_owned(),
    }
}
