//! Runs one session: hosts, clients and perhaps TCP, and collects what they left.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mimosa_campaign::{Campaign, Kind, Outcome, Raw, RawStream, Row, Session, figures};
use mimosa_units::TimeDelta;

use super::remote::{Mode, Remote};

/// Time for a host to tell its address, the connection to its machine included.
const START: Duration = Duration::from_secs(20);
/// Time for a client to connect and to end, beyond the time that it plays: ten seconds to give up a
/// host, and as many to write the report.
const BEYOND: Duration = Duration::from_secs(20);
/// The line between a host's addresses and its recording, which the guard writes.
const RECORDING: &[u8] = b"mimosa-campaign-recording\n";
/// What iperf3's server prints when a client may come.
const LISTENING: &[u8] = b"listening";

/// Files by name.
type Kept = Vec<(String, Vec<u8>)>;

/// Runs a session, and returns its row and its raw files. What fails is in the row.
pub(super) fn run(campaign: &Campaign, session: &Session) -> (Row, Kept) {
    let mut kept = Vec::new();
    let started = seconds_since_1970();
    let result = streams(campaign, session, &mut kept);
    let (figures, cause) = match result {
        Ok(figures) => (figures, None),
        Err(cause) => (BTreeMap::new(), Some(cause)),
    };
    let row = Row {
        id: session.id.clone(),
        block: session.block,
        path: campaign.paths[session.path].name.clone(),
        test: campaign.tests[session.test].name.clone(),
        arm: campaign.arms[session.arm].name.clone(),
        started,
        outcome: if cause.is_none() {
            Outcome::Done
        } else {
            Outcome::Failed
        },
        cause,
        figures,
    };
    (row, kept)
}

/// Runs the streams of a session, and computes its figures.
fn streams(
    campaign: &Campaign,
    session: &Session,
    kept: &mut Kept,
) -> Result<BTreeMap<String, f64>, String> {
    let streams = campaign.streams(session);
    let mut hosts = Vec::new();
    let mut doors = Vec::new();
    for (number, stream) in streams.iter().enumerate() {
        let mut host = host(campaign, session, stream.arm, number)?;
        let door = host.until(now() + START, door);
        let name = format!("host-{}.log", number + 1);
        let door = door.map_err(|why| {
            kept.push((name, host.said().into_bytes()));
            format!("host {}: {why}", number + 1)
        })?;
        hosts.push(host);
        doors.push(door);
    }
    let has_tcp = matches!(
        campaign.tests[session.test].kind,
        Kind::Fairness { tcp: true, .. }
    );
    let server = has_tcp.then(|| tcp_server(campaign, session)).transpose()?;
    let begun = now();
    let length = duration(campaign.session);
    let mut tcp = has_tcp.then(|| tcp_client(campaign, session)).transpose()?;
    let mut clients = Vec::new();
    let mut starts = Vec::new();
    for (stream, door) in streams.iter().zip(&doors) {
        wait_until(begun + duration(stream.start));
        starts.push((now() - begun).as_secs_f64());
        let seconds = length.saturating_sub(duration(stream.start)).as_secs();
        clients.push(client(campaign, session, door, seconds)?);
    }
    let deadline = begun + length + BEYOND;
    let mut failure = None;
    let mut note = |what: String, result: Result<(), String>| {
        if let Err(why) = result {
            failure.get_or_insert(format!("{what}: {why}"));
        }
    };
    for (number, client) in clients.iter_mut().enumerate() {
        let number = number + 1;
        note(format!("client {number}"), client.ended(deadline));
        let report = client.written().to_vec();
        kept.push((format!("client-{number}.json"), report));
        let said = scrubbed(&client.said(), &doors);
        kept.push((format!("client-{number}.log"), said.into_bytes()));
    }
    if let Some(tcp) = &mut tcp {
        note("iperf3".to_owned(), tcp.ended(deadline));
        kept.push(("iperf3.json".to_owned(), tcp.written().to_vec()));
    }
    drop(server);
    for (number, host) in hosts.iter_mut().enumerate() {
        let number = number + 1;
        note(format!("host {number}"), host.end());
        let said = scrubbed(&host.said(), &doors);
        kept.push((format!("host-{number}.log"), said.into_bytes()));
        if let Some(recording) = after(host.written(), RECORDING).filter(|bytes| !bytes.is_empty())
        {
            kept.push((format!("host-{number}.parquet"), recording.to_vec()));
        }
    }
    if let Some(failure) = failure {
        return Err(scrubbed(&failure, &doors));
    }
    let texts: Vec<_> = clients
        .iter()
        .map(|client| String::from_utf8_lossy(client.written()))
        .collect();
    let raw: Vec<RawStream<'_>> = texts
        .iter()
        .zip(&starts)
        .map(|(report, start)| RawStream {
            start: *start,
            report,
        })
        .collect();
    let iperf = tcp.map(|tcp| String::from_utf8_lossy(tcp.written()).into_owned());
    figures(&Raw {
        streams: &raw,
        tcp: iperf.as_deref().map(|text| (0.0, text)),
        session: campaign.session.as_secs(),
        warm_up: campaign.warm_up.as_secs(),
        capacity: campaign.paths[session.path]
            .capacity
            .map(mimosa_units::Rate::as_mbps),
    })
}

