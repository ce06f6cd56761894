//! How many repair packets a frame needs.
//!
//! Any `k` of a frame's packets make it whole: its `k` media packets and whatever repair
//! packets are sent with them. With `r` of those, `X(n)` for how many of `n` packets in a
//! row are lost and `m` rounds of retransmission before the deadline, it goes on so:
//!
//! ```text
//! lacking after the first transmission   D(0) = max(0, X(k + r) - r)
//! after each round but the last          D(i) = X(D(i - 1))
//! after the last, which sends e more     D(m) = max(0, X(D(m - 1) + e) - e)
//! ```
//!
//! Packets of one round follow each other, those of two are a round trip apart, so that
//! `X` of different rounds are independent. The distribution of `X` is exact for Gilbert's
//! model: a recursion over the packets, with what became of the last one as its state
//! ([`losses`]); where losses are independent it is the binomial one.
//!
//! The *last* round sends so many further repair packets `e` as make
//!
//! ```text
//! P(D(m) > 0 | D(m - 1) = d)  <=  late / (P(D(0) > 0) q^(m - 1))
//! ```
//!
//! with `q` the share of packets that are lost: what is allowed to be late, over how often a
//! frame comes to this round. A packet more is dear for every frame and cheap for the few
//! that have lost something. [`Plan::repairs`] is the least `r` with `P(D(m) > 0) <= late`;
//! both `r` and `r + e` are at most `most_overhead` of `k`, rounded up.
//!
//! That first transmissions and retransmissions have each their own redundancy is the idea of
//! Hairpin (Meng et al., NSDI 2024). Only its abstract was read: the formulas are ours.

use std::collections::BTreeMap;

use mimosa_facts::Loss;

use crate::reed_solomon::MOST_PACKETS;
use crate::xor;

/// Plans are made again when the loss has changed by this part. Our choice.
const SAME: f64 = 0.05;
/// What is less likely than this part of what may be late is not worked out: it counts as
/// late. Our choice.
const UNLIKELY: f64 = 1e-4;

/// Which losses repair packets make good.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Code {
    /// As many as there are repair packets, whichever ([`encode`](crate::encode)).
    #[default]
    ReedSolomon,
    /// Those that peeling finds ([`xor`]).
    Xor,
}

/// What a planner is to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Share of frames that may be late for what was lost of them.
    pub late: f64,
    /// Most repair packets over media packets of a frame.
    pub most_overhead: f64,
}

/// What is sent with a frame, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Repair packets.
    pub repairs: u32,
    /// Rounds of retransmission that fit.
    pub rounds: u32,
    /// Probability that something has to be sent again.
    pub again: f64,
    /// Probability that the frame is late all the same.
    pub late: f64,
}

/// What is lacking of a frame when it is sent again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lacking {
    /// Media packets of the frame.
    pub media: u32,
    /// Repair packets sent so far.
    pub repairs: u32,
    /// Packets without which it is not whole.
    pub packets: u32,
    /// Rounds of retransmission before this one.
    pub rounds: u32,
    /// As its plan had it.
    pub again: f64,
}

/// [`losses`] of each number of packets that was asked for.
#[derive(Clone, Debug)]
struct Chances(Vec<Option<Vec<f64>>>);

impl Chances {
    fn of(&mut self, loss: Loss, packets: usize) -> &[f64] {
        if self.0.len() <= packets {
            self.0.resize(packets + 1, None);
        }
        self.0[packets].get_or_insert_with(|| losses(loss, packets))
    }
}

/// Plans, kept as long as the loss stays the same.
#[derive(Clone, Debug)]
pub struct Planner {
    target: Target,
    code: Code,
    loss: Loss,
    plans: BTreeMap<(u32, u32), Plan>,
    chances: Chances,
}

impl Planner {
    /// A planner that knows of no loss.
    #[must_use]
    pub const fn new(target: Target, code: Code) -> Self {
        Self {
            target,
            code,
            loss: Loss::NONE,
            plans: BTreeMap::new(),
            chances: Chances(Vec::new()),
        }
    }

    /// How packets are lost from now on.
    pub fn set_loss(&mut self, loss: Loss) {
        let differs = |new: f64, old: f64| (new - old).abs() > SAME * old;
        if differs(loss.begins, self.loss.begins) || differs(loss.ends, self.loss.ends) {
            self.loss = loss;
            self.plans.clear();
            self.chances.0.clear();
        }
    }

    /// The loss that plans are made for.
    #[must_use]
    pub const fn loss(&self) -> Loss {
        self.loss
    }

    /// What to send with a frame of so many media packets, when so many rounds of
    /// retransmission fit before its deadline.
    pub fn plan(&mut self, media: u32, rounds: u32) -> Plan {
        if let Some(plan) = self.plans.get(&(media, rounds)) {
            return *plan;
        }
        let plan = self.least(media, rounds);
        self.plans.insert((media, rounds), plan);
        plan
    }

    /// Further repair packets for the last round that fits.
    #[must_use]
    pub fn extra(&mut self, lacking: &Lacking) -> u32 {
        let allowed = self.allowed(lacking.again, lacking.rounds);
        let most = self.most_extra(lacking.media, lacking.repairs);
        self.last_round(lacking.packets, allowed, most).0
    }

