//! CUBIC: RFC 9438 (which replaces RFC 8312).
//!
//! *Deviations*: the threshold after a loss is a fraction of the window, not of the
//! flight. Slow start ends by the delay rule of the older `HyStart`, as in Linux
//! `tcp_cubic`, instead of `HyStart`++ (RFC 9406); the older one's rule of
//! acknowledgement trains is left out. Before the first loss the window grows by at least
//! 5 % in a round, as in Linux. Spurious reductions are not undone (section 4.9).

use mimosa_units::{Bytes, Time, TimeDelta};

use crate::window::congestion::{
    AckSample, Congestion, Rounds, initial_window, least_threshold, may_grow, slow_start,
};

/// C of the RFC: the scaling of the cubic, in segments per second cubed (section 5.1).
const SCALING: f64 = 0.4;
/// Factor of the multiplicative decrease (section 4.6).
const BETA: f64 = 0.7;
/// The additive increase that is as fast as Reno with [`BETA`], in segments
/// per round (section 4.3): 3 (1 - beta) / (1 + beta).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// The largest target, as a multiple of the window (section 4.2).
const MAX_GROWTH: f64 = 1.5;
/// The least growth of the window in a round before the first loss, relative to the
/// window. The path's capacity is not known then (Linux `bictcp_update`, at most 20
/// acknowledgements a segment while `last_max_cwnd` is zero).
const LEAST_FIRST_GROWTH: f64 = 1.0 / 20.0;
/// Round-trip samples that the delay rule needs in a round: Linux `HYSTART_MIN_SAMPLES`.
const DELAY_SAMPLES: u32 = 8;
/// The least increase of the delay that may end slow start: Linux `HYSTART_DELAY_MIN`.
const DELAY_MIN: TimeDelta = TimeDelta::from_millis(4);
/// The increase of the delay that always ends slow start: Linux `HYSTART_DELAY_MAX`.
const DELAY_MAX: TimeDelta = TimeDelta::from_millis(16);
/// The window, in segments, from which the delay rule applies: Linux `hystart_low_window`.
const DELAY_WINDOW: f64 = 16.0;

/// The state of CUBIC. Windows are in segments, as in the RFC.
#[derive(Clone, Debug)]
pub struct Cubic {
    mss: Bytes,
    window: f64,
    threshold: f64,
    /// `W_max`: the window before the last reduction, or less by fast convergence. Zero
    /// before the first loss.
    maximum: f64,
    /// `cwnd_prior`: the window before the last reduction.
    prior: f64,
    epoch: Option<Epoch>,
    /// When the application began to leave the window unused; `None` while it is used.
    idle_since: Option<Time>,
    delay: DelayRule,
}

/// One period of congestion avoidance.
#[derive(Clone, Debug)]
struct Epoch {
    start: Time,
    /// Window of the plateau: `W_max`, or the window at the start of the epoch if that is larger.
    origin: f64,
    /// K: the time from the start of the epoch to the plateau.
    plateau: TimeDelta,
    /// `W_est`: the window that Reno would have.
    reno: f64,
}

/// The delay rule that ends slow start.
#[derive(Clone, Debug, Default)]
struct DelayRule {
    rounds: Rounds,
    least: Option<TimeDelta>,
    current: Option<TimeDelta>,
    samples: u32,
}

impl Cubic {
    /// A fresh state for segments of `mss`.
    #[must_use]
    pub fn new(mss: Bytes) -> Self {
        Self {
            mss,
            window: segments(initial_window(mss), mss),
            threshold: f64::INFINITY,
            maximum: 0.0,
            prior: 0.0,
            epoch: None,
            idle_since: None,
            delay: DelayRule::default(),
        }
    }

    fn reduce(&mut self) {
        // Fast convergence (section 4.7).
        self.maximum = if self.window < self.maximum {
            self.window * (1.0 + BETA) / 2.0
        } else {
            self.window
        };
        self.prior = self.window;
        let least = segments(least_threshold(self.mss), self.mss);
        self.threshold = (self.window * BETA).max(least);
        self.epoch = None;
    }

