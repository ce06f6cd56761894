//! The way of a link's far host to what lies beyond this machine: address translation by
//! nftables, in a table of the link's own, which goes with it.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::device::Addresses;
use crate::error::LinkError;

/// Tables whose names begin so are ours, and nobody else's.
const PREFIX: &str = "mimosa-link-";

/// Translation of one link's addresses; it ends when this is dropped.
#[derive(Debug)]
pub struct Translation {
    table: String,
}

impl Translation {
    /// Has what the host `inside.own` sends beyond this machine leave under this
    /// machine's address.
    ///
    /// # Errors
    ///
    /// [`LinkError::Translation`].
    pub fn start(name: &str, inside: &Addresses) -> Result<Self, LinkError> {
        let table = format!("{PREFIX}{name}");
        let own = inside.own;
        nft(&format!(
            "add table ip {table}\n\
             add chain ip {table} leaving {{ type nat hook postrouting priority srcnat; }}\n\
             add rule ip {table} leaving ip saddr {own} ip daddr != {} masquerade\n",
            inside.peer
        ))?;
        Ok(Self { table })
    }

    /// Removes the tables of links of which `is_there` says that they are not.
    pub fn clean(is_there: impl Fn(&str) -> bool) {
        let Ok(tables) = nft("list tables\n") else {
            // Without nftables there are no tables.
            return;
        };
        let tables = tables
            .lines()
            .filter_map(|line| line.strip_prefix("table ip "));
        for table in tables {
            if table
                .strip_prefix(PREFIX)
                .is_some_and(|name| !is_there(name))
            {
                // Somebody else may be cleaning, too.
                let _ = nft(&format!("delete table ip {table}\n"));
            }
        }
    }

    /// Whether this machine passes on packets of others at all.
    #[must_use]
    pub fn is_possible() -> bool {
        std::fs::read_to_string("/proc/sys/net/ipv4/ip_forward")
            .is_ok_and(|text| text.trim() == "1")
    }
}

impl Drop for Translation {
    fn drop(&mut self) {
        // What is left, the next link removes.
        let _ = nft(&format!("delete table ip {}\n", self.table));
    }
}

/// Has `nft` do what `script` says.
fn nft(script: &str) -> Result<String, LinkError> {
    let failed = |error: std::io::Error| LinkError::Translation(error.to_string());
    let mut child = Command::new("nft")
        .args(["-f", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(script.as_bytes()).map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let first = said.lines().next().unwrap_or("no reason given");
    Err(LinkError::Translation(first.to_owned()))
}
