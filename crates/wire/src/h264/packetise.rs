//! Access units into payloads (RFC 6184, 5.6 to 5.8).
//!
//! A frame is done when its last packet has arrived, and pacing counts packets. So
//! an access unit takes the fewest payloads it can, and these are as equal as they
//! can be: the limit they are cut by is the smallest that needs no more of them.

use mimosa_units::Bytes;

use super::{
    FORBIDDEN_MASK, FRAGMENT_END, FRAGMENT_HEADER, FRAGMENT_START, IMPORTANCE_MASK, KIND_FU_A,
    KIND_MASK, KIND_STAP_A, Payloads, UNIT_SIZE, is_sent, units,
};

/// Smallest limit: a fragment of one byte.
const SMALLEST: usize = FRAGMENT_HEADER + 1;
/// Largest limit: what the size of a unit in a STAP-A can say, and more than a
/// datagram can carry.
const LARGEST: usize = u16::MAX as usize;

/// Cuts access units into RTP payloads.
#[derive(Clone, Copy, Debug)]
pub struct Packetiser {
    largest: usize,
}

impl Packetiser {
    /// Payloads of at most `largest`, taken as 3 bytes when it is less and as
    /// 65535 when it is more.
    #[must_use]
    pub fn new(largest: Bytes) -> Self {
        let largest = usize::try_from(largest.get()).unwrap_or(LARGEST);
        Self {
            largest: largest.clamp(SMALLEST, LARGEST),
        }
    }

    /// The payloads of an access unit in annex B form. Delimiters, supplemental
    /// information and filler are left out; a decoder does without. None at all
    /// when there is no unit to send.
    #[must_use]
    pub fn packetise(&self, access_unit: &[u8]) -> Payloads {
        let units: Vec<&[u8]> = units(access_unit).filter(|unit| is_sent(unit)).collect();
        let (limit, count) = self.even_limit(&units);
        let bytes = access_unit.len() + count * FRAGMENT_HEADER;
        let mut payloads = Payloads::with_capacity(bytes, count);
        for part in parts(&units, limit) {
            match part {
                Part::Single(unit) => {
                    payloads.extend(unit);
                    payloads.end();
                }
                Part::Aggregate(units) => aggregate(units, &mut payloads),
                Part::Fragments(unit, count) => fragment(unit, count, &mut payloads),
            }
        }
        payloads
    }

    /// The smallest limit that needs no more payloads than the largest one, and
    /// how many these are. A smaller limit never needs fewer.
    fn even_limit(self, units: &[&[u8]]) -> (usize, usize) {
        let count = |limit| parts(units, limit).map(|part| part.payloads()).sum();
        let fewest: usize = count(self.largest);
        let (mut low, mut high) = (SMALLEST, self.largest);
        while low < high {
            let middle = usize::midpoint(low, high);
            if count(middle) > fewest {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (high, fewest)
    }
}

/// What becomes of one or more units.
enum Part<'a> {
    /// A payload of its own.
    Single(&'a [u8]),
    /// One payload for all of these.
    Aggregate(&'a [&'a [u8]]),
    /// This many payloads.
    Fragments(&'a [u8], usize),
}

impl Part<'_> {
    fn payloads(&self) -> usize {
        match self {
            Self::Single(_) | Self::Aggregate(_) => 1,
            Self::Fragments(_, count) => *count,
        }
    }
}

/// Units in their order, by as many to a payload as `limit` lets in.
fn parts<'a>(units: &'a [&'a [u8]], limit: usize) -> impl Iterator<Item = Part<'a>> {
    let mut rest = units;
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let together = together(rest, limit);
        let (taken, left) = rest.split_at(together.max(1));
        rest = left;
        Some(if together > 1 {
            Part::Aggregate(taken)
        } else if first.len() > limit {
            let body = first.len() - 1;
            Part::Fragments(first, body.div_ceil(limit - FRAGMENT_HEADER))
        } else {
            Part::Single(first)
        })
    })
}

/// How many of the next units one STAP-A holds.
fn together(units: &[&[u8]], limit: usize) -> usize {
    let mut size = 1;
    units
        .iter()
        .take_while(|unit| {
            size += UNIT_SIZE + unit.len();
            size <= limit
        })
        .count()
}

/// A STAP-A (RFC 6184, 5.7.1). It is as important as its most important unit, and
/// damaged when one of them is.
fn aggregate(units: &[&[u8]], payloads: &mut Payloads) {
    let firsts = || units.iter().filter_map(|unit| unit.first());
    let importance = firsts().map(|first| first & IMPORTANCE_MASK).max();
    let forbidden = firsts().fold(0, |bits, first| bits | first & FORBIDDEN_MASK);
    payloads.extend(&[forbidden | importance.unwrap_or(0) | KIND_STAP_A]);
    for unit in units {
        // At most `LARGEST`, as the limit is.
        let size = u16::try_from(unit.len()).unwrap_or(u16::MAX);
        payloads.extend(&size.to_be_bytes());
        payloads.extend(unit);
    }
    payloads.end();
}

