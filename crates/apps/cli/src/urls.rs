//! `mimosa urls`: where this user's hosts are reached.

use std::fmt::Write;

use mimosa_host::Urls;
use mimosa_host::sessions::{SessionsError, urls};

use crate::serve;

/// Of which host.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// HTTP port of the host, where several run
    #[arg(long)]
    port: Option<u16>,
}

/// Lists the URLs of this user's hosts, as `mimosa serve` prints them.
pub(crate) fn run(args: &Args) -> Result<String, SessionsError> {
    Ok(listed(&urls(args.port)?))
}

fn listed(hosts: &[(u16, Urls)]) -> String {
    let mut text = String::new();
    for (port, urls) in hosts {
        if hosts.len() > 1 {
            let _ = writeln!(text, "host at port {port}:");
        }
        text.push_str(&serve::listed(urls));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_line() {
        let urls = Urls {
            play: vec!["http://localhost:8080/#token=a".to_owned()],
            watch: Vec::new(),
            own: Some("http://localhost:8080/#token=b".to_owned()),
        };
        let lines =
            "play   http://localhost:8080/#token=a\nown    http://localhost:8080/#token=b\n";
        assert_eq!(listed(&[(8_080, urls.clone())]), lines);
        let two = listed(&[(8_080, urls.clone()), (8_090, urls)]);
        let expected = format!("host at port 8080:\n{lines}host at port 8090:\n{lines}");
        assert_eq!(two, expected);
    }
}
