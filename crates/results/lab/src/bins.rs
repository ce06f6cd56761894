//! Counts the packets and frames of a run.

use mimosa_facts::{Fate, FrameLife, Observer, Passage, StreamPacket};
use mimosa_figures::Window;
use mimosa_scenario::{FlowConfig, FlowKind, Scenario};
use mimosa_units::{Ecn, Time, TimeDelta};

use crate::measure::Parts;

/// Length of a bin: the typical measurement interval of RFC 8867, section 3.
pub(crate) const BIN: TimeDelta = TimeDelta::from_millis(200);
/// Number of bins in a second.
pub(crate) const PER_SECOND: usize = 5;

/// Age from which a frame on its way is late, however it ends.
const YOUNG: TimeDelta = TimeDelta::from_millis(200);

/// Number of bytes in each [`BIN`] of a run.
#[derive(Clone, Debug)]
pub(crate) struct Bins(Vec<u64>);

impl Bins {
    pub(crate) fn new(duration: TimeDelta) -> Self {
        let whole = duration.as_nanos() / BIN.as_nanos();
        Self(vec![0; usize::try_from(whole).unwrap_or(0)])
    }

    /// Index of the bin that contains `at`.
    pub(crate) fn index(at: Time) -> usize {
        usize::try_from(at.as_nanos() / BIN.as_nanos().unsigned_abs()).unwrap_or(usize::MAX)
    }

    pub(crate) fn add(&mut self, at: Time, bytes: u64) {
        if let Some(bin) = self.0.get_mut(Self::index(at)) {
            *bin += bytes;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Rates of the bins that lie within a time span, in Mbit/s.
    pub(crate) fn mbps(&self, from: Time, to: Time) -> Vec<f64> {
        let from = Self::index(from + (BIN - TimeDelta::from_nanos(1))).min(self.0.len());
        let to = Self::index(to).clamp(from, self.0.len());
        let mbps = |bytes: &u64| *bytes as f64 * 8.0 / BIN.as_secs() / 1e6;
        self.0[from..to].iter().map(mbps).collect()
    }

    /// Rates of the whole seconds from the beginning, in kbit/s.
    pub(crate) fn seconds_kbps(&self) -> Vec<u64> {
        let seconds = self.0.chunks(PER_SECOND);
        seconds
            .map(|second| second.iter().sum::<u64>() * 8 / 1000)
            .collect()
    }

    /// Bytes of the second that begins with this bin; `None` beyond the end.
    pub(crate) fn second(&self, first: usize) -> Option<u64> {
        Some(
            self.0
                .get(first..first.checked_add(PER_SECOND)?)?
                .iter()
                .sum(),
        )
    }
}

/// The counts of one flow, or of all TCP flows.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) sent: Bins,
    pub(crate) arrived: Bins,
    /// Times from departure to arrival of packets sent within the window.
    pub(crate) delays: Vec<TimeDelta>,
    /// Packets sent within the window, and those of them that did not arrive.
    pub(crate) packets: u64,
    pub(crate) lost: u64,
    /// Those packets that were sent as ECT(1).
    pub(crate) l4s: u64,
    /// Times in the queue of those packets that passed it; `None` if they are not measured.
    pub(crate) waits: Option<Vec<TimeDelta>>,
    /// Frames handed over within the window whose delay is known, or known to be long; and those of
    /// them that were late.
    pub(crate) frames: u64,
    pub(crate) late: u64,
}

/// Counts the packets of each video flow, and those of all TCP flows together.
pub(crate) struct Watch {
    window: Window,
    end: Time,
    /// For each flow of the scenario, the delay up to which its frames are in time.
    in_time: Vec<TimeDelta>,
    /// For each flow of the scenario, the index in `seen`; `None` if it is not counted.
    place: Vec<Option<usize>>,
    /// The counts of the video flows, in their order, and then of all TCP flows.
    pub(crate) seen: Vec<Seen>,
}

impl Watch {
    /// A counter of what counts of a run: frames are late that take `parts.late` more than the
    /// round trip.
    pub(crate) fn new(scenario: &Scenario, parts: &Parts) -> Self {
        let is_video = |kind: &str| kind == "video";
        let kinds = scenario.flows.iter().map(FlowConfig::kind_name);
        let videos = kinds.clone().filter(|kind| is_video(kind)).count();
        let mut next = 0..videos;
        let place = kinds
            .map(|kind| match kind {
                "video" => next.next(),
                "tcp" => Some(videos),
                _ => None,
            })
            .collect();
        let bins = Bins::new(scenario.duration);
        let seen = Seen {
            sent: bins.clone(),
            arrived: bins,
            delays: Vec::new(),
            packets: 0,
            lost: 0,
            l4s: 0,
            waits: parts.waits.then(Vec::new),
            frames: 0,
            late: 0,
        };
        let in_time = |flow: &FlowConfig| match &flow.kind {
            FlowKind::Video(video) => flow.forward.delay + video.reverse.delay + parts.late,
            FlowKind::Cbr(_) | FlowKind::Tcp(_) => TimeDelta::MAX,
        };
        Self {
            window: parts.window,
            end: Time::ZERO + scenario.duration,
            in_time: scenario.flows.iter().map(in_time).collect(),
            place,
            seen: vec![seen; videos + 1],
        }
    }
}

impl Observer for Watch {
    fn frame(&mut self, flow: usize, life: &FrameLife) {
        let place = self.place.get(flow).copied().flatten();
        let seen = place.and_then(|place| self.seen.get_mut(place));
        let Some((seen, in_time)) = seen.zip(self.in_time.get(flow)) else {
            return;
        };
        // A young frame on its way has no known delay yet, as for stalls.
        let age = self.end.since(life.handed_over);
        let is_young = life.end.is_none() && age <= YOUNG.max(*in_time);
        let counts = self.window.from <= life.handed_over && life.handed_over < self.window.to;
        if !counts || is_young {
            return;
        }
        seen.frames += 1;
        seen.late += u64::from(life.delay().is_none_or(|delay| delay > *in_time));
    }

