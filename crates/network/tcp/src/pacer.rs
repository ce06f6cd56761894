//! Decides when segments may leave: in bursts of about a millisecond, each after the time that the
//! burst before it takes at the pacing rate.
//!
//! **Source.** Linux: `tcp_tso_autosize` for the length of a burst, which Linux sends as one packet
//! for segmentation offload; `tcp_update_skb_after_send` for the time to the next burst;
//! `tcp_tso_should_defer` for a window without room for a whole burst. The rate is of payload.
//!
//! *Deviations*: senders without a pacing rate send segment by segment, where Linux forms bursts as
//! well. Nothing queues below the sender, so there is no limit on such a queue
//! (`tcp_small_queue_check`).

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// Number of segments at the beginning of a connection that are not paced: Linux
/// `tcp_update_skb_after_send`.
const FREE_SEGMENTS: u64 = 10;
/// Longest time that a burst waits for room: Linux `tcp_tso_should_defer`.
const LONGEST_WAIT: TimeDelta = TimeDelta::from_millis(1);
/// A burst that takes at least this part of the window, as a divisor, does not wait: Linux
/// `tcp_tso_win_divisor`.
const WINDOW_PART: u64 = 3;

/// What decides whether a burst that the window cuts short waits for more room.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Payload that may leave at once.
    pub(crate) free: Bytes,
    /// Payload that would leave if the window were larger.
    pub(crate) wanted: Bytes,
    /// The congestion window.
    pub(crate) window: Bytes,
    /// When the first segment that is not acknowledged left.
    pub(crate) first_sent: Option<Time>,
    pub(crate) smoothed_rtt: Option<TimeDelta>,
}

/// Spaces the bursts of a sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacer {
    /// When the next burst may begin.
    next: Time,
    /// How late the present burst began.
    credit: TimeDelta,
    /// When the present burst began, and how many of its segments are left.
    burst: Option<(Time, u64)>,
    sent: u64,
}

impl Pacer {
    /// Whether a segment may leave, of the present burst or of the next one.
    pub(crate) fn is_ready(&self, now: Time) -> bool {
        self.next <= now || self.is_in_burst(now)
    }

    pub(crate) fn is_in_burst(&self, now: Time) -> bool {
        self.burst
            .is_some_and(|(start, left)| start == now && left > 0)
    }

    pub(crate) const fn next(&self) -> Time {
        self.next
    }

    /// Whether a burst should wait, because acknowledgements are about to come that give it room.
    pub(crate) fn should_wait(&self, now: Time, room: &Room) -> bool {
        let is_cut = room.free < room.wanted && room.free.get() < room.window.get() / WINDOW_PART;
        let (Some(first_sent), Some(rtt)) = (room.first_sent, room.smoothed_rtt) else {
            return false;
        };
        let is_near = (first_sent + rtt).since(now) <= LONGEST_WAIT.min(rtt / 2);
        is_cut && is_near && now.since(self.next) <= LONGEST_WAIT
    }

    /// Begins a burst of this many segments, all of which leave at `now`.
    pub(crate) fn begin(&mut self, now: Time, segments: u64) {
        self.credit = now.since(self.next);
        self.next = self.next.max(now);
        self.burst = Some((now, segments));
    }

    pub(crate) fn on_sent(&mut self, now: Time, length: Bytes, rate: Option<Rate>) {
        if !self.is_in_burst(now) {
            self.begin(now, 1);
        }
        if let Some((_, left)) = &mut self.burst {
            *left = left.saturating_sub(1);
        }
        self.sent = self.sent.saturating_add(1);
        match rate {
            Some(rate) if rate > Rate::ZERO => {
                if self.sent >= FREE_SEGMENTS {
                    // A burst that began late regains up to half of its own time.
                    let time = rate.transmit_time(length);
                    let saved = self.credit.min(time / 2);
                    self.credit = self.credit - saved;
                    self.next += time - saved;
                }
            }
            _ => self.next = now,
        }
    }

    /// Forgets the present burst and the time of the next one, which mean nothing after a timeout.
    pub(crate) const fn reset(&mut self) {
        self.next = Time::ZERO;
        self.burst = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends a burst, and returns when the next one may begin.
    fn send(pacer: &mut Pacer, now: Time, segments: u64) -> Time {
        assert!(pacer.is_ready(now));
        pacer.begin(now, segments);
        for _ in 0..segments {
            assert!(pacer.is_ready(now), "all of a burst leave at once");
            pacer.on_sent(now, Bytes::new(1_000), Some(Rate::from_kbps(8_000)));
        }
        assert_eq!(pacer.is_ready(now), pacer.next() <= now);
        pacer.next()
    }

    #[test]
    fn a_burst_takes_the_time_of_all_its_segments() {
        let mut pacer = Pacer::default();
        let now = Time::from_secs(1);
        // The tenth segment is the first to be paced.
        assert_eq!(send(&mut pacer, now, 9), now);
        let next = send(&mut pacer, now, 4);
        assert_eq!(next, now + TimeDelta::from_millis(4));
        assert!(!pacer.is_ready(now));
    }

    #[test]
    fn a_late_burst_gets_back_at_most_half_its_time() {
        let at = Time::from_millis;
        let mut pacer = Pacer::default();
        send(&mut pacer, at(1_000), 9);
        assert_eq!(send(&mut pacer, at(1_000), 4), at(1_004));
        assert_eq!(send(&mut pacer, at(1_005), 4), at(1_008), "one late");
        assert_eq!(send(&mut pacer, at(1_020), 4), at(1_022), "twelve late");
    }

    #[test]
    fn a_burst_waits_for_room_only_when_it_is_about_to_come() {
        let mut pacer = Pacer::default();
        let now = Time::from_millis(1_000);
        send(&mut pacer, now, 10);
        let now = pacer.next();
        let room = Room {
            free: Bytes::new(2_000),
            wanted: Bytes::new(4_000),
            window: Bytes::new(100_000),
            // The segment is acknowledged half a millisecond from now.
            first_sent: Some(Time::from_millis(971) + TimeDelta::from_micros(500)),
            smoothed_rtt: Some(TimeDelta::from_millis(30)),
        };
        let waits = |room: Room| pacer.should_wait(now, &room);
        assert!(
            waits(room)
                && waits(Room {
                    free: Bytes::new(3_999),
                    ..room
                })
        );
        assert!(
            !waits(Room {
                free: room.wanted,
                ..room
            }),
            "room for all"
        );
        assert!(
            !waits(Room {
                window: Bytes::new(6_000),
                ..room
            }),
            "a third"
        );
        let later = Some(now - TimeDelta::from_millis(28));
        assert!(
            !waits(Room {
                first_sent: later,
                ..room
            }),
            "in two ms"
        );
        assert!(
            !waits(Room {
                first_sent: None,
                ..room
            }),
            "never"
        );
        let idle = now + TimeDelta::from_micros(1_001);
        assert!(!pacer.should_wait(idle, &room), "waited long enough");
    }
}
