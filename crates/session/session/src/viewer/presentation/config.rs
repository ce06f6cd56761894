//! [`PresentationConfig`].

use mimosa_units::TimeDelta;

/// How pictures are paced.
#[derive(Clone, Copy, Debug)]
pub struct PresentationConfig {
    /// How long before the latest possible moment it is decided what to show: a wait of the client ends up
    /// to a millisecond late, because SDL waits whole milliseconds.
    pub margin: TimeDelta,
    /// Percentile of the delays over [`window`](Self::window) to which the target sinks. The one picture in
    /// fifty above it is seldom late enough to miss a refresh.
    pub percentile: usize,
    /// Time over which delays are compared. 200 ppm between two clocks are 1 ms in it.
    pub window: TimeDelta,
    /// How fast the target sinks, in seconds a second. At 0.003, a refresh of 60 Hz is given back after 6 s;
    /// the picture that is then left out is one in 330. Beside 0.001, this has 0.9 ms less delay behind
    /// the pauses of Wi-Fi, and as many repeats.
    pub lowering: f64,
    /// Pause of the link after which the path is another one.
    pub longest_pause: TimeDelta,
    /// How long a picture may be due that is left to the next refresh, as the one before it was: more than
    /// captures are uneven by, and much less than a refresh.
    pub tolerance: TimeDelta,
}

impl Default for PresentationConfig {
    fn default() -> Self {
        Self {
            margin: TimeDelta::from_micros(1_500),
            percentile: 98,
            window: TimeDelta::from_millis(5_000),
            lowering: 0.003,
            longest_pause: TimeDelta::from_millis(250),
            tolerance: TimeDelta::from_micros(1_000),
        }
    }
}
