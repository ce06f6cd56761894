//! A session in numbers.

use mimosa_facts::{FrameEnd, SessionFrame};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};
use serde::Serialize;

use crate::causes::{CauseShare, causes};
use crate::sound::Sound;
use crate::spread::{Spread, mean};
use crate::stages::StageShares;

/// A frame delay above this is a stall.
pub(crate) const STALL: TimeDelta = TimeDelta::from_millis(100);
/// A picture that stands for longer than this is a freeze.
pub(crate) const FREEZE: TimeDelta = TimeDelta::from_millis(200);

/// A session in numbers. What nothing is known about is `None`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Frames that were sent.
    pub frames: usize,
    /// From the first capture to the end of the last frame, in seconds.
    pub seconds: f64,
    /// What was sent for the first time, in Mbit/s.
    pub bitrate_mbps: Option<f64>,
    /// Mean target, in Mbit/s; without the time in which there was none.
    pub target_mbps: Option<f64>,
    /// Mean utilisation of the bottleneck's bandwidth, as the controller sees
    /// it.
    pub utilization: Option<f64>,
    /// From the hand-over to the acknowledgement, in milliseconds.
    pub frame_delay_ms: Option<Spread>,
    /// Frames given up, and those with a delay above 100 ms.
    pub stalls: usize,
    /// Frames given up.
    pub given_up: usize,
    /// Frames above the delays that were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<Above>,
    /// When the picture stood still.
    pub freezes: Option<Freezes>,
    /// Packets declared lost, as a share of all that were sent.
    pub loss: Option<f64>,
    /// Packets declared lost.
    pub lost: u64,
    /// Packets sent again.
    pub retransmitted: u64,
    /// Frames that can be decoded without others.
    pub keyframes: usize,
    /// The encoder's work.
    pub encoder: Option<Encoder>,
    /// The coded frames' sizes as shares of their budgets.
    pub budget_use: Option<BudgetUse>,
    /// Where the time between capture and screen went.
    pub stages_ms: Option<StageShares>,
    /// From the capture to the end of encoding, in milliseconds.
    pub to_bitstream_ms: Option<Spread>,
    /// From the capture to the departure of the last packet, in milliseconds.
    pub to_last_packet_ms: Option<Spread>,
    /// From the capture to the screen, in milliseconds.
    pub to_screen_ms: Option<Spread>,
    /// The same of the frames that were the first to show an action of the
    /// player.
    pub input_to_screen_ms: Option<Spread>,
    /// From the newest action of the player that a frame was the first to show until it
    /// was on the screen; left out of JSON where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action_to_screen_ms: Option<Spread>,
    /// The sound; left out of JSON where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sound: Option<Sound>,
    /// What set the targets and limits, the most frequent first.
    pub causes: Vec<CauseShare>,
}

/// The frames with more than this delay, those given up among them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Above {
    /// The delay, in milliseconds.
    pub ms: f64,
    /// How many.
    pub frames: usize,
    /// Their share of all frames.
    pub share: f64,
}

/// When the picture stood still for more than 200 ms although there was a new
/// one: pauses of the source are taken off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Freezes {
    /// How often.
    pub count: usize,
    /// How long in all, in seconds.
    pub seconds: f64,
    /// The longest time between two pictures on the screen, in milliseconds.
    pub longest_gap_ms: f64,
}

/// The encoder's work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Encoder {
    /// Time to encode a frame, in milliseconds.
    pub time_ms: Spread,
    /// Frames that took more than one attempt.
    pub repeated: usize,
    /// Frames that more than the least work went into.
    pub more_work: usize,
    /// Mean quantiser.
    pub quantiser: Option<f64>,
}

/// The coded frames' sizes as shares of their budgets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BudgetUse {
    /// Their mean.
    pub mean: f64,
    /// The largest.
    pub max: f64,
    /// Frames above their budget.
    pub above: usize,
}

impl Summary {
    /// That of `frames`, which are in the order of their capture.
    pub(crate) fn of(frames: &[SessionFrame]) -> Self {
        let seconds = duration(frames).as_secs();
        let sent: Bytes = frames.iter().map(|frame| frame.life.size).sum();
        let sum = |value: fn(&SessionFrame) -> u32| -> u64 {
            frames.iter().map(|frame| u64::from(value(frame))).sum()
        };
        let lost = sum(|frame| frame.life.lost);
        let retransmitted = sum(|frame| frame.life.retransmitted);
        let packets = sum(|frame| frame.life.packets) + retransmitted;
        let number =
            |is: fn(&SessionFrame) -> bool| frames.iter().filter(|frame| is(frame)).count();
        let given_up = number(|frame| frame.life.end == Some(FrameEnd::GivenUp));
        let late = number(|frame| frame.life.delay().is_some_and(|delay| delay > STALL));
        Self {
            frames: frames.len(),
            seconds,
            bitrate_mbps: (seconds > 0.0).then(|| sent.bits() as f64 / seconds / 1e6),
            target_mbps: target(frames.iter()),
            utilization: mean(
                frames
                    .iter()
                    .filter_map(|frame| frame.life.decision.evidence.utilization),
            ),
            frame_delay_ms: Spread::of(frames.iter().filter_map(delay_ms)),
            stalls: given_up + late,
            given_up,
            above: Vec::new(),
            freezes: Freezes::of(frames),
            loss: (packets > 0).then(|| lost as f64 / packets as f64),
            lost,
            retransmitted,
            keyframes: number(|frame| frame.is_keyframe),
            encoder: Encoder::of(frames),
            budget_use: BudgetUse::of(frames),
            stages_ms: StageShares::of(frames),
            to_bitstream_ms: Spread::of(frames.iter().map(to_bitstream_ms)),
            to_last_packet_ms: Spread::of(frames.iter().filter_map(to_last_packet_ms)),
            to_screen_ms: Spread::of(frames.iter().filter_map(to_screen_ms)),
            input_to_screen_ms: Spread::of(input_to_screen_ms(frames)),
            action_to_screen_ms: Spread::of(action_to_screen_ms(frames)),
            sound: Sound::of(frames),
            causes: causes(frames),
        }
    }
}

