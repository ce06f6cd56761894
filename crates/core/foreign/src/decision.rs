//! Decisions as records.

use mimosa_facts::{Cause, Decision, FrameId, Limits, Pacing, Probe, ProbeStart};
use mimosa_units::{Bytes, Rate, TimeDelta};
use serde::Deserialize;

/// Most packets of a group of probes: as many as a full frame at 50 Mbit/s and 60 frames a second
/// has, which bounds what a mistaken controller can send.
const MOST_PROBES: u16 = 100;

/// Largest probe packet: no UDP packet is larger.
const LARGEST_PROBE: Bytes = Bytes::new(65_507);

/// The largest frame lasts this long at the highest bitrate: no encoder makes a larger one at 30
/// frames a second and more, and a simulated one would make any.
const LARGEST_FRAME: TimeDelta = TimeDelta::from_millis(1_000);

/// What changes of a decision. A field that is missing leaves its part of the decision as it is.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct DecisionForm {
    /// Target bitrate in bits per second; it is brought within the controller's limits.
    pub target_bps: Option<f64>,
    /// Size limit of the frame that is due, in bytes; zero skips the frame. It counts for one frame:
    /// without it in the answer to `frame-due`, the target alone decides. It is at most what the
    /// highest bitrate carries in a second.
    pub frame_limit_bytes: Option<f64>,
    /// How packets leave from now on.
    pub pacing: Option<PacingForm>,
    /// Bytes that may be in flight.
    pub window_bytes: Option<f64>,
    /// Probes to send. Groups come 10 ms apart or more.
    pub probe: Option<ProbeForm>,
    /// The rule behind the decision, by the name of a [`Cause`]; [`Cause::External`] without one.
    pub cause: Option<String>,
    /// When the controller wants to be told `timer`, in nanoseconds since the beginning.
    pub timer_ns: Option<u64>,
}

/// How packets leave.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum PacingForm {
    /// At once.
    Burst,
    /// Evenly over a span.
    Spread {
        /// The span in nanoseconds.
        over_ns: i64,
        /// Packets that leave together at the start.
        #[serde(default)]
        lead: u16,
    },
    /// Through a token bucket.
    Bucket {
        /// The rate in bits per second.
        rate_bps: f64,
        /// Bytes that may leave at once.
        #[serde(default)]
        burst_bytes: f64,
    },
}

/// A group of probes, which leaves at once or when a frame has left.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ProbeForm {
    /// A number that no earlier group had.
    pub id: u64,
    /// Number of packets.
    pub packets: u16,
    /// Time between packets, in nanoseconds.
    pub interval_ns: i64,
    /// Size of each packet in bytes; the smallest without it.
    #[serde(default)]
    pub size_bytes: Option<f64>,
    /// The frame after which the group leaves; at once without it.
    #[serde(default)]
    pub after_frame: Option<u64>,
}

/// Why a controller's answer is no decision.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FormError {
    /// A number is negative, infinite or none.
    #[error("`{name}` must be a number from zero, but is {value}")]
    Number {
        /// Name of the field.
        name: &'static str,
        /// The value of the field.
        value: f64,
    },
    /// The group of probes is too large.
    #[error("`probe.packets` must be from 1 to {MOST_PROBES}, but is {0}")]
    Probes(u16),
    /// A group of probes follows another one too soon.
    #[error("`probe` has a new `id` less than {0} after the one before; send groups more rarely")]
    TooSoon(TimeDelta),
    /// The packets of a group of probes are too large.
    #[error("`probe.size_bytes` must be at most {LARGEST_PROBE}, but is {0}")]
    ProbeSize(Bytes),
    /// No rule has this name.
    #[error("`cause` must be the name of a rule, such as `loss` or `queue-delay`, but is `{0}`")]
    Cause(String),
}

/// A number from zero.
fn positive(name: &'static str, value: f64) -> Result<f64, FormError> {
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err(FormError::Number { name, value })
    }
}

fn bytes(name: &'static str, value: f64) -> Result<Bytes, FormError> {
    positive(name, value).map(Bytes::from_f64)
}

fn rate(name: &'static str, value: f64) -> Result<Rate, FormError> {
    positive(name, value).map(|bps| Rate::from_mbps(bps / 1e6))
}

fn span(name: &'static str, nanos: i64) -> Result<TimeDelta, FormError> {
    positive(name, nanos as f64).map(|_| TimeDelta::from_nanos(nanos))
}

