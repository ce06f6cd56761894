//! In a window on a real X server: what is seen is what
//! the host drew, and a key pressed at the window reaches it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use mimosa_facts::Action;
use mimosa_scene::marker::{self, Marker};
use mimosa_video::{Picture, Size};
use mimosa_x11::{Capture, Captured, Display, Injector, PrivateServer, Target};

use crate::{alone, folder};

/// The space bar.
const SPACE: u16 = 57;

/// A program that ends with the test.
struct Running {
    child: Child,
    /// Held open, since it may have more to say.
    _printed: Option<BufReader<ChildStdout>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves the demo, and gives what it prints of how to play it.
fn serve(here: &Path) -> (Running, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mimosa"))
        .args(["serve", "--bind", "127.0.0.1", "--http-port", "0"])
        .args(["--udp-port", "0"])
        .env("XDG_CONFIG_HOME", here)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut printed = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    printed.read_line(&mut line).unwrap();
    let url = line.strip_prefix("play").unwrap().trim().to_owned();
    let running = Running {
        child,
        _printed: Some(printed),
    };
    (running, url)
}

#[expect(clippy::disallowed_methods, reason = "a capture waits until then")]
fn now() -> Instant {
    Instant::now()
}

/// What the screen's marker says, once it satisfies `is_wanted`.
pub(crate) fn seen(capture: &mut Capture, is_wanted: impl Fn(Marker) -> bool) -> Marker {
    let mut picture = Picture::new(capture.size());
    for _ in 0..600 {
        let deadline = now() + Duration::from_millis(50);
        let captured = capture.next(deadline, &mut picture).unwrap();
        if matches!(captured, Captured::Picture { .. })
            && let Some(marker) = marker::read(&picture)
            && is_wanted(marker)
        {
            return marker;
        }
    }
    panic!("it was not seen");
}

#[test]
fn the_window_shows_the_game_and_gives_it_keys() {
    let _alone = alone();
    let here = folder("window");
    let size = Size::new(1280, 720).unwrap();
    let server = PrivateServer::start(size).unwrap();
    let (host, url) = serve(&here);
    let client = Command::new(env!("CARGO_BIN_EXE_mimosa"))
        .args(["play", &url, "--no-sound"])
        .env("DISPLAY", server.display())
        .env("XAUTHORITY", server.authority())
        .env_remove("WAYLAND_DISPLAY")
        .spawn()
        .unwrap();
    let client = Running {
        child: client,
        _printed: None,
    };
    let mut capture = Capture::open(Display::Private(&server), &Target::Screen).unwrap();
    let first = seen(&mut capture, |_| true);
    let later = seen(&mut capture, |marker| marker.pictures != first.pictures);
    let mut injector = Injector::open(Display::Private(&server), &Target::Screen).unwrap();
    injector.follow_focus().unwrap();
    for pressed in [true, false] {
        let code = SPACE;
        injector.apply(Action::Key { code, pressed }, size).unwrap();
    }
    let pressed = seen(&mut capture, |marker| {
        marker.actions == later.actions.wrapping_add(2)
    });
    assert_ne!(pressed.pictures, later.pictures);
    drop(client);
    drop(host);
}
