//! Salsify's pacer (S. Fouladi et al., NSDI 2018; alfalfa, `salsify-sender.cc` and
//! `pacer.hh`): packets leave five times as fast as they arrive, within bounds, whatever
//! the target is.

use mimosa_facts::{Event, Pacing, PacketOutcome};
use mimosa_units::{Bytes, Rate, TimeDelta};
use serde::Deserialize;

use crate::pace::error::{ParameterError, require};
use crate::pace::gaps::Gaps;

/// All parameters. `Default` gives alfalfa's values.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How much faster packets leave than they arrive. `inter_send_delay`: 5.
    pub speed: f64,
    /// The shortest gap between two packets. `inter_send_delay`: 500 us.
    pub shortest_gap: TimeDelta,
    /// The longest gap, used until anything has arrived. `inter_send_delay`: 2 ms.
    pub longest_gap: TimeDelta,
    /// The weight of the newest gap, 0 to 1. `salsify-receiver.cc`, `ALPHA`: 0.1.
    pub smoothing: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            speed: 5.0,
            shortest_gap: TimeDelta::from_micros(500),
            longest_gap: TimeDelta::from_millis(2),
            smoothing: 0.1,
        }
    }
}

impl Config {
    /// Refuses parameters outside their valid ranges.
    ///
    /// # Errors
    ///
    /// [`ParameterError`].
    pub fn check(&self) -> Result<(), ParameterError> {
        require(
            (0.01..=1e3).contains(&self.speed),
            "speed",
            "from 0.01 to 1000",
        )?;
        require(
            self.shortest_gap >= TimeDelta::ZERO && self.shortest_gap <= self.longest_gap,
            "shortest_gap",
            "at most `longest_gap`",
        )?;
        require(
            self.longest_gap > TimeDelta::ZERO && self.longest_gap <= TimeDelta::from_millis(1_000),
            "longest_gap",
            "above zero and at most 1s",
        )?;
        require(
            self.smoothing > 0.0 && self.smoothing <= 1.0,
            "smoothing",
            "above 0 and at most 1",
        )
    }
}

/// The state of Salsify's pacer.
#[derive(Debug)]
pub struct Salsify {
    config: Config,
    gaps: Gaps,
    /// Mean size of the newest frame's packets.
    packet: Bytes,
}

impl Salsify {
    pub(crate) fn new(config: Config) -> Self {
        Self {
            config,
            gaps: Gaps::default(),
            packet: Bytes::ZERO,
        }
    }

    pub(crate) fn handle(&mut self, event: &Event<'_>) {
        match event {
            Event::FrameBegun { size, packets, .. } | Event::FrameEncoded { size, packets, .. } => {
                self.packet = Bytes::new(size.get() / u64::from(*packets).max(1));
            }
            Event::Feedback { reports, .. } => {
                for report in *reports {
                    if let PacketOutcome::Arrived { at, .. } = report.outcome
                        && report.packet.kind.is_first()
                    {
                        let gain = self.config.smoothing;
                        self.gaps.arrived(&report.packet, at, gain);
                    }
                }
            }
            _ => {}
        }
    }

    /// The time from one packet to the next.
    pub(crate) fn gap(&self) -> TimeDelta {
        let longest = self.config.longest_gap;
        let gap = self.gaps.mean().map_or(longest, |mean| {
            // A gap beyond the bound makes no difference, and must not overflow.
            mean.min(longest.scale(self.config.speed))
                .scale(1.0 / self.config.speed)
        });
        gap.clamp(self.config.shortest_gap, longest)
    }

    pub(crate) fn pacing(&self) -> Pacing {
        let gap = self.gap();
        if gap == TimeDelta::ZERO || self.packet == Bytes::ZERO {
            return Pacing::Burst;
        }
        Pacing::Bucket {
            rate: Rate::of(self.packet, gap).max(Rate::from_bps(1)),
            burst: Bytes::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::{FrameId, PacketKind, PacketReport, SentPacket, Sequence};
    use mimosa_units::{Ecn, PeerTime, Time};

    use super::*;

    const US: fn(i64) -> TimeDelta = TimeDelta::from_micros;

    /// A packet of 1200 bytes arrives.
    fn arrives(salsify: &mut Salsify, frame: u64, sent_us: i64, at_us: i64) {
        let packet = SentPacket {
            sequence: Sequence(0),
            frame: FrameId(frame),
            kind: PacketKind::Media,
            size: Bytes::new(1_200),
            sent: Time::ZERO + US(sent_us),
        };
        let report = PacketReport {
            packet,
            outcome: PacketOutcome::Arrived {
                at: PeerTime::from_nanos(at_us * 1_000),
                ecn: Ecn::NotEct,
                after_loss: false,
            },
        };
        salsify.handle(&Event::Feedback {
            reports: &[report],
            in_flight: Bytes::ZERO,
        });
    }

    #[test]
    fn packets_leave_five_times_as_fast_as_they_arrive_within_bounds() {
        let mut salsify = Salsify::new(Config::default());
        assert_eq!(salsify.pacing(), Pacing::Burst, "no packet yet");
        salsify.handle(&Event::FrameEncoded {
            frame: FrameId(0),
            size: Bytes::new(12_000),
            packets: 10,
        });
        assert_eq!(salsify.gap(), US(2_000));
        let rate = Rate::from_kbps(4_800); // 1200 bytes in 2 ms
        let burst = Bytes::ZERO;
        assert_eq!(salsify.pacing(), Pacing::Bucket { rate, burst });
        arrives(&mut salsify, 0, 0, 0);
        arrives(&mut salsify, 0, 0, 4_000);
        assert_eq!(salsify.gap(), US(800), "a fifth");
        // 0.9 * 4000 + 0.1 * 5000; the second frame left 33 ms later.
        arrives(&mut salsify, 1, 33_000, 42_000);
        assert_eq!(salsify.gap(), US(820));
        for step in 1..200 {
            arrives(&mut salsify, 1, 33_000, 42_000 + 100 * step);
        }
        assert_eq!(salsify.gap(), US(500), "no shorter");
        for step in 1..200 {
            arrives(&mut salsify, 1, 33_000, 100_000 + 50_000 * step);
        }
        assert_eq!(salsify.gap(), US(2_000), "no longer");
    }
}
