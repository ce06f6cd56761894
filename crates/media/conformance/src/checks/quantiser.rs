//! Checks of the lowest quantiser.

use super::{Budgeted, encode_at};
use crate::subject::{QuantiserLimit, Setup, Subject};

/// A rate in Mbit/s that no picture of the check needs.
const PLENTY: f64 = 200.0;

/// Checks that no frame has a finer quantiser than the finest that was asked for, that the
/// limit is reached when budgets allow it, and that it saves bytes; of an encoder that
/// states no quantisers, only that it saves bytes. An encoder without such a limit must
/// give the same stream whatever was asked for.
pub fn no_quantiser_is_below_the_finest(subject: &Subject) {
    let name = subject.name;
    let run = |finest| {
        let setup = Setup {
            finest: Some(finest),
            ..Setup::new(subject.small.size)
        };
        encode_at(subject, &setup, subject.small.noise, &[PLENTY; 30])
    };
    let bytes = |frames: &[Budgeted]| {
        let sizes = frames.iter().map(|(_, frame)| frame.data.len());
        sizes.sum::<usize>()
    };
    let (fine, coarse) = (run(17), run(30));
    if subject.quantiser_limit == QuantiserLimit::None {
        assert!(fine == coarse, "{name}: the limit has an effect");
        return;
    }
    assert!(2 * bytes(&coarse) < bytes(&fine), "{name}");
    if subject.quantiser_limit == QuantiserLimit::Unstated {
        let mut frames = fine.iter().chain(&coarse);
        assert!(frames.all(|(_, frame)| frame.quantiser.is_none()), "{name}");
        return;
    }
    for (frames, finest) in [(&fine, 17.0), (&coarse, 30.0)] {
        let quantisers = frames.iter().map(|(_, frame)| frame.quantiser.unwrap());
        let quantisers: Vec<_> = quantisers.collect();
        assert!(
            quantisers.iter().all(|&quantiser| quantiser >= finest),
            "{name}: below {finest} in {quantisers:?}"
        );
        assert!(
            quantisers[29] < finest + 1.0,
            "{name}: {} is above {finest} although nothing keeps it there",
            quantisers[29]
        );
    }
}
