//! The rule over models of an encoder and of a viewer, in virtual time.

mod viewer;

use mimosa_facts::{Complexity, Strain};
use mimosa_units::random::SplitMix;
use mimosa_units::{Bytes, Time, TimeDelta};

use super::*;

const FULL: &str = "1280x720";
/// 20 Mbit/s at 60 frames a second.
const GRANT: Bytes = Bytes::new(41_666);
const INTERVAL: TimeDelta = TimeDelta::from_nanos(16_666_667);
/// The time for the pixels of 1280x720, and for the bytes of [`GRANT`]: libx264's on the machine of
/// `docs/how-it-works/load.md`.
const PIXELS: f64 = 4e-3;
const BYTES: f64 = 3.2e-3;
/// The time to open an encoder, and to take memory with each of its first frames.
const OPENS: TimeDelta = TimeDelta::from_millis(20);
const TAKES_MEMORY: TimeDelta = TimeDelta::from_millis(10);

/// A frame as it left the encoder.
#[derive(Clone, Copy, Debug)]
struct Frame {
    captured: Time,
    begun: Time,
    ended: Time,
    bytes: Bytes,
    size: Size,
}

/// A source, an encoder whose time follows a script, and what a session does between them.
struct World {
    load: Load,
    random: SplitMix,
    now: Time,
    /// The time between the source's pictures.
    every: TimeDelta,
    /// The part of its time for which the encoder has a processor.
    share: f64,
    complexity: Complexity,
    quantiser_at_grant: f64,
    /// Whether the encoder states that quantiser whatever it does.
    is_stubborn: bool,
    size: Option<Size>,
    /// The frames for which the encoder still takes memory.
    young: u32,
    started: Option<Time>,
    frames: Vec<Frame>,
    /// The changes of the step.
    changes: usize,
    free: Time,
    waiting: Option<Time>,
}

impl World {
    fn new(adapts: bool) -> Self {
        Self {
            load: Load::new(INTERVAL, adapts),
            random: SplitMix::new(1),
            now: Time::ZERO,
            every: INTERVAL,
            share: 1.0,
            complexity: Complexity::C0,
            quantiser_at_grant: 17.0,
            is_stubborn: false,
            size: None,
            young: 0,
            started: None,
            frames: Vec::new(),
            changes: 0,
            free: Time::ZERO,
            waiting: None,
        }
    }

    /// Runs with an encoder that takes `slow` times as long, by the time and the step.
    fn run(&mut self, seconds: f64, mut slow: impl FnMut(f64, Step) -> f64) -> Vec<Frame> {
        let begun = self.now;
        let first = self.frames.len();
        while self.now.since(begun).as_secs() < seconds {
            let at = self.now;
            let mut slow = |load: &Load| slow(at.since(begun).as_secs(), load.step());
            if let Some(picture) = self.waiting.filter(|_| self.free <= at) {
                self.waiting = None;
                let free = self.free;
                self.encode(free.max(picture), picture, &mut slow);
            }
            self.load.offered(at);
            let taken = INTERVAL * self.load.step().every();
            let is_early = self
                .started
                .is_some_and(|started| at.since(started) + taken / 4 < taken);
            if !is_early {
                if self.free <= at {
                    self.encode(at, at, &mut slow);
                } else {
                    self.waiting = Some(at);
                }
            }
            self.now = at + self.every;
        }
        self.frames[first..].to_vec()
    }

    fn encode(&mut self, begun: Time, captured: Time, slow: &mut impl FnMut(&Load) -> f64) {
        self.started = Some(captured);
        let full: Size = FULL.parse().unwrap();
        let size = self.load.step().size(full);
        let bytes = self.load.budget(GRANT);
        let complexity = if self.load.spares_analysis() {
            Complexity::C0
        } else {
            self.complexity
        };
        let pixels = size.luma_len() as f64 / full.luma_len() as f64;
        let share = bytes.get() as f64 / GRANT.get() as f64;
        let noise = 0.9 + 0.2 * self.random.uniform();
        let seconds =
            (PIXELS * pixels + BYTES * share) * effort(complexity) * noise * slow(&self.load);
        let mut took = TimeDelta::from_secs(seconds);
        self.young = if self.size.replace(size) == Some(size) {
            self.young.saturating_sub(1)
        } else {
            took += OPENS;
            9
        };
        if self.young > 0 {
            took += TAKES_MEMORY;
        }
        let ended = begun + took;
        self.free = ended;
        self.frames.push(Frame {
            captured,
            begun,
            ended,
            bytes,
            size,
        });
        let coarser = if self.is_stubborn {
            0.0
        } else {
            6.0 * libm::log2(share / pixels)
        };
        let coded = Coded {
            took,
            processor: Some(took.scale(self.share)),
            source: full,
            size,
            detail: Step::FULL,
            complexity,
            bytes,
            asked: GRANT,
            quantiser: Some(self.quantiser_at_grant - coarser),
        };
        self.changes += usize::from(self.load.encoded(ended, &coded));
    }

