//! Tests of DualPI2 against the pseudocode of RFC 9332, and against its published behaviour.

use std::collections::VecDeque;

use super::*;
use crate::packet::TestPacket;

fn packet(ecn: Ecn, number: u64) -> TestPacket {
    TestPacket {
        ecn,
        number,
        ..TestPacket::sized(1_500)
    }
}

/// The pseudocode of the RFC, line by line: figures 2, 3, 5, 7 and 8, with the
/// scheduler of figure 10. Times are in seconds.
struct Pseudocode {
    lq: VecDeque<(f64, TestPacket)>,
    cq: VecDeque<(f64, TestPacket)>,
    lq_count: f64,
    cq_count: f64,
    p: f64,
    prevq: f64,
}

impl Pseudocode {
    fn new() -> Self {
        Self {
            lq: VecDeque::new(),
            cq: VecDeque::new(),
            lq_count: 0.0,
            cq_count: 0.0,
            p: 0.0,
            prevq: 0.0,
        }
    }

    fn enqueue(&mut self, now: f64, pkt: TestPacket) {
        match pkt.ecn {
            Ecn::Ect1 | Ecn::Ce => self.lq.push_back((now, pkt)),
            Ecn::NotEct | Ecn::Ect0 => self.cq.push_back((now, pkt)),
        }
    }

    fn recur(count: &mut f64, likelihood: f64) -> bool {
        *count += likelihood;
        if *count > 1.0 {
            *count -= 1.0;
            return true;
        }
        false
    }

    fn time(queue: &VecDeque<(f64, TestPacket)>, now: f64) -> f64 {
        queue.front().map_or(0.0, |head| now - head.0)
    }

    fn laqm(qdelay: f64) -> f64 {
        let (min_th, range) = (800e-6, 400e-6);
        if qdelay >= min_th + range {
            1.0
        } else if qdelay > min_th {
            (qdelay - min_th) / range
        } else {
            0.0
        }
    }

    /// Takes the packet that leaves at `now`, if there is one, and those dropped before it.
    fn dequeue(&mut self, now: f64) -> (Option<TestPacket>, Vec<TestPacket>) {
        let (k, most_c, most_l, th_len, tshift) = (2.0, 0.25, 1.0, 1, 0.050);
        let p_cl = self.p * k;
        let p_c = self.p * self.p;
        let mut dropped = Vec::new();
        while !self.lq.is_empty() || !self.cq.is_empty() {
            let l_first = match (self.lq.front(), self.cq.front()) {
                (Some(_), None) => true,
                (None, _) => false,
                (Some(l), Some(c)) => now - l.0 + tshift >= now - c.0,
            };
            if l_first {
                let (len, time) = (self.lq.len(), Self::time(&self.lq, now));
                let (_, mut pkt) = self.lq.pop_front().unwrap();
                if p_cl < most_l {
                    let native = if len > th_len { Self::laqm(time) } else { 0.0 };
                    if Self::recur(&mut self.lq_count, f64::max(native, p_cl)) {
                        pkt.ecn = Ecn::Ce;
                    }
                } else {
                    if Self::recur(&mut self.lq_count, p_c) {
                        dropped.push(pkt);
                        continue;
                    }
                    if Self::recur(&mut self.lq_count, p_cl.min(1.0)) {
                        pkt.ecn = Ecn::Ce;
                    }
                }
                return (Some(pkt), dropped);
            }
            let (_, mut pkt) = self.cq.pop_front().unwrap();
            if Self::recur(&mut self.cq_count, p_c) {
                if pkt.ecn == Ecn::NotEct || p_c >= most_c {
                    dropped.push(pkt);
                    continue;
                }
                pkt.ecn = Ecn::Ce;
            }
            return (Some(pkt), dropped);
        }
        (None, dropped)
    }

    fn update(&mut self, now: f64) {
        let (target, alpha, beta) = (0.015, 0.15, 3.0);
        let curq = f64::max(Self::time(&self.cq, now), Self::time(&self.lq, now));
        self.p += alpha * (curq - target) + beta * (curq - self.prevq);
        self.p = self.p.clamp(0.0, 1.0);
        self.prevq = curq;
    }
}

