//! Reads when a video flow's receiver reports, and the format of its reports.

use mimosa_net::KeyProblem;
use mimosa_stream::{FeedbackFormat, FeedbackMode};
use mimosa_units::TimeDelta;
use toml::Spanned;

use super::parse::{Read, Reader};
use super::raw;

/// The interval between reports of `transport-cc-01`: libwebrtc's default, and its lower
/// and upper bound (`kDefaultInterval`, `kMinInterval`, `kMaxInterval`).
const TRANSPORT_CC: [TimeDelta; 3] = [
    TimeDelta::from_millis(100),
    TimeDelta::from_millis(50),
    TimeDelta::from_millis(250),
];
/// The lower and upper bound of the interval between reports of `rfc8888`. The upper one is
/// the longest at which libwebrtc's receiver writes such reports (`max_send_delta`); the
/// lower one is shorter than anybody would use.
const RFC_8888: [TimeDelta; 2] = [TimeDelta::from_millis(1), TimeDelta::from_millis(500)];

impl Reader<'_> {
    /// Reads `feedback` and `feedback_interval` of a flow of `fps` frames a second.
    pub(super) fn feedback(
        &self,
        raw: &raw::Flow,
        fps: u32,
    ) -> Read<(FeedbackMode, FeedbackFormat)> {
        let name = raw.feedback.as_ref().map(Spanned::get_ref);
        let between = |default, [least, most]: [TimeDelta; 2], must| {
            let Some(given) = &raw.feedback_interval else {
                return Ok(FeedbackMode::Every(default));
            };
            let interval = *given.get_ref();
            let valid = (least..=most).contains(&interval);
            self.range(given.span(), "feedback_interval", valid, must)?;
            Ok(FeedbackMode::Every(interval))
        };
        match name.map(String::as_str) {
            Some("transport-cc-01") => {
                let [default, least, most] = TRANSPORT_CC;
                let mode = between(default, [least, most], "from 50ms to 250ms")?;
                return Ok((mode, FeedbackFormat::TransportWide));
            }
            Some("rfc8888") => {
                // The default is one report for each frame, which section 4 of the RFC
                // calls an upper bound in many cases.
                let frame = TimeDelta::from_nanos(1_000_000_000 / i64::from(fps));
                let mode = between(frame, RFC_8888, "from 1ms to 500ms")?;
                return Ok((mode, FeedbackFormat::CongestionControl));
            }
            _ => {}
        }
        if let Some(given) = &raw.feedback_interval {
            let problem = KeyProblem::KeyNotFor {
                key: "feedback_interval",
                kind: "feedback other than \"transport-cc-01\" and \"rfc8888\"",
            };
            return Err(self.error(given.span(), problem));
        }
        let Some(given) = &raw.feedback else {
            return Ok((FeedbackMode::PerPacket, FeedbackFormat::Exact));
        };
        match given.get_ref().as_str() {
            "packet" => Ok((FeedbackMode::PerPacket, FeedbackFormat::Exact)),
            "frame" => Ok((FeedbackMode::OnRequest, FeedbackFormat::Exact)),
            "transport-cc-02" => Ok((FeedbackMode::OnRequest, FeedbackFormat::TransportWide)),
            text => match text.parse() {
                Ok(interval) if interval > TimeDelta::ZERO => {
                    Ok((FeedbackMode::Every(interval), FeedbackFormat::Exact))
                }
                _ => {
                    let problem = KeyProblem::UnknownName {
                        what: "feedback",
                        name: text.to_owned(),
                        known: "packet, frame, transport-cc-01, transport-cc-02, rfc8888, and intervals such as 50ms".to_owned(),
                    };
                    Err(self.error(given.span(), problem))
                }
            },
        }
    }
}
