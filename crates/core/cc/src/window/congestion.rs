//! What a congestion control may learn, and what it decides.

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
    /// Newly delivered, by acknowledgement or by SACK.
    pub acked: Bytes,
    /// Newly judged lost.
    pub lost: Bytes,
    /// Everything delivered on this connection, this included.
    pub delivered: Bytes,
    /// Payload newly reported as marked.
    pub marked: Bytes,
    /// Round trip of the newest segment delivered, when it was sent once.
    pub rtt: Option<TimeDelta>,
    /// Smoothed round trip.
    pub smoothed_rtt: Option<TimeDelta>,
    /// In flight before this acknowledgement.
    pub prior_in_flight: Bytes,
    /// In flight after it.
    pub in_flight: Bytes,
    /// Delivery rate, when something was delivered.
    pub delivery: Option<DeliverySample>,
    /// Whether the window, not the application, limited what was sent.
    pub is_window_limited: bool,
    /// Whether the sender is still reducing its window: it must not grow.
    pub is_reducing: bool,
    /// How long until the pacer lets the next burst leave.
    pub pacing_wait: TimeDelta,
}

/// One segment judged lost.
#[derive(Clone, Copy, Debug)]
pub struct LostSegment {
    /// Its payload.
    pub length: Bytes,
    /// In flight when it had left, itself included.
    pub sent_in_flight: Bytes,
    /// Lost since it left, itself included.
    pub lost_since: Bytes,
    /// Everything delivered on this connection.
    pub delivered: Bytes,
    /// Whether the application, not the path, limited the flight.
    pub is_app_limited: bool,
}

/// A congestion control: a pure state machine.
///
/// The same calls give the same decisions. `now` never decreases.
pub trait Congestion: Debug + Send {
    /// A segment leaves. `in_flight` is what was on its way before it.
    fn on_sent(&mut self, _now: Time, _in_flight: Bytes, _is_app_limited: bool) {}

    /// An acknowledgement came.
    fn on_ack(&mut self, now: Time, sample: &AckSample);

    /// A segment is lost. Called for each; most need only
    /// [`on_loss`](Self::on_loss).
    fn on_segment_lost(&mut self, _now: Time, _lost: &LostSegment) {}

    /// A recovery begins: at most once per window of data.
    fn on_loss(&mut self, now: Time, in_flight: Bytes);

    /// The retransmission timer went off. `is_reduced` when the window was
    /// already reduced for what is in flight, by a loss or an earlier timeout.
    fn on_timeout(&mut self, now: Time, in_flight: Bytes, is_reduced: bool);

    /// The receiver echoed a mark (RFC 3168): at most once per window of data.
    fn on_ecn(&mut self, now: Time, in_flight: Bytes) {
        self.on_loss(now, in_flight);
    }

    /// Everything sent before the loss or the mark has arrived.
    fn on_recovered(&mut self, _now: Time) {}

    /// What may be in flight.
    fn window(&self) -> Bytes;

    /// How fast payload may leave; `None` for as fast as the window allows.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// How many segments of `mss` leave at once when they are paced;
    /// `allowance` is what more may because the receiver is near.
    fn burst(&self, mss: Bytes, allowance: Bytes) -> u64 {
        let rate = self.pacing_rate().unwrap_or(Rate::ZERO);
        burst_segments(rate, mss, allowance, LEAST_SEGMENTS)
    }

    /// Whether it keeps the flight small on purpose: rates measured of what
    /// leaves then count as limited by the application.
    fn limits_itself(&self) -> bool {
        false
    }

    /// Whether [`window`](Self::window) holds during recovery as it stands,
    /// without proportional rate reduction.
    fn governs_recovery(&self) -> bool {
        false
    }

    /// What the path carries, for those that have a model of it.
    fn bandwidth(&self) -> Option<Rate> {
        None
    }

    /// What it is about; `None` while it moves by its rule of growth and reduction alone.
    fn stage(&self) -> Option<Stage> {
        None
    }
}

/// What a congestion control is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stage {
    /// Grows until the path is full: slow start, or BBR's startup.
    Startup,
    /// Below what the path carries, until a queue is gone.
    Drain,
    /// At what it believes that the path carries.
    Cruise,
    /// Above that, to learn whether the path carries more.
    Probe,
    /// With little in flight, to learn the least round trip.
    ProbeRtt,
}

/// How a sender uses explicit congestion notification.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum EcnUse {
    /// Not at all.
    #[default]
    Off,
    /// ECT(0), one reaction per window (RFC 3168).
    Classic,
    /// ECT(0), exact counts (RFC 8257).
    Dctcp,
    /// ECT(1), exact counts (RFC 9331).
    L4s,
}

/// The congestion controls there are.
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
    /// Every one of them.
    pub const ALL: &[Self] = &[
        Self::Reno,
        Self::Cubic,
        Self::Dctcp,
        Self::Prague,
        Self::Bbr1,
        Self::Bbr2,
        Self::Bbr3,
    ];

    /// Its name, as Linux writes it; `bbr2` and `bbr3` are what its branches
    /// are called.
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

    /// The algorithm of that [`name`](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|algorithm| algorithm.name() == name)
    }

    /// How it uses ECN, where the path is known to carry it.
    #[must_use]
    pub const fn ecn(self) -> EcnUse {
        match self {
            Self::Reno | Self::Cubic => EcnUse::Classic,
            Self::Dctcp => EcnUse::Dctcp,
            Self::Prague => EcnUse::L4s,
            Self::Bbr1 | Self::Bbr2 | Self::Bbr3 => EcnUse::Off,
        }
    }

    /// A fresh state for segments of `mss`; `seed` for those that roll dice.
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

/// The initial window.
pub(crate) const fn initial_window(mss: Bytes) -> Bytes {
    Bytes::new(mss.get().saturating_mul(INITIAL_SEGMENTS))
}

/// Two segments: the least slow-start threshold (RFC 5681, equation 4).
pub(crate) const fn least_threshold(mss: Bytes) -> Bytes {
    Bytes::new(mss.get().saturating_mul(2))
}

/// Whether the window may grow: it was used. In slow start half of it is
/// enough, as in Linux `tcp_is_cwnd_limited`.
pub(crate) fn may_grow(sample: &AckSample, window: Bytes, is_slow_start: bool) -> bool {
    let half_used = sample.prior_in_flight + sample.prior_in_flight > window;
    !sample.is_reducing && (sample.is_window_limited || (is_slow_start && half_used))
}

/// Slow start (RFC 5681, section 3.1; RFC 3465 without its limit, as Linux):
/// the window grows by what is acknowledged up to the threshold; what is left
/// over is returned.
pub(crate) fn slow_start(window: &mut Bytes, threshold: Bytes, acked: Bytes) -> Bytes {
    let grown = (*window + acked).min(threshold.max(*window));
    let left = acked - (grown - *window);
    *window = grown;
    left
}

/// Counts rounds: one ends when something sent after it began is delivered
/// (draft-ietf-ccwg-bbr, section 5.5.1).
#[derive(Clone, Debug, Default)]
pub(crate) struct Rounds {
    end: Bytes,
    count: u64,
}

impl Rounds {
    /// Whether `sample` begins a round.
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

    /// Begins a round now.
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
