//! The private server: who may connect, and what remains of it.

use std::path::Path;
use std::process::Command;

use mimosa_x11::{Capture, CaptureError, Display, DisplayError, Target};

use crate::desk::{Eye, size, start};

#[test]
fn without_the_cookie_no_one_gets_in() {
    let server = start(size(320, 240));
    let result = Capture::open(Display::Named(Some(server.display())), &Target::Screen);
    let error = result.unwrap_err();
    let CaptureError::Display(DisplayError::Refused { .. }) = error else {
        panic!("{error}");
    };
    assert!(error.to_string().contains(server.display()), "{error}");

    let asked = |authority: Option<&Path>| {
        let mut command = Command::new("xdpyinfo");
        command
            .env("DISPLAY", server.display())
            .env_remove("XAUTHORITY");
        command.envs(authority.map(|file| ("XAUTHORITY", file)));
        let output = command.output().unwrap_or_else(|error| {
            panic!("install xdpyinfo (apt-get install x11-utils): {error}")
        });
        output.status.success()
    };
    assert!(asked(Some(server.authority())), "libX11 reads our file");
    assert!(!asked(None));
}

#[test]
fn nothing_is_left_of_a_server() {
    let mut server = start(size(640, 480));
    assert_eq!(
        Eye::open(Display::Private(&server), &Target::Screen)
            .capture
            .size(),
        size(640, 480)
    );
    assert!(server.has_ended().is_none());
    let directory = server.authority().parent().unwrap().to_owned();
    assert!(directory.exists());
    // Xvfb and its guard name the directory.
    assert_eq!(processes_that_name(&directory), 2);
    server.stop();
    assert_eq!(processes_that_name(&directory), 0);
    assert!(!directory.exists());
}

fn processes_that_name(directory: &Path) -> usize {
    let name = directory.to_str().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap();
    let named = processes.filter(|process| {
        let file = process.as_ref().unwrap().path().join("cmdline");
        let command = std::fs::read(file).unwrap_or_default();
        String::from_utf8_lossy(&command).contains(name)
    });
    named.count()
}

#[test]
fn two_servers_are_two_displays() {
    let (one, two) = (start(size(64, 64)), start(size(128, 64)));
    assert_ne!(one.display(), two.display());
    for (server, expected) in [(&one, size(64, 64)), (&two, size(128, 64))] {
        let eye = Eye::open(Display::Private(server), &Target::Screen);
        assert_eq!(eye.capture.size(), expected);
    }
}
