//! Where the frames' time went.

use mimosa_facts::{SessionFrame, Stages};
use mimosa_units::{TimeDelta, nearest_rank, nearest_rank_index};
use serde::Serialize;

use crate::spread::{mean, sorted};

/// The stages from the capture to the screen in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StageMillis {
    /// From the capture to the beginning of encoding.
    pub capture: f64,
    /// Encoding.
    pub encode: f64,
    /// Until the last packet has left.
    pub pace: f64,
    /// Until the last packet has arrived.
    pub network: f64,
    /// Decoding.
    pub decode: f64,
    /// Until it is on the screen.
    pub present: f64,
    /// From the capture to the screen.
    pub total: f64,
}

/// What the stages are in frames of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StageShares {
    /// Frames whose stages are all known.
    pub frames: usize,
    /// In frames whose total is about the median: means over the twentieth of the
    /// frames around it, which add up.
    pub typical: StageMillis,
    /// In frames whose total is about the 95th percentile: means over the twentieth
    /// of the frames around it, which add up.
    pub slow: StageMillis,
    /// The median of each stage by itself.
    pub p50: StageMillis,
    /// The 95th percentile of each stage by itself.
    pub p95: StageMillis,
}

impl StageMillis {
    /// The stages' names.
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

    /// What `value` makes of each stage's values.
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

    /// Each stage's own median.
    pub(crate) fn medians(stages: &[Stages]) -> Option<Self> {
        Self::each(stages, |values| nearest_rank(&sorted(values), 0.5))
    }
}

impl StageShares {
    /// Those of `frames`; `None` when no frame's stages are known.
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

/// The twentieth of `sorted` around the one at `share`, or that one alone.
fn around(sorted: &[Stages], share: f64) -> &[Stages] {
    let (middle, half) = (nearest_rank_index(sorted.len(), share), sorted.len() / 40);
    let end = (middle + half + 1).min(sorted.len());
    sorted
        .get(middle.saturating_sub(half)..end)
        .unwrap_or_default()
}