#[test]
fn every_decision_is_the_pseudocodes() {
    let config = DualPi2Config {
        scheduler: Scheduler::TimeShifted {
            shift: TimeDelta::from_millis(50),
        },
        limit: Bytes::MAX,
        ..DualPi2Config::default()
    };
    for seed in 1..=8 {
        let mut random = Random::new(seed, "load");
        let mut queue = DualPi2::new(config, seed);
        let mut reference = Pseudocode::new();
        let (mut marks, mut drops, mut number) = (0, 0, 0);
        // A packet is served every 300 us; the load varies from none to double.
        for step in 0..100_000_u64 {
            let nanos = 300_000 * step;
            let now = Time::from_nanos(nanos);
            let secs = nanos as f64 / 1e9;
            if nanos > 0 && nanos % 15_000_000 == 0 {
                reference.update(secs);
            }
            let phase = libm::sin(step as f64 / 9_000.0 + seed as f64);
            let mut given_up = Vec::new();
            for _ in 0..2 {
                if random.chance(0.45 + 0.4 * phase) {
                    number += 1;
                    let ecn = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ect1][(number % 4) as usize];
                    reference.enqueue(secs, packet(ecn, number));
                    queue.enqueue(now, packet(ecn, number), &mut given_up);
                }
            }
            let (expected, expected_drops) = reference.dequeue(secs);
            let got = queue.dequeue(now, &mut given_up).map(|next| next.packet);
            assert_eq!(got, expected, "seed {seed}, step {step}");
            assert_eq!(given_up, expected_drops, "seed {seed}, step {step}");
            drops += given_up.len();
            marks += usize::from(got.is_some_and(|packet| packet.ecn == Ecn::Ce));
        }
        assert!(marks > 1_000 && drops > 100, "{marks} marks, {drops} drops");
    }
}

#[test]
fn the_classic_queue_gets_its_share_under_unending_l4s() {
    let mut queue = DualPi2::new(DualPi2Config::default(), 1);
    let mut dropped = Vec::new();
    for number in 0..1_000 {
        queue.enqueue(Time::ZERO, packet(Ecn::Ect1, number), &mut dropped);
        queue.enqueue(Time::ZERO, packet(Ecn::NotEct, number), &mut dropped);
    }
    let served: Vec<_> = (0..500)
        .map(|_| {
            queue
                .dequeue(Time::from_nanos(1_000), &mut dropped)
                .unwrap()
        })
        .map(|next| next.packet.ecn == Ecn::NotEct)
        .collect();
    let classic = served.iter().filter(|is_classic| **is_classic).count();
    assert_eq!(classic, 50, "a tenth");
    assert!(!served[..8].contains(&true), "L4S begins");
}

/// Offers packets with one ECN field, from a source that does not react, at `load`
/// times the rate at which they are served (one every 300 us). Returns the share
/// dropped, the share marked, and the mean delay in ms, all of the last 20 s.
fn overloaded(config: DualPi2Config, ecn: Ecn, load: f64) -> (f64, f64, f64) {
    let mut queue = DualPi2::new(config, 1);
    let (mut due, mut offered, mut drops, mut marks) = (0.0, 0.0, 0, 0);
    let (mut delay, mut served) = (TimeDelta::ZERO, 0.0);
    for step in 0..133_333_u64 {
        let now = Time::from_nanos(300_000 * step);
        let counts = step > 66_666;
        let mut dropped = Vec::new();
        due += load;
        while due >= 1.0 {
            due -= 1.0;
            offered += if counts { 1.0 } else { 0.0 };
            queue.enqueue(now, packet(ecn, step), &mut dropped);
        }
        let next = queue.dequeue(now, &mut dropped).unwrap();
        if counts {
            drops += dropped.len();
            marks += usize::from(next.packet.ecn == Ecn::Ce);
            delay += now.since(next.since);
            served += 1.0;
        }
    }
    (
        drops as f64 / offered,
        marks as f64 / served,
        delay.as_millis() / served,
    )
}

