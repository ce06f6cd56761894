//! A line in plain words.

use mimosa_units::{Rate, TimeDelta};

use crate::line::{Grade, Line, Medium};

/// Rates below which 1080p and 720p at 60 frames a second look bad with a software encoder: the lower
/// ends of what `GeForce Now` asks for, 25 and 15 Mbit/s, as a test of the line judges them.
const FOR_1080P: Rate = Rate::from_kbps(25_000);
const FOR_720P: Rate = Rate::from_kbps(15_000);
/// The least rate that leaves a picture worth playing.
const LEAST: Rate = Rate::from_kbps(4_000);
/// Share of packets lost from which a line is said to lose some.
const LOSES: f64 = 0.002;
/// Jitter and round trip that a player notices: two frames at 60 frames a second, and what Google's
/// Stadia called the limit of a good connection, 40 ms, with the time of a frame on both sides.
const JITTERS: TimeDelta = TimeDelta::from_millis(30);
const FAR: TimeDelta = TimeDelta::from_millis(70);

impl Line {
    /// The line in plain words: a sentence for each thing that matters, the most important first.
    #[must_use]
    pub fn in_words(&self) -> Vec<String> {
        let mut words = vec![self.rate_in_words()];
        if let (Some(grade), Some(buffer)) = (self.grade, self.buffer) {
            let delay = whole_millis(buffer.delay);
            let least = if buffer.is_least { "at least " } else { "" };
            words.push(match grade {
                Grade::A | Grade::B => format!(
                    "A download beside the game adds {least}{delay} ms of delay, which is little."
                ),
                Grade::C => format!(
                    "A download beside the game adds {least}{delay} ms of delay: you will feel it."
                ),
                Grade::D | Grade::F => format!(
                    "A download beside the game adds {least}{delay} ms of delay, which makes games \
                     unplayable: turn on queue management (SQM, fq_codel or CAKE) in your router."
                ),
            });
        }
        if self.loss_at_rest >= LOSES {
            let percent = self.loss_at_rest * 100.0;
            words.push(format!(
                "The line loses {percent:.1} % of packets even when it is not full: a weak radio signal or \
                 a bad cable."
            ));
        }
        if self.jitter >= JITTERS {
            let jitter = whole_millis(self.jitter);
            words.push(format!(
                "Packets are up to {jitter} ms late even when the line is idle."
            ));
        }
        if self.round_trip >= FAR {
            let round_trip = whole_millis(self.round_trip);
            words.push(format!(
                "The host is {round_trip} ms away: every action is seen that much later."
            ));
        }
        let medium = match self.medium {
            Medium::Steady => "Packets come evenly, as over a cable.",
            Medium::InAggregates => {
                "Packets come in bunches, as over Wi-Fi that others use as well: a cable would be steadier."
            }
            Medium::InTurns => {
                "Packets come in regular bunches, as over a mobile network or another line shared in turns."
            }
            Medium::Unknown => "Too little arrived to tell a cable from Wi-Fi.",
        };
        words.push(medium.to_owned());
        words
    }

    fn rate_in_words(&self) -> String {
        let least = if self.is_rate_least { "at least " } else { "" };
        let rate = self.rate.as_mbps();
        let carries = match self.rate {
            rate if rate >= FOR_1080P => "enough for 1080p at 60 frames a second",
            rate if rate >= FOR_720P => "enough for 720p at 60 frames a second",
            rate if rate >= LEAST => "enough to play with a softer picture",
            _ => "too little for a good picture",
        };
        format!("The line carries {least}{rate:.0} Mbit/s: {carries}.")
    }
}

fn whole_millis(span: TimeDelta) -> String {
    format!("{:.0}", span.as_millis())
}

#[cfg(test)]
mod tests {
    use mimosa_units::Bytes;

    use super::*;
    use crate::line::Buffer;

    fn line() -> Line {
        let delay = TimeDelta::from_millis(12);
        Line {
            rate: Rate::from_kbps(48_000),
            is_rate_least: false,
            round_trip: TimeDelta::from_millis(20),
            jitter: TimeDelta::from_millis(1),
            buffer: Some(Buffer {
                delay,
                size: Bytes::new(72_000),
                is_least: false,
            }),
            grade: Some(Grade::of(delay)),
            loss_at_rest: 0.0,
            loss_when_full: Some(0.3),
            burst: Bytes::new(153_600),
            is_burst_least: true,
            medium: Medium::Steady,
            spent: Bytes::new(5_000_000),
            took: TimeDelta::from_millis(2_000),
        }
    }

    #[test]
    fn a_good_line_has_three_sentences_and_a_bad_one_says_why() {
        let words = line().in_words();
        assert_eq!(words.len(), 3, "{words:?}");
        assert!(words[0].contains("48 Mbit/s") && words[1].contains("12 ms"));
        let delay = TimeDelta::from_millis(450);
        let bad = Line {
            rate: Rate::from_kbps(3_000),
            round_trip: TimeDelta::from_millis(90),
            jitter: TimeDelta::from_millis(44),
            buffer: line().buffer.map(|buffer| Buffer {
                delay,
                is_least: true,
                ..buffer
            }),
            grade: Some(Grade::of(delay)),
            loss_at_rest: 0.01,
            medium: Medium::InAggregates,
            ..line()
        };
        let words = bad.in_words();
        let says = [
            "too little",
            "at least 450 ms",
            "1.0 %",
            "44 ms",
            "90 ms",
            "Wi-Fi",
        ];
        assert_eq!(words.len(), says.len());
        for (word, says) in words.iter().zip(says) {
            assert!(word.contains(says), "{word}");
        }
    }
}
