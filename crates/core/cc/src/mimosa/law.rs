//! The law: one change of the bitrate in a feedback round, by the load of the link, by marks, or by
//! losses.

use mimosa_facts::{Cause, FrameId};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::beside::View;
use super::busy::Reference;
use super::{Config, Mimosa};

/// Lowest load that the law is given. A lower one cannot be told from that of an idle link.
const LOWEST_SHARE: f64 = 0.01;
/// Packets of others whose queue is no reason to compete, and their size: our choice. Three flows of
/// this kind let as many stand on a slow link.
const STANDING: u32 = 8;
const PACKET: Bytes = Bytes::new(1_200);
/// Noise, in frame intervals, that is expected where trains do not show it: half of the 1/1024 s of RFC 8888 at
/// 60 frames a second.
const COARSE: f64 = 0.03;
/// Time of the link for one packet, in frame intervals, from which on the load is as coarse as that, and up to which it is
/// fine: our choice. A link of 30 Mbit/s carries 52 packets in a frame's interval, and one of 10 Mbit/s 17.
const FEW_PACKETS: f64 = 0.06;
const MANY_PACKETS: f64 = 0.02;
/// Least distance from a to b, our choice: a reserve that came at once would make the loop swing.
const LEAST_WIDTH: f64 = 0.05;
/// Least factor by which one round changes the bitrate. `GREATEST_FACTOR` is the greatest.
const LEAST_FACTOR: f64 = 0.7;
const GREATEST_FACTOR: f64 = 2.0;

impl Mimosa {
    /// Applies the law, with one change of the bitrate in a feedback round.
    pub(super) fn adapt(&mut self, now: Time, newest: FrameId, reference: &Reference) {
        let since = now - self.config.smoothing_window;
        let expected = self.rate.scale(self.fill.get());
        let Some(share) = self.intervals.smoothed(since, expected, reference) else {
            return;
        };
        self.decision.evidence.smoothed_utilization = Some(share);
        if self.compete(now, newest, share) {
            return;
        }
        if newest < self.hold_until {
            self.set_cause(Cause::AwaitFeedback);
            return;
        }
        let lost = f64::from(self.lost) / f64::from(self.accounted.max(1));
        (self.lost, self.accounted) = (0, 0);
        let (rate, cause) = if lost > self.config.loss {
            (self.rate.scale(1.0 - lost / 2.0), Cause::Loss)
        } else {
            let (factor, cause) = self.factor(now, share.max(LOWEST_SHARE));
            let rate = self.followed(now).unwrap_or(self.rate.scale(factor));
            match self.in_time() {
                Some(bound) if bound < rate => (bound, Cause::DelayBudget),
                _ => (rate, cause),
            }
        };
        if self.move_to(rate, cause, newest) {
            self.hold_until = self.next_frame;
        }
    }

    /// The bitrate that the newest frames say a link carries whose rate varies; `None` beside others,
    /// where the rate varies little or too much or delays vary, and where those frames say nothing.
    fn followed(&self, now: Time) -> Option<Rate> {
        let Config {
            follow_to,
            follow_noise,
            target_share,
            ..
        } = self.config;
        let varies = self.wanders() && self.bottleneck.spread() < follow_to;
        let is_clear = self.noise() <= self.interval.scale(follow_noise);
        let lately = self.bottleneck.lately(now)?;
        (varies && is_clear && self.others < self.alone(now))
            .then(|| lately.scale(target_share / self.fill.get()))
    }

    /// Whether the link's own rate wanders: its trains differ, and each is like the one before.
    fn wanders(&self) -> bool {
        self.bottleneck.spread() > self.config.follow_from
            && self.bottleneck.restlessness() < self.config.follow_restlessness
    }

    /// The bitrate whose frames do best before the deadline. `None` where the link does not serve in
    /// turns, where the path is too long for a frame of one interval to be in time, and while nothing
    /// bounds it.
    fn in_time(&self) -> Option<Rate> {
        let Config {
            deadline,
            punctuality,
            ..
        } = self.config;
        let shortest = self.base.round_trip()? + self.interval;
        if !self.bottleneck.serves_in_turns() || shortest > deadline {
            return None;
        }
        let link = self.bottleneck.rate()?;
        let size = self.deadline.best(deadline, punctuality, link)?;
        let rate = (self.interval > TimeDelta::ZERO).then(|| Rate::of(size, self.interval))?;
        Some(rate.scale(1.0 / self.fill.get()))
    }

    /// Sets the bitrate to `rate` for the reason `cause`, or to the most that the frame `newest` says
    /// something about. Returns whether it was set.
    fn move_to(&mut self, rate: Rate, cause: Cause, newest: FrameId) -> bool {
        // A small frame says little about a rate many times its own.
        let tried = self.intervals.get_mut(newest).map(|each| each.bitrate());
        let bound = tried.map_or(Rate::MAX, |tried| {
            tried.scale(self.config.application_headroom / self.fill.get())
        });
        if rate >= self.rate && bound <= self.rate {
            self.set_cause(Cause::ApplicationLimited);
            return false;
        }
        let is_highest = self.rate == self.limits.max() && rate >= self.rate;
        self.set_rate(
            rate.min(bound.max(self.rate)),
            if is_highest { Cause::AtMaximum } else { cause },
        );
        true
    }

