//! Scenarios and the files they name from arbitrary text: nothing panics, what
//! is refused is refused at a line that exists, and what is accepted has a
//! schedule that goes forwards. Its network is read by itself, too.
//!
//! The text before a line `---` is the scenario, what follows is the content of
//! every file that it names.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mimosa_scenario::{Files, load_network};
use mimosa_units::Time;

struct Content<'a>(&'a str);

impl Files for Content<'_> {
    fn read(&mut self, path: &str) -> Result<String, String> {
        if path == "missing" {
            Err("missing".to_owned())
        } else {
            Ok(self.0.to_owned())
        }
    }
}

fuzz_target!(|text: &str| {
    let (scenario, content) = text.split_once("\n---\n").unwrap_or((text, ""));
    if let Err(error) = mimosa_trace::parse(content) {
        assert!(error.line >= 1 && error.line <= content.lines().count().max(1));
    }
    if let Err(error) = load_network(scenario, "fuzz", &mut Content(content)) {
        assert!(error.place.line >= 1, "{error}");
    }
    match mimosa_scenario::load(scenario, "fuzz", &mut Content(content)) {
        Ok(loaded) => {
            assert!(!loaded.variants.is_empty());
            for (_, scenario) in &loaded.variants {
                assert!(!scenario.flows.is_empty());
                let second = scenario
                    .link
                    .schedule
                    .capacity(Time::ZERO, Time::from_millis(100));
                let _ = second.bits();
            }
        }
        Err(error) => {
            let in_scenario = error.place.file == "fuzz";
            let lines = if in_scenario { scenario } else { content };
            let last = lines.matches('\n').count() + 1;
            assert!(
                (1..=last).contains(&error.place.line),
                "{error} in {last} lines"
            );
        }
    }
});
