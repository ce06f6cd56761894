//! Each mistake, in the words that its writer sees.

use super::{Say, environment, file, flags};

#[test]
fn what_is_not_toml() {
    assert_eq!(
        file("viewers = 2\nsource = demo").error(),
        "m.toml:2: string values must be quoted, expected literal string; the line is `source = demo`"
    );
    let error = file("token = abcdefghijklmnop").error();
    assert!(
        !error.contains("abcdef"),
        "a secret is not repeated: {error}"
    );
    let error = file("token = \"\"\"\nabcdefghijklmnop\"\n").error();
    assert!(
        !error.contains("abcdef"),
        "a secret is not repeated: {error}"
    );
    let error = file("viewers = 99999999999999999999").error();
    assert!(error.starts_with("m.toml:1: `viewers`: "), "{error}");
}

#[test]
fn keys_that_do_not_exist() {
    assert_eq!(
        file("\n[encoder]\nthread = 2").error(),
        "m.toml:3: there is no key `encoder.thread`; under [encoder] there are name, element, complexity, buffer_frames, size_prediction, detail, relief, entropy_coding, finest_quantiser, frame_sizes, parts, threads"
    );
    let error = file("prot = 80").error();
    assert!(
        error
            .starts_with("m.toml:1: there is no key `prot`; at the top there are bind, http_port,")
            && error.ends_with("log, log_format, input, encoder, sound, relay, controller"),
        "{error}"
    );
    assert_eq!(
        file("threads = 2").error(),
        "m.toml:1: there is no key `threads`; `threads` stands under [encoder]"
    );
    assert_eq!(
        file("[encoder]\nthreads = 2\nviewers = 2").error(),
        "m.toml:3: there is no key `encoder.viewers`; `viewers` stands at the top of the file, before all tables"
    );
    assert_eq!(
        file("min_bitrate = \"1Mbit/s\"").error(),
        "m.toml:1: there is no key `min_bitrate`; `min_bitrate` stands under [controller]"
    );
    let error = file("\"encoder.threads\" = 2").error();
    assert!(error.contains("no key `encoder.threads`"), "{error}");
    assert_eq!(
        file("encoder = \"c0\"").error(),
        "m.toml:1: `encoder` is a table; write [encoder] on a line of its own and its keys below it"
    );
    let error = file("zzz = 1\naaa = 1").error();
    assert!(
        error.starts_with("m.toml:1: "),
        "the first in the file: {error}"
    );
}

#[test]
fn variables_that_do_not_exist() {
    assert_eq!(
        environment(&[("HTP_PORT", "80")]).error(),
        "MIMOSA_HTP_PORT: there is no such variable; did you mean MIMOSA_HTTP_PORT?"
    );
    let error = environment(&[("COLOUR", "blue")]).error();
    assert!(
        error.starts_with("MIMOSA_COLOUR: there is no such variable; there are MIMOSA_BIND, "),
        "{error}"
    );
}

#[test]
fn values_out_of_range_or_of_another_type() {
    for (text, message) in [
        (
            "http_port = 65536",
            "`http_port` must be a whole number from 0 to 65535, not `65536`",
        ),
        (
            "http_port = \"80\"",
            "`http_port` must be a whole number from 0 to 65535, not `\"80\"`",
        ),
        (
            "viewers = 101",
            "`viewers` must be a whole number from 0 to 100, not `101`",
        ),
        (
            "source = \"wayland\"",
            "`source` must be `demo` or `x11`, not `\"wayland\"`",
        ),
        (
            "log_format = \"xml\"",
            "`log_format` must be `text` or `json`, not `\"xml\"`",
        ),
        (
            "shortest_gap = 5",
            "`shortest_gap` must be a duration with its unit from 0s to 10ms, e.g. `500us`, not `5`",
        ),
    ] {
        assert_eq!(file(text).error(), format!("m.toml:1: {message}"));
    }
    assert_eq!(
        flags(&[("min-bitrate", "500")]).error(),
        "--min-bitrate: `controller.min_bitrate` must be a rate above zero with its unit, e.g. `500kbit/s`, not `500`"
    );
    assert_eq!(
        environment(&[("CONTROLLER", "gcc")]).error(),
        "MIMOSA_CONTROLLER: `controller.name` must be `mimosa` or `other`, not `gcc`"
    );
}

