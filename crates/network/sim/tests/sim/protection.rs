//! Frames in time though packets are lost: late frames and what was sent for it, together.

use crate::common::{Log, scenario, whole};
use mimosa_facts::{PacketKind, Passage, StreamPacket};
use mimosa_figures::RecoveryFigures;
use mimosa_scenario::load;

/// 7 of 10 Mbit/s, 60 frames a second of 13 packets, so that nothing but loss is at work.
fn text(rtt: u64, deadline: u64, loss: &str, protection: &str) -> String {
    format!(
        "duration = \"60s\"\n[link]\nrate = \"10Mbit/s\"\none_way_delay = \"{}ms\"\n\
         queue = {{ kind = \"droptail\", limit = \"500kB\" }}\n{loss}\n[[flow]]\nname = \"game\"\n\
         controller = \"fixed\"\nstart_bitrate = \"7Mbit/s\"\ndeadline = \"{deadline}ms\"\n\
         protection = \"{protection}\"\n",
        rtt / 2
    )
}

fn recovery(rtt: u64, deadline: u64, loss: &str, protection: &str) -> RecoveryFigures {
    let scenario = scenario(&text(rtt, deadline, loss, protection));
    let of = |seed| whole(&scenario, seed).flows.remove(0).recovery.unwrap();
    let runs: Vec<_> = (1..=4).map(of).collect();
    let mean = |figure: fn(&RecoveryFigures) -> Option<f64>| {
        Some(runs.iter().filter_map(figure).sum::<f64>() / runs.len() as f64)
    };
    RecoveryFigures {
        deadline_ms: runs[0].deadline_ms,
        late: mean(|run| run.late),
        repaired: mean(|run| run.repaired),
        overhead: mean(|run| run.overhead),
    }
}

const RANDOM: &str = "loss = 0.02";
/// Two percent in bursts of four.
const BURSTS: &str = "burst_loss = { to_bad = 0.005102, to_good = 0.25 }";

/// 60 ms there and back in 50 ms: nothing that is sent again can be in time. One of 13
/// packets is lost of 23 % of the frames, in bursts of 7.8 %. With repair packets in the same
/// rate a frame has ten packets and three more, which leave 0.01 %; in bursts eight and four,
/// which is the bound and leaves 1.8 %.
#[test]
fn without_time_for_a_round_repair_alone_is_in_time() {
    for (loss, again, in_time, repaired, overhead) in [
        (
            RANDOM,
            0.2..0.26,
            0.0..1.5e-3,
            [0.16..0.2, 0.16..0.2],
            0.2..0.35,
        ),
        (
            BURSTS,
            0.065..0.09,
            0.014..0.022,
            // What is late is repaired as well when the rest was sent again.
            [0.03..0.045, 0.045..0.065],
            0.45..0.55,
        ),
    ] {
        let late = recovery(60, 50, loss, "retransmission");
        assert!(again.contains(&late.late.unwrap()), "{late:?}");
        assert!((0.015..0.03).contains(&late.overhead.unwrap()), "{late:?}");
        assert_eq!(late.repaired, Some(0.0));
        for (protection, repaired) in ["fec", "joint"].iter().zip(repaired) {
            let found = recovery(60, 50, loss, protection);
            for (figure, range) in [
                (found.late, &in_time),
                (found.overhead, &overhead),
                (found.repaired, &repaired),
            ] {
                let is_within = range.contains(&figure.unwrap());
                assert!(is_within, "{protection} {found:?}, not {range:?}");
            }
        }
    }
}

/// 10 ms there and back in 100 ms: what is sent again is in time, and repair packets are
/// nearly all in vain.
#[test]
fn with_time_for_rounds_repair_is_not_sent() {
    for loss in [RANDOM, BURSTS] {
        let plain = recovery(10, 100, loss, "retransmission");
        let joint = recovery(10, 100, loss, "joint");
        let fec = recovery(10, 100, loss, "fec");
        assert!(joint.late.unwrap() <= 1.5e-3, "{joint:?}");
        assert!(
            joint.late.unwrap() <= plain.late.unwrap(),
            "{joint:?} {plain:?}"
        );
        let (joint, plain) = (joint.overhead.unwrap(), plain.overhead.unwrap());
        assert!((0.015..0.03).contains(&plain), "{plain}");
        assert!(
            (0.9 * plain..1.5 * plain).contains(&joint),
            "{joint} {plain}"
        );
        assert!(fec.overhead.unwrap() > 4.0 * joint, "{fec:?} {joint}");
    }
}

