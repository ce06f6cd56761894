//! The counts of a run.

use std::collections::BTreeMap;

use mimosa_units::TimeDelta;

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
    /// For each kind of fault, how often it was observed to act.
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
        self.keyframes_wanted += other.keyframes_wanted;
        self.sound += other.sound;
        self.actions += other.actions;
        self.datagrams += other.datagrams;
        self.arrived += other.arrived;
        self.bytes += other.bytes;
        for (kind, count) in &other.faults {
            *self.faults.entry(kind).or_default() += count;
        }
    }

    /// Counts that a fault of this kind was observed to act.
    pub(crate) fn witness(&mut self, kind: &'static str) {
        *self.faults.entry(kind).or_default() += 1;
    }
}
