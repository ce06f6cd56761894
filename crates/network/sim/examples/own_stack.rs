//! A stream in an application's own network stack: the calls, in their order.
//!
//! Encoder, network and clock belong to the caller; here they are numbers. The receiver's host is
//! another machine, so that its clock is another clock.
//!
//! `cargo run --example own_stack`

use std::collections::VecDeque;

use mimosa_facts::{Arrival, ArrivalReport, Limits};
use mimosa_stream::{FeedbackMode, Receiver, Sender, SenderConfig, packetise};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

/// 60 frames a second over a link of 20 Mbit/s, 10 ms there and 10 ms back.
const INTERVAL: TimeDelta = TimeDelta::from_micros(16_667);
const LINK: Rate = Rate::from_kbps(20_000);
const DELAY: TimeDelta = TimeDelta::from_millis(10);

fn main() -> Result<(), mimosa_cc::BuildError> {
    let limits = Limits::new(
        Rate::from_kbps(200),
        Rate::from_kbps(5_000),
        Rate::from_kbps(50_000),
    );
    let params = toml::Table::new(); // the controller's defaults
    let controller = mimosa_cc::build("pudica", toml::Value::Table(params), limits)?;
    let mut sender = Sender::new(SenderConfig::default(), controller);
    let mut receiver = Receiver::new(FeedbackMode::OnRequest, 0);

    let mut reports: VecDeque<(Time, ArrivalReport)> = VecDeque::new();
    let (mut next_frame, mut link_free) = (Time::ZERO, Time::ZERO);
    let mut now = Time::ZERO;
    while now < Time::from_secs(5) {
        // 1. Reports that have come back.
        while let Some((_, report)) = reports.pop_front_if(|(due, _)| *due <= now) {
            sender.feedback(now, &report);
            receiver.recycle(report);
        }
        // 2. A frame: ask how large it may be, encode it, hand it over.
        if next_frame <= now {
            let grant = sender.frame_due(now, INTERVAL);
            let encoded = grant.size; // an encoder that obeys
            sender.frame_encoded(now, packetise(encoded, Bytes::new(1200), Bytes::ZERO));
            next_frame += INTERVAL;
        }
        // 3. Packets that leave now; a real stack would write them to a socket.
        sender.timer(now);
        while let Some(packet) = sender.poll_packet(now) {
            link_free = link_free.max(now) + LINK.transmit_time(packet.size);
            let arrives = link_free + DELAY;
            let arrival = Arrival {
                sequence: packet.sequence,
                at: PeerTime::from_nanos(arrives.as_nanos().cast_signed() + 1_234_567),
                ecn: Ecn::NotEct,
            };
            if let Some(report) = receiver.packet(arrival, packet.asks_feedback) {
                reports.push_back((arrives + DELAY, report));
            }
        }
        // 4. Frames whose life has ended, for statistics.
        while let Some(life) = sender.poll_frame() {
            if let Some(delay) = life.delay().filter(|_| life.frame.0 % 60 == 0) {
                let decision = &life.decision;
                println!(
                    "frame {:3}: {:4.1} ms at {:4.1} Mbit/s ({})",
                    life.frame.0,
                    delay.as_millis(),
                    decision.target.as_mbps(),
                    decision.cause
                );
            }
        }
        // 5. Sleep until something is due.
        let wake = sender.deadline().unwrap_or(Time::MAX);
        let report = reports.front().map_or(Time::MAX, |(due, _)| *due);
        now = wake.min(report).min(next_frame);
    }
    Ok(())
}
