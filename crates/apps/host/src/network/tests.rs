//! Sessions that panic, beside one that does not.

use std::net::Ipv4Addr;

use mimosa_facts::{Codec, FrameId};
use mimosa_protocol::problem::Problem;
use mimosa_rtp::video::Payloads;
use mimosa_session::host::{Profile, Session};
use mimosa_settings::{Checks, EncoderName, Flags};
use mimosa_stream::Outgoing;
use mimosa_transport::{
    Agreed, Call, Channel, Datagram, HostTransport, Left, OfferError, PeerEvent,
};

use super::*;

/// Takes all names and parameters as right.
struct Any;

impl Checks for Any {
    fn controllers(&self) -> &[&'static str] {
        &["mimosa"]
    }

    fn encoders(&self) -> &[&'static str] {
        &["auto"]
    }

    fn pacers(&self) -> &[&'static str] {
        &["controller"]
    }

    fn params(&self, _: &str, _: &toml::Table, _: mimosa_facts::Limits) -> Result<(), String> {
        Ok(())
    }

    fn log(&self, _: &str) -> Result<(), String> {
        Ok(())
    }
}

/// Where a transport panics.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum At {
    Deadline,
    Timeout,
    Datagram,
    Everything,
}

/// A transport that panics in one place, or everywhere.
struct Broken(At, Agreed);

impl Broken {
    fn reach(&self, at: At) {
        assert!(self.0 != at && self.0 != At::Everything, "{at:?}");
    }
}

impl HostTransport for Broken {
    fn agreed(&self) -> Agreed {
        self.1
    }

    fn accepts(&self, _: Time, _: SocketAddr, _: SocketAddr, _: &[u8]) -> bool {
        false
    }

    fn receive(&mut self, _: Time, _: SocketAddr, _: SocketAddr, _: &[u8]) -> bool {
        false
    }

    fn timeout(&mut self, _: Time) {
        self.reach(At::Timeout);
    }

    fn deadline(&self) -> Time {
        self.reach(At::Deadline);
        Time::ZERO
    }

    fn add_candidate(&mut self, _: &str) -> Result<(), OfferError> {
        Ok(())
    }

    fn begin(&mut self, _: FrameId, _: u32, _: Option<FrameId>, _: Payloads) {}

    fn extend(&mut self, _: FrameId, _: &Payloads, _: Option<u32>) {}

    fn arrived(&mut self, _: FrameId) {}

    fn send(&mut self, _: Time, _: &[Outgoing], _: &mut Vec<Left>) {}

    fn send_sound(&mut self, _: Time, _: u32, _: &[u8], _: usize) -> usize {
        0
    }

    fn frame_at(&self, _: u32) -> Option<FrameId> {
        None
    }

    fn write(&mut self, _: Channel, _: &[u8]) -> bool {
        false
    }

    fn is_undelivered(&mut self, _: Channel) -> bool {
        false
    }

    fn close(&mut self) {
        self.reach(At::Everything);
    }

    fn poll_datagram(&mut self) -> Option<Datagram> {
        self.reach(At::Datagram);
        None
    }

    fn poll_event(&mut self) -> Option<PeerEvent> {
        None
    }
}

/// A host's network without its thread.
fn network() -> Network {
    let mut settings = mimosa_settings::resolve(None, [], &Flags::default(), &Any).unwrap();
    settings.bind = vec![Ipv4Addr::LOCALHOST.into()];
    settings.size = "64x64".parse().unwrap();
    settings.encoder.name = EncoderName::OpenH264;
    let clock = Clock::start();
    let encoders = EncoderChoices::open(settings.encoder, 60, settings.size).unwrap();
    let controllers = Controllers::new(&settings.controller).unwrap();
    let sockets = Sockets::bind(&settings.bind, 0).unwrap();
    let (mailbox, inbox) = mimosa_system::mailbox().unwrap();
    let source = Source::start(&settings, clock, None, |_| {}).unwrap();
    Network::new(
        Arc::new(settings),
        (encoders, controllers),
        clock,
        (sockets, None),
        (source, None),
        (mailbox, inbox),
        Arc::new(Metrics::new()),
    )
}

/// Offers a viewer's session, and gives its number.
fn viewer(network: &mut Network) -> Result<SessionNumber, Problem> {
    let own = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
    let (_, text) = Call::offer(&[own], &[Codec::H264], false, 1, network.clock.now()).unwrap();
    let offer = Offer {
        text,
        role: Role::Viewer,
        feedback: None,
        replaces: None,
        may_play: false,
        secret: None,
        device: None,
        from: own.ip(),
    };
    network.offer(&offer)?;
    Ok(*network.sessions.keys().last().unwrap())
}

/// Gives a session a transport that panics.
fn break_at(network: &mut Network, number: SessionNumber, at: At) {
    let agreed = Agreed {
        codec: Codec::H264,
        feedback: mimosa_protocol::control::FeedbackKind::None,
        bears_gaps: false,
        takes_parts: false,
        has_retransmissions: false,
        repairs: None,
        has_sound: false,
        takes_redundancy: false,
    };
    let sender = network.sender(Role::Viewer, agreed).unwrap();
    let profile = Profile {
        role: Role::Viewer,
        interval: TimeDelta::from_millis(16),
        adapts_detail: false,
        relieves: false,
        parts: 1,
        entropy: None,
        hello: network.hello(Role::Viewer, network.size(), 60, String::new(), agreed),
    };
    let now = network.clock.now();
    let transport = Box::new(Broken(at, agreed));
    let running = network.sessions.get_mut(&number).unwrap();
    running.session = Session::new(profile, now, transport, sender, [1, 2]);
}

#[test]
fn a_session_that_panics_ends_alone() {
    let mut network = network();
    let good = viewer(&mut network).unwrap();
    for at in [At::Deadline, At::Timeout, At::Datagram, At::Everything] {
        let bad = viewer(&mut network).unwrap();
        break_at(&mut network, bad, at);
        // What the thread does in each round.
        network.each(|running, now, _| {
            if running.session.deadline() <= now {
                running.session.advance(now);
            }
        });
        let now = network.clock.now();
        network.deadline(now);
        let left: Vec<_> = network.sessions.keys().copied().collect();
        assert_eq!(left, [good], "{at:?}");
    }
    let bad = viewer(&mut network).unwrap();
    assert!(network.with(bad, |_, _| panic!("an act")).is_none());
    // A panic that is met when the thread looks when to wake.
    let late = viewer(&mut network).unwrap();
    break_at(&mut network, late, At::Deadline);
    let now = network.clock.now();
    assert!(network.deadline(now) <= now + LONGEST_SLEEP);
    let left: Vec<_> = network.sessions.keys().copied().collect();
    assert_eq!(left, [good]);
    network.with(good, |running, now| running.session.leave(now, "over"));
}
