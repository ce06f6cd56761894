//! What a sender is told of ECN.

use mimosa_units::{Ecn, TimeDelta};

/// How a sender uses ECN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EcnUse {
    /// Every packet carries this field.
    Fixed(Ecn),
    /// As an [`EcnPolicy`](crate::EcnPolicy) decides, whose reports carry the field.
    Auto(EcnConfig),
}

impl Default for EcnUse {
    fn default() -> Self {
        Self::Fixed(Ecn::NotEct)
    }
}

/// The numbers of an [`EcnPolicy`](crate::EcnPolicy).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EcnConfig {
    /// Packets marked in a trial. RFC 9000, section 13.4.2: "the first ten outgoing packets".
    pub trial_packets: u32,
    /// From a trial that told nothing to the next one. Our choice: many round trips, in
    /// which a controller answers marks and losses.
    pub trial_pause: TimeDelta,
    /// Trials in a row with marks on all that arrives, after which nothing else is expected.
    /// Our choice: a queue that a controller answers is gone after as many pauses.
    pub marked_trials: u32,
    /// Marked packets lost in a row, after which a capable path is tried again. Our choice:
    /// several frames.
    pub lost_in_a_row: u32,
    /// A stretch in which marks are counted is at least this long. libwebrtc's
    /// `kEct1FeedbackTimeoutAfterAck`, 5 s: as long as it waits before it blames the field.
    pub stretch: TimeDelta,
    /// And has so many packets. Our choice.
    pub stretch_packets: u32,
    /// The share of marks in a stretch, 0 to 1, which no controller that answers them meets.
    /// Our choice, below one for the packet that a path forgets.
    pub always_marked: f64,
    /// From the first failure to the next trial; each one more in a row doubles it. RFC 9000,
    /// section 13.4.2.2, allows to try again at any time; s2n-quic does after 60 s
    /// (`RETEST_COOL_OFF_DURATION`), libwebrtc, after silence, once after 10 s.
    pub retry: TimeDelta,
    /// The longest such time. Our choice.
    pub longest_retry: TimeDelta,
}

impl Default for EcnConfig {
    fn default() -> Self {
        Self {
            trial_packets: 10,
            trial_pause: TimeDelta::from_millis(1_000),
            marked_trials: 5,
            lost_in_a_row: 100,
            stretch: TimeDelta::from_millis(5_000),
            stretch_packets: 200,
            always_marked: 0.99,
            retry: TimeDelta::from_millis(60_000),
            longest_retry: TimeDelta::from_millis(960_000),
        }
    }
}
