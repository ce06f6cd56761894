//! BBR version 1's model of the path, and the amounts in flight that follow
//! from it.

use mimosa_units::{Bytes, Rate, Time};

use super::policer::Evidence;
use super::{Bbr1, Mode, Repair};
use crate::window::burst::{LEAST_SEGMENTS, burst_segments};
use crate::window::congestion::{AckSample, initial_window};

/// Growth of the rate, by a quarter, without which a round counts towards the
/// end of startup (section 4.3.2.2).
const FULL_GROWTH: f64 = 1.25;
/// Rounds without such growth that end startup (section 4.3.2.2).
const FULL_ROUNDS: u32 = 3;
/// Bursts that segmentation offload may hold, at both ends and in the network
/// (section 4.2.3.2; Linux `bbr_quantization_budget`).
const OFFLOAD_BURSTS: u64 = 3;
/// The longest burst that the budget counts, in segments: Linux
/// `bbr_tso_segs_goal`.
const LONGEST_BURST: u64 = 127;
/// Rate below which a burst may be one segment: Linux `bbr_min_tso_rate`.
const BURST_RATE: Rate = Rate::from_kbps(1_200);
/// Segments added to the window in the probing phase: Linux
/// `bbr_quantization_budget`.
const PROBE_SEGMENTS: u64 = 2;

/// The test for whether startup has filled the pipe.
#[derive(Clone, Debug, Default)]
pub(super) struct FullPipe {
    /// The rate from which growth is counted.
    pub(super) rate: Rate,
    /// Rounds without growth since then.
    count: u32,
    pub(super) is_reached: bool,
}

impl FullPipe {
    /// Takes the greatest delivery rate at the beginning of a round.
    pub(super) fn update(&mut self, rate: Rate) {
        if self.is_reached {
            return;
        }
        if rate >= self.rate.scale(FULL_GROWTH) {
            self.rate = rate;
            self.count = 0;
        } else {
            self.count += 1;
            self.is_reached = self.count >= FULL_ROUNDS;
        }
    }
}

impl Bbr1 {
    /// The greatest delivery rate of the last rounds, zero before the first:
    /// `bbr_max_bw`.
    pub(super) fn greatest_rate(&self) -> Rate {
        self.rate.get().unwrap_or(Rate::ZERO)
    }

    /// The estimated bandwidth, which is the rate of a policer or else the
    /// greatest rate: `bbr_bw`.
    pub(super) fn bandwidth(&self) -> Rate {
        self.policer.rate().unwrap_or_else(|| self.greatest_rate())
    }

    pub(super) fn segments(&self, count: u64) -> Bytes {
        Bytes::new(self.mss.get().saturating_mul(count))
    }

    /// The smallest burst, in segments: `bbr_min_tso_segs`.
    pub(super) fn least_burst(&self) -> u64 {
        if self.pacing_rate < BURST_RATE {
            1
        } else {
            LEAST_SEGMENTS
        }
    }

    /// Segments that leave at once, whatever the round trip:
    /// `bbr_tso_segs_goal`.
    pub(super) fn burst_goal(&self) -> u64 {
        burst_segments(self.pacing_rate, self.mss, Bytes::ZERO, self.least_burst())
            .min(LONGEST_BURST)
    }

    /// `gain` times the product of `rate` and the least round trip: `bbr_bdp`.
    /// The initial window before there is a round trip.
    pub(super) fn product(&self, rate: Rate, gain: f64) -> Bytes {
        self.least_rtt.map_or(initial_window(self.mss), |least| {
            rate.amount_in(least).scale(gain)
        })
    }

    /// `in_flight` and the bursts of the offload, in an even number of whole
    /// segments, so that no acknowledgement is delayed:
    /// `bbr_quantization_budget`.
    pub(super) fn with_budget(&self, in_flight: Bytes) -> Bytes {
        let bursts = OFFLOAD_BURSTS * self.burst_goal();
        let whole = in_flight.pieces(self.mss).saturating_add(bursts);
        let even = whole.saturating_add(1) & !1;
        let is_probing = self.mode == Mode::ProbeBw && self.phase == 0;
        let more = if is_probing { PROBE_SEGMENTS } else { 0 };
        self.segments(even.saturating_add(more))
    }

    /// The amount in flight at `gain` times the greatest rate, with the bursts
    /// of the offload: `bbr_inflight`.
    pub(super) fn inflight(&self, gain: f64) -> Bytes {
        self.with_budget(self.product(self.greatest_rate(), gain))
    }

    /// Bytes in flight when the pacer will let the next burst leave, that burst
    /// included if the pacing gain is above one: `bbr_packets_in_net_at_edt`.
    pub(super) fn in_flight_at_departure(&self, in_flight: Bytes, sample: &AckSample) -> Bytes {
        let mut then = in_flight;
        if self.pacing_gain() > 1.0 {
            then += self.segments(self.burst_goal());
        }
        then - self.bandwidth().amount_in(sample.pacing_wait)
    }

    /// Takes the rate of a sample, for the bandwidth and all estimates that use
    /// the same samples: `bbr_update_bw`. Returns whether a round begins.
    pub(super) fn update_bandwidth(&mut self, now: Time, sample: &AckSample) -> bool {
        let Some((delivery, rate)) = sample
            .delivery
            .and_then(|delivery| Some((delivery, delivery.rate()?)))
        else {
            return false;
        };
        let begins = self.rounds.update(sample);
        if begins && self.repair == Repair::Conserving {
            self.repair = Repair::Growing;
        }
        let evidence = Evidence {
            round_begins: begins,
            has_lost: sample.lost > Bytes::ZERO,
            is_app_limited: delivery.is_app_limited,
            delivered: sample.delivered,
        };
        self.judge_policer(now, &evidence);
        if rate >= self.greatest_rate() || !delivery.is_app_limited {
            self.rate.update(self.rounds.count(), rate);
        }
        if sample.acked > Bytes::ZERO {
            let rate = self.bandwidth();
            self.aggregation
                .update(now, begins, rate, self.window, sample.acked);
        }
        begins
    }

    pub(super) fn judge_policer(&mut self, now: Time, evidence: &Evidence) {
        let is_probe_bw = self.mode == Mode::ProbeBw;
        if self.policer.update(now, is_probe_bw, evidence) {
            self.enter_probe_bw(now);
        }
    }
}
