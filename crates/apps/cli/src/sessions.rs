//! `mimosa sessions`: who is connected to this user's hosts.

use std::fmt::Write;

use mimosa_host::sessions::{Listed, SessionsError, end, list};

/// What to do with the sessions.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// HTTP port of the host, where several run
    #[arg(long, global = true)]
    port: Option<u16>,
    #[command(subcommand)]
    change: Option<Change>,
}

#[derive(clap::Subcommand)]
enum Change {
    /// End a session, and tell its person so.
    End {
        /// The session's number, as `mimosa sessions` lists it
        number: u64,
    },
}

/// Lists the sessions, or ends one.
pub(crate) fn run(args: &Args) -> Result<String, SessionsError> {
    match args.change {
        None => Ok(listed(&list(args.port)?)),
        Some(Change::End { number }) => {
            end(args.port, number)?;
            Ok(format!(
                "session {number} has ended; whoever had it may come again, unless `mimosa devices revoke` \
                 keeps the device out\n"
            ))
        }
    }
}

/// A line for each session.
fn listed(hosts: &[(u16, Vec<Listed>)]) -> String {
    let mut text = String::new();
    for (port, sessions) in hosts {
        if hosts.len() > 1 {
            let _ = writeln!(text, "host at port {port}:");
        }
        for session in sessions {
            let device = session.device.as_deref().unwrap_or("by token");
            let from = session
                .address
                .map_or_else(|| "not connected".to_owned(), |address| address.to_string());
            let seconds = session.lasts.0.as_secs().max(0.0);
            let round_trip = session.round_trip.map_or_else(String::new, |span| {
                format!(", round trip {:.1} ms", span.0.as_millis())
            });
            let _ = writeln!(
                text,
                "{:<4} {:<7} {device:<24} {from}, for {seconds:.0} s, {:.1} Mbit/s{round_trip}",
                session.number,
                session.role.name(),
                session.bitrate.0.as_mbps(),
            );
        }
        if sessions.is_empty() {
            text.push_str("nobody is connected\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use mimosa_protocol::control::{BitsPerSecond, Millis, Role};
    use mimosa_units::{Rate, TimeDelta};

    use super::*;

    #[test]
    fn a_session_has_a_line() {
        let session = Listed {
            number: 12,
            device: Some("Phone".to_owned()),
            role: Role::Player,
            address: Some(([192, 0, 2, 1], 5_000).into()),
            lasts: Millis(TimeDelta::from_millis(90_400)),
            bitrate: BitsPerSecond(Rate::from_bps(8_260_000)),
            round_trip: Some(Millis(TimeDelta::from_micros(12_340))),
        };
        let line = "12   player  Phone                    192.0.2.1:5000, for 90 s, 8.3 Mbit/s, \
                    round trip 12.3 ms\n";
        assert_eq!(listed(&[(8_080, vec![session.clone()])]), line);
        let two = listed(&[(8_080, vec![session]), (8_090, vec![])]);
        let expected =
            format!("host at port 8080:\n{line}host at port 8090:\nnobody is connected\n");
        assert_eq!(two, expected);
    }
}
