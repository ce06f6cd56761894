//! Every controller under arbitrary events: it keeps its limits, and says
//! nothing that a pacer or a reader of recordings could not take.
//!
//! Bytes become a list of [`Step`]s. Some are what a stream does (a whole frame
//! is sent, packets come back), so that short inputs reach deep; the others are
//! single events with any values at all, so that nothing is out of reach. Every
//! controller sees the same events twice, in two copies that must agree.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use mimosa_facts::{
    Controller, Decision, Event, FrameId, Limits, Pacing, PacketKind, PacketOutcome, PacketReport,
    SentPacket, Sequence,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

/// Parameters, as TOML, that make a controller take other paths than its defaults do.
/// The defaults of every name in [`mimosa_cc::NAMES`] are run without being
/// listed here.
const VARIANTS: &[(&str, &str)] = &[
    (
        "bbr-app",
        "inflight = 'window'\nplateau = '20Mbit/s'\nsilence = '100ms'",
    ),
    ("bbr2", "follow_pace = false\nsubtract_waiting = false"),
    ("bbr3", "follow_pace = false\nsubtract_waiting = false"),
    ("c3g", "forget = 'congestion'"),
    ("copa", "mode_switching = true\nreset_on_turn = false"),
    ("copa", "window = false\nsubtract_waiting = false"),
    ("fixed", "rate = '8Mbit/s'\npace = 0"),
    ("gcc", "window_time = '200ms'\nhold_when_limited = true"),
    ("gcc", "probing = false\nloss_based = false"),
    ("gcc", "version = 'classic'\ngroup_packet = 'first'"),
    (
        "mimosa",
        "delay_budget = '20ms'\nlead = 1\nprobes = 0\nstanding_gain = 2",
    ),
    (
        "mimosa",
        "lead = 65535\nsmoothing_window = '1ns'\nmin_delay_window = '1ns'\nsilence = 0",
    ),
    (
        "nada",
        "priority = 0.5\nfilter_samples = 1\nfeedback_timeout = '50ms'",
    ),
    ("oracle", "share = 0.5"),
    ("prague", "follow_pace = false\nsubtract_waiting = false"),
    ("pudica", "estimator = 'sqp'"),
    ("pudica", "estimator = 'salsify'"),
    ("pudica", "adaptation = 'ai/md'\npacing = 'fixed'"),
    ("pudica", "growth = 'exponential'\npacing = 'burst'"),
    ("pudica", "fallback = false\ndrain = false\nprobes = 0"),
    (
        "pudica",
        "growth = 'independent'\ncadence = 'feedback'\noveruse = 'step'\nframe_size = 'sent'",
    ),
    (
        "pudica",
        "noise_floor = 1000.0\nnoise_window = '1ns'\nlargest_rise = '1kbit/s'",
    ),
    ("salsify", "budget = '100ms'\npace = 0\nmost_skipped = 0"),
    (
        "scream",
        "l4s = 'on'\nloss_policer = true\nclock_drift = false",
    ),
    (
        "scream",
        "l4s = 'off'\ncompeting_flows = true\nreduce_jitter = true",
    ),
    ("scream", "version = '2024'\nl4s = 'on'"),
    ("scream", "version = 'libwebrtc'\ndrain_period = '50ms'"),
    ("sqp", "pace = 1\ntarget = 0.5\nfeedback_timeout = '50ms'"),
];

/// Packets remembered for being reported; older ones can only be made up.
const REMEMBERED: usize = 512;

/// One input: the limits, and what happens.
#[derive(Arbitrary, Debug)]
struct Input {
    limits: [Amount; 3],
    steps: Vec<Step>,
}

/// A number that is as often an everyday one as any one at all.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Amount {
    Zero,
    Small(u8),
    Thousands(u16),
    Any(u64),
}

impl Amount {
    fn get(self) -> u64 {
        match self {
            Self::Zero => 0,
            Self::Small(number) => u64::from(number),
            Self::Thousands(number) => u64::from(number) * 1_000,
            Self::Any(number) => number,
        }
    }
}

/// A span that is not negative, as often an everyday one as any one at all.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Span {
    Zero,
    Nanos(u16),
    Micros(u16),
    Millis(u8),
    Any(u64),
}

impl Span {
    fn get(self) -> TimeDelta {
        TimeDelta::from_nanos(match self {
            Self::Zero => 0,
            Self::Nanos(number) => i64::from(number),
            Self::Micros(number) => i64::from(number) * 1_000,
            Self::Millis(number) => i64::from(number) * 1_000_000,
            Self::Any(number) => number.cast_signed() & i64::MAX,
        })
    }
}

