//! Datagrams that are nothing, or that something has happened to.

use std::cell::RefCell;

use mimosa_facts::{FrameId, PacketKind};
use mimosa_protocol::control::FeedbackKind;
use mimosa_transport::{Channel, HostTransport};
use mimosa_units::TimeDelta;
use proptest::prelude::*;

use crate::rtp::{Kind, kind};
use crate::world::{MS, World, browser_address, frame, host_address, outgoing};

/// Bytes that begin like one of the protocols, or like none.
fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop::collection::vec(any::<u8>(), 0..200);
    let first = prop_oneof![any::<u8>(), Just(0), Just(1), 20..64_u8, 128..192_u8];
    let second = prop_oneof![any::<u8>(), 192..224_u8];
    (first, second, bytes).prop_map(|(first, second, mut bytes)| {
        bytes
            .iter_mut()
            .zip([first, second])
            .for_each(|(byte, is)| *byte = is);
        bytes
    })
}

/// What happens to a datagram: cut off, lengthened, bits turned.
fn damage() -> impl Strategy<Value = (usize, Vec<u8>, Vec<(usize, u8)>)> {
    let turned = prop::collection::vec((any::<usize>(), 1..=u8::MAX), 1..4);
    (
        0..600_usize,
        prop::collection::vec(any::<u8>(), 0..3),
        turned,
    )
}

/// Gives a peer a datagram from the browser's address and from another; nothing
/// may come of it.
fn receive(world: &mut World, datagram: &[u8]) {
    let stranger = ([10, 0, 0, 3], 5_000).into();
    for source in [stranger, browser_address()] {
        let _ = world
            .peer
            .accepts(world.now, source, host_address(), datagram);
        world
            .peer
            .receive(world.now, source, host_address(), datagram);
        let event = world.peer.poll_event();
        assert!(event.is_none(), "{event:?}");
        let answer = world.peer.poll_datagram();
        assert!(answer.is_none(), "{answer:?}");
    }
}

/// Checks that everything still works.
fn still_works(world: &mut World) {
    world.events.clear();
    world.browser.write(world.now, "keys", true, b"still there");
    assert!(world.peer.write(Channel::Control, b"yes"));
    world.peer.insert(FrameId(1), 0, None, frame(1, 1), 0);
    world.send(&outgoing(PacketKind::Media, 0, 1, 0));
    world.run(TimeDelta::from_millis(1_000));
    assert_eq!(world.messages(Channel::Keys), [b"still there"]);
    assert_eq!(world.browser.messages.len(), 1);
    assert_eq!(world.browser.received.len(), 1);
}

#[test]
fn garbage_changes_nothing() {
    let world = RefCell::new(World::connected(FeedbackKind::Periodic, 1));
    proptest!(ProptestConfig::with_cases(2_000), |(bytes in garbage())| {
        receive(&mut world.borrow_mut(), &bytes);
    });
    still_works(&mut world.borrow_mut());
}

#[test]
fn damaged_datagrams_change_nothing() {
    let mut world = World::connected(FeedbackKind::Periodic, 1);
    world.peer.insert(FrameId(0), 0, None, frame(0, 4), 0);
    for index in 0..4 {
        world.send(&outgoing(
            PacketKind::Media,
            u16::try_from(index).unwrap(),
            0,
            index,
        ));
    }
    world.run(MS * 100);
    let real = std::mem::take(&mut world.from_browser);
    for wanted in [Kind::Stun, Kind::Dtls, Kind::Rtcp] {
        assert!(
            real.iter().any(|datagram| kind(datagram) == wanted),
            "{wanted:?}"
        );
    }
    world.browser.received.clear();
    let world = RefCell::new(world);
    proptest!(ProptestConfig::with_cases(2_000), |(which in any::<prop::sample::Index>(), damage in damage())| {
        let original = which.get(&real);
        // STUN ends in a checksum against other protocols, which is outside of what
        // is authenticated (RFC 8489, section 14.7).
        let checksum = if kind(original) == Kind::Stun { 8 } else { 0 };
        let mut datagram = original.clone();
        let (length, more, turned) = damage;
        datagram.truncate(length);
        datagram.extend(more);
        let authenticated = datagram.len().min(original.len() - checksum);
        for (at, bits) in turned {
            if let Some(at) = at.checked_rem(authenticated) {
                datagram[at] ^= bits;
            }
        }
        prop_assume!(datagram != *original);
        receive(&mut world.borrow_mut(), &datagram);
    });
    still_works(&mut world.borrow_mut());
}

#[test]
fn garbage_does_not_hinder_a_connection() {
    let world = RefCell::new(World::answered(FeedbackKind::Periodic, 1, |offer| offer));
    proptest!(ProptestConfig::with_cases(500), |(bytes in garbage())| {
        receive(&mut world.borrow_mut(), &bytes);
    });
    let world = &mut world.borrow_mut();
    world.run(TimeDelta::from_millis(2_000));
    still_works(world);
}
