//! Quantities from arbitrary text: nothing panics, and what is read is written
//! and read back as the same value.
#![no_main]

use std::fmt::Display;
use std::str::FromStr;

use libfuzzer_sys::fuzz_target;
use mimosa_units::{Bytes, Rate, TimeDelta};

/// From here on the floats through which a number with a fraction is written
/// and read may be off by one: two petabits a second, two petabytes.
const INEXACT_FROM: u64 = 1 << 51;

fuzz_target!(|text: &str| {
    check(text, Rate::as_bps);
    check(text, Bytes::get);
    check(text, |span: TimeDelta| span.as_nanos().unsigned_abs());
});

/// `count` gives a quantity in its base unit.
fn check<T>(text: &str, count: impl Fn(T) -> u64)
where
    T: FromStr<Err: Display> + Display,
{
    match text.parse::<T>() {
        Ok(value) => {
            let written = value.to_string();
            let value = count(value);
            let again = match written.parse::<T>() {
                Ok(again) => count(again),
                Err(error) => panic!("{text:?} is written as {written:?}: {error}"),
            };
            let tolerance = u64::from(value >= INEXACT_FROM);
            assert!(
                again.abs_diff(value) <= tolerance,
                "{text:?} is {value}, but {written:?} is {again}"
            );
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
