//! Frames from the values of their columns.

use mimosa_control::{Cause, Decision, Evidence, FrameId, Pacing};
use mimosa_session::{FrameEnd, FrameLife};
use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};

use crate::read::{ReadError, Values};
use crate::session::SessionFrame;

/// All causes, to find one by its name.
const CAUSES: [Cause; 14] = [
    Cause::Start,
    Cause::AwaitFeedback,
    Cause::MultiplicativeIncrease,
    Cause::FairnessStep,
    Cause::Overuse,
    Cause::FrameFallback,
    Cause::NextDelayFallback,
    Cause::Drain,
    Cause::Recover,
    Cause::FeedbackTimeout,
    Cause::PathChange,
    Cause::ApplicationLimited,
    Cause::AtMaximum,
    Cause::Fixed,
];

/// The frame in row `row` of `values`.
pub(crate) fn frame(values: &Values, row: usize) -> Result<SessionFrame, ReadError> {
    let cells = Cells { values, row };
    let pacing = cells.pacing()?;
    Ok(SessionFrame {
        captured: cells.time("captured_ns")?,
        encode_begun: cells.time("encode_begun_ns")?,
        encode_ended: cells.time("encode_ended_ns")?,
        life: FrameLife {
            frame: FrameId(cells.count("frame")?),
            due: cells.time("due_ns")?,
            interval: cells.span("interval_ns")?,
            decision: cells.decision(pacing)?,
            handed_over: cells.time("handed_over_ns")?,
            pacing,
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
        },
        coded: cells.bytes("coded_bytes")?,
        budget: cells.bytes("budget_bytes")?,
        is_keyframe: values
            .flag("keyframe", row)
            .ok_or_else(|| cells.bad("keyframe"))?,
        quantiser: cells.quantiser(),
        attempts: cells.small("attempts")?,
        received: cells.maybe_time("received_ns")?,
        decoded: cells.maybe_time("decoded_ns")?,
        shown: cells.maybe_time("shown_ns")?,
        inputs: cells.small("inputs")?,
    })
}

/// One row of a row group.
#[derive(Clone, Copy)]
struct Cells<'a> {
    values: &'a Values,
    row: usize,
}

impl Cells<'_> {
    const fn bad(self, column: &'static str) -> ReadError {
        ReadError::BadValue {
            column,
            row: self.row,
        }
    }

    fn integer(self, column: &'static str) -> Option<i64> {
        self.values.integer(column, self.row)
    }

    /// A count where there is a value; the largest integer means all there is.
    fn maybe_count(self, column: &'static str) -> Result<Option<u64>, ReadError> {
        match self.integer(column) {
            None => Ok(None),
            Some(i64::MAX) => Ok(Some(u64::MAX)),
            Some(value) => match u64::try_from(value) {
                Ok(count) => Ok(Some(count)),
                Err(_) => Err(self.bad(column)),
            },
        }
    }

    fn count(self, column: &'static str) -> Result<u64, ReadError> {
        self.maybe_count(column)?.ok_or_else(|| self.bad(column))
    }

    fn small(self, column: &'static str) -> Result<u32, ReadError> {
        u32::try_from(self.count(column)?).map_err(|_| self.bad(column))
    }

    fn maybe_time(self, column: &'static str) -> Result<Option<Time>, ReadError> {
        Ok(self.maybe_count(column)?.map(Time::from_nanos))
    }

    fn time(self, column: &'static str) -> Result<Time, ReadError> {
        self.count(column).map(Time::from_nanos)
    }

    fn bytes(self, column: &'static str) -> Result<Bytes, ReadError> {
        self.count(column).map(Bytes::new)
    }

    fn rate(self, column: &'static str) -> Result<Rate, ReadError> {
        self.count(column).map(Rate::from_bps)
    }

    fn span(self, column: &'static str) -> Result<TimeDelta, ReadError> {
        let nanos = self.integer(column).ok_or_else(|| self.bad(column))?;
        Ok(TimeDelta::from_nanos(nanos))
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
                utilization: self.values.number("utilization", self.row),
                smoothed_utilization: self.values.number("smoothed_utilization", self.row),
                service_rate: self.maybe_count("service_rate_bps")?.map(Rate::from_bps),
                backlog: self.maybe_count("backlog_bytes")?.map(Bytes::new),
                queue_delay: self.integer("queue_delay_ns").map(TimeDelta::from_nanos),
            },
        })
    }

    fn cause(self) -> Result<Cause, ReadError> {
        let name = self.values.text("cause", self.row);
        let mut causes = CAUSES.into_iter();
        let cause = causes.find(|cause| Some(cause.as_str()) == name);
        cause.ok_or_else(|| self.bad("cause"))
    }

    fn pacing(self) -> Result<Pacing, ReadError> {
        match self.values.text("pacing", self.row) {
            Some("burst") => Ok(Pacing::Burst),
            Some("spread") => Ok(Pacing::Spread {
                over: self.span("pace_span_ns")?,
            }),
            Some("bucket") => Ok(Pacing::Bucket {
                rate: self.rate("pace_bps")?,
                burst: Bytes::ZERO,
            }),
            _ => Err(self.bad("pacing")),
        }
    }

    fn end(self) -> Result<Option<FrameEnd>, ReadError> {
        match self.values.text("end", self.row) {
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
        let quantiser = self.values.number("quantiser", self.row)?;
        Some(quantiser as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names as their crate has them, which cannot be asked for them all.
    #[test]
    fn every_cause_is_known() {
        let source = include_str!("../../control/src/cause.rs");
        let names: Vec<_> = source
            .lines()
            .filter_map(|line| line.split_once("=> \"")?.1.split_once('"'))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(CAUSES.map(Cause::as_str)[..], names[..]);
    }
}
