//! Tests the line to a host, without pictures and without a decoder.

use std::sync::mpsc;
use std::time::Duration;

use mimosa_avcodec::decodable;
use mimosa_protocol::control::{LineReport, NoticeCode};
use mimosa_system::clock::Clock;
use mimosa_units::TimeDelta;

use super::error::PlayError;
use super::network::{Connection, ConnectionConfig, FromHost, ToHost};

/// Longest wait for the result: a test takes at most 8 s, and a connection 15 s.
const LONGEST: TimeDelta = TimeDelta::from_millis(25_000);
/// Longest silence of the host.
const PATIENCE: Duration = Duration::from_secs(25);

/// Asks a host for a test of the line, and waits for the result.
///
/// # Errors
///
/// [`PlayError`] if the host is not there or refuses, and [`PlayError::LineNotTested`] if it does not
/// test the line.
pub fn test_line(config: ConnectionConfig) -> Result<LineReport, PlayError> {
    let (sender, news) = mpsc::channel();
    let deliver = move |message| {
        // After the result, nothing takes news.
        let _ = sender.send(message);
    };
    let connection = Connection::open(config, &decodable(), Clock::start(), None, None, deliver)?;
    let clock = Clock::start();
    let begun = clock.now();
    loop {
        match news.recv_timeout(PATIENCE) {
            // The host greets once the channel is open on which it is asked.
            Ok(FromHost::Hello(_)) => connection.send(ToHost::TestLine),
            Ok(FromHost::Line(report)) => return Ok(*report),
            Ok(FromHost::Notice(notice)) if notice.code == NoticeCode::LineNotTested => {
                return Err(PlayError::LineNotTested(notice.message));
            }
            Ok(FromHost::Ended { reason, .. }) => return Err(PlayError::LineNotTested(reason)),
            Ok(_) if clock.now().since(begun) < LONGEST => {}
            // A host of another version streams on.
            Ok(_) | Err(_) => {
                let reason =
                    "the host does not answer; one of another version may not know how to test";
                return Err(PlayError::LineNotTested(reason.to_owned()));
            }
        }
    }
}
