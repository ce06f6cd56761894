//! A long run needs no more memory than a short one, frames' delays aside.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_scenario::load;
use mimosa_sim::{Window, run};

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
    let outcome = run(&scenario, 1, Window::WHOLE, &mut ());
    assert!(outcome.balance.is_even() && outcome.balance.offered > 15_000_000);
    // Other systems do not tell; there the run alone is the test.
    if let Some(peak) = peak_megabytes() {
        assert!(peak < 100.0, "{peak} MB");
    }
}
