//! The size of a single frame: smaller than the bitrate has it, or skipped, while data wait before the
//! link.

use mimosa_facts::Cause;
use mimosa_units::{Bytes, Time, TimeDelta};

use super::Mimosa;
use super::busy::Interval;

/// A frame is made smaller if it is larger by more than this factor than the link carries in a
/// frame's time.
const BEYOND: f64 = 1.1;
/// Part of a frame's size by the bitrate below which the rate of trains alone does not reduce
/// it.
const LEAST_BY_TRAINS: f64 = 0.25;
/// Longest time without a frame while frames are skipped: one frame is then sent, so that
/// feedback can show that the link is back.
const LONGEST_SKIP: TimeDelta = TimeDelta::from_millis(100);
/// Reports are seldom that come further apart than this many frame intervals: our choice.
const SELDOM: f64 = 1.5;
/// Largest backlog that counts as none: three packets of 1200 bytes.
const LEAST_BACKLOG: Bytes = Bytes::new(3_600);

impl Mimosa {
    /// Size limit of the next frame and its cause; `None` where the bitrate alone says its size, which
    /// is `own`. `age` is by how much the oldest frame on its way is overdue.
    pub(super) fn size_limit(
        &mut self,
        now: Time,
        age: TimeDelta,
        own: Bytes,
    ) -> Option<(Bytes, Cause)> {
        let least = self.limits.min().amount_in(self.interval);
        let backlog = self.beside_backlog(now, own);
        let backlog = backlog.map(|size| (self.or_skipped(now, size, least), Cause::FrameFallback));
        let late = self.beside_overdue(now, age, own, least);
        let late = late.map(|size| (size, Cause::NextDelayFallback));
        let anew = self.seeing_the_path(now, own);
        let anew = anew.map(|size| (size.max(least), Cause::PathChange));
        [backlog, late, anew]
            .into_iter()
            .flatten()
            .filter(|(size, _)| *size < own)
            .min_by_key(|(size, _)| *size)
    }

    /// The size of a frame to which the backlog leaves `left`: at least `least`, and zero if the backlog
    /// takes more than a frame's time by itself, since even a small frame would then be late.
    fn or_skipped(&mut self, now: Time, left: Bytes, least: Bytes) -> Bytes {
        let skips = left == Bytes::ZERO
            && self.config.skips_by_backlog
            && !self.bottleneck.serves_in_turns()
            && now.since(self.shown) < LONGEST_SKIP;
        if skips {
            return Bytes::ZERO;
        }
        self.shown = now;
        left.max(least)
    }

    /// Size limit of the next frame while the oldest one on its way is overdue by `age`; `None`
    /// if that is not too long. `own` is the frame's size by the bitrate, `least` that by the
    /// lowest bitrate.
    fn beside_overdue(
        &mut self,
        now: Time,
        age: TimeDelta,
        own: Bytes,
        least: Bytes,
    ) -> Option<Bytes> {
        let config = &self.config;
        let is_reported_seldom = self.report_gap.get() > self.interval.scale(SELDOM);
        let is_patient = self.bottleneck.serves_in_turns()
            || self.others >= self.alone(now)
            || is_reported_seldom;
        let interval = if is_patient {
            self.interval.scale(config.patience)
        } else {
            self.interval
        };
        if age <= interval.scale(config.overdue) {
            None
        } else if age <= interval.scale(config.stalled) {
            Some(own.scale(0.5))
        } else if age <= interval.scale(config.skipping) || now.since(self.shown) >= LONGEST_SKIP {
            self.shown = now;
            Some(least)
        } else {
            Some(Bytes::ZERO)
        }
    }

    /// Half of the frame's size by the bitrate, `own`, if a queue has stood for so long that
    /// the delay without it will soon be forgotten; `None` otherwise.
    fn seeing_the_path(&mut self, now: Time, own: Bytes) -> Option<Bytes> {
        let is_busy = self.decision.evidence.smoothed_utilization? > self.config.target_share;
        if !is_busy || self.beside.competes() || !self.base.is_stale(now) {
            return None;
        }
        self.base.asked(now);
        Some(own.scale(0.5))
    }

    /// Age of the oldest frame on its way, less the smallest round trip, the time for which
    /// frames wait for infrequent reports, and beside a queue of others the delay allowed. Zero if no
    /// frame is on its way.
    pub(super) fn overdue(&mut self, now: Time) -> TimeDelta {
        let waits = (self.report_gap.get() - self.interval).max(TimeDelta::ZERO);
        let allowed = if self.beside.competes() {
            self.config.delay_budget
        } else {
            TimeDelta::ZERO
        };
        let expected = self.base.round_trip().unwrap_or(TimeDelta::ZERO) + waits + allowed;
        let oldest = self.intervals.oldest_open().and_then(Interval::first_sent);
        oldest.map_or(TimeDelta::ZERO, |sent| now.since(sent) - expected)
    }

    /// Size limit of the next frame by the backlog and by the link's rate; `None` if neither
    /// limits it. `own` is the frame's size by the bitrate.
    fn beside_backlog(&mut self, now: Time, own: Bytes) -> Option<Bytes> {
        if self.beside.competes() {
            return None;
        }
        let carried = self.bottleneck.newest(now).map(|link| {
            let link = link
                .scale(self.config.target_share)
                .amount_in(self.interval);
            let probes = self.probe_size.scale(f64::from(self.probes(own)));
            (link - probes).scale(1.0 / self.fill.get())
        });
        // Trains alone make a frame no smaller than that: noise may have stretched them.
        let carried = carried.map(|carried| carried.max(own.scale(LEAST_BY_TRAINS)));
        let carried = carried.filter(|carried| own > carried.scale(BEYOND));
        match (self.left_by_backlog(now, own), carried) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// Size that the backlog leaves to the next frame; `None` if there is no backlog, or none
    /// is known. The backlog is what the frame will find when it comes out of the encoder: the data
    /// in flight and the rest of the frame before, less what the link serves until then from the
    /// time at which the newest packet that arrived left it.
    fn left_by_backlog(&mut self, now: Time, own: Bytes) -> Option<Bytes> {
        let service = self.bottleneck.service.rate()?;
        let (_, left) = self.newest?;
        self.decision.evidence.service_rate = Some(service);
        let (time, unsent) = if self.config.foresees_encoding {
            (self.encoding.time(), self.encoding.unsent())
        } else {
            (TimeDelta::ZERO, Bytes::ZERO)
        };
        let served = service.amount_in((now + time).since(left));
        let backlog = self.in_flight + unsent - served;
        self.decision.evidence.backlog = Some(backlog);
        let counts = if self.bottleneck.serves_in_turns() {
            self.config.turns_backlog_share
        } else {
            self.config.backlog_share
        };
        let counts = own.scale(counts).max(LEAST_BACKLOG);
        let fits = service
            .scale(self.config.target_share)
            .amount_in(self.interval);
        (backlog > counts).then(|| fits - backlog)
    }
}