impl Above {
    /// Those of `frames`; a frame that is still on its way has no delay and is not one.
    pub(crate) fn of(frames: &[SessionFrame], limit: TimeDelta) -> Self {
        let is_above = |frame: &&SessionFrame| {
            frame.life.end == Some(FrameEnd::GivenUp)
                || frame.life.delay().is_some_and(|delay| delay > limit)
        };
        let above = frames.iter().filter(is_above).count();
        Self {
            ms: limit.as_millis(),
            frames: above,
            share: above as f64 / frames.len().max(1) as f64,
        }
    }
}

impl Freezes {
    fn of(frames: &[SessionFrame]) -> Option<Self> {
        let gaps = gaps(frames);
        let longest = gaps.iter().map(|gap| gap.length).max()?;
        let freezes = || gaps.iter().filter(|gap| gap.is_freeze());
        Some(Self {
            count: freezes().count(),
            seconds: freezes()
                .fold(TimeDelta::ZERO, |sum, gap| sum + gap.length)
                .as_secs(),
            longest_gap_ms: longest.as_millis(),
        })
    }
}

/// The time between two pictures on the screen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    /// When it ended.
    pub(crate) end: Time,
    /// How long it was.
    pub(crate) length: TimeDelta,
    /// How much of it the source paused.
    paused: TimeDelta,
}

impl Gap {
    /// Whether the picture stood still although there was a new one.
    pub(crate) fn is_freeze(&self) -> bool {
        self.length - self.paused > FREEZE
    }
}

/// The gaps between the pictures of `frames` on the screen. A frame that comes
/// after a later one does not count.
pub(crate) fn gaps(frames: &[SessionFrame]) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut before: Option<Time> = None;
    let mut paused = TimeDelta::ZERO;
    let mut captured: Option<&SessionFrame> = None;
    for frame in frames {
        if let Some(last) = captured {
            let pause = frame.captured.since(last.captured) - last.life.interval;
            paused = paused.max(pause);
        }
        captured = Some(frame);
        let Some(end) = frame.shown else { continue };
        match before {
            Some(start) if end < start => continue,
            Some(start) => gaps.push(Gap {
                end,
                length: end.since(start),
                paused,
            }),
            None => {}
        }
        before = Some(end);
        paused = TimeDelta::ZERO;
    }
    gaps
}

impl Encoder {
    fn of(frames: &[SessionFrame]) -> Option<Self> {
        Some(Self {
            time_ms: Spread::of(frames.iter().map(encoding_ms))?,
            repeated: frames.iter().filter(|frame| frame.attempts > 1).count(),
            more_work: frames
                .iter()
                .filter(|frame| frame.plan.is_more_work())
                .count(),
            quantiser: mean(
                frames
                    .iter()
                    .filter_map(|frame| frame.quantiser.map(f64::from)),
            ),
        })
    }
}

impl BudgetUse {
    fn of(frames: &[SessionFrame]) -> Option<Self> {
        let uses: Vec<_> = frames
            .iter()
            .filter(|frame| frame.budget > Bytes::ZERO)
            .map(|frame| frame.coded.get() as f64 / frame.budget.get() as f64)
            .collect();
        Some(Self {
            mean: mean(uses.iter().copied())?,
            max: uses.iter().copied().reduce(f64::max)?,
            above: uses.iter().filter(|share| **share > 1.0).count(),
        })
    }
}

/// From the first capture to where the frame after the last would be due.
fn duration(frames: &[SessionFrame]) -> TimeDelta {
    match (frames.first(), frames.last()) {
        (Some(first), Some(last)) => last.captured.since(first.captured) + last.life.interval,
        _ => TimeDelta::ZERO,
    }
}

/// The mean target of those `frames` that have one.
pub(crate) fn target<'a>(frames: impl Iterator<Item = &'a SessionFrame>) -> Option<f64> {
    mean(frames.filter_map(target_mbps))
}

/// `None` where there is no limit.
pub(crate) fn target_mbps(frame: &SessionFrame) -> Option<f64> {
    let target = frame.life.decision.target;
    (target < Rate::MAX).then(|| target.as_mbps())
}

pub(crate) fn delay_ms(frame: &SessionFrame) -> Option<f64> {
    frame.life.delay().map(TimeDelta::as_millis)
}

pub(crate) fn encoding_ms(frame: &SessionFrame) -> f64 {
    (frame.encode_ended - frame.encode_begun).as_millis()
}

fn to_bitstream_ms(frame: &SessionFrame) -> f64 {
    (frame.encode_ended - frame.captured).as_millis()
}

fn to_last_packet_ms(frame: &SessionFrame) -> Option<f64> {
    Some((frame.life.last_sent? - frame.captured).as_millis())
}

pub(crate) fn to_screen_ms(frame: &SessionFrame) -> Option<f64> {
    Some((frame.shown? - frame.captured).as_millis())
}

pub(crate) fn input_to_screen_ms(frames: &[SessionFrame]) -> impl Iterator<Item = f64> {
    let after_input = frames.iter().filter(|frame| frame.inputs > 0);
    after_input.filter_map(to_screen_ms)
}

pub(crate) fn action_to_screen_ms(frames: &[SessionFrame]) -> impl Iterator<Item = f64> {
    frames.iter().filter_map(|frame| {
        let made = frame.newest_input?.made?;
        Some((frame.shown? - made).as_millis())
    })
}
