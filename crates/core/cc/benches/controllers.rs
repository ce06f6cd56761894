//! Benchmark of the time that each controller takes for a packet: `cargo bench -p
//! mimosa-cc`.
//!
//! Every controller is given the same events, which were recorded before from a stream of
//! 20 Mbit/s over a link of changing rate: frames, departures and feedback with queueing
//! delays, marks and losses. The time covers all of them, and is divided by the number of
//! packets that feedback was about. Every figure is the median of several rounds, and is
//! printed with its ratio to that of `fixed`, which looks at nothing.

#![allow(clippy::unwrap_used, reason = "a benchmark may")]
#![expect(
    clippy::disallowed_methods,
    reason = "measuring time is what a benchmark is for"
)]

use std::hint::black_box;
use std::time::Instant;

use mimosa_cc::{NAMES, build};
use mimosa_facts::{
    Event, FrameId, Limits, PacketKind, PacketOutcome, PacketReport, SentPacket, Sequence,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};
use serde::de::value::{Error, MapDeserializer};

const ROUNDS: usize = 9;
const SECONDS: u64 = 60;
const FRAMES_A_SECOND: u64 = 60;
const PACKET: Bytes = Bytes::new(1_200);
const TARGET: Rate = Rate::from_kbps(20_000);
/// Delay from the link to the receiver, and as much back to the sender.
const ONE_WAY: TimeDelta = TimeDelta::from_millis(10);
/// Longest wait of a packet at the link; one that would wait longer is lost.
const LONGEST_WAIT: TimeDelta = TimeDelta::from_millis(100);
/// Longest wait of a packet at the link without a mark.
const MARKED_WAIT: TimeDelta = TimeDelta::from_millis(1);
/// The link's rate in Mbit/s, one a second: mostly enough, at times too little.
const LINK: [u64; 5] = [25, 40, 21, 18, 30];

/// An event of the recording, which a controller is given.
enum Told {
    Due(FrameId),
    Encoded(FrameId, Bytes, u32),
    Sent(SentPacket),
    /// The reports, and how much is in flight after them.
    Feedback(Vec<PacketReport>, Bytes),
    Link(Rate),
}

/// The recorded events of a stream, in the order of their times.
struct Recording {
    events: Vec<(Time, Told)>,
    interval: TimeDelta,
    reported: u64,
}

impl Recording {
    /// Records a stream whose packets are reported one by one if `each_packet`, or frame
    /// by frame.
    fn new(each_packet: bool) -> Self {
        let interval = TimeDelta::from_nanos((1_000_000_000 / FRAMES_A_SECOND).cast_signed());
        let mut events = Vec::new();
        let mut free = Time::ZERO;
        let mut sequence = 0;
        let mut reports = Vec::new();
        let count = TARGET.amount_in(interval).pieces(PACKET);
        for number in 0..SECONDS * FRAMES_A_SECOND {
            let due = Time::ZERO + interval * u32::try_from(number).unwrap();
            let frame = FrameId(number);
            let second = usize::try_from(number / FRAMES_A_SECOND).unwrap();
            let rate = Rate::from_kbps(1_000 * LINK[second % LINK.len()]);
            let size = Bytes::new(PACKET.get() * count);
            events.push((due, Told::Link(rate)));
            events.push((due, Told::Due(frame)));
            let packets = u32::try_from(count).unwrap();
            events.push((due, Told::Encoded(frame, size, packets)));
            for index in 0..packets {
                let sent = SentPacket {
                    sequence: Sequence(sequence),
                    frame,
                    kind: PacketKind::Media,
                    size: PACKET,
                    sent: due + interval.scale(0.8 * f64::from(index) / f64::from(packets)),
                };
                sequence += 1;
                events.push((sent.sent, Told::Sent(sent)));
                let wait = free.since(sent.sent).max(TimeDelta::ZERO);
                let outcome = if wait > LONGEST_WAIT {
                    PacketOutcome::Lost
                } else {
                    free = free.max(sent.sent) + rate.transmit_time(PACKET);
                    let at = (free + ONE_WAY).as_nanos().cast_signed();
                    PacketOutcome::Arrived {
                        at: PeerTime::from_nanos(at),
                        ecn: if wait > MARKED_WAIT {
                            Ecn::Ce
                        } else {
                            Ecn::Ect1
                        },
                        after_loss: false,
                    }
                };
                reports.push(PacketReport {
                    packet: sent,
                    outcome,
                });
                if each_packet || index + 1 == packets {
                    let heard = free.max(sent.sent) + ONE_WAY + ONE_WAY;
                    let told = Told::Feedback(std::mem::take(&mut reports), Bytes::ZERO);
                    events.push((heard, told));
                }
            }
        }
        events.sort_by_key(|(at, _)| *at);
        let mut in_flight = Bytes::ZERO;
        let mut reported = 0;
        for (_, told) in &mut events {
            match told {
                Told::Sent(packet) => in_flight += packet.size,
                Told::Feedback(reports, then) => {
                    let sizes = reports.iter().map(|report| report.packet.size);
                    in_flight -= sizes.sum();
                    reported += reports.len() as u64;
                    *then = in_flight;
                }
                _ => {}
            }
        }
        Self {
            events,
            interval,
            reported,
        }
    }

