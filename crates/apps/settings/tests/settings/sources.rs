//! Five keys, one source.

use mimosa_settings::{SourceSettings, Target};

use super::{Say, file, flags};

fn x11(display: Option<&str>, target: Target) -> SourceSettings {
    SourceSettings::X11 {
        display: display.map(str::to_owned),
        target,
    }
}

fn launch(command: &str) -> SourceSettings {
    SourceSettings::Launch {
        command: command.to_owned(),
    }
}

fn title(text: &str) -> Target {
    Target::Title(text.to_owned())
}

#[test]
fn each_way_to_say_it() {
    let of = |pairs: &[(&str, &str)]| flags(pairs).settings().source;
    assert_eq!(of(&[("source", "demo")]), SourceSettings::Demo);
    assert_eq!(of(&[("source", "x11")]), x11(None, Target::Screen));
    assert_eq!(of(&[("display", ":7")]), x11(Some(":7"), Target::Screen));
    assert_eq!(
        of(&[("window", "0x1a00003")]),
        x11(None, Target::Window(0x1a0_0003))
    );
    assert_eq!(
        of(&[("source", "x11"), ("window", "26")]),
        x11(None, Target::Window(26))
    );
    assert_eq!(of(&[("title", "DOOM")]), x11(None, title("DOOM")));
    assert_eq!(of(&[("launch", "xeyes")]), launch("xeyes"));
    let window = |text| file(text).settings().source;
    assert_eq!(window("window = 0x1a"), x11(None, Target::Window(26)));
    assert_eq!(window("window = \"0x1a\""), x11(None, Target::Window(26)));
    assert_eq!(window("window = \"\""), SourceSettings::Demo);
}

#[test]
fn who_spoke_last_decides() {
    let say = |file, flags| {
        Say {
            file,
            flags,
            ..Say::default()
        }
        .settings()
        .source
    };
    let doom = "launch = \"doom\"";
    assert_eq!(say(doom, &[("source", "demo")]), SourceSettings::Demo);
    assert_eq!(say(doom, &[("title", "a")]), x11(None, title("a")));
    assert_eq!(say(doom, &[("launch", "quake")]), launch("quake"));
    assert_eq!(say(doom, &[("launch", "")]), SourceSettings::Demo);
    let screen = "source = \"x11\"\ndisplay = \":1\"\ntitle = \"a\"";
    assert_eq!(say(screen, &[]), x11(Some(":1"), title("a")));
    assert_eq!(
        say(screen, &[("window", "5")]),
        x11(Some(":1"), Target::Window(5))
    );
    assert_eq!(
        say(screen, &[("title", "")]),
        x11(Some(":1"), Target::Screen)
    );
    assert_eq!(
        say(screen, &[("display", ":2")]),
        x11(Some(":2"), title("a"))
    );
    assert_eq!(say(screen, &[("source", "demo")]), SourceSettings::Demo);
    assert_eq!(say(screen, &[("launch", "doom")]), launch("doom"));
    assert_eq!(say("window = 5", &[("title", "a")]), x11(None, title("a")));
    assert_eq!(
        say("source = \"demo\"", &[("title", "a")]),
        x11(None, title("a"))
    );
}

#[test]
fn in_a_file_a_command_wins_over_the_source() {
    let both = "source = \"x11\"\nlaunch = \"doom\"";
    assert_eq!(file(both).settings().source, launch("doom"));
}

#[test]
fn contradictions_are_refused() {
    assert_eq!(
        flags(&[("source", "demo"), ("launch", "doom")]).error(),
        "--launch: `launch` cannot stand beside `source` (--source); keep one of them"
    );
    assert_eq!(
        file("window = 5\ntitle = \"a\"").error(),
        "m.toml:1: `window` cannot stand beside `title` (m.toml:2); keep one of them"
    );
    for (one, other) in [
        (("launch", "doom"), ("display", ":0")),
        (("launch", "doom"), ("window", "5")),
        (("launch", "doom"), ("title", "a")),
        (("source", "demo"), ("display", ":0")),
        (("source", "demo"), ("window", "5")),
        (("source", "demo"), ("title", "a")),
    ] {
        let error = flags(&[one, other]).error();
        assert!(
            error.contains("cannot stand beside"),
            "{one:?} {other:?}: {error}"
        );
    }
}
