//! The back-off of one that contends for the air (IEEE 802.11, EDCA).

use mimosa_units::{Time, TimeDelta};

use super::standard::Timing;
use crate::random::Random;

/// Bounds of the contention window in slots, for best-effort traffic (IEEE 802.11, table of
/// EDCA's defaults).
const LEAST_WINDOW: u32 = 15;
const GREATEST_WINDOW: u32 = 1_023;
/// Failed attempts after which a transmission is given up (`dot11ShortRetryLimit`).
pub(super) const RETRIES: u32 = 7;

/// One that contends: an access point, a station or a neighbour.
#[derive(Debug)]
pub(super) struct Contender {
    /// When it last began to have something to send; [`Time::MAX`] while it has nothing.
    pub(super) ready: Time,
    /// Slots that are left of the back-off, counted from when the air became free.
    backoff: u32,
    window: u32,
    failed: u32,
    /// Time that it waits beyond AIFS, because it heard a collision.
    extended: TimeDelta,
    pub(super) random: Random,
}

impl Contender {
    pub(super) const fn new(random: Random) -> Self {
        Self {
            ready: Time::MAX,
            backoff: 0,
            window: LEAST_WINDOW,
            failed: 0,
            extended: TimeDelta::ZERO,
            random,
        }
    }

    /// When the contender sends if nobody else does before. `free` is when the air became free.
    pub(super) fn starts(&self, free: Time, timing: &Timing) -> Time {
        if self.ready == Time::MAX {
            return Time::MAX;
        }
        let counted = free + timing.aifs() + self.extended + timing.slot * self.backoff;
        counted.max(self.ready)
    }

    /// Notes that the contender has something to send from `at` on. What comes while the air is
    /// `busy` waits for a back-off.
    pub(super) fn begins(&mut self, at: Time, busy: bool) {
        if self.ready == Time::MAX {
            self.ready = at;
            if busy && self.backoff == 0 {
                self.draw();
            }
        }
    }

    /// Notes that others send from `at` on, and that the air had been free since `free`: the
    /// back-off is held.
    pub(super) fn holds(&mut self, at: Time, free: Time, timing: &Timing) {
        let counting = at.since(free + timing.aifs() + self.extended);
        let slots = counting.as_nanos().max(0) / timing.slot.as_nanos();
        let slots = u32::try_from(slots).unwrap_or(u32::MAX);
        self.backoff = self.backoff.saturating_sub(slots);
        self.extended = TimeDelta::ZERO;
    }

    /// Notes that what others sent was a collision.
    pub(super) const fn heard_collision(&mut self, timing: &Timing) {
        self.extended = timing.extended;
    }

    /// Draws a new back-off.
    pub(super) fn draw(&mut self) {
        let slots = self.random.uniform() * f64::from(self.window + 1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from zero to the window"
        )]
        let slots = slots as u32;
        self.backoff = slots;
    }

    /// Notes that the contender's transmission succeeded.
    pub(super) fn succeeded(&mut self) {
        self.failed = 0;
        self.window = LEAST_WINDOW;
        self.extended = TimeDelta::ZERO;
        self.draw();
    }

    /// Notes that the contender's transmission failed. Returns whether it is given up.
    pub(super) fn failed(&mut self) -> bool {
        self.failed += 1;
        self.extended = TimeDelta::ZERO;
        let gives_up = self.failed > RETRIES;
        if gives_up {
            self.failed = 0;
            self.window = LEAST_WINDOW;
        } else {
            self.window = (self.window * 2 + 1).min(GREATEST_WINDOW);
        }
        self.draw();
        gives_up
    }
}
