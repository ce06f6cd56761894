//! The answer to a queue that others keep: the flow competes for its part as TCP does.
//!
//! A queue that stands and overflows although the flow has little of the link is not its own, and does
//! not go when the flow sends less. The flow then answers losses, and marks, as N connections of TCP
//! would (J. Crowcroft and P. Oechslin, *Differentiated end-to-end Internet services using a weighted
//! proportional fair sharing TCP*, CCR 1998), each of which grows and falls as CUBIC does where it is no
//! faster than Reno (RFC 9438, section 4.3):
//!
//! ```text
//! B <- B + N a M / T per round trip T       B <- B (1 - (1 - b) / max(N, 1))  after a loss
//! ```
//!
//! N falls with the flow's share of the link: from the most for a flow that has a third of it, to one
//! for a flow that has two fifths, to none for one that has three fifths. The most is one or five: five keep a third of the
//! link beside senders that losses hardly slow down, such as BBR, and harm where several flows of this kind compete with
//! TCP. A flow cannot know how many others share the link, and finds out which it is: see `trial.rs`.
//!
//! A flow that yields early may lose nothing while TCP loses. So the flow competes also where it has less than a
//! seventh of the link for seconds while a queue of others stands, whether or not a packet of its own was lost. Links that
//! carry few packets in a frame's interval are left out: several flows of this kind have as little there.
//!
//! Copa (V. Arun and H. Balakrishnan, NSDI 2018, section 2.2) competes while a queue does not empty. A
//! queue that empties here, or a flow that has most of the link, ends the competition as well. Flows of
//! this kind that are left alone with their queue see it drain after a loss, add nothing meanwhile, and
//! are done with it in some seconds.
//!
//! *Deviations*: a connection of TCP has a window, this flow a bitrate, so that a fall drains the queue
//! at once. N is no constant. The bitrate grows by a tenth in a round trip at most.

use mimosa_units::{Rate, Time, TimeDelta};

use super::trial::{Choice, Trial};
use super::{Config, FULL};

/// a and b of the law: what CUBIC adds in a round trip, in packets, and what a loss leaves (RFC 9438,
/// sections 4.3 and 4.6).
const GROWTH: f64 = 0.53;
const LEFT: f64 = 0.7;
/// Time over which it is averaged how often the queue is another's.
const PATIENCE: TimeDelta = TimeDelta::from_millis(2_000);
/// Part of that time from which on the flow competes, and below which it no longer does: our choice.
/// The queue of a connection of Reno is gone a third of the time.
const MOSTLY: f64 = 0.45;
const SELDOM: f64 = 0.2;
/// Time since a loss up to which whoever keeps the queue is one who lets it overflow. A queue that does
/// not is left to the law for queues, which others of one's own kind have as well.
const OVERFLOWS: TimeDelta = TimeDelta::from_millis(30_000);
/// Time over which the queue has to become shorter, and what then is left of it: while it drains, nobody
/// of this kind adds to it, so that a queue which only they keep is soon gone.
const FALLING: TimeDelta = TimeDelta::from_millis(300);
const LESS: f64 = 0.98;
/// Shares of the link up to which N is greatest, between which it is one, and from which on it is zero.
/// Found with one connection of CUBIC or BBR in a buffer of one round trip: N is greatest up to the
/// least share that a flow shall have beside BBR, and falls so quickly that one flow leaves CUBIC half.
const SMALL: f64 = 0.33;
const EVEN: f64 = 0.38;
const HALF: f64 = 0.5;
const LARGE: f64 = 0.6;
/// Share of lost packets from which on a flow that competes lets few packets leave together at a frame's start: our choice.
/// Beside BBR and NADA the flow loses 2.5 to 12 %.
const IGNORED: f64 = 0.025;
/// Share of the link below which a flow has so little that it competes without a loss of its own, and the time over which
/// it is averaged how often that is so beside a queue that stands: our choice.
const STARVED: f64 = 0.14;
const STARVING: TimeDelta = TimeDelta::from_millis(4_000);
/// Share of lost packets up to which N may be greatest, and from which on it is one at most: our choice. Beside one
/// connection of BBR the flow loses a twenty-fifth, and each of three 6 to 7 %.
const FEW_LOST: f64 = 0.06;
const MANY_LOST: f64 = 0.15;
/// Number of packets over which that share is averaged.
const PACKETS: f64 = 512.0;
/// Most that the bitrate grows in a round trip, our choice: where few packets are on their way, one more
/// is much.
const MOST_GROWTH: f64 = 0.1;
/// Most round trips for which a round counts: a round that a pause makes longer is no reason to grow
/// by more.
const LONGEST_ROUND: f64 = 4.0;
/// How much more a moment counts in which nothing of others is seen: a path that has become longer
/// looks like a queue, until its smallest delay is known.
const ALONE: f64 = 3.0;
/// How much more a moment counts in which a queue is gone that was theirs: our choice. NADA's and `BBRv3`'s are gone for a good
/// part of the time.
const GONE: f64 = 1.5;

/// What a round shows of the queue and of the flow's part.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    /// The flow's share of the link, from 0 to 1.
    pub(super) share: f64,
    /// Whether no others are seen in the load.
    pub(super) is_alone: bool,
    /// Whether the link carries few packets in a frame's interval.
    pub(super) is_slow: bool,
    /// The queue that stood throughout the last tenth of a second.
    pub(super) standing: TimeDelta,
    /// The round trip with that queue.
    pub(super) round_trip: TimeDelta,
}

