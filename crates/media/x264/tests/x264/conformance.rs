//! The checks that every encoder passes.

use mimosa_conformance::{Budgets, MissingFrame, Pictures, QuantiserLimit, Sizes, Subject, Units};
use mimosa_facts::Codec;
use mimosa_units::Bytes;
use mimosa_x264::{Aim, Config, Margin, X264};

pub(crate) fn subject() -> Subject {
    // Slices plan for themselves, so two of them use less.
    with(
        Aim::Learnt(Margin::default()),
        &[(1, 0.85), (2, 0.78)],
        Some(24),
    )
}

/// libx264 with this aim, which uses at least these parts of budgets with so many threads, and encodes
/// at most so many of a clip's frames again.
fn with(aim: Aim, used: &'static [(u8, f64)], retried: Option<usize>) -> Subject {
    Subject {
        name: "libx264",
        codec: Codec::H264,
        open: Box::new(move |setup| {
            let config = Config::new(setup.size, setup.frames_per_second);
            let config = Config {
                aim,
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
            used,
            retried,
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

/// The checks again with libx264's buffer of one frame.
mod with_a_buffer {
    use super::{Aim, Subject, with};

    fn subject() -> Subject {
        with(Aim::Buffer, &[(1, 0.85), (2, 0.78)], Some(24))
    }

    mimosa_conformance::suite!(subject());
}
