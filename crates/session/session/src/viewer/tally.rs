//! The counts of a viewer's session.

use mimosa_facts::TransportSequence;
use mimosa_units::{Ecn, TimeDelta};

use super::assembler::{Counter, Counts};
use super::sound::SoundCounts;

/// Everything that a session counts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Time from the offer to the connection.
    pub connected: Option<TimeDelta>,
    /// Datagrams and packets that came.
    pub packets: Packets,
    /// Frames by their fate.
    pub frames: Counts,
    /// Frames that refer to no other.
    pub keyframes: u64,
    /// Times that a keyframe was asked for.
    pub keyframes_wanted: u64,
    /// Frames decoded.
    pub decoded: u64,
    /// Frames shown.
    pub shown: u64,
    /// Reports sent.
    pub reports: u64,
    /// Sound frames by their fate.
    pub sound: SoundCounts,
}

/// Counts of datagrams and packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packets {
    /// Datagrams of all kinds.
    pub datagrams: u64,
    /// Bytes of the datagrams, without UDP and IP headers.
    pub bytes: u64,
    /// Packets of the video, of all three kinds.
    pub came: u64,
    /// Retransmissions among the packets of the video.
    pub repeated: u64,
    /// Repair packets among the packets of the video.
    pub repair: u64,
    /// Packets of the video that came with ECT(1) or ECT(0).
    pub capable: u64,
    /// Packets of the video that came with CE.
    pub marked: u64,
    numbers: Counter,
    first: Option<u64>,
    last: u64,
}

impl Packets {
    /// Takes a packet of the video with this transport-wide number.
    pub(super) fn came(&mut self, number: TransportSequence, ecn: Ecn) {
        self.came += 1;
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 | Ecn::Ect1 => self.capable += 1,
            Ecn::Ce => self.marked += 1,
        }
        let number = self.numbers.unwrap(number.0);
        let first = *self.first.get_or_insert(number);
        self.first = Some(first.min(number));
        self.last = self.last.max(number);
    }

    /// Number of packets of the video between the first and the last that never came.
    #[must_use]
    pub fn lost(&self) -> u64 {
        let first = self.first.unwrap_or(self.last + 1);
        (self.last + 1 - first).saturating_sub(self.came)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_came_is_counted_across_the_wrap() {
        let mut packets = Packets::default();
        assert_eq!(packets.lost(), 0);
        for number in [65_533_u16, 65_532, 65_535, 0, 4] {
            packets.came(TransportSequence(number), Ecn::Ect1);
        }
        packets.came(TransportSequence(3), Ecn::Ce);
        assert_eq!(packets.lost(), 3, "65534, 1 and 2");
        assert_eq!((packets.came, packets.capable, packets.marked), (6, 5, 1));
    }
}
