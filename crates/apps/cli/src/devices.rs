//! `mimosa devices`: the devices that have paired with this user's hosts.

use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use mimosa_host::devices::{Device, Devices, DevicesError};

/// What to do with the devices.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    change: Option<Change>,
}

#[derive(clap::Subcommand)]
enum Change {
    /// Refuse a device from now on.
    Revoke {
        /// The device's name, as `mimosa devices` lists it
        name: String,
    },
    /// Give a device another name.
    Rename {
        /// The device's name, as `mimosa devices` lists it
        name: String,
        /// The new name
        to: String,
    },
}

/// Lists the devices, or changes one. A running host notices.
pub(crate) fn run(args: &Args) -> Result<String, DevicesError> {
    let mut devices = Devices::open()?;
    match &args.change {
        None => Ok(listed(devices.list(), seconds())),
        Some(Change::Revoke { name }) => {
            devices.revoke(name)?;
            Ok(format!(
                "{name} comes in no more; a session that runs goes on until it ends\n"
            ))
        }
        Some(Change::Rename { name, to }) => {
            devices.rename(name, to)?;
            Ok(format!("{name} is {to} now\n"))
        }
    }
}

/// A line for each device; `now` is in seconds since 1970.
fn listed(devices: &[Device], now: u64) -> String {
    let mut text = String::new();
    for device in devices {
        let days = now.saturating_sub(device.paired) / 86_400;
        let ago = match days {
            0 => "today".to_owned(),
            1 => "yesterday".to_owned(),
            days => format!("{days} days ago"),
        };
        let (name, role) = (&device.name, device.role.name());
        let _ = writeln!(text, "{name:<40} may {role}, paired {ago}");
    }
    if text.is_empty() {
        text.push_str("no device has paired; `mimosa serve` shows a PIN for that\n");
    }
    text
}

/// Seconds since 1970.
fn seconds() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a date for people")]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use mimosa_protocol::pairing::Allowed;

    use super::*;

    #[test]
    fn the_list_shows_no_tokens() {
        let device = Device {
            id: "0123456789abcdef".to_owned(),
            name: "Phone".to_owned(),
            role: Allowed::View,
            token: "secret-secret".to_owned(),
            paired: 1_000_000,
        };
        let text = listed(&[device], 1_000_000 + 3 * 86_400);
        let name = format!("{:<40}", "Phone");
        assert_eq!(text, format!("{name} may view, paired 3 days ago\n"));
        assert!(listed(&[], 0).contains("no device has paired"));
    }
}
