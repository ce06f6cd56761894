//! How a session sends: its limits, its pacing and its protection against loss, from what the host
//! allows and what both ends have agreed on.

use mimosa_facts::{Controller, Limits};
use mimosa_protocol::control::FeedbackKind;
use mimosa_stream::pace::{Bounds, Policy};
use mimosa_stream::{
    EcnConfig, EcnUse, Protection, ProtectionKind, RepairConfig, RetransmissionDeadline, Sender,
    SenderConfig,
};
use mimosa_transport::{Agreed, LARGEST_PAYLOAD, OVERHEAD, SOUND_OVERHEAD};
use mimosa_units::{Bytes, Rate, TimeDelta};

use super::job::REDUNDANCY;

/// Bytes that a repeated sound frame takes beside its content (RFC 2198, section 3).
const EARLIER_HEADER: Bytes = Bytes::new(4);
/// Bytes that the newest sound frame takes beside its content in a packet with repeated frames.
const NEWEST_HEADER: Bytes = Bytes::new(1);

/// What the host allows its sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SendingConfig {
    /// Limits of the rate of pictures and sound together.
    pub limits: Limits,
    /// The fixed rate of sessions without feedback.
    pub blind_rate: Rate,
    /// Bitrate of the coded sound, without packet headers.
    pub sound: Rate,
    /// Which pacing applies.
    pub policy: Policy,
    /// Longest time that a frame waits in the pacer.
    pub presentation_deadline: TimeDelta,
    /// Shortest time between two packets.
    pub shortest_gap: TimeDelta,
    /// Age of a frame from which its packets are no longer sent again; `None` to send them again as
    /// long as a later frame refers to it.
    pub retransmission_deadline: Option<TimeDelta>,
    /// How frames are protected against the loss of packets.
    pub protection: ProtectionKind,
    /// Time from a frame's first packet within which the frame has to be whole at the player.
    pub repair_deadline: TimeDelta,
    /// The most that a frame may have beyond its grant of what earlier frames left of theirs, in
    /// grants; zero for strict sizes.
    pub carry: f64,
    /// Whether the controller responds to L4S marks (RFC 9331, section 4.3).
    pub answers_marks: bool,
}

/// Name of the controller of a session whose player reports nothing: any other one would
/// wait for reports, and those that limit what is in flight would stop for good.
const BLIND: &str = "fixed";

/// Name of the controller that decides for a session when the host has `chosen` one: without
/// feedback it is the one that never changes its rate.
#[must_use]
pub fn controller(agreed: Agreed, chosen: &str) -> &str {
    match agreed.feedback {
        FeedbackKind::None => BLIND,
        FeedbackKind::CongestionControl | FeedbackKind::OnRequest | FeedbackKind::Periodic => {
            chosen
        }
    }
}

impl SendingConfig {
    /// The limits of one session's controller: the host's limits less the rate of the sound, which
    /// is not under the controller.
    #[must_use]
    pub fn limits(&self, agreed: Agreed) -> Limits {
        let sound = if agreed.has_sound {
            rate_on_the_wire(self.sound, agreed.takes_redundancy)
        } else {
            Rate::ZERO
        };
        match agreed.feedback {
            FeedbackKind::CongestionControl | FeedbackKind::OnRequest | FeedbackKind::Periodic => {
                let most = beside(self.limits.max(), sound);
                let least = self.limits.min().min(most);
                Limits::new(least, self.limits.start(), most)
            }
            // Without feedback nothing is known of the network, so that the rate is fixed and low.
            FeedbackKind::None => {
                let rate = beside(self.blind_rate, sound);
                Limits::new(rate, rate, rate)
            }
        }
    }

    /// The sender of one session. `controller` has to have the limits of [`SendingConfig::limits`].
    #[must_use]
    pub fn sender(&self, agreed: Agreed, controller: Box<dyn Controller>) -> Sender {
        let config = SenderConfig {
            policy: self.policy,
            bounds: Bounds {
                longest_wait: self.presentation_deadline,
                smallest_packet: OVERHEAD,
                shortest_gap: self.shortest_gap,
                catch_up: Some(Bounds::CATCH_UP),
                ..Bounds::default()
            },
            retransmission_deadline: match self.retransmission_deadline {
                _ if !agreed.has_retransmissions => RetransmissionDeadline::Age(TimeDelta::ZERO),
                Some(deadline) => RetransmissionDeadline::Age(deadline),
                None => RetransmissionDeadline::Chain,
            },
            protection: self.protection(agreed),
            carry: self.carry,
            ecn: self.ecn(agreed.feedback),
            ..SenderConfig::default()
        };
        Sender::new(config, controller)
    }

    fn protection(&self, agreed: Agreed) -> Protection {
        let Some(code) = agreed.repairs else {
            return Protection::Retransmission;
        };
        let repairs = RepairConfig {
            deadline: self.repair_deadline,
            largest_packet: LARGEST_PAYLOAD + OVERHEAD,
            code,
            ..RepairConfig::default()
        };
        match self.protection {
            ProtectionKind::Retransmission => Protection::Retransmission,
            ProtectionKind::Fec => Protection::Fec(repairs),
            ProtectionKind::Joint => Protection::Joint(repairs),
        }
    }

    /// Whether packets ask for marks: only if the controller responds to marks and reports carry
    /// them.
    fn ecn(&self, feedback: FeedbackKind) -> EcnUse {
        if feedback == FeedbackKind::CongestionControl && self.answers_marks {
            EcnUse::Auto(EcnConfig::default())
        } else {
            EcnUse::default()
        }
    }
}

/// The rate on the wire of sound with this coded bitrate. With `has_redundancy`, each packet
/// repeats [`REDUNDANCY`] earlier frames.
fn rate_on_the_wire(bitrate: Rate, has_redundancy: bool) -> Rate {
    let block = mimosa_facts::sound::BLOCK;
    let frame = bitrate.amount_in(block);
    let mut packet = frame + SOUND_OVERHEAD;
    if has_redundancy {
        packet += NEWEST_HEADER;
        for _ in 0..REDUNDANCY {
            packet += frame + EARLIER_HEADER;
        }
    }
    Rate::of(packet, block)
}

/// What `rate` leaves for the pictures beside sound of the rate `sound`: at least half.
fn beside(rate: Rate, sound: Rate) -> Rate {
    let bits = rate.as_bps();
    Rate::from_bps(bits.saturating_sub(sound.as_bps()).max(bits / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_has_a_hundred_packets_a_second_on_the_wire() {
        let rate =
            |kbps, redundancy| rate_on_the_wire(Rate::from_kbps(kbps), redundancy).as_bps() / 100;
        // A packet has 80 bytes of sound and 56 of headers. Each repeated frame adds 81 bytes and
        // the newest frame one more.
        assert_eq!(rate(64, false), 1_088);
        assert_eq!(rate(64, true), (80 + 56 + 1 + 2 * 84) * 8);
    }

    #[test]
    fn pictures_keep_half() {
        let beside = |rate, sound| beside(Rate::from_kbps(rate), Rate::from_kbps(sound));
        assert_eq!(beside(2_000, 240), Rate::from_kbps(1_760));
        assert_eq!(beside(300, 240), Rate::from_kbps(150));
    }
}
