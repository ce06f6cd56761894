//! Measures how many events a second controllers take: two that are part of the program, and the
//! small one of `controllers` as a module and as a process.
//!
//! ```sh
//! cargo run --release -p mimosa-outside --features wasm --example speed
//! ```

use std::error::Error;
use std::path::Path;

use mimosa_facts::{
    Controller, Event, FrameId, Limits, PacketKind, PacketOutcome, PacketReport, SentPacket,
    Sequence,
};
use mimosa_foreign::OutsideName;
use mimosa_outside::{Pace, find};
use mimosa_system::clock::now;
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

/// Packets of each frame: at 60 frames a second and 1200 bytes, 12 Mbit/s.
const PACKETS: u64 = 20;
/// Frame interval of 60 frames a second.
const INTERVAL: TimeDelta = TimeDelta::from_nanos(16_666_667);

/// Tells the controller of frames, each with its packets and one report; returns the number of
/// events.
fn frames(controller: &mut dyn Controller, frames: std::ops::Range<u64>) -> u64 {
    let mut events = 0;
    for number in frames {
        let start = Time::ZERO + INTERVAL * u32::try_from(number).unwrap_or(u32::MAX);
        let frame = FrameId(number);
        let packets: Vec<_> = (0..PACKETS)
            .zip(0..)
            .map(|(place, micros)| SentPacket {
                sequence: Sequence(number * PACKETS + place),
                frame,
                kind: PacketKind::Media,
                size: Bytes::new(1_200),
                sent: start + TimeDelta::from_micros(100 * micros),
            })
            .collect();
        let interval = INTERVAL;
        controller.handle(start, Event::FrameDue { frame, interval });
        let size = Bytes::new(1_200 * PACKETS);
        let packet_count = 20;
        controller.handle(
            start,
            Event::FrameEncoded {
                frame,
                size,
                packets: packet_count,
            },
        );
        for packet in &packets {
            controller.handle(packet.sent, Event::PacketSent(*packet));
        }
        let reports: Vec<_> = packets
            .iter()
            .map(|&packet| PacketReport {
                packet,
                outcome: PacketOutcome::Arrived {
                    at: PeerTime::from_nanos(packet.sent.as_nanos().cast_signed() + 5_000_000),
                    ecn: Ecn::NotEct,
                    after_loss: false,
                },
            })
            .collect();
        let report = Event::Feedback {
            reports: &reports,
            in_flight: Bytes::ZERO,
        };
        controller.handle(start + TimeDelta::from_millis(12), report);
        events += PACKETS + 3;
    }
    events
}

/// Prints the controller's events a second: the most of 40 slices of 50 ms, so that other work of the
/// machine does not count.
fn measure(name: &str, controller: &mut dyn Controller) -> Result<(), Box<dyn Error>> {
    let (mut most, mut number) = (0.0_f64, 0);
    for _ in 0..40 {
        let (begin, mut events) = (now(), 0);
        while begin.elapsed().as_secs_f64() < 0.05 {
            events += frames(controller, number..number + 2);
            number += 2;
        }
        most = most.max(events as f64 / begin.elapsed().as_secs_f64());
        if let Some(why) = controller.failure() {
            return Err(why.into());
        }
    }
    println!(
        "{name}: {most:.0} events a second, {:.2} us each",
        1e6 / most
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
    let limits = Limits::new(mbps(1), mbps(5), mbps(12));
    let none = toml::Table::new();
    for name in ["pudica", "mimosa"] {
        let params = toml::Value::Table(none.clone());
        measure(name, mimosa_cc::build(name, params, limits)?.as_mut())?;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("controllers");
    for name in ["wasm:aimd.wasm", "process:python3 aimd.py"] {
        let outside = OutsideName::of(name).ok_or("no such form")?;
        let maker = find(outside, &folder, Pace::Simulated)?;
        measure(name, maker.make(&none, limits).as_mut())?;
    }
    Ok(())
}
