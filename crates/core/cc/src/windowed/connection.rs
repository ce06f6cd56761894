//! What a transport's sender keeps of the packets it sent, and what its congestion control
//! hears of them.
//!
//! Loss and recovery are those of QUIC (RFC 9002, section 7), since packets have numbers of
//! their own and are never the same twice: a recovery begins with the loss of a packet sent
//! after the last one began, and ends with the arrival of one sent after it began. The
//! timeout is TCP's (RFC 6298).

use std::collections::VecDeque;

use mimosa_facts::{PacketOutcome, PacketReport, SentPacket};
use mimosa_units::{Bytes, Ecn, Time, TimeDelta};

use crate::window::{AckSample, Congestion, Delivery, LostSegment, Rtt, Transmission};

/// Most packets remembered: as many as a transport with numbers of 16 bits can tell apart.
const MOST_PACKETS: usize = 1 << 15;
/// What is lost is remembered this long, in case it arrives after all.
const REMEMBERED_FOR: TimeDelta = TimeDelta::from_millis(1_000);
/// No packet is larger than IP can carry.
const LARGEST_PACKET: Bytes = Bytes::new(65_535);
/// Below it a round trip is the clock's own grain.
const SHORTEST_RTT: TimeDelta = TimeDelta::from_micros(1);
/// Doublings of the timeout that are past every bound of it.
const MOST_DOUBLINGS: u32 = 20;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    InFlight,
    Arrived,
    Lost,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    length: u64,
    state: State,
    /// Its number is the packet's.
    last: Transmission,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    Open,
    Recovery,
    Timeout,
}

/// What one feedback message came to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct News {
    /// Whether a recovery began.
    pub(super) is_loss: bool,
    /// What arrived with a mark.
    pub(super) marked: Bytes,
    /// Whether the application limited what was measured.
    pub(super) is_app_limited: bool,
}

/// The sender's side of a transport, without what it sends.
#[derive(Debug)]
pub(super) struct Connection {
    congestion: Box<dyn Congestion>,
    packet: Bytes,
    longest_timeout: TimeDelta,
    /// In the order of their numbers.
    entries: VecDeque<Entry>,
    in_flight: u64,
    delivery: Delivery,
    rtt: Rtt,
    newest_rtt: Option<TimeDelta>,
    phase: Phase,
    /// The newest packet when the phase began; none has begun yet without it.
    phase_end: Option<u64>,
    timeout_at: Option<Time>,
    /// Timeouts since something arrived.
    doublings: u32,
    /// Packets before this one were sent while the window was full.
    limited_until: u64,
    /// Kept for its memory.
    arrived: Vec<(u64, Transmission)>,
}

impl Connection {
    /// Nothing sent yet. `packet` is the algorithm's segment.
    pub(super) fn new(
        congestion: Box<dyn Congestion>,
        packet: Bytes,
        longest_timeout: TimeDelta,
    ) -> Self {
        Self {
            congestion,
            packet,
            longest_timeout,
            entries: VecDeque::new(),
            in_flight: 0,
            delivery: Delivery::default(),
            rtt: Rtt::default(),
            newest_rtt: None,
            phase: Phase::Open,
            phase_end: None,
            timeout_at: None,
            doublings: 0,
            limited_until: 0,
            arrived: Vec::new(),
        }
    }

    pub(super) fn congestion(&self) -> &dyn Congestion {
        &*self.congestion
    }

    /// Sent, and neither arrived nor lost.
    pub(super) const fn in_flight(&self) -> Bytes {
        Bytes::new(self.in_flight)
    }

    /// Everything that arrived.
    #[cfg(test)]
    pub(super) const fn delivered(&self) -> Bytes {
        Bytes::new(self.delivery.delivered())
    }

    pub(super) const fn smoothed_rtt(&self) -> Option<TimeDelta> {
        self.rtt.smoothed()
    }

    /// How much longer than the shortest the newest round trip was.
    pub(super) fn queue_delay(&self) -> Option<TimeDelta> {
        let shortest = self.rtt.minimum()?;
        let longer = self.newest_rtt? - shortest;
        Some(longer.max(TimeDelta::ZERO))
    }

