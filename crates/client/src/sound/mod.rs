//! Frames of sound, put in order and played on time.
//!
//! Packets come with what was sent before in them ([`red`]), in any order, some twice, some
//! never. A frame is of 10 ms. Where the next one is missing and later ones are there, it is
//! lost, and a decoder makes it up. Where nothing is there, everything is late: whole periods
//! of what was played stand before the next frame (`periods`), so that the delay is about
//! 10 ms longer from there on, and the same lateness does no harm again. After 20 ms a decoder
//! makes up the rest, which fades.
//!
//! The shortest wait of a frame is held at a margin (`waits`), by playing up to half a
//! percent faster or one percent slower (`stretch`): nothing is left out for it and nothing
//! made up.
//!
//! **Source.** What a receiver has to do about jitter is left to it (RFC 3550, section 1). It
//! is the rule of the page (`web/src/sound/playout.ts`), for frames instead of samples.

pub(crate) mod periods;
pub(crate) mod stretch;
mod waits;

use std::collections::BTreeMap;

use mimosa_units::{Time, TimeDelta};
use mimosa_wire::red;

use self::waits::Waits;

/// Samples of a frame of 10 ms (RFC 7587, section 4.1: the clock is 48 kHz).
pub(crate) const FRAME: u32 = 480;
/// Time of a frame.
pub(crate) const FRAME_TIME: TimeDelta = TimeDelta::from_millis(10);
/// Frames kept at most, also when nobody plays them: a second.
const MOST_KEPT: usize = 100;
/// A wait so near to what is aimed at is left alone. Chosen.
const TOLERANCE: TimeDelta = TimeDelta::from_millis(1);
/// What a loudspeaker leaves that stood still, more than this too much, is left out together.
/// Chosen: played faster it would be late for ten seconds.
const FAR: TimeDelta = TimeDelta::from_millis(50);
/// 9 cents of a semitone, and 17: what is too little is heard sooner than what is too much.
const FASTEST: f64 = 0.005;
const SLOWEST: f64 = 0.01;
/// So many frames' time is stretched without being a gap. Chosen.
const STRETCH: i64 = 2;
/// Frames missing in a row that a decoder cannot make up: 200 ms. Behind a longer gap the
/// sound begins anew.
const LONGEST_GAP: i64 = 20;

/// How much is kept before it is played.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SoundConfig {
    /// Frames at the beginning. Chosen.
    pub first: usize,
    /// The shortest wait aimed at. Chosen: 5 ms.
    pub margin: TimeDelta,
}

impl Default for SoundConfig {
    fn default() -> Self {
        Self {
            first: 3,
            margin: TimeDelta::from_millis(5),
        }
    }
}

/// What to play next.
#[derive(Clone, Debug, PartialEq)]
pub enum Play {
    /// Nothing: there is no sound yet.
    Silence,
    /// This frame.
    Frame {
        /// RTP timestamp.
        timestamp: u32,
        /// As it was coded.
        coded: Vec<u8>,
        /// How fast to play it; 1 as it was recorded.
        speed: f64,
    },
    /// Whole periods of what was played: the frame is late.
    Late,
    /// What a decoder makes up: the frame is lost, or late for long.
    MadeUp,
}

/// What has become of sound, in frames.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, serde::Serialize)]
pub struct SoundCounts {
    /// Packets that came.
    pub packets: u64,
    /// Frames played, those made up among them.
    pub played: u64,
    /// Frames made up.
    pub made_up: u64,
    /// Times that one or several in a row were.
    pub gaps: u64,
    /// Times that whole periods stood for 10 ms, because frames were late.
    pub stretched: u64,
    /// Frames that came from a later packet.
    pub repaired: u64,
    /// Times that the loudspeaker had nothing to play, where it tells.
    pub ran_out: u64,
    /// Frames left out because a loudspeaker stood still, or much was late and no longer is.
    pub left_out: u64,
}

/// Where in its packet a frame was.
#[derive(Clone, Copy)]
enum Place {
    Newest { earlier: u32 },
    Earlier,
}

