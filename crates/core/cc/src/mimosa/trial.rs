//! As how many connections of TCP a competing flow stands, found by trying one and then the most.
//!
//! *Ours.* A flow that has little of the link cannot see whether it competes with a sender that hardly answers losses, or
//! with many senders that all do. In the first case it needs many connections to keep its part. In the second each
//! connection takes a part from all others and makes all lose more. So the flow begins as one connection and then tries
//! the most:
//!
//! - The queue is short for a part of the time while the flow is one connection, and far more packets are lost with the
//!   most: others answer losses, and the flow goes back to one connection. Other flows of this kind meet the same queue, try at
//!   the same time, and come to the same end.
//! - The queue stays full while the flow is one connection: losses are hardly answered, and the flow stays with the most.
//! - About as many packets are lost with one connection as with the most: others do not care, and the flow stays with the
//!   most.
//! - So few packets are lost with the most that a connection of TCP would still have the bitrate `unharmed`: they do no harm.
//!
//! While the flow tries the most, it stands as the most whatever is lost. Where losses alone would make it fewer, the trial would
//! tell nothing, and a flow beside a sender that ignores losses would have next to nothing until the trial ends.
//!
//! A flow alone cannot tell from its own losses what others do that tried at another time. Some of many flows may therefore
//! stay with the most while the others are one connection each.

use mimosa_units::{Rate, Time, TimeDelta};

use super::{Config, FULL};

/// Time after a change of the connections that does not count: our choice.
const SETTLES: TimeDelta = TimeDelta::from_millis(2_000);
/// Time of competition for which the outcome of a trial holds at most, our choice: a trial takes 14 s.
const HOLDS: TimeDelta = TimeDelta::from_millis(120_000);
/// Time after a competition for which the next one goes on with the outcome: our choice, longer than TCP needs to come back.
const REMEMBERED: TimeDelta = TimeDelta::from_millis(30_000);
/// Share of lost packets above which losses do harm on the shortest path: our choice.
const MOST_HARMLESS: f64 = 0.025;
/// Ratio of the packets lost with one connection to those lost with the most below which one connection helps. With a round
/// trip of 20 ms it is 0.05 to 0.3 for three to ten flows beside CUBIC, 0.55 beside `BBRv3`, and above 1 beside NADA.
const HELPS: f64 = 0.5;
/// Ratio to the share that was lost at first from which on the trial is made again where that does harm: our choice.
const MORE: f64 = 2.0;
/// Part of the longest queue below which a queue is short, and part of the time for which a queue is short that stays full.
/// With one connection a queue is short for 39 to 80 % of the time beside CUBIC, NADA and `BBRv3`, and for 7 to 23 % beside BBR
/// where the buffer has 20 ms or more.
const SHORT: f64 = 0.6;
const SELDOM: f64 = 0.3;
/// Time in which the longest queue is forgotten: our choice, some saw teeth.
const FORGOTTEN: TimeDelta = TimeDelta::from_millis(20_000);
/// Most that a round counts: between two competitions there are no rounds.
const LONGEST_ROUND: TimeDelta = TimeDelta::from_millis(200);

/// Round trips for which losses and the queue have to be counted at least, our choice: saw teeth take the longer, the longer
/// the round trip is.
const ROUND_TRIPS: u32 = 50;

/// What the flow does, and what it knows. Shares are of lost packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Stage {
    /// The flow tries one connection.
    #[default]
    TriesOne,
    /// The flow tries the most connections, after it has lost this share with one.
    TriesMost { with_one: f64 },
    /// One connection helps: with the most this share was lost.
    One { with_most: f64 },
    /// The flow goes on with the most connections. `at_first` is the share that it lost in the first count since then, and
    /// `with_one` the share that it had lost with one connection, where others ignore losses.
    Most {
        at_first: Option<f64>,
        with_one: Option<f64>,
    },
}

/// As how many connections of TCP a flow competes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Choice {
    One,
    /// As the most, while not too many packets are lost.
    Most,
    /// As the most: others ignore losses, and fewer connections would be crowded out.
    MostWhateverIsLost,
}

/// The trial, and what it has told.
#[derive(Debug, Default)]
pub(super) struct Trial {
    stage: Stage,
    /// Time of competition in this stage.
    lasted: TimeDelta,
    counted: Counted,
    /// The longest queue, which is forgotten in time, and the newest round.
    longest: TimeDelta,
    newest: Time,
    /// When the last competition ended.
    ended: Time,
}

