//! How fast the viewer decodes and shows.
//!
//! A decoder in hardware may take longer than the time between two frames and still keep up, because
//! it works on several. A frame that arrives late arrives together with others, and waits for them
//! without fault of the viewer. So a frame counts as *behind* only if two things come together: it
//! waits longer than usual, by more than the time between frames, and its own time from when the
//! decoder was free is longer than that as well.
//!
//! A viewer that decodes in time may still show few pictures. Those that it could show are the frames
//! that arrived by themselves, not in the same moment as the one before, and no more than its display
//! refreshes: the least time between two pictures shows how often that is.

use std::collections::VecDeque;

use mimosa_facts::FrameId;
use mimosa_units::{PeerTime, Time, TimeDelta};

/// The number of frames that are looked at, and how many of them have to be behind. Our choice: a
/// fifth of a second at 60 frames a second, and two thirds.
const WINDOW: usize = 12;
const BEHIND: usize = 8;
/// The time over which pictures are counted, and how many such times in a row too few have to be shown.
/// Our choice: the page's own counts come as often.
const SPAN: TimeDelta = TimeDelta::from_millis(1_000);
const SPANS: u32 = 2;
/// The share of the pictures that could be shown below which too few are. Our choice: with a third
/// missing, a picture stutters.
const FEW: f64 = 0.66;
/// The fewest pictures shown in that time by a viewer that is judged: none are by one that is hidden or
/// paused. Our choice.
const SOME: u32 = 2;
/// The most pictures between two that a viewer tells of. Our choice: a quarter of [`SPAN`] at 60 a second;
/// counts may begin anew.
const MOST_SHOWN: u32 = 15;
/// The part of the time between frames after which a frame has arrived by itself. Our choice.
const ITSELF: f64 = 0.5;
/// The share of dropped frames from which a viewer is behind, in [`COUNTS`] of its counts in a row.
/// Our choice.
const DROPPED: f64 = 0.1;
const COUNTS: u32 = 2;
/// The fewest frames of a count: as many as the session needs to judge a decoder.
const FEWEST: u64 = 10;
/// How long the least waits are remembered, at least. Our choice: as the statistics' percentiles.
const REMEMBERED: TimeDelta = TimeDelta::from_millis(10_000);
/// The share of the pictures, or of what its decoder could do, that a viewer gets that has dropped
/// frames, or was too slow before. Our choice.
const LESS: f64 = 0.7;
/// How long a viewer has to keep up before it gets more, by this factor; there is no limit any more at
/// [`ENOUGH`] times what it does then. Our choice.
const MORE_AFTER: TimeDelta = TimeDelta::from_millis(2_000);
const MORE: f64 = 1.25;
const ENOUGH: f64 = 2.5;
/// The longest that [`MORE_AFTER`] becomes.
const MOST_WAIT: TimeDelta = TimeDelta::from_millis(60_000);

/// What a viewer says of a frame, with times on one clock.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The number of the frame.
    pub frame: FrameId,
    /// When the frame's last packet came.
    pub received: Time,
    /// When it was decoded.
    pub decoded: Time,
    /// When it was on the screen.
    pub shown: Time,
    /// The number of pictures that were shown so far, also of frames about which nothing is said.
    pub count: u32,
}

/// The least of the values of some time.
#[derive(Clone, Copy, Debug)]
struct Least {
    begun: Time,
    now: TimeDelta,
    before: TimeDelta,
}

impl Least {
    const NONE: TimeDelta = TimeDelta::from_nanos(i64::MAX);

    const fn new() -> Self {
        Self {
            begun: Time::ZERO,
            now: Self::NONE,
            before: Self::NONE,
        }
    }

    /// The least value.
    fn value(&self) -> TimeDelta {
        self.now.min(self.before)
    }