/// The buffer.
#[derive(Debug)]
pub struct SoundBuffer {
    config: SoundConfig,
    frames: BTreeMap<i64, Vec<u8>>,
    /// Timestamp of the next frame, unwrapped.
    next: Option<i64>,
    newest: Option<i64>,
    waits: Waits,
    /// Frames made up in a row.
    made_up: i64,
    /// Times in a row that nothing was there.
    stood: i64,
    counts: SoundCounts,
}

impl SoundBuffer {
    /// Empty.
    #[must_use]
    pub fn new(config: SoundConfig) -> Self {
        Self {
            config,
            frames: BTreeMap::new(),
            next: None,
            newest: None,
            waits: Waits::default(),
            made_up: 0,
            stood: 0,
            counts: SoundCounts::default(),
        }
    }

    /// What has become of sound so far.
    #[must_use]
    pub const fn counts(&self) -> SoundCounts {
        self.counts
    }

    /// The loudspeaker had nothing to play.
    pub fn ran_out(&mut self) {
        self.counts.ran_out += 1;
    }

    /// Time until what came last is played.
    #[must_use]
    pub fn delay(&self) -> TimeDelta {
        FRAME_TIME * u32::try_from(self.frames.len()).unwrap_or(u32::MAX)
    }

    /// A packet with one frame has come.
    pub fn frame(&mut self, now: Time, timestamp: u32, coded: &[u8]) {
        self.counts.packets += 1;
        self.insert(now, timestamp, coded, Place::Newest { earlier: 0 });
    }

    /// A packet with several frames has come.
    ///
    /// # Errors
    ///
    /// [`red::RedError`] when it cannot be read.
    pub fn redundant(
        &mut self,
        now: Time,
        timestamp: u32,
        payload: &[u8],
    ) -> Result<(), red::RedError> {
        let blocks = red::parse(payload)?;
        self.counts.packets += 1;
        let earlier = u32::try_from(blocks.len().saturating_sub(1)).unwrap_or(u32::MAX);
        for block in &blocks {
            let timestamp = timestamp.wrapping_sub(block.age);
            let place = match block.age {
                0 => Place::Newest { earlier },
                _ => Place::Earlier,
            };
            self.insert(now, timestamp, block.payload, place);
        }
        Ok(())
    }

    fn insert(&mut self, now: Time, timestamp: u32, coded: &[u8], place: Place) {
        // So far above zero that an older one has a time, too.
        let newest = self.newest.unwrap_or((1 << 32) + i64::from(timestamp));
        let step = timestamp.wrapping_sub(low(newest)).cast_signed();
        let at = newest + i64::from(step);
        self.newest = Some(newest.max(at));
        if self.next.is_some_and(|next| at < next) {
            return;
        }
        self.skip_to(at);
        let is_new = self.frames.insert(at, coded.to_vec()).is_none();
        match place {
            Place::Newest { earlier } => self.waits.came(span(at), earlier, now),
            Place::Earlier => self.counts.repaired += u64::from(is_new),
        }
        if self.frames.len() > MOST_KEPT {
            self.frames.pop_first();
            self.next = None;
        }
    }

    /// Frames before `at` that were thought late, and made up for, are lost after all: what
    /// stood for them is not made up once more.
    fn skip_to(&mut self, at: i64) {
        let Some(next) = self.next.filter(|_| self.stood > 0) else {
            return;
        };
        let lost = self.stood.min((at - next) / i64::from(FRAME));
        self.next = Some(next + lost * i64::from(FRAME));
        let stretched = lost.min(STRETCH);
        if stretched > 0 {
            self.counts.stretched -= stretched.unsigned_abs();
            self.counts.made_up += stretched.unsigned_abs();
            self.counts.gaps += u64::from(self.made_up == 0);
            self.made_up += stretched;
        }
        self.stood = 0;
    }

