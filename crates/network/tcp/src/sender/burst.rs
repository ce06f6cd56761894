//! Decides how much leaves at once: Linux `tcp_write_xmit`, for paced senders.

use mimosa_units::{Bytes, Time};

use super::{Phase, Sender};
use crate::config::Config;
use mimosa_cc::window::near_allowance;

use crate::pacer::Room;

impl Sender {
    /// Number of segments in the burst that begins now: what the pacing rate and the window allow,
    /// but at most half the window. `None` if the burst should wait for more room.
    pub(super) fn plan_burst(&self, now: Time, is_repeated: bool) -> Option<u64> {
        let (mss, window) = (self.config.mss, self.window());
        let allowance = near_allowance(self.rtt.minimum());
        let most = self.congestion.burst(mss, allowance);
        let room = window - Bytes::new(self.board.in_flight());
        let segments = room.get() / mss.get();
        let half = window.get() / mss.get() / 2;
        let is_repairing = matches!(self.phase, Phase::Recovery | Phase::Timeout);
        if !is_repeated && !is_repairing && self.has_more_than(now, segments) {
            let outstanding = Bytes::new(self.next - self.una);
            let receivable = self.config.receive_window - outstanding;
            let room = Room {
                free: room.min(receivable),
                wanted: Bytes::new(mss.get().saturating_mul(most)),
                window: window.min(self.config.receive_window),
                first_sent: self.board.first_sent(),
                smoothed_rtt: self.rtt.smoothed(),
            };
            if self.pacer.should_wait(now, &room) {
                return None;
            }
        }
        Some(most.min(segments).min(half).max(1))
    }

    /// Whether the application has more to send than this many segments.
    fn has_more_than(&self, now: Time, segments: u64) -> bool {
        let Config {
            ref application,
            start,
            mss,
            ..
        } = self.config;
        let end = mss.get().saturating_mul(segments).saturating_add(self.next);
        application.segment(now, start, end, mss).is_some()
    }
}

#[cfg(test)]
mod tests {
    use mimosa_units::{Rate, TimeDelta};

    use crate::wire::{Ack, MAX_BLOCKS};
    use mimosa_cc::window::{AckSample, Congestion};

    use super::*;

    const MSS: u64 = 1460;

    /// A congestion control with a fixed window in segments, and 50 Mbit/s.
    #[derive(Debug)]
    struct Fixed(u64);

    impl Congestion for Fixed {
        fn on_ack(&mut self, _now: Time, _sample: &AckSample) {}
        fn on_loss(&mut self, _now: Time, _in_flight: Bytes) {}
        fn on_timeout(&mut self, _now: Time, _in_flight: Bytes, _is_reduced: bool) {}
        fn window(&self) -> Bytes {
            Bytes::new(self.0 * MSS)
        }
        fn pacing_rate(&self) -> Option<Rate> {
            Some(Rate::from_kbps(50_000))
        }
    }

    fn sender(window: u64) -> Sender {
        Sender::with_congestion(Config::default(), Box::new(Fixed(window)))
    }

    /// Number of segments that leave at `now`.
    fn poll(sender: &mut Sender, now: Time) -> u64 {
        std::iter::from_fn(|| sender.poll(now)).count() as u64
    }

    /// Acknowledges this many segments in order, the last one of those that left at time zero.
    fn acknowledge(sender: &mut Sender, now: Time, segments: u64) {
        let ack = Ack {
            cumulative: segments * MSS,
            sacks: [None; MAX_BLOCKS],
            is_duplicate: false,
            ece: false,
            ce_segments: 0,
            ce_bytes: Bytes::ZERO,
            echo: Time::ZERO,
        };
        sender.acknowledge(now, &ack);
    }

    const SEGMENT: TimeDelta = TimeDelta::from_nanos(233_600);

    #[test]
    fn a_millisecond_leaves_at_once_after_the_first_ten_segments() {
        let mut sender = sender(100);
        // Three bursts, of which the last three segments are paced.
        assert_eq!(poll(&mut sender, Time::ZERO), 12);
        let mut next = Time::ZERO + SEGMENT * 3;
        for _ in 0..10 {
            assert_eq!(sender.deadline(), Some(next));
            assert_eq!(poll(&mut sender, next), 4);
            next += SEGMENT * 4;
        }
    }

    #[test]
    fn half_the_window_is_the_most_that_leaves_at_once() {
        let mut sender = sender(5);
        assert_eq!(poll(&mut sender, Time::ZERO), 5);
        acknowledge(&mut sender, Time::from_millis(30), 5);
        assert_eq!(poll(&mut sender, Time::from_millis(30)), 5, "still free");
        acknowledge(&mut sender, Time::from_millis(60), 10);
        assert_eq!(poll(&mut sender, Time::from_millis(60)), 2);
    }

    #[test]
    fn a_burst_cut_by_the_window_waits_for_the_acknowledgement_to_come() {
        let mut sender = sender(40);
        let mut now = Time::ZERO;
        let mut sent = poll(&mut sender, now);
        while sent < 40 {
            now = sender.deadline().unwrap();
            sent += poll(&mut sender, now);
        }
        let now = Time::from_millis(30);
        acknowledge(&mut sender, now, 2);
        assert_eq!(poll(&mut sender, now), 2, "nothing has left for long");
        let soon = now + SEGMENT * 2;
        acknowledge(&mut sender, soon, 4);
        assert_eq!(poll(&mut sender, soon), 0, "the next is due at once");
        assert!(sender.deadline().unwrap() > soon + RTT);
        acknowledge(&mut sender, soon, 6);
        assert_eq!(poll(&mut sender, soon), 4);
    }

    const RTT: TimeDelta = TimeDelta::from_millis(30);
}
