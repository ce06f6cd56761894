//! The checks that every encoder passes.

use mimosa_conformance::{Budgets, MissingFrame, Pictures, QuantiserLimit, Sizes, Subject, Units};
use mimosa_facts::Codec;
use mimosa_units::Bytes;
use mimosa_x264::{Config, X264};

pub(crate) fn subject() -> Subject {
    Subject {
        name: "libx264",
        codec: Codec::H264,
        open: Box::new(|setup| {
            let config = Config::new(setup.size, setup.frames_per_second);
            let config = Config {
                threads: setup.threads,
                finest: setup.finest.unwrap_or(config.finest),
                ..config
            };
            let encoder = X264::open(config).map_err(|error| error.to_string())?;
            Ok(Box::new(encoder))
        }),
        large: Pictures::hd(),
        small: Pictures::quarter_hd(),
        budgets: Budgets::Kept {
            // Slices plan for themselves, so two of them use less.
            used: &[(1, 0.85), (2, 0.78)],
            retried: Some(24),
            rise: 0.6,
            smallest: Bytes::new(600),
            smallest_range: 1_400,
        },
        cut: 20,
        // A sequence parameter set, a picture parameter set, an IDR slice; another slice.
        units: Some(Units {
            keyframe: &[7, 8, 5],
            other: &[1],
        }),
        states_colours: true,
        states: &[
            "profile=High",
            "level=42",
            "has_b_frames=0",
            "r_frame_rate=60/1",
        ],
        quantiser_limit: QuantiserLimit::Stated,
        // With several threads, each looks at how far the others are.
        repeatable: &[1],
        sizes: Sizes {
            work: &[(16, 16), (18, 34), (642, 362), (3840, 2160)],
            refused: &[],
            threads: &[1, 4],
            frames_per_second: 60,
        },
        missing: MissingFrame::Worsens(30),
    }
}

mimosa_conformance::suite!(subject());