    /// Competes with others at the averaged load `load`, if the queue is theirs. Returns whether it
    /// does.
    fn compete(&mut self, now: Time, newest: FrameId, load: f64) -> bool {
        let config = &self.config;
        let (Some(link), Some(round_trip)) = (self.bottleneck.rate(), self.base.round_trip())
        else {
            return false;
        };
        let share = self.rate.scale(self.fill.get()).ratio(link).min(1.0);
        let view = View {
            share,
            is_alone: others(share, load) < self.alone(now),
            is_slow: self.few_packets() > 0.0,
            standing: self.base.lasting(),
            round_trip,
        };
        // Where delays differ from packet to packet, the smallest of half a minute is far below those
        // of most moments; and a few flows of one's own kind let that many packets stand.
        let packets = link.transmit_time(PACKET) * STANDING;
        let unsteady = self.base.unsteady().scale(config.unsteady_gain);
        let least = config.others_queue.max(packets).max(unsteady);
        self.beside.look(now, view, least, config.delay_budget);
        if !self.beside.competes() {
            return false;
        }
        self.others = others(share, load);
        let (rate, is_lower) = self.beside.answer(now, self.rate, view, config);
        let cause = if is_lower {
            Cause::Loss
        } else {
            Cause::Competing
        };
        self.move_to(rate, cause, newest);
        self.hold_until = self.next_frame;
        (self.lost, self.accounted) = (0, 0);
        true
    }

    /// Factor by which a round that ends at `now` changes the bitrate at the averaged load `load`,
    /// and the rule behind it. Also sets `others`.
    pub(super) fn factor(&mut self, now: Time, load: f64) -> (f64, Cause) {
        let sent = self.rate.scale(self.fill.get());
        let (factor, is_alone) = self.by_load(now, load, sent);
        let (factor, cause) = match self.by_marks(now, sent) {
            // Beside others, marks say what the flow's part is, and the load does not.
            Some(marked) if !is_alone || marked < factor => (marked, Cause::Marked),
            _ => (factor, Cause::AboveQueueTarget),
        };
        let cause = if factor >= 1.0 {
            Cause::BelowQueueTarget
        } else {
            cause
        };
        (factor.clamp(LEAST_FACTOR, GREATEST_FACTOR), cause)
    }

    /// The factor by the load of the link, of a flow that sends `sent`, and whether the flow counts
    /// as alone. Also sets `others`.
    fn by_load(&mut self, now: Time, load: f64, sent: Rate) -> (f64, bool) {
        let config = &self.config;
        let link = self.bottleneck.rate();
        let own = link.map_or(1.0, |link| sent.ratio(link).min(1.0));
        self.others = others(own, load);
        let noise = self.taken_for_noise(now);
        let alone = self.alone_above(noise);
        let width = config.shared_from - noise;
        let beside = (self.others - alone) / width.max(LEAST_WIDTH);
        let reserve = config.shared_drop * beside.clamp(0.0, 1.0);
        let target = config.target_share - reserve;
        let gain = if load < config.knee * target {
            config.far_gain
        } else {
            config.near_gain
        };
        let pull = libm::exp(config.pull * (1.0 - own));
        (libm::pow(target / load, gain) * pull, self.others < alone)
    }

    /// Part of the load brought by others up to which the flow counts as alone at `now`: a link whose rate
    /// varies looks as if others were there.
    pub(super) fn alone(&self, now: Time) -> f64 {
        self.alone_above(self.taken_for_noise(now))
    }

    fn alone_above(&self, noise: f64) -> f64 {
        noise + self.config.spread_part * self.bottleneck.spread()
    }

    /// Part of the load that counts as noise on a link whose rate is steady: a path whose delays vary, and a link that
    /// carries few packets in a frame's interval, look as if others were there. Where marks say what the flow's part is,
    /// it needs not be told early that others are there.
    pub(super) fn taken_for_noise(&self, now: Time) -> f64 {
        let is_coarse = self.bottleneck.is_coarse() || self.marks.are_met(now);
        let noise = if is_coarse {
            COARSE
        } else if self.interval > TimeDelta::ZERO {
            let noise = self.noise().ratio(self.interval);
            noise.clamp(COARSE * self.few_packets(), COARSE)
        } else {
            0.0
        };
        self.config.alone + self.config.noise_part * noise
    }

    /// How coarse the load is for the packets that the link carries in a frame's interval: from 0 for many of them to 1
    /// for few.
    fn few_packets(&self) -> f64 {
        let link = self.bottleneck.rate();
        let Some(link) = link.filter(|_| self.interval > TimeDelta::ZERO) else {
            return 0.0;
        };
        let packet = link.transmit_time(PACKET).ratio(self.interval);
        ((packet - MANY_PACKETS) / (FEW_PACKETS - MANY_PACKETS)).clamp(0.0, 1.0)
    }

    /// The factor by marks, of a flow that sends `sent`; `None` where marks are not recent, or
    /// where the queue that stands is longer than one that marks early keeps it.
    fn by_marks(&mut self, now: Time, sent: Rate) -> Option<f64> {
        let round_trip = self.base.round_trip().unwrap_or(TimeDelta::ZERO);
        let factor = self.marks.answer(now, sent, round_trip);
        let is_short = self.base.standing() <= self.config.marked_queue;
        (self.marks.are_recent(now) && is_short).then_some(factor)
    }
}

/// The part of the averaged load `load` that others bring, from 0 to 1, where the flow's own is `own`.
fn others(own: f64, load: f64) -> f64 {
    (1.0 - own / load.min(1.0)).clamp(0.0, 1.0)
}
