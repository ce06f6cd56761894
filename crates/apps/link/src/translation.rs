//! Address translation by nftables, through which the far host of a link reaches what lies beyond
//! this machine. Each link has its own table, which is removed with the link.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::device::Addresses;
use crate::error::LinkError;

/// Beginning of the names of our tables, which no other program uses.
const PREFIX: &str = "mimosa-link-";

/// The translation of one link's addresses, which ends when this is dropped.
#[derive(Debug)]
pub struct Translation {
    table: String,
}

impl Translation {
    /// Translates the address of the host `inside.own` into this machine's for packets that go
    /// beyond the machine.
    ///
    /// # Errors
    ///
    /// [`LinkError::Translation`] if nftables fails.
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

    /// Removes the tables of links that, according to `is_there`, no longer exist.
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
                // Another process may be removing it as well.
                let _ = nft(&format!("delete table ip {table}\n"));
            }
        }
    }

    /// Whether this machine forwards packets.
    #[must_use]
    pub fn is_possible() -> bool {
        std::fs::read_to_string("/proc/sys/net/ipv4/ip_forward")
            .is_ok_and(|text| text.trim() == "1")
    }
}

impl Drop for Translation {
    fn drop(&mut self) {
        // If this fails, the next link removes the table.
        let _ = nft(&format!("delete table ip {}\n", self.table));
    }
}

/// Runs `script` with `nft`.
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