    /// What to play for about the next 10 ms.
    pub fn play(&mut self, now: Time) -> Play {
        let first = self.frames.keys().next().copied();
        let next = match (self.next, first) {
            (None, Some(_)) if self.frames.len() >= self.config.first => self.begin(),
            (None, _) => return Play::Silence,
            (Some(next), Some(first)) if first - next > LONGEST_GAP * i64::from(FRAME) => first,
            (Some(_), None) if self.made_up >= LONGEST_GAP => {
                self.next = None;
                self.waits = Waits::default();
                return Play::Silence;
            }
            (Some(next), _) => next,
        };
        self.counts.played += 1;
        let Some(coded) = self.frames.remove(&next) else {
            // With nothing there the same frame is next again.
            if first.is_none() {
                self.stood += 1;
                self.waits.moved();
                if self.stood <= STRETCH {
                    self.counts.stretched += 1;
                    return Play::Late;
                }
            } else {
                self.next = Some(next + i64::from(FRAME));
            }
            self.counts.made_up += 1;
            self.counts.gaps += u64::from(self.made_up == 0);
            self.made_up += 1;
            return Play::MadeUp;
        };
        (self.made_up, self.stood) = (0, 0);
        self.next = Some(next + i64::from(FRAME));
        self.waits.taken(span(next), now);
        Play::Frame {
            timestamp: low(next),
            coded,
            speed: self.steer(),
        }
    }

    /// The frame to begin with: what came while nobody played is left out.
    fn begin(&mut self) -> i64 {
        while self.frames.len() > self.config.first {
            self.frames.pop_first();
            self.counts.left_out += 1;
        }
        self.frames.keys().next().copied().unwrap_or_default()
    }

    /// Chooses the speed, and leaves out what is far too much.
    fn steer(&mut self) -> f64 {
        let Some(excess) = self.waits.excess(self.config.margin) else {
            return 1.0;
        };
        if excess > FAR {
            let frames = excess.as_nanos() / FRAME_TIME.as_nanos();
            self.leave_out(frames);
            return 1.0;
        }
        if excess.as_nanos().abs() < TOLERANCE.as_nanos() {
            return 1.0;
        }
        // Gone in a second, but for the bounds.
        1.0 + excess.as_secs().clamp(-SLOWEST, FASTEST)
    }

    fn leave_out(&mut self, frames: i64) {
        if let Some(next) = self.next {
            let next = next + frames * i64::from(FRAME);
            self.frames = self.frames.split_off(&next);
            self.next = Some(next);
            self.counts.left_out += frames.unsigned_abs();
        }
    }
}

/// An unwrapped timestamp as a time.
const fn span(at: i64) -> TimeDelta {
    // 48 000 in a second.
    TimeDelta::from_nanos(at * 62_500 / 3)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the low 32 bits are meant"
)]
const fn low(timestamp: i64) -> u32 {
    timestamp as u32
}

#[cfg(test)]
mod tests {
    use mimosa_wire::red::Earlier;

    use super::*;

    fn coded(number: u32) -> Vec<u8> {
        number.to_be_bytes().to_vec()
    }

    /// Frame `number` in a packet with so many earlier ones.
    fn packet(buffer: &mut SoundBuffer, now: Time, number: u32, earlier: u32) {
        let timestamp = |number: u32| number.wrapping_mul(FRAME).wrapping_sub(5_000);
        let before: Vec<_> = (1..=earlier)
            .rev()
            .map(|back| (back * FRAME, coded(number - back)))
            .collect();
        let before: Vec<_> = before
            .iter()
            .map(|(age, payload)| Earlier { age: *age, payload })
            .collect();
        let payload = red::write(111, &before, &coded(number));
        buffer.redundant(now, timestamp(number), &payload).unwrap();
    }

    /// What a run is like.
    struct Run {
        frames: u32,
        earlier: u32,
        /// How late a packet comes, or that it never does.
        late: fn(u32) -> Option<TimeDelta>,
        /// Whether the loudspeaker plays.
        plays: fn(Time) -> bool,
        /// By so much, at most, it asks too early.
        early: u32,
    }

    const CLEAN: Run = Run {
        frames: 1_000,
        earlier: 0,
        late: |_| Some(TimeDelta::ZERO),
        plays: |_| true,
        early: 0,
    };

    /// Anything from 0 to `most`, the same for the same number.
    fn random(number: u64, most: u32) -> u32 {
        let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        u32::try_from((mixed >> 33) % u64::from(most + 1)).unwrap()
    }

    const MS: TimeDelta = TimeDelta::from_millis(1);

