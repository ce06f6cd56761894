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

pub mod periods;
pub mod stretch;
#[cfg(test)]
mod tests;
mod waits;

use std::collections::BTreeMap;

use mimosa_rtp::red;
use mimosa_units::{Time, TimeDelta};

use self::waits::{UNEVEN, Waits};

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
/// Who looks less often than this stands still: what comes meanwhile does not tell how late
/// frames are. Chosen: two and a half frames.
const HALT: TimeDelta = TimeDelta::from_millis(25);
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
    /// So much comes before the first is played, to know how late frames are: a session's first
    /// picture keeps the first half of them waiting. Chosen: 300 ms.
    pub listen: TimeDelta,
    /// The shortest wait aimed at. Chosen: 5 ms.
    pub margin: TimeDelta,
}

impl Default for SoundConfig {
    fn default() -> Self {
        Self {
            listen: TimeDelta::from_millis(300),
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
    /// Frames played, those made up and the times stretched among them.
    pub played: u64,
    /// Frames made up.
    pub made_up: u64,
    /// Times that one or several in a row were, or that frames were left out.
    pub gaps: u64,
    /// Times that whole periods stood for 10 ms, because frames were late.
    pub stretched: u64,
    /// Frames that came from a later packet.
    pub repaired: u64,
    /// Times that the loudspeaker had nothing to play, where it tells.
    pub ran_out: u64,
    /// Frames left out because a loudspeaker stood still or had nothing, or because much was
    /// late and no longer is; the latter is a gap.
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
    /// When somebody looked last whether the loudspeaker wants anything.
    looked: Option<Time>,
    /// When it last did, and when it last did after a halt.
    asked: Option<Time>,
    resumed: Option<Time>,
    /// Frames made up in a row.
    made_up: i64,
    /// Times in a row that nothing was there.
    stood: i64,
    counts: SoundCounts,
}

impl SoundBuffer {
    /// Frames of sound that are kept.
    #[must_use]
    pub fn held(&self) -> usize {
        self.frames.len()
    }

    /// Empty.
    #[must_use]
    pub fn new(config: SoundConfig) -> Self {
        Self {
            config,
            frames: BTreeMap::new(),
            next: None,
            newest: None,
            waits: Waits::default(),
            looked: None,
            asked: None,
            resumed: None,
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

    /// The loudspeaker had nothing to play for so long. What it missed is left out, so that
    /// sound is no later than before.
    pub fn ran_out(&mut self, silent: TimeDelta) {
        self.counts.ran_out += 1;
        let half = FRAME_TIME / 2;
        self.leave_out((silent + half).as_nanos() / FRAME_TIME.as_nanos());
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
        let stands = self.looked.is_some_and(|looked| now.since(looked) > HALT);
        let first = self.frames.keys().next().map_or(at, |first| *first);
        let is_early = self.counts.played == 0 && span(at - first) < self.config.listen / 2;
        // Of a frame that is there already it does not matter when it comes.
        match place {
            _ if !is_new => {}
            Place::Newest { .. } if stands || is_early => {}
            Place::Newest { earlier } => self.waits.came(span(at), earlier, now),
            Place::Earlier => self.counts.repaired += 1,
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

    /// Somebody looks whether the loudspeaker wants anything. What came before is there.
    pub fn look(&mut self, now: Time) {
        self.looked = Some(now);
    }

    /// What to play for about the next 10 ms; so much is wanted at once.
    pub fn play(&mut self, now: Time, wanted: TimeDelta) -> Play {
        let idle = self.asked.map(|asked| now.since(asked) - wanted);
        if idle.is_some_and(|idle| idle > FAR) {
            self.resumed = Some(now);
        }
        self.asked = Some(now);
        let first = self.frames.keys().next().copied();
        let next = match (self.next, first) {
            (None, Some(first)) => match self.begin(first, now, wanted) {
                Some(begin) => begin,
                None => return Play::Silence,
            },
            (None, None) => return Play::Silence,
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
        // The last of those that are taken with it is so much earlier.
        let with_it = (wanted.as_nanos() - 1).max(0) / FRAME_TIME.as_nanos();
        let last = next + with_it * i64::from(FRAME);
        self.waits.taken(span(last), now);
        Play::Frame {
            timestamp: low(next),
            coded,
            speed: self.steer(now),
        }
    }

    /// The frame to begin with, once enough has come: that whose turn it is, or the next one
    /// that is there.
    fn begin(&mut self, first: i64, now: Time, wanted: TimeDelta) -> Option<i64> {
        let heard = span(self.newest?) - span(first);
        let listen = match self.counts.played {
            0 => self.config.listen,
            _ => FRAME_TIME * 2,
        };
        if heard < listen {
            return None;
        }
        let due = self.waits.due(now)? - self.config.margin - wanted;
        self.frames.retain(|at, _| span(*at) >= due);
        self.frames.keys().next().copied()
    }

    /// Chooses the speed, and leaves out what is far too much.
    fn steer(&mut self, now: Time) -> f64 {
        let Some(excess) = self.waits.excess(self.config.margin) else {
            return 1.0;
        };
        if excess > FAR {
            // The loudspeaker's halt was heard already. What it missed is left out when how
            // early it was before is forgotten.
            let halt = self.resumed.map(|resumed| now.since(resumed));
            self.counts.gaps += u64::from(halt.is_none_or(|halt| halt > UNEVEN * 3));
            self.leave_out(excess.as_nanos() / FRAME_TIME.as_nanos());
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
