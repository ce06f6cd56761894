//! Generated traces against the recordings that their models are fitted to.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_trace::{Format, Model, ModelError, Statistics, parse, write};
use mimosa_units::{Rate, TimeDelta};

const LENGTH: TimeDelta = TimeDelta::from_millis(300_000);

fn model(name: &str) -> Model {
    Model::named(name).unwrap()
}

/// The medians of a class of recordings, as docs/use/traces.md has them.
struct Class {
    model: &'static str,
    variation: f64,
    percentiles: [f64; 7],
    autocorrelation: [f64; 3],
    falls_per_minute: f64,
    outage_share: f64,
    /// The least and the greatest of the class.
    variation_range: (f64, f64),
    falls_range: (f64, f64),
}

const CLASSES: [Class; 5] = [
    Class {
        model: "ethernet",
        variation: 0.28,
        percentiles: [0.23, 0.45, 0.85, 1.01, 1.18, 1.44, 1.61],
        autocorrelation: [0.40, 0.33, 0.01],
        falls_per_minute: 7.4,
        outage_share: 0.0,
        variation_range: (0.20, 0.37),
        falls_range: (4.8, 11.1),
    },
    Class {
        model: "wifi",
        variation: 0.40,
        percentiles: [0.01, 0.18, 0.76, 1.03, 1.29, 1.61, 1.79],
        autocorrelation: [0.89, 0.57, 0.20],
        falls_per_minute: 14.0,
        outage_share: 0.0325,
        variation_range: (0.36, 0.72),
        falls_range: (7.5, 21.2),
    },
    Class {
        model: "wifi-office",
        variation: 0.22,
        percentiles: [0.19, 0.44, 1.00, 1.09, 1.11, 1.17, 1.24],
        autocorrelation: [0.87, 0.41, 0.07],
        falls_per_minute: 5.7,
        outage_share: 0.0012,
        variation_range: (0.14, 0.59),
        falls_range: (3.4, 16.2),
    },
    Class {
        model: "4g",
        variation: 0.40,
        percentiles: [0.19, 0.36, 0.66, 0.90, 1.32, 1.62, 1.97],
        autocorrelation: [0.80, 0.45, 0.10],
        falls_per_minute: 18.4,
        outage_share: 0.0,
        variation_range: (0.28, 0.93),
        falls_range: (0.8, 46.0),
    },
    Class {
        model: "4g-driving",
        variation: 0.70,
        percentiles: [0.0, 0.08, 0.48, 0.86, 1.35, 2.39, 3.21],
        autocorrelation: [0.85, 0.52, 0.07],
        falls_per_minute: 42.7,
        outage_share: 0.0311,
        variation_range: (0.59, 1.22),
        falls_range: (14.6, 120.0),
    },
];

fn median(all: &[Statistics], value: impl Fn(&Statistics) -> f64) -> f64 {
    let mut values: Vec<f64> = all.iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    f64::midpoint(values[values.len() / 2], values[(values.len() - 1) / 2])
}

#[test]
fn traces_are_like_their_class() {
    for class in &CLASSES {
        let model = model(class.model);
        let all: Vec<_> = (1..=16)
            .map(|seed| {
                let trace = model.generate(seed, LENGTH, None).unwrap();
                Statistics::of(&trace, None).unwrap()
            })
            .collect();
        let near = |what: &str, found: f64, recorded: f64, within: f64| {
            assert!(
                (found - recorded).abs() <= within,
                "{}: {what} is {found:.3}, recorded {recorded:.3}",
                class.model
            );
        };
        near(
            "variation",
            median(&all, |s| s.variation),
            class.variation,
            0.05,
        );
        for (index, recorded) in class.percentiles.into_iter().enumerate() {
            let found = median(&all, |s| s.rates[index].ratio(s.mean));
            near(
                &format!("percentile {index}"),
                found,
                recorded,
                0.1 * recorded.max(1.0) + 0.02,
            );
        }
        for (index, recorded) in class.autocorrelation.into_iter().enumerate() {
            let found = median(&all, |s| s.autocorrelation[index].unwrap());
            near(&format!("autocorrelation {index}"), found, recorded, 0.15);
        }
        let falls = median(&all, |s| s.falls_per_minute);
        near(
            "falls",
            falls,
            class.falls_per_minute,
            0.15 * class.falls_per_minute,
        );
        near(
            "outages",
            median(&all, |s| s.outages.share),
            class.outage_share,
            0.01,
        );
        // Each is one that the class could have, give or take a tenth.
        for statistics in &all {
            let within = |what: &str, found: f64, (least, greatest): (f64, f64)| {
                let range = 0.9 * least..1.1 * greatest;
                assert!(range.contains(&found), "{}: {what} is {found}", class.model);
            };
            within("variation", statistics.variation, class.variation_range);
            within("falls", statistics.falls_per_minute, class.falls_range);
        }
    }
}

