//! Files and hosts of strangers: nothing that a terminal obeys gets to it, no line is very long,
//! and nothing is waited for that never ends.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

use mimosa_record::{LinkRecorder, SessionRecorder};

use crate::{folder, mimosa, reports};

/// Clears the screen, sets a title, reddens, and forges a line.
const ESCAPES: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}[31m\u{9b}5m\r\nerror: forged\u{8}\u{0}";

/// The longest line that is said of a mistake.
const LONGEST_LINE: usize = 2_500;

/// `ESCAPES` as TOML writes it within quotation marks.
fn in_toml() -> String {
    let escape = |c: char| match c {
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    ESCAPES.chars().map(escape).collect()
}

/// Checks what a terminal would have got.
fn check(output: &Output, what: &str) {
    for bytes in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(bytes);
        let obeyed = |c: &char| c.is_control() && !matches!(c, '\n' | '\t');
        assert_eq!(text.chars().find(obeyed), None, "{what}: {text:?}");
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{what}: {said}");
    assert!(
        said.lines().all(|line| line.len() < LONGEST_LINE),
        "{what}: {}",
        said.len()
    );
    assert!(!said.lines().any(|line| line == "error: forged"), "{said}");
}

#[test]
fn a_scenario_does_not_reach_the_terminal_as_it_is() {
    let here = folder("hostile-scenarios");
    let escapes = in_toml();
    let long = "x".repeat(100_000);
    std::fs::write(here.join("trace.txt"), format!("0 1\n0.1 {ESCAPES}\n")).unwrap();
    std::fs::write(here.join("long.txt"), "9".repeat(100_000)).unwrap();
    let head = "duration = \"1s\"\n[link]\n";
    let rate = "rate = \"1Mbit/s\"\n";
    let mut scenarios = vec![
        format!(
            "{head}{rate}[[flow]]\nparams = {}1{}\n",
            "{a=".repeat(20_000),
            "}".repeat(20_000)
        ),
        format!(
            "{head}{rate}[[flow]]\npauses = {}{}\n",
            "[".repeat(50_000),
            "]".repeat(50_000)
        ),
        format!("{head}trace = \"trace.txt\"\n[[flow]]\n"),
        format!("{head}trace = \"long.txt\"\n[[flow]]\n"),
        format!("{head}{rate}[[flow]]\nframe_sizes = \"trace.txt\"\n"),
    ];
    for text in [&escapes, &long] {
        scenarios.extend([
            format!("{head}{rate}[[flow]]\nname = \"{text}\"\n"),
            format!("{head}{rate}[[flow]]\n[[variant]]\nname = \"{text}\"\n"),
            format!("{head}{rate}[[flow]]\ncontroller = \"{text}\"\n"),
            format!("{head}{rate}[[flow]]\nkind = \"{text}\"\n"),
            format!("{head}{rate}[[flow]]\nparams = {{ \"{text}\" = 1 }}\n"),
            format!("{head}{rate}[[flow]]\n\"{text}\" = 1\n"),
            format!("{head}rate = \"{text}\"\n[[flow]]\n"),
            format!("{head}rate = \"1{text}\"\n[[flow]]\n"),
            format!("{head}trace = \"{text}\"\n[[flow]]\n"),
            format!("{head}{rate}queue = {{ kind = \"{text}\" }}\n[[flow]]\n"),
            format!(
                "{head}{rate}queue = {{ kind = \"droptail\", limit = \"{text}\" }}\n[[flow]]\n"
            ),
        ]);
    }
    for (index, scenario) in scenarios.iter().enumerate() {
        std::fs::write(here.join("run.toml"), scenario).unwrap();
        for command in ["sim", "link run --isolated", "emulate"] {
            let tail = if command.starts_with("link") {
                "-- true"
            } else {
                ""
            };
            let output = mimosa(&here, &format!("{command} run.toml {tail}"));
            check(&output, &format!("{command} {index}"));
            if command == "sim" {
                assert_eq!(output.status.code(), Some(2), "{index}");
            }
        }
    }
}

#[test]
fn a_name_of_another_is_drawn_in_markdown_without_meaning() {
    let here = folder("hostile-markdown");
    let text =
        "duration = \"1s\"\n[link]\nrate = \"1Mbit/s\"\n[[flow]]\nname = \"a|b <img src=x>\"\n";
    std::fs::write(here.join("run.toml"), text).unwrap();
    let output = mimosa(&here, "sim run.toml --markdown");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("| a\\|b &lt;img src=x> "), "{table}");
    let plain = String::from_utf8(mimosa(&here, "sim run.toml").stdout).unwrap();
    assert!(plain.contains("a|b <img src=x> "), "{plain}");
}

#[test]
fn traces_clips_settings_and_recordings_do_not_either() {
    let here = folder("hostile-files");
    let write = |name: &str, bytes: &[u8]| std::fs::write(here.join(name), bytes).unwrap();
    write("rows.txt", format!("0 1\n0.1 {ESCAPES}\n").as_bytes());
    write(
        "millis.txt",
        format!("1\n{}\n", "\u{1b}[31m".repeat(10_000)).as_bytes(),
    );
    write("huge.txt", b"1\n4000000000\n");
    write("clip.y4m", format!("YUV4MPEG2 W{ESCAPES} H2\n").as_bytes());
    let settings = format!("\"{0}\" = 1\ncontroller = \"{0}\"\n", in_toml());
    write("settings.toml", settings.as_bytes());
    let metadata = serde_json::json!({ "source": ESCAPES, "controller": ESCAPES });
    let mut session = SessionRecorder::new(Vec::new(), &metadata.to_string()).unwrap();
    for number in 0..125 {
        session.push(reports::frame(number)).unwrap();
    }
    write("session", &session.finish().unwrap());
    let about = serde_json::json!({ "name": ESCAPES, "path": ESCAPES, "variant": ESCAPES });
    let names = || vec![ESCAPES.to_owned()];
    let link = LinkRecorder::new(Vec::new(), &about.to_string(), &names(), &names());
    write("link", &link.unwrap().finish().unwrap());
    for command in [
        "trace inspect rows.txt",
        "trace inspect millis.txt",
        "trace inspect huge.txt",
        "quality clip.y4m clip.y4m",
        "encode clip.y4m --output out",
        "doctor --config settings.toml",
        "serve --config settings.toml",
        "report session",
        "report link",
        "report session --link link",
    ] {
        check(&mimosa(&here, command), command);
    }
    let said = mimosa(&here, "trace inspect huge.txt").stderr;
    assert_eq!(
        String::from_utf8(said).unwrap(),
        "error: huge.txt:2: `4000000000` is later than 86400000 ms, a day; \
         a Mahimahi trace counts milliseconds from zero, and repeats\n"
    );
    // The witness: the metadata gets as far as the first line.
    let session = String::from_utf8(mimosa(&here, "report session").stdout).unwrap();
    assert!(
        session.lines().next().unwrap().contains("owned"),
        "{session}"
    );
}

/// Answers one request with a refusal in these words.
fn refuse_once(listener: &TcpListener, message: &str) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut request = Vec::new();
    let mut piece = [0; 4_096];
    // The offer ends with its last line.
    while !request.ends_with(b"\r\n") || !request.windows(4).any(|bytes| bytes == b"v=0\r") {
        let length = stream.read(&mut piece).unwrap();
        request.extend(&piece[..length]);
        if length == 0 {
            break;
        }
    }
    let body = serde_json::json!({ "error": "player-present", "message": message }).to_string();
    let head = format!(
        "HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).unwrap();
}

#[test]
fn a_hosts_words_do_not_reach_the_terminal_as_they_are() {
    let here = folder("hostile-host");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let message = ESCAPES.to_owned() + &"x".repeat(30_000);
    let host = std::thread::spawn(move || refuse_once(&listener, &message));
    let command = format!("play http://127.0.0.1:{port}/ --headless --seconds 1 --report -");
    let output = mimosa(&here, &command);
    host.join().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the host refuses: "), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    check(&output, "play");
}

#[test]
fn what_never_ends_is_not_waited_for() {
    let here = folder("hostile-endless");
    let made = Command::new("mkfifo").arg(here.join("fifo")).status();
    assert!(made.unwrap().success());
    for (what, why) in [
        ("fifo", "it is a device or a pipe"),
        ("/dev/zero", "it is a device or a pipe"),
    ] {
        let text = format!("duration = \"1s\"\n[link]\ntrace = \"{what}\"\n[[flow]]\n");
        std::fs::write(here.join("run.toml"), text).unwrap();
        let output = mimosa(&here, "sim run.toml");
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            format!(
                "error: run.toml:3: cannot read `{what}`: {why}; \
                 paths count from the scenario's own folder\n"
            )
        );
    }
    for (command, message) in [
        (
            "trace inspect /dev/zero",
            "cannot read /dev/zero: it has more than 268435456 bytes; \
             name a trace file, such as traces/wifi.txt",
        ),
        (
            "sim /dev/zero",
            "cannot read /dev/zero: it has more than 268435456 bytes; \
             name a scenario file, such as scenarios/steps.toml",
        ),
        (
            "trace models --seeds 1..99999999999",
            "invalid value '1..99999999999' for '--seeds <A..B>': \
             at most 100000 seeds are run; write e.g. 1..100000",
        ),
        (
            "sim run.toml --seeds 7..18446744073709551615",
            "invalid value '7..18446744073709551615' for '--seeds <A..B>': \
             at most 100000 seeds are run; write e.g. 7..100006",
        ),
    ] {
        let output = mimosa(&here, command);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.lines().next().unwrap(), format!("error: {message}"));
    }
}

