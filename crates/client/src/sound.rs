//! Frames of sound, put in order and played on time.
//!
//! Packets come with what was sent before in them ([`red`]), in any order, some twice, some
//! never. One frame is played every 10 ms. Where the next one is missing and later ones are
//! there, it is lost, and a decoder makes it up. Where nothing is there, everything is late:
//! what is made up then stands before the next frame, so that the delay is 10 ms longer from
//! there on, and the same lateness does no harm again. When for [`SoundConfig::calm`] more
//! frames were to spare than [are needed](SoundConfig::least), one is left out, and the delay
//! is 10 ms shorter. Frames that packets repeat are needed: they come so much later.
//!
//! **Source.** What a receiver has to do about jitter is left to it (RFC 3550, section 1);
//! making the delay longer by what is made up, and shorter by leaving out, is what browsers
//! do (libwebrtc's `NetEq`), with more art.

use std::collections::BTreeMap;

use mimosa_units::TimeDelta;
use mimosa_wire::red;

/// Samples of a frame of 10 ms (RFC 7587, section 4.1: the clock is 48 kHz).
pub(crate) const FRAME: u32 = 480;
/// Time of a frame.
pub(crate) const FRAME_TIME: TimeDelta = TimeDelta::from_millis(10);
/// Frames kept at most, also when nobody plays them: a second.
const MOST_KEPT: usize = 100;
/// So many frames more than needed, as a loudspeaker leaves that stood still, are left out
/// together, when there were as many for [`SHORT`].
const FAR: usize = 10;
/// Half a second, in frames.
const SHORT: u32 = 50;
/// Frames missing in a row that a decoder cannot make up: 200 ms. Behind a longer gap the
/// sound begins anew.
const LONGEST_GAP: i64 = 20;

/// How much is kept before it is played.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SoundConfig {
    /// Frames at the beginning. Chosen.
    pub first: usize,
    /// Frames to spare that are never given up. Chosen: a packet's jitter.
    pub least: usize,
    /// Frames played with more to spare than needed, before one is left out. Chosen: 30 s.
    pub calm: u32,
}

impl Default for SoundConfig {
    fn default() -> Self {
        Self {
            first: 3,
            least: 1,
            calm: 3_000,
        }
    }
}

/// What to play next.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Play {
    /// Nothing: there is no sound yet.
    Silence,
    /// This frame.
    Frame {
        /// RTP timestamp.
        timestamp: u32,
        /// As it was coded.
        coded: Vec<u8>,
    },
    /// What a decoder makes up: the frame is not there.
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
    /// Frames that came from a later packet.
    pub repaired: u64,
    /// Frames left out to have less delay.
    pub left_out: u64,
}

