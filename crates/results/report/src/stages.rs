//! The stages of frames from the capture to the screen.

use mimosa_facts::{SessionFrame, Stages};
use mimosa_units::{TimeDelta, nearest_rank, nearest_rank_index};
use serde::Serialize;

use crate::spread::{mean, sorted};

/// The stages from the capture to the screen in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StageMillis {
    /// Time from the capture to the beginning of encoding.
    pub capture: f64,
    /// Duration of encoding.
    pub encode: f64,
    /// Time from the end of encoding until the last packet left.
    pub pace: f64,
    /// Time from the departure of the last packet to its arrival.
    pub network: f64,
    /// Duration of decoding.
    pub decode: f64,
    /// Time from the end of decoding until the frame was on the screen.
    pub present: f64,
    /// Time from the capture to the screen.
    pub total: f64,
}

/// The stages for typical and slow frames.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StageShares {
    /// Number of frames whose stages are all known.
    pub frames: usize,
    /// The stages for frames with a total near the median: means over the twentieth of the frames
    /// around it, which add up.
    pub typical: StageMillis,
    /// The stages for frames with a total near the 95th percentile: means over the twentieth of the
    /// frames around it, which add up.
    pub slow: StageMillis,
    /// The median of each stage by itself.
    pub p50: StageMillis,
    /// The 95th percentile of each stage by itself.
    pub p95: StageMillis,
}

impl StageMillis {
    /// Names of the stages.
    pub(crate) const NAMES: [&'static str; 6] =
        ["capture", "encode", "pace", "network", "decode", "present"];

    /// The stages without the total.
    pub(crate) const fn parts(&self) -> [f64; 6] {
        [
            self.capture,
            self.encode,
            self.pace,
            self.network,
            self.decode,
            self.present,
        ]
    }

    /// The `value` of each stage's times.
    fn each(
        stages: &[Stages],
        value: impl Fn(&mut dyn Iterator<Item = f64>) -> Option<f64>,
    ) -> Option<Self> {
        let of = |stage: fn(&Stages) -> TimeDelta| {
            value(&mut stages.iter().map(|stages| stage(stages).as_millis()))
        };
        Some(Self {
            capture: of(|stages| stages.capture)?,
            encode: of(|stages| stages.encode)?,
            pace: of(|stages| stages.pace)?,
            network: of(|stages| stages.network)?,
            decode: of(|stages| stages.decode)?,
            present: of(|stages| stages.present)?,
            total: of(|stages| stages.total)?,
        })
    }

    /// The median of each stage by itself.
    pub(crate) fn medians(stages: &[Stages]) -> Option<Self> {
        Self::each(stages, |values| nearest_rank(&sorted(values), 0.5))
    }
}

impl StageShares {
    /// The stages of `frames`; `None` if no frame's stages are known.
    pub(crate) fn of(frames: &[SessionFrame]) -> Option<Self> {
        let mut stages: Vec<_> = frames.iter().filter_map(SessionFrame::stages).collect();
        stages.sort_by_key(|stages| stages.total);
        let about = |share| StageMillis::each(around(&stages, share), |values| mean(values));
        Some(Self {
            frames: stages.len(),
            typical: about(0.50)?,
            slow: about(0.95)?,
            p50: StageMillis::medians(&stages)?,
            p95: StageMillis::each(&stages, |values| nearest_rank(&sorted(values), 0.95))?,
        })
    }
}

/// The twentieth of `sorted` around the one at `share`, which has at least that one.
fn around(sorted: &[Stages], share: f64) -> &[Stages] {
    let (middle, half) = (nearest_rank_index(sorted.len(), share), sorted.len() / 40);
    let end = (middle + half + 1).min(sorted.len());
    sorted
        .get(middle.saturating_sub(half)..end)
        .unwrap_or_default()
}
