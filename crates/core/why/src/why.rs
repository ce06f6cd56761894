//! Which cause is said, and for how long.

use mimosa_facts::SessionFrame;
use mimosa_units::{Time, TimeDelta};

use crate::measures::{Measured, Measures};
use crate::sentence::{Cause, Sentence};

/// How long a cause is kept that is not found any more: as long as it takes to read the sentence.
pub const KEPT: TimeDelta = TimeDelta::from_millis(5_000);
/// Time between two judgements.
const EVERY: TimeDelta = TimeDelta::from_millis(500);

/// Share of the time between frames from which encoding or decoding takes too long: the rest is needed
/// for what varies.
const NO_TIME: f64 = 0.9;
/// Waits from which a computer is busy. An idle one takes up a picture, sends a packet and shows a picture
/// within a frame interval, and a display adds up to one of its own, at 60 Hz 17 ms.
const PICTURE_WAITS: TimeDelta = TimeDelta::from_millis(12);
const PACKET_WAITS: TimeDelta = TimeDelta::from_millis(10);
const SCREEN_WAITS: TimeDelta = TimeDelta::from_millis(45);
/// Gaps that a player sees: three frames at 60 frames a second; and from half a second, an outage.
const PAUSE: TimeDelta = TimeDelta::from_millis(50);
const OUTAGE: TimeDelta = TimeDelta::from_millis(500);
/// Share of packets lost that repairs cost a player.
const LOSES: f64 = 0.01;
/// Delay of the queue from which the line is full, and losses come from its queue.
const FULL: TimeDelta = TimeDelta::from_millis(20);
/// Share of the line's highest rate below which it has become slower.
const SLOWER: f64 = 0.65;
/// Share of the line below which a stream that meets a queue has company.
const SHARED: f64 = 0.75;
/// Lateness of reports, and a round trip, that a player feels.
const BACK: TimeDelta = TimeDelta::from_millis(30);
const FAR: TimeDelta = TimeDelta::from_millis(100);
/// Time between captures, in frame intervals, from which the source is slow.
const FEW_PICTURES: f64 = 1.35;

/// Says why a stream is not as it should be.
#[derive(Debug, Default)]
pub struct Why {
    measures: Measures,
    next: Time,
    /// The cause that the last judgement found.
    found: Option<Cause>,
    /// The sentence that is shown, and when its cause was last found.
    said: Option<(Sentence, Time)>,
}

impl Why {
    /// The state before the first frame.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            measures: Measures::new(),
            next: Time::ZERO,
            found: None,
            said: None,
        }
    }

    /// Takes a frame about which everything is known, in the order of frames.
    pub fn frame(&mut self, frame: &SessionFrame) {
        self.measures.frame(frame);
    }

    /// Number of values that are remembered.
    #[must_use]
    pub fn held(&self) -> usize {
        self.measures.held()
    }

    /// Forgets what was found, as after a time without frames.
    pub fn forget(&mut self) {
        *self = Self::default();
    }

    /// The sentence to show at `now`; `None` if nothing troubles the stream.
    pub fn now(&mut self, now: Time) -> Option<Sentence> {
        if now >= self.next {
            self.next = now + EVERY;
            self.judge(now);
        }
        self.said.map(|(sentence, _)| sentence)
    }

    fn judge(&mut self, now: Time) {
        let measured = self.measures.measured(now);
        let gap = self.measures.take_pause();
        let lasting = measured.and_then(|measured| lasting(&measured));
        // Delays in a queue vary by as much as the queue is long.
        let queue = measured.and_then(|measured| measured.queue);
        let least = PAUSE.max(queue.unwrap_or(TimeDelta::ZERO) * 2);
        let found = match lasting {
            // A busy computer explains a gap as well.
            Some(cause) if cause.place() < 6 => Some(cause),
            _ if gap >= OUTAGE => Some(Cause::Outage { lasted: gap }),
            _ if gap >= least && measured.is_some() => Some(Cause::Pause { lasted: gap }),
            other => other,
        };
        let before = std::mem::replace(&mut self.found, found);
        let Some(found) = found else {
            self.said.take_if(|(_, at)| now.since(*at) >= KEPT);
            return;
        };
        let is_event = matches!(found, Cause::Outage { .. } | Cause::Pause { .. });
        let is_again = before.is_some_and(|before| before.name() == found.name());
        let gives_way = self
            .said
            .is_none_or(|(said, at)| said.cause.place() >= found.place() || now.since(at) >= KEPT);
        if (is_event || is_again) && gives_way {
            let severity = found.severity();
            let sentence = Sentence {
                cause: found,
                severity,
            };
            self.said = Some((sentence, now));
        }
    }
}

/// The lasting cause that the measures show, of several the one that comes first in the order of the crate.
fn lasting(measured: &Measured) -> Option<Cause> {
    let interval = measured.interval;
    let limit = interval.scale(NO_TIME);
    if measured.encode >= limit {
        return Some(Cause::EncoderSlow {
            takes: measured.encode,
            interval,
        });
    }
    if measured.wait >= PICTURE_WAITS {
        return Some(Cause::HostBusy {
            waits: measured.wait,
        });
    }
    if measured.late >= PACKET_WAITS {
        return Some(Cause::SenderLate {
            late: measured.late,
        });
    }
    if let Some(takes) = measured.decode.filter(|decode| *decode >= limit) {
        return Some(Cause::DecoderSlow { takes, interval });
    }
    if let Some(waits) = measured.present.filter(|present| *present >= SCREEN_WAITS) {
        return Some(Cause::ScreenLate { waits });
    }
    network(measured)
        .or_else(|| {
            let ratio = measured.apart.ratio(interval);
            let per_second = |apart: TimeDelta| 1.0 / apart.as_secs();
            (ratio >= FEW_PICTURES).then(|| Cause::GameSlow {
                makes: per_second(measured.apart),
                of: per_second(interval),
            })
        })
        .or_else(|| {
            let far = measured
                .round_trip
                .filter(|round_trip| *round_trip >= FAR)?;
            Some(Cause::Far { round_trip: far })
        })
}

/// The lasting cause in the network that the measures show, of several the one that comes first in the order of
/// the crate.
fn network(measured: &Measured) -> Option<Cause> {
    let queue = measured.queue.unwrap_or(TimeDelta::ZERO);
    if measured.loss >= LOSES && queue < FULL {
        return Some(Cause::Loss {
            share: measured.loss,
        });
    }
    if let (Some(now), Some(before)) = (measured.link, measured.link_before)
        && now <= before.scale(SLOWER)
        && measured.rate >= now.scale(SHARED)
    {
        return Some(Cause::LineSlower { now, before });
    }
    if let Some(link) = measured.link
        && queue >= FULL
        && measured.rate <= link.scale(SHARED)
    {
        return Some(Cause::Shared {
            others: 1.0 - measured.rate.ratio(link),
        });
    }
    let late = measured.back.filter(|late| *late >= BACK)?;
    Some(Cause::WayBackBusy { late })
}