/// What was counted while the flow competed.
#[derive(Debug, Default)]
struct Counted {
    time: TimeDelta,
    /// Time of that for which the queue was short.
    short: TimeDelta,
    packets: u32,
    lost: u32,
}

impl Trial {
    /// Takes the beginning or the end of a competition.
    pub(super) fn turned(&mut self, now: Time, competes: bool) {
        if !competes {
            self.ended = now;
        } else if now.since(self.ended) > REMEMBERED {
            self.enter(Stage::TriesOne);
        }
    }

    /// Takes what became of a packet while the flow competes.
    pub(super) fn resolved(&mut self, is_lost: bool) {
        let Counted { packets, lost, .. } = &mut self.counted;
        *packets = packets.saturating_add(1);
        *lost = lost.saturating_add(u32::from(is_lost));
    }

    /// Takes a round of a competition that ends at `now`, with the queue that stood throughout, and the round trip without a queue.
    pub(super) fn took_round(
        &mut self,
        now: Time,
        standing: TimeDelta,
        round_trip: TimeDelta,
        config: &Config,
    ) {
        let passed = now.since(std::mem::replace(&mut self.newest, now));
        let kept = libm::exp(-passed.ratio(FORGOTTEN));
        self.longest = standing.max(self.longest.scale(kept));
        let passed = passed.min(LONGEST_ROUND);
        self.counted.time += passed;
        if standing < self.longest.scale(SHORT) {
            self.counted.short += passed;
        }
        let settles = self.lasted < SETTLES;
        self.lasted += passed;
        if settles {
            self.counted = Counted::default();
        } else if self.counted.time > config.trial.max(round_trip * ROUND_TRIPS) {
            let counted = std::mem::take(&mut self.counted);
            let harmless = harmless(config.unharmed, round_trip + self.longest);
            let next = self.after(&counted, harmless);
            if std::mem::discriminant(&next) == std::mem::discriminant(&self.stage) {
                self.stage = next;
            } else {
                self.enter(next);
            }
        }
    }

    fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        self.lasted = TimeDelta::ZERO;
        self.counted = Counted::default();
    }

    /// The stage that follows from what was counted in the present one, where losses do no harm up to the share `harmless`.
    fn after(&self, counted: &Counted, harmless: f64) -> Stage {
        let lost = f64::from(counted.lost) / f64::from(counted.packets.max(1));
        let is_full = counted.short < counted.time.scale(SELDOM);
        let one_helps = |with_one: f64| lost > harmless && with_one < HELPS * lost;
        let most = |with_one| Stage::Most {
            at_first: None,
            with_one,
        };
        match self.stage {
            Stage::TriesOne if is_full => most(None),
            Stage::TriesOne => Stage::TriesMost { with_one: lost },
            Stage::TriesMost { .. } if lost < harmless => most(None),
            Stage::TriesMost { with_one }
            | Stage::Most {
                with_one: Some(with_one),
                ..
            } if one_helps(with_one) => Stage::One { with_most: lost },
            Stage::TriesMost { with_one } => most(Some(with_one)),
            Stage::One { with_most } if is_full || lost > with_most => Stage::TriesOne,
            Stage::Most { .. } if self.lasted > HOLDS => Stage::TriesOne,
            Stage::Most {
                at_first: Some(at_first),
                with_one: None,
            } if lost > (MORE * at_first).max(harmless) => Stage::TriesOne,
            Stage::Most {
                at_first: None,
                with_one,
            } => Stage::Most {
                at_first: Some(lost),
                with_one,
            },
            stage => stage,
        }
    }

    /// As how many connections the flow competes.
    pub(super) const fn choice(&self) -> Choice {
        match self.stage {
            Stage::TriesOne | Stage::One { .. } => Choice::One,
            Stage::TriesMost { .. }
            | Stage::Most {
                with_one: Some(_), ..
            } => Choice::MostWhateverIsLost,
            Stage::Most { with_one: None, .. } => Choice::Most,
        }
    }
}

/// The share of lost packets up to which losses do no harm over this round trip, with its queue: the one with which a connection of
/// TCP has the bitrate X = `unharmed`. The share is p = 3/2 (s / (R X))^2, the throughput equation of RFC 5348, section 3.1, for
/// packets of s bytes and a round trip of R, without the term of the retransmission timeout.
fn harmless(unharmed: Rate, round_trip: TimeDelta) -> f64 {
    let window = unharmed.amount_in(round_trip).get() as f64 / FULL.get() as f64;
    (1.5 / (window * window)).min(MOST_HARMLESS)
}
