//! The counts of a run.

use std::collections::BTreeMap;

use mimosa_units::{Rate, Time, TimeDelta};

use crate::codecs::digest;

/// Counts of one run, or of several.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Summary {
    /// Number of runs.
    pub runs: u64,
    /// Virtual time that passed.
    pub time: TimeDelta,
    /// Sessions begun.
    pub sessions: u64,
    /// Frames coded.
    pub coded: u64,
    /// Keyframes among the coded frames.
    pub keyframes: u64,
    /// Frames displayed.
    pub shown: u64,
    /// Longest time from the arrival of a frame to its display.
    pub slowest: TimeDelta,
    /// Requests for a keyframe that reached a host.
    pub keyframes_wanted: u64,
    /// Packets of sound sent.
    pub sound: u64,
    /// Players' actions that reached the source.
    pub actions: u64,
    /// Datagrams sent, in both directions.
    pub datagrams: u64,
    /// Datagrams that arrived, in both directions.
    pub arrived: u64,
    /// Bytes of coded frames.
    pub bytes: u64,
    /// A digest of when which frame was coded, with which length, and when which one was shown:
    /// two runs with one value took one course.
    pub course: u64,
    /// The rates that tests of lines found.
    pub lines: Vec<Rate>,
    /// How often statistics named each trouble of a stream.
    pub troubles: BTreeMap<String, u64>,
    /// How often a fault of each kind was seen to act.
    pub faults: BTreeMap<&'static str, u64>,
}

impl Summary {
    /// Adds the counts of another summary.
    pub fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.time += other.time;
        self.sessions += other.sessions;
        self.coded += other.coded;
        self.keyframes += other.keyframes;
        self.shown += other.shown;
        self.slowest = self.slowest.max(other.slowest);
        self.keyframes_wanted += other.keyframes_wanted;
        self.sound += other.sound;
        self.actions += other.actions;
        self.datagrams += other.datagrams;
        self.arrived += other.arrived;
        self.bytes += other.bytes;
        self.lines.extend(&other.lines);
        self.course = digest(self.course, &other.course.to_le_bytes());
        for (trouble, count) in &other.troubles {
            *self.troubles.entry(trouble.clone()).or_default() += count;
        }
        for (kind, count) in &other.faults {
            *self.faults.entry(kind).or_default() += count;
        }
    }

    /// Something with these numbers happened, as part of the run's course.
    pub(crate) fn happened(&mut self, now: Time, numbers: [u64; 2]) {
        let at = now.since(Time::ZERO).as_nanos();
        self.course = digest(self.course, &at.to_le_bytes());
        for number in numbers {
            self.course = digest(self.course, &number.to_le_bytes());
        }
    }

    /// A fault of this kind has acted.
    pub(crate) fn witness(&mut self, kind: &'static str) {
        *self.faults.entry(kind).or_default() += 1;
    }
}
