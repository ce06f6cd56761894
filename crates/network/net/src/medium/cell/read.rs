//! Reads a cell in a file: `[link.medium]` with `kind = "cell"`.

use mimosa_units::Rate;

use super::config::{CellConfig, Handovers, Others, Rates, Slot};
use crate::keys::{KeyProblem, Keys, Read};
use crate::medium::read::{failing, latency, length, mean, periods};

/// Most other stations.
const MOST_OTHERS: usize = 64;
/// Most slots of a pattern.
const MOST_SLOTS: usize = 80;

impl CellConfig {
    /// Reads the keys.
    pub(in crate::medium) fn read(keys: &mut Keys<'_>) -> Read<Self> {
        let known = [("lte", Self::lte as fn() -> Self), ("nr", Self::nr)];
        let generation = keys.choice("generation", &known)?;
        let mend = "write `generation = \"lte\"` or \"nr\"";
        let key = "generation";
        let generation = generation.ok_or_else(|| keys.error(KeyProblem::Missing { key, mend }))?;
        let default = generation();
        let must = "a text of up to 80 letters: D and S or F, and U or F, e.g. \"DDDSU\"";
        Ok(Self {
            slot: length(keys, "slot", default.slot)?,
            pattern: keys
                .parsed("pattern", pattern, must)?
                .unwrap_or(default.pattern),
            latency: latency(keys, "latency", default.latency)?,
            again_after: length(keys, "again_after", default.again_after)?,
            failed: failing(keys, "failed", default.failed)?,
            failed_again: failing(keys, "failed_again", default.failed_again)?,
            down: Rates::read(keys, ["rates", "hold"], default.down)?,
            up: Rates::read(keys, ["rates_back", "hold_back"], default.up)?,
            request: latency(keys, "request", default.request)?,
            grant: latency(keys, "grant", default.grant)?,
            others: match keys.table("others")? {
                Some(table) => Others::read(table)?,
                None => default.others,
            },
            handovers: keys.table("handovers")?.map(Handovers::read).transpose()?,
        })
    }
}

fn pattern(text: &str) -> Option<Vec<Slot>> {
    let slots: Option<Vec<_>> = text.chars().map(Slot::of).collect();
    let slots = slots.filter(|slots| slots.len() <= MOST_SLOTS)?;
    let has = |is_down| slots.iter().any(|slot| slot.part(is_down) > 0.0);
    (has(true) && has(false)).then_some(slots)
}

impl Rates {
    fn read(keys: &mut Keys<'_>, [list, hold]: [&'static str; 2], otherwise: Self) -> Read<Self> {
        let valid = |rates: &Vec<Rate>| {
            rates.len() <= 100 && rates.is_sorted() && rates.last() > Some(&Rate::ZERO)
        };
        let must =
            "a list of up to a hundred rates that rise to more than zero, e.g. [\"30Mbit/s\"]";
        let rates = keys.valid(list, valid, must)?.unwrap_or(otherwise.rates);
        Ok(Self {
            rates,
            hold: mean(keys, hold)?.unwrap_or(otherwise.hold),
        })
    }
}

impl Others {
    fn read(mut keys: Keys<'_>) -> Read<Self> {
        let count = keys.number("count", 1, 1..=MOST_OTHERS)?;
        let periods = periods(&mut keys)?;
        keys.finish()?;
        Ok(Self { count, periods })
    }
}

impl Handovers {
    fn read(mut keys: Keys<'_>) -> Read<Self> {
        let (every, length) = (mean(&mut keys, "every")?, mean(&mut keys, "length")?);
        let mend = "write `handovers = { every = \"4s\", length = \"60ms\" }`";
        let missing = |key| keys.error(KeyProblem::Missing { key, mend });
        let every = every.ok_or_else(|| missing("every"))?;
        let length = length.ok_or_else(|| missing("length"))?;
        keys.check("length", length < every, "shorter than `every`")?;
        keys.finish()?;
        Ok(Self { every, length })
    }
}