/// On a link that loses nothing repair ends as soon as that is known.
#[test]
fn without_loss_there_is_no_repair() {
    for protection in ["fec", "joint"] {
        let log = Log::of(&scenario(&text(30, 50, "", protection)), 1);
        let repair =
            |packet: &&Passage<StreamPacket>| packet.packet.kind == Some(PacketKind::Repair);
        let last = log
            .packets
            .iter()
            .filter(repair)
            .map(|packet| packet.packet.frame)
            .max();
        assert!(
            (60..2_000).contains(&last.unwrap()),
            "{protection} {last:?}"
        );
        assert!(log.frames.iter().all(|(_, life)| life.lost == 0));
    }
}

/// The frames and their repair packets together stay at what the controller granted.
#[test]
fn repair_is_within_the_grant() {
    for protection in ["retransmission", "fec"] {
        let scenario = scenario(&text(60, 50, BURSTS, protection));
        let log = Log::of(&scenario, 1);
        let first =
            |packet: &&Passage<StreamPacket>| packet.packet.kind.is_some_and(PacketKind::is_first);
        let bytes: u64 = log
            .packets
            .iter()
            .filter(first)
            .map(|packet| packet.size.get())
            .sum();
        let mbps = bytes as f64 * 8.0 / 60.0 / 1e6;
        assert!((6.6..7.05).contains(&mbps), "{protection} {mbps}");
        let bitrate = whole(&scenario, 1).flows[0].bitrate_mbps.unwrap();
        if protection == "fec" {
            assert!((4.2..5.6).contains(&bitrate), "{bitrate}");
        } else {
            assert!((6.9..7.05).contains(&bitrate), "{bitrate}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let scenario = scenario(&text(30, 100, BURSTS, "joint"));
    let everything = |seed| {
        let log = Log::of(&scenario, seed);
        format!("{:?} {:?}", log.frames, log.packets)
    };
    assert!(everything(1) == everything(1));
    assert!(everything(1) != everything(2));
}

/// A scenario without the keys has no such figures.
#[test]
fn figures_are_there_when_asked_for() {
    let text = text(30, 50, RANDOM, "joint");
    let json = |text: &str| serde_json::to_string(&whole(&scenario(text), 1)).unwrap();
    assert!(json(&text).contains("\"recovery\":{\"deadline_ms\":50.0,\"late\":"));
    let without = text.replace("deadline = \"50ms\"\nprotection = \"joint\"\n", "");
    assert_ne!(without, text);
    assert!(!json(&without).contains("recovery"));
}

#[test]
fn what_means_nothing_is_refused() {
    let refused = |more: &str| {
        let text = format!("duration = \"1s\"\n[link]\nrate = \"1Mbit/s\"\n[[flow]]\n{more}\n");
        load(&text, "t", &mut ()).unwrap_err().to_string()
    };
    for (more, said) in [
        (
            "protection = \"raid\"",
            "there is none, retransmission, fec, joint",
        ),
        (
            "protection_params = {}",
            "`protection_params` means nothing for a flow whose",
        ),
        (
            "protection = \"fec\"\nprotection_params = { late_target = 0.0 }",
            "`late_target` must be a share between 0 and 1",
        ),
        (
            "protection = \"joint\"\nprotection_params = { most_overhead = -0.5 }",
            "`most_overhead` must be from 0 to 10",
        ),
        (
            "protection = \"joint\"\nprotection_params = { late = 0.1 }",
            "unknown field `late`",
        ),
        ("deadline = \"0s\"", "`deadline` must be above zero"),
        (
            "kind = \"cbr\"\nrate = \"1Mbit/s\"\nprotection = \"fec\"",
            "`protection` means nothing for a flow of kind \"cbr\"",
        ),
    ] {
        let found = refused(more);
        assert!(found.contains(said), "{found}");
    }
}
