//! Checks of two runs with the same pictures.

use super::encode_at;
use crate::request::random_rates;
use crate::subject::{Setup, Subject};

/// Checks that the same pictures and budgets give the same bytes and figures.
pub fn the_same_pictures_give_the_same_stream(subject: &Subject) {
    let pictures = &subject.small;
    for &threads in subject.repeatable {
        let run = || {
            let setup = Setup {
                threads,
                ..Setup::new(pictures.size)
            };
            let rates = random_rates(60, pictures.highest);
            encode_at(subject, &setup, pictures.noise, &rates)
        };
        assert!(run() == run(), "{}, {threads} threads", subject.name);
    }
}