/// A frame, named by its distance from the newest one or by any number.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Frame {
    Next,
    Newest,
    Back(u8),
    Any(u64),
}

/// What happens next. Time passes in [`Step::Wait`] and [`Step::Stream`] only.
#[derive(Arbitrary, Debug)]
enum Step {
    /// Nothing, for a while.
    Wait(Span),
    /// The clock reaches the controller's own deadline.
    Timer,
    /// A frame is asked for, encoded to `size` and sent as `packets` packets
    /// and `probes` probes, `gap` apart.
    Stream {
        interval: Span,
        size: Amount,
        packets: u8,
        probes: u8,
        gap: Span,
    },
    /// The oldest `packets` unreported packets arrive, the first after
    /// `delay`, the others `gap` apart, every `lost`th but one lost.
    Deliver {
        packets: u8,
        delay: Span,
        gap: Span,
        lost: u8,
        in_flight: Amount,
    },
    /// [`Event::FrameDue`] with any values.
    FrameDue { frame: Frame, interval: Span },
    /// [`Event::FrameEncoded`] with any values.
    FrameEncoded {
        frame: Frame,
        size: Amount,
        packets: u32,
    },
    /// [`Event::FrameBegun`] with any values.
    FrameBegun {
        frame: Frame,
        size: Amount,
        packets: u32,
    },
    /// [`Event::FrameDecoded`] of any frame.
    FrameDecoded { frame: Frame },
    /// [`Event::FrameGivenUp`] of any frame.
    FrameGivenUp { frame: Frame },
    /// [`Event::PacketSent`] with any values.
    PacketSent(Packet),
    /// [`Event::Feedback`] with any values.
    Feedback {
        reports: Vec<Report>,
        in_flight: Amount,
    },
    /// [`Event::Told`] with any values.
    Told {
        rate: Amount,
        mean: Amount,
        age: Span,
    },
}

/// A packet with any values, sent or not.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Packet {
    sequence: u64,
    frame: Frame,
    kind: Kind,
    size: Amount,
    sent: u64,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Kind {
    Media,
    Retransmission,
    Probe,
    Repair,
}

