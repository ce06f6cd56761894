//! The checks that every encoder passes.

use mimosa_conformance::{Budgets, MissingFrame, Pictures, QuantiserLimit, Sizes, Subject, Units};
use mimosa_facts::Codec;
use mimosa_openh264::{Config, OpenH264};
use mimosa_units::Bytes;

fn subject() -> Subject {
    Subject {
        name: "OpenH264",
        codec: Codec::H264,
        open: Box::new(|setup| {
            let config = Config::new(setup.size, setup.frames_per_second);
            let config = Config {
                threads: setup.threads,
                finest: setup.finest.unwrap_or(config.finest),
                ..config
            };
            let encoder = OpenH264::open(config).map_err(|error| error.to_string())?;
            Ok(Box::new(encoder))
        }),
        large: Pictures::hd(),
        small: Pictures::quarter_hd(),
        budgets: Budgets::Kept {
            used: &[(1, 0.65), (2, 0.65)],
            retried: None,
            rise: 0.4,
            smallest: Bytes::new(4_000),
            smallest_range: 4_000,
        },
        cut: 50,
        // A sequence parameter set, a picture parameter set, an IDR slice; another slice.
        units: Some(Units {
            keyframe: &[7, 8, 5],
            other: &[1],
        }),
        states_colours: true,
        states: &["profile=Main", "level=42", "has_b_frames=0"],
        quantiser_limit: QuantiserLimit::Stated,
        repeatable: &[1, 2],
        sizes: Sizes {
            work: &[(16, 16), (18, 34), (642, 362), (3840, 2160), (2160, 3840)],
            refused: &[(4096, 2160), (2160, 4096)],
            threads: &[1, 4],
            frames_per_second: 60,
        },
        missing: MissingFrame::Worsens(30),
    }
}

mimosa_conformance::suite!(subject());
