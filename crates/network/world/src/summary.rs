//! What a run showed.

use std::collections::BTreeMap;

use mimosa_units::TimeDelta;

/// Counts of one run, or of several.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Summary {
    /// Runs.
    pub runs: u64,
    /// Virtual time that passed.
    pub time: TimeDelta,
    /// Sessions that began.
    pub sessions: u64,
    /// Frames coded.
    pub coded: u64,
    /// Keyframes among them.
    pub keyframes: u64,
    /// Frames shown.
    pub shown: u64,
    /// Wishes for a keyframe that reached a host.
    pub keyframes_wanted: u64,
    /// Packets of sound that left.
    pub sound: u64,
    /// Actions of players that reached the source.
    pub actions: u64,
    /// Datagrams sent, in both directions.
    pub datagrams: u64,
    /// Datagrams that arrived.
    pub arrived: u64,
    /// Bytes of coded frames.
    pub bytes: u64,
    /// How often a fault of each kind was seen to act.
    pub faults: BTreeMap<&'static str, u64>,
}

impl Summary {
    /// Adds another run.
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

    /// A fault of this kind has acted.
    pub(crate) fn witness(&mut self, kind: &'static str) {
        *self.faults.entry(kind).or_default() += 1;
    }
}
