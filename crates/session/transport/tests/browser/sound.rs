//! Sound beside the pictures.

use mimosa_facts::{FrameId, PacketKind};
use mimosa_protocol::control::FeedbackKind;
use mimosa_rtp::red::{self, Earlier};
use mimosa_transport::HostTransport;
use mimosa_units::TimeDelta;

use crate::browser::H264;
use crate::rtp::{Kind, Rtp, kind};
use crate::world::{DELAY, MS, World, frame, outgoing};

/// Payload types of str0m's Opus and of its packets with redundancy.
const OPUS: u8 = 111;
const RED: u8 = 63;

fn hearing(feedback: FeedbackKind, edit: impl FnOnce(String) -> String) -> World {
    let mut world = World::offered(feedback, 70, [true, true], edit);
    world.run(TimeDelta::from_millis(2_000));
    assert!(world.browser.is_connected);
    world.left.clear();
    world
}

/// The lines of the answer's section of this kind.
fn section(world: &World, kind: &str) -> Vec<String> {
    let (_, rest) = world.answer.split_once(&format!("m={kind} ")).unwrap();
    let lines = rest.lines().take_while(|line| !line.starts_with("m="));
    lines.map(str::to_owned).collect()
}

/// Sends a frame of sound, and gives the datagram that it made.
fn send(world: &mut World, timestamp: u32, data: &[u8], redundancy: usize) -> Rtp {
    let length = world
        .peer
        .send_sound(world.now, timestamp, data, redundancy);
    let datagram = world.peer.poll_datagram().unwrap();
    assert_eq!(kind(&datagram.contents), Kind::Rtp);
    // Header, and extensions until the browser has told media from media; tag 16.
    assert!(datagram.contents.len() >= length + 12 + 16);
    let rtp = Rtp::parse(&datagram.contents);
    let destination = datagram.destination;
    world.browser.receive(world.now, &datagram);
    assert_eq!(destination, crate::world::browser_address());
    assert!(world.peer.poll_datagram().is_none(), "one call, one packet");
    rtp
}

#[test]
fn the_answer_has_both_channels_and_no_stream_in_common() {
    let world = hearing(FeedbackKind::OnRequest, |offer| offer);
    assert!(world.peer.agreed().has_sound && world.peer.agreed().takes_redundancy);
    let [sound, video] = ["audio", "video"].map(|kind| section(&world, kind));
    assert!(sound[0].ends_with(" 111 63"), "{}", sound[0]);
    let find = |lines: &[String], start: &str| {
        let found = lines.iter().find_map(|line| line.strip_prefix(start));
        found.unwrap_or_else(|| panic!("no {start}")).to_owned()
    };
    let format = find(&sound, "a=fmtp:111 ");
    for part in ["minptime=10", "useinbandfec=1", "stereo=1"] {
        assert!(
            format.split(';').any(|one| one == part),
            "{part} in {format}"
        );
    }
    assert_eq!(find(&sound, "a=fmtp:63 "), "111/111");
    assert_eq!(find(&sound, "a=rtpmap:63 "), "red/48000/2");
    let stream = |lines| find(lines, "a=msid:").split(' ').next().unwrap().to_owned();
    assert_ne!(
        stream(&sound[..]),
        stream(&video[..]),
        "nothing to keep in step"
    );
    let extensions = sound.iter().filter(|line| line.starts_with("a=extmap:"));
    let extensions: Vec<_> = extensions.collect();
    assert!(
        extensions.iter().all(|line| line.ends_with("sdes:mid")),
        "{extensions:?}"
    );
    let own = |lines: &[String]| find(lines, "a=ssrc:").split(' ').next().unwrap().to_owned();
    assert_ne!(own(&sound), own(&video));
}

