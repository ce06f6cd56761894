//! Settings from arbitrary text: nothing panics, what is refused is refused in
//! one line and at a place that exists, what is accepted is within its bounds,
//! and secrets are not shown. A value that is changed in the file is there then, and everything else
//! is what it was.
//!
//! The text before a line `---` is the file. After it, `NAME=text` is the
//! variable `MIMOSA_NAME`, and `--flag=text` a flag, and a change of the file as well.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mimosa_facts::Limits;
use mimosa_settings::{
    CHANGEABLE, Checks, Flags, KEYS, NextStart, Origin, Problem, Settings, changed, listed, resolve,
};

struct Program;

impl Checks for Program {
    fn controllers(&self) -> &[&str] {
        mimosa_cc::NAMES
    }

    fn pacers(&self) -> &[&str] {
        &["controller", "burst"]
    }

    fn encoders(&self) -> &[&str] {
        &["auto", "openh264"]
    }

    fn params(&self, name: &str, params: &toml::Table, limits: Limits) -> Result<(), String> {
        let params = toml::Value::Table(params.clone());
        let built = mimosa_cc::build(name, params, limits);
        built.map(drop).map_err(|error| error.to_string())
    }

    fn log(&self, _filter: &str) -> Result<(), String> {
        Ok(())
    }
}

fuzz_target!(|text: &str| {
    let (file, rest) = text.split_once("\n---\n").unwrap_or((text, ""));
    let mut environment = Vec::new();
    let mut flags = Flags::default();
    for line in rest.lines() {
        let Some((name, text)) = line.split_once('=') else {
            continue;
        };
        match KEYS.iter().find(|key| key.flag() == name) {
            Some(key) => {
                change(file, key.name, text);
                flags.set(key, text);
            }
            None => environment.push((format!("MIMOSA_{name}"), text.to_owned())),
        }
    }
    match resolve(Some(("fuzz", file)), environment, &flags, &Program) {
        Ok(settings) => check(&settings),
        Err(error) => {
            // What a controller says of a parameter is its own affair.
            if !matches!(error.problem, Problem::Params { .. }) {
                assert_eq!(error.to_string().lines().count(), 1, "{error}");
            }
            if let Origin::File(place) = &error.origin {
                let last = file.matches('\n').count() + 1;
                assert!((1..=last).contains(&place.line), "{error} in {last} lines");
            }
        }
    }
});

fn check(settings: &Settings) {
    assert!(!settings.bind.is_empty());
    assert!((1..=240).contains(&settings.frames_per_second));
    assert!((1..=16).contains(&settings.encoder.threads));
    assert!(mimosa_cc::NAMES.contains(&settings.controller.name.as_str()));
    let limits = settings.controller.limits;
    assert!(limits.min() <= limits.start() && limits.start() <= limits.max());
    assert!(limits.min().as_bps() > 0);
    if let Some(relay) = &settings.relay {
        assert!((1..=4).contains(&relay.urls.len()));
        assert!(!format!("{:?}", relay.secret).contains(relay.secret.secret()));
    }
    let tokens = [&settings.token, &settings.view_token];
    assert!(tokens[0].is_none() || tokens[0] != tokens[1]);
    let shown = format!("{tokens:?}");
    for token in tokens.into_iter().flatten() {
        assert!(!shown.contains(token.secret()));
    }
}

/// Changes a value in the file.
fn change(file: &str, key: &str, value: &str) {
    let next = NextStart {
        environment: &[],
        flags: &Flags::default(),
        checks: &Program,
    };
    let Ok(new) = changed(("fuzz", file), (key, value), next) else {
        return;
    };
    assert!(CHANGEABLE.iter().any(|known| known.name == key));
    assert!(resolve(Some(("fuzz", &new)), [], &Flags::default(), &Program).is_ok());
    let of = |text: &str| listed(Some(("fuzz", text)), [], &Flags::default()).unwrap_or_default();
    let (before, after) = (of(file), of(&new));
    assert_eq!(after.len(), CHANGEABLE.len());
    for (old, new) in before.iter().zip(&after) {
        assert!(
            new.key.name == key || old.value == new.value,
            "{}",
            new.key.name
        );
    }
    // Whoever changes it to the same again changes nothing.
    assert_eq!(
        changed(("fuzz", &new), (key, value), next).as_deref(),
        Ok(&*new)
    );
}
