//! Cuts access units into payloads (RFC 6184, 5.6 to 5.8; RFC 7798, 4.4).
//!
//! A frame is complete when its last packet has arrived, and pacing counts packets. So an access
//! unit takes the fewest payloads possible, of sizes as equal as possible: the limit on a payload's
//! size is the smallest that does not need more payloads.

use super::{FRAGMENT_END, FRAGMENT_START, Format, UNIT_SIZE, is_sent, units};
use crate::payloads::Payloads;

/// The largest size limit of a payload in bytes: the largest size of a unit in an aggregate, and
/// more than a datagram can carry.
const LARGEST: usize = u16::MAX as usize;

/// Number of bytes in a fragment before the unit's bytes.
const fn fragment_header<F: Format>() -> usize {
    F::HEADER + 1
}

/// The payloads of an access unit in annex B form, of at most `largest` bytes. The limit is clamped
/// to between the size of a fragment of one byte and 65535.
pub(crate) fn packetise<F: Format>(access_unit: &[u8], largest: usize) -> Payloads {
    let smallest = fragment_header::<F>() + 1;
    let units: Vec<&[u8]> = units(access_unit)
        .filter(|unit| is_sent::<F>(unit))
        .collect();
    let (limit, count) = even_limit::<F>(&units, smallest, largest.clamp(smallest, LARGEST));
    let bytes = access_unit.len() + count * fragment_header::<F>();
    let mut payloads = Payloads::with_capacity(bytes, count);
    for part in parts::<F>(&units, limit) {
        match part {
            Part::Single(unit) => {
                payloads.extend(unit);
                payloads.end();
            }
            Part::Aggregate(units) => aggregate::<F>(units, &mut payloads),
            Part::Fragments(unit, count) => fragment::<F>(unit, count, &mut payloads),
        }
    }
    payloads
}

/// The smallest limit that needs no more payloads than the largest one, and the number of these
/// payloads. A smaller limit never needs fewer.
fn even_limit<F: Format>(units: &[&[u8]], smallest: usize, largest: usize) -> (usize, usize) {
    let count = |limit| parts::<F>(units, limit).map(|part| part.payloads()).sum();
    let fewest: usize = count(largest);
    let (mut low, mut high) = (smallest, largest);
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

/// How one or more units are put into payloads.
enum Part<'a> {
    /// The unit is one payload.
    Single(&'a [u8]),
    /// The units share one payload.
    Aggregate(&'a [&'a [u8]]),
    /// The unit is cut into this many payloads.
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

/// Groups units, in their order, into parts of payloads, as many units to a payload as `limit`
/// allows.
fn parts<'a, F: Format>(
    units: &'a [&'a [u8]],
    limit: usize,
) -> impl Iterator<Item = Part<'a>> + use<'a, F> {
    let mut rest = units;
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let together = together::<F>(rest, limit);
        let (taken, left) = rest.split_at(together.max(1));
        rest = left;
        Some(if together > 1 {
            Part::Aggregate(taken)
        } else if first.len() > limit {
            let body = first.len() - F::HEADER;
            Part::Fragments(first, body.div_ceil(limit - fragment_header::<F>()))
        } else {
            Part::Single(first)
        })
    })
}

/// How many of the next units one aggregate holds.
fn together<F: Format>(units: &[&[u8]], limit: usize) -> usize {
    let mut size = F::HEADER;
    units
        .iter()
        .take_while(|unit| {
            size += UNIT_SIZE + unit.len();
            size <= limit
        })
        .count()
}

fn aggregate<F: Format>(units: &[&[u8]], payloads: &mut Payloads) {
    F::begin_aggregate(units, payloads);
    for unit in units {
        // The size is at most `LARGEST`, as the limit is.
        let size = u16::try_from(unit.len()).unwrap_or(u16::MAX);
        payloads.extend(&size.to_be_bytes());
        payloads.extend(unit);
    }
    payloads.end();
}

/// Cuts a unit into `count` fragments, whose sizes differ by one byte at most.
fn fragment<F: Format>(unit: &[u8], count: usize, payloads: &mut Payloads) {
    let Some((header, mut body)) = unit.split_at_checked(F::HEADER) else {
        return;
    };
    let Some((&first, others)) = header.split_first() else {
        return;
    };
    let (each, longer) = (body.len() / count, body.len() % count);
    for index in 0..count {
        let (taken, rest) = body.split_at(each + usize::from(index < longer));
        body = rest;
        let mut own = F::kind(first);
        if index == 0 {
            own |= FRAGMENT_START;
        }
        if index + 1 == count {
            own |= FRAGMENT_END;
        }
        payloads.extend(&[F::with_kind(first, F::FRAGMENT)]);
        payloads.extend(others);
        payloads.extend(&[own]);
        payloads.extend(taken);
        payloads.end();
    }
}
