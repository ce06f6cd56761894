//! The result of a test.

use mimosa_units::{Bytes, Rate, TimeDelta};

/// What a line is like, in the direction from the sender to the receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// The rate that the test's flow had while the line was full; the highest rate that the test sent
    /// at if it never was.
    pub rate: Rate,
    /// Whether the line was never full, so that its rate is at least [`Line::rate`].
    pub is_rate_least: bool,
    /// The shortest time from a packet's departure to the report on it.
    pub round_trip: TimeDelta,
    /// Delay above the least that 95 % of packets do not exceed while the line is at rest.
    pub jitter: TimeDelta,
    /// The line's queue; `None` if the line was never full.
    pub buffer: Option<Buffer>,
    /// Grade by the delay that a full line adds; `None` if the line was never full.
    pub grade: Option<Grade>,
    /// Share of packets lost while the queue was at most three tenths full, from 0 to 1.
    pub loss_at_rest: f64,
    /// Share of the ramp's packets lost from when the queue was longer; `None` if it never was.
    pub loss_when_full: Option<f64>,
    /// What arrived of the largest train of packets that left at once.
    pub burst: Bytes,
    /// Whether the largest train arrived whole, so that the line takes at least [`Line::burst`] at once.
    pub is_burst_least: bool,
    /// How the line serves packets.
    pub medium: Medium,
    /// Bytes that the test has sent.
    pub spent: Bytes,
    /// How long the test took.
    pub took: TimeDelta,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// This is what the line is like.
    Found(Line),
    /// No report came of what arrived.
    NoReports,
}

/// The queue before the narrowest link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Buffer {
    /// Delay that the full queue adds to a packet.
    pub delay: TimeDelta,
    /// Bytes that the queue holds.
    pub size: Bytes,
    /// Whether the test ended before the queue was full, so that the queue is at least this long.
    pub is_least: bool,
}

/// How bad the delay is that a full line adds, by the limits of Waveform's bufferbloat test
/// (waveform.com/tools/bufferbloat). Its grade A+, below 5 ms, is an A here.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Grade {
    /// Less than 30 ms.
    A,
    /// Less than 60 ms.
    B,
    /// Less than 200 ms.
    C,
    /// Less than 400 ms.
    D,
    /// 400 ms and more.
    F,
}

impl Grade {
    /// The delay from which the grade is [`Grade::F`].
    pub const WORST: TimeDelta = TimeDelta::from_millis(400);

    /// The grade of a line that adds this much delay when it is full.
    #[must_use]
    pub fn of(added: TimeDelta) -> Self {
        let millis = |limit| TimeDelta::from_millis(limit);
        match added {
            added if added < millis(30) => Self::A,
            added if added < millis(60) => Self::B,
            added if added < millis(200) => Self::C,
            added if added < Self::WORST => Self::D,
            _ => Self::F,
        }
    }

    /// The grade's letter.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::A => 'A',
            Self::B => 'B',
            Self::C => 'C',
            Self::D => 'D',
            Self::F => 'F',
        }
    }
}

/// How a line serves packets, as far as their arrivals show it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Medium {
    /// One packet after the other, as cables and fibres do.
    Steady,
    /// Several packets at once, at irregular times: Wi-Fi, as a rule.
    InAggregates,
    /// Several packets at once, at regular times for which each packet waits: mobile networks, cable
    /// networks towards the provider, and other links that are shared in turns.
    InTurns,
    /// Too few packets arrived to tell.
    Unknown,
}

impl Medium {
    /// The medium's name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::InAggregates => "in-aggregates",
            Self::InTurns => "in-turns",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grade_begins_at_its_limit() {
        let grade = |millis| Grade::of(TimeDelta::from_millis(millis)).letter();
        let limits = [-3, 0, 29, 30, 59, 60, 199, 200, 399, 400, 9_000];
        assert_eq!(limits.map(grade).iter().collect::<String>(), "AAABBCCDDFF");
    }
}
