//! What a sender is told once.

use crate::pace::{Bounds, Policy};
use mimosa_units::TimeDelta;

use crate::ecn::EcnUse;
use crate::protection::Protection;
use crate::retransmission::RetransmissionDeadline;

/// What a sender needs to know besides its controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderConfig {
    /// Which pacing applies.
    pub policy: Policy,
    /// How much may wait in the pacer.
    pub bounds: Bounds,
    /// Until when lost packets are sent again.
    pub retransmission_deadline: RetransmissionDeadline,
    /// A frame not acknowledged by this age is given up.
    pub give_up_after: TimeDelta,
    /// The ECN field of packets.
    pub ecn: EcnUse,
    /// How frames are kept whole though packets are lost.
    pub protection: Protection,
}

impl Default for SenderConfig {
    fn default() -> Self {
        Self {
            policy: Policy::Controller,
            bounds: Bounds::default(),
            // The presentation deadline of the C3G paper, section V: a frame
            // that comes later is not shown.
            retransmission_deadline: RetransmissionDeadline::Age(TimeDelta::from_millis(100)),
            give_up_after: TimeDelta::from_millis(3_000),
            ecn: EcnUse::default(),
            protection: Protection::default(),
        }
    }
}