    fn picture(&self) -> String {
        self.load.step().size(FULL.parse().unwrap()).to_string()
    }
}

fn rate(frames: &[Frame], seconds: f64) -> f64 {
    frames.len() as f64 / seconds
}

/// The longest time between two frames that follow each other, in milliseconds.
fn longest_gap(frames: &[Frame]) -> f64 {
    let gaps = frames
        .windows(2)
        .map(|two| two[1].ended.since(two[0].ended));
    gaps.max().unwrap().as_millis()
}

/// How long pictures waited for the encoder in the mean, in milliseconds.
fn mean_wait(frames: &[Frame]) -> f64 {
    let waits = frames.iter().map(|frame| frame.begun.since(frame.captured));
    waits.map(TimeDelta::as_millis).sum::<f64>() / frames.len() as f64
}

fn after(frames: &[Frame], from: f64) -> Vec<Frame> {
    let begun = frames[0].captured;
    let is_after = |frame: &&Frame| frame.captured.since(begun).as_secs() >= from;
    frames.iter().filter(is_after).copied().collect()
}

#[test]
fn with_time_enough_nothing_is_spared() {
    // 7 and 13 ms of 16.7.
    for slow in [1.0, 1.8] {
        let mut world = World::new(true);
        let frames = world.run(60.0, |_, _| slow);
        assert!(rate(&frames, 60.0) > 59.9);
        assert_eq!(world.load.relief(), Relief::NONE, "{slow}");
        assert!(frames.iter().all(|frame| frame.bytes == GRANT), "{slow}");
        assert_eq!(world.changes, 0);
    }
}

#[test]
fn another_encoder_for_the_same_size_is_no_strain() {
    for is_told in [true, false] {
        let mut world = World::new(true);
        world.run(2.0, |_, _| 1.0);
        // The model opens another one.
        world.size = None;
        if is_told {
            world.load.opens();
        }
        world.run(0.3, |_, _| 1.0);
        let is_spared = world.load.relief() != Relief::NONE;
        assert_eq!(is_spared, !is_told);
    }
}

#[test]
fn spikes_of_two_frames_change_nothing() {
    let mut world = World::new(true);
    let mut number = 0;
    let frames = world.run(30.0, |_, _| {
        number += 1;
        if number % 20 < 2 { 5.0 } else { 1.0 }
    });
    assert!(longest_gap(&frames) > 40.0, "the spikes were there");
    assert!(frames.iter().all(|frame| frame.bytes == GRANT));
    assert_eq!(world.changes, 0);
}

#[test]
fn a_step_to_four_times_is_answered_within_four_frames() {
    let mut world = World::new(true);
    world.run(5.0, |_, _| 1.0);
    let frames = world.run(10.0, |_, _| 4.0);
    assert_eq!(world.load.relief().strain, Some(Strain::EncoderAtLimit));
    let answered = frames.iter().position(|frame| frame.bytes < GRANT).unwrap();
    assert!((2..=4).contains(&answered), "{answered}");
    // Every other picture at once, and after a second all of them, smaller.
    let first: Vec<_> = frames[7..30].to_vec();
    assert!(first.iter().all(|frame| frame.size.to_string() == FULL));
    for two in first.windows(2) {
        assert_eq!(two[1].captured.since(two[0].captured), INTERVAL * 2);
    }
    assert!(mean_wait(&first) < 0.1, "nothing queues");
    let then = after(&frames, 1.5);
    assert!(rate(&then, 8.5) > 59.0, "{}", rate(&then, 8.5));
    assert_eq!(world.picture(), "960x540");
    assert!(mean_wait(&then) < 0.5 && longest_gap(&then) < 25.0);
    assert_eq!(world.changes, 2);
    // And back, neither at once nor never.
    let back = world.run(1.9, |_, _| 1.0);
    assert!(back.iter().all(|frame| frame.size.to_string() == "960x540"));
    world.run(8.0, |_, _| 1.0);
    assert_eq!(world.load.relief(), Relief::NONE);
    assert_eq!(world.changes, 3);
}

#[test]
fn a_step_to_two_and_a_half_times_costs_bytes_alone() {
    let mut world = World::new(true);
    world.run(5.0, |_, _| 1.0);
    let frames = world.run(10.0, |_, _| 2.5);
    let then = after(&frames, 0.3);
    assert!(rate(&then, 9.7) > 59.5, "{}", rate(&then, 9.7));
    assert!(mean_wait(&then) < 1.0 && longest_gap(&then) < 22.0);
    assert_eq!(world.changes, 0);
}