    /// What was counted, and how long the frames of the last second waited, on average.
    fn run(run: &Run) -> (SoundCounts, TimeDelta) {
        let mut buffer = SoundBuffer::new(SoundConfig::default());
        let number_of = |coded: Vec<u8>| u32::from_be_bytes(coded.try_into().unwrap());
        let due = |number: u32| Time::ZERO + FRAME_TIME * (number + 1);
        let (mut last, mut next) = (None, Time::ZERO);
        let mut waits = Vec::new();
        let millis = u64::from(run.frames) * 10;
        for now in (0..millis).map(Time::from_millis) {
            let newest = u32::try_from(now.as_nanos() / 10_000_000).unwrap();
            for number in newest.saturating_sub(40)..newest {
                if (run.late)(number).is_some_and(|late| due(number) + late == now) {
                    packet(&mut buffer, now, number, run.earlier.min(number));
                }
            }
            if !(run.plays)(now) {
                next = now + MS;
            }
            // Of 50 ms each.
            let early = MS * random(now.as_nanos() / 50_000_000, run.early);
            while next <= now + early {
                let play = buffer.play(now);
                let speed = match &play {
                    Play::Frame { speed, .. } => *speed,
                    Play::Late | Play::MadeUp | Play::Silence => 1.0,
                };
                assert!((0.99..=1.005).contains(&speed), "{speed}");
                next += FRAME_TIME.scale(1.0 / speed);
                if let Play::Frame { coded, .. } = play {
                    let number = number_of(coded);
                    assert!(Some(number) > last, "{number} after {last:?}");
                    last = Some(number);
                    if newest + 100 > run.frames {
                        waits.push(now.since(due(number)));
                    }
                }
            }
        }
        assert!(buffer.frames.len() <= MOST_KEPT);
        let sum = waits.iter().fold(TimeDelta::ZERO, |sum, wait| sum + *wait);
        (buffer.counts(), sum / u32::try_from(waits.len()).unwrap())
    }

    #[test]
    fn it_keeps_their_order_and_no_more_than_it_has_to() {
        let (counts, wait) = run(&CLEAN);
        assert!((998..=1_000).contains(&counts.packets), "{counts:?}");
        assert!((996..=1_000).contains(&counts.played), "{counts:?}");
        assert_eq!((counts.made_up, counts.left_out), (0, 0));
        assert!(wait >= MS * 4 && wait <= MS * 8, "{wait:?}");
    }

    #[test]
    fn repeated_frames_make_up_for_two_lost_in_a_row() {
        let late = |number: u32| (!matches!(number % 97, 50 | 51)).then_some(TimeDelta::ZERO);
        let lossy = Run {
            frames: 20_000,
            late,
            ..CLEAN
        };
        let repeated = Run {
            earlier: 2,
            ..lossy
        };
        let (counts, wait) = run(&repeated);
        assert_eq!((counts.made_up, counts.gaps), (0, 0));
        assert!(counts.repaired >= 2 * 200, "{counts:?}");
        assert!(wait >= MS * 24 && wait <= MS * 28, "{wait:?}");
        // Without the repeats each of them is heard.
        let (counts, _) = run(&lossy);
        assert_eq!((counts.made_up, counts.gaps), (412, 206));
        assert_eq!(counts.stretched, 0, "none of them was late after all");
    }

    #[test]
    fn what_is_late_once_may_be_so_again() {
        // Every hundredth packet comes 60 ms late, and all behind it with it.
        let late = |number: u32| {
            let late = if number < 100 {
                0
            } else {
                6_u32.saturating_sub(number % 100)
            };
            Some(FRAME_TIME * late)
        };
        let (counts, wait) = run(&Run {
            frames: 3_000,
            late,
            ..CLEAN
        });
        assert_eq!(
            (counts.made_up, counts.gaps),
            (3, 1),
            "60 ms, less what was waited: {counts:?}"
        );
        assert!(wait >= MS * 60 && wait <= MS * 70, "{wait:?}");
    }

    #[test]
    fn jitter_is_waited_for_and_no_more() {
        for most in [4, 20] {
            let late: fn(u32) -> Option<TimeDelta> = match most {
                4 => |number| Some(MS * ((number.wrapping_mul(2_654_435_761) >> 16) % 4)),
                _ => |number| Some(MS * ((number.wrapping_mul(2_654_435_761) >> 16) % 20)),
            };
            let (counts, wait) = run(&Run {
                frames: 6_000,
                late,
                ..CLEAN
            });
            assert_eq!((counts.gaps, counts.left_out), (0, 0), "{counts:?}");
            assert!(
                wait >= MS * (most + 3) && wait <= MS * (most + 7),
                "{wait:?}"
            );
        }
    }