#[test]
fn overload_is_shed_at_the_target_whatever_it_claims() {
    for config in [DualPi2Config::default(), DualPi2Config::linux()] {
        for (ecn, load) in [(Ecn::NotEct, 1.2), (Ecn::Ect0, 1.5), (Ecn::Ect1, 1.5)] {
            let (drops, _, delay) = overloaded(config, ecn, load);
            let excess = 1.0 - 1.0 / load;
            assert!((drops - excess).abs() < 0.01, "{ecn:?}: {drops} dropped");
            assert!((13.0..17.0).contains(&delay), "{ecn:?}: {delay} ms");
        }
    }
    let config = DualPi2Config {
        overload: Overload::Overflow,
        limit: Bytes::new(150_000),
        ..DualPi2Config::default()
    };
    let (_, marks, delay) = overloaded(config, Ecn::Ect1, 1.5);
    assert!(marks > 0.999 && delay > 28.0, "{marks} {delay}");
}

/// A flow with a window of packets that grows by one each round trip.
struct Flow {
    ecn: Ecn,
    window: f64,
    in_flight: u64,
    sent: u64,
    /// The first packet whose loss or mark reduces the window again (classic flows).
    recovers: u64,
    delivered: u64,
}

impl Flow {
    fn new(ecn: Ecn) -> Self {
        Self {
            ecn,
            window: 10.0,
            in_flight: 0,
            sent: 0,
            recovers: 0,
            delivered: 0,
        }
    }

    /// Takes in the fate of one packet. Reno halves the window at most once in a
    /// round trip; a scalable flow reduces it by half a packet for each mark (RFC
    /// 9332, appendix C: W = 2 / p).
    fn acknowledged(&mut self, number: u64, was_hit: bool) {
        self.in_flight -= 1;
        if !was_hit {
            self.window += 1.0 / self.window;
        } else if self.ecn == Ecn::Ect1 {
            self.window -= 0.5;
        } else if number >= self.recovers {
            self.window /= 2.0;
            self.recovers = self.sent;
        }
        self.window = self.window.max(2.0);
    }
}

#[test]
fn a_scalable_and_a_classic_flow_share_and_only_the_classic_one_waits() {
    // 40 Mbit/s times 10 ms are 33 packets; the classic flow has some 75 more in the queue.
    let service = TimeDelta::from_micros(300);
    let base = TimeDelta::from_millis(10);
    let mut queue = DualPi2::new(DualPi2Config::default(), 1);
    let mut flows = [Flow::new(Ecn::Ect1), Flow::new(Ecn::NotEct)];
    let mut acks: VecDeque<(Time, usize, u64, bool)> = VecDeque::new();
    let mut delays = [TimeDelta::ZERO; 2];
    let mut busy = 0_u64;
    let steps = 400_000_u64;
    for step in 0..steps {
        let now = Time::ZERO + service * u32::try_from(step).unwrap();
        let counts = step >= steps / 2;
        while acks.front().is_some_and(|ack| ack.0 <= now) {
            let (_, flow, number, was_hit) = acks.pop_front().unwrap();
            flows[flow].acknowledged(number, was_hit);
        }
        let mut dropped = Vec::new();
        for flow in &mut flows {
            // Flows are paced: they send at most two packets for each one served.
            for _ in 0..2 {
                if (flow.in_flight as f64) < flow.window {
                    flow.in_flight += 1;
                    queue.enqueue(now, packet(flow.ecn, flow.sent), &mut dropped);
                    flow.sent += 1;
                }
            }
        }
        if let Some(next) = queue.dequeue(now, &mut dropped) {
            let flow = usize::from(next.packet.ecn == Ecn::NotEct);
            let was_hit = next.packet.ecn == Ecn::Ce;
            acks.push_back((now + base, flow, next.packet.number, was_hit));
            if counts {
                busy += 1;
                flows[flow].delivered += 1;
                delays[flow] += now.since(next.since);
            }
        }
        for lost in dropped {
            acks.push_back((now + base, 1, lost.number, true));
        }
    }
    let delivered = flows.each_ref().map(|flow| flow.delivered as f64);
    let delay = [0, 1].map(|flow| delays[flow].as_millis() / delivered[flow]);
    assert!(busy as f64 > 0.98 * steps as f64 / 2.0, "the link is used");
    assert!(delay[0] < 1.0, "L4S waits {} ms", delay[0]);
    assert!(
        (11.0..19.0).contains(&delay[1]),
        "classic waits {} ms",
        delay[1]
    );
    // The windows are similar, and so are the rates times the round trips.
    let window = [0, 1].map(|flow| delivered[flow] * (delay[flow] + 10.0));
    let ratio = window[0] / window[1];
    assert!((0.5..2.0).contains(&ratio), "windows {ratio}");
}