/// `count` FU-As (RFC 6184, 5.8), whose sizes differ by one byte at most.
fn fragment(unit: &[u8], count: usize, payloads: &mut Payloads) {
    let Some((&first, mut body)) = unit.split_first() else {
        return;
    };
    let indicator = first & !KIND_MASK | KIND_FU_A;
    let (each, longer) = (body.len() / count, body.len() % count);
    for index in 0..count {
        let (taken, rest) = body.split_at(each + usize::from(index < longer));
        body = rest;
        let mut header = first & KIND_MASK;
        if index == 0 {
            header |= FRAGMENT_START;
        }
        if index + 1 == count {
            header |= FRAGMENT_END;
        }
        payloads.extend(&[indicator, header]);
        payloads.extend(taken);
        payloads.end();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::depacketise;
    use super::*;

    const LIMIT: Bytes = Bytes::new(1140);

    /// An access unit of units with these first bytes and sizes.
    fn access_unit(units: &[(u8, usize)]) -> Vec<u8> {
        units
            .iter()
            .flat_map(|&(first, size)| {
                let mut unit = vec![0, 0, 0, 1, first];
                unit.resize(4 + size, 0x55);
                unit
            })
            .collect()
    }

    fn sizes(units: &[(u8, usize)]) -> Vec<u64> {
        let payloads = Packetiser::new(LIMIT).packetise(&access_unit(units));
        payloads.sizes().map(Bytes::get).collect()
    }

    #[test]
    fn a_keyframe_is_one_aggregate_and_equal_fragments() {
        let unit = access_unit(&[(9, 2), (0x67, 20), (0x68, 4), (6, 300), (0x65, 4_001)]);
        let payloads = Packetiser::new(LIMIT).packetise(&unit);
        let sizes: Vec<u64> = payloads.sizes().map(Bytes::get).collect();
        assert_eq!(sizes, [1 + 2 + 20 + 2 + 4, 1002, 1002, 1002, 1002]);
        let starts: Vec<&[u8]> = payloads.iter().map(|payload| &payload[..2]).collect();
        assert_eq!(starts[0], [0x78, 0]);
        assert_eq!(starts[1], [0x7c, 0x85]);
        assert_eq!(starts[2], [0x7c, 0x05]);
        assert_eq!(starts[4], [0x7c, 0x45]);
    }

    #[test]
    fn a_unit_that_fits_is_sent_as_it_is() {
        let unit = access_unit(&[(0x41, 1140)]);
        let payloads = Packetiser::new(LIMIT).packetise(&unit);
        assert_eq!(payloads.len(), 1);
        assert_eq!(payloads.get(0), Some(&unit[4..]));
        assert_eq!(payloads.get(1), None);
        assert_eq!(sizes(&[(0x41, 1141)]), [572, 572]);
    }

    #[test]
    fn slices_share_packets_evenly() {
        // Filled one by one, the first packet would have three, the second one.
        let slices = [(0x41, 370), (0x41, 370), (0x41, 370), (0x41, 370)];
        assert_eq!(sizes(&slices), [745, 745]);
        // A fragment never shares, and a smaller limit for the one must not cut
        // the other.
        assert_eq!(sizes(&[(0x65, 2001), (0x65, 1100)]), [1002, 1002, 1100]);
    }

    #[test]
    fn nothing_to_send_is_no_payload() {
        for stream in [&[][..], &[1, 2, 3], &[0, 0, 1, 9, 0x10, 0, 0, 1, 12, 0x80]] {
            assert!(Packetiser::new(LIMIT).packetise(stream).is_empty());
        }
    }

    /// Bytes as they can stand in a unit: emulation prevention (H.264, 7.4.1) and
    /// no zero at the end.
    fn unit() -> impl Strategy<Value = Vec<u8>> {
        let body = prop_oneof![
            3 => prop::collection::vec(prop_oneof![Just(0), 0..4u8, any::<u8>()], 0..60),
            1 => prop::collection::vec(any::<u8>(), 0..6_000),
        ];
        (any::<u8>(), body).prop_map(|(first, body)| {
            let mut unit = vec![first];
            let mut zeros = u32::from(first == 0);
            for byte in body {
                if zeros == 2 && byte <= 3 {
                    unit.push(3);
                    zeros = 0;
                }
                unit.push(byte);
                zeros = if byte == 0 { zeros + 1 } else { 0 };
            }
            unit.push(0x80);
            unit
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn what_is_packetised_comes_back(
            given in prop::collection::vec(unit(), 0..8),
            largest in 3..3_000usize,
        ) {
            let stream: Vec<u8> = given
                .iter()
                .flat_map(|unit| [&[0, 0, 1][..], unit].concat())
                .collect();
            let payloads = Packetiser::new(Bytes::new(largest as u64)).packetise(&stream);
            let back = depacketise(payloads.iter());
            let back = back.map_err(|error| TestCaseError::fail(error.to_string()))?;
            let sent: Vec<&[u8]> = given
                .iter()
                .map(Vec::as_slice)
                .filter(|unit| is_sent(unit))
                .collect();
            prop_assert_eq!(units(&back).collect::<Vec<_>>(), sent);
            prop_assert!(payloads.iter().all(|payload| (1..=largest).contains(&payload.len())));
        }

        #[test]
        fn no_fewer_payloads_and_no_smaller_largest_one_are_possible(
            sizes in prop::collection::vec(2..200usize, 1..6),
            largest in 20..120u64,
        ) {
            let units: Vec<_> = sizes.iter().map(|&size| (0x41, size)).collect();
            let stream = access_unit(&units);
            let payloads = Packetiser::new(Bytes::new(largest)).packetise(&stream);
            let most = payloads.sizes().max().unwrap_or(Bytes::ZERO);
            prop_assert!(most.get() <= largest);
            if most.get() > SMALLEST as u64 {
                let tighter = Packetiser::new(Bytes::new(most.get() - 1)).packetise(&stream);
                prop_assert!(tighter.len() > payloads.len());
            }
        }
    }
}
