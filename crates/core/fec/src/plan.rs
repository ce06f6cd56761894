//! Decides how many repair packets a frame needs.
//!
//! Any `k` packets of a frame make it whole, of its `k` media packets and its `r` repair packets.
//! With `X(n)` for the number of packets lost of `n` in a row, and `m` rounds of retransmission
//! before the deadline, the number of packets lacking is:
//!
//! ```text
//! lacking after the first transmission   D(0) = max(0, X(k + r) - r)
//! after each round but the last          D(i) = X(D(i - 1))
//! after the last, which sends e more     D(m) = max(0, X(D(m - 1) + e) - e)
//! ```
//!
//! Packets of one round follow each other, and those of two rounds are a round trip apart, so that
//! `X` of different rounds are independent. The distribution of `X` is exact for Gilbert's model: a
//! recursion over the packets with the fate of the last one as its state ([`losses`]). For
//! independent losses it is the binomial distribution.
//!
//! The *last* round sends so many further repair packets, `e`, that
//!
//! ```text
//! P(D(m) > 0 | D(m - 1) = d)  <=  late / (P(D(0) > 0) q^(m - 1))
//! ```
//!
//! with `q` the share of packets that are lost: the share of frames that may be late, divided by
//! how often a frame comes to this round. A further packet is expensive for every frame, and cheap
//! for the few that have lost something. [`Plan::repairs`] is the least `r` with
//! `P(D(m) > 0) <= late`. Both `r` and `r + e` are at most `most_overhead` of `k`, rounded up.
//!
//! Separate redundancy for first transmissions and retransmissions is the idea of Hairpin (Meng et
//! al., NSDI 2024). Only its abstract was read: the formulas are ours.

use std::collections::BTreeMap;

use mimosa_facts::Loss;

use crate::reed_solomon::MOST_PACKETS;
use crate::xor;

/// Relative change of the loss from which plans are made again. Our choice.
const SAME: f64 = 0.05;
/// Outcomes less likely than this share of the allowed lateness are not computed, and count as
/// late. Our choice.
const UNLIKELY: f64 = 1e-4;

/// A code of repair packets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Code {
    /// Reed-Solomon ([`encode`](crate::encode)): recovers any losses up to the number of repair
    /// packets.
    #[default]
    ReedSolomon,
    /// Exclusive or ([`xor`]): recovers the losses that peeling can resolve.
    Xor,
}

/// The goal of a planner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    /// Share of frames that losses may make late, from 0 to 1.
    pub late: f64,
    /// Most repair packets of a frame, as a share of its media packets.
    pub most_overhead: f64,
}

/// The protection of a frame, and its probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Number of repair packets.
    pub repairs: u32,
    /// Number of rounds of retransmission that fit.
    pub rounds: u32,
    /// Probability that packets have to be sent again, from 0 to 1.
    pub again: f64,
    /// Probability that the frame is late all the same, from 0 to 1.
    pub late: f64,
}

/// The state of a frame of which packets are sent again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lacking {
    /// Number of the frame's media packets.
    pub media: u32,
    /// Number of repair packets sent so far.
    pub repairs: u32,
    /// Number of packets without which the frame is not whole.
    pub packets: u32,
    /// Number of rounds of retransmission before this one.
    pub rounds: u32,
    /// [`Plan::again`] of the frame's plan.
    pub again: f64,
}

/// The [`losses`] of each number of packets, once they were needed.
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

/// Makes plans, and keeps them as long as the loss stays the same.
#[derive(Clone, Debug)]
pub struct Planner {
    target: Target,
    code: Code,
    loss: Loss,
    plans: BTreeMap<(u32, u32), Plan>,
    chances: Chances,
}

impl Planner {
    /// A planner for a path without losses.
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

    /// Sets the model of losses from now on.
    pub fn set_loss(&mut self, loss: Loss) {
        let differs = |new: f64, old: f64| (new - old).abs() > SAME * old;
        if differs(loss.begins, self.loss.begins) || differs(loss.ends, self.loss.ends) {
            self.loss = loss;
            self.plans.clear();
            self.chances.0.clear();
        }
    }

    /// The model of losses for which plans are made.
    #[must_use]
    pub const fn loss(&self) -> Loss {
        self.loss
    }

    /// The plan for a frame of `media` packets when `rounds` rounds of retransmission fit before
    /// its deadline.
    pub fn plan(&mut self, media: u32, rounds: u32) -> Plan {
        if let Some(plan) = self.plans.get(&(media, rounds)) {
            return *plan;
        }
        let plan = self.least(media, rounds);
        self.plans.insert((media, rounds), plan);
        plan
    }

    /// Number of further repair packets for the last round that fits.
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

    /// The plan with a given number of repair packets.
    fn with(&mut self, media: u32, repairs: u32, rounds: u32) -> Plan {
        let first = self.chances.of(self.loss, (media + repairs) as usize);
        // The probability of each number of lacking packets, by index.
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

    /// Share of frames in the last round that may stay incomplete, if a share of `again` of all
    /// frames needs a first round and `rounds` rounds were before this one.
    fn allowed(&self, again: f64, rounds: u32) -> f64 {
        let comes = again * libm::pow(self.loss.rate(), f64::from(rounds));
        if comes > self.target.late {
            self.target.late / comes
        } else {
            1.0
        }
    }

    /// The number of further repair packets, at most `most`, for a last round of `packets` packets,
    /// and the probability that the round leaves the frame incomplete.
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

    /// The probability of each number of lacking packets after a round that is not the last.
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

    /// The probability of each number of lacking packets with peeling, from the probabilities of
    /// the numbers lost. If peeling fails, all lost packets are lacking.
    fn unmendable(first: &[f64], media: usize, repairs: usize) -> Vec<f64> {
        let chances = first.iter().enumerate();
        let chances = chances.map(|(lost, &chance)| match lost {
            0 => chance,
            _ => chance * xor::fails(media, repairs, lost),
        });
        chances.collect()
    }

    /// Most further repair packets of a last round.
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

/// The probabilities that 0, 1, … or all of `packets` packets in a row are lost, whatever happened
/// to the packets before.
#[must_use]
pub fn losses(loss: Loss, packets: usize) -> Vec<f64> {
    // By the fate of the last packet: it arrived, or it was lost.
    let mut good = vec![0.0; packets + 1];
    let mut bad = vec![0.0; packets + 1];
    // Before the first packet, the model is in its stationary state.
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
