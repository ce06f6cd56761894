//! From the text of a scenario to the answer that a page draws.

use mimosa_cc::window::Algorithm;
use mimosa_figures::{Window, measure};
use mimosa_scenario::{Files, Scenario};
use serde_json::{Value, json};

use crate::watch::Watch;

/// The name by which messages call the text.
const NAME: &str = "scenario";
/// The most variants of one text. A page draws them over each other, and more could not be told
/// apart.
const MOST_VARIANTS: usize = 8;

/// A page has no files beside it.
struct NoFiles;

impl Files for NoFiles {
    fn read(&mut self, _path: &str) -> Result<String, String> {
        Err(
            "the playground reads no files; write the link's `rate` or `steps`, or run \
             `mimosa sim`"
                .to_owned(),
        )
    }
}

/// Runs every variant of the scenario `text` with the seed that the text names, and returns the
/// figures and the course of each:
///
/// ```text
/// {"seed", "virtual_s", "notes": ["place: text", …],
///  "runs": [{"variant", "figures": as `mimosa sim --json` prints, "series": {…}}, …]}
/// ```
///
/// A text that is no scenario gives `{"error"}`: the place of the mistake and what to write instead.
#[must_use]
pub fn answer(text: &str) -> Value {
    let loaded = match mimosa_scenario::load(text, NAME, &mut NoFiles) {
        Ok(loaded) => loaded,
        Err(error) => return json!({ "error": error.to_string() }),
    };
    let count = loaded.variants.len();
    if count > MOST_VARIANTS {
        let error = format!(
            "{NAME}: there are {count} variants; keep at most {MOST_VARIANTS}, or run `mimosa sim`"
        );
        return json!({ "error": error });
    }
    let notes = loaded.notes.iter();
    let notes: Vec<_> = notes.map(|(at, text)| format!("{at}: {text}")).collect();
    let length = |(_, scenario): &(_, Scenario)| scenario.duration.as_secs();
    let runs = loaded.variants.iter();
    let runs: Vec<_> = runs
        .map(|(name, scenario)| run(name.as_deref(), scenario, loaded.seed))
        .collect();
    json!({
        "seed": loaded.seed,
        "virtual_s": loaded.variants.iter().map(length).sum::<f64>(),
        "notes": notes,
        "runs": runs,
    })
}

/// The figures and the course of one run.
fn run(variant: Option<&str>, scenario: &Scenario, seed: u64) -> Value {
    let mut watch = Watch::new(scenario);
    let figures = measure(scenario, Window::WHOLE, &mut watch, |observer| {
        mimosa_sim::run(scenario, seed, observer);
    });
    json!({ "variant": variant, "figures": figures, "series": watch.series() })
}

/// What a page offers to choose from: `{"controllers", "tcp"}`, lists of names.
#[must_use]
pub fn choices() -> Value {
    let tcp: Vec<_> = Algorithm::ALL.iter().map(|known| known.name()).collect();
    json!({ "controllers": mimosa_cc::NAMES, "tcp": tcp })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = r#"
        duration = "4s"
        seed = 7
        [link]
        rate = "10Mbit/s"
        one_way_delay = "10ms"
        [[flow]]
        name = "game"
        [[flow]]
        kind = "tcp"
        [[variant]]
        name = "deep"
        [[variant]]
        name = "shallow"
        link.queue = { kind = "droptail", limit = "20ms" }
    "#;

    #[test]
    fn the_figures_are_those_of_the_simulator_alone() {
        let answer = answer(TWO);
        let loaded = mimosa_scenario::load(TWO, "", &mut ()).unwrap();
        assert_eq!((&answer["seed"], loaded.seed), (&json!(7), 7));
        assert_eq!(answer["virtual_s"], 8.0);
        let runs = answer["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 2);
        for (run, (name, scenario)) in runs.iter().zip(&loaded.variants) {
            let alone = measure(scenario, Window::WHOLE, &mut (), |observer| {
                mimosa_sim::run(scenario, 7, observer);
            });
            assert_eq!(run["variant"].as_str(), name.as_deref());
            assert_eq!(run["figures"], serde_json::to_value(&alone).unwrap());
        }
        assert_ne!(runs[0]["figures"], runs[1]["figures"]);
    }

    #[test]
    fn a_mistake_comes_back_in_words_with_its_place() {
        let said = |text: &str| answer(text)["error"].as_str().map(str::to_owned);
        let error = said("duration = '1s'\n[link]\nrate = '5 apples'\n[[flow]]\n").unwrap();
        assert!(error.starts_with("scenario:3:"), "{error}");
        let error = said("duration = '1s'\n[link]\ntrace = 'x'\n[[flow]]\n").unwrap();
        assert!(error.contains("the playground reads no files"), "{error}");
        assert!(said("").is_some() && said("\u{0}[[[").is_some());
        assert_eq!(said(TWO), None);
    }

    #[test]
    fn more_variants_than_can_be_told_apart_are_refused() {
        let with = |count: usize| {
            let variants = (0..count).map(|index| format!("[[variant]]\nname = 'v{index}'\n"));
            let variants = variants.collect::<String>();
            format!("duration = '10ms'\n[link]\nrate = '1Mbit/s'\n[[flow]]\n{variants}")
        };
        assert!(answer(&with(MOST_VARIANTS))["error"].is_null());
        let error = &answer(&with(MOST_VARIANTS + 1))["error"];
        assert!(error.as_str().unwrap().contains("9 variants"), "{error}");
    }

    #[test]
    fn every_controller_can_be_chosen() {
        let choices = choices();
        let names = choices["controllers"].as_array().unwrap();
        assert!(names.contains(&json!("mimosa")) && names.len() == mimosa_cc::NAMES.len());
        for name in names {
            let text = format!(
                "duration = '1s'\n[link]\nrate = '9Mbit/s'\n[[flow]]\ncontroller = {name}\n"
            );
            assert!(answer(&text)["error"].is_null(), "{name}");
        }
        assert!(choices["tcp"].as_array().unwrap().contains(&json!("cubic")));
    }
}
