//! Media rate control and pacing (4.3.2, 4.4).

use mimosa_facts::{Limits, Pacing};
use mimosa_units::{Bytes, Rate, TimeDelta};

use super::config::Config;

/// The terms of the target's divisor that grow with the sender's own queue and with large frames.
#[derive(Debug, Default)]
pub(super) struct Media {
    /// Term for the sender's queue, `rate_adjust_factor`: from 0 to 0.5.
    queue_factor: f64,
    /// Average excess of frames over their nominal size, as a share of it, `frame_size_dev`: at
    /// most 0.2.
    size_factor: f64,
}

impl Media {
    /// Takes the `size` of a frame that is given to the pacer while the oldest packet there has
    /// waited for `wait`. `nominal` is the size that the target allows, `period` the time between
    /// frames.
    pub(super) fn frame(
        &mut self,
        size: Bytes,
        nominal: Bytes,
        wait: TimeDelta,
        period: TimeDelta,
        config: &Config,
    ) {
        if period > TimeDelta::ZERO {
            let error = wait.ratio(period) - 0.25;
            self.queue_factor += error * config.rate_adjust_gain;
            self.queue_factor = self.queue_factor.clamp(0.0, 0.5);
        }
        if nominal > Bytes::ZERO {
            let excess = (size - nominal).get() as f64 / nominal.get() as f64;
            let gain = config.frame_size_gain;
            self.size_factor += gain * (excess - self.size_factor);
            self.size_factor = self.size_factor.min(0.2);
        }
    }

    /// Returns the share of `ref_wnd / s_rtt` that may be media.
    pub(super) fn share(&self, segment_share: f64, config: &Config) -> f64 {
        let small = 1.0 - (segment_share - 0.1).clamp(0.0, 0.2);
        let segment = config.segment.get() as f64;
        let headers = segment / (segment + config.packet_overhead.get() as f64);
        small * headers / (config.rate_margin + self.queue_factor + self.size_factor)
    }
}

/// Returns the pacing, at `pace_bitrate`: faster than the target, and more so near the highest
/// target.
pub(super) fn pacing(target: Rate, limits: &Limits, config: &Config) -> Pacing {
    let nominal = target.ratio(limits.max());
    let relaxed = (nominal - config.relaxed_from) / (1.0 - config.relaxed_from);
    let slack = (1.0 - relaxed).clamp(1.0 / config.relaxed_pace, 1.0);
    let rate = target.max(config.lowest_pace).scale(config.pace_headroom);
    Pacing::Bucket {
        rate: rate.scale(1.0 / slack),
        burst: Bytes::ZERO,
    }
}
