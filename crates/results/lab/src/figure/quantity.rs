//! The quantities that claims can be about.

use serde::Deserialize;

/// The flows whose packets a quantity is about.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Class {
    /// Video flows.
    #[default]
    Video,
    /// TCP flows.
    Tcp,
}

/// A quantity. Over several flows and runs it is the mean, unless its description says otherwise.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Mean frame delay in ms.
    FrameDelayMean,
    /// 95th percentile of the frame delay in ms.
    FrameDelayP95,
    /// 99th percentile of the frame delay in ms.
    FrameDelayP99,
    /// Longest frame delay in ms.
    FrameDelayMax,
    /// 95th less 5th percentile of the frame delay, in ms.
    FrameDelaySpread,
    /// Share of frames with a delay above `above`, in percent.
    Late,
    /// How often a minute a frame has a delay above `above` after one that has not.
    Spikes,
    /// Mean number of frames with a delay above `above` in a row.
    LateRun,
    /// Share of the frames with a delay above `above` whose bitrate is below 10 Mbit/s, in percent.
    LateLow,
    /// Share of the time in which frames came whole that is in gaps above `above` from one to the next,
    /// in percent.
    Stalled,
    /// Seconds from the beginning of the part until the first frame after the slowest with a delay
    /// of at most `above`; the whole part if there is none, and zero if no delay is above.
    DrainedAfter,
    /// Seconds from the slowest frame until the first one after it with a delay of at most `above`.
    DrainTime,
    /// Seconds from the beginning of the part until a second begins in which no frame has a delay
    /// above `above`; the whole part if there is none.
    CalmAfter,
    /// Number of frames that never came whole.
    Incomplete,
    /// Seconds from the beginning of the part until the first frame whose bitrate is at least 95 %
    /// of the link's rate; the whole part if there is none.
    TakenAfter,
    /// Mean bitrate of the frames, in Mbit/s.
    Bitrate,
    /// 99th percentile of the frames' bitrates, in Mbit/s.
    BitrateP99,
    /// Standard deviation over mean of the frames' bitrates, as the figures show them.
    BitrateVariation,
    /// Bytes that the link served, in percent of its capacity.
    Used,
    /// Bytes of video flows that arrived, in percent of those of video and TCP flows.
    Share,
    /// Mean wait of the packets of a class of flows at the link, in ms.
    Wait,
    /// Standard deviation of these waits, in ms.
    WaitDeviation,
    /// Share of these waits above `above`, which is 10, 20, 50 or 100 ms, in percent.
    Waiting,
    /// Packets of a class of flows that were dropped or lost, in percent.
    Lost,
    /// Rate of a class of flows that arrived, in Mbit/s.
    Received,
    /// First quartile of that rate over seconds.
    ReceivedQ1,
    /// Median of that rate over seconds.
    ReceivedMedian,
    /// Third quartile of that rate over seconds.
    ReceivedQ3,
    /// Share of the part in which the video flows' total bitrate was above the link's rate, in
    /// means over 200 ms, in percent.
    Oversent,
    /// Jain's index over the video flows' mean bitrates.
    Jain,
    /// Seconds from the beginning of the part until the smallest of the active video flows had,
    /// over two seconds, four fifths of the largest; the whole part if it never had.
    EvenAfter,
    /// Seconds from the beginning of the part until the bitrates of two seconds in a row differ by at
    /// most 2 %; the whole part if they never do.
    SteadyAfter,
    /// Mean of the estimate of the link's utilisation less the utilisation.
    EstimateBias,
    /// Mean of the absolute difference of the estimate from the utilisation.
    EstimateError,
    /// Standard deviation of the difference of the estimate from the utilisation.
    EstimateDeviation,
}

impl Quantity {
    /// Whether the quantity needs a delay `above` which frames are slow.
    pub(crate) const fn needs_above(self) -> bool {
        matches!(
            self,
            Self::Late
                | Self::Spikes
                | Self::LateRun
                | Self::LateLow
                | Self::Stalled
                | Self::DrainedAfter
                | Self::DrainTime
                | Self::CalmAfter
                | Self::Waiting
        )
    }

