//! The delays of a path without a queue.

use mimosa_units::{Time, TimeDelta};

use crate::windowed_min::WindowedMin;

/// A receiver's clock that was set forward by less than this is left to the window.
const STEP: TimeDelta = TimeDelta::from_millis(5);
/// So many packets in a row say that it was.
const STEPPED: u32 = 16;
/// What stands for so long is not one frame's.
const RECENT: TimeDelta = TimeDelta::from_millis(1_000);
/// A delay this close to the smallest one has seen the path without a queue.
const CLOSE: TimeDelta = TimeDelta::from_micros(500);

/// The smallest one-way delay, the clocks' offset included, and the smallest round trip.
#[derive(Debug)]
pub(super) struct Base {
    delay: WindowedMin,
    round_trip: WindowedMin,
    window: TimeDelta,
    /// The smallest one-way delay of the last second.
    recent: WindowedMin,
    /// When the path was last seen without a queue.
    met: Time,
    /// Packets in a row whose one-way delay grew more than their round trip.
    stepped: u32,
}

impl Base {
    pub(super) fn new(window: TimeDelta) -> Self {
        Self {
            delay: WindowedMin::new(window),
            round_trip: WindowedMin::new(window),
            window,
            recent: WindowedMin::new(RECENT),
            met: Time::ZERO,
            stepped: 0,
        }
    }

    /// The smallest one-way delay of a packet without size; zero before there is one.
    pub(super) fn shortest(&self) -> TimeDelta {
        self.delay.get().unwrap_or(TimeDelta::ZERO)
    }

    /// The queue that stood for the last second.
    pub(super) fn standing(&self) -> TimeDelta {
        let recent = self.recent.get().unwrap_or(TimeDelta::ZERO);
        (recent - self.shortest()).max(TimeDelta::ZERO)
    }

    /// The smallest round trip.
    pub(super) const fn round_trip(&self) -> Option<TimeDelta> {
        self.round_trip.get()
    }

    /// A packet arrived after `delay` and its report after `round_trip`. Says what it
    /// waited.
    pub(super) fn arrived(
        &mut self,
        now: Time,
        delay: TimeDelta,
        round_trip: TimeDelta,
    ) -> TimeDelta {
        self.round_trip.add(now, round_trip);
        let least = self.round_trip.get().unwrap_or(round_trip);
        // No packet waits longer one way than there and back: the clock was set.
        let waited = delay - self.delay.get().unwrap_or(delay);
        if waited > round_trip - least + STEP {
            self.stepped += 1;
            if self.stepped >= STEPPED {
                self.delay.clear();
                self.recent.clear();
                self.stepped = 0;
            }
        } else {
            self.stepped = 0;
        }
        self.unloaded(now, delay);
        (delay - self.shortest()).max(TimeDelta::ZERO)
    }

    /// `delay` is that of a packet, less the time that it takes the link itself.
    pub(super) fn unloaded(&mut self, now: Time, delay: TimeDelta) {
        self.delay.add(now, delay);
        self.recent.add(now, delay);
        if delay <= self.shortest() + CLOSE {
            self.met = now;
        }
    }

    /// Nothing came without a queue for two thirds of the window: what is taken for the
    /// smallest delay will soon be that of the queue.
    pub(super) fn is_stale(&self, now: Time) -> bool {
        now.since(self.met) > self.window.scale(2.0 / 3.0)
    }

    /// Waits another two thirds of the window before it is stale.
    pub(super) const fn asked(&mut self, now: Time) {
        self.met = now;
    }
}
