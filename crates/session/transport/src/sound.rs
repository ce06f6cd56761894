//! The packets of the sound: one for each frame, with earlier frames repeated if the browser
//! supports it.

use std::collections::VecDeque;

use mimosa_rtp::red::{self, Earlier};
use mimosa_units::Bytes;

/// Most earlier frames in a packet: two make up for two lost in a row, and a third would come after
/// the browser has stopped waiting for it.
const MOST_EARLIER: usize = 2;

/// Bytes of a packet of sound beside its payload: IPv4 20, UDP 8, RTP 12 and the tag of AES-GCM 16
/// (RFC 7714).
pub const SOUND_OVERHEAD: Bytes = Bytes::new(56);

/// What both ends have agreed on for sound.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Agreed {
    /// Payload type of Opus.
    pub(crate) opus: u8,
    /// Payload type of packets with redundancy (RFC 2198), if the browser supports them.
    pub(crate) red: Option<u8>,
}

/// An RTP packet, without what the peer adds.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Packet {
    pub(crate) payload_type: u8,
    pub(crate) sequence: u64,
    pub(crate) payload: Vec<u8>,
}

/// Numbers packets, and remembers frames to repeat.
#[derive(Debug)]
pub(crate) struct Sound {
    agreed: Agreed,
    next: u64,
    earlier: VecDeque<(u32, Vec<u8>)>,
}

impl Sound {
    /// The state before the first packet. RTP numbers begin at `first`.
    pub(crate) fn new(agreed: Agreed, first: u16) -> Self {
        Self {
            agreed,
            next: u64::from(first),
            earlier: VecDeque::new(),
        }
    }

    /// Whether packets can repeat earlier frames.
    pub(crate) const fn takes_redundancy(&self) -> bool {
        self.agreed.red.is_some()
    }

    /// The packet of a frame, which repeats up to `redundancy` earlier ones.
    pub(crate) fn packet(&mut self, timestamp: u32, frame: &[u8], redundancy: usize) -> Packet {
        let count = redundancy.min(self.earlier.len());
        let (payload_type, payload) = match self.agreed.red {
            // All packets have the same payload type, so that a browser need not switch.
            Some(red) => {
                let earlier = self.earlier.range(self.earlier.len() - count..);
                let earlier: Vec<_> = earlier
                    .map(|(at, payload)| Earlier {
                        age: timestamp.wrapping_sub(*at),
                        payload,
                    })
                    .collect();
                (red, red::write(self.agreed.opus, &earlier, frame))
            }
            None => (self.agreed.opus, frame.to_vec()),
        };
        if self.earlier.len() == MOST_EARLIER {
            self.earlier.pop_front();
        }
        self.earlier.push_back((timestamp, frame.to_vec()));
        self.next += 1;
        Packet {
            payload_type,
            sequence: self.next - 1,
            payload,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sound(red: Option<u8>) -> Sound {
        Sound::new(Agreed { opus: 111, red }, 9)
    }

    #[test]
    fn packets_have_the_frames_before_them() {
        let mut sound = sound(Some(63));
        assert!(sound.takes_redundancy());
        let start = u32::MAX - 500;
        let packets: Vec<_> = [0, 2, 1, 2, 9]
            .into_iter()
            .zip(0_u8..)
            .map(|(redundancy, number)| {
                let timestamp = start.wrapping_add(480 * u32::from(number));
                sound.packet(timestamp, &[number], redundancy)
            })
            .collect();
        assert!(packets.iter().all(|packet| packet.payload_type == 63));
        let numbers: Vec<_> = packets.iter().map(|packet| packet.sequence).collect();
        assert_eq!(numbers, [9, 10, 11, 12, 13]);
        let ages = |ages: &[u32], frames: [u8; 3]| {
            let count = ages.len();
            let blocks: Vec<_> = ages
                .iter()
                .zip(&frames[2 - count..])
                .map(|(age, frame)| Earlier {
                    age: *age,
                    payload: std::slice::from_ref(frame),
                })
                .collect();
            red::write(111, &blocks, &frames[2..])
        };
        assert_eq!(packets[0].payload, ages(&[], [0, 0, 0]));
        assert_eq!(packets[1].payload, ages(&[480], [0, 0, 1]));
        assert_eq!(packets[2].payload, ages(&[480], [0, 1, 2]));
        assert_eq!(packets[3].payload, ages(&[960, 480], [1, 2, 3]));
        assert_eq!(packets[4].payload, ages(&[960, 480], [2, 3, 4]));
    }

    #[test]
    fn a_player_without_redundancy_gets_plain_frames() {
        let mut sound = sound(None);
        assert!(!sound.takes_redundancy());
        for number in 0..3 {
            let packet = sound.packet(480 * u32::from(number), &[number], 2);
            assert_eq!((packet.payload_type, packet.payload), (111, vec![number]));
        }
    }
}