/// Starts the host of a session's stream.
fn host(
    campaign: &Campaign,
    session: &Session,
    arm: usize,
    number: usize,
) -> Result<Remote, String> {
    let path = &campaign.paths[session.path];
    let machine = &campaign.machines[path.host];
    let arm = &campaign.arms[arm];
    // Each host has two ports, and the file leaves room for them.
    let port = |which: u16| {
        let offset = u16::try_from(2 * number).unwrap_or(0) + which;
        path.port
            .map_or(0, |first| first.saturating_add(offset))
            .to_string()
    };
    let (http, udp) = (port(0), port(1));
    // The machine's own settings are not the campaign's, and its network need not hear of it. By HTTPS, so that the client knows whom it
    // sends the proof of its token to.
    let mut words: Vec<String> = [
        machine.mimosa.as_str(),
        "serve",
        "--config",
        "/dev/null",
        "--no-qr",
        "--no-open",
        "--announce",
        "off",
        "--tls",
        "on",
        "--bind",
        &path.bind,
        "--http-port",
        &http,
        "--udp-port",
        &udp,
        "--controller",
        &arm.controller,
    ]
    .map(str::to_owned)
    .to_vec();
    words.extend(path.serve.iter().chain(&arm.serve).cloned());
    let mode = if campaign.record {
        Mode::Record
    } else {
        Mode::Plain
    };
    let limit = duration(campaign.session) + 2 * START + BEYOND;
    Remote::start(machine, mode, limit, &words, None)
        .map_err(|why| format!("host {}: {why}", number + 1))
}

/// Starts a client, at the host behind `door`, for so many seconds.
fn client(
    campaign: &Campaign,
    session: &Session,
    door: &Door,
    seconds: u64,
) -> Result<Remote, String> {
    let path = &campaign.paths[session.path];
    let machine = &campaign.machines[path.client];
    let address = if path.address.contains(':') {
        format!("[{}]", path.address)
    } else {
        path.address.clone()
    };
    let url = format!("https://{address}:{}/#key={}", door.port, door.key);
    let length = seconds.to_string();
    let words = [
        machine.mimosa.as_str(),
        "play",
        &url,
        "--headless",
        "--seconds",
        &length,
        "--report",
        "-",
    ];
    let words = words.map(str::to_owned);
    let limit = Duration::from_secs(seconds) + BEYOND;
    Remote::start(machine, Mode::Client, limit, &words, Some(&door.token))
        .map_err(|why| format!("a client: {why}"))
}

/// Starts the sending end of a TCP flow, and waits until it listens.
fn tcp_server(campaign: &Campaign, session: &Session) -> Result<Remote, String> {
    let path = &campaign.paths[session.path];
    let port = path.tcp_port.to_string();
    let words = ["iperf3", "-s", "-1", "--forceflush", "-p", &port].map(str::to_owned);
    let limit = duration(campaign.session) + START + BEYOND;
    let machine = &campaign.machines[path.host];
    let failed = |why| format!("iperf3 at the host: {why}");
    let mut server = Remote::start(machine, Mode::Plain, limit, &words, None).map_err(failed)?;
    let listens = |written: &[u8]| after(written, LISTENING).map(|_| ());
    server.until(now() + START, listens).map_err(failed)?;
    Ok(server)
}

