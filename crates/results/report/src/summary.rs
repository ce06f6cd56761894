//! The numbers of a session.

use mimosa_facts::{FrameEnd, SessionFrame};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};
use serde::Serialize;

use crate::causes::{CauseShare, causes};
use crate::sound::Sound;
use crate::spread::{Spread, mean};
use crate::stages::StageShares;

/// Frame delay above which a frame is a stall.
pub(crate) const STALL: TimeDelta = TimeDelta::from_millis(100);
/// Time between pictures above which the picture counts as frozen.
pub(crate) const FREEZE: TimeDelta = TimeDelta::from_millis(200);

/// The numbers of a session. What is unknown is `None`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Frames that were sent.
    pub frames: usize,
    /// Time from the first capture until the frame after the last would be due, in seconds.
    pub seconds: f64,
    /// Rate of first transmissions, in Mbit/s.
    pub bitrate_mbps: Option<f64>,
    /// Mean target of the frames with a finite one, in Mbit/s.
    pub target_mbps: Option<f64>,
    /// Mean utilisation of the bottleneck in the controller's estimate, as a share.
    pub utilization: Option<f64>,
    /// Time from the hand-over to the acknowledgement, in milliseconds.
    pub frame_delay_ms: Option<Spread>,
    /// Number of frames that were given up or had a delay above 100 ms.
    pub stalls: usize,
    /// Number of frames that were given up.
    pub given_up: usize,
    /// Numbers of frames above the delays that were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<Above>,
    /// Times at which the picture was frozen.
    pub freezes: Option<Freezes>,
    /// Packets declared lost, as a share of all packets sent, from 0 to 1.
    pub loss: Option<f64>,
    /// Number of packets declared lost.
    pub lost: u64,
    /// Number of packets sent again.
    pub retransmitted: u64,
    /// Number of keyframes.
    pub keyframes: usize,
    /// Numbers of the encoder.
    pub encoder: Option<Encoder>,
    /// Sizes of coded frames as shares of their budgets.
    pub budget_use: Option<BudgetUse>,
    /// The stages between capture and screen, in milliseconds.
    pub stages_ms: Option<StageShares>,
    /// Time from the capture to the end of encoding, in milliseconds.
    pub to_bitstream_ms: Option<Spread>,
    /// Time from the capture to the departure of the last packet, in milliseconds.
    pub to_last_packet_ms: Option<Spread>,
    /// Time from the capture to the screen, in milliseconds.
    pub to_screen_ms: Option<Spread>,
    /// Time from the capture to the screen for frames that were the first to show an action of the
    /// player, in milliseconds.
    pub input_to_screen_ms: Option<Spread>,
    /// Time from the newest action of the player that a frame was the first to show until that frame was
    /// on the screen, in milliseconds; left out of JSON if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action_to_screen_ms: Option<Spread>,
    /// Numbers of the sound; left out of JSON if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sound: Option<Sound>,
    /// The causes of targets and limits, the most frequent first.
    pub causes: Vec<CauseShare>,
}

/// Frames with more than this delay, including those that were given up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Above {
    /// The delay, in milliseconds.
    pub ms: f64,
    /// Number of frames.
    pub frames: usize,
    /// Share of all frames, from 0 to 1.
    pub share: f64,
}

/// Times at which the picture was frozen: it stood still for more than 200 ms although there was a
/// new one. Pauses of the source do not count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Freezes {
    /// Number of freezes.
    pub count: usize,
    /// Length of all freezes, in seconds.
    pub seconds: f64,
    /// Longest time between two pictures on the screen, in milliseconds.
    pub longest_gap_ms: f64,
}

/// The numbers of the encoder.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Encoder {
    /// Time to encode a frame, in milliseconds.
    pub time_ms: Spread,
    /// Number of frames that took more than one attempt.
    pub repeated: usize,
    /// Number of frames above the lowest complexity level.
    pub more_work: usize,
    /// Mean quantiser.
    pub quantiser: Option<f64>,
}

/// Sizes of coded frames as shares of their budgets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BudgetUse {
    /// Mean share.
    pub mean: f64,
    /// Largest share.
    pub max: f64,
    /// Number of frames above their budget.
    pub above: usize,
}

impl Summary {
    /// The numbers of `frames`, which are in the order of their capture.
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
    /// The number of `frames` above the delay `limit`. A frame that is still on its way has no
    /// delay, and does not count.
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
    /// When the second picture came.
    pub(crate) end: Time,
    /// Length of the gap.
    pub(crate) length: TimeDelta,
    /// How much of the gap the source paused.
    paused: TimeDelta,
}

impl Gap {
    /// Whether the picture was frozen although there was a new one.
    pub(crate) fn is_freeze(&self) -> bool {
        self.length - self.paused > FREEZE
    }
}

/// The gaps between the pictures of `frames` on the screen. A frame that was displayed after a
/// later one does not count.
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

/// Time from the first capture until the frame after the last would be due.
fn duration(frames: &[SessionFrame]) -> TimeDelta {
    match (frames.first(), frames.last()) {
        (Some(first), Some(last)) => last.captured.since(first.captured) + last.life.interval,
        _ => TimeDelta::ZERO,
    }
}

/// The mean target of those `frames` with a finite one, in Mbit/s.
pub(crate) fn target<'a>(frames: impl Iterator<Item = &'a SessionFrame>) -> Option<f64> {
    mean(frames.filter_map(target_mbps))
}

/// The target in Mbit/s; `None` if it has no limit.
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
