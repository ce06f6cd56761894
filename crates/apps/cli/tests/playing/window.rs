//! In a window on a real X server: what is seen is what
//! the host drew, and a key pressed at the window reaches it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
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

/// Plays what the host at `url` streams, and gives the lines that the client logs of how it shows pictures.
fn play<'a>(
    url: &str,
    arguments: &[&str],
    environment: impl IntoIterator<Item = (&'a str, &'a OsStr)>,
) -> (Running, Receiver<String>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mimosa"))
        .args([
            "play",
            url,
            "--no-sound",
            "--log",
            "warn,mimosa_client=debug",
        ])
        .args(arguments)
        .envs(environment)
        .env_remove("WAYLAND_DISPLAY")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let logged = BufReader::new(child.stderr.take().unwrap());
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in logged.lines().map_while(Result::ok) {
            eprintln!("{line}");
            if line.contains("; shown ") {
                // After the test, nobody reads lines.
                let _ = sender.send(line);
            }
        }
    });
    let running = Running {
        child,
        _printed: None,
    };
    (running, lines)
}

/// The environment of a program whose window is on this server.
fn on(server: &PrivateServer) -> [(&'static str, &OsStr); 2] {
    [
        ("DISPLAY", server.display().as_ref()),
        ("XAUTHORITY", server.authority().as_ref()),
    ]
}

/// How pictures are shown, once a line satisfies `is_wanted`.
fn logged(lines: &Receiver<String>, is_wanted: impl Fn(&str) -> bool) -> String {
    for _ in 0..120 {
        let line = lines.recv_timeout(Duration::from_mins(1)).unwrap();
        if is_wanted(&line) {
            return line;
        }
    }
    panic!("the client does not say so");
}

/// The number after `word`.
fn number(line: &str, word: &str) -> f64 {
    let (_, rest) = line.split_once(word).unwrap();
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    rest[..end.unwrap_or(rest.len())].parse().unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a capture waits until then")]
fn now() -> Instant {
    Instant::now()
}

/// What the screen's marker says, once it satisfies `is_wanted`. A notice of the client may hide the marker
/// for 6 s, and another one after it.
pub(crate) fn seen(capture: &mut Capture, is_wanted: impl Fn(Marker) -> bool) -> Marker {
    let mut picture = Picture::new(capture.size());
    let end = now() + Duration::from_secs(30);
    while now() < end {
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
    let (client, lines) = play(&url, &[], on(&server));
    let mut capture = Capture::open(Display::Private(&server), &Target::Screen).unwrap();
    let first = seen(&mut capture, |_| true);
    let later = seen(&mut capture, |marker| marker.pictures != first.pictures);
    let mut injector = Injector::open(Display::Private(&server), &Target::Screen).unwrap();
    injector.follow_focus().unwrap();
    for pressed in [true, false] {
        let code = SPACE;
        injector.apply(Action::Key { code, pressed }, size).unwrap();
    }
    // The pointer may count once as well: its place is told when the window comes under it.
    let pressed = seen(&mut capture, |marker| {
        (2..4).contains(&marker.actions.wrapping_sub(later.actions))
    });
    assert_ne!(pressed.pictures, later.pictures);
    // Xvfb has no display; its Present extension counts 60 refreshes a second by a timer, which the client
    // paces by.
    let line = logged(&lines, |line| line.contains("paced at "));
    let hertz = number(&line, "paced at ");
    assert!((52.0..68.0).contains(&hertz), "{line}");
    let before = number(&line, "; shown ");
    logged(&lines, |line| {
        line.contains("paced at ") && number(line, "; shown ") >= before + 30.0
    });
    drop(client);
    drop(host);
}

/// Without a window system that tells of refreshes, and where it is asked for, pictures are shown as soon as
/// they are decoded.
#[test]
fn pictures_are_shown_at_once_where_no_refresh_is_known_or_wanted() {
    let _alone = alone();
    let here = folder("at-once");
    let server = PrivateServer::start(Size::new(1280, 720).unwrap()).unwrap();
    let (host, url) = serve(&here);
    let offscreen = [("SDL_VIDEO_DRIVER", OsStr::new("offscreen"))];
    let (client, lines) = play(&url, &[], offscreen);
    let line = logged(&lines, |line| number(line, "; shown ") >= 30.0);
    assert!(
        line.contains(
            "shown at once (the display's refresh is unknown: the window system is not X11)"
        ),
        "{line}"
    );
    assert!(line.contains(", repeated 0,"), "{line}");
    drop(client);
    drop(host);
    // Another host: the first one would keep the player's place for whoever was killed.
    let (host, url) = serve(&here);
    let (client, lines) = play(&url, &["--presentation", "at-once"], on(&server));
    let line = logged(&lines, |line| number(line, "; shown ") >= 30.0);
    assert!(line.contains("shown at once (as asked)"), "{line}");
    drop(client);
    drop(host);
}
