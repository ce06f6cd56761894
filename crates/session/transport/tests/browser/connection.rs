//! Connecting, channels, and the end of a connection.

use std::net::{Ipv4Addr, SocketAddr};

use mimosa_facts::Codec;
use mimosa_protocol::control::FeedbackKind;
use mimosa_transport::{Channel, HostTransport, Peer, PeerEvent};
use mimosa_units::TimeDelta;

use crate::browser::{Browser, LABELS};
use crate::rtp::{Kind, kind};
use crate::world::{DELAY, MS, NUMBERS, World, beginning, browser_address, host_address};

const CHANNELS: [Channel; 4] = [
    Channel::Input,
    Channel::Keys,
    Channel::Frames,
    Channel::Control,
];

#[test]
fn a_browser_connects_and_its_channels_open() {
    let mut world = World::answered(FeedbackKind::OnRequest, 1, |offer| offer);
    assert!(world.answer.contains("a=ice-lite\r\n"));
    assert!(world.answer.contains("a=setup:passive\r\n"));
    assert!(
        world.peer.poll_datagram().is_none(),
        "ICE lite only answers"
    );
    assert!(!world.peer.write(Channel::Control, b"too early"));
    world.run(TimeDelta::from_millis(2_000));
    assert!(world.browser.is_connected);
    let connected = |event: &&PeerEvent| matches!(event, PeerEvent::Connected);
    assert_eq!(world.events.iter().filter(connected).count(), 1);
    let mut opened: Vec<Channel> = world
        .events
        .iter()
        .filter_map(|event| match event {
            PeerEvent::Opened(channel) => Some(*channel),
            _ => None,
        })
        .collect();
    opened.sort_by_key(|channel| *channel as u8);
    assert_eq!(opened, CHANNELS);
    assert_eq!(
        world.browser.opened.len(),
        LABELS.len(),
        "also the unknown one"
    );
    assert_eq!(
        world.events.len(),
        1 + CHANNELS.len(),
        "nothing else has happened"
    );
}

#[test]
fn messages_go_both_ways_and_unknown_labels_are_ignored() {
    let mut world = World::connected(FeedbackKind::OnRequest, 1);
    for (label, channel) in LABELS.into_iter().zip(CHANNELS) {
        world
            .browser
            .write(world.now, label, true, label.as_bytes());
        assert!(world.peer.write(channel, &[channel as u8, 7]));
    }
    world.browser.write(world.now, "chat", false, b"hello");
    world.run(MS * 50);
    for (label, channel) in LABELS.into_iter().zip(CHANNELS) {
        assert_eq!(world.messages(channel), [label.as_bytes()]);
        let is_binary = channel != Channel::Control;
        let message = (label.to_owned(), is_binary, vec![channel as u8, 7]);
        assert!(world.browser.messages.contains(&message), "{label}");
    }
    assert_eq!(world.events.len(), CHANNELS.len());
    assert_eq!(world.browser.messages.len(), CHANNELS.len());
}

#[test]
fn a_message_on_a_lossless_channel_is_sent_again() {
    let mut world = World::connected(FeedbackKind::OnRequest, 1);
    world.returns = Box::new(|_| false);
    world.browser.write(world.now, "keys", true, b"key");
    world.browser.write(world.now, "input", true, b"pointer");
    world.run(DELAY * 2);
    world.returns = Box::new(|_| true);
    world.run(TimeDelta::from_millis(3_000));
    assert_eq!(world.messages(Channel::Keys), [b"key"]);
    assert!(world.messages(Channel::Input).is_empty());
}

#[test]
fn a_keyframe_is_asked_for() {
    let mut world = World::connected(FeedbackKind::OnRequest, 1);
    world.browser.want_keyframe(world.now);
    world.run(MS * 50);
    assert!(matches!(world.events[..], [PeerEvent::KeyframeWanted]));
}

/// Reasons of the ends of the connection.
fn ends(world: &World) -> Vec<&str> {
    let ends = world.events.iter().filter_map(|event| match event {
        PeerEvent::Closed { reason } => Some(reason.as_str()),
        _ => None,
    });
    ends.collect()
}

#[test]
fn the_browsers_end_is_heard() {
    let mut world = World::connected(FeedbackKind::OnRequest, 1);
    world.browser.close(world.now);
    world.run(MS * 100);
    assert_eq!(ends(&world), ["the browser closed the connection"]);
}

