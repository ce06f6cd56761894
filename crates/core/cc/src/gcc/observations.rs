//! Observations of the data that was sent and lost, each over a quarter of a second or longer by
//! default.

use std::collections::VecDeque;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// Weight of an observation as a share of the next newer one's (`TemporalWeightFactor`,
/// `InstantUpperBoundTemporalWeightFactor`).
const AGEING: f64 = 0.9;
/// Multiple of the median sending rate from which on an observation's own rate explains its loss
/// (`MedianSendingRateFactor`).
const FAST: f64 = 2.0;
/// Number of observations above which the average loss leaves out the extremes
/// (`CalculateAverageReportedByteLossRatio`).
const MOST_UNTRIMMED: u64 = 3;

/// Sending rate, size and loss of the packets of one span of time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Observation {
    pub(super) rate: Rate,
    pub(super) size: Bytes,
    pub(super) lost: Bytes,
}

impl Observation {
    pub(super) fn arrived(&self) -> Bytes {
        self.size - self.lost
    }

    fn loss(&self) -> f64 {
        self.lost.get() as f64 / (self.size.get() as f64).max(1.0)
    }
}

/// A window of the newest observations.
#[derive(Debug)]
pub(super) struct Observations {
    /// Complete observations, newest first.
    closed: VecDeque<Observation>,
    most: usize,
    count: u64,
    open: Observation,
    /// When the newest packet was sent.
    newest: Option<Time>,
    /// When the present observation began: when the newest packet of the last one was sent, or the
    /// first packet of all.
    since: Option<Time>,
}

impl Observations {
    pub(super) fn new(most: u32) -> Self {
        Self {
            closed: VecDeque::new(),
            most: most as usize,
            count: 0,
            open: Observation::default(),
            newest: None,
            since: None,
        }
    }

    /// Returns how many observations have been completed.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// Records that a packet arrived.
    pub(super) fn arrived(&mut self, sent: Time, size: Bytes) {
        self.open.size += size;
        self.newest = Some(self.newest.map_or(sent, |newest| newest.max(sent)));
        self.since.get_or_insert(sent);
    }

    /// Records that a packet was lost.
    pub(super) fn lost(&mut self, sent: Time, size: Bytes) {
        self.arrived(sent, size);
        self.open.lost += size;
    }

    /// Records that a packet that counted as lost has arrived.
    pub(super) fn found(&mut self, size: Bytes) {
        self.open.lost -= size;
    }

    /// Ends the observation if it is at least `least` long. Returns the departure of its newest
    /// packet; `None` if the observation goes on.
    pub(super) fn close(&mut self, least: TimeDelta) -> Option<Time> {
        let (newest, since) = (self.newest?, self.since?);
        let duration = newest.since(since);
        if duration < least {
            return None;
        }
        self.since = Some(newest);
        if self.closed.len() == self.most {
            self.closed.pop_back();
        }
        let closed = std::mem::take(&mut self.open);
        self.closed.push_front(Observation {
            rate: Rate::of(closed.size, duration),
            ..closed
        });
        self.count = self.count.saturating_add(1);
        Some(newest)
    }

    /// Returns all complete observations, newest first, each with its weight.
    pub(super) fn weighted(&self) -> impl Iterator<Item = (f64, &Observation)> {
        let weights = std::iter::successors(Some(1.0), |weight| Some(weight * AGEING));
        weights.zip(&self.closed)
    }

    /// Returns the weighted share of bytes lost, without the observations that lost the most and
    /// the least where these can be left out.
    pub(super) fn average_loss(&self) -> f64 {
        let (mut size, mut lost) = (0.0, 0.0);
        let mut worst: Option<(f64, &Observation)> = None;
        let mut mildest: Option<(f64, &Observation)> = None;
        for (weight, observation) in self.weighted() {
            size += weight * observation.size.get() as f64;
            lost += weight * observation.lost.get() as f64;
            let share = observation.loss();
            if share > worst.map_or(0.0, |(_, worst)| worst.loss()) {
                worst = Some((weight, observation));
            }
            if share < mildest.map_or(1.0, |(_, mildest)| mildest.loss()) {
                mildest = Some((weight, observation));
            }
        }
        let ratio = |lost: f64, size: f64| {
            if size > 0.0 {
                (lost / size).clamp(0.0, 1.0)
            } else {
                0.0
            }
        };
        let fastest = worst.map_or(Rate::ZERO, |(_, worst)| worst.rate);
        if self.count <= MOST_UNTRIMMED || self.median_rate().scale(FAST) <= fastest {
            return ratio(lost, size);
        }
        let (mut trimmed_lost, mut trimmed_size) = (lost, size);
        for (weight, observation) in [worst, mildest].into_iter().flatten() {
            trimmed_lost -= weight * observation.lost.get() as f64;
            trimmed_size -= weight * observation.size.get() as f64;
        }
        if trimmed_size < 1.0 {
            return ratio(lost, size);
        }
        ratio(trimmed_lost, trimmed_size)
    }

    fn median_rate(&self) -> Rate {
        let mut rates: Vec<_> = self.closed.iter().map(|closed| closed.rate).collect();
        rates.retain(|&rate| rate > Rate::ZERO);
        rates.sort_unstable();
        rates.get(rates.len() / 2).copied().unwrap_or(Rate::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observe(observations: &mut Observations, losses: &[u64]) {
        for lost in losses {
            let from = observations.newest.unwrap_or(Time::ZERO);
            for i in 1..=10 {
                let sent = from + TimeDelta::from_millis(25) * i;
                if u64::from(i) <= *lost {
                    observations.lost(sent, Bytes::new(1_000));
                } else {
                    observations.arrived(sent, Bytes::new(1_000));
                }
            }
            observations.close(TimeDelta::from_millis(225)).unwrap();
        }
    }

    #[test]
    fn a_spike_of_loss_is_left_out() {
        let mut observations = Observations::new(15);
        observe(&mut observations, &[0, 0, 9]);
        assert!(
            observations.average_loss() > 0.3,
            "three are too few to leave one out"
        );
        observe(&mut observations, &[0, 0]);
        assert!(observations.average_loss().abs() < 1e-9);
        observe(&mut observations, &[1]);
        assert!(observations.average_loss() > 0.0);
    }

    #[test]
    fn the_window_is_bounded_and_newer_counts_for_more() {
        let mut observations = Observations::new(15);
        observe(&mut observations, &[5; 40]);
        assert_eq!(observations.closed.len(), 15);
        assert!((observations.average_loss() - 0.5).abs() < 1e-9);
        observe(&mut observations, &[0; 5]);
        // The observations with weights of 0.9^5 to 0.9^14 lost half; the newest and the sixth
        // observation are left out.
        let sum = |from, to| (libm::pow(0.9, from) - libm::pow(0.9, to)) / 0.1;
        let sixth = libm::pow(0.9, 5.0);
        let expected = 0.5 * (sum(5.0, 15.0) - sixth) / (sum(0.0, 15.0) - 1.0 - sixth);
        assert!((observations.average_loss() - expected).abs() < 1e-9);
    }

    #[test]
    fn what_was_lost_may_be_found() {
        let mut observations = Observations::new(15);
        observations.lost(Time::ZERO, Bytes::new(1_000));
        observations.arrived(Time::from_secs(1), Bytes::new(1_000));
        observations.found(Bytes::new(1_000));
        observations.found(Bytes::new(1_000));
        observations.close(TimeDelta::from_millis(250)).unwrap();
        assert!(observations.average_loss().abs() < 1e-9);
    }
}
