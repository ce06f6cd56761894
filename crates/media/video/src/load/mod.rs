//! What an encoder is given to do when the host's processor, or the viewer, cannot keep up.
//!
//! **Source.** Our own. The rule has three means, from the mildest to the hardest:
//!
//! 1. *Less analysis and fewer bytes a frame*, from the next frame on. Bits cost time, and a picture
//!    that is finer than `FINE` shows no loss.
//! 2. *Fewer pictures, evenly*: one of two, of three or of four. Without that, the encoder takes the
//!    newest picture whenever it is free, and what the player sees is as irregular as the encoder.
//! 3. *Smaller pictures*, if fewer ones have been necessary for `SETTLE`. They cost a new encoder and
//!    a keyframe, and give all pictures back.
//!
//! **Model.** The time for a frame is its work (`work::work`) times what a unit of work takes now, which
//! `Encoding` knows of the last frames, and `Viewing` of the viewer. A step *fits* if the frame at
//! `FINE` takes at most a share of the time between two of its pictures: `HOLD` to stay, `AIM` to
//! be chosen on the way down, `UP` on the way up. A frame's bytes are bounded to what fits in
//! `BOUND` of that time.
//!
//! **Way up.** A better step is taken when it has fitted for `UP_AFTER` without a break, `LARGER` times
//! as long for larger pictures. If it has to be taken back within `TAKEN_BACK` times that time, the next
//! try comes after twice the time, `MOST_WAIT` at most.
//! The bound of a frame's bytes rises by `RISE` a frame.

mod encoding;
#[cfg(test)]
mod tests;
mod viewing;
mod work;

use std::collections::VecDeque;

use mimosa_facts::{Complexity, Relief, Strain};
use mimosa_units::{Bytes, PeerTime, Time, TimeDelta};

use self::encoding::Encoding;
use self::viewing::Viewing;
use self::work::{PIXELS_PER_BYTE, effort, work};
use crate::detail::Step;
use crate::picture::Size;

pub use self::viewing::Seen;

/// The quantiser, on H.264's scale, below which nobody misses the bytes that a frame is spared. Our
/// choice: three steps coarser than x264's 23 for files, and well below [`crate::detail`]'s 44.
const FINE: f64 = 28.0;
/// The rise of the quantiser that halves a frame's bytes (`docs/how-it-works/encoder.md`).
const PER_HALVING: f64 = 6.0;
/// The share of the time between pictures up to which a step is kept. Our choice: the rest is for
/// frames that take longer than their neighbours.
const HOLD: f64 = 0.9;
/// The share to which a frame's bytes are bounded. Our choice, between [`HOLD`] and [`AIM`], so that a
/// bound that works is not taken for a failure.
const BOUND: f64 = 0.85;
/// The share that a step may take to be chosen on the way down. Our choice: one frame in six takes a
/// quarter longer than its neighbours.
const AIM: f64 = 0.75;
/// The share that a better step may take. Our choice: with [`HOLD`], load has to grow by half before
/// the step is taken back.
const UP: f64 = 0.6;
/// How long fewer pictures are necessary before smaller ones replace them. Our choice: what is over
/// sooner is not worth two keyframes.
const SETTLE: TimeDelta = TimeDelta::from_millis(1_000);
/// How long a step with more pictures has to fit. Our choice: machines are slow for a tenth of a second
/// now and then.
const UP_AFTER: TimeDelta = TimeDelta::from_millis(500);
/// The factor by which that is longer for larger pictures. Our choice: they cost a keyframe.
const LARGER: u32 = 4;
/// The time within which a better step is taken back by which the wait doubles, in waits. Our choice: as
/// long as larger pictures have to fit.
const TAKEN_BACK: u32 = 4;
/// The longest that [`UP_AFTER`] becomes; with [`LARGER`], as long as [`crate::detail`] waits.
const MOST_WAIT: TimeDelta = TimeDelta::from_millis(15_000);
/// The factor by which a bound rises with each frame. Our choice: twice as much in 1.2 s at 60 frames a
/// second.
const RISE: f64 = 1.01;
/// The least share of its bytes that a frame keeps. Our choice: two halvings, which take a picture from
/// x264's finest quantisers in use to [`FINE`], so that an encoder whose quantiser says nothing is not
/// starved.
const LEAST: f64 = 0.25;
/// The factor above what is asked for from which on a bound bounds nothing. Our choice: as much as a
/// frame may carry over (`docs/how-it-works/encoder.md`).
const IDLE: f64 = 1.25;
/// The weight of a frame in the mean of what pictures need: that of RFC 6298 for round trips.
const WEIGHT: f64 = 1.0 / 8.0;
/// The fewest pictures: 15 a second of 60. Our choice: below that, nobody plays.
const MOST_EVERY: u32 = 4;
/// The smallest sides, in quarters: those of [`crate::detail`].
const LEAST_QUARTERS: u32 = 2;
/// The frames of a new encoder that are not judged. libx264 takes memory for its references with the first
/// ones: of a keyframe and 14 frames at 1280x720, those from the third to the ninth took 21 ms of its
/// processor's time, and the others 9.
const OPENING: u32 = 10;
/// The number of pictures whose distances are known.
const OFFERS: usize = 6;

