//! The trait of congestion control algorithms, the samples that they take, and their names.

use std::fmt::Debug;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::window::bbr1::Bbr1;
use crate::window::bbr2;
use crate::window::bbr3::{self, Bbr3};
use crate::window::burst::{LEAST_SEGMENTS, burst_segments};
use crate::window::delivery::DeliverySample;
use crate::window::{cubic::Cubic, dctcp::Dctcp, prague::Prague, reno::Reno};

/// One acknowledgement, as the sender understands it.
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// Bytes newly delivered, by the cumulative acknowledgement or by SACK.
    pub acked: Bytes,
    /// Bytes newly judged lost.
    pub lost: Bytes,
    /// All bytes delivered on this connection, `acked` included.
    pub delivered: Bytes,
    /// Bytes of payload newly reported as marked by ECN.
    pub marked: Bytes,
    /// Round trip of the newest segment delivered that was sent only once; `None` without one.
    pub rtt: Option<TimeDelta>,
    /// Smoothed round trip; `None` before the first sample.
    pub smoothed_rtt: Option<TimeDelta>,
    /// Bytes in flight before this acknowledgement.
    pub prior_in_flight: Bytes,
    /// Bytes in flight after this acknowledgement.
    pub in_flight: Bytes,
    /// Sample of the delivery rate; `None` if nothing was delivered.
    pub delivery: Option<DeliverySample>,
    /// Whether the window, not the application, limited what was sent.
    pub is_window_limited: bool,
    /// Whether the sender is still reducing its window, which must not grow meanwhile.
    pub is_reducing: bool,
    /// Time until the pacer lets the next burst leave.
    pub pacing_wait: TimeDelta,
}

/// One segment judged lost.
#[derive(Clone, Copy, Debug)]
pub struct LostSegment {
    /// Payload of the segment.
    pub length: Bytes,
    /// Bytes in flight when the segment had left, itself included.
    pub sent_in_flight: Bytes,
    /// Bytes lost since the segment left, itself included.
    pub lost_since: Bytes,
    /// All bytes delivered on this connection.
    pub delivered: Bytes,
    /// Whether the application, not the path, limited the flight when the segment left.
    pub is_app_limited: bool,
}

/// A congestion control algorithm: a pure state machine.
///
/// The same calls give the same decisions. `now` never decreases.
pub trait Congestion: Debug + Send {
    /// Called when a segment leaves. `in_flight` is the number of bytes in flight before it;
    /// `is_app_limited` says that it counts as limited by the application.
    fn on_sent(&mut self, _now: Time, _in_flight: Bytes, _is_app_limited: bool) {}

    /// Called for each acknowledgement.
    fn on_ack(&mut self, now: Time, sample: &AckSample);

    /// Called for each lost segment. Most algorithms need only [`on_loss`](Self::on_loss).
    fn on_segment_lost(&mut self, _now: Time, _lost: &LostSegment) {}

    /// Called when a recovery begins, at most once per window of data.
    fn on_loss(&mut self, now: Time, in_flight: Bytes);

    /// Called when the retransmission timer has expired. `is_reduced` says that the window was
    /// already reduced for the data in flight, by a loss or an earlier timeout.
    fn on_timeout(&mut self, now: Time, in_flight: Bytes, is_reduced: bool);

    /// Called when the receiver has echoed a mark (RFC 3168), at most once per window of
    /// data. By default a mark has the effect of a loss.
    fn on_ecn(&mut self, now: Time, in_flight: Bytes) {
        self.on_loss(now, in_flight);
    }

    /// Called when everything sent before the loss or the mark has arrived.
    fn on_recovered(&mut self, _now: Time) {}

    /// The congestion window: the bytes that may be in flight.
    fn window(&self) -> Bytes;

    /// The rate at which payload may leave; `None` for as fast as the window allows.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// The number of segments of `mss` that leave at once when they are paced. `allowance` is the
    /// number of bytes by which a burst may be longer because the receiver is near.
    fn burst(&self, mss: Bytes, allowance: Bytes) -> u64 {
        let rate = self.pacing_rate().unwrap_or(Rate::ZERO);
        burst_segments(rate, mss, allowance, LEAST_SEGMENTS)
    }

    /// Whether the algorithm keeps the flight small on purpose. Rates measured from what
    /// leaves meanwhile count as limited by the application.
    fn limits_itself(&self) -> bool {
        false
    }

    /// Whether [`window`](Self::window) applies during recovery, too, without
    /// proportional rate reduction.
    fn governs_recovery(&self) -> bool {
        false
    }

    /// Estimate of the path's bandwidth; `None` before the first estimate, and for
    /// algorithms that report none.
    fn bandwidth(&self) -> Option<Rate> {
        None
    }

    /// The stage that the algorithm is in; `None` while it follows its rule of growth and
    /// reduction alone, and for algorithms that report no stage.
    fn stage(&self) -> Option<Stage> {
        None
    }
}

/// A stage of a congestion control algorithm: what it aims at for a time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    /// Growth until the path is full: slow start, or BBR's startup.
    Startup,
    /// Sending below the path's estimated capacity until a queue is gone.
    Drain,
    /// Sending at the path's estimated capacity.
    Cruise,
    /// Sending above the path's estimated capacity, to learn whether the path carries more.
    Probe,
    /// Little data in flight, to measure the least round trip.
    ProbeRtt,
}

/// How a sender uses explicit congestion notification.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum EcnUse {
    /// No use of ECN.
    #[default]
    Off,
    /// Packets are ECT(0), with one reaction per window (RFC 3168).
    Classic,
    /// Packets are ECT(0), with exact counts of marks (RFC 8257).
    Dctcp,
    /// Packets are ECT(1), with exact counts of marks (RFC 9331).
    L4s,
}

