//! The delays of a path without a queue.

use mimosa_units::{Time, TimeDelta};

use crate::windowed_min::WindowedMin;

/// Largest forward step of the receiver's clock that is left to the window of the
/// smallest delay.
const STEP: TimeDelta = TimeDelta::from_millis(5);
/// Number of consecutive packets that tell that the receiver's clock was set forward.
const STEPPED: u32 = 16;
/// Time for which a queue must have been there to count as standing, and not as that of
/// one frame.
const RECENT: TimeDelta = TimeDelta::from_millis(1_000);
/// Time for which a queue must have been there to count as that of others: five round trips of 20 ms,
/// as Copa counts (NSDI 2018, section 2.2).
const SHORT: TimeDelta = TimeDelta::from_millis(100);
/// Time for which the smallest delay counts where others may keep a queue: our choice, longer than
/// TCP needs to come back after a loss.
const LASTING: TimeDelta = TimeDelta::from_millis(30_000);
/// Time between two packets from which on, and up to which, their delays are compared: packets that
/// leave together meet the same queue, and in a longer time it changes.
const APART: TimeDelta = TimeDelta::from_micros(300);
const LATEST: TimeDelta = TimeDelta::from_micros(4_000);
/// Number of packets over which the difference is averaged: our choice, about ten frames.
const STEADY: u32 = 128;
/// Largest delay above the smallest one with which a packet counts as having met no
/// queue.
const CLOSE: TimeDelta = TimeDelta::from_micros(500);

/// The smallest one-way delay, the clocks' offset included, and the smallest round trip.
#[derive(Debug)]
pub(super) struct Base {
    delay: WindowedMin,
    round_trip: WindowedMin,
    window: TimeDelta,
    /// The smallest one-way delay of the last second, the clocks' offset included.
    recent: WindowedMin,
    /// The smallest one-way delay of 100 ms and of half a minute, the clocks' offset included.
    short: WindowedMin,
    lasting: WindowedMin,
    /// Mean difference between the delays of consecutive packets that left one after another, and the
    /// newest packet.
    unsteady: TimeDelta,
    newest: Option<(Time, TimeDelta)>,
    /// When the path was last seen without a queue.
    met: Time,
    /// Number of consecutive packets whose one-way delay grew more than their round
    /// trip.
    stepped: u32,
}

impl Base {
    pub(super) fn new(window: TimeDelta) -> Self {
        Self {
            delay: WindowedMin::new(window),
            round_trip: WindowedMin::new(window),
            window,
            recent: WindowedMin::new(RECENT),
            short: WindowedMin::new(SHORT),
            lasting: WindowedMin::new(LASTING),
            unsteady: TimeDelta::ZERO,
            newest: None,
            met: Time::ZERO,
            stepped: 0,
        }
    }

    /// The smallest one-way delay of a packet of no size; zero before the first packet.
    pub(super) fn shortest(&self) -> TimeDelta {
        self.delay.get().unwrap_or(TimeDelta::ZERO)
    }

    /// The smallest queueing delay of the last second: that of the queue that stood
    /// throughout.
    pub(super) fn standing(&self) -> TimeDelta {
        let recent = self.recent.get().unwrap_or(TimeDelta::ZERO);
        (recent - self.shortest()).max(TimeDelta::ZERO)
    }

    /// The smallest delay of the last 100 ms, above that of the last half minute: the queue that
    /// stood throughout, also where no moment without a queue is remembered otherwise.
    pub(super) fn lasting(&self) -> TimeDelta {
        let least = self.short.get().zip(self.lasting.get());
        least.map_or(TimeDelta::ZERO, |(recent, least)| recent - least)
    }

    /// Takes a packet that left at `sent` and arrived `delay` later.
    pub(super) fn steady(&mut self, sent: Time, delay: TimeDelta) {
        if let Some((before, other)) = self.newest.replace((sent, delay))
            && (APART..LATEST).contains(&sent.since(before))
        {
            let differs = delay.max(other) - delay.min(other);
            self.unsteady += (differs - self.unsteady) / STEADY;
        }
    }

    /// How much the delays of consecutive packets differ, in the mean.
    pub(super) const fn unsteady(&self) -> TimeDelta {
        self.unsteady
    }

    /// The smallest round trip; `None` before the first packet.
    pub(super) const fn round_trip(&self) -> Option<TimeDelta> {
        self.round_trip.get()
    }

    /// Takes a packet that arrived `delay` after it was sent and was reported after
    /// `round_trip`. Returns the packet's delay above the smallest one.
    pub(super) fn arrived(
        &mut self,
        now: Time,
        delay: TimeDelta,
        round_trip: TimeDelta,
    ) -> TimeDelta {
        self.round_trip.add(now, round_trip);
        let least = self.round_trip.get().unwrap_or(round_trip);
        // No packet waits longer one way than there and back, unless a clock was set.
        let waited = delay - self.delay.get().unwrap_or(delay);
        if waited > round_trip - least + STEP {
            self.stepped += 1;
            if self.stepped >= STEPPED {
                self.delay.clear();
                self.recent.clear();
                self.short.clear();
                self.lasting.clear();
                self.stepped = 0;
            }
        } else {
            self.stepped = 0;
        }
        self.unloaded(now, delay);
        (delay - self.shortest()).max(TimeDelta::ZERO)
    }

    /// Takes a packet's one-way delay as a measurement for the smallest one. A caller
    /// that knows the packet's transmission time subtracts it first.
    pub(super) fn unloaded(&mut self, now: Time, delay: TimeDelta) {
        self.delay.add(now, delay);
        self.recent.add(now, delay);
        self.short.add(now, delay);
        self.lasting.add(now, delay);
        if delay <= self.shortest() + CLOSE {
            self.met = now;
        }
    }

    /// Whether no packet came without a queue for two thirds of the window. Then a
    /// queue's delay will soon be taken for the smallest delay.
    pub(super) fn is_stale(&self, now: Time) -> bool {
        now.since(self.met) > self.window.scale(2.0 / 3.0)
    }

    /// Postpones the time at which the smallest delay is stale to two thirds of the
    /// window from now.
    pub(super) const fn asked(&mut self, now: Time) {
        self.met = now;
    }
}