    /// Takes a value; returns how far it is above the least.
    fn above(&mut self, now: Time, value: TimeDelta) -> TimeDelta {
        if now.since(self.begun) > REMEMBERED {
            self.begun = now;
            self.before = self.now;
            self.now = Self::NONE;
        }
        self.now = self.now.min(value);
        value - self.value()
    }
}

/// What is known of a viewer.
#[derive(Clone, Debug)]
pub(super) struct Viewing {
    decoding: Least,
    last: Option<Seen>,
    /// The last frames: the decoder's own time, and whether they are behind.
    frames: VecDeque<(TimeDelta, bool)>,
    /// When the last frame arrived, by the viewer's clock.
    arrived: Option<PeerTime>,
    /// What is counted since when: frames that could be shown, and pictures that were.
    begun: Time,
    could: u32,
    shown: u32,
    /// The number of times in a row in which too few were.
    few: u32,
    /// The time between two pictures on the screen: the least of some time.
    refreshes: Least,
    is_hidden: bool,
    counts: Option<(u64, u64)>,
    /// The number of counts in a row with too many dropped frames.
    dropping: u32,
    /// The work that the viewer does in a second, once it was behind.
    capacity: Option<f64>,
    /// The pictures that it shows in a second, once it showed too few.
    pictures: Option<f64>,
    /// When it was behind last, or got more.
    changed: Time,
    rose: Option<Time>,
    wait: TimeDelta,
}

impl Viewing {
    pub(super) const fn new() -> Self {
        Self {
            decoding: Least::new(),
            last: None,
            frames: VecDeque::new(),
            arrived: None,
            begun: Time::ZERO,
            could: 0,
            shown: 0,
            few: 0,
            refreshes: Least::new(),
            is_hidden: false,
            counts: None,
            dropping: 0,
            capacity: None,
            pictures: None,
            changed: Time::ZERO,
            rose: None,
            wait: MORE_AFTER,
        }
    }

    /// The pictures that the viewer shows in a second; `None` if no limit is known.
    pub(super) const fn pictures(&self) -> Option<f64> {
        self.pictures
    }

    /// The work that the decoder does in a second; `None` if no limit is known.
    pub(super) const fn capacity(&self) -> Option<f64> {
        self.capacity
    }

    /// Takes a frame; `spacing` is the time between frames, each of this much `work`.
    pub(super) fn seen(&mut self, now: Time, seen: &Seen, spacing: TimeDelta, work: f64) {
        let Some(last) = self.last.replace(*seen) else {
            return;
        };
        let Some(frames) = seen.frame.0.checked_sub(last.frame.0).filter(|by| *by > 0) else {
            return;
        };
        let waits = self.decoding.above(now, seen.decoded.since(seen.received));
        let free = seen.received.max(last.decoded);
        #[expect(clippy::cast_precision_loss, reason = "a few frames")]
        let own = seen.decoded.since(free).scale(1.0 / frames as f64);
        let is_behind = waits > spacing && own > spacing;
        push(&mut self.frames, WINDOW, (own, is_behind));
        let shown = seen.count.wrapping_sub(last.count).clamp(1, MOST_SHOWN);
        self.refreshes
            .above(now, seen.shown.since(last.shown) / shown);
        self.shown += shown;
        if self
            .frames
            .iter()
            .filter(|(_, is_behind)| *is_behind)
            .count()
            >= BEHIND
        {
            let decodes = self.decodes(work).map(|now| at_most(self.capacity, now));
            self.behind(now);
            self.capacity = decodes;
        } else if !self.few(now, spacing) {
            self.keeps_up(now, work, spacing);
        }
    }

    /// Takes counts of received and dropped frames.
    pub(super) fn counted(
        &mut self,
        now: Time,
        (received, dropped): (u64, u64),
        spacing: TimeDelta,
    ) {
        let Some(before) = self.counts.replace((received, dropped)) else {
            return;
        };
        let received = received.saturating_sub(before.0);
        let dropped = dropped.saturating_sub(before.1);
        let drops = received >= FEWEST && dropped as f64 > DROPPED * received as f64;
        self.dropping = if drops { self.dropping + 1 } else { 0 };
        if self.dropping >= COUNTS {
            self.dropping = 0;
            self.behind(now);
            self.pictures = Some(at_most(self.pictures, LESS / spacing.as_secs()));
        }
    }