#[test]
fn a_trace_has_its_length_and_its_mean() {
    for name in Model::NAMES {
        let model = model(name);
        let trace = model
            .generate(7, TimeDelta::from_millis(60_019), None)
            .unwrap();
        let step = TimeDelta::from_secs(value(&model, "step_secs"));
        let length = trace.length;
        assert!(
            length <= TimeDelta::from_millis(60_019)
                && length > TimeDelta::from_millis(60_019) - step
        );
        let own = Rate::from_mbps(value(&model, "mean_mbps"));
        assert!(
            (trace.mean().ratio(own) - 1.0).abs() < 1e-3,
            "{name}: {}",
            trace.mean()
        );
        let mean = Rate::from_kbps(50_000);
        let trace = model.generate(7, LENGTH, Some(mean)).unwrap();
        assert!(
            (trace.mean().ratio(mean) - 1.0).abs() < 1e-4,
            "{name}: {}",
            trace.mean()
        );
        let text = write(&trace, Format::Rows).unwrap();
        assert_eq!(parse(&text).unwrap(), trace);
        assert_eq!(model.generate(7, LENGTH, Some(mean)).unwrap(), trace);
        assert_ne!(model.generate(8, LENGTH, Some(mean)).unwrap(), trace);
    }
}

fn value(model: &Model, key: &str) -> f64 {
    let parameters = model.parameters();
    parameters
        .iter()
        .find(|parameter| parameter.key == key)
        .unwrap()
        .value
}

#[test]
fn any_configuration_within_its_bounds_makes_a_trace_or_says_why() {
    for name in Model::NAMES {
        let ends = |pick: fn(&mimosa_trace::Parameter) -> f64| {
            let mut changed = model(name);
            for parameter in model(name).parameters() {
                changed
                    .set(parameter.key, &pick(&parameter).to_string())
                    .unwrap();
            }
            let made = changed.generate(1, TimeDelta::from_millis(20_000), None);
            assert!(
                matches!(made, Ok(_) | Err(ModelError::Scale(_))),
                "{name}: {made:?}"
            );
        };
        ends(|parameter| parameter.least);
        ends(|parameter| parameter.most);
        for parameter in model(name).parameters() {
            for end in [parameter.least, parameter.most] {
                let mut changed = model(name);
                changed.set(parameter.key, &end.to_string()).unwrap();
                let made = changed.generate(1, TimeDelta::from_millis(20_000), None);
                assert!(
                    matches!(made, Ok(_) | Err(ModelError::Scale(_))),
                    "{name}: {made:?}"
                );
            }
        }
    }
}

#[test]
fn mistakes_come_with_what_there_is() {
    let message = |error: ModelError| error.to_string();
    assert_eq!(
        message(Model::named("3g").unwrap_err()),
        "there is no model `3g`; there is ethernet, wifi, wifi-office, 4g, 4g-driving, 5g"
    );
    let mut ethernet = model("ethernet");
    assert_eq!(
        message(ethernet.set("nose", "1").unwrap_err()),
        "the model ethernet has no parameter `nose`; it has mean_mbps, step_secs, noise, \
         noise_memory_secs, least_share, falls_per_minute, fall_secs, fall_low, fall_high"
    );
    for bad in ["2", "-1", "nan", "much", ""] {
        assert_eq!(
            message(ethernet.set("noise", bad).unwrap_err()),
            format!(
                "`{bad}` is no value of noise, deviation of the noise over the mean; \
                 write a number from 0 to 1"
            )
        );
    }
    let refused = |millis, mean| {
        let made = model("ethernet").generate(1, TimeDelta::from_millis(millis), mean);
        message(made.unwrap_err())
    };
    assert_eq!(
        refused(49, None),
        "a trace of 49ms in steps of 50ms is not made; choose from one step to 500000s"
    );
    assert!(refused(500_001_000, None).ends_with("to 500000s"));
    assert_eq!(
        refused(1_000, Some(Rate::ZERO)),
        "the trace cannot have this mean rate: nothing would ever pass in it; \
         choose another part, or a higher rate"
    );
}
