//! The decoder's process, seen from outside: it is killed while somebody plays.

use std::path::Path;
use std::process::{Child, Command, Output};
use std::time::Duration;

use mimosa_scene::marker::Marker;
use mimosa_video::Size;
use mimosa_x11::{Capture, Display, PrivateServer, Target};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::{Running, mimosa, served};
use crate::window::seen;
use crate::{alone, folder, text};

/// The processes that a program has started, the first one first.
fn children(of: u32) -> Vec<u32> {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{of}/task")) else {
        return Vec::new();
    };
    let listed = tasks.flatten().map(|task| {
        let listed = std::fs::read_to_string(task.path().join("children"));
        listed.unwrap_or_default()
    });
    let listed = listed.collect::<Vec<_>>().concat();
    let mut children: Vec<u32> = listed
        .split_whitespace()
        .map(|id| id.parse().unwrap())
        .collect();
    children.sort_unstable();
    children
}

/// Waits until a program has two processes: one that decodes, and one that waits for its end.
fn two(of: u32) -> [u32; 2] {
    let found = (0..500).find_map(|_| {
        pause();
        <[u32; 2]>::try_from(children(of)).ok()
    });
    found.unwrap_or_else(|| panic!("{:?}", children(of)))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test waits for other processes"
)]
fn pause() {
    std::thread::sleep(Duration::from_millis(20));
}

fn kill(id: u32, signal: Signal) {
    kill_process(Pid::from_raw(id.cast_signed()).unwrap(), signal).unwrap();
}

fn play(home: &Path, url: &str, more: &[&str]) -> Child {
    let mut player = mimosa(home);
    player.args(["play", url, "--headless"]).args(more);
    player.spawn().unwrap()
}

#[test]
fn in_a_window_pictures_go_on_and_nothing_is_left() {
    let _alone = alone();
    let home = folder("decoder");
    let server = PrivateServer::start(Size::new(1280, 720).unwrap()).unwrap();
    let (_host, url) = served(&home, "1280x720");
    let client = mimosa(&home)
        .args(["play", &url, "--no-sound"])
        .env("DISPLAY", server.display())
        .env("XAUTHORITY", server.authority())
        .env_remove("WAYLAND_DISPLAY")
        .spawn();
    let mut client = Running(client.unwrap());
    let mut capture = Capture::open(Display::Private(&server), &Target::Screen).unwrap();
    let mut after =
        |before: Marker| seen(&mut capture, |marker| marker.pictures != before.pictures);
    let nothing = Marker {
        pictures: 0,
        actions: 0,
    };
    let mut last = after(nothing);
    let mut before = two(client.0.id());
    for signal in [Signal::ILL, Signal::SYS] {
        kill(before[0], signal);
        // The first one may have been on its way already.
        last = after(last);
        last = after(last);
        let other = two(client.0.id());
        assert!(
            !other.contains(&before[0]) && other.contains(&before[1]),
            "{other:?}"
        );
        before = other;
    }
    // A client that is killed takes its processes along.
    client.0.kill().unwrap();
    client.0.wait().unwrap();
    let is_there = |id: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        !status.is_empty() && !status.contains("State:\tZ")
    };
    let is_over = (0..100).any(|_| {
        pause();
        !before.iter().any(is_there)
    });
    assert!(is_over, "{before:?}");
}

#[test]
fn a_keyframe_is_asked_for_and_the_report_counts() {
    let _alone = alone();
    let home = folder("decoder-report");
    let (_host, url) = served(&home, "320x180");
    let player = play(
        &home,
        &url,
        &["--pictures", "90", "--seconds", "150", "--report", "-"],
    );
    let [first, _] = two(player.id());
    kill(first, Signal::ILL);
    let output = player.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("it crashed (signal 4)"), "{said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let frames = &report["frames"];
    assert_eq!(frames["decoders_replaced"], 1, "{frames}");
    let count = |name: &str| frames[name].as_u64().unwrap();
    assert!(
        count("keyframes_wanted") >= 1 && count("keyframes") >= 2,
        "{frames}"
    );
    let (shown, damaged) = (count("shown"), count("damaged"));
    assert!(shown >= 90 && damaged >= 1 && damaged < shown, "{frames}");
}

#[test]
fn a_host_that_ends_it_again_and_again_ends_the_session() {
    let _alone = alone();
    let home = folder("decoder-again");
    let (_host, url) = served(&home, "320x180");
    let player = play(&home, &url, &["--seconds", "60"]);
    for _ in 0..4 {
        let [first, _] = two(player.id());
        kill(first, Signal::SYS);
        // Until the next frame finds out.
        while children(player.id()).contains(&first) {
            pause();
        }
    }
    let [first, _] = two(player.id());
    kill(first, Signal::SYS);
    let output = player.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("error: what the host sends has ended the decoder's process 5 times")
            && said.contains("it asked the system for something that no decoder needs"),
        "{said}"
    );
}

/// A machine on which the process cannot be started: without `/proc`, in a mount namespace of its own.
#[test]
fn without_the_process_the_reason_is_said_and_a_flag_plays() {
    let _alone = alone();
    let home = folder("decoder-off");
    let (_host, url) = served(&home, "320x180");
    let without = |more: &[&str]| -> Output {
        let script = "mount -t tmpfs tmpfs /proc && exec \"$0\" \"$@\"";
        Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
            .arg(env!("CARGO_BIN_EXE_mimosa"))
            .args(["play", &url, "--headless", "--pictures", "30"])
            .args(more)
            .env("XDG_STATE_HOME", &home)
            .output()
            .unwrap()
    };
    let refused = without(&[]);
    let said = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(
        said.starts_with(
            "error: the decoder cannot be kept from files and the network: no process"
        ) && said.contains("`--decoder-sandbox off` plays without that"),
        "{said}"
    );
    let played = without(&["--decoder-sandbox", "off"]);
    assert!(played.status.success(), "{}", text(&played.stderr));
}
