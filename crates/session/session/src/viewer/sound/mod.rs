//! Frames of sound, put in order and played on time.
//!
//! Packets repeat earlier frames ([`red`]) and come in any order; some come twice, some never. A
//! frame is of 10 ms. Where the next frame is missing and later ones are there, the next frame is
//! lost, and a decoder makes it up. Where no frame is there, all are late: whole periods of the
//! sound played last (`periods`) are repeated before the next frame, so that the delay is about 10
//! ms longer from there on, and the same lateness does no harm again. After 20 ms without a frame,
//! a decoder makes up the rest, which fades.
//!
//! The shortest wait of a frame is held at a margin (`waits`) by playing up to half a percent
//! faster or one percent slower (`stretch`), without leaving out or inserting anything.
//!
//! **Source.** RFC 3550, section 1, leaves the treatment of jitter to the receiver. The rule is
//! that of the web page (`web/src/sound/playout.ts`), for frames instead of samples.

pub mod periods;
pub mod stretch;
#[cfg(test)]
mod tests;
mod waits;

use std::collections::BTreeMap;

use mimosa_rtp::red;
use mimosa_units::{Time, TimeDelta};

use self::waits::{UNEVEN, Waits};

/// Samples of a frame of 10 ms, at 48 kHz (RFC 7587, section 4.1).
pub(crate) const FRAME: u32 = 480;
/// Duration of a frame.
pub(crate) const FRAME_TIME: TimeDelta = TimeDelta::from_millis(10);
/// Most frames that are kept, also when nothing is played: a second of sound.
const MOST_KEPT: usize = 100;
/// Deviation from the margin that is not corrected. Our choice.
const TOLERANCE: TimeDelta = TimeDelta::from_millis(1);
/// Excess of the shortest wait, as after a halt of the loudspeaker, above which frames are left
/// out. Our choice: playing faster would take ten seconds to remove it.
const FAR: TimeDelta = TimeDelta::from_millis(50);
/// Time between two looks at the loudspeaker above which frames that come in between do not tell
/// how late frames are. Our choice: two and a half frames.
const HALT: TimeDelta = TimeDelta::from_millis(25);
/// Largest increase and decrease of the speed: 9 and 17 cents of a semitone. The decrease is larger
/// because too short a wait is heard sooner than too long a one.
const FASTEST: f64 = 0.005;
const SLOWEST: f64 = 0.01;
/// Number of frames in a row that repeated periods replace before a decoder makes up more. Our
/// choice.
const STRETCH: i64 = 2;
/// Most frames in a row that a decoder makes up: 200 ms. After a longer gap, the sound starts anew.
const LONGEST_GAP: i64 = 20;

/// How much sound is buffered before it is played.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SoundConfig {
    /// Length of the sound that has to come before the first frame is played, to learn how late
    /// frames are. The first half of it is not judged, because a session's first picture delays it.
    /// Our choice: 300 ms.
    pub listen: TimeDelta,
    /// The shortest wait that is aimed at. Our choice: 5 ms.
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
    /// Silence: there is no sound yet.
    Silence,
    /// A frame, to be decoded.
    Frame {
        /// RTP timestamp.
        timestamp: u32,
        /// The frame as it was coded.
        coded: Vec<u8>,
        /// How fast to play the frame, as a factor; 1 is the speed of the recording.
        speed: f64,
    },
    /// Repeated periods of what was played: the frame is late.
    Late,
    /// What the decoder makes up: the frame is lost, or late for more than 20 ms.
    MadeUp,
}

/// Counts of sound frames by their fate.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, serde::Serialize)]
pub struct SoundCounts {
    /// Packets that came.
    pub packets: u64,
    /// Frames played, including those made up and those replaced by repeated periods.
    pub played: u64,
    /// Frames made up.
    pub made_up: u64,
    /// Gaps: runs of frames made up, and times that frames were left out.
    pub gaps: u64,
    /// Times that repeated periods replaced 10 ms because frames were late.
    pub stretched: u64,
    /// Frames that came only as a repetition in a later packet.
    pub repaired: u64,
    /// Times that the loudspeaker had nothing to play, if the driver reports them.
    pub ran_out: u64,
    /// Frames left out because the loudspeaker stood still or had nothing to play, or because
    /// frames had been late and no longer are. Only the latter counts as a gap.
    pub left_out: u64,
}

