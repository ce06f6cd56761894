//! Default, file, environment, flag: the later one wins.

use mimosa_facts::Complexity;
use mimosa_settings::{
    EncoderName, GamepadSettings, LogFormat, SizePrediction, SourceSettings, Work,
};
use mimosa_stream::ProtectionKind;
use mimosa_units::{Rate, TimeDelta};

use super::{Say, environment, file, flags};

#[test]
fn without_a_word_there_are_defaults() {
    let settings = Say::default().settings();
    assert_eq!(
        settings.bind,
        ["127.0.0.1", "::1"].map(|ip| ip.parse::<std::net::IpAddr>().unwrap())
    );
    assert_eq!((settings.http_port, settings.udp_port), (8080, 8081));
    assert!(settings.allowed_origins.is_empty());
    assert!(!settings.is_open);
    assert_eq!((settings.token, settings.view_token), (None, None));
    assert_eq!(settings.viewers.0, 4);
    assert_eq!(settings.source, SourceSettings::Demo);
    assert_eq!(settings.size.to_string(), "1280x720");
    assert_eq!(settings.frames_per_second, 60);
    assert_eq!(settings.viewer_frames_per_second, 30);
    assert_eq!(settings.encoder.name, EncoderName::Auto);
    assert!(settings.encoder.element.is_empty());
    assert_eq!(settings.encoder.work, Work::Always(Complexity::C0));
    assert_eq!(settings.encoder.buffer_frames, 1);
    assert_eq!(settings.encoder.size_prediction, SizePrediction::Motion);
    assert_eq!(settings.encoder.threads, 1);
    assert_eq!(settings.input.gamepads, GamepadSettings::Auto);
    assert!(!settings.input.clipboard);
    assert!(settings.sound.is_on);
    assert_eq!(settings.sound.sink, None);
    assert_eq!(settings.sound.bitrate, Rate::from_kbps(64));
    assert_eq!(settings.controller.name, "mimosa");
    assert_eq!(settings.controller.pacer, "controller");
    assert!(settings.controller.params.is_empty());
    let limits = settings.controller.limits;
    let kbps = [limits.min(), limits.start(), limits.max()].map(|rate| rate.as_bps() / 1_000);
    assert_eq!(kbps, [500, 5_000, 50_000]);
    assert_eq!(settings.controller.blind_rate, Rate::from_kbps(2_000));
    let limits = settings.controller.viewer_limits();
    let kbps = [limits.min(), limits.start(), limits.max()].map(|rate| rate.as_bps() / 1_000);
    assert_eq!(kbps, [500, 5_000, 10_000]);
    assert_eq!(settings.retransmission_deadline, None);
    assert_eq!(settings.protection, ProtectionKind::Joint);
    assert_eq!(settings.repair_deadline, TimeDelta::from_millis(50));
    assert_eq!(settings.presentation_deadline, TimeDelta::from_millis(100));
    assert_eq!(settings.shortest_gap, TimeDelta::from_micros(500));
    assert_eq!(settings.record, None);
    assert_eq!(settings.record_pictures, None);
    assert_eq!(settings.record_pictures_limit, 600);
    assert_eq!(
        (settings.log.as_str(), settings.log_format),
        ("info", LogFormat::Text)
    );
}

#[test]
fn the_later_one_wins() {
    let mut say = file("http_port = 1");
    assert_eq!(say.settings().http_port, 1);
    say.environment = &[("HTTP_PORT", "2")];
    assert_eq!(say.settings().http_port, 2);
    say.flags = &[("http-port", "3")];
    assert_eq!(say.settings().http_port, 3);
}

#[test]
fn the_last_of_two_flags_wins_but_parts_of_a_list_add_up() {
    let twice = flags(&[("viewers", "1"), ("viewers", "2")]);
    assert_eq!(twice.settings().viewers.0, 2);
    let list = flags(&[("bind", "127.0.0.1"), ("bind", "::1,10.0.0.1")]);
    assert_eq!(list.settings().bind.len(), 3);
    let mut over = flags(&[("bind", "::1")]);
    over.file = "bind = [\"10.0.0.1\"]";
    assert_eq!(
        over.settings().bind.len(),
        1,
        "a list replaces that of the file"
    );
}

#[test]
fn an_empty_text_takes_back_what_was_said_before() {
    let mut say = file("record = \"/tmp/r\"\nallowed_origins = [\"https://a.example\"]");
    assert_eq!(say.settings().record.as_deref(), Some("/tmp/r".as_ref()));
    assert_eq!(say.settings().allowed_origins, ["https://a.example"]);
    say.environment = &[("RECORD", ""), ("ALLOWED_ORIGINS", "")];
    assert_eq!(say.settings().record, None);
    assert!(say.settings().allowed_origins.is_empty());
}

#[test]
fn other_peoples_variables_do_not_count() {
    let others = [
        ("HTTP_PORT", "2"),
        ("mimosa_viewers", "x"),
        ("MIMOSA", "x"),
        ("MIMOSA_FFMPEG", "x"),
        ("MIMOSA_GROUP", "0123456789abcdef"),
    ]
    .map(|(name, text)| (name.to_owned(), text.to_owned()));
    let settings = mimosa_settings::resolve(
        None,
        others,
        &mimosa_settings::Flags::default(),
        &super::Program,
    );
    assert_eq!(settings, Say::default().resolve());
}