    /// When to call [`Self::time_out`] if nothing arrives before.
    pub(super) const fn timeout_at(&self) -> Option<Time> {
        self.timeout_at
    }

    /// Whether one more segment would not fit into the window.
    fn is_full(&self) -> bool {
        self.in_flight() + self.packet > self.congestion.window()
    }

    /// A packet leaves, after all others; `has_more` when more wait to leave. One whose
    /// number is not new is no packet.
    pub(super) fn sent(&mut self, now: Time, packet: &SentPacket, has_more: bool) {
        let number = packet.sequence.0;
        if self.newest().is_some_and(|newest| newest >= number) {
            return;
        }
        let length = packet.size.min(LARGEST_PACKET).get();
        let is_app_limited = self.delivery.is_app_limited();
        self.congestion
            .on_sent(now, self.in_flight(), is_app_limited);
        self.entries.push_back(Entry {
            length,
            state: State::InFlight,
            last: Transmission {
                number,
                at: now,
                snapshot: self.delivery.on_sent(now, self.in_flight, length),
            },
        });
        self.in_flight += length;
        if self.entries.len() > MOST_PACKETS {
            self.forget_first();
        }
        if has_more && self.is_full() {
            self.limited_until = number.saturating_add(1);
        }
        if self.timeout_at.is_none() {
            self.timeout_at = Some(now + self.timeout());
        }
    }

    /// There is nothing more to send. With room in the window, that and not the path limits
    /// the flight.
    pub(super) fn run_dry(&mut self) {
        if !self.is_full() {
            self.delivery.on_app_limited(self.in_flight);
        }
    }

    /// Takes what one feedback message made known.
    pub(super) fn feedback(&mut self, now: Time, reports: &[PacketReport]) -> News {
        let prior_in_flight = self.in_flight();
        let prior_lost = self.delivery.lost();
        let marked = self.take_arrivals(reports);
        let first = self.arrived.iter().map(|(_, last)| last.number).min();
        let newest = self.arrived.iter().map(|(_, last)| *last);
        let newest = newest.max_by_key(|last| last.number);
        let rtt = newest.map(|last| self.measure(now, last));
        let arrived = std::mem::take(&mut self.arrived);
        let acked = arrived.iter().map(|(length, _)| *length).sum();
        let shortest = self.rtt.minimum();
        let delivery = self.delivery.on_ack(now, arrived.iter().copied(), shortest);
        self.arrived = arrived;
        if newest.is_some_and(|last| Some(last.number) > self.phase_end) {
            self.end_phase(now);
        }
        let is_loss = self.take_losses(now, reports);
        let sample = AckSample {
            acked: Bytes::new(acked),
            lost: Bytes::new(self.delivery.lost() - prior_lost),
            delivered: Bytes::new(self.delivery.delivered()),
            marked,
            rtt,
            smoothed_rtt: self.rtt.smoothed(),
            prior_in_flight,
            in_flight: self.in_flight(),
            delivery,
            is_window_limited: first.is_some_and(|first| first < self.limited_until),
            is_reducing: self.phase == Phase::Recovery,
            pacing_wait: TimeDelta::ZERO,
        };
        if newest.is_some() {
            self.doublings = 0;
            self.congestion.on_ack(now, &sample);
            if self.congestion.limits_itself() {
                self.delivery.on_app_limited(self.in_flight);
            }
        }
        if self.in_flight == 0 {
            self.timeout_at = None;
        } else if newest.is_some() {
            self.timeout_at = Some(now + self.timeout());
        }
        self.forget(now);
        News {
            is_loss,
            marked,
            is_app_limited: delivery.is_some_and(|delivery| delivery.is_app_limited),
        }
    }

    /// Nothing has arrived for too long: all that is in flight is lost.
    pub(super) fn time_out(&mut self, now: Time) {
        let in_flight = self.in_flight();
        self.in_flight = 0;
        for entry in &mut self.entries {
            if entry.state == State::InFlight {
                entry.state = State::Lost;
                lose(&mut *self.congestion, &mut self.delivery, now, entry);
            }
        }
        let is_reduced = match self.phase {
            Phase::Open => false,
            Phase::Recovery => true,
            Phase::Timeout => self.doublings > 0,
        };
        self.congestion.on_timeout(now, in_flight, is_reduced);
        self.phase = Phase::Timeout;
        self.phase_end = self.newest();
        self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
        self.timeout_at = None;
    }