#[test]
fn sound_leaves_at_once_beside_the_pictures() {
    for feedback in [FeedbackKind::OnRequest, FeedbackKind::Periodic] {
        let mut world = hearing(feedback, |offer| offer);
        let mut numbers = Vec::new();
        for count in 0..20_u16 {
            let id = u64::from(count);
            world
                .peer
                .insert(FrameId(id), 1_500 * u32::from(count), None, frame(id, 1), 0);
            let video = world.send(&outgoing(PacketKind::Media, count, id, 0));
            assert_eq!((video.payload_type, video.sequence), (H264, 70 + count));
            let data = [u8::try_from(count).unwrap(); 40];
            let sound = send(&mut world, 480 * u32::from(count), &data, 0);
            assert_eq!((sound.payload_type, sound.sequence), (RED, 70 + count));
            assert_eq!(sound.timestamp, 480 * u32::from(count));
            assert_ne!(sound.ssrc, video.ssrc);
            // No transport-wide number: the pictures have all of them.
            let transport = if feedback == FeedbackKind::OnRequest {
                "transport-wide-cc-02"
            } else {
                "transport-wide-cc-extensions-01"
            };
            let line = world.answer.lines().find(|line| line.ends_with(transport));
            let number = line.unwrap().strip_prefix("a=extmap:").unwrap();
            let number: u8 = number.split(' ').next().unwrap().parse().unwrap();
            assert!(!sound.extensions.contains_key(&number));
            let bytes = &video.extensions[&number];
            numbers.push(u16::from_be_bytes([bytes[0], bytes[1]]));
            world.run(MS * 10);
        }
        assert_eq!(numbers, (0..20).collect::<Vec<_>>(), "{feedback:?}");
        world.run(DELAY);
        let heard = world.browser.received.iter();
        let heard: Vec<_> = heard.filter(|packet| packet.payload_type == RED).collect();
        assert_eq!(heard.len(), 20);
        assert_eq!(heard[3].payload, red::write(OPUS, &[], &[3; 40]));
    }
}

#[test]
fn a_packet_has_earlier_frames_on_request() {
    let mut world = hearing(FeedbackKind::OnRequest, |offer| offer);
    for (count, redundancy) in (0_u8..).zip([2, 2, 2]) {
        send(&mut world, 480 * u32::from(count), &[count], redundancy);
        world.run(MS * 10);
    }
    let earlier = [
        Earlier {
            age: 960,
            payload: &[0],
        },
        Earlier {
            age: 480,
            payload: &[1],
        },
    ];
    let last = world.browser.received.last().unwrap();
    assert_eq!(last.payload, red::write(OPUS, &earlier, &[2]));
}

#[test]
fn without_redundancy_in_the_offer_frames_are_plain() {
    let without = |offer: String| offer.replace("red/48000/2", "other/48000/2");
    let mut world = hearing(FeedbackKind::OnRequest, without);
    assert!(world.peer.agreed().has_sound && !world.peer.agreed().takes_redundancy);
    assert!(!world.answer.contains("red/48000"));
    let sent = send(&mut world, 480, &[9], 2);
    assert_eq!(sent.payload_type, OPUS);
    assert_eq!(world.browser.received.last().unwrap().payload, [9]);
}

#[test]
fn without_sound_on_either_side_there_is_none() {
    for sides in [[true, false], [false, true]] {
        let mut world = World::offered(FeedbackKind::OnRequest, 1, sides, |offer| offer);
        world.run(TimeDelta::from_millis(2_000));
        assert!(world.browser.is_connected && !world.peer.agreed().has_sound);
        let is_refused = world.answer.contains("m=audio 0 ");
        assert_eq!(is_refused, sides[0], "{}", world.answer);
        assert_eq!(world.peer.send_sound(world.now, 0, &[1], 0), 0);
        assert!(world.peer.poll_datagram().is_none());
        // Pictures come as ever.
        world.peer.insert(FrameId(0), 0, None, frame(0, 1), 0);
        world.send(&outgoing(PacketKind::Media, 0, 0, 0));
        world.run(MS * 20);
        assert_eq!(world.browser.received.len(), 1);
    }
}