/// The congestion control algorithms.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Algorithm {
    /// [`Reno`].
    Reno,
    /// [`Cubic`], the default of Linux.
    #[default]
    Cubic,
    /// [`Dctcp`].
    Dctcp,
    /// [`Prague`].
    Prague,
    /// [`Bbr1`].
    Bbr1,
    /// [`Bbr3`] with the constants of version 2.
    Bbr2,
    /// [`Bbr3`].
    Bbr3,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: &[Self] = &[
        Self::Reno,
        Self::Cubic,
        Self::Dctcp,
        Self::Prague,
        Self::Bbr1,
        Self::Bbr2,
        Self::Bbr3,
    ];

    /// The algorithm's name in Linux; `bbr2` and `bbr3` are the names of branches.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Dctcp => "dctcp",
            Self::Prague => "prague",
            Self::Bbr1 => "bbr",
            Self::Bbr2 => "bbr2",
            Self::Bbr3 => "bbr3",
        }
    }

    /// The algorithm with this [`name`](Self::name); `None` if there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|algorithm| algorithm.name() == name)
    }

    /// How the algorithm uses ECN on a path that is known to carry it.
    #[must_use]
    pub const fn ecn(self) -> EcnUse {
        match self {
            Self::Reno | Self::Cubic => EcnUse::Classic,
            Self::Dctcp => EcnUse::Dctcp,
            Self::Prague => EcnUse::L4s,
            Self::Bbr1 | Self::Bbr2 | Self::Bbr3 => EcnUse::Off,
        }
    }

    /// A fresh state for segments of `mss`. `seed` is for the algorithms that use random numbers.
    #[must_use]
    pub fn start(self, mss: Bytes, seed: u64) -> Box<dyn Congestion> {
        match self {
            Self::Reno => Box::new(Reno::new(mss)),
            Self::Cubic => Box::new(Cubic::new(mss)),
            Self::Dctcp => Box::new(Dctcp::new(mss)),
            Self::Prague => Box::new(Prague::new(mss)),
            Self::Bbr1 => Box::new(Bbr1::new(mss, seed)),
            Self::Bbr2 => Box::new(Bbr3::new(mss, seed, &bbr2::VERSION)),
            Self::Bbr3 => Box::new(Bbr3::new(mss, seed, &bbr3::VERSION)),
        }
    }
}

/// Segments in the initial window: RFC 6928, and Linux `TCP_INIT_CWND`.
const INITIAL_SEGMENTS: u64 = 10;

/// The initial window for segments of `mss`.
pub(crate) const fn initial_window(mss: Bytes) -> Bytes {
    Bytes::new(mss.get().saturating_mul(INITIAL_SEGMENTS))
}

/// The least slow-start threshold: two segments (RFC 5681, equation 4).
pub(crate) const fn least_threshold(mss: Bytes) -> Bytes {
    Bytes::new(mss.get().saturating_mul(2))
}

/// Whether the window may grow: it was used in full, and is not being reduced. In slow
/// start it is enough that more than half was used, as in Linux `tcp_is_cwnd_limited`.
pub(crate) fn may_grow(sample: &AckSample, window: Bytes, is_slow_start: bool) -> bool {
    let half_used = sample.prior_in_flight + sample.prior_in_flight > window;
    !sample.is_reducing && (sample.is_window_limited || (is_slow_start && half_used))
}

/// Slow start (RFC 5681, section 3.1; RFC 3465 without its limit, as in Linux): the window grows by
/// the bytes acknowledged, up to the threshold. Returns the bytes left over.
pub(crate) fn slow_start(window: &mut Bytes, threshold: Bytes, acked: Bytes) -> Bytes {
    let grown = (*window + acked).min(threshold.max(*window));
    let left = acked - (grown - *window);
    *window = grown;
    left
}

/// A counter of rounds. A round ends when something sent after it began is delivered
/// (draft-ietf-ccwg-bbr, section 5.5.1).
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    end: Bytes,
    count: u64,
}

impl Rounds {
    /// Takes a sample. Returns whether it begins a round.
    pub(crate) fn update(&mut self, sample: &AckSample) -> bool {
        let begins = sample
            .delivery
            .is_some_and(|delivery| delivery.prior_delivered >= self.end);
        if begins {
            self.end = sample.delivered;
            self.count += 1;
        }
        begins
    }

    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Restarts the current round, after `delivered` bytes in all.
    pub(crate) const fn restart(&mut self, delivered: Bytes) {
        self.end = delivered;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_has_a_name_of_its_own_and_starts_with_ten_segments() {
        let mss = Bytes::new(1460);
        for &algorithm in Algorithm::ALL {
            assert_eq!(Algorithm::from_name(algorithm.name()), Some(algorithm));
            let window = algorithm.start(mss, 1).window();
            // Prague leaves room over its paced window.
            let most = if algorithm == Algorithm::Prague {
                12
            } else {
                10
            };
            assert!(window >= Bytes::new(10 * 1460), "{algorithm:?}: {window}");
            assert!(window <= Bytes::new(most * 1460), "{algorithm:?}: {window}");
        }
        assert_eq!(Algorithm::from_name("vegas"), None);
    }

    #[test]
    fn slow_start_stops_at_the_threshold_and_gives_back_the_rest() {
        let mut window = Bytes::new(9_000);
        let left = slow_start(&mut window, Bytes::new(10_000), Bytes::new(3_000));
        assert_eq!((window, left), (Bytes::new(10_000), Bytes::new(2_000)));
        let left = slow_start(&mut window, Bytes::MAX, Bytes::new(3_000));
        assert_eq!((window, left), (Bytes::new(13_000), Bytes::ZERO));
    }
}