    /// Grows the window in congestion avoidance (sections 4.2 to 4.5), for `acked` segments.
    fn avoid(&mut self, now: Time, acked: f64, rtt: TimeDelta) {
        let (window, maximum) = (self.window, self.maximum);
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            start: now,
            origin: maximum.max(window),
            plateau: TimeDelta::from_secs(libm::cbrt((maximum - window).max(0.0) / SCALING)),
            reno: window,
        });
        let elapsed = now.since(epoch.start);

        let alpha = if epoch.reno < self.prior { ALPHA } else { 1.0 };
        epoch.reno += alpha * acked / window;
        let at = |time: TimeDelta| {
            let past = (time - epoch.plateau).as_secs();
            SCALING * past * past * past + epoch.origin
        };
        if at(elapsed) < epoch.reno {
            self.window = window.max(epoch.reno);
        } else {
            let target = at(elapsed + rtt).clamp(window, MAX_GROWTH * window);
            self.window += (target - window) / window * acked;
        }
        if maximum == 0.0 {
            self.window = self.window.max(window + LEAST_FIRST_GROWTH * acked);
        }
    }
}

impl Congestion for Cubic {
    fn on_ack(&mut self, now: Time, sample: &AckSample) {
        let is_slow_start = self.window < self.threshold;
        if is_slow_start && self.delay.ends(sample, self.window) {
            self.threshold = self.window;
        }
        let window = self.window();
        if !may_grow(sample, window, is_slow_start) {
            if !sample.is_reducing {
                self.idle_since.get_or_insert(now);
            }
            return;
        }
        // Time with the window unused does not count (section 5.8).
        if let (Some(since), Some(epoch)) = (self.idle_since.take(), &mut self.epoch) {
            epoch.start += now.since(since);
        }
        let mut acked = sample.acked;
        if self.window < self.threshold {
            let mut bytes = window;
            let threshold = self.mss.scale(self.threshold);
            acked = slow_start(&mut bytes, threshold, acked);
            self.window = segments(bytes, self.mss);
            if bytes >= threshold {
                self.window = self.threshold;
            }
        }
        if acked > Bytes::ZERO {
            let rtt = sample.smoothed_rtt.unwrap_or(TimeDelta::ZERO);
            self.avoid(now, segments(acked, self.mss), rtt);
        }
    }

    fn on_loss(&mut self, _now: Time, _in_flight: Bytes) {
        self.reduce();
        self.window = self.threshold;
    }

    fn on_timeout(&mut self, _now: Time, _in_flight: Bytes, is_reduced: bool) {
        if !is_reduced {
            self.reduce();
        }
        self.window = 1.0;
        self.delay = DelayRule::default();
    }

    fn window(&self) -> Bytes {
        self.mss.scale(self.window)
    }
}

impl DelayRule {
    /// Takes a sample. Returns whether the round trip has grown by more than an eighth of
    /// its minimum; that eighth counts as at least 4 ms and at most 16 ms.
    fn ends(&mut self, sample: &AckSample, window: f64) -> bool {
        if self.rounds.update(sample) {
            self.current = None;
            self.samples = 0;
        }
        let Some(rtt) = sample.rtt else {
            return false;
        };
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        let current = self.current.map_or(rtt, |current| current.min(rtt));
        self.current = Some(current);
        self.samples = self.samples.saturating_add(1);
        let allowed = (least / 8).max(DELAY_MIN).min(DELAY_MAX);
        window >= DELAY_WINDOW && self.samples >= DELAY_SAMPLES && current > least + allowed
    }
}

