//! How fast the viewer decodes and shows.
//!
//! A decoder in hardware may take longer than the time between two frames and still keep up, because
//! it works on several. A frame that arrives late arrives together with others, and waits for them
//! without fault of the viewer. So a frame counts as *behind* only if two things come together: it
//! waits longer than usual, by more than the time between frames, and its own time from when the
//! decoder was free is longer than that as well.
//!
//! Pictures that a viewer does not show are behind if in addition those that it shows come later than
//! usual: a display of half the refresh rate leaves out every other picture and is not late.

use std::collections::VecDeque;

use mimosa_facts::FrameId;
use mimosa_units::{Time, TimeDelta};

/// The number of frames that are looked at, and how many of them have to be behind. Our choice: a
/// fifth of a second at 60 frames a second, and two thirds.
const WINDOW: usize = 12;
const BEHIND: usize = 8;
/// The number of frames over which pictures not shown are counted: a second at 60 frames a second.
const SHOWN: usize = 60;
/// The share of pictures shown below which a viewer may be behind. Our choice.
const FEW: f64 = 0.85;
/// The number of times between frames by which such a viewer's pictures come late in the median. Our
/// choice: a display of half the rate has pictures wait up to once that time.
const LATE: f64 = 1.5;
/// The share of dropped frames from which a viewer is behind, in [`COUNTS`] of its counts in a row.
/// Our choice.
const DROPPED: f64 = 0.1;
const COUNTS: u32 = 2;
/// The fewest frames of a count: as many as the session needs to judge a decoder.
const FEWEST: u64 = 10;
/// How long the least waits are remembered, at least. Our choice: as the statistics' percentiles.
const REMEMBERED: TimeDelta = TimeDelta::from_millis(10_000);
/// The share of its present work that a viewer gets about which nothing more is known. Our choice.
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

    /// Takes a value; returns how far it is above the least.
    fn above(&mut self, now: Time, value: TimeDelta) -> TimeDelta {
        if now.since(self.begun) > REMEMBERED {
            self.begun = now;
            self.before = self.now;
            self.now = Self::NONE;
        }
        self.now = self.now.min(value);
        value - self.now.min(self.before)
    }
}

/// What is known of a viewer.
#[derive(Clone, Debug)]
pub(super) struct Viewing {
    decoding: Least,
    presenting: Least,
    last: Option<Seen>,
    /// The last frames: the decoder's own time for those that are behind.
    frames: VecDeque<Option<TimeDelta>>,
    /// The last frames' numbers, and how late they were shown.
    shown: VecDeque<(FrameId, TimeDelta)>,
    counts: Option<(u64, u64)>,
    /// The number of counts in a row with too many dropped frames.
    dropping: u32,
    /// The work that the viewer does in a second, once it was behind.
    capacity: Option<f64>,
    /// When it was behind last, or got more.
    changed: Time,
    rose: Option<Time>,
    wait: TimeDelta,
}

impl Viewing {
    pub(super) const fn new() -> Self {
        Self {
            decoding: Least::new(),
            presenting: Least::new(),
            last: None,
            frames: VecDeque::new(),
            shown: VecDeque::new(),
            counts: None,
            dropping: 0,
            capacity: None,
            changed: Time::ZERO,
            rose: None,
            wait: MORE_AFTER,
        }
    }

    /// The work that the viewer does in a second; `None` if no limit is known.
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
        push(&mut self.frames, WINDOW, is_behind.then_some(own));
        let late = self.presenting.above(now, seen.shown.since(seen.decoded));
        push(&mut self.shown, SHOWN, (seen.frame, late));
        let mut own: Vec<_> = self.frames.iter().flatten().copied().collect();
        if own.len() >= BEHIND {
            own.sort_unstable();
            let own = own[own.len() / 2];
            self.behind(now, work / own.as_secs());
        } else if self.shows_few(spacing) {
            self.behind(now, LESS * work / spacing.as_secs());
        } else {
            self.keeps_up(now, work / spacing.as_secs());
        }
    }

    /// Takes counts of received and dropped frames.
    pub(super) fn counted(
        &mut self,
        now: Time,
        (received, dropped): (u64, u64),
        spacing: TimeDelta,
        work: f64,
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
            self.behind(now, LESS * work / spacing.as_secs());
        }
    }

    /// Whether few pictures are shown, and those later than usual.
    fn shows_few(&self, spacing: TimeDelta) -> bool {
        let (Some((first, _)), Some((last, _))) = (self.shown.front(), self.shown.back()) else {
            return false;
        };
        if self.shown.len() < SHOWN {
            return false;
        }
        let encoded = last.0.saturating_sub(first.0) + 1;
        let mut late: Vec<_> = self.shown.iter().map(|(_, late)| *late).collect();
        late.sort_unstable();
        let is_late = late[late.len() / 2] > spacing.scale(LATE);
        is_late && (self.shown.len() as f64) < FEW * encoded as f64
    }

    fn behind(&mut self, now: Time, capacity: f64) {
        if let Some(rose) = self.rose.take() {
            self.wait = if now.since(rose) < self.wait * 2 {
                (self.wait * 2).min(MOST_WAIT)
            } else {
                MORE_AFTER
            };
        }
        self.capacity = Some(
            self.capacity
                .map_or(capacity, |before| before.min(capacity)),
        );
        self.changed = now;
        // What was seen is answered; the next judgement sees what the answer does.
        self.frames.clear();
        self.shown.clear();
    }

    /// Gives more to a viewer that has kept up with `rate`, the work of a second.
    fn keeps_up(&mut self, now: Time, rate: f64) {
        let Some(capacity) = self.capacity else {
            return;
        };
        if now.since(self.changed) < self.wait {
            return;
        }
        self.changed = now;
        self.rose = Some(now);
        let more = MORE * capacity;
        self.capacity = (more < ENOUGH * rate).then_some(more);
    }
}

fn push<T>(to: &mut VecDeque<T>, most: usize, value: T) {
    if to.len() == most {
        to.pop_front();
    }
    to.push_back(value);
}
