//! Events as records.

use mimosa_facts::{Event, PacketKind, PacketOutcome, PacketReport, SentPacket};
use mimosa_units::Ecn;
use serde::Serialize;

/// An event as a record; `kind` says which, and the other fields are those of
/// [`Event`](mimosa_facts::Event).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum EventForm {
    /// The encoder is about to start a frame.
    FrameDue {
        /// Number of the frame.
        frame: u64,
        /// Time to the next frame, in nanoseconds.
        interval_ns: i64,
    },
    /// The pacer was given the first part of a frame whose other parts are still being encoded.
    FrameBegun {
        /// Number of the frame.
        frame: u64,
        /// Expected size of all of its packets, in bytes.
        size_bytes: u64,
        /// Expected number of its packets.
        packets: u32,
    },
    /// A frame was handed to the pacer: all of it, or the last of its parts.
    FrameEncoded {
        /// Number of the frame.
        frame: u64,
        /// Size of all of its packets, in bytes.
        size_bytes: u64,
        /// Number of its packets.
        packets: u32,
    },
    /// A frame is not to be waited for.
    FrameGivenUp {
        /// Number of the frame.
        frame: u64,
    },
    /// The receiver has the whole frame.
    FrameDecoded {
        /// Number of the frame.
        frame: u64,
    },
    /// A packet left the pacer.
    PacketSent(PacketForm),
    /// What became known from one feedback message.
    Feedback {
        /// What became known of each packet.
        reports: Vec<ReportForm>,
        /// Bytes that have neither arrived nor been lost, as far as is known.
        in_flight_bytes: u64,
    },
    /// Packets about which nothing will become known.
    Unknown {
        /// The packets.
        packets: Vec<PacketForm>,
    },
    /// What an environment that knows the network tells the oracle.
    Told {
        /// The available rate, in bits per second.
        rate_bps: u64,
        /// Mean of the available rate since the event before, in bits per second.
        mean_bps: u64,
        /// How long ago the rate was available, in nanoseconds.
        age_ns: i64,
    },
    /// The time has come for which the controller asked.
    Timer,
    /// Something that this form has no record for.
    Other,
}

/// A packet that left.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PacketForm {
    /// The packet's number.
    pub sequence: u64,
    /// The packet's frame.
    pub frame: u64,
    /// `media`, `retransmission`, `probe` or `repair`.
    pub carries: &'static str,
    /// Size on the wire, in bytes.
    pub size_bytes: u64,
    /// When the packet left, in nanoseconds.
    pub sent_ns: u64,
}

/// What became known of a packet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportForm {
    /// The packet.
    #[serde(flatten)]
    pub packet: PacketForm,
    /// When the packet arrived, in nanoseconds of the receiver's clock; `None` if it was lost.
    pub arrived_ns: Option<i64>,
    /// Whether the packet arrived with the mark of congestion.
    pub is_marked: bool,
    /// Whether an earlier report said too early that the packet was lost.
    pub after_loss: bool,
}

impl EventForm {
    /// The record of `event`.
    #[must_use]
    pub fn of(event: &Event<'_>) -> Self {
        match *event {
            Event::FrameDue { frame, interval } => Self::FrameDue {
                frame: frame.0,
                interval_ns: interval.as_nanos(),
            },
            Event::FrameBegun {
                frame,
                size,
                packets,
            } => Self::FrameBegun {
                frame: frame.0,
                size_bytes: size.get(),
                packets,
            },
            Event::FrameEncoded {
                frame,
                size,
                packets,
            } => Self::FrameEncoded {
                frame: frame.0,
                size_bytes: size.get(),
                packets,
            },
            Event::FrameGivenUp { frame } => Self::FrameGivenUp { frame: frame.0 },
            Event::FrameDecoded { frame } => Self::FrameDecoded { frame: frame.0 },
            Event::PacketSent(packet) => Self::PacketSent(PacketForm::of(&packet)),
            Event::Feedback { reports, in_flight } => Self::Feedback {
                reports: reports.iter().map(ReportForm::of).collect(),
                in_flight_bytes: in_flight.get(),
            },
            Event::Unknown { packets } => Self::Unknown {
                packets: packets.iter().map(PacketForm::of).collect(),
            },
            Event::Told { rate, mean, age } => Self::Told {
                rate_bps: rate.as_bps(),
                mean_bps: mean.as_bps(),
                age_ns: age.as_nanos(),
            },
            Event::Timer => Self::Timer,
            _ => Self::Other,
        }
    }
}

impl PacketForm {
    fn of(packet: &SentPacket) -> Self {
        Self {
            sequence: packet.sequence.0,
            frame: packet.frame.0,
            carries: match packet.kind {
                PacketKind::Media => "media",
                PacketKind::Retransmission => "retransmission",
                PacketKind::Probe => "probe",
                PacketKind::Repair => "repair",
            },
            size_bytes: packet.size.get(),
            sent_ns: packet.sent.as_nanos(),
        }
    }
}

impl ReportForm {
    fn of(report: &PacketReport) -> Self {
        let (arrived_ns, is_marked, after_loss) = match report.outcome {
            PacketOutcome::Arrived {
                at,
                ecn,
                after_loss,
            } => (Some(at.as_nanos()), ecn == Ecn::Ce, after_loss),
            PacketOutcome::Lost => (None, false, false),
        };
        Self {
            packet: PacketForm::of(&report.packet),
            arrived_ns,
            is_marked,
            after_loss,
        }
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::{FrameId, Sequence};
    use mimosa_units::{Bytes, PeerTime, Time};

    use super::*;

    #[test]
    fn a_report_says_what_became_of_each_packet() {
        let packet = SentPacket {
            sequence: Sequence(4),
            frame: FrameId(2),
            kind: PacketKind::Media,
            size: Bytes::new(1_200),
            sent: Time::from_millis(3),
        };
        let arrived = PacketOutcome::Arrived {
            at: PeerTime::from_nanos(-5),
            ecn: Ecn::Ce,
            after_loss: false,
        };
        let reports =
            [arrived, PacketOutcome::Lost].map(|outcome| PacketReport { packet, outcome });
        let event = Event::Feedback {
            reports: &reports,
            in_flight: Bytes::new(9),
        };
        let text = serde_json::to_value(EventForm::of(&event)).unwrap();
        assert_eq!(text["kind"], "feedback");
        assert_eq!(text["in_flight_bytes"], 9);
        let first = &text["reports"][0];
        assert_eq!(
            (&first["sequence"], &first["carries"]),
            (&4.into(), &"media".into())
        );
        assert_eq!(
            (&first["arrived_ns"], &first["is_marked"]),
            (&(-5).into(), &true.into())
        );
        assert!(text["reports"][1]["arrived_ns"].is_null());
    }
}
