//! Reads a cable in a file: `[link.medium]` with `kind = "docsis"`.

use mimosa_units::Rate;

use super::config::{DocsisConfig, OtherModems};
use crate::keys::{Keys, Read};
use crate::medium::read::{failing, latency, length, periods, rate};

/// The most intervals that a request waits for its grant.
const LONGEST_ANSWER: u32 = 100;

impl DocsisConfig {
    /// Reads the keys.
    pub(in crate::medium) fn read(keys: &mut Keys<'_>) -> Read<Self> {
        let default = Self::default();
        let read = Self {
            rate: rate(keys, "rate")?.unwrap_or(default.rate),
            rate_back: rate(keys, "rate_back")?.unwrap_or(default.rate_back),
            latency: latency(keys, "latency", default.latency)?,
            interval: length(keys, "interval", default.interval)?,
            answer: keys.number("answer", default.answer, 1..=LONGEST_ANSWER)?,
            collisions: failing(keys, "collisions", default.collisions)?,
            others: match keys.table("others")? {
                Some(table) => OtherModems::read(table)?,
                None => default.others,
            },
            proactive: rate(keys, "proactive")?,
        };
        let least = |rate: Rate| rate.amount_in(read.interval).get() > 0;
        let must = "a byte or more in each interval";
        keys.check("rate_back", least(read.capacity_back()), must)?;
        let fits = read.proactive.is_none_or(|rate| rate <= read.rate_back);
        keys.check("proactive", fits, "at most `rate_back`")?;
        Ok(read)
    }

    /// The rate back that is left beside the others.
    fn capacity_back(&self) -> Rate {
        self.rate_back.scale(1.0 - self.others.share)
    }
}

impl OtherModems {
    fn read(mut keys: Keys<'_>) -> Read<Self> {
        let share = keys.required("share", "write `others = { share = 0.5 }`")?;
        let valid = share > 0.0 && share <= 0.9;
        keys.check("share", valid, "a share above 0, up to 0.9")?;
        let periods = periods(&mut keys)?;
        keys.finish()?;
        Ok(Self { share, periods })
    }
}
