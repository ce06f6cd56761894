//! The generations of 802.11, and the times and sizes that each of them fixes.

use mimosa_units::{Bytes, Rate, TimeDelta};

/// Headers of a packet on the air: 802.11's header (26 bytes), LLC (8), the check sequence (4),
/// and the delimiter and padding of an aggregate (4 to 7, here 6).
const HEADERS: Bytes = Bytes::new(44);

/// A generation of 802.11, with the channel width and the number of streams of common hardware.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standard {
    /// 802.11n on 20 MHz at 2.4 GHz, two spatial streams.
    N,
    /// 802.11ac on 80 MHz at 5 GHz, two spatial streams.
    Ac,
    /// 802.11ax on 80 MHz at 5 GHz, two spatial streams, without OFDMA.
    Ax,
}

impl Standard {
    /// The names in files, each with its standard.
    pub(super) const NAMED: &'static [(&'static str, Self)] =
        &[("n", Self::N), ("ac", Self::Ac), ("ax", Self::Ax)];

    /// The times, sizes and rates of this standard.
    ///
    /// Sources: IEEE 802.11 for the slot, SIFS, AIFS, symbols, block-ack windows and the bounds of
    /// aggregates; preambles and block acks as in records made with ns-3 3.37, whose durations of
    /// transmissions they reproduce for two spatial streams; beacons fitted to those records.
    pub(super) const fn timing(self) -> Timing {
        let slot = TimeDelta::from_micros(9);
        match self {
            Self::N => Timing {
                slot,
                sifs: TimeDelta::from_micros(10),
                preamble: TimeDelta::from_micros(46),
                block_ack: TimeDelta::from_micros(38),
                symbol: TimeDelta::from_nanos(3_600),
                window: 64,
                most_bytes: Bytes::new(65_535),
                beacon: TimeDelta::from_micros(1_600),
                // Delays in the records fit better without it.
                extended: TimeDelta::ZERO,
                rate: Rate::from_kbps(144_400),
                neighbour: Rate::from_kbps(72_200),
            },
            Self::Ac => Timing {
                slot,
                sifs: TimeDelta::from_micros(16),
                preamble: TimeDelta::from_micros(44),
                block_ack: TimeDelta::from_micros(32),
                symbol: TimeDelta::from_nanos(3_600),
                window: 64,
                most_bytes: Bytes::new(131_071),
                beacon: TimeDelta::from_micros(150),
                extended: TimeDelta::from_micros(60),
                rate: Rate::from_kbps(866_700),
                neighbour: Rate::from_kbps(325_000),
            },
            Self::Ax => Timing {
                slot,
                sifs: TimeDelta::from_micros(16),
                preamble: TimeDelta::from_micros(52),
                block_ack: TimeDelta::from_micros(32),
                symbol: TimeDelta::from_nanos(13_600),
                window: 256,
                most_bytes: Bytes::new(262_143),
                beacon: TimeDelta::from_micros(150),
                extended: TimeDelta::from_micros(60),
                rate: Rate::from_kbps(1_201_000),
                neighbour: Rate::from_kbps(450_000),
            },
        }
    }
}

/// The times, sizes and rates of a standard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timing {
    /// The time of one step of the back-off.
    pub(super) slot: TimeDelta,
    /// Time between a transmission and its block ack.
    pub(super) sifs: TimeDelta,
    /// Time of a transmission before its first data.
    pub(super) preamble: TimeDelta,
    /// Time of a block ack.
    pub(super) block_ack: TimeDelta,
    /// A transmission's data take a whole number of these.
    pub(super) symbol: TimeDelta,
    /// Most packets that may wait for their block ack.
    pub(super) window: usize,
    /// Most bytes in an aggregate.
    pub(super) most_bytes: Bytes,
    /// Time that a beacon occupies the air.
    pub(super) beacon: TimeDelta,
    /// Time that whoever heard a collision waits beyond AIFS.
    pub(super) extended: TimeDelta,
    /// The physical rate near the access point.
    pub(super) rate: Rate,
    /// The physical rate of a neighbour: one spatial stream.
    pub(super) neighbour: Rate,
}

impl Timing {
    /// Time from the end of what others send until the back-off counts: SIFS and the three slots
    /// of best-effort traffic (AIFSN, IEEE 802.11, table of EDCA's defaults).
    pub(super) fn aifs(&self) -> TimeDelta {
        self.sifs + self.slot * 3
    }

    /// Size of a packet on the air, with its headers there.
    pub(super) fn on_air(size: Bytes) -> Bytes {
        size + HEADERS
    }

    /// Time that an aggregate of `bytes` takes at the physical rate `rate`.
    pub(super) fn airtime(&self, bytes: Bytes, rate: Rate) -> TimeDelta {
        let symbol = self.symbol.as_nanos();
        let data = rate.transmit_time(bytes).as_nanos();
        let symbols = data.saturating_add(symbol - 1) / symbol;
        self.preamble + TimeDelta::from_nanos(symbols.saturating_mul(symbol))
    }

    /// Time from the end of a transmission until the air is free again: its block ack.
    pub(super) fn acknowledgement(&self) -> TimeDelta {
        self.sifs + self.block_ack
    }
}