#[test]
fn each_key_is_read_from_the_file_and_from_a_text_alike() {
    let token = "abcdefghijklmnop";
    let from_file = file(
        r#"
        bind = ["0.0.0.0", "::"]
        allowed_origins = ["http://localhost:3000"]
        token = "abcdefghijklmnop"
        viewers = 0
        size = "640x480"
        shortest_gap = "1ms"
        log = "debug"
        log_format = "json"
        encoder = { name = "openh264", element = "vah264enc", complexity = "c0+", threads = 16 }
        input = { gamepads = "keys", clipboard = "on" }
        sound = { play = "off", sink = "speakers", bitrate = "96kbit/s" }
        [controller]
        name = "other"
        min_bitrate = "1Mbit/s"
        [controller.params]
        alpha = 0.5
        "#,
    );
    let variables = [
        ("BIND", "0.0.0.0, ::"),
        ("ALLOWED_ORIGINS", "http://localhost:3000"),
        ("TOKEN", token),
        ("VIEWERS", "0"),
        ("SIZE", "640x480"),
        ("SHORTEST_GAP", "1ms"),
        ("LOG", "debug"),
        ("LOG_FORMAT", "json"),
        ("ENCODER", "openh264"),
        ("ENCODER_ELEMENT", "vah264enc"),
        ("ENCODER_COMPLEXITY", "c0+"),
        ("ENCODER_THREADS", "16"),
        ("GAMEPADS", "keys"),
        ("CLIPBOARD", "on"),
        ("SOUND", "off"),
        ("SOUND_SINK", "speakers"),
        ("SOUND_BITRATE", "96kbit/s"),
        ("CONTROLLER", "other"),
        ("MIN_BITRATE", "1Mbit/s"),
        ("PARAMS", "alpha = 0.5"),
    ];
    let from_text = environment(&variables);
    let settings = from_file.settings();
    assert_eq!(settings, from_text.settings());
    assert_eq!(settings.token.unwrap().secret(), token);
    assert_eq!(settings.encoder.name, EncoderName::OpenH264);
    assert_eq!(settings.encoder.element.as_str(), "vah264enc");
    assert_eq!(settings.encoder.work, Work::Always(Complexity::C0Plus));
}

#[test]
fn those_who_watch_have_a_limit_of_their_own() {
    let most = |flag: &str| {
        let text = format!("[controller]\nviewer_max_bitrate = \"{flag}\"");
        let controller = file(&text).settings().controller;
        let limits = controller.viewer_limits();
        let kbps = [limits.min(), limits.start(), limits.max()].map(|rate| rate.as_bps() / 1_000);
        (kbps, controller.limits.max().as_bps() / 1_000)
    };
    assert_eq!(most("20Mbit/s"), ([500, 5_000, 20_000], 50_000));
    assert_eq!(most("3Mbit/s"), ([500, 3_000, 3_000], 50_000));
    assert_eq!(most("100kbit/s"), ([100, 100, 100], 50_000));
    // No more than the player.
    assert_eq!(most("90Mbit/s"), ([500, 5_000, 50_000], 50_000));
}

#[test]
fn parameters_are_laid_over_each_other_for_one_controller() {
    let alpha = |say: &Say<'_>| {
        let params = say.settings().controller.params;
        params.get("alpha").and_then(toml::Value::as_float)
    };
    let mut say = file("[controller]\nname = \"mimosa\"\n[controller.params]\nalpha = 0.5");
    assert_eq!(alpha(&say), Some(0.5));
    say.environment = &[("PARAMS", "")];
    assert_eq!(alpha(&say), Some(0.5), "nothing is laid over it");
    say.environment = &[("PARAMS", "alpha = 0.6")];
    assert_eq!(alpha(&say), Some(0.6));
    say.flags = &[("controller", "other")];
    assert_eq!(alpha(&say), None, "they were the other controller's");
    say.flags = &[("controller", "other"), ("params", "alpha = 0.7")];
    assert_eq!(alpha(&say), Some(0.7));
    say.flags = &[("controller", "mimosa")];
    assert_eq!(alpha(&say), Some(0.6), "it is the same one");
}

#[test]
fn bounds_that_nobody_stated_give_way() {
    let mbps = |pairs: &[(&str, &str)]| {
        let limits = flags(pairs).settings().controller.limits;
        [limits.min(), limits.start(), limits.max()].map(Rate::as_mbps)
    };
    let close = |one: [f64; 3], other: [f64; 3]| {
        assert!(
            one.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-9),
            "{one:?} {other:?}"
        );
    };
    close(mbps(&[("max-bitrate", "3Mbit/s")]), [0.5, 3.0, 3.0]);
    close(mbps(&[("max-bitrate", "0.3Mbit/s")]), [0.3, 0.3, 0.3]);
    close(mbps(&[("min-bitrate", "8Mbit/s")]), [8.0, 8.0, 50.0]);
    close(mbps(&[("min-bitrate", "80Mbit/s")]), [80.0, 80.0, 80.0]);
    close(mbps(&[("start-bitrate", "80Mbit/s")]), [0.5, 80.0, 80.0]);
    close(mbps(&[("start-bitrate", "0.1Mbit/s")]), [0.1, 0.1, 50.0]);
}
