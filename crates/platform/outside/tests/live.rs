//! Processes in a host, which waits for none of them longer than it says.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use mimosa_facts::{Controller, Event, FrameId, Limits};
use mimosa_foreign::OutsideName;
use mimosa_outside::{Pace, find};
use mimosa_system::clock::{now, wait};
use mimosa_units::{Rate, Time, TimeDelta};

fn mbps(mbps: u64) -> Rate {
    Rate::from_kbps(1_000 * mbps)
}

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// The controller that the shell makes of `script`, for a host, in `folder`.
fn shell(script: &str, folder: &Path) -> Box<dyn Controller> {
    std::fs::write(folder.join("controller.sh"), script).unwrap();
    let command = "sh controller.sh";
    let maker = find(OutsideName::Process { command }, folder, Pace::Live).unwrap();
    let limits = Limits::new(mbps(1), mbps(2), mbps(10));
    maker.make(&toml::Table::new(), limits)
}

fn due(frame: u64) -> Event<'static> {
    Event::FrameDue {
        frame: FrameId(frame),
        interval: TimeDelta::from_millis(16),
    }
}

/// Waits until something holds, for ten seconds at most.
fn until(mut holds: impl FnMut() -> bool) {
    let end = now() + Duration::from_secs(10);
    while !holds() {
        assert!(now() < end, "ten seconds");
        wait(Duration::from_millis(2));
    }
}

#[test]
fn a_late_answer_leaves_the_decision_and_counts_when_it_comes() {
    let here = folder("late");
    let script = r#"
        read -r line; echo '{"seq":0}'
        read -r line
        while ! [ -e go ]; do sleep 0.01; done
        echo '{"seq":1,"decision":{"target_bps":7000000,"frame_limit_bytes":5}}'
        n=2
        while read -r line; do echo "{\"seq\":$n}"; n=$((n + 1)); done
    "#;
    let mut controller = shell(script, &here);
    let decision = *controller.handle(Time::ZERO, due(0));
    assert_eq!(decision.target, mbps(2), "nothing has come");
    controller.handle(Time::from_millis(16), due(1));
    std::fs::write(here.join("go"), "").unwrap();
    let mut frame = 2;
    until(|| {
        let decision = *controller.handle(Time::from_millis(32), due(frame));
        frame += 1;
        assert_eq!(decision.frame_limit, None, "it was another frame's");
        decision.target == mbps(7)
    });
    assert_eq!(controller.failure(), None);
}

#[test]
fn a_process_that_is_silent_for_a_second_has_failed() {
    let here = folder("silent");
    let script = "echo '{\"seq\":0}'; : > ready; exec sleep 1000";
    let mut controller = shell(script, &here);
    until(|| here.join("ready").exists());
    controller.handle(Time::from_millis(10), due(0));
    controller.handle(Time::from_millis(900), due(1));
    assert_eq!(controller.failure(), None);
    controller.handle(Time::from_millis(1_100), due(2));
    let failure = controller.failure().unwrap_or_default().to_owned();
    assert!(
        failure.contains("no answer to line 1 came within `bounds.answer` = 1s"),
        "{failure}"
    );
    let decision = *controller.handle(Time::from_secs(2), due(3));
    assert_eq!((decision.target, controller.deadline()), (mbps(2), None));
}

#[test]
fn a_process_ends_with_its_controller_and_is_given_little() {
    let here = folder("ends");
    let script = "echo $$ > number; env > environment; : > ready; exec sleep 1000";
    let controller = shell(script, &here);
    until(|| here.join("ready").exists());
    let number = std::fs::read_to_string(here.join("number")).unwrap();
    let process = Path::new("/proc").join(number.trim());
    assert!(!Path::new("/proc/self").exists() || process.exists());
    drop(controller);
    assert!(!process.exists());
    let environment = std::fs::read_to_string(here.join("environment")).unwrap();
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!environment.contains("CARGO"), "{environment}");
    assert!(environment.contains("PATH="), "{environment}");
}