/// Whether a frame is the newest of its packet, with `earlier` repeated ones, or a repeated one.
#[derive(Clone, Copy)]
enum Place {
    Newest { earlier: u32 },
    Earlier,
}

/// Orders frames of sound, and says what to play.
#[derive(Debug)]
pub struct SoundBuffer {
    config: SoundConfig,
    frames: BTreeMap<i64, Vec<u8>>,
    /// RTP timestamp of the next frame, unwrapped.
    next: Option<i64>,
    newest: Option<i64>,
    waits: Waits,
    /// When the driver last checked whether the loudspeaker wants sound.
    looked: Option<Time>,
    /// When the loudspeaker last asked for sound, and when it last did so after a halt.
    asked: Option<Time>,
    resumed: Option<Time>,
    /// Number of frames made up in a row.
    made_up: i64,
    /// Number of times in a row that no frame at all was there.
    stood: i64,
    counts: SoundCounts,
}

impl SoundBuffer {
    /// Number of frames in the buffer.
    #[must_use]
    pub fn held(&self) -> usize {
        self.frames.len()
    }

    /// An empty buffer.
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

    /// Counts of sound frames so far.
    #[must_use]
    pub const fn counts(&self) -> SoundCounts {
        self.counts
    }

    /// Notes that the loudspeaker had nothing to play for `silent`. Sound of that length is left
    /// out, so that the delay does not grow.
    pub fn ran_out(&mut self, silent: TimeDelta) {
        self.counts.ran_out += 1;
        let half = FRAME_TIME / 2;
        self.leave_out((silent + half).as_nanos() / FRAME_TIME.as_nanos());
    }

    /// Duration of the frames in the buffer.
    #[must_use]
    pub fn delay(&self) -> TimeDelta {
        FRAME_TIME * u32::try_from(self.frames.len()).unwrap_or(u32::MAX)
    }

    /// Takes a packet with one frame.
    pub fn frame(&mut self, now: Time, timestamp: u32, coded: &[u8]) {
        self.counts.packets += 1;
        self.insert(now, timestamp, coded, Place::Newest { earlier: 0 });
    }

    /// Takes a packet with one or several frames.
    ///
    /// # Errors
    ///
    /// [`red::RedError`] if the payload cannot be parsed.
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
        // The first timestamp begins far enough above zero that an older one can be counted, too.
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
        // The arrival of a frame that is already there says nothing.
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

    /// Counts frames before `at` as lost that were thought late. The periods that replaced them
    /// were played in their place, so that they are not made up once more.
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

    /// Notes that the driver has checked whether the loudspeaker wants sound, after it read all
    /// packets that had come.
    pub fn look(&mut self, now: Time) {
        self.looked = Some(now);
    }

    /// Says what to play for about the next 10 ms, when `wanted` of sound is wanted at once.
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
            // Without any frame, the same frame stays the next.
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
        // The last of the frames that are taken together is taken this much before its turn.
        let with_it = (wanted.as_nanos() - 1).max(0) / FRAME_TIME.as_nanos();
        let last = next + with_it * i64::from(FRAME);
        self.waits.taken(span(last), now);
        Play::Frame {
            timestamp: low(next),
            coded,
            speed: self.steer(now),
        }
    }

    /// Chooses the frame to begin with, once enough has come: the one that is due, or else the
    /// first after it.
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

    /// Chooses the speed, and leaves out frames if the excess is large.
    fn steer(&mut self, now: Time) -> f64 {
        let Some(excess) = self.waits.excess(self.config.margin) else {
            return 1.0;
        };
        if excess > FAR {
            // A halt of the loudspeaker was heard when it happened, and counts as no gap. The sound
            // that it missed is left out once the times before the halt are forgotten.
            let halt = self.resumed.map(|resumed| now.since(resumed));
            self.counts.gaps += u64::from(halt.is_none_or(|halt| halt > UNEVEN * 3));
            self.leave_out(excess.as_nanos() / FRAME_TIME.as_nanos());
            return 1.0;
        }
        if excess.as_nanos().abs() < TOLERANCE.as_nanos() {
            return 1.0;
        }
        // The excess is gone in a second, unless the bounds limit the speed.
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
    // 48 000 samples are a second.
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
