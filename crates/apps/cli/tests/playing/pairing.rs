//! Pairing with a host by HTTPS with its own certificate, whose key the client learns by it.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::{alone, folder, text};

/// How long a host may take to say something.
const PATIENCE: Duration = Duration::from_mins(2);

/// A host on a terminal, where it shows PINs.
struct Host {
    child: Child,
    lines: Receiver<String>,
    port: u16,
}

impl Drop for Host {
    fn drop(&mut self) {
        // The host would outlive its terminal.
        let terminal = self.child.id().to_string();
        let _ = Command::new("pkill")
            .args(["--signal", "KILL", "--parent", &terminal])
            .status();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Host {
    /// Starts a host with its key in `state`.
    fn start(state: &Path) -> Self {
        let mimosa = env!("CARGO_BIN_EXE_mimosa");
        let command = format!(
            "exec '{mimosa}' serve --tls on --bind 127.0.0.1 --http-port 0 --udp-port 0 --size 320x180"
        );
        let mut child = Command::new("script")
            .args(["-qefc", &command, "/dev/null"])
            .env("XDG_CONFIG_HOME", state)
            .env("XDG_STATE_HOME", state)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in said.lines().map_while(Result::ok) {
                let _ = tell.send(line);
            }
        });
        let mut host = Self {
            child,
            lines,
            port: 0,
        };
        let url = host.said("play");
        let port = url.split(':').nth(2).unwrap().split('/').next().unwrap();
        host.port = port.parse().unwrap();
        host
    }

    /// Waits for the next line with this word.
    fn heard(&self, word: &str) {
        while !self.next().contains(word) {}
    }

    fn next(&self) -> String {
        let line = self.lines.recv_timeout(PATIENCE);
        line.unwrap_or_else(|_| panic!("the host says nothing more"))
    }

    /// The next thing of this kind that the host says.
    fn said(&self, kind: &str) -> String {
        loop {
            let line = self.next();
            if let Some(rest) = line.strip_prefix(kind) {
                return rest.trim().to_owned();
            }
        }
    }
}

/// Runs the client of `home` with these arguments and this line of input.
fn client(home: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mimosa"))
        .args(arguments)
        .env("XDG_CONFIG_HOME", home)
        .env("XDG_STATE_HOME", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = child.stdin.take().unwrap();
    writeln!(to, "{input}").unwrap();
    drop(to);
    child.wait_with_output().unwrap()
}

/// A TCP port that nobody has at the moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn play(home: &Path, port: u16) -> Output {
    let url = format!("https://127.0.0.1:{port}/");
    let play = ["play", &url, "--headless", "--pictures", "30"];
    client(home, &play, "")
}

#[test]
fn pairing_teaches_the_hosts_key() {
    let _alone = alone();
    let folder = folder("pairing");
    let home = folder.join("client");
    std::fs::create_dir_all(&home).unwrap();
    let host = Host::start(&folder.join("host"));
    let pin = host.said("pin").split(' ').next().unwrap().to_owned();

    let before = play(&home, host.port);
    let said = text(&before.stderr);
    assert!(
        !before.status.success() && said.contains("is not trusted"),
        "{said}"
    );

    let url = format!("https://127.0.0.1:{}/", host.port);
    let wrong = client(&home, &["pair", &url, "--name", "Den"], "none");
    assert!(!wrong.status.success());
    let paired = client(&home, &["pair", &url, "--name", "Den"], &pin);
    assert!(paired.status.success(), "{}", text(&paired.stderr));
    let played = play(&home, host.port);
    assert!(played.status.success(), "{}", text(&played.stderr));
    host.heard("begun");

    // Another host with the name of the first.
    let other = Host::start(&folder.join("other"));
    let hosts = home.join("mimosa/hosts.json");
    let known = std::fs::read_to_string(&hosts).unwrap();
    let moved = known.replace(&host.port.to_string(), &other.port.to_string());
    std::fs::write(&hosts, moved).unwrap();
    let refused = play(&home, other.port);
    let said = text(&refused.stderr);
    assert!(
        !refused.status.success() && said.contains("has not the host's key"),
        "{said}"
    );

    // Who is revoked is out.
    std::fs::write(&hosts, known).unwrap();
    let report = home.join("report.json");
    let mut playing = Command::new(env!("CARGO_BIN_EXE_mimosa"))
        .args(["play", &url, "--headless", "--report"])
        .arg(&report)
        .env("XDG_STATE_HOME", &home)
        .spawn()
        .unwrap();
    host.heard("begun");
    let state = folder.join("host");
    let revoked = client(&state, &["devices", "revoke", "Den"], "");
    assert!(revoked.status.success(), "{}", text(&revoked.stderr));
    playing.wait().unwrap();
    let report = std::fs::read_to_string(report).unwrap();
    assert!(report.contains("revoked this device"), "{report}");
}

/// Somebody in between has a key of their own, and passes everything on.
#[test]
fn nobody_in_between_is_paired_with() {
    let _alone = alone();
    let folder = folder("pairing-between");
    let home = folder.join("client");
    std::fs::create_dir_all(&home).unwrap();
    let host = Host::start(&folder.join("host"));
    let pin = host.said("pin").split(' ').next().unwrap().to_owned();
    // Makes a certificate.
    drop(Host::start(&folder.join("other")));
    let port = free_port();
    let places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let places = places.map(|name| format!("{name}_temp_path {}/{name};", folder.display()));
    let config = format!(
        "daemon off; master_process off; pid {0}/pid; error_log stderr;
        events {{}}
        http {{
            access_log off;
            {1}
            server {{
                listen 127.0.0.1:{port} ssl;
                ssl_certificate {0}/other/mimosa/tls-certificate.pem;
                ssl_certificate_key {0}/other/mimosa/tls-key.pem;
                location / {{
                    proxy_pass https://127.0.0.1:{2};
                    proxy_http_version 1.1;
                }}
            }}
        }}",
        folder.display(),
        places.join(" "),
        host.port,
    );
    std::fs::write(folder.join("nginx.conf"), config).unwrap();
    let mut nginx = Command::new("/usr/sbin/nginx")
        .args(["-e", "stderr", "-c"])
        .arg(folder.join("nginx.conf"))
        .spawn()
        .unwrap();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        std::thread::yield_now();
    }
    let url = format!("https://127.0.0.1:{port}/");
    let refused = client(&home, &["pair", &url, "--name", "Den"], &pin);
    nginx.kill().unwrap();
    nginx.wait().unwrap();
    let said = text(&refused.stderr);
    assert!(!refused.status.success(), "{said}");
    assert!(said.contains("changed on the way"), "{said}");
    assert!(!home.join("mimosa/hosts.json").exists(), "nothing is kept");
}
