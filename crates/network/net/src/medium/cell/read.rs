//! Reads a cell in a file: `[link.medium]` with `kind = "cell"`.

use mimosa_units::{Rate, TimeDelta};

use super::config::{CellConfig, Handovers, Others, Rates, Slot};
use crate::keys::{KeyProblem, Keys, Read};
use crate::medium::mean;

/// Most other stations.
const MOST_OTHERS: usize = 64;
/// Most slots of a pattern.
const MOST_SLOTS: usize = 80;
/// Longest time that is counted in slots.
const LONGEST: TimeDelta = TimeDelta::from_millis(1_000);

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
            slot: time(keys, "slot", default.slot, TimeDelta::from_micros(100))?,
            pattern: keys
                .parsed("pattern", pattern, must)?
                .unwrap_or(default.pattern),
            latency: time(keys, "latency", default.latency, TimeDelta::ZERO)?,
            again_after: time(
                keys,
                "again_after",
                default.again_after,
                TimeDelta::from_micros(100),
            )?,
            failed: most_of(keys, "failed", default.failed)?,
            failed_again: most_of(keys, "failed_again", default.failed_again)?,
            down: Rates::read(keys, ["rates", "hold"], default.down)?,
            up: Rates::read(keys, ["rates_back", "hold_back"], default.up)?,
            request: time(keys, "request", default.request, TimeDelta::ZERO)?,
            grant: time(keys, "grant", default.grant, TimeDelta::ZERO)?,
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

/// Reads a time of at least `least` and at most a second.
fn time(
    keys: &mut Keys<'_>,
    key: &'static str,
    otherwise: TimeDelta,
    least: TimeDelta,
) -> Read<TimeDelta> {
    let valid = |time: &TimeDelta| (least..=LONGEST).contains(time);
    let must = if least > TimeDelta::ZERO {
        "from 100us to 1s"
    } else {
        "from 0s to 1s"
    };
    Ok(keys.valid(key, valid, must)?.unwrap_or(otherwise))
}

/// Reads a share of blocks that fail. Something must come through.
fn most_of(keys: &mut Keys<'_>, key: &'static str, otherwise: f64) -> Read<f64> {
    let valid = |share: &f64| (0.0..=0.9).contains(share);
    let given = keys.valid(key, valid, "a share from 0 to 0.9")?;
    Ok(given.unwrap_or(otherwise))
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
        let (on, off) = (mean(&mut keys, "on")?, mean(&mut keys, "off")?);
        let mend = "others that pause have `on = \"200ms\"` and `off = \"300ms\"`";
        let missing = |key| keys.error(KeyProblem::Missing { key, mend });
        let periods = match (on, off) {
            (None, None) => None,
            (Some(on), Some(off)) => Some((on, off)),
            (None, Some(_)) => return Err(missing("on")),
            (Some(_), None) => return Err(missing("off")),
        };
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