#[test]
fn the_ends_of_every_range() {
    for (long, within, beyond) in [
        (
            "bind",
            &["::", "127.0.0.1,127.0.0.2"][..],
            &["", "localhost", "::1,::1"][..],
        ),
        ("http-port", &["0", "65535"], &["-1", "65536", "", "x"]),
        ("udp-port", &["0", "65535"], &["-1", "65536"]),
        ("tls", &["auto", "on", "off"], &["", "true", "ON"]),
        ("tls-certificate", &[""], &["host.pem", "\0"]),
        (
            "allowed-origins",
            &["https://a.b", "http://[::1]:80", ""],
            &[
                "*",
                "a.b",
                "https://",
                "https://a/",
                "HTTPS://a",
                "https://A",
            ],
        ),
        (
            "token",
            &["0123456789abcdef", "", "off"],
            &["0123456789abcde", "0123456789abcde "],
        ),
        ("pair", &["play", "view", "off"], &["player", "on"]),
        ("viewers", &["0", "100"], &["-1", "101", "1.5"]),
        ("display", &[":0"], &["\0"]),
        (
            "window",
            &["1", "0xffffffff"],
            &["0", "0x100000000", "-1", "doom"],
        ),
        (
            "size",
            &["16x16", "8192x8192"],
            &["15x16", "1281x720", "8194x16", "1280", ""],
        ),
        ("frames-per-second", &["1", "240"], &["0", "241"]),
        ("viewer-frames-per-second", &["1", "240"], &["0", "241"]),
        (
            "retransmission-deadline",
            &["0s", "2s"],
            &["2.1s", "30", ""],
        ),
        (
            "presentation-deadline",
            &["1ms", "10s"],
            &["0s", "999us", "10001ms"],
        ),
        ("shortest-gap", &["0s", "10ms"], &["10.1ms"]),
        ("log", &["info"], &["", "loud"]),
        ("log-format", &["text", "json"], &["TEXT", ""]),
        (
            "encoder-complexity",
            &["c0", "c0+", "c1", "c2"],
            &["c3", "C0", ""],
        ),
        ("encoder", &["auto", "openh264"], &["x264", "OpenH264", ""]),
        ("encoder-element", &["va-1_b", ""], &["a!", "a b"]),
        ("encoder-threads", &["1", "16"], &["0", "17"]),
        (
            "gamepads",
            &["auto", "uinput", "keys", "off"],
            &["on", "Keys", ""],
        ),
        ("clipboard", &["on", "off"], &["auto", "true", ""]),
        ("sound", &["auto", "off"], &["on", ""]),
        ("sound-sink", &["game", ""], &[]),
        (
            "sound-bitrate",
            &["16kbit/s", "256kbit/s"],
            &["15kbit/s", "257kbit/s", "64", ""],
        ),
        ("controller", &["other"], &["", "Pudica"]),
        (
            "updates",
            &["https://example.org/latest.json", ""],
            &["http://example.org", "https://", "latest.json"],
        ),
        ("pacer", &["burst"], &["", "Burst", "2x"]),
        ("min-bitrate", &["1bit/s"], &["0bit/s", "5Mbps", ""]),
        ("start-bitrate", &["1bit/s"], &["0bit/s"]),
        ("max-bitrate", &["1bit/s", "9Gbit/s"], &["0bit/s"]),
        ("blind-rate", &["1bit/s"], &["0bit/s"]),
        ("params", &["", "alpha = 1"], &["alpha", "beta = 1"]),
    ] {
        takes(long, within, beyond);
    }
}

/// Checks that a flag takes these texts and none of those, and that the error names the flag.
fn takes(long: &'static str, within: &[&'static str], beyond: &[&'static str]) {
    for text in within {
        let given = [(long, *text)];
        assert!(
            flags(&given).resolve().is_ok(),
            "--{long} {text}: {}",
            flags(&given).error()
        );
    }
    for text in beyond {
        let Err(error) = flags(&[(long, *text)]).resolve() else {
            panic!("--{long} takes {text}");
        };
        let error = error.to_string();
        assert!(error.starts_with(&format!("--{long}: ")), "{error}");
    }
}

#[test]
fn secrets_are_not_shown() {
    let error = flags(&[("token", "top secret")]).error();
    assert_eq!(
        error,
        "--token: `token` must be 16 to 256 letters, digits, `-` and `_`, or `off`, not what it is, which is not shown"
    );
    let same = "token = \"abcdefghijklmnop\"\nview_token = \"abcdefghijklmnop\"";
    assert_eq!(
        file(same).error(),
        "m.toml:2: `view_token` is the same as `token`, so that whoever watches could play; change one"
    );
}

