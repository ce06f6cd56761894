//! A month's data: what is left of it, and what bitrate that bounds.
//!
//! # Source
//!
//! None: the rule is our choice. What is left is shared among the time that a person will probably play
//! until the month's end, as in the last four weeks. A person who plays more than that finds the limit
//! sinking steadily, and never a wall in the middle of a game; the last of the data is not used up but for
//! the least bitrate at which there is a picture. The page follows the same rule
//! (`web/src/data/budget.ts`), and both are tested by `web/src/data/budget.cases.json`.

use std::collections::BTreeMap;

use mimosa_units::{Bytes, Rate, TimeDelta};
use time::{Date, Month};

/// What a stream takes at the most that saves data: 2.25 GB an hour. Our choice: good for 720p.
pub(crate) const SAVING: Rate = Rate::from_kbps(5_000);
/// The least limit, whatever is left of a month. Our choice: below it there is no picture to play with.
pub(crate) const LEAST_LIMIT: Rate = Rate::from_kbps(1_000);
/// Days from which a person's habit is learnt.
const LEARNT_FROM: i32 = 28;
/// What is assumed of a person of whom nothing is known, an hour and a half a day, and how many days
/// that is worth.
const ASSUMED: (TimeDelta, u32) = (TimeDelta::from_millis(5_400_000), 7);
/// The time before the month's end is taken to be no shorter, so that the last day's share is bounded.
const LEAST_LEFT: TimeDelta = TimeDelta::from_millis(3_600_000);

/// A day of the calendar, as the number of days since 1 January 1970.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Day(pub(crate) i32);

/// The latest day that is told from others, in the year 4707.
const LATEST: i32 = 1_000_000;
/// Julian day of 1 January 1970.
const EPOCH: i32 = 2_440_588;

/// What a person may use in a month.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Plan {
    /// All that may be used.
    pub monthly: Bytes,
    /// The day of the month on which it begins anew; from 1 to 28, and others are taken as the nearest of
    /// these.
    pub first_day: u8,
}

/// What was used on a day.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Used {
    /// What came, with headers.
    pub(crate) bytes: Bytes,
    /// How long something was played.
    pub(crate) played: TimeDelta,
}

/// The state of a month's data.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Budget {
    /// What was used in the running month.
    pub(crate) used: Bytes,
    /// Days until the data is renewed, today included.
    pub(crate) days: i32,
    /// The most that a stream may take.
    pub(crate) limit: Rate,
}

impl Plan {
    /// The state of this plan's month on the day `today`, after what was used on each day so far.
    #[must_use]
    pub(crate) fn budget(&self, days: &BTreeMap<Day, Used>, today: Day) -> Budget {
        // Days beyond a calendar's are those of a clock that was never set.
        let today = Day(today.0.clamp(0, LATEST));
        let (first, next) = self.month_around(today);
        let used: Bytes = days.range(first..=today).map(|(_, used)| used.bytes).sum();
        let mut oldest = today;
        let mut learnt = TimeDelta::ZERO;
        for (day, used) in days.range(Day(today.0 - LEARNT_FROM + 1)..today) {
            learnt += used.played;
            oldest = oldest.min(*day);
        }
        let (assumed, worth) = ASSUMED;
        let known = today.0.abs_diff(oldest.0) + worth;
        let a_day = (learnt + assumed * worth) / known;
        let time = (a_day * next.0.abs_diff(today.0)).max(LEAST_LEFT);
        let left = Bytes::new(self.monthly.get().saturating_sub(used.get()));
        Budget {
            used,
            days: next.0 - today.0,
            limit: Rate::of(left, time).max(LEAST_LIMIT),
        }
    }

    /// The first day of the month in which `today` is, and that of the next one.
    fn month_around(&self, today: Day) -> (Day, Day) {
        let first_day = self.first_day.clamp(1, 28);
        let date = Date::from_julian_day(today.0 + EPOCH).unwrap_or(Date::MIN);
        let start = |year: i32, month: Month| {
            let date = Date::from_calendar_date(year, month, first_day).unwrap_or(Date::MAX);
            Day(date.to_julian_day() - EPOCH)
        };
        let (year, month, day) = date.to_calendar_date();
        let before = |year: i32, month: Month| match month {
            Month::January => (year - 1, Month::December),
            other => (year, other.previous()),
        };
        let after = |year: i32, month: Month| match month {
            Month::December => (year + 1, Month::January),
            other => (year, other.next()),
        };
        let (year, month) = if day < first_day {
            before(year, month)
        } else {
            (year, month)
        };
        let (next_year, next_month) = after(year, month);
        (start(year, month), start(next_year, next_month))
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// A case of the file that page and client share.
    #[derive(Deserialize)]
    struct Case {
        name: String,
        monthly: u64,
        first_day: u8,
        today: i32,
        /// Day, bytes, seconds.
        days: Vec<(i32, u64, i64)>,
        used: u64,
        days_left: i32,
        limit: u64,
    }

    #[test]
    fn the_rule_is_the_page_s() {
        let text = include_str!("../../../../web/src/data/budget.cases.json");
        let cases: Vec<Case> = serde_json::from_str(text).unwrap();
        assert!(cases.len() >= 9);
        for case in cases {
            let plan = Plan {
                monthly: Bytes::new(case.monthly),
                first_day: case.first_day,
            };
            let days = case.days.iter().map(|&(day, bytes, seconds)| {
                let played = TimeDelta::from_millis(seconds * 1_000);
                let bytes = Bytes::new(bytes);
                (Day(day), Used { bytes, played })
            });
            let found = plan.budget(&days.collect(), Day(case.today));
            let name = case.name;
            assert_eq!(found.used, Bytes::new(case.used), "{name}");
            assert_eq!(found.days, case.days_left, "{name}");
            let limit = found.limit.as_bps();
            assert!(limit.abs_diff(case.limit) <= 1, "{name}: {limit}");
        }
    }

    #[test]
    fn no_day_and_no_plan_is_too_strange() {
        for today in [i32::MIN, -800_000, 0, 20_000, i32::MAX] {
            for first_day in [0, 1, 28, 31, 255] {
                let monthly = Bytes::new(u64::MAX);
                let plan = Plan { monthly, first_day };
                let budget = plan.budget(&BTreeMap::new(), Day(today));
                assert!(budget.limit >= LEAST_LIMIT, "{today} {first_day}");
            }
        }
    }
}
