//! Makes frames and packets from the values of their columns.

use mimosa_facts::{
    Cause, Complexity, Decision, Evidence, Fate, FrameEnd, FrameId, FrameLife, FramePlan,
    FrameProtection, FrameRtp, Header, InputTimes, LinkPacket, Loss, MediaSequence, Pacing,
    Passage, Relief, RtpPacket, RtxSequence, SentAgain, SessionFrame, Strain,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, TimeDelta};

use crate::cells::Cells;
use crate::link::{ECN, Queues};
use crate::read::ReadError;
use crate::session::NO_STRAIN;
use crate::values::Values;

/// The frame in row `row` of `values`.
pub(crate) fn frame(values: &Values, row: usize) -> Result<SessionFrame, ReadError> {
    let cells = Cells::new(values, row);
    let pacing = cells.pacing()?;
    Ok(SessionFrame {
        captured: cells.time("captured_ns")?,
        encode_begun: cells.time("encode_begun_ns")?,
        encode_ended: cells.time("encode_ended_ns")?,
        encode_processor: cells
            .integer("encode_processor_ns")
            .map(TimeDelta::from_nanos),
        relief: cells.relief()?,
        life: FrameLife {
            frame: FrameId(cells.count("frame")?),
            due: cells.time("due_ns")?,
            interval: cells.span("interval_ns")?,
            decision: cells.decision(pacing)?,
            allowed: cells.bytes("allowed_bytes")?,
            handed_over: cells.time("handed_over_ns")?,
            pacing,
            bucket: None,
            size: cells.bytes("size_bytes")?,
            packets: cells.small("packets")?,
            first_sent: cells.maybe_time("first_sent_ns")?,
            last_sent: cells.maybe_time("last_sent_ns")?,
            first_arrival: cells.integer("first_arrival_ns").map(PeerTime::from_nanos),
            last_arrival: cells.integer("last_arrival_ns").map(PeerTime::from_nanos),
            arrived: cells.small("arrived")?,
            lost: cells.small("lost")?,
            retransmitted: cells.small("retransmitted")?,
            end: cells.end()?,
            protection: cells.protection()?,
        },
        coded: cells.bytes("coded_bytes")?,
        budget: cells.bytes("budget_bytes")?,
        plan: cells.plan()?,
        is_keyframe: cells.flag("keyframe")?,
        quantiser: cells.quantiser(),
        attempts: cells.small("attempts")?,
        received: cells.maybe_time("received_ns")?,
        decoded: cells.maybe_time("decoded_ns")?,
        shown: cells.maybe_time("shown_ns")?,
        inputs: cells.small("inputs")?,
        newest_input: cells.newest_input()?,
        sound_skew: cells.integer("sound_skew_ns").map(TimeDelta::from_nanos),
        sound_concealed: cells.maybe_count("sound_concealed")?,
        rtp: cells.rtp()?,
    })
}