/// A frame that came out of the encoder.
#[derive(Clone, Copy, Debug)]
pub struct Coded {
    /// The time from when the encoder was given the picture until the frame was there.
    pub took: TimeDelta,
    /// The time for which the encoder had a processor in between, if it is known.
    pub processor: Option<TimeDelta>,
    /// The size of the source's picture.
    pub source: Size,
    /// The size at which it was encoded.
    pub size: Size,
    /// The step that the bitrate is worth ([`crate::detail`]).
    pub detail: Step,
    /// The work that was put in.
    pub complexity: Complexity,
    /// The bytes of the frame.
    pub bytes: Bytes,
    /// The bytes that it might have had without a bound.
    pub asked: Bytes,
    /// The mean quantiser on H.264's scale, if it is known.
    pub quantiser: Option<f64>,
}

/// The state of the rule for one stream.
#[derive(Clone, Debug)]
pub struct Load {
    /// The time between pictures of the source.
    interval: TimeDelta,
    /// Whether pixels and pictures may be left away, and not only bytes.
    adapts: bool,
    encoding: Encoding,
    viewing: Viewing,
    /// When the last pictures came.
    offers: VecDeque<Time>,
    /// The last frame's sizes and the step that the bitrate is worth.
    last: Option<(Size, Size, Step)>,
    /// The frames of this size after the first one, for which an encoder was opened.
    frames: u32,
    /// Whether an encoder is opened for the next frame, whatever its size.
    opens: bool,
    /// The mean work of a frame, for the viewer.
    work: f64,
    /// The bytes of a frame at [`FINE`], for each of its pixels.
    density: Option<f64>,
    step: Step,
    /// Since when the step holds.
    since: Time,
    most: Option<Bytes>,
    strain: Option<Strain>,
    spares_analysis: bool,
    /// Since when a better step fits.
    good_since: Option<Time>,
    /// How long it has to fit at present.
    wait: TimeDelta,
    /// When the last better step was taken.
    rose: Option<Time>,
}

impl Load {
    /// A stream with all there is to do, and `interval` between pictures. Only if it `adapts`, pixels
    /// and pictures are left away.
    #[must_use]
    pub const fn new(interval: TimeDelta, adapts: bool) -> Self {
        Self {
            interval,
            adapts,
            encoding: Encoding::new(),
            viewing: Viewing::new(),
            offers: VecDeque::new(),
            last: None,
            frames: 0,
            opens: false,
            work: 0.0,
            density: None,
            step: Step::FULL,
            since: Time::ZERO,
            most: None,
            strain: None,
            spares_analysis: false,
            good_since: None,
            wait: UP_AFTER,
            rose: None,
        }
    }

    /// The step that processor and viewer can keep up with.
    #[must_use]
    pub const fn step(&self) -> Step {
        self.step
    }

    /// The most bytes of the next frame, of those that it might have.
    #[must_use]
    pub fn budget(&self, asked: Bytes) -> Bytes {
        let least = asked.scale(LEAST);
        self.most.map_or(asked, |most| most.clamp(least, asked))
    }

    /// Whether the next frame is to have the least analysis.
    #[must_use]
    pub const fn spares_analysis(&self) -> bool {
        self.spares_analysis
    }

    /// What is spared at present, and why.
    #[must_use]
    pub fn relief(&self) -> Relief {
        let strain = self.strain.filter(|_| self.is_spared());
        Relief {
            strain,
            every: self.step.every(),
            quarters: self.step.quarters(),
            most: self.most,
            less_analysis: self.spares_analysis,
        }
    }

    fn is_spared(&self) -> bool {
        self.step != Step::FULL || self.most.is_some() || self.spares_analysis
    }

    /// Notes that the source has a picture, whether it is encoded or not.
    pub fn offered(&mut self, at: Time) {
        if self.offers.len() == OFFERS {
            self.offers.pop_front();
        }
        self.offers.push_back(at);
    }

    /// Notes that another encoder is opened for the next frame, though its size may be the same.
    pub const fn opens(&mut self) {
        self.opens = true;
    }