#[test]
fn a_browser_that_falls_silent_is_given_up_and_one_that_does_not_is_not() {
    let mut world = World::connected(FeedbackKind::OnRequest, 1);
    world.run(TimeDelta::from_millis(120_000));
    assert!(world.events.is_empty(), "{:?}", world.events);
    world.returns = Box::new(|_| false);
    world.run(TimeDelta::from_millis(60_000));
    assert_eq!(ends(&world), ["the browser does not answer any more"]);
}

#[test]
fn a_closed_peer_is_silent() {
    let mut world = World::connected(FeedbackKind::OnRequest, 1);
    world.peer.close();
    world.run(TimeDelta::ZERO);
    world.left.clear();
    world.browser.write(world.now, "keys", true, b"key");
    world.run(TimeDelta::from_millis(5_000));
    assert!(world.left.is_empty() && world.messages(Channel::Keys).is_empty());
}

/// One socket serves all peers; a datagram finds its own.
#[test]
fn a_peer_accepts_what_is_its_own() {
    let now = beginning();
    let addresses = [host_address()];
    let (mut browser, offer) = Browser::new(now, browser_address(), false);
    let answer = |offer: &str| {
        Peer::answer(offer, &[Codec::H264], None, &addresses, NUMBERS, true, now).unwrap()
    };
    let (own, text) = answer(&offer);
    let (other, _) = answer(include_str!("../offers/chromium-156.sdp"));
    browser.take_answer(now, &text);
    browser.timeout(now);
    let first = browser.out.first().expect("a check of the path");
    assert_eq!(kind(&first.contents), Kind::Stun);
    let accepts = |peer: &Peer| peer.accepts(now, first.source, first.destination, &first.contents);
    assert!(accepts(&own) && !accepts(&other));
}

/// A browser's connectivity check, as it sends the first.
fn check(world: &World) -> Vec<u8> {
    let mut sent = world.from_browser.iter();
    let check = sent.find(|datagram| kind(datagram) == Kind::Stun);
    check.unwrap().clone()
}

/// Gives the peer a check from each of so many addresses, and counts its answers.
fn checks_from(world: &mut World, check: &[u8], addresses: u32) -> usize {
    let mut answers = 0;
    for number in 0..addresses {
        let source = (Ipv4Addr::from_bits(0x0b00_0000 + number), 5_000).into();
        let is_accepted = world.peer.accepts(world.now, source, host_address(), check);
        let is_authentic = world.peer.receive(world.now, source, host_address(), check);
        assert_eq!(is_accepted, is_authentic);
        let answer = world.peer.poll_datagram();
        assert_eq!(answer.is_some(), is_authentic);
        answers += usize::from(is_authentic);
    }
    answers
}

/// The library keeps each address that a check was answered to, for good.
#[test]
fn checks_are_taken_from_few_addresses_in_all() {
    let mut world = World::connected(FeedbackKind::OnRequest, 1);
    let check = check(&world);
    let many = checks_from(&mut world, &check, 10_000);
    assert_eq!(many, 15, "and the browser's own");
    assert_eq!(checks_from(&mut world, &check, 16), 15, "they stay");
    world.browser.write(world.now, "keys", true, b"key");
    world.run(TimeDelta::from_millis(60_000));
    assert_eq!(world.messages(Channel::Keys), [b"key"]);
    assert!(ends(&world).is_empty(), "its own checks are still answered");
}

/// Where the peer sends the next message.
fn destination(world: &mut World) -> SocketAddr {
    while world.peer.poll_datagram().is_some() {}
    assert!(world.peer.write(Channel::Control, b"{}"));
    let datagram = world.peer.poll_datagram().unwrap();
    datagram.destination
}

/// A translator of addresses has given the browser another address. A recorded check does not
/// move the peer to where it is sent from; what only the browser can have encrypted does.
#[test]
fn a_browser_with_a_new_address_is_followed() {
    let mut world = World::connected(FeedbackKind::OnRequest, 1);
    // A later check nominates the pair in use.
    world.from_browser.clear();
    world.run(TimeDelta::from_millis(10_000));
    let check = check(&world);
    let elsewhere: SocketAddr = ([10, 0, 0, 9], 6_000).into();
    let now = world.now;
    assert!(world.peer.receive(now, elsewhere, host_address(), &check));
    assert_eq!(destination(&mut world), browser_address());

    world.browser.out.clear();
    world.browser.write(now, "keys", true, b"key");
    let message = world.browser.out.pop().unwrap();
    let contents = &message.contents;
    assert!(world.peer.receive(now, elsewhere, host_address(), contents));
    assert_eq!(destination(&mut world), elsewhere);
    // An answer to a check goes back to where the check came from.
    assert!(
        world
            .peer
            .receive(now, browser_address(), host_address(), &check)
    );
    let answer = world.peer.poll_datagram().unwrap();
    assert_eq!(answer.destination, browser_address());
}

