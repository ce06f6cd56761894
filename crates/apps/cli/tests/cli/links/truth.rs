//! A simulation as two recordings: a session's and a link's.

use std::path::Path;

use mimosa_facts::{
    Fate, FrameLife, FramePlan, FrameRtp, Header, LinkPacket, MediaSequence, Observer, PacketKind,
    Passage, RtpPacket, RtxSequence, SessionFrame, StreamPacket,
};
use mimosa_figures::{RunFigures, Window, measure};
use mimosa_record::{LinkRecorder, SessionRecorder};
use mimosa_units::{Bytes, Ecn, TimeDelta};

/// A stream whose link loses a third of its rate, and shares it with a download.
const SCENARIO: &str = r#"
    duration = "45s"
    [link]
    steps = [{ at = "0s", rate = "30Mbit/s" }, { at = "20s", rate = "20Mbit/s" }]
    one_way_delay = "8ms"
    loss = 0.0005
    queue = { kind = "droptail", limit = "60kB" }
    [[flow]]
    name = "game"
    kind = "video"
    controller = "pudica"
    fps = 60
    start_bitrate = "10Mbit/s"
    max_bitrate = "25Mbit/s"
    [[flow]]
    name = "download"
    kind = "tcp"
    start = "38s"
"#;

/// The mean of the link's rate in Mbit/s.
pub(super) const CAPACITY: f64 = (30.0 * 20.0 + 20.0 * 25.0) / 45.0;
/// The link's time at the session's time zero.
pub(super) const OFFSET: TimeDelta = TimeDelta::from_micros(61_234_567);
/// The session's wall clock at its time zero, and the link's: 3 ms wrong.
const SESSION_BEGUN: i64 = 1_773_500_966_000_000_000;
const LINK_BEGUN: i64 = SESSION_BEGUN - 61_237_567_000;
const MEDIA: u32 = 0xDEAD_BEEF;
const AGAIN: u32 = 77;
/// So that the numbers wrap early on.
const FIRST: u16 = 64_000;

/// A simulation, and all that happened in it.
#[derive(Default)]
pub(super) struct Truth {
    frames: Vec<FrameLife>,
    pub(super) packets: Vec<Passage<StreamPacket>>,
}

impl Observer for Truth {
    fn frame(&mut self, flow: usize, life: &FrameLife) {
        assert_eq!(flow, 0);
        self.frames.push(*life);
    }

    fn packet(&mut self, record: &Passage<StreamPacket>) {
        self.packets.push(*record);
    }
}

impl Truth {
    pub(super) fn new() -> (Self, RunFigures) {
        let mut truth = Self::default();
        let loaded = mimosa_scenario::load(SCENARIO, "inline", &mut ()).unwrap();
        let scenario = &loaded.variants[0].1;
        let figures = measure(scenario, Window::WHOLE, &mut truth, |observer| {
            mimosa_sim::run(scenario, 1, observer);
        });
        (truth, figures)
    }

    /// Each packet with its RTP number: first transmissions on one stream,
    /// retransmissions and probes on another, in the order in which they leave.
    pub(super) fn numbered(&self) -> Vec<(Passage<StreamPacket>, Option<RtpPacket>)> {
        let mut packets = self.packets.clone();
        packets.sort_by_key(|packet| (packet.offered, packet.packet.frame, packet.packet.index));
        let (mut media, mut again) = (FIRST, FIRST);
        let next = |number: &mut u16, ssrc| {
            let sequence = *number;
            *number = number.wrapping_add(1);
            Some(RtpPacket { ssrc, sequence })
        };
        let numbers = packets.into_iter().map(|packet| {
            let rtp = match packet.packet.kind {
                _ if packet.packet.flow > 0 => None,
                Some(PacketKind::Media) => next(&mut media, MEDIA),
                Some(PacketKind::Retransmission | PacketKind::Probe | PacketKind::Repair) => {
                    next(&mut again, AGAIN)
                }
                None => None,
            };
            (packet, rtp)
        });
        numbers.collect()
    }

    pub(super) fn session(&self) -> Vec<SessionFrame> {
        let mut frames: Vec<_> = self.frames.iter().map(frame).collect();
        frames.sort_by_key(|frame| frame.life.frame);
        for (packet, rtp) in self.numbered() {
            let (Some(kind), Some(RtpPacket { ssrc, sequence })) = (packet.packet.kind, rtp) else {
                continue;
            };
            let found =
                frames.binary_search_by_key(&packet.packet.frame, |frame| frame.life.frame.0);
            let Some(frame) = found.ok().and_then(|found| frames.get_mut(found)) else {
                continue;
            };
            match kind {
                PacketKind::Media => {
                    let sequence = MediaSequence(sequence);
                    let rtp = frame.rtp.get_or_insert(FrameRtp::new(ssrc, sequence));
                    rtp.last = sequence;
                }
                PacketKind::Retransmission => {
                    let rtp = frame.rtp.as_mut().unwrap();
                    rtp.add_again(ssrc, RtxSequence(sequence));
                }
                PacketKind::Probe | PacketKind::Repair => {}
            }
        }
        frames
    }

