//! Checks that our HTB gives classes what the kernel's gives them, under the same offered load.
//!
//! The test needs root. Without it, it says so and does nothing, unless `CI` is set.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod comparison;

use comparison::case::all;
use comparison::compare;
use comparison::table::{Both, CLASSES, Compared, WHOLE};
use mimosa_units::TimeDelta;

/// Largest relative difference of a class's rate from the kernel's.
const NEAR: f64 = 0.05;
/// Further difference of a median delay from the kernel's, in milliseconds. A full queue's delay
/// differs as its rate does, and an empty queue's by the time in which threads and timers wake up
/// on a busy machine.
const WAKING: f64 = 1.0;

/// The figures that are too far from the kernel's, one in each line.
fn differences(compared: &Compared) -> Vec<String> {
    let mut found = Vec::new();
    for phase in 0..compared.case.phases().len() {
        for leaf in &compared.case.leaves {
            let mut check = |what, both: Both, besides| {
                let is_near = match both {
                    [Some(kernel), Some(ours)] => (ours - kernel).abs() <= NEAR * kernel + besides,
                    both => both == [None; 2],
                };
                if !is_near {
                    let (case, class) = (compared.case.name, leaf.class);
                    found.push(format!("{case}, phase {phase}, {class}, {what}: {both:?}"));
                }
            };
            let rates = compared.steady(leaf.class, phase, |steady| steady.mbps);
            check("Mbit/s", rates, 0.0);
            let delays = compared.steady(leaf.class, phase, |steady| steady.p50);
            check("median delay in ms", delays, WAKING);
        }
    }
    found
}

#[test]
fn classes_get_what_the_kernel_gives_them() {
    let (mut classes, mut whole) = (vec![CLASSES.to_owned()], vec![WHOLE.to_owned()]);
    let mut found = Vec::new();
    for case in all(TimeDelta::from_millis(1_000)) {
        let Some(compared) = compare(&case, 1) else {
            return;
        };
        classes.extend(compared.classes());
        whole.push(compared.whole());
        found.extend(differences(&compared));
    }
    println!("{}\n\n{}", classes.join("\n"), whole.join("\n"));
    assert!(found.is_empty(), "the kernel's and ours: {found:#?}");
}