    fn packet(&mut self, record: &Passage<StreamPacket>) {
        let place = self.place.get(record.packet.flow).copied().flatten();
        let Some(seen) = place.and_then(|place| self.seen.get_mut(place)) else {
            return;
        };
        seen.sent.add(record.offered, record.size.get());
        let counts = self.window.from <= record.offered && record.offered < self.window.to;
        seen.packets += u64::from(counts);
        seen.l4s += u64::from(counts && record.sent_ecn == Ecn::Ect1);
        let waits = seen.waits.as_mut().filter(|_| counts);
        if let Some((waits, started)) = waits.zip(record.started) {
            waits.push(started.since(record.offered));
        }
        if let Fate::Arrived(at) = record.fate {
            seen.arrived.add(at, record.size.get());
            if counts {
                seen.delays.push(at.since(record.offered));
            }
        } else {
            seen.lost += u64::from(counts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_counts_only_when_all_of_it_lies_within() {
        let at = Time::from_millis;
        let mut bins = Bins::new(TimeDelta::from_millis(1_000));
        for millis in (0..1_000).step_by(200) {
            bins.add(at(millis), 25_000 * (millis / 200 + 1));
        }
        assert_eq!(bins.mbps(at(0), at(1_000)), [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(bins.mbps(at(1), at(999)), [2.0, 3.0, 4.0]);
        assert_eq!(bins.mbps(at(200), at(600)), [2.0, 3.0]);
        assert_eq!(bins.mbps(at(900), Time::MAX), [0.0; 0]);
        assert_eq!(bins.seconds_kbps(), [3_000]);
        assert_eq!((bins.second(0), bins.second(1)), (Some(375_000), None));
    }
}