/// Whether the flow competes, and what it has answered.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Part of the time in which the queue was another's, older times with less weight.
    theirs: f64,
    looked: Time,
    competes: bool,
    /// When the newest round was answered.
    answered: Time,
    /// When the bitrate was last lowered: packets that left before say nothing new.
    lowered: Time,
    /// Whether a packet that left after that was lost or marked, and when one last was.
    congested: bool,
    overflowed: Option<Time>,
    /// Part of the time in which the flow had little of the link beside a queue that stood, older times with less weight.
    starved: f64,
    /// The queue that stood a while ago, and when.
    before: (Time, TimeDelta),
    /// Whether the queue has become shorter since then, or is gone.
    drains: bool,
    /// Share of lost packets.
    lost: f64,
    trial: Trial,
}

impl Beside {
    /// Whether the flow competes.
    pub(super) const fn competes(&self) -> bool {
        self.competes
    }

    /// Whether the flow competes and loses so many packets that others seem to ignore losses.
    pub(super) fn competes_and_loses_many(&self) -> bool {
        self.competes && self.lost > IGNORED
    }

    /// Takes what became of a packet that left at `sent`.
    pub(super) fn resolved(&mut self, sent: Time, is_lost: bool) {
        self.lost += (f64::from(u8::from(is_lost)) - self.lost) / PACKETS;
        if self.competes {
            self.trial.resolved(is_lost);
        }
        if is_lost {
            self.congested(sent);
        }
    }

    /// Takes a packet that left at `sent` and was lost or marked.
    pub(super) fn congested(&mut self, sent: Time) {
        self.congested |= sent > self.lowered;
        self.overflowed = self.overflowed.max(Some(sent));
    }

    /// Decides at `now` whether the flow competes: once the queue has been another's for a while and either overflows or
    /// leaves the flow little, and until it has not been for as long. A queue is worth it that is longer than
    /// `least` and, at the beginning, shorter than `most`.
    pub(super) fn look(&mut self, now: Time, view: View, least: TimeDelta, most: TimeDelta) {
        let passed = now.since(std::mem::replace(&mut self.looked, now));
        let is_long = view.standing > least && view.standing < most;
        let is_starved = is_long && view.share < STARVED && !view.is_alone && !view.is_slow;
        // The first look of a flow that came late covers nothing.
        let round = passed.min(view.round_trip.scale(LONGEST_ROUND));
        let kept = libm::exp(-round.ratio(STARVING));
        self.starved = kept * self.starved + (1.0 - kept) * f64::from(u8::from(is_starved));
        let stands = if self.competes {
            view.standing > least / 2 && view.share < LARGE + 0.1
        } else {
            let overflows = self.overflowed.is_some_and(|at| now.since(at) < OVERFLOWS);
            (overflows || self.starved > MOSTLY) && is_long && view.share < HALF
        };
        let is_gone = self.competes && view.standing <= least / 2;
        let (at, before) = self.before;
        if now.since(at) > FALLING {
            self.drains = view.standing < before.scale(LESS);
            self.before = (now, view.standing);
        }
        let is_theirs = stands && !view.is_alone;
        self.drains |= is_gone;
        let counts = match (view.is_alone, is_gone) {
            (true, _) => ALONE,
            (false, true) => GONE,
            (false, false) => 1.0,
        };
        let kept = libm::exp(-passed.scale(counts).ratio(PATIENCE));
        self.theirs = kept * self.theirs + (1.0 - kept) * f64::from(u8::from(is_theirs));
        let enough = if self.competes { SELDOM } else { MOSTLY };
        if (self.theirs > enough) != self.competes {
            self.competes = !self.competes;
            self.trial.turned(now, self.competes);
            self.answered = now;
            self.lowered = now;
            self.congested = false;
        }
    }

    /// The bitrate after a round that ends at `now`, and whether it was lowered. N is `connections` at most, and a trial finds out
    /// whether it is one, unless `trial` is zero. The bitrate does not grow while the queue is longer than `delay_budget`.
    pub(super) fn answer(
        &mut self,
        now: Time,
        bitrate: Rate,
        view: View,
        config: &Config,
    ) -> (Rate, bool) {
        let most = config.connections;
        let before = std::mem::replace(&mut self.answered, now);
        let one = most.min(1.0);
        let excess = ((self.lost - FEW_LOST) / (MANY_LOST - FEW_LOST)).clamp(0.0, 1.0);
        let choice = if config.trial > TimeDelta::ZERO {
            self.trial
                .took_round(now, view.standing, view.round_trip, config);
            self.trial.choice()
        } else {
            Choice::Most
        };
        let connections = match choice {
            Choice::One => one,
            Choice::Most => most + (one - most) * excess,
            Choice::MostWhateverIsLost => most,
        };
        let weight = weight(view.share, connections);
        if std::mem::take(&mut self.congested) {
            self.lowered = now;
            return (bitrate.scale(1.0 - (1.0 - LEFT) / weight.max(1.0)), true);
        }
        if view.standing > config.delay_budget || self.drains {
            return (bitrate, false);
        }
        let rounds = now.since(before).ratio(view.round_trip).min(LONGEST_ROUND);
        let step = Rate::of(FULL, view.round_trip).scale(GROWTH * weight);
        let step = step.min(bitrate.scale(MOST_GROWTH)).scale(rounds);
        (bitrate + step, false)
    }
}

/// N of the law for a flow that has this share of the link, and `connections` at most.
fn weight(share: f64, connections: f64) -> f64 {
    if share < EVEN {
        let small = ((EVEN - share) / (EVEN - SMALL)).min(1.0);
        1.0 + (connections - 1.0) * small
    } else {
        ((LARGE - share) / (LARGE - HALF)).clamp(0.0, 1.0)
    }
}