#[test]
fn a_file_that_is_no_text_is_named_with_its_line() {
    let here = folder("hostile-encodings");
    let latin: &[u8] =
        b"duration = \"1s\"\n[link]\nrate = \"1Mbit/s\"\n[[flow]]\nname = \"caf\xe9\"\n";
    std::fs::write(here.join("latin1.toml"), latin).unwrap();
    std::fs::write(here.join("trace.txt"), b"0 1\n0.1 \xff\n").unwrap();
    let by_name = "duration = \"1s\"\n[link]\ntrace = \"trace.txt\"\n[[flow]]\n";
    std::fs::write(here.join("named.toml"), by_name).unwrap();
    let said = |command: &str| {
        let output = mimosa(Path::new(&here), command);
        assert_eq!(output.status.code(), Some(2), "{command}");
        String::from_utf8(output.stderr).unwrap()
    };
    let advice = "not UTF-8; save the file as text in UTF-8";
    assert_eq!(
        said("sim latin1.toml"),
        format!("error: latin1.toml:5: {advice}\n")
    );
    assert_eq!(
        said("trace inspect trace.txt"),
        format!("error: trace.txt:2: {advice}\n")
    );
    assert_eq!(
        said("sim named.toml"),
        "error: named.toml:3: cannot read `trace.txt`: line 2 of it is not UTF-8; \
         paths count from the scenario's own folder\n"
    );
}
