//! What the application is asked by RTCP, and within which limits.

use mimosa_proxy::{AppLimits, KeyframeRequest, NearConfig, Pass, RateRequest, VoiceConfig};
use mimosa_rtp::rtcp;
use mimosa_units::{Rate, Time, TimeDelta};

use crate::application::{Habits, VIDEO};
use crate::run::{World, config, droptail, mbps};

/// Payload types and formats of the packets, and their contents, without the receiver reports.
fn packets(requests: &[Vec<u8>]) -> Vec<(u8, u8, Vec<u8>)> {
    let all = requests.iter().flat_map(|one| rtcp::packets(one));
    let all = all.map(Result::unwrap);
    let all = all.filter(|packet| packet.payload_type != 201);
    all.map(|packet| (packet.payload_type, packet.format, packet.contents.to_vec()))
        .collect()
}

fn word(contents: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(contents[at..at + 4].try_into().unwrap())
}

#[test]
fn bitrates_and_keyframes_are_asked_for_by_rtcp() {
    for (rate_request, kind, at) in [
        (RateRequest::Tmmbr, (205, 3), (8, 12)),
        (RateRequest::Remb, (206, 15), (16, 12)),
    ] {
        let config = NearConfig {
            voice: VoiceConfig {
                rate_request: Some(rate_request),
                keyframe_request: Some(KeyframeRequest::Pli),
                ..VoiceConfig::default()
            },
            ..config()
        };
        let mut world = World::new(Habits::default(), Some((config, "mimosa")), droptail());
        world.there.loss = 0.001;
        world.run_to(Time::from_secs(8));
        let asked = packets(&world.requests);
        let rates = asked
            .iter()
            .filter(|(kind_of, format, _)| (*kind_of, *format) == kind);
        let rates: Vec<_> = rates.collect();
        assert!(rates.len() >= 7, "once a second at least: {}", rates.len());
        let (_, _, last) = rates.last().unwrap();
        assert_eq!(word(last, at.0), VIDEO);
        let value = word(last, at.1);
        let asked_for = match rate_request {
            RateRequest::Tmmbr => u64::from(value >> 9 & 0x1_ffff) << (value >> 26),
            RateRequest::Remb => u64::from(value & 0x3_ffff) << (value >> 18 & 0x3f),
        };
        let told = world.near().bitrate().unwrap();
        let ratio = Rate::from_bps(asked_for).ratio(told);
        assert!((0.999..=1.0).contains(&ratio), "{ratio} of {told}");
        let is_pli = |one: &&(u8, u8, Vec<u8>)| one.0 == 206 && one.1 == 1;
        let keyframes = asked.iter().filter(is_pli).count() as u64;
        assert_eq!(keyframes, world.near().statistics().keyframes);
        assert!(keyframes >= 2, "{} packets were lost", world.there.lost);
    }
}

#[test]
fn losses_are_answered_by_keyframes_unless_the_receiver_asks_itself() {
    for asks in [false, true] {
        let mut world = World::new(Habits::default(), Some((config(), "mimosa")), droptail());
        world.there.loss = 0.002;
        if asks {
            let (near, _) = world.ends.as_mut().unwrap();
            let nack = [0x81, 205, 0, 3, 0, 0, 0, 9, 0, 0, 0, 0x11, 0, 0, 0, 0];
            assert_eq!(near.network_brought(Time::ZERO, &nack), Pass::Rtcp);
        }
        world.run_to(Time::from_secs(6));
        let keyframes = world.near().statistics().keyframes;
        assert!(world.there.lost > 3, "{}", world.there.lost);
        let is_right = if asks {
            keyframes == 0
        } else {
            (2..=12).contains(&keyframes)
        };
        assert!(is_right, "{keyframes} with {asks}");
    }
}

#[test]
fn the_application_sets_limits() {
    let mut world = World::new(Habits::default(), Some((config(), "mimosa")), droptail());
    world.run_to(Time::from_secs(3));
    let (near, _) = world.ends.as_mut().unwrap();
    near.set_limits(AppLimits {
        min: Rate::ZERO,
        max: mbps(4),
    });
    world.run_to(Time::from_secs(8));
    let from = world.now - TimeDelta::from_millis(4_000);
    let rate = world.between(from, world.now).1.as_mbps();
    assert!((3.5..4.5).contains(&rate), "{rate}");
    let told = world.near().bitrate();
    assert_eq!(told, Some(mbps(4)));
}
