//! A transport's sender: its memory of the packets that it sent, and what it tells its
//! congestion control about them.
//!
//! Loss and recovery are those of QUIC (RFC 9002, section 7), since each packet has a number
//! of its own, which is never used again. A recovery begins with the loss of a packet sent
//! after the last recovery began, and ends with the arrival of a packet sent after it began.
//! The timeout is TCP's (RFC 6298).

use std::collections::VecDeque;

use mimosa_facts::{PacketOutcome, PacketReport, SentPacket};
use mimosa_units::{Bytes, Ecn, Time, TimeDelta};

use crate::window::{AckSample, Congestion, Delivery, LostSegment, Rtt, Transmission};

/// The most packets remembered: as many as a transport with numbers of 16 bits can tell apart.
const MOST_PACKETS: usize = 1 << 15;
/// How long after its departure a lost packet is remembered, in case it arrives after all.
const REMEMBERED_FOR: TimeDelta = TimeDelta::from_millis(1_000);
/// The largest packet that IP can carry.
const LARGEST_PACKET: Bytes = Bytes::new(65_535);
/// The shortest round trip that is measured: the clock cannot resolve a shorter one.
const SHORTEST_RTT: TimeDelta = TimeDelta::from_micros(1);
/// The most doublings of the timeout that are counted; so many exceed every bound of the timeout.
const MOST_DOUBLINGS: u32 = 20;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    InFlight,
    Arrived,
    Lost,
    /// The report on the packet was lost.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    length: u64,
    state: State,
    /// The packet's transmission, which has the packet's number.
    last: Transmission,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    Open,
    Recovery,
    Timeout,
}

/// A summary of what one feedback message made known.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct News {
    /// Whether a recovery began.
    pub(super) is_loss: bool,
    /// Bytes that arrived with an ECN mark.
    pub(super) marked: Bytes,
    /// Whether the application limited the delivery rate that was measured.
    pub(super) is_app_limited: bool,
}

/// The sender's side of a transport, without the data that it sends.
#[derive(Debug)]
pub(super) struct Connection {
    congestion: Box<dyn Congestion>,
    packet: Bytes,
    longest_timeout: TimeDelta,
    /// The packets that are remembered, in the order of their numbers.
    entries: VecDeque<Entry>,
    in_flight: u64,
    delivery: Delivery,
    rtt: Rtt,
    newest_rtt: Option<TimeDelta>,
    phase: Phase,
    /// Number of the newest packet when the last recovery or timeout began; `None` before
    /// the first one.
    phase_end: Option<u64>,
    timeout_at: Option<Time>,
    /// Number of timeouts since a packet last arrived.
    doublings: u32,
    /// Packets with numbers below this one count as limited by the window: the last of them
    /// filled the window while more waited.
    limited_until: u64,
    /// The packets that the present message reports as arrived; the vector is kept for its memory.
    arrived: Vec<(u64, Transmission)>,
}

impl Connection {
    /// A connection that has sent nothing. `packet` is the size of the algorithm's segment.
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

    /// Bytes that were sent and have neither arrived nor been lost.
    pub(super) const fn in_flight(&self) -> Bytes {
        Bytes::new(self.in_flight)
    }

    /// All bytes that arrived.
    #[cfg(test)]
    pub(super) const fn delivered(&self) -> Bytes {
        Bytes::new(self.delivery.delivered())
    }

    pub(super) const fn smoothed_rtt(&self) -> Option<TimeDelta> {
        self.rtt.smoothed()
    }

    /// How much longer the newest round trip is than the shortest; `None` before the first one.
    pub(super) fn queue_delay(&self) -> Option<TimeDelta> {
        let shortest = self.rtt.minimum()?;
        let longer = self.newest_rtt? - shortest;
        Some(longer.max(TimeDelta::ZERO))
    }

    /// When to call [`Self::time_out`] if nothing arrives before; `None` if nothing is in flight.
    pub(super) const fn timeout_at(&self) -> Option<Time> {
        self.timeout_at
    }

    /// Whether one more segment would not fit into the window.
    fn is_full(&self) -> bool {
        self.in_flight() + self.packet > self.congestion.window()
    }

    /// Takes a packet that leaves; `has_more` says that more packets wait to leave. A packet
    /// whose number is not above those of all earlier ones is ignored.
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

    /// Called when there is nothing more to send. If the window has room, the application
    /// and not the path limits the flight.
    pub(super) fn run_dry(&mut self) {
        if !self.is_full() {
            self.delivery.on_app_limited(self.in_flight);
        }
    }

    /// Takes the reports of one feedback message.
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

    /// Takes packets out of the flight of which nothing will become known. They say nothing about the
    /// path: neither the window nor the measured rate changes.
    pub(super) fn unknown(&mut self, packets: &[SentPacket]) {
        for packet in packets {
            let Some(index) = self.index(packet.sequence.0) else {
                continue;
            };
            let entry = &mut self.entries[index];
            if entry.state == State::InFlight {
                entry.state = State::Unknown;
                self.in_flight -= entry.length;
            }
        }
        if self.in_flight == 0 {
            self.timeout_at = None;
        }
    }

    /// Handles the timeout: nothing has arrived for too long, and everything in flight
    /// counts as lost.
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

    /// Puts the packets that arrived into `arrived`. Returns the bytes of those with an ECN mark.
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
                State::Lost | State::Unknown => {}
            }
            entry.state = State::Arrived;
            self.arrived.push((entry.length, entry.last));
            if ecn == Ecn::Ce {
                marked += entry.length;
            }
        }
        Bytes::new(marked)
    }

    /// Takes the packets that were lost. Returns whether a recovery begins.
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
            match entry.state {
                State::Arrived | State::Lost => continue,
                State::InFlight => self.in_flight -= entry.length,
                State::Unknown => {}
            }
            entry.state = State::Lost;
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

    /// Measures the round trip of the newest packet that arrived, since its report has
    /// waited least.
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

    /// The timeout of RFC 6298, doubled for each timeout in a row, but to no more than
    /// `longest_timeout`.
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

    /// Forgets packets whose fate is settled, the oldest first.
    fn forget(&mut self, now: Time) {
        while let Some(first) = self.entries.front() {
            let is_settled = match first.state {
                State::InFlight => false,
                State::Arrived => true,
                State::Lost | State::Unknown => now > first.last.at + REMEMBERED_FOR,
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
