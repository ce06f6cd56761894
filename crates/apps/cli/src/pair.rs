//! `mimosa pair`: makes this machine known to a host, by the PIN that the host shows.

use std::io::{self, BufRead};

use mimosa_client::{Address, PlayError, ask_for_pin, pair};
use mimosa_protocol::problem::ErrorCode;

use crate::terminal;

/// With which host, and under which name.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The host, as `mimosa serve` prints it: http://HOST:PORT/
    #[arg(value_name = "URL")]
    address: String,
    /// What the host calls this machine [default: its host name]
    #[arg(long)]
    name: Option<String>,
}

/// Asks for the PIN on standard input, and keeps the token that comes of it.
pub(crate) fn run(args: &Args) -> Result<String, String> {
    let address = Address::parse(&args.address).map_err(|error| error.to_string())?;
    with(&address, args.name.clone())
}

/// Pairs with the host at this address, under this name or the machine's. Returns what that is good for.
pub(crate) fn with(address: &Address, name: Option<String>) -> Result<String, String> {
    let text = |error: PlayError| error.to_string();
    match ask_for_pin(address) {
        Ok(()) => {}
        // The owner is asked by whoever pairs, and may have shown a PIN by the time that it is typed.
        Err(PlayError::Refused(problem)) if problem.error == ErrorCode::OwnerOnly => {
            let message = format!("{}\n", problem.message);
            terminal::print(&message).map_err(|error| error.to_string())?;
        }
        Err(error) => return Err(text(error)),
    }
    terminal::print("PIN that the host shows: ").map_err(|error| error.to_string())?;
    let mut pin = String::new();
    let read = io::stdin().lock().read_line(&mut pin);
    read.map_err(|error| format!("the PIN cannot be read: {error}"))?;
    let role = pair(address, pin.trim(), &name.unwrap_or_else(machine)).map_err(text)?;
    Ok(format!(
        "paired: this user may {} at {} from now on, with `mimosa play {}`\n",
        role.name(),
        address.host(),
        address.host(),
    ))
}

/// The name of this machine.
fn machine() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name: String = name.trim().chars().take(20).collect();
    if name.is_empty() {
        "mimosa play".to_owned()
    } else {
        name
    }
}