    /// Time that the controller called `name` takes for a reported packet, in nanoseconds.
    fn time(&self, name: &str) -> f64 {
        let mut times: Vec<f64> = (0..ROUNDS).map(|_| self.once(name)).collect();
        times.sort_by(f64::total_cmp);
        times[ROUNDS / 2] * 1e9 / self.reported as f64
    }

    fn once(&self, name: &str) -> f64 {
        let none = MapDeserializer::<_, Error>::new(std::iter::empty::<(&str, f64)>());
        let limits = Limits::new(Rate::from_kbps(200), TARGET, Rate::from_kbps(50_000));
        let mut controller = build(name, none, limits).unwrap();
        let begin = Instant::now();
        for (at, told) in &self.events {
            while let Some(due) = controller.deadline()
                && due <= *at
            {
                controller.handle(due, Event::Timer);
                if controller.deadline() == Some(due) {
                    break;
                }
            }
            let event = match told {
                Told::Due(frame) => Event::FrameDue {
                    frame: *frame,
                    interval: self.interval,
                },
                Told::Encoded(frame, size, packets) => Event::FrameEncoded {
                    frame: *frame,
                    size: *size,
                    packets: *packets,
                },
                Told::Sent(packet) => Event::PacketSent(*packet),
                Told::Feedback(reports, in_flight) => Event::Feedback {
                    reports,
                    in_flight: *in_flight,
                },
                Told::Link(rate) => Event::Told {
                    rate: *rate,
                    mean: *rate,
                    age: TimeDelta::ZERO,
                },
            };
            black_box(controller.handle(*at, event));
        }
        begin.elapsed().as_secs_f64()
    }
}

fn main() {
    let [packet, frame] = [true, false].map(Recording::new);
    let times: Vec<[f64; 2]> = NAMES
        .iter()
        .map(|name| [&packet, &frame].map(|recording| recording.time(name)))
        .collect();
    let fixed = NAMES.iter().position(|name| *name == "fixed").unwrap();
    let reference = times[fixed];
    println!(
        "{} packets of {PACKET}, {FRAMES_A_SECOND} frames a second, medians of {ROUNDS} rounds\n",
        packet.reported
    );
    println!(
        "| controller | reports of packets, ns per packet | times `fixed` | \
         reports of frames, ns per packet | times `fixed` |"
    );
    println!("|---|--:|--:|--:|--:|");
    for (name, [each, whole]) in NAMES.iter().zip(&times) {
        println!(
            "| `{name}` | {each:.0} | {:.1} | {whole:.0} | {:.1} |",
            each / reference[0],
            whole / reference[1]
        );
    }
}
