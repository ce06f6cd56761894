//! `mimosa proxy` as a program.

use crate::{folder, mimosa, stdout};

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    let here = folder("proxying");
    std::fs::write(here.join("short"), "fifteen charact\n").unwrap();
    let near = "proxy near --listen 127.0.0.1:0 --to 127.0.0.1:9";
    for (flags, part) in [
        ("--controller mimoza", "there is no controller `mimoza`"),
        ("--controller oracle", "no proxy knows"),
        ("--params alpha", "alpha = 0.9"),
        ("--params alhpa=1", "alhpa"),
        ("--pacer slow", "--pacer"),
        (
            "--min-bitrate 9Mbit/s --max-bitrate 8Mbit/s",
            "above --max-bitrate",
        ),
        ("--interface 0.0.0.0:80", "not on loopback"),
        ("--video-types 128", "128"),
        ("--key-file short", "short has fewer than 16 characters"),
        ("--key-file none", "cannot read the secret in none"),
    ] {
        let output = mimosa(&here, &format!("{near} {flags}"));
        assert_eq!(output.status.code(), Some(2), "{flags}");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(errors.contains(part), "{flags}: {errors}");
    }
    assert!(stdout(&here, "proxy far --help").contains("--from"));
}
