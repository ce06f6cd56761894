//! A long run needs no more memory than a short one, frames' delays aside. This test is a program of
//! its own, since the peak that the system tells is that of a whole process.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_figures::{Window, measure};
use mimosa_scenario::load;

/// Peak memory of this process so far, in megabytes.
fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1e3)
}

#[test]
fn an_hour_of_one_stream_fits_into_a_hundred_megabytes() {
    let text = "duration = \"1h\"\n[link]\nrate = \"60Mbit/s\"\n[[flow]]\n";
    let scenario = load(text, "hour", &mut ()).unwrap().variants.remove(0).1;
    let figures = measure(&scenario, Window::WHOLE, &mut (), |observer| {
        mimosa_sim::run(&scenario, 1, observer);
    });
    assert!(figures.balance.is_even() && figures.balance.offered > 15_000_000);
    // Other systems do not tell; there the run alone is the test.
    if let Some(peak) = peak_megabytes() {
        assert!(peak < 100.0, "{peak} MB");
    }
}