    /// Takes the arrival of a frame's last packet, by the viewer's clock.
    pub(super) fn arrived(&mut self, at: PeerTime, spacing: TimeDelta) {
        let last = self.arrived.replace(at);
        self.could += u32::from(last.is_none_or(|last| at - last >= spacing.scale(ITSELF)));
    }

    /// Notes whether anybody sees the viewer's page.
    pub(super) const fn hidden(&mut self, is_hidden: bool) {
        self.is_hidden = is_hidden;
    }

    /// Looks whether too few pictures are shown, once in [`SPAN`]. Returns whether there were in the
    /// last one.
    fn few(&mut self, now: Time, spacing: TimeDelta) -> bool {
        let took = now.since(self.begun);
        if took < SPAN {
            return self.few > 0;
        }
        let refresh = self.refreshes.value().max(spacing);
        let most = f64::from(self.could).min(took.as_secs() / refresh.as_secs());
        let rate = f64::from(self.shown) / took.as_secs();
        let is_judged = !self.is_hidden && self.shown >= SOME && took < SPAN * 2;
        if is_judged {
            let is_few = f64::from(self.shown) < FEW * most;
            self.few = if is_few { self.few + 1 } else { 0 };
        }
        (self.begun, self.could, self.shown) = (now, 0, 0);
        if self.few >= SPANS {
            self.behind(now);
            self.pictures = Some(at_most(self.pictures, rate));
            return true;
        }
        self.few > 0
    }

    /// Notes that the viewer is behind, which undoes what it was given last.
    fn behind(&mut self, now: Time) {
        if let Some(rose) = self.rose.take() {
            self.wait = if now.since(rose) < self.wait * 2 {
                (self.wait * 2).min(MOST_WAIT)
            } else {
                MORE_AFTER
            };
        }
        self.changed = now;
        // What was seen is answered; the next judgement sees what the answer does.
        self.frames.clear();
        self.few = 0;
    }

    /// The work that the decoder does in a second, by its own time for frames of this much `work`.
    fn decodes(&self, work: f64) -> Option<f64> {
        let mut own: Vec<_> = self.frames.iter().map(|(own, _)| own.as_secs()).collect();
        own.sort_unstable_by(f64::total_cmp);
        let own = own.get(own.len() / 2).copied()?;
        (own > 0.0).then(|| work / own)
    }

    /// Gives more to a viewer that has kept up. A decoder that was too slow shows how fast it is now;
    /// what else was too slow is tried.
    fn keeps_up(&mut self, now: Time, work: f64, spacing: TimeDelta) {
        if self.capacity.is_none() && self.pictures.is_none() {
            return;
        }
        if now.since(self.changed) < self.wait {
            return;
        }
        self.changed = now;
        self.rose = Some(now);
        let rate = ENOUGH / spacing.as_secs();
        let decodes = LESS * self.decodes(work).unwrap_or(0.0);
        let more = self.capacity.map(|capacity| decodes.max(MORE * capacity));
        self.capacity = more.filter(|more| *more < rate * work);
        let more = self.pictures.map(|pictures| MORE * pictures);
        self.pictures = more.filter(|more| *more < rate);
    }
}

/// The smaller one of a limit, if there is one, and a new one.
fn at_most(limit: Option<f64>, new: f64) -> f64 {
    limit.map_or(new, |limit| limit.min(new))
}

fn push<T>(to: &mut VecDeque<T>, most: usize, value: T) {
    if to.len() == most {
        to.pop_front();
    }
    to.push_back(value);
}
