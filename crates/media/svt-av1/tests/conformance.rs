//! The checks that every encoder passes.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_conformance::{Budgets, MissingFrame, Pictures, QuantiserLimit, Sizes, Subject, Units};
use mimosa_facts::Codec;
use mimosa_svt_av1::{Config, SvtAv1};
use mimosa_video::Size;

/// The preset that is the default.
const PRESET: u8 = 12;

fn subject(preset: u8) -> Subject {
    Subject {
        name: "SVT-AV1",
        codec: Codec::Av1,
        open: Box::new(move |setup| {
            let config = Config::new(setup.size, setup.frames_per_second);
            let config = Config {
                threads: setup.threads,
                preset,
                finest: setup.finest.unwrap_or(config.finest),
                ..config
            };
            let encoder = SvtAv1::open(config).map_err(|error| error.to_string())?;
            Ok(Box::new(encoder))
        }),
        large: Pictures {
            size: Size::new(640, 360).unwrap(),
            noise: 8,
            highest: 10.0,
            steps: (1.5, 8.0),
        },
        small: Pictures {
            size: Size::new(320, 180).unwrap(),
            noise: 8,
            highest: 3.0,
            steps: (0.5, 2.0),
        },
        budgets: Budgets::Mostly {
            steady: 3.0,
            used: 0.6,
            above: 0.05,
            above_steps: 0.1,
            after_a_fall: 2.0,
        },
        cut: 50,
        // A temporal delimiter, a sequence header, a frame; without the header.
        units: Some(Units {
            keyframe: &[2, 1, 6],
            other: &[2, 6],
        }),
        states_colours: true,
        states: &["profile=Main"],
        quantiser_limit: QuantiserLimit::Stated,
        repeatable: &[1, 2],
        sizes: Sizes {
            work: &[(64, 64), (66, 98), (642, 362), (1920, 1080)],
            refused: &[(320, 62), (62, 320)],
            threads: &[1, 3],
            frames_per_second: 240,
        },
        // The next four frames refer to frame 32.
        missing: MissingFrame::IsRefused(32, "Invalid data"),
    }
}

mimosa_conformance::suite!(subject(PRESET));

#[test]
fn the_default_preset_is_checked() {
    let config = Config::new(Size::new(320, 180).unwrap(), 60);
    assert_eq!(config.preset, PRESET);
}

/// SVT-AV1 returns a picture when the next one comes, so each preset has to show that
/// nothing waits inside.
#[test]
fn every_preset_gives_one_frame_for_one_picture() {
    for preset in [8, 10, 12, 13] {
        println!("preset {preset}");
        mimosa_conformance::every_frame_is_a_picture(&subject(preset));
    }
}
