//! How much a controller from outside may take: the table `bounds` of its parameters.

use mimosa_units::{Bytes, TimeDelta};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::Problem;

/// Name of the table among a controller's parameters. The controller is told the other parameters.
const KEY: &str = "bounds";

/// Bounds of a process.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct ProcessBounds {
    /// Real time from the start of the process within which it answers the first line: 10 s, in
    /// which an interpreter loads its libraries.
    pub start: TimeDelta,
    /// Real time within which the process answers every other line, and after which it counts as
    /// hung. `None` for 10 s in a simulation, which waits, and 1 s in a host, whose player watches.
    pub answer: Option<TimeDelta>,
    /// Longest time that a host waits for the answer to `frame-due`; the decision then stays as it
    /// is. 5 ms is a third of the time between frames at 60 frames a second, which leaves the
    /// encoder the rest, and a hundred times what an interpreter takes.
    pub wait: TimeDelta,
}

impl Default for ProcessBounds {
    fn default() -> Self {
        Self {
            start: TimeDelta::from_millis(10_000),
            answer: None,
            wait: TimeDelta::from_millis(5),
        }
    }
}

/// Bounds of a WebAssembly module or component.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct WasmBounds {
    /// Fuel for each line: about one for each instruction, and more for calls and for copies. 20
    /// million are enough to read the longest line, about 1 MB, with 20 instructions a byte.
    pub fuel: u64,
    /// Most bytes that the module's memory and tables may take.
    pub memory: Bytes,
}

impl Default for WasmBounds {
    fn default() -> Self {
        Self {
            fuel: 20_000_000,
            memory: Bytes::new(16 << 20),
        }
    }
}

/// What bounds are checked for.
pub(crate) trait Bounds: Default + DeserializeOwned {
    /// Checks that the values have a meaning.
    fn check(&self) -> Result<(), &'static str>;
}

impl Bounds for ProcessBounds {
    fn check(&self) -> Result<(), &'static str> {
        let longest = TimeDelta::from_millis(3_600_000);
        let is_span = |span: TimeDelta| span > TimeDelta::ZERO && span <= longest;
        if !is_span(self.start) || !self.answer.is_none_or(is_span) {
            return Err("`bounds.start` and `bounds.answer` must be above zero and at most 1 h");
        }
        let most = TimeDelta::from_millis(100);
        if self.wait < TimeDelta::ZERO || self.wait > most {
            return Err("`bounds.wait` must be from 0s to 100ms");
        }
        Ok(())
    }
}

impl Bounds for WasmBounds {
    fn check(&self) -> Result<(), &'static str> {
        if !(1..=10_000_000_000).contains(&self.fuel) {
            return Err("`bounds.fuel` must be from 1 to 10000000000");
        }
        if !(1 << 16..=1 << 30).contains(&self.memory.get()) {
            return Err("`bounds.memory` must be from 64KiB to 1024MiB");
        }
        Ok(())
    }
}

/// The bounds among `params`, and the parameters without them.
pub(crate) fn split<B: Bounds>(params: &toml::Table) -> Result<(B, toml::Table), Problem> {
    let mut rest = params.clone();
    let bounds = match rest.remove(KEY) {
        None => B::default(),
        Some(value) => value.try_into().map_err(|error: toml::de::Error| {
            Problem::Bounds(error.message().trim().replace('\n', " "))
        })?,
    };
    bounds
        .check()
        .map_err(|why| Problem::Bounds(why.to_owned()))?;
    Ok((bounds, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<B: Bounds>(text: &str) -> Result<(B, toml::Table), String> {
        split(&toml::from_str(text).unwrap()).map_err(|problem| problem.to_string())
    }

    #[test]
    fn bounds_are_taken_out_of_the_parameters() {
        let (bounds, rest) = of::<ProcessBounds>("gain = 2\nbounds.wait = '2ms'").unwrap();
        assert_eq!(bounds.wait, TimeDelta::from_millis(2));
        assert_eq!(bounds.start, ProcessBounds::default().start);
        assert_eq!(rest, toml::from_str("gain = 2").unwrap());
        let (bounds, _) = of::<WasmBounds>("bounds = { fuel = 5, memory = '1MiB' }").unwrap();
        assert_eq!((bounds.fuel, bounds.memory), (5, Bytes::new(1 << 20)));
    }

    #[test]
    fn bounds_without_meaning_are_refused() {
        for text in [
            "bounds.wait = '1s'",
            "bounds.start = '0s'",
            "bounds.answer = '2h'",
            "bounds.fuel = 5",
            "bounds = 7",
        ] {
            let said = of::<ProcessBounds>(text).unwrap_err();
            assert!(said.contains("bounds") || said.contains("`wait`"), "{said}");
        }
        for text in [
            "bounds.fuel = 0",
            "bounds.memory = '1kB'",
            "bounds.fuel = -1",
        ] {
            assert!(of::<WasmBounds>(text).is_err(), "{text}");
        }
    }
}
