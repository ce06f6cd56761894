//! Keeps a session's data within what its user wants: a limit that saves data, and a month's budget.
//!
//! With a budget, what is used on each day is kept in a file of the user's state folder, `data.json`, as
//! `{"DAY": [BYTES, SECONDS]}`, where DAY counts from 1 January 1970 in UTC. A thread of its own writes the
//! file, so that a slow disk delays nothing.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};

use mimosa_session::viewer::Packets;
use mimosa_system::clock::{Clock, date};
use mimosa_system::{Mailbox, state};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::network::ToHost;
use crate::budget::{Day, Plan, SAVING, Used};

/// Name of the file.
const FILE: &str = "data.json";
/// Time between changes of the file, and of the limit. Our choice: at 20 Mbit/s, 150 MB.
const EVERY: TimeDelta = TimeDelta::from_millis(60_000);
/// Days that are kept: the running month, and those from which a habit is learnt.
const KEPT: i32 = 62;
/// Headers of IPv4 and UDP, which are not in a datagram's contents.
const HEADERS: u64 = 28;

/// How much data sessions may use.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DataPlan {
    /// Whether a session takes less than the line carries.
    pub saves: bool,
    /// What may be used in a month; `None` for as much as comes.
    pub month: Option<Plan>,
}

/// What a session has received so far, and when that was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Count {
    at: Time,
    bytes: Bytes,
}

impl Count {
    pub(super) fn new(at: Time, packets: &Packets) -> Self {
        let bytes = Bytes::new(packets.bytes + HEADERS * packets.datagrams);
        Self { at, bytes }
    }
}

/// The thread that counts a session's data. Dropping it waits until the last count is kept, which comes when
/// the network's thread has ended.
#[derive(Debug)]
pub(super) struct DataThread(Option<JoinHandle<()>>);

impl DataThread {
    /// Limits a session whose network's thread has `mailbox`, and counts what `counts` says until that
    /// ends.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub(super) fn start(
        plan: DataPlan,
        clock: Clock,
        mailbox: Mailbox<ToHost>,
        counts: mpsc::Receiver<Count>,
    ) -> io::Result<Self> {
        let start = clock.now();
        let run = move || {
            let mut keeper = Keeper {
                plan,
                kept: Count {
                    at: start,
                    bytes: Bytes::ZERO,
                },
                told: None,
            };
            let mut last = keeper.kept;
            let mut next = start;
            for count in counts {
                last = count;
                if count.at >= next {
                    next = count.at + EVERY;
                    keeper.keep(count, &mailbox);
                }
            }
            keeper.keep(last, &mailbox);
        };
        let thread = Builder::new().name("data".to_owned()).spawn(run)?;
        Ok(Self(Some(thread)))
    }
}

impl Drop for DataThread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // A panic of the thread was printed there.
            let _ = thread.join();
        }
    }
}

struct Keeper {
    plan: DataPlan,
    /// What is in the file.
    kept: Count,
    /// The limit that the host was told.
    told: Option<Rate>,
}

impl Keeper {
    /// Keeps what has come since the last call, and tells the host what may come.
    fn keep(&mut self, count: Count, mailbox: &Mailbox<ToHost>) {
        let used = Used {
            bytes: Bytes::new(count.bytes.get().saturating_sub(self.kept.bytes.get())),
            played: count.at - self.kept.at,
        };
        self.kept = count;
        let month = self.plan.month.and_then(|plan| {
            let path = state::path(FILE)?;
            let today = today(date());
            match add(&path, today, used) {
                Ok(days) => Some(plan.budget(&days, today).limit),
                Err(error) => {
                    tracing::warn!(%error, path = %path.display(), "what is used is not kept");
                    None
                }
            }
        });
        let saving = self.plan.saves.then_some(SAVING);
        let limit = saving.into_iter().chain(month).min();
        if limit != self.told {
            self.told = limit;
            tracing::info!(?limit, "the session's limit");
            mailbox.send(ToHost::Limit(limit));
        }
    }
}

/// The day on which the system's clock is, in UTC.
fn today(now: SystemTime) -> Day {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    Day(i32::try_from(since.as_secs() / 86_400).unwrap_or(i32::MAX))
}

/// Adds what was used to a day in the file, and returns all days.
fn add(path: &Path, today: Day, used: Used) -> io::Result<BTreeMap<Day, Used>> {
    let mut all = BTreeMap::new();
    state::change(path, |text| {
        let mut days = parse(text)?;
        let day = days.entry(today).or_default();
        day.bytes += used.bytes;
        day.played += used.played;
        let oldest = Day(today.0.saturating_sub(KEPT));
        days.retain(|day, _| *day > oldest && *day <= today);
        let written: BTreeMap<i32, (u64, f64)> = days
            .iter()
            .map(|(day, used)| (day.0, (used.bytes.get(), used.played.as_secs())))
            .collect();
        all = days;
        Ok::<_, io::Error>(serde_json::to_string(&written)? + "\n")
    })?;
    Ok(all)
}

fn parse(text: &str) -> io::Result<BTreeMap<Day, Used>> {
    if text.is_empty() {
        return Ok(BTreeMap::new());
    }
    let days: BTreeMap<i32, (u64, f64)> = serde_json::from_str(text)?;
    let used = |(day, (bytes, seconds))| {
        let played = TimeDelta::from_secs(seconds).max(TimeDelta::ZERO);
        let bytes = Bytes::new(bytes);
        (Day(day), Used { bytes, played })
    };
    Ok(days.into_iter().map(used).collect())
}

#[cfg(test)]
mod tests {
    use mimosa_system::process::Folder;

    use super::*;

    #[test]
    fn what_is_used_adds_up_and_old_days_go() {
        let around = Folder::create("mimosa-data").unwrap();
        let path = around.path().join("data.json");
        let used = |bytes: u64, seconds: f64| Used {
            bytes: Bytes::new(bytes),
            played: TimeDelta::from_secs(seconds),
        };
        add(&path, Day(100), used(5, 1.5)).unwrap();
        add(&path, Day(161), used(10, 60.0)).unwrap();
        let days = add(&path, Day(161), used(1, 0.5)).unwrap();
        let expected = [(Day(100), used(5, 1.5)), (Day(161), used(11, 60.5))];
        assert_eq!(days, BTreeMap::from(expected));
        let days = add(&path, Day(162), used(2, 1.0)).unwrap();
        assert_eq!(
            days.keys().copied().collect::<Vec<_>>(),
            [Day(161), Day(162)]
        );
        assert_eq!(parse(&state::read(&path).unwrap()).unwrap(), days);
    }

    #[test]
    fn a_file_that_is_not_understood_is_left_as_it_is() {
        let around = Folder::create("mimosa-data").unwrap();
        let path = around.path().join("data.json");
        std::fs::write(&path, "{\"7\": 1}").unwrap();
        assert!(add(&path, Day(7), Used::default()).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"7\": 1}");
    }

    #[test]
    fn days_are_those_of_utc() {
        let at = |seconds| UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        assert_eq!(today(at(86_399)), Day(0));
        assert_eq!(today(at(86_400)), Day(1));
    }
}
