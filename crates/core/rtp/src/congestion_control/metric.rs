//! The metric of one packet in a report, in 16 bits: whether the packet arrived, its ECN field, and
//! how long before the report.

use mimosa_units::{Ecn, PeerTime};

/// The bit that says that the packet was received.
const RECEIVED: u16 = 0x8000;
/// The position of the ECN field.
const ECN_SHIFT: u32 = 13;
/// The bits of the arrival time offset.
const OFFSET_MASK: u16 = 0x1fff;
/// The offset of a packet that arrived longer ago than an offset can say.
const OVER_RANGE: u16 = 0x1ffe;
/// The offset of a packet that arrived at an unknown time, or after the report's time.
const UNAVAILABLE: u16 = 0x1fff;
/// The longest offset that is a time, in units of 1/1024 s.
const LONGEST: u16 = 0x1ffd;

/// Units of the report's time in a second: the middle 32 bits of an NTP timestamp.
const TICKS_PER_SECOND: i128 = 1 << 16;
/// Units of the report's time in a unit of the offset, 1/1024 s.
pub(super) const TICKS_PER_OFFSET: i64 = 64;
const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// The time of a report, in units of 1/65536 s on the receiver's clock; the wire has its lower 32
/// bits, which wrap after 18.2 hours.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct ReportTime {
    pub(super) ticks: i64,
}

impl ReportTime {
    /// The first report time that is not before `now`, so that no packet has arrived after it.
    #[must_use]
    pub fn not_before(now: PeerTime) -> Self {
        let scaled = i128::from(now.as_nanos()) * TICKS_PER_SECOND;
        let ticks = -(-scaled).div_euclid(NANOS_PER_SECOND);
        Self {
            ticks: i64::try_from(ticks).unwrap_or(i64::MAX),
        }
    }

    /// The 32 bits of the time on the wire.
    #[must_use]
    pub const fn to_wire(self) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the wire has the lower 32 bits"
        )]
        let lower = self.ticks as u32;
        lower
    }

    /// The time on the receiver's clock, rounded down to a nanosecond.
    pub(super) fn to_peer(self) -> PeerTime {
        let nanos = i128::from(self.ticks) * NANOS_PER_SECOND;
        let nanos = nanos.div_euclid(TICKS_PER_SECOND);
        let most = if nanos < 0 { i64::MIN } else { i64::MAX };
        PeerTime::from_nanos(i64::try_from(nanos).unwrap_or(most))
    }
}

/// How long before the report's time a packet arrived.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ArrivalOffset {
    /// The number of whole units of 1/1024 s, at most 8189; a longer time is
    /// [`ArrivalOffset::OverRange`].
    Units(u16),
    /// A time longer than 8189 units.
    OverRange,
    /// An unknown time, or an arrival after the report's time.
    Unavailable,
}

impl ArrivalOffset {
    /// The offset of a packet that arrived `at`, in a report of `time`, rounded down to whole
    /// units.
    #[must_use]
    pub fn of(at: PeerTime, time: ReportTime) -> Self {
        let unit = i128::from(TICKS_PER_OFFSET) * NANOS_PER_SECOND;
        let ticks = i128::from(time.ticks) * NANOS_PER_SECOND;
        let before = ticks - i128::from(at.as_nanos()) * TICKS_PER_SECOND;
        if before < 0 {
            Self::Unavailable
        } else if before > i128::from(LONGEST) * unit {
            Self::OverRange
        } else {
            u16::try_from(before / unit).map_or(Self::OverRange, Self::Units)
        }
    }

    const fn to_bits(self) -> u16 {
        match self {
            Self::Units(units) if units <= LONGEST => units,
            Self::Units(_) | Self::OverRange => OVER_RANGE,
            Self::Unavailable => UNAVAILABLE,
        }
    }

    const fn from_bits(bits: u16) -> Self {
        match bits & OFFSET_MASK {
            OVER_RANGE => Self::OverRange,
            UNAVAILABLE => Self::Unavailable,
            units => Self::Units(units),
        }
    }
}

/// The metric of a packet that arrived.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Metric {
    /// The ECN field with which the packet arrived; `NotEct` also where the receiver does not look
    /// at ECN.
    pub ecn: Ecn,
    /// How long before the report's time the packet arrived.
    pub offset: ArrivalOffset,
}

impl Metric {
    /// The metric of a packet that arrived `at`, in a report of `time`.
    #[must_use]
    pub fn of(at: PeerTime, ecn: Ecn, time: ReportTime) -> Self {
        Self {
            ecn,
            offset: ArrivalOffset::of(at, time),
        }
    }

