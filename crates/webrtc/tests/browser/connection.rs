//! Connecting, channels, and the end of a connection.

use std::time::Duration;

use mimosa_video::Codec;
use mimosa_webrtc::{Channel, Peer, PeerEvent};
use mimosa_wire::control::FeedbackKind;

use crate::browser::{Browser, LABELS};
use crate::rtp::{Kind, kind};
use crate::world::{DELAY, MS, World, beginning, browser_address, host_address};

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
    world.run(Duration::from_secs(2));
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
    world.run(50 * MS);
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
    world.run(2 * DELAY);
    world.returns = Box::new(|_| true);
    world.run(Duration::from_secs(3));
    assert_eq!(world.messages(Channel::Keys), [b"key"]);
    assert!(world.messages(Channel::Input).is_empty());
}

#[test]
fn a_keyframe_is_asked_for() {
    let mut world = World::connected(FeedbackKind::OnRequest, 1);
    world.browser.want_keyframe(world.now);
    world.run(50 * MS);
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
    world.run(100 * MS);
    assert_eq!(ends(&world), ["the browser closed the connection"]);
}

#[test]
fn a_browser_that_falls_silent_is_given_up_and_one_that_does_not_is_not() {
    let mut world = World::connected(FeedbackKind::OnRequest, 1);
    world.run(Duration::from_mins(2));
    assert!(world.events.is_empty(), "{:?}", world.events);
    world.returns = Box::new(|_| false);
    world.run(Duration::from_mins(1));
    assert_eq!(ends(&world), ["the browser does not answer any more"]);
}

#[test]
fn a_closed_peer_is_silent() {
    let mut world = World::connected(FeedbackKind::OnRequest, 1);
    world.peer.close();
    world.run(Duration::ZERO);
    world.left.clear();
    world.browser.write(world.now, "keys", true, b"key");
    world.run(Duration::from_secs(5));
    assert!(world.left.is_empty() && world.messages(Channel::Keys).is_empty());
}

/// One socket serves all peers; a datagram finds its own.
#[test]
fn a_peer_accepts_what_is_its_own() {
    let now = beginning();
    let addresses = [host_address()];
    let (mut browser, offer) = Browser::new(now, browser_address(), false);
    let answer =
        |offer: &str| Peer::answer(offer, &[Codec::H264], None, &addresses, 1, true, now).unwrap();
    let (own, text) = answer(&offer);
    let (other, _) = answer(include_str!("../offers/chromium-156.sdp"));
    browser.take_answer(now, &text);
    browser.timeout(now);
    let first = browser.out.first().expect("a check of the path");
    assert_eq!(kind(&first.contents), Kind::Stun);
    let accepts = |peer: &Peer| peer.accepts(now, first.source, first.destination, &first.contents);
    assert!(accepts(&own) && !accepts(&other));
}
