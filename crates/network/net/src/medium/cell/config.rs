//! The parameters of a cell.

use mimosa_units::{Rate, TimeDelta};

/// A slot of the pattern: which direction has how much of it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Slot {
    /// Both directions, each on its own frequency.
    Both,
    /// The link there.
    Down,
    /// Three fifths for the link there, and then the change of direction: 3GPP TS 38.213 leaves
    /// the part open.
    Special,
    /// The link back.
    Up,
}

impl Slot {
    /// The part of the slot that the link there, or else the one back, has.
    pub(super) const fn part(self, is_down: bool) -> f64 {
        match (self, is_down) {
            (Self::Both, _) | (Self::Down, true) | (Self::Up, false) => 1.0,
            (Self::Special, true) => 0.6,
            _ => 0.0,
        }
    }

    /// The slot with this letter.
    pub(super) const fn of(letter: char) -> Option<Self> {
        match letter {
            'F' => Some(Self::Both),
            'D' => Some(Self::Down),
            'S' => Some(Self::Special),
            'U' => Some(Self::Up),
            _ => None,
        }
    }
}

/// Physical rates, one of which the radio channel gives at any time.
#[derive(Clone, Debug, PartialEq)]
pub struct Rates {
    /// The rates, rising: each is given for an equal part of the time.
    pub rates: Vec<Rate>,
    /// Time constant of the channel, after which it has forgotten its state.
    pub hold: TimeDelta,
}

impl Rates {
    /// The mean rate.
    #[must_use]
    pub fn mean(&self) -> Rate {
        let sum: u64 = self.rates.iter().map(|rate| rate.as_bps()).sum();
        Rate::from_bps(sum / self.rates.len().max(1) as u64)
    }
}

/// Breaks at which the station changes to another cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handovers {
    /// Mean time from one to the next, distributed exponentially.
    pub every: TimeDelta,
    /// Time for which nothing is sent.
    pub length: TimeDelta,
}

/// Other stations in the cell that are sent to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Others {
    /// Their number.
    pub count: usize,
    /// Mean lengths of the periods in which each wants all that it can get, and of its pauses,
    /// distributed exponentially; `None` for always.
    pub periods: Option<(TimeDelta, TimeDelta)>,
}

/// The parameters of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellConfig {
    /// Length of a slot.
    pub slot: TimeDelta,
    /// The slots, over and over.
    pub pattern: Vec<Slot>,
    /// Time from a slot's beginning until what it carried has been decoded.
    pub latency: TimeDelta,
    /// Time after which a block that was not understood is sent again.
    pub again_after: TimeDelta,
    /// Share of blocks that are not understood at first.
    pub failed: f64,
    /// Share of repeated blocks that are not understood.
    pub failed_again: f64,
    /// The channel there.
    pub down: Rates,
    /// The channel back.
    pub up: Rates,
    /// Time between a station's occasions to ask for the link back.
    pub request: TimeDelta,
    /// Time from a request until the first slot that is granted.
    pub grant: TimeDelta,
    /// Others that are sent to.
    pub others: Others,
    /// Changes to another cell; `None` for none.
    pub handovers: Option<Handovers>,
}

fn rates(kbps: &[u64], hold: TimeDelta) -> Rates {
    Rates {
        rates: kbps.iter().copied().map(Rate::from_kbps).collect(),
        hold,
    }
}

impl CellConfig {
    /// An LTE cell of 10 MHz with a frequency for each direction and one station at 30 km/h.
    ///
    /// Times: 3GPP TS 36.321, and records made with ns-3 3.37, whose blocks' deciles are the rates
    /// there. The rates back are half of those there, in the middle: ours.
    #[must_use]
    pub fn lte() -> Self {
        let ms = TimeDelta::from_millis;
        let down = [
            0, 14_100, 19_800, 25_500, 30_600, 32_900, 39_200, 55_100, 61_700, 75_400, 75_400,
        ];
        Self {
            slot: ms(1),
            pattern: vec![Slot::Both],
            latency: ms(3),
            again_after: ms(7),
            failed: 0.07,
            failed_again: 0.02,
            down: rates(&down, ms(2)),
            up: rates(&[7_000, 15_000, 20_000, 25_000, 30_000], ms(10)),
            request: ms(8),
            grant: TimeDelta::from_micros(5_000),
            others: Others {
                count: 0,
                periods: None,
            },
            handovers: None,
        }
    }

    /// An NR cell of 100 MHz at 3.5 GHz with the pattern DDDSU. Nothing was compared with it: the
    /// times are those of LTE in slots of half a millisecond, and the rates are ours.
    #[must_use]
    pub fn nr() -> Self {
        let ms = TimeDelta::from_millis;
        let down = [
            60_000, 110_000, 150_000, 190_000, 230_000, 270_000, 310_000, 360_000, 420_000, 500_000,
        ];
        Self {
            slot: TimeDelta::from_micros(500),
            pattern: vec![Slot::Down, Slot::Down, Slot::Down, Slot::Special, Slot::Up],
            latency: ms(1),
            again_after: ms(4),
            failed: 0.08,
            down: rates(&down, ms(5)),
            up: rates(&[80_000, 120_000, 160_000, 200_000], ms(10)),
            request: ms(5),
            grant: ms(3),
            ..Self::lte()
        }
    }

    /// The rate that counts as the capacity in figures: the mean of the channel there, in the part
    /// of the slots that it has.
    #[must_use]
    pub fn capacity(&self) -> Rate {
        let parts: f64 = self.pattern.iter().map(|slot| slot.part(true)).sum();
        self.down
            .mean()
            .scale(parts / self.pattern.len().max(1) as f64)
    }
}