/// `bytes` in segments of `mss`.
fn segments(bytes: Bytes, mss: Bytes) -> f64 {
    bytes.get() as f64 / mss.get().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::delivery::DeliverySample;

    const MSS: Bytes = Bytes::new(1000);

    /// An acknowledgement of one segment, with the window in full use.
    fn sample(window: Bytes) -> AckSample {
        AckSample {
            acked: MSS,
            lost: Bytes::ZERO,
            delivered: Bytes::ZERO,
            marked: Bytes::ZERO,
            rtt: None,
            smoothed_rtt: Some(TimeDelta::from_millis(100)),
            prior_in_flight: window,
            in_flight: window,
            delivery: None::<DeliverySample>,
            is_window_limited: true,
            is_reducing: false,
            pacing_wait: TimeDelta::ZERO,
        }
    }

    /// Acknowledges a window every 100 ms.
    fn pass(cubic: &mut Cubic, from: Time, until: Time) {
        let mut now = from;
        while now < until {
            let window = cubic.window();
            for _ in 0..window.get() / MSS.get() {
                cubic.on_ack(now, &sample(window));
            }
            now += TimeDelta::from_millis(100);
        }
    }

    /// From 1000 segments, K is the cube root of 300 / 0.4, 9.09 s.
    #[test]
    fn the_window_is_back_at_its_maximum_after_k() {
        let mut cubic = Cubic::new(MSS);
        cubic.window = 1000.0;
        cubic.threshold = 1000.0;
        cubic.on_loss(Time::ZERO, Bytes::ZERO);
        assert!((cubic.window - 700.0).abs() < 0.5, "{}", cubic.window);
        pass(&mut cubic, Time::ZERO, Time::from_millis(4_500));
        assert!((955.0..970.0).contains(&cubic.window), "{}", cubic.window);
        pass(
            &mut cubic,
            Time::from_millis(4_500),
            Time::from_millis(9_100),
        );
        assert!((995.0..1002.0).contains(&cubic.window), "{}", cubic.window);
        pass(
            &mut cubic,
            Time::from_millis(9_100),
            Time::from_millis(14_100),
        );
        assert!((1040.0..1062.0).contains(&cubic.window), "{}", cubic.window);
    }

    /// A second loss below the maximum gives room to others (section 4.7).
    #[test]
    fn a_loss_below_the_maximum_lowers_it_further() {
        let mut cubic = Cubic::new(MSS);
        cubic.window = 1000.0;
        cubic.on_loss(Time::ZERO, Bytes::ZERO);
        cubic.on_loss(Time::ZERO, Bytes::ZERO);
        assert!((cubic.maximum - 595.0).abs() < 0.5, "{}", cubic.maximum);
    }

    /// From a hundred segments after slow start, the window grows by 5 % a round until
    /// there is a maximum.
    #[test]
    fn what_there_is_is_sought_faster_before_the_first_loss() {
        let mut cubic = Cubic::new(MSS);
        cubic.window = 100.0;
        cubic.threshold = 100.0;
        pass(&mut cubic, Time::ZERO, Time::from_millis(500));
        // Less than 1.05 to the fifth, as a round acknowledges whole segments.
        assert!((125.0..127.7).contains(&cubic.window), "{}", cubic.window);
        cubic.on_loss(Time::ZERO, Bytes::ZERO);
        let after = cubic.window;
        pass(&mut cubic, Time::from_millis(500), Time::from_millis(600));
        // From there the curve is concave: it begins with 3 C K^2 segments a second.
        assert!(cubic.window < after + 3.2, "{} {after}", cubic.window);
    }

    /// With ten segments the cubic is too slow, and Reno's line is followed:
    /// 0.53 segments per round.
    #[test]
    fn a_small_window_grows_as_reno_would() {
        let mut cubic = Cubic::new(MSS);
        cubic.window = 15.0;
        cubic.on_loss(Time::ZERO, Bytes::ZERO);
        pass(&mut cubic, Time::ZERO, Time::from_millis(500));
        assert!((12.4..13.5).contains(&cubic.window), "{}", cubic.window);
    }
}
