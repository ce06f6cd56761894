//! Settings of a sender's use of ECN.

use mimosa_units::{Ecn, TimeDelta};

/// How a sender uses ECN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EcnUse {
    /// Every packet carries this field.
    Fixed(Ecn),
    /// An [`EcnPolicy`](crate::EcnPolicy) chooses the field; receiver reports must carry the field.
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
    /// Number of packets marked in a trial. RFC 9000, section 13.4.2: "the first ten outgoing
    /// packets".
    pub trial_packets: u32,
    /// Time from a trial without a result to the next trial. Our choice: many round trips, in which
    /// a controller answers marks and losses.
    pub trial_pause: TimeDelta,
    /// Number of consecutive trials in which all packets arrive marked, after which the path counts
    /// as one that always marks. Our choice: a queue that a controller answers is gone after as
    /// many pauses.
    pub marked_trials: u32,
    /// Number of consecutive marked packets lost after which a capable path is tried again. Our
    /// choice: several frames.
    pub lost_in_a_row: u32,
    /// The shortest stretch in which marks are counted. libwebrtc's `kEct1FeedbackTimeoutAfterAck`,
    /// 5 s: as long as libwebrtc waits before it blames the field.
    pub stretch: TimeDelta,
    /// The least number of packets in a stretch in which marks are counted. Our choice.
    pub stretch_packets: u32,
    /// The share of marked packets in a stretch, 0 to 1, that no controller that answers marks
    /// gets. Our choice, below one to allow for a packet that a path leaves unmarked.
    pub always_marked: f64,
    /// Time from the first failure to the next trial; each further failure in a row doubles this
    /// time. RFC 9000, section 13.4.2.2, allows another trial at any time; s2n-quic waits 60 s
    /// (`RETEST_COOL_OFF_DURATION`), libwebrtc tries once after 10 s of silence.
    pub retry: TimeDelta,
    /// The longest time from a failure to the next trial. Our choice.
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