impl Cells<'_> {
    fn protection(self) -> Result<Option<FrameProtection>, ReadError> {
        let burst = self.number("loss_burst").filter(|burst| *burst >= 1.0);
        let (Some(_), Some(rate), Some(burst), Some(late)) = (
            self.integer("repairs"),
            self.number("loss"),
            burst,
            self.number("planned_late"),
        ) else {
            return Ok(None);
        };
        let ends = 1.0 / burst;
        Ok(Some(FrameProtection {
            repairs: self.small("repairs")?,
            repaired: self.small("repaired")?,
            rounds: self.small("rounds")?,
            loss: Loss {
                begins: ends * rate / (1.0 - rate),
                ends,
            },
            late,
        }))
    }

    fn relief(self) -> Result<Relief, ReadError> {
        let strain = match self.text("strain") {
            None | Some(NO_STRAIN) => None,
            Some(name) => Some(Strain::from_name(name).ok_or_else(|| self.bad("strain"))?),
        };
        Ok(Relief {
            strain,
            every: self.small("relief_every")?,
            quarters: self.small("relief_quarters")?,
            most: self.maybe_count("relief_bytes")?.map(Bytes::new),
            less_analysis: self.flag("relief_analysis")?,
        })
    }

    fn newest_input(self) -> Result<Option<InputTimes>, ReadError> {
        let Some(received) = self.maybe_time("input_received_ns")? else {
            return Ok(None);
        };
        let made = self.maybe_time("input_made_ns")?;
        Ok(Some(InputTimes { made, received }))
    }

    fn decision(self, pacing: Pacing) -> Result<Decision, ReadError> {
        Ok(Decision {
            target: self.rate("target_bps")?,
            frame_limit: self.maybe_count("limit_bytes")?.map(Bytes::new),
            pacing,
            probe: None,
            window: None,
            cause: self.cause()?,
            evidence: Evidence {
                utilization: self.number("utilization"),
                smoothed_utilization: self.number("smoothed_utilization"),
                service_rate: self.maybe_count("service_rate_bps")?.map(Rate::from_bps),
                backlog: self.maybe_count("backlog_bytes")?.map(Bytes::new),
                queue_delay: self.integer("queue_delay_ns").map(TimeDelta::from_nanos),
            },
        })
    }

    fn plan(self) -> Result<FramePlan, ReadError> {
        let name = self.text("complexity");
        let mut levels = Complexity::ALL.into_iter();
        let level = levels.find(|level| Some(level.name()) == name);
        Ok(FramePlan {
            complexity: level.ok_or_else(|| self.bad("complexity"))?,
            size: self.bytes("planned_bytes")?,
            relative: self.number("predicted_share"),
        })
    }

    fn rtp(self) -> Result<Option<FrameRtp>, ReadError> {
        let Some(ssrc) = self.maybe_number("rtp_ssrc")? else {
            return Ok(None);
        };
        let again = match self.maybe_number("rtx_ssrc")? {
            None => None,
            Some(ssrc) => Some(SentAgain {
                ssrc,
                first: RtxSequence(self.whole("rtx_first")?),
                others: self
                    .integer("rtx_others")
                    .ok_or_else(|| self.bad("rtx_others"))?
                    .cast_unsigned(),
            }),
        };
        Ok(Some(FrameRtp {
            ssrc,
            first: MediaSequence(self.whole("rtp_first")?),
            last: MediaSequence(self.whole("rtp_last")?),
            again,
        }))
    }

    fn cause(self) -> Result<Cause, ReadError> {
        let cause = self.text("cause").and_then(Cause::from_name);
        cause.ok_or_else(|| self.bad("cause"))
    }

    fn pacing(self) -> Result<Pacing, ReadError> {
        match self.text("pacing") {
            Some("burst") => Ok(Pacing::Burst),
            Some("spread") => Ok(Pacing::Spread {
                over: self.span("pace_span_ns")?,
                lead: self.whole("pace_lead")?,
            }),
            Some("bucket") => Ok(Pacing::Bucket {
                rate: self.rate("pace_bps")?,
                burst: Bytes::ZERO,
            }),
            _ => Err(self.bad("pacing")),
        }
    }

    fn end(self) -> Result<Option<FrameEnd>, ReadError> {
        match self.text("end") {
            Some("acknowledged") => {
                let at = self.time("acknowledged_ns")?;
                Ok(Some(FrameEnd::Acknowledged(at)))
            }
            Some("given-up") => Ok(Some(FrameEnd::GivenUp)),
            Some("open") => Ok(None),
            _ => Err(self.bad("end")),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "it was one of 32 bits before it was written"
    )]
    fn quantiser(self) -> Option<f32> {
        let quantiser = self.number("quantiser")?;
        Some(quantiser as f32)
    }
}

/// The packet in row `row` of `values`.
pub(crate) fn packet(
    values: &Values,
    row: usize,
    queues: &Queues,
) -> Result<Passage<LinkPacket>, ReadError> {
    let cells = Cells::new(values, row);
    let is_forward = cells.flag("forward")?;
    let address = |column| {
        let address = cells.text(column).and_then(|text| text.parse().ok());
        address.ok_or_else(|| cells.bad(column))
    };
    let ecn = |column| {
        let known = |(ecn, name): (Ecn, &str)| (Some(name) == cells.text(column)).then_some(ecn);
        ECN.into_iter()
            .find_map(known)
            .ok_or_else(|| cells.bad(column))
    };
    let rtp = match cells.maybe_number("rtp_ssrc")? {
        None => None,
        Some(ssrc) => Some(RtpPacket {
            ssrc,
            sequence: cells.whole("rtp_sequence")?,
        }),
    };
    let names = queues.of(is_forward);
    let queue = match cells.text("queue") {
        Some("") => Some(names.len()),
        name => names.iter().position(|known| Some(&**known) == name),
    };
    Ok(Passage {
        packet: LinkPacket {
            is_forward,
            header: Header {
                source: address("source")?,
                destination: address("destination")?,
                protocol: cells.whole("protocol")?,
                source_port: cells.whole("source_port")?,
                destination_port: cells.whole("destination_port")?,
                dscp: cells.whole("dscp")?,
            },
            rtp,
            queue: queue.ok_or_else(|| cells.bad("queue"))?,
            backlog: cells.bytes("backlog_bytes")?,
        },
        size: cells.bytes("size_bytes")?,
        sent_ecn: ecn("ecn_in")?,
        ecn: ecn("ecn_out")?,
        offered: cells.time("offered_ns")?,
        started: cells.maybe_time("started_ns")?,
        finished: cells.maybe_time("finished_ns")?,
        fate: match cells.text("fate") {
            Some("due") => Fate::Arrived(cells.time("due_ns")?),
            Some("dropped") => Fate::Dropped,
            Some("lost") => Fate::Lost,
            _ => return Err(cells.bad("fate")),
        },
    })
}