    /// Whether the quantity is about the packets of a class of flows.
    pub(crate) const fn is_of_packets(self) -> bool {
        matches!(
            self,
            Self::Wait
                | Self::WaitDeviation
                | Self::Waiting
                | Self::Lost
                | Self::Received
                | Self::ReceivedQ1
                | Self::ReceivedMedian
                | Self::ReceivedQ3
        )
    }

    /// Whether the quantity is about an estimate of the link's utilisation.
    pub(crate) const fn is_estimate(self) -> bool {
        matches!(
            self,
            Self::EstimateBias | Self::EstimateError | Self::EstimateDeviation
        )
    }

    /// The quantity's name in a table.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::FrameDelayMean => "mean frame delay",
            Self::FrameDelayP95 => "p95 frame delay",
            Self::FrameDelayP99 => "p99 frame delay",
            Self::FrameDelayMax => "worst frame delay",
            Self::FrameDelaySpread => "p95 less p5 of the frame delay",
            Self::Late => "late frames",
            Self::Spikes => "spikes a minute",
            Self::LateRun => "late frames in a row",
            Self::LateLow => "late frames below 10 Mbit/s",
            Self::Stalled => "time in stalls",
            Self::DrainedAfter => "drained after",
            Self::DrainTime => "drained after its peak",
            Self::CalmAfter => "calm after",
            Self::Incomplete => "frames never whole",
            Self::TakenAfter => "taken after",
            Self::Bitrate => "bitrate",
            Self::BitrateP99 => "p99 bitrate",
            Self::BitrateVariation => "variation of the bitrate",
            Self::Used => "link used",
            Self::Share => "share beside TCP",
            Self::Wait => "mean wait",
            Self::WaitDeviation => "deviation of the wait",
            Self::Waiting => "packets that waited",
            Self::Lost => "packets lost",
            Self::Received => "rate",
            Self::ReceivedQ1 => "first quartile of the rate",
            Self::ReceivedMedian => "median of the rate",
            Self::ReceivedQ3 => "third quartile of the rate",
            Self::Oversent => "time above the link's rate",
            Self::Jain => "Jain's index",
            Self::EvenAfter => "even after",
            Self::SteadyAfter => "steady after",
            Self::EstimateBias => "bias of the estimate",
            Self::EstimateError => "mean error of the estimate",
            Self::EstimateDeviation => "deviation of the estimate",
        }
    }

    /// A value of the quantity with its unit.
    pub(crate) fn text(self, value: f64) -> String {
        let (digits, unit) = self.digits_and_unit();
        let space = if unit.is_empty() { "" } else { " " };
        format!("{value:.digits$}{space}{unit}")
    }

    /// Digits after the point in a table, and the unit, which is empty for a number without one.
    pub(crate) const fn digits_and_unit(self) -> (usize, &'static str) {
        match self {
            Self::FrameDelayMean
            | Self::FrameDelayP95
            | Self::FrameDelayP99
            | Self::FrameDelayMax
            | Self::FrameDelaySpread => (1, "ms"),
            Self::Wait | Self::WaitDeviation => (2, "ms"),
            Self::Lost => (2, "%"),
            Self::Late
            | Self::LateLow
            | Self::Stalled
            | Self::Used
            | Self::Share
            | Self::Oversent
            | Self::Waiting => (1, "%"),
            Self::Spikes | Self::LateRun | Self::Incomplete => (1, ""),
            Self::DrainedAfter
            | Self::DrainTime
            | Self::CalmAfter
            | Self::TakenAfter
            | Self::SteadyAfter
            | Self::EvenAfter => (2, "s"),
            Self::Bitrate
            | Self::BitrateP99
            | Self::Received
            | Self::ReceivedQ1
            | Self::ReceivedMedian
            | Self::ReceivedQ3 => (2, "Mbit/s"),
            Self::BitrateVariation
            | Self::Jain
            | Self::EstimateBias
            | Self::EstimateError
            | Self::EstimateDeviation => (3, ""),
        }
    }
}
