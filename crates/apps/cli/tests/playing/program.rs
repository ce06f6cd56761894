//! `mimosa` as a program that ends with its test.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A program that ends with the test.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program, with all of its folders in this one.
pub(crate) fn mimosa(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mimosa"));
    command
        .current_dir(home)
        .env("XDG_CONFIG_HOME", home)
        .env("XDG_STATE_HOME", home)
        .env("XDG_RUNTIME_DIR", home)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A host of pictures of this size, and its URL to play at.
pub(crate) fn served(home: &Path, size: &str) -> (Running, String) {
    served_with(home, size, &[])
}

/// A host of pictures of this size with more flags, and its URL to play at.
pub(crate) fn served_with(home: &Path, size: &str, more: &[&str]) -> (Running, String) {
    let serve = "serve --bind 127.0.0.1 --http-port 0 --udp-port 0 --size";
    let mut host = mimosa(home);
    host.args(serve.split(' '))
        .arg(size)
        .args(more)
        .stderr(Stdio::null());
    let host = host.spawn();
    let mut host = Running(host.unwrap());
    let lines = BufReader::new(host.0.stdout.take().unwrap()).lines();
    let mut urls = lines.map_while(Result::ok);
    let url = urls.find_map(|line| Some(line.strip_prefix("play")?.trim().to_owned()));
    (host, url.unwrap())
}