impl DecisionForm {
    /// Changes `decision` as the record says. The target stays within `limits`. After an error,
    /// `decision` is as before.
    ///
    /// # Errors
    ///
    /// [`FormError`] for the first field whose value means nothing.
    pub fn apply(&self, decision: &mut Decision, limits: Limits) -> Result<(), FormError> {
        let mut changed = *decision;
        if let Some(bps) = self.target_bps {
            changed.target = limits.clamp(rate("target_bps", bps)?);
        }
        let limit = self.frame_limit_bytes;
        changed.frame_limit = limit
            .map(|limit| bytes("frame_limit_bytes", limit))
            .transpose()?
            .map(|limit| limit.min(limits.max().amount_in(LARGEST_FRAME)));
        if let Some(pacing) = &self.pacing {
            changed.pacing = pacing.pacing()?;
        }
        if let Some(window) = self.window_bytes {
            changed.window = Some(bytes("window_bytes", window)?);
        }
        if let Some(probe) = &self.probe {
            changed.probe = Some(probe.probe()?);
        }
        changed.cause = match &self.cause {
            None => Cause::External,
            Some(name) => Cause::from_name(name).ok_or_else(|| FormError::Cause(name.clone()))?,
        };
        *decision = changed;
        Ok(())
    }
}

impl PacingForm {
    fn pacing(&self) -> Result<Pacing, FormError> {
        Ok(match *self {
            Self::Burst => Pacing::Burst,
            Self::Spread { over_ns, lead } => Pacing::Spread {
                over: span("pacing.over_ns", over_ns)?,
                lead,
            },
            Self::Bucket {
                rate_bps,
                burst_bytes,
            } => Pacing::Bucket {
                rate: rate("pacing.rate_bps", rate_bps)?,
                burst: bytes("pacing.burst_bytes", burst_bytes)?,
            },
        })
    }
}

impl ProbeForm {
    fn probe(&self) -> Result<Probe, FormError> {
        if !(1..=MOST_PROBES).contains(&self.packets) {
            return Err(FormError::Probes(self.packets));
        }
        let size = self.size_bytes.map(|size| bytes("probe.size_bytes", size));
        let size = size.transpose()?;
        if let Some(size) = size.filter(|size| *size > LARGEST_PROBE) {
            return Err(FormError::ProbeSize(size));
        }
        let frame = self.after_frame.map(FrameId);
        Ok(Probe {
            id: self.id,
            packets: self.packets,
            interval: span("probe.interval_ns", self.interval_ns)?,
            size,
            start: frame.map_or(ProbeStart::Now, ProbeStart::AfterFrame),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
        Limits::new(mbps(1), mbps(2), mbps(10))
    }

    fn applied(text: &str) -> Result<Decision, FormError> {
        let form: DecisionForm = serde_json::from_str(text).unwrap();
        let mut decision = Decision::starting_at(limits().start());
        let before = decision;
        let result = form.apply(&mut decision, limits());
        assert!(result.is_ok() || decision == before, "{text}");
        result.map(|()| decision)
    }

    #[test]
    fn what_is_missing_stays_as_it_is() {
        let nothing = applied("{}").unwrap();
        let start = Decision::starting_at(limits().start());
        let cause = Cause::External;
        assert_eq!(nothing, Decision { cause, ..start });
        let all = applied(
            r#"{"target_bps": 3e6, "frame_limit_bytes": 9000, "window_bytes": 20000,
                "pacing": {"kind": "bucket", "rate_bps": 4e6},
                "probe": {"id": 1, "packets": 3, "interval_ns": 10, "after_frame": 5},
                "cause": "queue-delay"}"#,
        );
        let all = all.unwrap();
        assert_eq!(all.target, Rate::from_kbps(3_000));
        assert_eq!(all.frame_limit, Some(Bytes::new(9_000)));
        assert_eq!(all.window, Some(Bytes::new(20_000)));
        let rate = Rate::from_kbps(4_000);
        let burst = Bytes::ZERO;
        assert_eq!(all.pacing, Pacing::Bucket { rate, burst });
        let start = all.probe.map(|probe| probe.start);
        assert_eq!(start, Some(ProbeStart::AfterFrame(FrameId(5))));
        assert_eq!(all.cause, Cause::QueueDelay);
    }

    #[test]
    fn the_target_stays_within_the_limits() {
        for (bps, expected) in [("0", 1_000), ("1e30", 10_000), ("2500000", 2_500)] {
            let decision = applied(&format!("{{\"target_bps\": {bps}}}")).unwrap();
            assert_eq!(decision.target, Rate::from_kbps(expected), "{bps}");
        }
    }

    #[test]
    fn what_means_nothing_is_named() {
        for (text, what) in [
            (
                r#"{"target_bps": -1}"#,
                "`target_bps` must be a number from zero, but is -1",
            ),
            (
                r#"{"pacing": {"kind": "spread", "over_ns": -3}}"#,
                "`pacing.over_ns`",
            ),
            (r#"{"cause": "whim"}"#, "but is `whim`"),
            (
                r#"{"probe": {"id": 1, "packets": 0, "interval_ns": 1}}"#,
                "from 1 to 100",
            ),
            (r#"{"frame_limit_bytes": -2}"#, "`frame_limit_bytes`"),
        ] {
            let error = applied(text).unwrap_err().to_string();
            assert!(error.contains(what), "{text}: {error}");
        }
    }

    #[test]
    fn an_unknown_field_is_refused() {
        let error = serde_json::from_str::<DecisionForm>(r#"{"taget_bps": 1}"#).unwrap_err();
        assert!(error.to_string().contains("`target_bps`"), "{error}");
    }
}