    #[test]
    fn a_delay_that_is_not_needed_goes_away_without_a_seam() {
        // Late at first: 40 ms.
        let late = |number: u32| {
            let is_burst = (100..104).contains(&number);
            Some(FRAME_TIME * if is_burst { 104 - number } else { 0 })
        };
        let long = Run {
            frames: 6_000,
            late,
            ..CLEAN
        };
        let (counts, wait) = run(&long);
        assert_eq!(counts.left_out, 0, "{counts:?}");
        assert!(
            wait >= MS * 4 && wait <= MS * 8,
            "what is needed is left: {wait:?}"
        );
        // With repeats in the packets two are kept for them.
        let (_, wait) = run(&Run { earlier: 2, ..long });
        assert!(wait >= MS * 24 && wait <= MS * 28, "{wait:?}");
    }

    #[test]
    fn what_was_late_is_remembered_for_some_seconds() {
        // Every 8 s, by 40 ms.
        let late = |number: u32| {
            let late = if number < 100 {
                0
            } else {
                4_u32.saturating_sub(number % 800)
            };
            Some(FRAME_TIME * late)
        };
        let once = Run {
            frames: 1_000,
            late,
            ..CLEAN
        };
        let (first, wait) = run(&once);
        assert!(first.stretched + first.made_up > 0, "{first:?}");
        // It has not grown for longer than it had to.
        assert!(wait >= MS * 43 && wait <= MS * 47, "{wait:?}");
        let (counts, _) = run(&Run {
            frames: 6_000,
            ..once
        });
        let both = |counts: SoundCounts| (counts.stretched, counts.made_up);
        assert_eq!(both(counts), both(first));
    }

    #[test]
    fn a_loudspeaker_that_asks_unevenly_has_enough() {
        let (counts, wait) = run(&Run {
            frames: 6_000,
            early: 30,
            ..CLEAN
        });
        assert_eq!((counts.stretched, counts.made_up), (0, 0), "{counts:?}");
        assert!(wait <= MS * 38, "{wait:?}");
    }

    #[test]
    fn what_is_late_now_and_then_and_not_lost_is_no_reason_for_more() {
        let late = |number: u32| Some(MS * if number % 100 == 50 { 15 } else { 0 });
        let (counts, wait) = run(&Run {
            frames: 6_000,
            earlier: 2,
            late,
            ..CLEAN
        });
        assert_eq!(counts.gaps, 0);
        assert!(wait <= MS * 28, "{wait:?}");
    }

    #[test]
    fn what_a_loudspeaker_missed_is_left_out_soon() {
        // It stands still for 0.8 s.
        let plays = |now: Time| !(1_000..1_800).contains(&(now.as_nanos() / 1_000_000));
        let (counts, wait) = run(&Run {
            frames: 500,
            plays,
            ..CLEAN
        });
        assert_eq!((counts.made_up, counts.gaps), (0, 0));
        assert!((75..85).contains(&counts.left_out), "{counts:?}");
        assert!(wait <= FRAME_TIME * 2, "{wait:?}");
    }

    #[test]
    fn after_a_long_gap_it_begins_anew() {
        let late = |number: u32| (!(500..1_500).contains(&number)).then_some(TimeDelta::ZERO);
        let (counts, _) = run(&Run {
            frames: 3_000,
            late,
            ..CLEAN
        });
        assert!(counts.made_up <= 20, "{counts:?}");
        assert_eq!(counts.gaps, 1);
        assert!(counts.played >= 1_990, "{counts:?}");
    }

    #[test]
    fn nobody_playing_costs_no_memory() {
        let mut buffer = SoundBuffer::new(SoundConfig::default());
        let mut now = Time::ZERO;
        for number in 0..10_000 {
            packet(&mut buffer, now, number, 0);
            now += FRAME_TIME;
        }
        assert!(buffer.frames.len() <= MOST_KEPT);
        let Play::Frame { coded, .. } = buffer.play(now) else {
            panic!("there is sound");
        };
        assert_eq!(coded, super::tests::coded(9_997), "what is old is left out");
        assert!(buffer.redundant(now, 0, &[0x80]).is_err());
    }
}