/// News of a packet that was sent, as often before as the input likes, or of
/// one that never was.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Report {
    packet: Subject,
    outcome: Fate,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Subject {
    /// This many packets before the newest.
    Sent(u8),
    NeverSent(Packet),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Fate {
    After {
        delay: Span,
        marked: bool,
        after_loss: bool,
    },
    At {
        at: i64,
        ecn: u8,
    },
    Lost,
}

fuzz_target!(|input: Input| {
    let defaults = mimosa_cc::NAMES.iter().map(|name| (*name, ""));
    for (name, params) in defaults.chain(VARIANTS.iter().copied()) {
        let [a, b, c] = input.limits.map(|amount| Rate::from_bps(amount.get()));
        let limits = Limits::new(a, b, c);
        let mut run = Run::new(name, params, limits);
        for step in &input.steps {
            run.step(step);
        }
    }
});

/// Two copies of a controller, and what the checks need to know of the past.
struct Run {
    name: &'static str,
    params: &'static str,
    limits: Limits,
    pair: [Box<dyn Controller>; 2],
    now: Time,
    newest: FrameId,
    /// The interval last given, and the longest so far.
    interval: TimeDelta,
    longest_interval: TimeDelta,
    sent: Vec<SentPacket>,
    sequence: u64,
    /// How many of `sent` were not reported in order yet.
    unreported: usize,
}

impl Run {
    fn new(name: &'static str, params: &'static str, limits: Limits) -> Self {
        let build = || {
            let table: toml::Table = toml::from_str(params)
                .unwrap_or_else(|error| panic!("{name} is not built: {error}"));
            mimosa_cc::build(name, toml::Value::Table(table), limits)
                .unwrap_or_else(|error| panic!("{name} is not built: {error}"))
        };
        Self {
            name,
            params,
            limits,
            pair: [build(), build()],
            now: Time::ZERO,
            newest: FrameId(0),
            interval: TimeDelta::ZERO,
            longest_interval: TimeDelta::ZERO,
            sent: Vec::new(),
            sequence: 0,
            unreported: 0,
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Wait(span) => self.now += span.get(),
            Step::Timer => self.timer(),
            Step::Stream {
                interval,
                size,
                packets,
                probes,
                gap,
            } => self.stream(interval.get(), size.get(), *packets, *probes, gap.get()),
            Step::Deliver {
                packets,
                delay,
                gap,
                lost,
                in_flight,
            } => {
                let reports = self.delivered(*packets, delay.get(), gap.get(), *lost);
                self.feedback(&reports, in_flight.get());
            }
            Step::FrameDue { frame, interval } => {
                let frame = self.frame(*frame);
                self.frame_due(frame, interval.get());
            }
            Step::FrameEncoded {
                frame,
                size,
                packets,
            } => {
                let frame = self.frame(*frame);
                self.handle(Event::FrameEncoded {
                    frame,
                    size: Bytes::new(size.get()),
                    packets: (*packets).max(1),
                });
            }
            Step::FrameBegun {
                frame,
                size,
                packets,
            } => {
                let frame = self.frame(*frame);
                self.handle(Event::FrameBegun {
                    frame,
                    size: Bytes::new(size.get()),
                    packets: (*packets).max(1),
                });
            }
            Step::FrameDecoded { frame } => {
                let frame = self.frame(*frame);
                self.handle(Event::FrameDecoded { frame });
            }
            Step::FrameGivenUp { frame } => {
                let frame = self.frame(*frame);
                self.handle(Event::FrameGivenUp { frame });
            }
            Step::PacketSent(packet) => {
                let packet = self.packet(*packet);
                self.send(packet);
            }
            Step::Feedback { reports, in_flight } => {
                let reports: Vec<_> = reports.iter().map(|report| self.report(*report)).collect();
                self.feedback(&reports, in_flight.get());
            }
            Step::Told { rate, mean, age } => self.handle(Event::Told {
                rate: Rate::from_bps(rate.get()),
                mean: Rate::from_bps(mean.get()),
                age: age.get(),
            }),
        }
    }

    fn timer(&mut self) {
        let Some(deadline) = self.pair[0].deadline() else {
            return;
        };
        self.now = self.now.max(deadline);
        self.handle(Event::Timer);
        let next = self.pair[0].deadline();
        assert!(
            self.now == Time::MAX || next.is_none_or(|next| next > self.now),
            "{}: after the timer of {} the next one is {next:?}: it would never end",
            self.title(),
            self.now
        );
    }

    fn stream(&mut self, interval: TimeDelta, size: u64, packets: u8, probes: u8, gap: TimeDelta) {
        let frame = self.frame(Frame::Next);
        self.frame_due(frame, interval);
        let packets = packets.max(1);
        self.handle(Event::FrameEncoded {
            frame,
            size: Bytes::new(size),
            packets: u32::from(packets),
        });
        let media = (PacketKind::Media, Bytes::new(size / u64::from(packets)));
        let probe = (PacketKind::Probe, Bytes::new(60));
        let all = std::iter::repeat_n(media, usize::from(packets))
            .chain(std::iter::repeat_n(probe, usize::from(probes)));
        for (kind, size) in all {
            self.send(SentPacket {
                sequence: Sequence(self.sequence),
                frame,
                kind,
                size,
                sent: self.now,
            });
            self.now += gap;
        }
    }

    fn delivered(
        &mut self,
        packets: u8,
        delay: TimeDelta,
        gap: TimeDelta,
        lost: u8,
    ) -> Vec<PacketReport> {
        let first = self.sent.len() - self.unreported;
        let count = usize::from(packets).min(self.unreported);
        self.unreported -= count;
        let mut late = delay;
        let mut reports = Vec::with_capacity(count);
        for (index, packet) in self.sent[first..first + count].iter().enumerate() {
            let outcome = if lost > 1 && index % usize::from(lost) == 1 {
                PacketOutcome::Lost
            } else {
                let arrives = packet.sent + late;
                PacketOutcome::Arrived {
                    at: PeerTime::from_nanos(arrives.as_nanos().cast_signed()),
                    ecn: Ecn::NotEct,
                    after_loss: false,
                }
            };
            late += gap;
            reports.push(PacketReport {
                packet: *packet,
                outcome,
            });
        }
        reports
    }

    fn frame(&mut self, frame: Frame) -> FrameId {
        let FrameId(newest) = self.newest;
        let frame = FrameId(match frame {
            Frame::Next => newest.saturating_add(1),
            Frame::Newest => newest,
            Frame::Back(frames) => newest.saturating_sub(u64::from(frames)),
            Frame::Any(frame) => frame,
        });
        self.newest = frame;
        frame
    }

    fn packet(&mut self, packet: Packet) -> SentPacket {
        SentPacket {
            sequence: Sequence(packet.sequence),
            frame: self.frame(packet.frame),
            kind: match packet.kind {
                Kind::Media => PacketKind::Media,
                Kind::Retransmission => PacketKind::Retransmission,
                Kind::Probe => PacketKind::Probe,
                Kind::Repair => PacketKind::Repair,
            },
            size: Bytes::new(packet.size.get()),
            sent: Time::from_nanos(packet.sent),
        }
    }

    fn report(&mut self, report: Report) -> PacketReport {
        let packet = match report.packet {
            Subject::Sent(back) => {
                let index = self.sent.len().checked_sub(usize::from(back) + 1);
                index.map(|index| self.sent[index])
            }
            Subject::NeverSent(packet) => Some(self.packet(packet)),
        };
        let packet = packet.unwrap_or(SentPacket {
            sequence: Sequence(u64::MAX),
            frame: self.newest,
            kind: PacketKind::Media,
            size: Bytes::ZERO,
            sent: self.now,
        });
        let outcome = match report.outcome {
            Fate::After {
                delay,
                marked,
                after_loss,
            } => PacketOutcome::Arrived {
                at: PeerTime::from_nanos((packet.sent + delay.get()).as_nanos().cast_signed()),
                ecn: if marked { Ecn::Ce } else { Ecn::Ect1 },
                after_loss,
            },
            Fate::At { at, ecn } => PacketOutcome::Arrived {
                at: PeerTime::from_nanos(at),
                ecn: [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce][usize::from(ecn % 4)],
                after_loss: false,
            },
            Fate::Lost => PacketOutcome::Lost,
        };
        PacketReport { packet, outcome }
    }

    fn frame_due(&mut self, frame: FrameId, interval: TimeDelta) {
        self.interval = interval;
        self.longest_interval = self.longest_interval.max(interval);
        self.handle(Event::FrameDue { frame, interval });
    }

    fn send(&mut self, packet: SentPacket) {
        if self.sent.len() == REMEMBERED {
            self.sent.remove(0);
            self.unreported = self.unreported.min(self.sent.len());
        }
        self.sent.push(packet);
        self.sequence = self.sequence.max(packet.sequence.0).saturating_add(1);
        self.unreported += 1;
        self.handle(Event::PacketSent(packet));
    }

    fn feedback(&mut self, reports: &[PacketReport], in_flight: u64) {
        self.handle(Event::Feedback {
            reports,
            in_flight: Bytes::new(in_flight),
        });
    }

    fn handle(&mut self, event: Event<'_>) {
        let [first, second] = &mut self.pair;
        let decision = *first.handle(self.now, event);
        let wrong = if decision != *second.handle(self.now, event) {
            Some("the same events gave two decisions")
        } else if decision != *first.decision() {
            Some("the decision given is not the one that stands")
        } else if first.deadline() != second.deadline() {
            Some("the same events gave two deadlines")
        } else {
            self.wrong(&decision)
        };
        if let Some(wrong) = wrong {
            panic!(
                "{}: {wrong}\nat {}, on {event:?}\n{decision:#?}",
                self.title(),
                self.now
            );
        }
    }

    /// What no decision may be, whatever happened before.
    fn wrong(&self, decision: &Decision) -> Option<&'static str> {
        let evidence = &decision.evidence;
        let shares = [evidence.utilization, evidence.smoothed_utilization];
        if shares.iter().flatten().any(|share| !share.is_finite()) {
            return Some("a share is not finite");
        }
        if shares.iter().flatten().any(|share| *share < 0.0) {
            return Some("a share is negative");
        }
        if evidence
            .queue_delay
            .is_some_and(|delay| delay < TimeDelta::ZERO)
        {
            return Some("a queue takes less than no time");
        }
        if self.limits.clamp(decision.target) != decision.target {
            return Some("the target is outside the limits");
        }
        let largest = self.limits.max().amount_in(self.interval);
        if decision.frame_limit.is_some_and(|limit| limit > largest) {
            return Some("a frame may be larger than the highest rate allows");
        }
        if decision.window == Some(Bytes::ZERO) {
            return Some("the window is empty, so that nothing could ever come back");
        }
        match decision.pacing {
            Pacing::Burst => {}
            Pacing::Spread { over, .. } => {
                // Half a nanosecond in a span of 2^53 of them is rounding.
                if over < TimeDelta::ZERO || over > self.longest_interval.scale(1.0 + 1e-12) {
                    return Some("a frame is spread over less than no time or more than a frame");
                }
            }
            Pacing::Bucket { rate, .. } => {
                if rate == Rate::ZERO && decision.target > Rate::ZERO {
                    return Some("nothing would ever leave the bucket");
                }
            }
        }
        if let Some(probe) = decision.probe
            && (probe.packets == 0 || probe.interval < TimeDelta::ZERO)
        {
            return Some("probes are none, or sent back in time");
        }
        None
    }

    fn title(&self) -> String {
        format!("{} {:?} in {:?}", self.name, self.params, self.limits)
    }
}
