//! The number of segments that leave together: Linux `tcp_tso_autosize`, which
//! fills about a millisecond at the pacing rate.

use mimosa_units::{Bytes, Rate, TimeDelta};

/// The largest burst that segmentation offload takes: Linux `GSO_LEGACY_MAX_SIZE`.
const LARGEST_BURST: Bytes = Bytes::new(1 << 16);
/// The smallest burst, in segments: Linux `tcp_min_tso_segs`.
pub const LEAST_SEGMENTS: u64 = 2;
/// Binary logarithm of the bursts per second of a sender that fills each: Linux `sk_pacing_shift`.
const BURST_SHIFT: u32 = 10;
/// Binary logarithm of the step of the round trip, in microseconds, by which the
/// allowance for near receivers halves: Linux `tcp_tso_rtt_log`, 512 us.
const ALLOWANCE_SHIFT: u32 = 9;

/// Bytes that pass at `rate` in the time of one burst, 1/1024 s.
const fn burst_bytes(rate: Rate) -> Bytes {
    Bytes::new((rate.as_bps() / 8) >> BURST_SHIFT)
}

/// Bytes by which a burst may be longer because the receiver is near: 64 KiB,
/// halved for each 512 us of the least round trip. Zero while that is `None`.
#[must_use]
pub fn near_allowance(least_rtt: Option<TimeDelta>) -> Bytes {
    let micros = least_rtt.map_or(u64::MAX, |rtt| rtt.as_nanos().unsigned_abs() / 1_000);
    let halvings = u32::try_from(micros >> ALLOWANCE_SHIFT).unwrap_or(u32::MAX);
    Bytes::new(LARGEST_BURST.get().checked_shr(halvings).unwrap_or(0))
}

/// Number of segments of `mss` in a burst at `rate`, with `allowance` bytes more, at least `least`.
#[must_use]
pub fn burst_segments(rate: Rate, mss: Bytes, allowance: Bytes, least: u64) -> u64 {
    let bytes = (burst_bytes(rate) + allowance).min(LARGEST_BURST);
    (bytes.get() / mss.get().max(1)).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1460);

    #[test]
    fn a_burst_is_a_millisecond_of_the_rate_within_bounds() {
        let segments = |mbps: u64, rtt: Option<TimeDelta>| {
            let rate = Rate::from_kbps(mbps * 1_000);
            burst_segments(rate, MSS, near_allowance(rtt), LEAST_SEGMENTS)
        };
        let far = Some(TimeDelta::from_millis(30));
        // 50 Mbit/s are 6103 bytes in 1/1024 s.
        assert_eq!(segments(50, far), 4);
        assert_eq!(segments(1, far), 2);
        assert_eq!(segments(10_000, far), 44, "64 KiB");
        // Two steps of 512 us: a quarter of 64 KiB more.
        assert_eq!(segments(50, Some(TimeDelta::from_micros(1_100))), 15);
        assert_eq!(segments(50, None), 4, "not known to be near");
    }
}