#[test]
fn a_slow_drift_costs_bytes_and_no_picture() {
    let mut world = World::new(true);
    let frames = world.run(20.0, |at, _| 1.0 + 1.2 * at / 20.0);
    assert!(rate(&frames, 20.0) > 59.5, "{}", rate(&frames, 20.0));
    assert!(longest_gap(&frames) < 22.0);
    assert_eq!(world.changes, 0);
    // 2.2 * 4 ms for the pixels leave 5.4 of 14.2 ms for the bytes, which take 7.0.
    let last: Bytes = frames[frames.len() - 60..]
        .iter()
        .map(|frame| frame.bytes)
        .sum();
    let share = last.get() as f64 / 60.0 / GRANT.get() as f64;
    assert!((0.65..0.85).contains(&share), "{share}");
    let back = world.run(3.0, |_, _| 1.0);
    let risen = back.iter().position(|frame| frame.bytes == GRANT).unwrap();
    assert!((20..120).contains(&risen), "{risen} frames");
}

#[test]
fn bytes_that_a_picture_needs_are_kept() {
    let mut world = World::new(true);
    world.quantiser_at_grant = 30.0;
    let frames = world.run(10.0, |_, _| 2.5);
    let full = frames.iter().filter(|frame| frame.size.to_string() == FULL);
    assert!(full.clone().count() > 20);
    assert!(full.clone().all(|frame| frame.bytes == GRANT));
    assert!(world.changes > 0, "pictures and pixels go instead");
}

#[test]
fn an_encoder_far_too_slow_makes_no_queue() {
    let mut world = World::new(true);
    let frames = world.run(10.0, |_, _| 12.0);
    let then = after(&frames, 3.0);
    assert!(mean_wait(&then) < 1.0, "{}", mean_wait(&then));
    let rate = rate(&then, 7.0);
    assert!((14.0..40.0).contains(&rate), "{rate}");
}

#[test]
fn what_is_taken_back_waits_longer_each_time() {
    // Other work comes whenever all pictures are encoded.
    let mut world = World::new(true);
    world.quantiser_at_grant = 30.0;
    let slow = |_, step: Step| if step == Step::FULL { 3.0 } else { 0.8 };
    world.run(10.0, slow);
    let first = world.changes;
    world.run(110.0, slow);
    let later = (world.changes - first) as f64 / 11.0;
    assert!(first >= 3, "{first}");
    assert!(
        (0.3..0.6 * first as f64).contains(&later),
        "{first} {later}"
    );
}

#[test]
fn a_source_with_few_pictures_leaves_time() {
    let mut world = World::new(true);
    world.every = INTERVAL * 4;
    let frames = world.run(20.0, |_, _| 5.0);
    assert!(rate(&frames, 20.0) > 14.9);
    assert!(frames.iter().all(|frame| frame.bytes == GRANT));
    assert_eq!(world.changes, 0);
}

#[test]
fn without_leave_to_adapt_only_bytes_are_spared() {
    let mut world = World::new(false);
    let frames = world.run(10.0, |_, _| 3.0);
    assert_eq!(world.changes, 0);
    assert!(frames.iter().all(|frame| frame.size.to_string() == FULL));
    assert!(frames.last().unwrap().bytes < GRANT.scale(0.4));
}

#[test]
fn a_quantiser_that_never_moves_starves_no_frame() {
    let mut world = World::new(false);
    world.is_stubborn = true;
    let frames = world.run(20.0, |_, _| 5.0);
    let least = frames.iter().map(|frame| frame.bytes).min().unwrap();
    assert_eq!(least, GRANT.scale(LEAST));
}

#[test]
fn analysis_is_spared_before_anything_else() {
    let mut world = World::new(true);
    world.complexity = Complexity::C1;
    let frames = world.run(10.0, |_, _| 1.2);
    assert!(world.load.spares_analysis());
    assert!(world.load.relief().less_analysis);
    assert_eq!(world.changes, 0);
    assert!(frames.iter().all(|frame| frame.bytes == GRANT));
    assert!(mean_wait(&after(&frames, 1.0)) < 0.5);
    world.run(3.0, |_, _| 0.4);
    assert!(!world.load.spares_analysis());
}

#[test]
fn other_work_and_a_slow_encoder_are_told_apart() {
    for (share, strain) in [
        (0.4, Strain::ProcessorTaken),
        (0.98, Strain::EncoderAtLimit),
    ] {
        let mut world = World::new(true);
        world.run(5.0, |_, _| 1.0);
        world.share = share;
        world.run(0.1, |_, _| 4.0);
        assert_eq!(world.load.relief().strain, Some(strain));
    }
}