    /// Takes a frame from the encoder. Returns whether the step changed.
    pub fn encoded(&mut self, now: Time, frame: &Coded) -> bool {
        let pixels = frame.size.luma_len() as u64;
        let opened = std::mem::take(&mut self.opens);
        let is_same = !opened && self.last.is_some_and(|(_, size, _)| size == frame.size);
        self.frames = if is_same {
            self.frames.saturating_add(1)
        } else {
            0
        };
        let is_known = self.frames >= OPENING;
        self.last = Some((frame.source, frame.size, frame.detail));
        let done = work(pixels as f64, frame.bytes);
        if !is_same {
            self.work = done;
        }
        self.work += WEIGHT * (done - self.work);
        if is_known {
            let effort = effort(frame.complexity);
            self.encoding
                .add(frame.took, frame.processor, done * effort);
            let halvings = frame
                .quantiser
                .map_or(0.0, |quantiser| (FINE - quantiser).max(0.0) / PER_HALVING);
            let density = frame.bytes.get() as f64 * libm::exp2(-halvings) / pixels as f64;
            let mean = self.density.unwrap_or(density);
            self.density = Some(mean + WEIGHT * (density - mean));
        }
        self.spare_analysis(frame);
        let before = self.step;
        if self.adapts {
            self.judge(now);
        }
        self.bound(frame.asked, before == self.step);
        if !self.is_spared() {
            self.strain = None;
        }
        before != self.step
    }

    /// Takes what the viewer says of a frame.
    pub fn seen(&mut self, now: Time, seen: &Seen) {
        let spacing = self.spacing(self.step);
        self.viewing.seen(now, seen, spacing, self.work);
    }

    /// Takes the arrival of a frame's last packet at the viewer, by the viewer's clock.
    pub fn arrived(&mut self, at: PeerTime) {
        let spacing = self.spacing(self.step);
        self.viewing.arrived(at, spacing);
    }

    /// Notes whether anybody sees the viewer's page: a hidden one shows nothing.
    pub const fn hidden(&mut self, is_hidden: bool) {
        self.viewing.hidden(is_hidden);
    }

    /// Takes the viewer's counts since the session's start: frames that came whole, and of those the
    /// dropped ones.
    pub fn counted(&mut self, now: Time, received: u64, dropped: u64) {
        let spacing = self.spacing(self.step);
        self.viewing.counted(now, (received, dropped), spacing);
    }

    /// Less analysis, while what is put in takes too long.
    fn spare_analysis(&mut self, frame: &Coded) {
        let takes = |complexity| {
            let work = work(frame.size.luma_len() as f64, frame.bytes) * effort(complexity);
            self.encoding.rate().unwrap_or(0.0) * work
        };
        let time = self.spacing(self.step).as_secs();
        if frame.complexity > Complexity::C0 && takes(frame.complexity) > HOLD * time {
            self.spares_analysis = true;
            self.strain.get_or_insert(self.encoding.strain());
        } else if takes(Complexity::C2) <= UP * time {
            self.spares_analysis = false;
        }
    }

    /// Changes the step, if another one fits better.
    fn judge(&mut self, now: Time) {
        if !self.fits(self.step, HOLD) {
            if let Some(rose) = self.rose.take() {
                self.wait = if now.since(rose) < self.wait * TAKEN_BACK {
                    (self.wait * 2).min(MOST_WAIT)
                } else {
                    UP_AFTER
                };
            }
            self.go(now, self.fewer());
            return;
        }
        if self.step.every() > 1 && now.since(self.since) >= SETTLE {
            let more = Step::new(self.step.quarters(), self.step.every() - 1);
            let smaller = self.best(LEAST_QUARTERS, AIM);
            if !self.fits(more, AIM) && smaller.every() < self.step.every() {
                self.go(now, smaller);
                return;
            }
        }
        let better = self.best(self.step.quarters(), UP);
        if is_better(better, self.step) {
            let since = *self.good_since.get_or_insert(now);
            let is_larger = better.quarters() > self.step.quarters();
            let wait = self.wait * if is_larger { LARGER } else { 1 };
            if now.since(since) >= wait {
                self.rose = Some(now);
                self.go(now, better);
            }
        } else {
            self.good_since = None;
        }
    }

    /// The most pictures of the present size that fit; the least step if none does.
    fn fewer(&self) -> Step {
        let quarters = self.step.quarters();
        (self.step.every()..=MOST_EVERY)
            .map(|every| Step::new(quarters, every))
            .find(|step| self.fits(*step, AIM))
            .unwrap_or(Step::new(LEAST_QUARTERS, MOST_EVERY))
    }

    /// The best step with at least so many quarters that takes no more than `share` of the time.
    fn best(&self, least: u32, share: f64) -> Step {
        let sizes = |every| {
            (least..=4)
                .rev()
                .map(move |quarters| Step::new(quarters, every))
        };
        (1..=MOST_EVERY)
            .flat_map(sizes)
            .find(|step| self.fits(*step, share))
            .unwrap_or(Step::new(LEAST_QUARTERS, MOST_EVERY))
    }

