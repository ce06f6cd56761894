//! Delivery rate: draft-cheng-iccrg-delivery-rate-estimation-02.
//!
//! Each transmission remembers how much had been delivered when it left (section 3.2).
//! Its acknowledgement shows how much was delivered since, and over how long
//! (section 3.3). The longer of the sending and the acknowledging time counts, so that
//! compressed acknowledgements do not make the rate too high.
//!
//! *Deviations*: amounts are in bytes, as in draft-ietf-ccwg-bbr. As that draft
//! requires, transmissions also remember the flight and the losses.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// The state of the connection when a segment left.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Whether the application, not the path, limited the flight.
    pub is_app_limited: bool,
    /// Bytes in flight just after the segment left, itself included.
    pub in_flight: u64,
    /// Bytes lost before the segment left.
    pub lost: u64,
}

/// One transmission of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    /// Number of the transmission, which orders transmissions of the same time.
    pub number: u64,
    /// When the transmission left.
    pub at: Time,
    /// The state of the connection when the transmission left.
    pub snapshot: Snapshot,
}

/// What one acknowledgement says about the path's rate.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct DeliverySample {
    /// Bytes delivered since the newest acknowledged segment left.
    pub delivered: Bytes,
    /// Time over which `delivered` is measured; `None` if it is too short to be believed.
    pub interval: Option<TimeDelta>,
    /// All bytes delivered before the newest acknowledged segment left.
    pub prior_delivered: Bytes,
    /// Bytes in flight when the newest acknowledged segment had left, itself included.
    pub sent_in_flight: Bytes,
    /// Bytes lost since the newest acknowledged segment left.
    pub lost: Bytes,
    /// Whether the application, not the path, may have set this rate.
    pub is_app_limited: bool,
}

impl DeliverySample {
    /// The delivery rate of payload; `None` without an interval.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        self.interval
            .map(|interval| Rate::of(self.delivered, interval))
    }
}

/// The estimator's state of a connection. The caller keeps the transmissions.
#[derive(Clone, Debug, Default)]
pub struct Delivery {
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    lost: u64,
    /// What leaves counts as limited by the application until more than this many bytes
    /// are delivered; `None` if it does not.
    app_limited_until: Option<u64>,
}

impl Delivery {
    /// All bytes delivered so far.
    #[must_use]
    pub const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// All bytes judged lost so far.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Counts bytes that were judged lost.
    pub const fn on_lost(&mut self, bytes: u64) {
        self.lost = self.lost.saturating_add(bytes);
    }

    /// Whether what leaves now counts as limited by the application.
    #[must_use]
    pub const fn is_app_limited(&self) -> bool {
        self.app_limited_until.is_some()
    }

    /// Takes a segment of `length` bytes that leaves while `in_flight` bytes are in
    /// flight. Returns the state to remember with it.
    pub fn on_sent(&mut self, now: Time, in_flight: u64, length: u64) -> Snapshot {
        if in_flight == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        Snapshot {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            is_app_limited: self.is_app_limited(),
            in_flight: in_flight.saturating_add(length),
            lost: self.lost,
        }
    }

    /// Called when the application has nothing to send although the window is open. What leaves
    /// counts as limited by the application until more than the `in_flight` bytes are delivered.
    pub fn on_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = Some(self.delivered.saturating_add(in_flight).max(1));
    }

    /// Takes what one acknowledgement delivered: the length of each segment and its last
    /// transmission. An interval shorter than `min_rtt` is not believed. Returns `None`
    /// if nothing was delivered.
    pub fn on_ack(
        &mut self,
        now: Time,
        delivered: impl IntoIterator<Item = (u64, Transmission)>,
        min_rtt: Option<TimeDelta>,
    ) -> Option<DeliverySample> {
        let mut newest: Option<Transmission> = None;
        for (length, last) in delivered {
            self.delivered = self.delivered.saturating_add(length);
            self.delivered_at = now;
            newest = newest
                .filter(|newest| newest.number > last.number)
                .or(Some(last));
        }
        if self
            .app_limited_until
            .is_some_and(|until| self.delivered > until)
        {
            self.app_limited_until = None;
        }
        let newest = newest?;
        let then = newest.snapshot;
        self.first_sent = newest.at;
        let sending = newest.at.since(then.first_sent);
        let acknowledging = now.since(then.delivered_at);
        let interval = sending.max(acknowledging);
        let is_plausible =
            interval > TimeDelta::ZERO && min_rtt.is_none_or(|shortest| interval >= shortest);
        Some(DeliverySample {
            delivered: Bytes::new(self.delivered.saturating_sub(then.delivered)),
            interval: is_plausible.then_some(interval),
            prior_delivered: Bytes::new(then.delivered),
            sent_in_flight: Bytes::new(then.in_flight),
            lost: Bytes::new(self.lost.saturating_sub(then.lost)),
            is_app_limited: then.is_app_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: u64 = 1000;

    /// The last sample of twenty segments that leave a millisecond apart. They are
    /// acknowledged a millisecond apart, too, 10 ms later, or else all at once at 20 ms.
    fn rate(is_compressed: bool) -> DeliverySample {
        let mut delivery = Delivery::default();
        let sent: Vec<_> = (0..20)
            .map(|index| {
                let at = Time::from_millis(index);
                let sent = Transmission {
                    number: index,
                    at,
                    snapshot: delivery.on_sent(at, index * LENGTH, LENGTH),
                };
                (LENGTH, sent)
            })
            .collect();
        let mut sample = None;
        for (index, segment) in (0..).zip(sent) {
            let now = Time::from_millis(if is_compressed { 20 } else { 10 + index });
            sample = delivery.on_ack(now, [segment], None);
        }
        sample.unwrap()
    }

    #[test]
    fn the_slower_of_sending_and_acknowledging_counts() {
        let even = rate(false);
        // Twenty segments in the 29 ms since the first left.
        assert_eq!(even.delivered, Bytes::new(20 * LENGTH));
        assert_eq!(even.interval, Some(TimeDelta::from_millis(29)));
        let compressed = rate(true);
        assert_eq!(compressed.interval, Some(TimeDelta::from_millis(20)));
        assert!(!even.is_app_limited);
    }

    #[test]
    fn an_interval_below_the_least_round_trip_says_nothing() {
        let mut delivery = Delivery::default();
        let at = Time::from_millis(5);
        let sent = Transmission {
            number: 1,
            at,
            snapshot: delivery.on_sent(at, 0, LENGTH),
        };
        delivery.on_app_limited(LENGTH);
        assert!(delivery.is_app_limited());
        let least = Some(TimeDelta::from_millis(30));
        let sample = delivery.on_ack(Time::from_millis(10), [(LENGTH, sent)], least);
        assert_eq!(sample.unwrap().rate(), None);
    }
}