    pub(super) fn link(&self) -> Vec<Passage<LinkPacket>> {
        let numbered = self.numbered().into_iter();
        let packets: Vec<_> = numbered
            .map(|(packet, rtp)| passage(&packet, rtp))
            .collect();
        // What left half a minute before with the same numbers is of no frame.
        let early = packets.iter().take(2_000).map(|packet| {
            let mut early = *packet;
            early.offered = early.offered - TimeDelta::from_millis(30_000);
            (early.started, early.finished, early.fate) = (None, None, Fate::Dropped);
            early
        });
        let back = packets.iter().step_by(50).map(|passage| Passage {
            packet: LinkPacket {
                is_forward: false,
                queue: 0,
                ..passage.packet
            },
            size: Bytes::new(60),
            ..*passage
        });
        early.chain(packets.iter().copied()).chain(back).collect()
    }

    /// The share of the time in which the link serialised.
    pub(super) fn busy(&self) -> f64 {
        let served = self.packets.iter();
        let took = served.filter_map(|packet| Some((packet.finished? - packet.started?).as_secs()));
        took.sum::<f64>() / 45.0
    }

    /// Waits in the queue of the stream's packets, in milliseconds, sorted.
    pub(super) fn waits(&self) -> Vec<f64> {
        let own = self.packets.iter().filter(|packet| packet.packet.flow == 0);
        let waits = own.filter_map(|packet| Some((packet.started? - packet.offered).as_millis()));
        let mut waits: Vec<_> = waits.collect();
        waits.sort_by(f64::total_cmp);
        waits
    }

    /// For each acknowledged frame the wait of the packet that arrived last.
    pub(super) fn last_waits(&self) -> Vec<f64> {
        let acknowledged = |life: &&FrameLife| life.delay().is_some();
        let mut waits: Vec<_> = self
            .frames
            .iter()
            .filter(acknowledged)
            .map(|life| {
                let own = self.packets.iter().filter(|packet| {
                    let is_content = packet
                        .packet
                        .kind
                        .is_some_and(|kind| kind != PacketKind::Probe);
                    packet.packet.flow == 0 && is_content && packet.packet.frame == life.frame.0
                });
                let arrived = own.filter_map(|packet| match packet.fate {
                    Fate::Arrived(at) => Some((at, packet.started? - packet.offered)),
                    _ => None,
                });
                arrived.max().unwrap().1.as_millis()
            })
            .collect();
        waits.sort_by(f64::total_cmp);
        waits
    }
}

fn frame(life: &FrameLife) -> SessionFrame {
    SessionFrame {
        captured: life.due,
        encode_begun: life.due,
        encode_ended: life.handed_over,
        encode_processor: None,
        relief: mimosa_facts::Relief::NONE,
        life: *life,
        coded: life.size,
        budget: life.size,
        plan: FramePlan::as_asked(life.size),
        is_keyframe: false,
        quantiser: None,
        attempts: 1,
        received: None,
        decoded: None,
        shown: None,
        inputs: 0,
        newest_input: None,
        sound_skew: None,
        sound_concealed: None,
        rtp: None,
    }
}

pub(super) fn passage(
    packet: &Passage<StreamPacket>,
    rtp: Option<RtpPacket>,
) -> Passage<LinkPacket> {
    let protocol = if packet.packet.flow == 0 {
        Header::UDP
    } else {
        Header::TCP
    };
    let flow = u32::try_from(packet.packet.flow).unwrap();
    Passage {
        packet: LinkPacket {
            is_forward: true,
            header: Header::of_flow(flow, protocol, 0),
            rtp,
            queue: packet.packet.flow,
            backlog: Bytes::new(1),
        },
        size: packet.size,
        sent_ecn: Ecn::NotEct,
        ecn: packet.ecn,
        offered: packet.offered + OFFSET,
        started: packet.started.map(|at| at + OFFSET),
        finished: packet.finished.map(|at| at + OFFSET),
        fate: match packet.fate {
            Fate::Arrived(at) => Fate::Arrived(at + OFFSET),
            Fate::Dropped => Fate::Dropped,
            Fate::Lost => Fate::Lost,
        },
    }
}

pub(super) fn record(folder: &Path, frames: &[SessionFrame], packets: &[Passage<LinkPacket>]) {
    let link = format!("{{\"name\":\"lab\",\"begun_unix_ns\":{LINK_BEGUN}}}");
    record_as(folder, frames, packets, &link);
}

pub(super) fn record_as(
    folder: &Path,
    frames: &[SessionFrame],
    packets: &[Passage<LinkPacket>],
    link: &str,
) {
    let about = format!("{{\"source\":\"demo\",\"begun_unix_ns\":{SESSION_BEGUN}}}");
    let mut recorder = SessionRecorder::new(Vec::new(), &about).unwrap();
    for frame in frames {
        recorder.push(*frame).unwrap();
    }
    std::fs::write(folder.join("session.parquet"), recorder.finish().unwrap()).unwrap();
    let queues = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>()
    };
    let (forward, reverse) = (queues(&["games", "bulk"]), queues(&["back"]));
    let mut recorder = LinkRecorder::new(Vec::new(), link, &forward, &reverse).unwrap();
    for packet in packets {
        recorder.push(*packet).unwrap();
    }
    std::fs::write(folder.join("link.parquet"), recorder.finish().unwrap()).unwrap();
}
