//! A sender's ECN policy over a path whose every packet the test decides.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_facts::{Arrival, ArrivalReport, Controller, Decision, Event, Limits};
use mimosa_stream::{
    EcnConfig, EcnFailure, EcnState, EcnUse, Outgoing, Sender, SenderConfig, packetise,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

/// Never changes its mind.
#[derive(Debug)]
struct Fixed(Decision);

impl Controller for Fixed {
    fn handle(&mut self, _now: Time, _event: Event<'_>) -> &Decision {
        &self.0
    }

    fn decision(&self) -> &Decision {
        &self.0
    }
}

const L: TimeDelta = TimeDelta::from_millis(16);

fn sender(ecn: EcnUse) -> Sender {
    let limits = Limits::new(Rate::ZERO, Rate::from_kbps(4_800), Rate::MAX);
    let controller = Fixed(Decision::starting_at(limits.start()));
    let config = SenderConfig {
        ecn,
        ..SenderConfig::default()
    };
    Sender::new(config, Box::new(controller))
}

/// Sends a frame of ten packets, and reports before the next one what `path` makes of
/// each: the field it arrives with, or `None` for lost.
fn frame(sender: &mut Sender, now: Time, path: impl Fn(&Outgoing) -> Option<Ecn>) -> Vec<Ecn> {
    sender.frame_due(now, L);
    let size = Bytes::new(10_000);
    sender.frame_encoded(now, packetise(size, Bytes::new(1000), Bytes::ZERO));
    let sent: Vec<_> = std::iter::from_fn(|| sender.poll_packet(now)).collect();
    let arrived = sent.iter().filter_map(|packet| {
        Some(Arrival {
            sequence: packet.sequence,
            at: PeerTime::from_nanos(now.as_nanos().cast_signed()),
            ecn: path(packet)?,
        })
    });
    let report = ArrivalReport {
        arrivals: arrived.collect(),
        absences: None,
    };
    sender.feedback(now + L / 2, &report);
    sent.iter().map(|packet| packet.ecn).collect()
}

fn frames(sender: &mut Sender, count: i64, path: impl Fn(&Outgoing) -> Option<Ecn>) -> Vec<Ecn> {
    (0..count)
        .flat_map(|number| frame(sender, Time::ZERO + L.scale(number as f64), &path))
        .collect()
}

#[test]
fn a_fixed_field_is_every_packets() {
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1] {
        let mut sender = sender(EcnUse::Fixed(ecn));
        let sent = frames(&mut sender, 20, |_| Some(Ecn::NotEct));
        assert_eq!(sent, vec![ecn; 200]);
        assert_eq!(sender.ecn_state(), None);
    }
}

#[test]
fn the_policy_hears_of_what_arrives() {
    let auto = EcnUse::Auto(EcnConfig::default());
    let mut good = sender(auto);
    let sent = frames(&mut good, 20, |packet| Some(packet.ecn));
    assert_eq!(good.ecn_state(), Some(EcnState::Capable));
    // Two frames are the trial, the rest is marked.
    let capable = sent.iter().filter(|ecn| **ecn == Ecn::Ect1).count();
    assert_eq!(capable, 10 + 180);

    let mut bleached = sender(auto);
    frames(&mut bleached, 20, |_| Some(Ecn::NotEct));
    let failed = EcnState::Failed(EcnFailure::Bleached);
    assert_eq!(bleached.ecn_state(), Some(failed));
}

#[test]
fn the_policy_hears_of_what_is_lost() {
    let mut sender = sender(EcnUse::Auto(EcnConfig::default()));
    let plain_alone = |packet: &Outgoing| (!packet.ecn.is_capable()).then_some(packet.ecn);
    frames(&mut sender, 20, plain_alone);
    let failed = EcnState::Failed(EcnFailure::Dropped);
    assert_eq!(sender.ecn_state(), Some(failed));
}

/// The whole trial is lost, and nothing arrives by which it would be overtaken: packets are
/// lost for their age.
#[test]
fn an_outage_is_no_failure() {
    let mut sender = sender(EcnUse::Auto(EcnConfig::default()));
    frames(&mut sender, 300, |_| None);
    assert_eq!(sender.ecn_state(), Some(EcnState::Trying));
    let end = L.scale(300.0);
    for number in 0..300 {
        frame(
            &mut sender,
            Time::ZERO + end + L.scale(f64::from(number)),
            |packet| Some(packet.ecn),
        );
    }
    assert_eq!(sender.ecn_state(), Some(EcnState::Capable));
}