#[test]
fn a_host_without_tokens_is_for_its_own_machine() {
    for bind in ["127.0.0.1", "::1", "127.0.0.9,::1"] {
        let settings = flags(&[("token", "off"), ("bind", bind)])
            .resolve()
            .unwrap();
        assert!(settings.is_open && settings.token.is_none(), "{bind}");
    }
    for (bind, named) in [("0.0.0.0", "0.0.0.0"), ("127.0.0.1,192.0.2.1", "192.0.2.1")] {
        assert_eq!(
            flags(&[("token", "off"), ("bind", bind)]).error(),
            format!(
                "--token: `token` is `off`, and `bind` has {named}, which other machines reach; leave one of them out"
            )
        );
    }
    assert_eq!(
        flags(&[("token", "off"), ("view-token", "abcdefghijklmnop")]).error(),
        "--view-token: `view_token` cannot stand beside `token` (--token); keep one of them"
    );
}

#[test]
fn a_relay_without_its_secret() {
    let relay =
        |urls: &str, secret: &str| format!("[relay]\nurls = [{urls}]\nsecret = \"{secret}\"");
    let url = "\"turn:relay.example.org\"";
    let settings = file(&relay(url, "between-relay-and-host")).settings();
    let found = settings.relay.clone().unwrap();
    assert_eq!(
        found.urls[0].to_string(),
        "turn:relay.example.org:3478?transport=udp"
    );
    assert!(!format!("{settings:?}").contains("between"));
    assert_eq!(file(&relay("", "")).settings().relay, None);
    let error = file(&relay(url, "")).error();
    assert!(
        error.contains("`relay.urls`") && error.contains("`relay.secret`"),
        "{error}"
    );
    let error = file(&relay("", "between-relay-and-host")).error();
    assert!(
        error.contains("`relay.urls`") && error.contains("`relay.secret`"),
        "{error}"
    );
    assert_eq!(
        file(&relay(url, "too short")).error(),
        "m.toml:3: `relay.secret` must be 16 to 256 printable characters without spaces, not what it is, which is not shown"
    );
    for urls in [
        "\"https://relay.example.org\"".to_owned(),
        [url; 5].join(", "),
        "3478".to_owned(),
    ] {
        let error = file(&relay(&urls, "between-relay-and-host")).error();
        assert!(
            error.starts_with("m.toml:2: `relay.urls` must be a list of at most four"),
            "{error}"
        );
    }
}

#[test]
fn a_certificate_without_its_key() {
    let both = [("tls-certificate", "a.pem"), ("tls-key", "b.pem")];
    assert!(flags(&both).resolve().is_ok());
    assert_eq!(
        flags(&both[..1]).error(),
        "--tls-certificate: `tls_certificate` has no meaning without `tls_key`; set both, or neither"
    );
    assert_eq!(
        file("tls_key = \"b.pem\"").error(),
        "m.toml:1: `tls_key` has no meaning without `tls_certificate`; set both, or neither"
    );
}

#[test]
fn bounds_out_of_order() {
    let say = Say {
        file: "[controller]\nstart_bitrate = \"5Mbit/s\"",
        flags: &[("max-bitrate", "3Mbit/s")],
        ..Say::default()
    };
    assert_eq!(
        say.error(),
        "--max-bitrate: `controller.start_bitrate` of 5Mbit/s is above `controller.max_bitrate` of 3Mbit/s (m.toml:2); write min_bitrate <= start_bitrate <= max_bitrate"
    );
    let say = flags(&[("min-bitrate", "9Mbit/s"), ("max-bitrate", "3Mbit/s")]);
    assert!(
        say.error()
            .starts_with("--max-bitrate: `controller.min_bitrate` of 9Mbit/s")
    );
}

#[test]
fn what_the_program_refuses() {
    assert_eq!(
        file("[controller.params]\nbeta = 1").error(),
        "m.toml:1: `controller.params`: mimosa has no `beta`, only `alpha`"
    );
    assert_eq!(
        environment(&[("LOG", "loud")]).error(),
        "MIMOSA_LOG: `log`: `loud` is no filter; write e.g. `info` or `warn,mimosa_host=debug`"
    );
    let error = flags(&[("params", "alpha 1")]).error();
    assert!(
        error.starts_with("--params: `controller.params`: ")
            && error.ends_with("; write e.g. `a = 1, b = 2`"),
        "{error}"
    );
    assert_eq!(
        file("controller.params = 1").error(),
        "m.toml:1: `controller.params` must be a table, e.g. `{ alpha = 0.85 }`, not `1`"
    );
}

#[test]
fn long_and_odd_values_keep_the_message_on_one_line() {
    let long = "x\n".repeat(1_000);
    let error = flags(&[("source", &long)]).error();
    assert!(error.lines().count() == 1 && error.len() < 200, "{error}");
}