    /// Puts what arrived into `arrived`, and counts what did so with a mark.
    fn take_arrivals(&mut self, reports: &[PacketReport]) -> Bytes {
        self.arrived.clear();
        let mut marked = 0;
        for report in reports {
            let PacketOutcome::Arrived { ecn, .. } = report.outcome else {
                continue;
            };
            let Some(index) = self.index(report.packet.sequence.0) else {
                continue;
            };
            let entry = &mut self.entries[index];
            match entry.state {
                State::Arrived => continue,
                State::InFlight => self.in_flight -= entry.length,
                State::Lost => {}
            }
            entry.state = State::Arrived;
            self.arrived.push((entry.length, entry.last));
            if ecn == Ecn::Ce {
                marked += entry.length;
            }
        }
        Bytes::new(marked)
    }

    /// Takes what is lost; whether that begins a recovery.
    fn take_losses(&mut self, now: Time, reports: &[PacketReport]) -> bool {
        let mut is_new = false;
        for report in reports {
            if report.outcome != PacketOutcome::Lost {
                continue;
            }
            let Some(index) = self.index(report.packet.sequence.0) else {
                continue;
            };
            let entry = &mut self.entries[index];
            if entry.state != State::InFlight {
                continue;
            }
            entry.state = State::Lost;
            self.in_flight -= entry.length;
            is_new |= Some(entry.last.number) > self.phase_end;
            lose(&mut *self.congestion, &mut self.delivery, now, entry);
        }
        let begins = is_new && self.phase == Phase::Open;
        if begins {
            self.phase = Phase::Recovery;
            self.phase_end = self.newest();
            self.congestion.on_loss(now, self.in_flight());
        }
        begins
    }

    /// The round trip of the newest packet that arrived: the report's age is the least then.
    fn measure(&mut self, now: Time, newest: Transmission) -> TimeDelta {
        let rtt = now.since(newest.at).max(SHORTEST_RTT);
        self.rtt.sample(rtt);
        self.rtt.sample_minimum(now, rtt);
        self.newest_rtt = Some(rtt);
        rtt
    }

    fn end_phase(&mut self, now: Time) {
        if self.phase != Phase::Open {
            self.phase = Phase::Open;
            self.congestion.on_recovered(now);
        }
    }

    /// RFC 6298, doubled for each time that it ran out.
    fn timeout(&self) -> TimeDelta {
        let once = self.rtt.timeout();
        (once * 2_u32.saturating_pow(self.doublings)).min(self.longest_timeout.max(once))
    }

    fn newest(&self) -> Option<u64> {
        let newest = self.entries.back().map(|entry| entry.last.number);
        newest.max(self.phase_end)
    }

    fn index(&self, number: u64) -> Option<usize> {
        self.entries
            .binary_search_by_key(&number, |entry| entry.last.number)
            .ok()
    }

    /// Forgets what is settled, the oldest first.
    fn forget(&mut self, now: Time) {
        while let Some(first) = self.entries.front() {
            let is_settled = match first.state {
                State::InFlight => false,
                State::Arrived => true,
                State::Lost => now > first.last.at + REMEMBERED_FOR,
            };
            if !is_settled {
                break;
            }
            self.forget_first();
        }
    }

    fn forget_first(&mut self) {
        if let Some(first) = self.entries.pop_front()
            && first.state == State::InFlight
        {
            self.in_flight -= first.length;
        }
    }
}

/// Tells the congestion control that a packet is lost.
fn lose(congestion: &mut dyn Congestion, delivery: &mut Delivery, now: Time, entry: &Entry) {
    let then = entry.last.snapshot;
    delivery.on_lost(entry.length);
    congestion.on_segment_lost(
        now,
        &LostSegment {
            length: Bytes::new(entry.length),
            sent_in_flight: Bytes::new(then.in_flight),
            lost_since: Bytes::new(delivery.lost().saturating_sub(then.lost)),
            delivered: Bytes::new(delivery.delivered()),
            is_app_limited: then.is_app_limited,
        },
    );
}
