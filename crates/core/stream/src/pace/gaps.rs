//! The mean gap between arrivals, as Salsify's receiver takes it (`salsify-receiver.cc`).

use mimosa_facts::{FrameId, SentPacket};
use mimosa_units::{PeerTime, Time, TimeDelta};

/// The last packet that arrived.
#[derive(Clone, Copy, Debug)]
struct Last {
    frame: FrameId,
    sent: Time,
    arrived: PeerTime,
}

/// The smoothed gap between arrivals. The sender's pause before a frame's first packet is not part
/// of the gap.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    last: Option<Last>,
    mean: Option<TimeDelta>,
}

impl Gaps {
    /// A packet arrived; the newest gap weighs `gain`.
    pub(crate) fn arrived(&mut self, packet: &SentPacket, at: PeerTime, gain: f64) {
        if let Some(last) = self.last {
            let grace = if last.frame == packet.frame {
                TimeDelta::ZERO
            } else {
                packet.sent.since(last.sent)
            };
            let gap = ((at - last.arrived) - grace).max(TimeDelta::ZERO);
            if let Some(mean) = &mut self.mean {
                *mean += (gap - *mean).scale(gain);
            } else if last.frame == packet.frame {
                self.mean = Some(gap);
            }
        }
        self.last = Some(Last {
            frame: packet.frame,
            sent: packet.sent,
            arrived: self.last.map_or(at, |last| last.arrived.max(at)),
        });
    }

    /// The mean; `None` before two packets of one frame have arrived.
    pub(crate) const fn mean(&self) -> Option<TimeDelta> {
        self.mean
    }
}