/// The buffer.
#[derive(Debug)]
pub struct SoundBuffer {
    config: SoundConfig,
    frames: BTreeMap<i64, Vec<u8>>,
    /// Timestamp of the next frame, unwrapped.
    next: Option<i64>,
    newest: Option<i64>,
    /// Frames played since the delay was last thought about.
    played: u32,
    /// Least frames to spare in that time.
    spare: usize,
    /// Least of them in the last frames, of which there are up to [`SHORT`].
    lately: (u32, usize),
    /// Most earlier frames in a packet in that time.
    repeated: usize,
    /// Frames made up in a row.
    made_up: i64,
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
            played: 0,
            spare: usize::MAX,
            lately: (0, usize::MAX),
            repeated: 0,
            made_up: 0,
            counts: SoundCounts::default(),
        }
    }

    /// What has become of sound so far.
    #[must_use]
    pub const fn counts(&self) -> SoundCounts {
        self.counts
    }

    /// Time until what came last is played.
    #[must_use]
    pub fn delay(&self) -> TimeDelta {
        FRAME_TIME * u32::try_from(self.frames.len()).unwrap_or(u32::MAX)
    }

    /// A packet with one frame has come.
    pub fn frame(&mut self, timestamp: u32, coded: &[u8]) {
        self.counts.packets += 1;
        self.insert(timestamp, coded, false);
    }

    /// A packet with several frames has come.
    ///
    /// # Errors
    ///
    /// [`red::RedError`] when it cannot be read.
    pub fn redundant(&mut self, timestamp: u32, payload: &[u8]) -> Result<(), red::RedError> {
        let blocks = red::parse(payload)?;
        self.counts.packets += 1;
        self.repeated = self.repeated.max(blocks.len().saturating_sub(1));
        for block in &blocks {
            let timestamp = timestamp.wrapping_sub(block.age);
            self.insert(timestamp, block.payload, block.age > 0);
        }
        Ok(())
    }

    fn insert(&mut self, timestamp: u32, coded: &[u8], is_repeated: bool) {
        // So far above zero that an older one has a time, too.
        let newest = self.newest.unwrap_or((1 << 32) + i64::from(timestamp));
        let step = timestamp.wrapping_sub(low(newest)).cast_signed();
        let at = newest + i64::from(step);
        self.newest = Some(newest.max(at));
        if self.next.is_some_and(|next| at < next) {
            return;
        }
        let is_new = self.frames.insert(at, coded.to_vec()).is_none();
        self.counts.repaired += u64::from(is_new && is_repeated);
        if self.frames.len() > MOST_KEPT {
            self.frames.pop_first();
            self.next = None;
        }
    }

    /// What to play for the next 10 ms.
    pub fn play(&mut self) -> Play {
        let first = self.frames.keys().next().copied();
        let next = match (self.next, first) {
            (None, Some(_)) if self.frames.len() >= self.config.first => self.begin(),
            (None, _) => return Play::Silence,
            (Some(next), Some(first)) if first - next > LONGEST_GAP * i64::from(FRAME) => first,
            (Some(_), None) if self.made_up >= LONGEST_GAP => {
                self.next = None;
                return Play::Silence;
            }
            (Some(next), _) => next,
        };
        self.counts.played += 1;
        let Some(coded) = self.frames.remove(&next) else {
            // With nothing there the same frame is next again.
            let passed = if first.is_some() { FRAME } else { 0 };
            self.next = Some(next + i64::from(passed));
            self.counts.made_up += 1;
            self.counts.gaps += u64::from(self.made_up == 0);
            self.made_up += 1;
            self.spare = 0;
            self.lately.1 = 0;
            return Play::MadeUp;
        };
        self.made_up = 0;
        self.next = Some(next + i64::from(FRAME));
        self.shorten();
        Play::Frame {
            timestamp: low(next),
            coded,
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

    /// Leaves a frame out when there were more than needed for long, and all that are too
    /// many when there are very many.
    fn shorten(&mut self) {
        self.played += 1;
        self.spare = self.spare.min(self.frames.len());
        self.lately = (self.lately.0 + 1, self.lately.1.min(self.frames.len()));
        let needed = self.config.least.max(self.repeated);
        if self.lately.0 >= SHORT {
            let excess = self.lately.1.saturating_sub(needed);
            self.leave_out(if excess > FAR { excess } else { 0 });
            self.lately = (0, usize::MAX);
        }
        if self.played < self.config.calm {
            return;
        }
        self.leave_out(self.spare.saturating_sub(needed).min(1));
        (self.played, self.spare, self.repeated) = (0, usize::MAX, 0);
    }

    fn leave_out(&mut self, frames: usize) {
        for _ in 0..frames {
            if let Some((at, _)) = self.frames.pop_first() {
                self.counts.left_out += 1;
                self.next = Some(at + i64::from(FRAME));
            }
        }
    }
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
    fn packet(buffer: &mut SoundBuffer, number: u32, earlier: u32) {
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
        buffer.redundant(timestamp(number), &payload).unwrap();
    }

    /// The number of the frame that is played; `None` for one made up or silence.
    fn played(buffer: &mut SoundBuffer) -> Option<u32> {
        match buffer.play() {
            Play::Frame { coded, .. } => Some(u32::from_be_bytes(coded.try_into().unwrap())),
            Play::MadeUp | Play::Silence => None,
        }
    }

    /// Runs frames 0 to `count`; `comes` says when a packet comes, in frames after its own
    /// time, or that it never does.
    fn run(count: u32, earlier: u32, comes: impl Fn(u32) -> Option<u32>) -> SoundBuffer {
        let mut buffer = SoundBuffer::new(SoundConfig::default());
        let mut last = None;
        for tick in 0..count {
            for number in tick.saturating_sub(20)..=tick {
                if comes(number) == Some(tick - number) {
                    packet(&mut buffer, number, earlier.min(number));
                }
            }
            let now = played(&mut buffer);
            assert!(now.is_none() || now > last, "{now:?} after {last:?}");
            last = now.or(last);
        }
        buffer
    }

    #[test]
    fn it_begins_with_three_frames_and_keeps_their_order() {
        let buffer = run(1_000, 0, |_| Some(0));
        let counts = buffer.counts();
        assert_eq!((counts.packets, counts.played), (1_000, 998));
        assert_eq!((counts.made_up, counts.left_out), (0, 0));
        assert_eq!(buffer.delay(), FRAME_TIME * 2);
    }

    #[test]
    fn repeated_frames_make_up_for_two_lost_in_a_row() {
        let lost = |number: u32| number % 97 == 50 || number % 97 == 51;
        let buffer = run(20_000, 2, |number| (!lost(number)).then_some(0));
        let counts = buffer.counts();
        assert_eq!((counts.made_up, counts.gaps), (0, 0));
        assert!(counts.repaired >= 2 * 200, "{counts:?}");
        // Without the repeats each of them is heard.
        let counts = run(20_000, 0, |number| (!lost(number)).then_some(0)).counts();
        assert_eq!((counts.made_up, counts.gaps), (412, 206));
    }

    #[test]
    fn what_is_late_once_may_be_so_again() {
        // Every hundredth packet comes 60 ms late, and all behind it with it.
        let late = |number: u32| 6_u32.saturating_sub(number % 100);
        let comes = |number: u32| Some(if number < 100 { 0 } else { late(number) });
        let counts = run(3_000, 0, comes).counts();
        assert_eq!((counts.made_up, counts.gaps), (4, 1), "{counts:?}");
    }

    #[test]
    fn a_delay_that_is_not_needed_goes_away() {
        let late = |number: u32| {
            if number < 200 && number % 100 < 8 {
                8 - number % 100
            } else {
                0
            }
        };
        let buffer = run(60_000, 0, |number| Some(late(number)));
        let counts = buffer.counts();
        assert!(counts.left_out >= 5, "{counts:?}");
        assert_eq!(buffer.delay(), FRAME_TIME, "what is needed is left");
        // With repeats in the packets two are kept for them.
        let buffer = run(60_000, 2, |number| Some(late(number)));
        assert_eq!(buffer.delay(), FRAME_TIME * 2);
    }

    #[test]
    fn what_a_loudspeaker_missed_is_left_out_soon() {
        let mut buffer = SoundBuffer::new(SoundConfig::default());
        for number in 0..500 {
            packet(&mut buffer, number, 0);
            // It stands still for 0.8 s.
            if !(100..180).contains(&number) {
                let _ = buffer.play();
            }
            if number == 200 {
                assert!(buffer.delay() > FRAME_TIME * 70, "all of it is there");
            }
        }
        assert!(buffer.delay() <= FRAME_TIME * 2, "{:?}", buffer.delay());
        let counts = buffer.counts();
        assert_eq!((counts.made_up, counts.gaps), (0, 0));
        assert!((75..85).contains(&counts.left_out), "{counts:?}");
    }

    #[test]
    fn after_a_long_gap_it_begins_anew() {
        let comes = |number: u32| (!(500..1_500).contains(&number)).then_some(0);
        let counts = run(3_000, 0, comes).counts();
        assert!(counts.made_up <= 20, "{counts:?}");
        assert_eq!(counts.gaps, 1);
        assert!(counts.played >= 1_990, "{counts:?}");
    }

    #[test]
    fn nobody_playing_costs_no_memory() {
        let mut buffer = SoundBuffer::new(SoundConfig::default());
        for number in 0..10_000 {
            packet(&mut buffer, number, 0);
        }
        assert!(buffer.frames.len() <= MOST_KEPT);
        assert_eq!(played(&mut buffer), Some(9_997), "what is old is left out");
        assert!(buffer.redundant(0, &[0x80]).is_err());
    }
}
