//! Whatever is written, the answer is settings or an error of one line.

use mimosa_settings::{Flags, KEYS, resolve};
use proptest::prelude::*;

use super::Program;

/// Values that are right for one key or another, and some that are for none.
const VALUES: &[&str] = &[
    "1",
    "0",
    "-1",
    "0x1a",
    "8080",
    "99999999999",
    "1.5",
    "true",
    "1979-05-27",
    "{}",
    "{ a = 1 }",
    "[]",
    "[1]",
    "[\"::1\"]",
    "\"\"",
    "\"demo\"",
    "\"x11\"",
    "\"c0+\"",
    "\"30ms\"",
    "\"5Mbit/s\"",
    "\"640x480\"",
    "\"https://a.example\"",
    "\"0123456789abcdef\"",
    "\"é\\u0000\"",
    "'''\n'''",
];

fn line() -> impl Strategy<Value = String> {
    let keys: Vec<&str> = KEYS.iter().map(|key| key.path).collect();
    let pair = (
        proptest::sample::select(keys),
        proptest::sample::select(VALUES),
    );
    prop_oneof![
        6 => pair.prop_map(|(key, value)| format!("{key} = {value}")),
        1 => proptest::sample::select(vec!["[encoder]", "[controller]", "[controller.params]", "[x]"])
            .prop_map(str::to_owned),
        1 => ".{0,30}",
    ]
}

fn check(file: Option<&str>, environment: Vec<(String, String)>, flags: &Flags) {
    let file = file.map(|text| ("m.toml", text));
    if let Err(error) = resolve(file, environment, flags, &Program) {
        let message = error.to_string();
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}

proptest! {
    #[test]
    fn of_a_file(text in "(?s).{0,200}") {
        check(Some(&text), Vec::new(), &Flags::default());
    }

    #[test]
    fn of_a_file_with_keys(lines in proptest::collection::vec(line(), 0..8)) {
        check(Some(&lines.join("\n")), Vec::new(), &Flags::default());
    }

    #[test]
    fn of_a_variable(name in "[A-Z_]{0,12}", text in "(?s).{0,40}") {
        check(None, vec![(format!("MIMOSA_{name}"), text)], &Flags::default());
    }

    #[test]
    fn of_known_variables_and_flags(
        said in proptest::collection::vec((0..KEYS.len(), any::<bool>(), "(?s).{0,20}", 0..VALUES.len()), 0..6),
    ) {
        let mut environment = Vec::new();
        let mut flags = Flags::default();
        for (key, is_odd, odd, usual) in said {
            let text = if is_odd { odd } else { VALUES[usual].trim_matches('"').to_owned() };
            environment.push((KEYS[key].variable(), text.clone()));
            flags.set(KEYS[(key + 7) % KEYS.len()], text);
        }
        check(None, environment, &flags);
    }
}