    /// The 16 bits of a packet's metric; zero for a packet that did not arrive.
    pub(super) fn to_bits(metric: Option<Self>) -> u16 {
        metric.map_or(0, |metric| {
            RECEIVED | ecn_bits(metric.ecn) << ECN_SHIFT | metric.offset.to_bits()
        })
    }

    /// Reads the 16 bits of a packet's metric. If the packet did not arrive, the other bits are
    /// ignored.
    pub(super) const fn from_bits(bits: u16) -> Option<Self> {
        if bits & RECEIVED == 0 {
            return None;
        }
        Some(Self {
            ecn: ecn_of(bits >> ECN_SHIFT),
            offset: ArrivalOffset::from_bits(bits),
        })
    }
}

const fn ecn_bits(ecn: Ecn) -> u16 {
    match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    }
}

const fn ecn_of(bits: u16) -> Ecn {
    match bits & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(numerator: i64, denominator: i64) -> PeerTime {
        PeerTime::from_nanos(1_000_000_000 * numerator / denominator)
    }

    #[test]
    fn the_wire_has_seconds_and_a_fraction_of_16_bits() {
        for (at, wire) in [
            (seconds(0, 1), 0),
            (seconds(1, 1), 0x0001_0000),
            (seconds(3, 2), 0x0001_8000),
            (seconds(65_536, 1), 0),
            (seconds(-1, 1), 0xffff_0000),
            // 1 ns is shorter than a unit.
            (PeerTime::from_nanos(1), 1),
            (PeerTime::from_nanos(-1), 0),
        ] {
            let time = ReportTime::not_before(at);
            assert_eq!(time.to_wire(), wire, "{at:?}");
            assert!(time.to_peer() - at >= mimosa_units::TimeDelta::from_nanos(-1));
        }
    }

    /// Section 3.1: 512 is half a second.
    #[test]
    fn offsets_are_those_of_the_rfc() {
        let time = ReportTime::not_before(seconds(100, 1));
        let before =
            |numerator: i64| ArrivalOffset::of(seconds(100 * 1024 - numerator, 1024), time);
        assert_eq!(before(0), ArrivalOffset::Units(0));
        assert_eq!(before(512), ArrivalOffset::Units(512));
        assert_eq!(before(8188), ArrivalOffset::Units(8188));
        assert_eq!(before(8190), ArrivalOffset::OverRange);
        assert_eq!(before(-1), ArrivalOffset::Unavailable);
        let nanos = |nanos: i64| PeerTime::from_nanos(seconds(100, 1).as_nanos() - nanos);
        // A unit has 976562.5 ns.
        assert_eq!(
            ArrivalOffset::of(nanos(976_562), time),
            ArrivalOffset::Units(0)
        );
        assert_eq!(
            ArrivalOffset::of(nanos(976_563), time),
            ArrivalOffset::Units(1)
        );
        // 8189 units are 7997070312.5 ns; the next nanosecond is greater.
        let longest = 7_997_070_312;
        assert_eq!(
            ArrivalOffset::of(nanos(longest), time),
            ArrivalOffset::Units(8188)
        );
        assert_eq!(
            ArrivalOffset::of(nanos(longest + 1), time),
            ArrivalOffset::OverRange
        );
    }

    #[test]
    fn sixteen_bits_are_those_of_the_rfc() {
        let metric = |ecn, offset| Some(Metric { ecn, offset });
        for (metric, bits) in [
            (None, 0),
            (metric(Ecn::NotEct, ArrivalOffset::Units(0)), 0x8000),
            (metric(Ecn::Ect1, ArrivalOffset::Units(1)), 0xa001),
            (metric(Ecn::Ect0, ArrivalOffset::Units(512)), 0xc200),
            (metric(Ecn::Ce, ArrivalOffset::Units(0x1ffd)), 0xfffd),
            (metric(Ecn::NotEct, ArrivalOffset::OverRange), 0x9ffe),
            (metric(Ecn::Ce, ArrivalOffset::Unavailable), 0xffff),
        ] {
            assert_eq!(Metric::to_bits(metric), bits, "{metric:?}");
            assert_eq!(Metric::from_bits(bits), metric, "{bits:04x}");
        }
        assert_eq!(
            Metric::from_bits(0x7fff),
            None,
            "the other bits are ignored"
        );
        let beyond = metric(Ecn::NotEct, ArrivalOffset::Units(0x2000));
        assert_eq!(Metric::to_bits(beyond), 0x9ffe);
    }
}
