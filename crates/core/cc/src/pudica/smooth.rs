//! The smoothed BUR (section 4.2, equation 6, weights of appendix B).

use mimosa_units::{Rate, Time, TimeDelta};

use super::config::FrameSize;
use super::frames::Frames;

/// Weighted mean of the samples learnt in the `window` before `now`, each
/// scaled to what it would be at `bitrate`; `None` when there is none.
pub(super) fn smoothed(
    frames: &Frames,
    now: Time,
    window: TimeDelta,
    bitrate: Rate,
    counts: FrameSize,
) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    // k = 1 is the oldest sample.
    for (k, (frame, sample)) in frames.samples(now - window).enumerate() {
        // B_k of the paper.
        let at = match counts {
            FrameSize::Arrived => frame.arrived_bitrate(),
            FrameSize::Sent => frame.bitrate(),
        };
        if at == Rate::ZERO {
            continue;
        }
        let weight = weight(k + 1, sample, at.as_mbps());
        sum += weight * sample * bitrate.ratio(at);
        weights += weight;
    }
    (weights > 0.0).then(|| sum / weights)
}

/// The weight of sample `k` before normalisation (eq. 12 to 14).
fn weight(k: usize, sample: f64, mbps: f64) -> f64 {
    let by_delay = (sample + 1.0).min(2.0);
    let by_size = (mbps + 10.0).min(50.0);
    let by_age = k as f64 + 20.0;
    by_delay * by_size * by_age
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weights of equations 12 to 14 are computed by hand.
    #[test]
    fn weights_follow_appendix_b() {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(weight(1, 0.5, 20.0), 1.5 * 30.0 * 21.0));
        assert!(close(weight(12, 3.0, 80.0), 2.0 * 50.0 * 32.0));
    }
}