/// Starts the receiving end of a TCP flow.
fn tcp_client(campaign: &Campaign, session: &Session) -> Result<Remote, String> {
    let path = &campaign.paths[session.path];
    let length = duration(campaign.session);
    let (port, seconds) = (path.tcp_port.to_string(), length.as_secs().to_string());
    let words = [
        "iperf3",
        "-c",
        &path.address,
        "-p",
        &port,
        "-R",
        "-t",
        &seconds,
        "--json",
    ];
    let words = words.map(str::to_owned);
    let machine = &campaign.machines[path.client];
    Remote::start(machine, Mode::Plain, length + BEYOND, &words, None)
        .map_err(|why| format!("iperf3 at the client: {why}"))
}

/// What a client needs to know of a host, beside its address.
#[derive(Debug, Eq, PartialEq)]
struct Door {
    port: u16,
    token: String,
    key: String,
}

/// The first address to play at that a host has printed, once its line is whole.
fn door(written: &[u8]) -> Option<Door> {
    let text = String::from_utf8_lossy(written);
    let (whole, _) = text.rsplit_once('\n')?;
    let url = whole
        .lines()
        .find_map(|line| line.strip_prefix("play "))?
        .trim();
    let (place, fragment) = url.strip_prefix("https://")?.split_once("/#")?;
    let (_, port) = place.rsplit_once(':')?;
    let value = |name: &str| {
        let mut parts = fragment.split('&').filter_map(|part| part.split_once('='));
        parts.find_map(|(key, value)| (key == name).then(|| value.to_owned()))
    };
    Some(Door {
        port: port.parse().ok()?,
        token: value("token")?,
        key: value("key")?,
    })
}

/// What comes after the first `mark` in `bytes`.
fn after<'a>(bytes: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let at = bytes
        .windows(mark.len())
        .position(|window| window == mark)?;
    bytes.get(at + mark.len()..)
}

/// `text` without the tokens of the hosts.
fn scrubbed(text: &str, doors: &[Door]) -> String {
    doors.iter().fold(text.to_owned(), |text, door| {
        text.replace(&door.token, "(token)")
    })
}

/// A span of the campaign's as one of the standard library's.
pub(super) fn duration(span: TimeDelta) -> Duration {
    Duration::from_nanos(u64::try_from(span.as_nanos()).unwrap_or(0))
}

/// The time by the monotonic clock.
#[expect(clippy::disallowed_methods, reason = "sessions run in real time")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// The time by the system's clock.
#[expect(
    clippy::disallowed_methods,
    reason = "a data set says when it was made"
)]
fn seconds_since_1970() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Waits until `end`.
pub(super) fn wait_until(end: Instant) {
    loop {
        let left = end.saturating_duration_since(now());
        if left.is_zero() {
            return;
        }
        std::thread::park_timeout(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_read_once_its_line_is_whole() {
        let line = "play   https://[::1]:4000/#token=abc-_&key=0f\nwatch ";
        let expected = Door {
            port: 4000,
            token: "abc-_".to_owned(),
            key: "0f".to_owned(),
        };
        assert_eq!(door(line.as_bytes()), Some(expected));
        assert_eq!(door(b"play   https://[::1]:4000/#token=abc&key=0"), None);
        assert_eq!(door(b"play   http://127.0.0.1:1/#token=abc\n"), None);
    }

    #[test]
    fn no_token_is_kept() {
        let doors = [door(b"play https://h:1/#token=secret&key=0\n").unwrap()];
        assert_eq!(scrubbed("a secret b", &doors), "a (token) b");
    }

    #[test]
    fn a_recording_comes_after_its_mark() {
        let written = b"play x\nmimosa-campaign-recording\nPAR1";
        assert_eq!(after(written, RECORDING), Some(&b"PAR1"[..]));
        assert_eq!(after(b"play x\n", RECORDING), None);
    }
}