/// A translator of addresses may forget the browser at any moment while the connection is being
/// made.
#[test]
fn a_browser_with_a_new_address_before_the_first_data_is_followed() {
    let is_followed = |moment: &u32| {
        let mut world = World::answered(FeedbackKind::OnRequest, 1, |offer| offer);
        world.run(MS * 5 * *moment);
        world.outside = ([10, 0, 0, 9], 6_000).into();
        world.run(TimeDelta::from_millis(12_000));
        world.browser.is_connected
    };
    let left_behind: Vec<_> = (0..30).filter(|moment| !is_followed(moment)).collect();
    assert!(
        left_behind.is_empty(),
        "{left_behind:?}, in moments of 5 ms"
    );
}

/// SCTP has no empty messages, and one would stop the stream for good.
#[test]
fn an_empty_message_is_not_taken() {
    let mut world = World::connected(FeedbackKind::OnRequest, 1);
    assert!(!world.peer.write(Channel::Control, b""));
    assert!(world.peer.write(Channel::Control, b"{}"));
}

/// What is not authentic takes no place.
#[test]
fn wrong_checks_do_not_keep_a_browser_out() {
    let mut world = World::answered(FeedbackKind::OnRequest, 1, |offer| offer);
    world.browser.timeout(world.now);
    let first = world.browser.out.first().expect("a check of the path");
    let mut wrong = first.contents.clone();
    *wrong.last_mut().unwrap() ^= 1;
    // In the name of the attribute that says who asks.
    wrong[30] ^= 1;
    assert_eq!(checks_from(&mut world, &wrong, 10_000), 0);
    world.run(TimeDelta::from_millis(2_000));
    assert!(world.browser.is_connected);
}

/// Candidates are no way to more work, whichever way they come.
#[test]
fn candidates_are_not_needed_and_not_used() {
    let line = |number: usize| format!("candidate:1 1 udp 1 10.9.0.1 {number} typ host");
    let offered: Vec<_> = (2_000..3_000).map(line).collect();
    let offered = format!("a={}\r\n", offered.join("\r\na="));
    let mut world = World::answered(FeedbackKind::OnRequest, 1, |offer| {
        let own = |line: &&str| !line.starts_with("a=candidate:");
        let kept: Vec<&str> = offer.lines().filter(own).collect();
        let bare = kept.join("\r\n") + "\r\n";
        assert!(bare.len() < offer.len(), "the browser has offered some");
        bare.replacen("a=mid:", &format!("{offered}a=mid:"), 1)
    });
    for number in 10_000..20_000 {
        world.peer.add_candidate(&line(number)).unwrap();
    }
    world.run(TimeDelta::from_millis(2_000));
    assert!(world.browser.is_connected);
    let to = |left: &crate::world::Left| left.destination == browser_address();
    assert!(world.left.iter().all(to), "nothing goes to the others");
}

/// Who writes to the host from the browser's address without its keys is not the browser.
#[test]
fn what_is_not_authentic_is_no_sign_of_life() {
    let mut world = World::connected(FeedbackKind::OnRequest, 1);
    let check = check(&world);
    let receive = |world: &mut World, contents: &[u8]| {
        let (now, source) = (world.now, browser_address());
        assert!(world.peer.accepts(now, source, host_address(), contents));
        let is_authentic = world.peer.receive(now, source, host_address(), contents);
        while world.peer.poll_datagram().is_some() {}
        is_authentic
    };
    let mut wrong = check.clone();
    wrong[30] ^= 1;
    let mut junk = vec![0x80, 200, 0, 6, 0, 0, 0, 1];
    junk.extend([7; 40]);
    let mut dtls = vec![23, 254, 253, 0, 1, 0, 0, 0, 0, 0, 9, 0, 32];
    dtls.extend([7; 32]);
    for contents in [wrong, junk, dtls] {
        assert!(!receive(&mut world, &contents), "{contents:?}");
    }
    assert!(receive(&mut world, &check));
    world.from_browser.clear();
    world.browser.write(world.now, "keys", true, b"key");
    world.run(TimeDelta::ZERO);
    let message = world.from_browser.first().expect("a message").clone();
    assert!(receive(&mut world, &message));
}