    fn go(&mut self, now: Time, step: Step) {
        if step != self.step {
            if !is_better(step, self.step) || self.strain.is_none() {
                self.strain = Some(self.strained());
            }
            self.step = step;
            self.since = now;
        }
        self.good_since = None;
    }

    /// Bounds the bytes of the next frame, of the `asked` ones.
    fn bound(&mut self, asked: Bytes, same_step: bool) {
        let before = self.most.filter(|_| same_step);
        let Some(fits) = self.bytes_that_fit() else {
            self.most = None;
            return;
        };
        let most = before.map_or(fits, |before| fits.min(before.scale(RISE)));
        let bounds = match before {
            Some(_) => most < asked.scale(IDLE),
            None => most < asked && self.is_slow(),
        };
        if bounds && self.strain.is_none() {
            self.strain = Some(self.strained());
        }
        self.most = bounds.then_some(most);
    }

    /// Whether frames take more than [`BOUND`] of the time between pictures, and are not only predicted to:
    /// small frames say little about the time for large ones.
    fn is_slow(&self) -> bool {
        let most = self.spacing(self.step).scale(BOUND);
        self.encoding.time().is_some_and(|time| time > most) || self.viewing.capacity().is_some()
    }

    /// The bytes of a frame that fit into [`BOUND`] of the time between pictures, and at least those
    /// at [`FINE`]; `None` while nothing is known.
    fn bytes_that_fit(&self) -> Option<Bytes> {
        let work = self.capacity()? * BOUND * self.spacing(self.step).as_secs();
        let pixels = self.pixels(self.step)?;
        let bytes = Bytes::from_f64(((work - pixels) / PIXELS_PER_BYTE).max(0.0));
        Some(bytes.max(self.fine(pixels)))
    }

    /// The work that encoder and viewer do in a second; `None` if no limit is known.
    fn capacity(&self) -> Option<f64> {
        let encoder = self.encoding.rate().map(f64::recip);
        let viewer = self.viewing.capacity();
        match (encoder, viewer) {
            (Some(encoder), Some(viewer)) => Some(encoder.min(viewer)),
            (one, other) => one.or(other),
        }
    }

    /// What cannot keep up: the one of both that does less.
    fn strained(&self) -> Strain {
        let encoder = self.encoding.rate().map_or(f64::INFINITY, f64::recip);
        match self.viewing.capacity() {
            _ if !self.shows(self.step) => Strain::ViewerBehind,
            Some(viewer) if viewer < encoder => Strain::ViewerBehind,
            _ => self.encoding.strain(),
        }
    }

    /// Whether a frame at `step` takes at most `share` of the time between two of its pictures.
    fn fits(&self, step: Step, share: f64) -> bool {
        if !self.shows(step) {
            return false;
        }
        let (Some(capacity), Some(pixels)) = (self.capacity(), self.pixels(step)) else {
            return true;
        };
        let time = self.spacing(step).as_secs();
        work(pixels, self.fine(pixels)) <= share * capacity * time
    }

    /// Whether the viewer shows as many pictures as it gets at `step`, or gets the fewest.
    fn shows(&self, step: Step) -> bool {
        let rate = self.spacing(step).as_secs().recip();
        let shows = self.viewing.pictures().is_none_or(|shown| rate <= shown);
        shows || step.every() == MOST_EVERY
    }

    /// The bytes of a frame of so many pixels at [`FINE`].
    fn fine(&self, pixels: f64) -> Bytes {
        Bytes::from_f64(self.density.unwrap_or(0.0) * pixels)
    }

    /// The pixels of a picture at `step`, and at what the bitrate is worth.
    fn pixels(&self, step: Step) -> Option<f64> {
        let (source, _, detail) = self.last?;
        Some(step.least(detail).size(source).luma_len() as f64)
    }

    /// The time between two pictures at `step`: a source may have fewer than one an interval.
    fn spacing(&self, step: Step) -> TimeDelta {
        let detail = self.last.map_or(1, |(_, _, detail)| detail.every());
        let taken = self.interval * step.every().max(detail);
        let mut gaps: Vec<_> = self
            .offers
            .iter()
            .zip(self.offers.iter().skip(1))
            .map(|(before, after)| after.since(*before))
            .collect();
        gaps.sort_unstable();
        let offered = gaps.get(gaps.len() / 2).copied();
        taken.max(offered.unwrap_or(taken).min(self.interval * MOST_EVERY))
    }
}

/// Whether `step` has more pictures than `than`, or as many larger ones.
fn is_better(step: Step, than: Step) -> bool {
    (step.every(), than.quarters()) < (than.every(), step.quarters())
}
