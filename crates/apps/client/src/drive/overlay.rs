//! The text over the picture: the page's statistics, in lines.

use std::collections::VecDeque;

use mimosa_protocol::control::{BitsPerSecond, Hello, Millis, Statistics as Told};
use mimosa_session::viewer::Tally;
use mimosa_units::{Time, TimeDelta};

use super::decode::Decoded;

/// Time over which displayed pictures are counted for their rate.
const SECOND: TimeDelta = TimeDelta::from_millis(1_000);
/// Time for which the overlay states how much data the stream is.
const HOUR: TimeDelta = TimeDelta::from_millis(3_600_000);

/// The newest statistics.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    hello: Option<Hello>,
    told: Option<Told>,
    tally: Option<Tally>,
    skew: Option<TimeDelta>,
    shown: VecDeque<Time>,
    size: Option<(u32, u32)>,
    decoding: Option<TimeDelta>,
}

impl Statistics {
    pub(super) fn hello(&mut self, hello: &Hello) {
        self.hello = Some(hello.clone());
    }

    pub(super) fn told(&mut self, told: &Told, tally: &Tally, skew: Option<TimeDelta>) {
        self.told = Some(told.clone());
        self.tally = Some(*tally);
        self.skew = skew;
    }

    pub(super) fn shown(&mut self, at: Time, frame: &Decoded) {
        self.shown.push_back(at);
        while self
            .shown
            .pop_front_if(|old| at.since(*old) > SECOND)
            .is_some()
        {}
        let size = frame
            .picture
            .as_ref()
            .map(super::engine::DecodedFrame::size);
        self.size = size.map(|size| (size.width(), size.height()));
        self.decoding = Some(frame.took);
    }

    /// What troubles the stream most, in a sentence.
    pub(super) fn trouble(&self) -> Option<String> {
        let why = self.told.as_ref()?.why.as_ref()?;
        Some(why.words.clone())
    }

    /// The statistics as lines of text.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let number = |value: Option<f64>, digits: usize| {
            value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
        };
        let millis = |span: Option<Millis>| number(span.map(|span| span.0.as_millis()), 1);
        if let Some((width, height)) = self.size {
            lines.push(format!("{width}x{height}, {} pictures/s", self.shown.len()));
        }
        if let Some(hello) = &self.hello {
            let Hello {
                codec,
                encoder,
                controller,
                ..
            } = hello;
            let feedback = hello.feedback.name();
            lines.push(format!("{codec} by {encoder}, {controller}, {feedback}"));
        }
        if let Some(told) = &self.told {
            let rate = |rate: Option<BitsPerSecond>| number(rate.map(|rate| rate.0.as_mbps()), 1);
            let percent = |share: Option<f64>| number(share.map(|share| share * 100.0), 1);
            lines.push(format!(
                "bitrate {} of {} Mbit/s, link used {} %",
                rate(told.bitrate),
                rate(told.target),
                percent(told.utilisation),
            ));
            let limit = told.limit.map_or_else(String::new, |limit| {
                format!(", at most {:.1} Mbit/s as asked", limit.0.as_mbps())
            });
            let hour = number(gigabytes_an_hour(told), 1);
            lines.push(format!("{hour} GB an hour{limit}"));
            lines.push(format!(
                "frame delay {} / {} / {} ms (p50, p95, p99), stalls {}",
                millis(told.delay.p50),
                millis(told.delay.p95),
                millis(told.delay.p99),
                told.stalls.unwrap_or(0),
            ));
            lines.push(format!(
                "capture {}, encode {}, pace {}, network {}, decode {}, present {}: {} ms",
                millis(told.stages.capture),
                millis(told.stages.encode),
                millis(told.stages.pace),
                millis(told.stages.network),
                millis(told.stages.decode),
                millis(told.stages.present),
                millis(told.stages.total),
            ));
            lines.push(format!(
                "rtt {} ms, loss {} %, quantiser {}",
                millis(told.rtt),
                percent(told.loss),
                number(told.quantiser, 1),
            ));
            if let Some(reason) = &told.decision.reason {
                lines.push(reason.clone());
            }
            lines.extend(told.relief.clone());
        }
        if let Some(tally) = &self.tally {
            let packets = tally.packets;
            lines.push(format!(
                "lost {}, sent again {}, marked {} of {} packets, {} reports",
                packets.lost(),
                packets.repeated,
                packets.marked,
                packets.came,
                tally.reports,
            ));
            if tally.sound.packets > 0 {
                lines.push(format!(
                    "sound {} ms behind, {} gaps, {} frames repaired",
                    number(self.skew.map(TimeDelta::as_millis), 0),
                    tally.sound.gaps,
                    tally.sound.repaired,
                ));
            }
        }
        lines
    }
}

/// What an hour of the last second's picture and sound is, in units of 10⁹ bytes, with headers but without
/// packets that repeat or repair others; `None` where the picture's bitrate is not known.
fn gigabytes_an_hour(told: &Told) -> Option<f64> {
    let sound = told.sound.and_then(|sound| sound.bitrate);
    let of = |rate: BitsPerSecond| rate.0.amount_in(HOUR).get() as f64 / 1e9;
    told.bitrate
        .map(|picture| of(picture) + sound.map_or(0.0, of))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statistics of which little is known, with the `bitrate` of the picture and the `sound` in JSON.
    fn told(bitrate: &str, sound: &str) -> Told {
        serde_json::from_str(&format!(
            r#"{{"time":1000,"feedback":"rfc8888","frames":{{"captured":1,"encoded":1,"skipped":0,
            "acknowledged":null,"shown":null,"keyframes":1}},"target":5000000,"bitrate":{bitrate},
            "utilisation":0.5,"state":null,"cause":null,"delay":{{"p50":12.04,"p95":null,
            "p99":null}},"stalls":null,"loss":0.01,"retransmissions":0,"rtt":null,
            "quantiser":21.5,"viewers":0,"sound":{sound},"stages":{{"capture":0.3,"encode":null,
            "pace":null,"network":null,"decode":null,"present":null,"total":null}},"point":
            {{"target":null,"delay":null}}}}"#
        ))
        .unwrap()
    }

    #[test]
    fn what_is_not_known_is_a_dash() {
        let mut statistics = Statistics::default();
        assert!(statistics.lines().is_empty());
        let skew = Some(TimeDelta::from_millis(31));
        statistics.told(&told("null", "null"), &Tally::default(), skew);
        let lines = statistics.lines();
        assert_eq!(lines[0], "bitrate - of 5.0 Mbit/s, link used 50.0 %");
        assert_eq!(lines[1], "- GB an hour");
        assert_eq!(
            lines[2],
            "frame delay 12.0 / - / - ms (p50, p95, p99), stalls 0"
        );
        assert_eq!(lines[4], "rtt - ms, loss 1.0 %, quantiser 21.5");
        assert_eq!(lines.len(), 6, "{lines:?}");
    }

    #[test]
    fn data_of_an_hour_has_picture_and_sound() {
        let sound = r#"{"clock":{"rtp":0,"time":0},"bitrate":1000000,"redundancy":0}"#;
        let near = |found: Option<f64>, expected: f64| {
            assert!((found.unwrap() - expected).abs() < 1e-9, "{found:?}");
        };
        near(gigabytes_an_hour(&told("20000000", "null")), 9.0);
        near(gigabytes_an_hour(&told("20000000", sound)), 9.45);
        assert_eq!(gigabytes_an_hour(&told("null", sound)), None);
    }
}