    fn least(&mut self, media: u32, rounds: u32) -> Plan {
        let most = self.most(media);
        let mut repairs = 0;
        loop {
            let plan = self.with(media, repairs, rounds);
            if plan.late <= self.target.late || repairs >= most {
                return plan;
            }
            repairs += 1;
        }
    }

    /// What comes of so many repair packets.
    fn with(&mut self, media: u32, repairs: u32, rounds: u32) -> Plan {
        let first = self.chances.of(self.loss, (media + repairs) as usize);
        // Index: how many packets lack.
        let mut lacking: Vec<f64> = match self.code {
            Code::ReedSolomon => first[(repairs as usize).min(first.len())..].to_vec(),
            Code::Xor => Self::unmendable(first, media as usize, repairs as usize),
        };
        let again: f64 = lacking.iter().skip(1).sum();
        let mut late = again;
        if rounds > 0 && again > 0.0 {
            for _ in 1..rounds {
                lacking = self.after_round(&lacking);
            }
            let allowed = self.allowed(again, rounds - 1);
            let most = self.most_extra(media, repairs);
            late = (1..)
                .zip(&lacking[1..])
                .map(|(packets, &chance)| {
                    if chance < UNLIKELY * self.target.late {
                        return chance;
                    }
                    chance * self.last_round(packets, allowed, most).1
                })
                .sum();
        }
        Plan {
            repairs,
            rounds,
            again,
            late,
        }
    }

    /// What the last round may leave undone, when `again` of all frames come to the first
    /// and so many were before it.
    fn allowed(&self, again: f64, rounds: u32) -> f64 {
        let comes = again * libm::pow(self.loss.rate(), f64::from(rounds));
        if comes > self.target.late {
            self.target.late / comes
        } else {
            1.0
        }
    }

    /// The further repair packets for a last round of so many packets, at most `most`, and
    /// the probability that it leaves the frame incomplete.
    fn last_round(&mut self, packets: u32, allowed: f64, most: u32) -> (u32, f64) {
        let mut extra = 0;
        loop {
            let lost = self.chances.of(self.loss, (packets + extra) as usize);
            let fails: f64 = lost.iter().skip(extra as usize + 1).sum();
            if fails <= allowed || extra >= most {
                return (extra, fails);
            }
            extra += 1;
        }
    }

    /// Index: how many packets lack after a round that is not the last.
    fn after_round(&mut self, lacking: &[f64]) -> Vec<f64> {
        let mut after = vec![0.0; lacking.len()];
        for (packets, chance) in lacking.iter().enumerate() {
            let lost = self.chances.of(self.loss, packets);
            for (after, lost) in after.iter_mut().zip(lost) {
                *after += chance * lost;
            }
        }
        after
    }

    /// Of the chances that so many packets are lost those that peeling does not make good;
    /// all that are lost lack then.
    fn unmendable(first: &[f64], media: usize, repairs: usize) -> Vec<f64> {
        let chances = first.iter().enumerate();
        let chances = chances.map(|(lost, &chance)| match lost {
            0 => chance,
            _ => chance * xor::fails(media, repairs, lost),
        });
        chances.collect()
    }

    /// Further repair packets that a last round may have.
    fn most_extra(&self, media: u32, repairs: u32) -> u32 {
        match self.code {
            Code::ReedSolomon => self.most(media).saturating_sub(repairs),
            Code::Xor => 0,
        }
    }

    /// Most repair packets of a frame.
    fn most(&self, media: u32) -> u32 {
        let share = (f64::from(media) * self.target.most_overhead).ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "casting a float saturates"
        )]
        let share = share as u32;
        let room = match self.code {
            Code::ReedSolomon => MOST_PACKETS.saturating_sub(media as usize),
            Code::Xor if media as usize <= xor::MOST_MEDIA => xor::MOST_REPAIRS,
            Code::Xor => 0,
        };
        share.min(u32::try_from(room).unwrap_or(u32::MAX))
    }
}

/// The probabilities that none, one, … all of so many packets in a row are lost, whatever
/// became of the packets before.
#[must_use]
pub fn losses(loss: Loss, packets: usize) -> Vec<f64> {
    // By what became of the last packet: it arrived, or it was lost.
    let mut good = vec![0.0; packets + 1];
    let mut bad = vec![0.0; packets + 1];
    // Before the first packet: the state that the model is in at any time.
    good[0] = 1.0 - loss.rate();
    bad[0] = loss.rate();
    for packet in 0..packets {
        for count in (0..=packet + 1).rev() {
            let (more_good, more_bad) = match count.checked_sub(1) {
                Some(fewer) => (good[fewer], bad[fewer]),
                None => (0.0, 0.0),
            };
            good[count] = good[count] * (1.0 - loss.begins) + bad[count] * loss.ends;
            bad[count] = more_good * loss.begins + more_bad * (1.0 - loss.ends);
        }
    }
    good.iter().zip(&bad).map(|(a, b)| a + b).collect()
}
