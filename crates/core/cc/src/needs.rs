//! What each controller needs to be told, and what becomes of it with less.
//!
//! `docs/embed/feedback.md` has the formats of reports, and measures every controller with each.

use mimosa_units::TimeDelta;

use crate::oracle;

/// How often reports have to come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reports {
    /// Never.
    Never,
    /// Once for each packet.
    PerPacket,
    /// Once for each frame, after its last packet.
    PerFrame,
    /// Once in this time.
    Every(TimeDelta),
}

/// Whose arrival times, on the receiver's clock, are used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arrivals {
    /// Nobody's: that a packet arrived is enough.
    Nothing,
    /// Those of the first and the last packet of each frame.
    Frames,
    /// Those of all packets.
    Packets,
}

/// What a controller is made for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Needs {
    /// Reports as often as this, or more often.
    pub made_for: Reports,
    /// The arrival times that it goes by.
    pub arrivals: Arrivals,
    /// It takes the time until a report comes for time in the network: seldom reports look
    /// like a queue.
    pub counts_waiting: bool,
    /// It answers ECN marks.
    pub uses_ecn: bool,
    /// What becomes of it with less.
    pub with_less: &'static str,
}

const fn every(millis: i64) -> Reports {
    Reports::Every(TimeDelta::from_millis(millis))
}

/// What the controller called `name` needs; `None` when there is none of that name.
///
/// ```
/// use mimosa_cc::needs::{Reports, needs};
///
/// let copa = needs("copa").unwrap();
/// assert_eq!(copa.made_for, Reports::PerPacket);
/// assert!(copa.counts_waiting && !copa.uses_ecn);
/// assert!(mimosa_cc::NAMES.iter().all(|name| needs(name).is_some()));
/// ```
#[must_use]
pub fn needs(name: &str) -> Option<Needs> {
    // Those that look at the sender's clock alone.
    let by_round_trips = |with_less| Needs {
        made_for: Reports::PerPacket,
        arrivals: Arrivals::Nothing,
        counts_waiting: true,
        uses_ecn: false,
        with_less,
    };
    // Those whose estimates do not know when they were reported.
    let by_arrivals = |made_for, arrivals, with_less| Needs {
        made_for,
        arrivals,
        counts_waiting: false,
        uses_ecn: false,
        with_less,
    };
    Some(match name {
        "bbr-app" => by_round_trips(BBR_APP),
        "bbr2" => by_round_trips(BBR2),
        "bbr3" => by_round_trips(BBR3),
        "c3g" => by_round_trips(C3G),
        "copa" => by_round_trips(COPA),
        "fixed" => by_arrivals(Reports::Never, Arrivals::Nothing, FIXED),
        "gcc" => by_arrivals(every(50), Arrivals::Packets, GCC),
        "mimosa" => Needs {
            made_for: Reports::PerPacket,
            arrivals: Arrivals::Packets,
            uses_ecn: true,
            ..by_round_trips(MIMOSA)
        },
        "nada" => Needs {
            uses_ecn: true,
            ..by_arrivals(every(100), Arrivals::Packets, NADA)
        },
        oracle::NAME => by_arrivals(Reports::Never, Arrivals::Nothing, ORACLE),
        "prague" => Needs {
            uses_ecn: true,
            ..by_round_trips(PRAGUE)
        },
        "pudica" => Needs {
            made_for: Reports::PerFrame,
            arrivals: Arrivals::Packets,
            ..by_round_trips(PUDICA)
        },
        "salsify" => Needs {
            arrivals: Arrivals::Packets,
            ..by_round_trips(SALSIFY)
        },
        "scream" => Needs {
            made_for: Reports::PerFrame,
            arrivals: Arrivals::Packets,
            uses_ecn: true,
            ..by_round_trips(SCREAM)
        },
        "sqp" => by_arrivals(every(50), Arrivals::Packets, SQP),
        _ => return None,
    })
}

const BBR_APP: &str = "what is sent and not yet reported counts as in flight, and is answered as \
                       congestion: it uses less of the link, and with reports 250 ms apart \
                       the lowest rate alone";
const BBR2: &str = "up to reports 100 ms apart it keeps most of the link and after a fall has a \
                    longer queue; 250 ms apart it loses a third to six sevenths of it";
const BBR3: &str = BBR2;
const C3G: &str = "it uses less of the link; a report that comes 100 ms after its frame is \
                   congestion by itself, so that reports 250 ms apart leave it the lowest rate";
const COPA: &str = "the wait for a report counts as a queue, which it drains: a tenth to a \
    fifth less of the link where packets ask for reports, next to nothing of it with seldom ones";
const FIXED: &str = "it never changes its rate";
const GCC: &str = "the same rates and the same queue";
const MIMOSA: &str = "reports 50 or 100 ms apart cost nothing but their own delay where the link \
                      rests, and 2 to 3 % of it where it falls and rises; 250 ms apart leave a \
                      third; times of a millisecond's resolution (`rfc8888`) leave nine tenths of a \
                      link that rests and five sixths of one that changes";
const NADA: &str = "the same rates and the same queue up to reports 100 ms apart; 250 ms apart it \
                    uses less of a link that changes; without ECN it goes by delay and losses";
const ORACLE: &str = "it is told of the link itself";
const PRAGUE: &str = "round trips hold the wait for a report: it uses less of a link that \
                      changes; without ECN it goes by losses alone and fills the queue";
const PUDICA: &str = "a frame without a report for two intervals is overdue, and the next one is \
                      15 % smaller: a little less of the link up to reports 100 ms apart; after \
                      ten intervals it is silence, which halves the rate: 250 ms apart leave it \
                      the lowest";
const SALSIFY: &str = "what is reported late is under way for longer: frames are smaller or \
                       skipped, and it uses less of the link";
const SCREAM: &str = "the window falls later: less of a link that changes, the more seldom the \
                      less, and at rest no longer a queue up to reports 100 ms apart; without \
                      ECN it goes by delay and losses";
const SQP: &str = "the same rates and the same queue";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::NAMES;

    #[test]
    fn every_controller_says_what_it_needs_and_nothing_else_does() {
        for name in NAMES {
            let needs = needs(name).unwrap_or_else(|| panic!("{name} says nothing"));
            assert!(!needs.with_less.is_empty(), "{name}");
            let is_blind = needs.made_for == Reports::Never;
            assert!(
                !is_blind || !needs.uses_ecn && !needs.counts_waiting,
                "{name}"
            );
        }
        assert_eq!(needs("pudicas"), None);
    }
}
