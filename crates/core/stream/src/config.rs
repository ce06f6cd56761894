//! The settings that a sender is given once, when it is created.

use crate::pace::{Bounds, Policy};
use mimosa_units::TimeDelta;

use crate::ecn::EcnUse;
use crate::protection::Protection;
use crate::retransmission::RetransmissionDeadline;

/// The settings of a sender, besides its controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderConfig {
    /// The policy that picks the pacing.
    pub policy: Policy,
    /// Limits on the packets that wait in the pacer.
    pub bounds: Bounds,
    /// How long a lost packet of a frame is sent again.
    pub retransmission_deadline: RetransmissionDeadline,
    /// A frame that is not acknowledged by this age is given up.
    pub give_up_after: TimeDelta,
    /// How the ECN field of packets is chosen.
    pub ecn: EcnUse,
    /// How frames are kept whole when packets are lost.
    pub protection: Protection,
    /// The most that a frame may have beyond its grant of what earlier frames left of theirs, in
    /// grants; zero for strict sizes.
    pub carry: f64,
}

impl Default for SenderConfig {
    fn default() -> Self {
        Self {
            policy: Policy::Controller,
            bounds: Bounds::default(),
            // The presentation deadline of the C3G paper, section V: a frame that comes later is
            // not shown.
            retransmission_deadline: RetransmissionDeadline::Age(TimeDelta::from_millis(100)),
            give_up_after: TimeDelta::from_millis(3_000),
            ecn: EcnUse::default(),
            protection: Protection::default(),
            carry: 0.0,
        }
    }
}
