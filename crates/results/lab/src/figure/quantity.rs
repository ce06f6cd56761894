//! What a claim can be about.

use serde::Deserialize;

/// What is measured. Of several flows and runs it is the mean, unless it says otherwise.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Mean frame delay in ms.
    FrameDelayMean,
    /// Its 95th percentile.
    FrameDelayP95,
    /// Its 99th.
    FrameDelayP99,
    /// The worst.
    FrameDelayMax,
    /// 95th less 5th percentile of the frame delay, in ms.
    FrameDelaySpread,
    /// Share of frames with a delay above `above`, in percent.
    Late,
    /// How often a minute a frame is above `above` after one that is not.
    Spikes,
    /// Seconds from the begin of the part until the first frame at or below `above` after
    /// the slowest; the whole part when there is none, zero when none is above.
    DrainedAfter,
    /// The same, from the slowest frame on.
    DrainTime,
    /// Mean bitrate of the frames, in Mbit/s.
    Bitrate,
    /// 99th percentile of the frames' bitrates.
    BitrateP99,
    /// Standard deviation over mean of the frames' bitrates, as the figures show them.
    BitrateVariation,
    /// What the link served of what it could have, in percent.
    Used,
    /// What arrived of the video flows, of that and what arrived of TCP, in percent.
    Share,
    /// How long the video flows' bitrates together were above what the link could carry,
    /// in means of 200 ms, in percent of the part.
    Oversent,
    /// Jain's index over the video flows' mean bitrates.
    Jain,
    /// Seconds from the begin of the part until, in two of them, the least of the video
    /// flows that are there had four fifths of the most; the whole part when never.
    EvenAfter,
    /// Mean of the estimate of the link's use less the use.
    EstimateBias,
    /// Mean size of the difference.
    EstimateError,
    /// Standard deviation of the difference.
    EstimateDeviation,
}

impl Quantity {
    /// Whether it needs the delay that counts as long.
    pub(crate) const fn needs_above(self) -> bool {
        matches!(
            self,
            Self::Late | Self::Spikes | Self::DrainedAfter | Self::DrainTime
        )
    }

    /// Whether it is about an estimate of the link's use.
    pub(crate) const fn is_estimate(self) -> bool {
        matches!(
            self,
            Self::EstimateBias | Self::EstimateError | Self::EstimateDeviation
        )
    }

    /// Its name in a table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::FrameDelayMean => "mean frame delay",
            Self::FrameDelayP95 => "p95 frame delay",
            Self::FrameDelayP99 => "p99 frame delay",
            Self::FrameDelayMax => "worst frame delay",
            Self::FrameDelaySpread => "p95 less p5 of the frame delay",
            Self::Late => "late frames",
            Self::Spikes => "spikes a minute",
            Self::DrainedAfter => "drained after",
            Self::DrainTime => "drained after its peak",
            Self::Bitrate => "bitrate",
            Self::BitrateP99 => "p99 bitrate",
            Self::BitrateVariation => "variation of the bitrate",
            Self::Used => "link used",
            Self::Share => "share beside TCP",
            Self::Oversent => "time above the link's rate",
            Self::Jain => "Jain's index",
            Self::EvenAfter => "even after",
            Self::EstimateBias => "bias of the estimate",
            Self::EstimateError => "mean error of the estimate",
            Self::EstimateDeviation => "deviation of the estimate",
        }
    }

    /// A value with its unit.
    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Self::FrameDelayMean
            | Self::FrameDelayP95
            | Self::FrameDelayP99
            | Self::FrameDelayMax
            | Self::FrameDelaySpread => format!("{value:.1} ms"),
            Self::Late | Self::Used | Self::Share | Self::Oversent => format!("{value:.1} %"),
            Self::Spikes => format!("{value:.1}"),
            Self::DrainedAfter | Self::DrainTime | Self::EvenAfter => format!("{value:.2} s"),
            Self::Bitrate | Self::BitrateP99 => format!("{value:.2} Mbit/s"),
            Self::BitrateVariation
            | Self::Jain
            | Self::EstimateBias
            | Self::EstimateError
            | Self::EstimateDeviation => format!("{value:.3}"),
        }
    }
}
