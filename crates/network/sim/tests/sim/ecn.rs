//! Video flows that decide for themselves on ECN: over queues that mark, over paths that
//! keep the field, and over paths that do not.

use crate::common::{Log, part, scenario, window};
use mimosa_facts::{Passage, StreamPacket};
use mimosa_figures::RunFigures;
use mimosa_scenario::load;
use mimosa_units::{Ecn, Time};

const DUALPI2: &str = "kind = \"dualpi2\"";
const CODEL: &str = "kind = \"codel\"";
const DROP_TAIL: &str = "kind = \"droptail\", limit = \"500kB\"";

/// One flow on 20 Mbit/s, round trip 20 ms.
fn text(queue: &str, path: &str, flow: &str) -> String {
    format!(
        "duration = \"20s\"\n[link]\nrate = \"20Mbit/s\"\none_way_delay = \"10ms\"\n\
         queue = {{ {queue} }}\n{path}\n[[flow]]\n{flow}\n"
    )
}

fn flow(controller: &str, ecn: &str, feedback: &str) -> String {
    format!("controller = \"{controller}\"\necn = \"{ecn}\"\nfeedback = \"{feedback}\"")
}

fn packets(queue: &str, path: &str, flow: &str) -> Vec<Passage<StreamPacket>> {
    Log::of(&scenario(&text(queue, path, flow)), 1).packets
}

/// Figures of seconds 5 to 20.
fn outcome(queue: &str, path: &str, flow: &str) -> RunFigures {
    part(
        &scenario(&text(queue, path, flow)),
        1,
        window(5_000, 20_000),
    )
}

fn used(outcome: &RunFigures) -> f64 {
    outcome.link.utilization.unwrap()
}

fn queue_ms(outcome: &RunFigures) -> f64 {
    outcome.link.queue_delay_ms.unwrap().mean
}

/// Of the packets that left from `from` on, how many were ECN-capable, marked, and all.
fn counts(packets: &[Passage<StreamPacket>], from: Time) -> [usize; 3] {
    let count = |what: &dyn Fn(&Passage<StreamPacket>) -> bool| {
        let later = packets.iter().filter(|packet| packet.offered >= from);
        later.filter(|packet| what(packet)).count()
    };
    [
        count(&|packet| packet.sent_ecn == Ecn::Ect1),
        count(&|packet| packet.ecn == Ecn::Ce),
        count(&|_| true),
    ]
}

/// After the trial it is as if the field were fixed.
#[test]
fn an_l4s_queue_is_used_as_by_a_sender_that_was_told() {
    for controller in ["prague", "scream"] {
        for feedback in ["packet", "rfc8888"] {
            let auto = flow(controller, "auto", feedback);
            let all = packets(DUALPI2, "", &auto);
            let [trial, ..] = counts(&all, Time::ZERO);
            let [capable, marked, sent] = counts(&all, Time::from_secs(5));
            assert_eq!(capable, sent, "{controller}, {feedback}: {trial}");
            assert!(marked > 100, "{controller}, {feedback}: {marked} marks");
            assert!(
                all.iter()
                    .take(20)
                    .any(|packet| packet.sent_ecn == Ecn::NotEct)
            );

            let told = outcome(DUALPI2, "", &flow(controller, "ect1", feedback));
            let auto = outcome(DUALPI2, "", &auto);
            let (use_1, use_2) = (used(&told), used(&auto));
            assert!(
                (use_1 - use_2).abs() < 0.03,
                "{controller}: {use_1} {use_2}"
            );
            let (queue_1, queue_2) = (queue_ms(&told), queue_ms(&auto));
            assert!(
                (queue_1 - queue_2).abs() < 0.5,
                "{controller}: {queue_1} {queue_2}"
            );
            assert!(queue_2 < 3.0, "{controller}, {feedback}: {queue_2} ms");
        }
    }
}

#[test]
fn a_classic_queue_marks_instead_of_dropping() {
    for controller in ["nada", "scream"] {
        let all = packets(CODEL, "", &flow(controller, "auto", "rfc8888"));
        let [capable, marked, sent] = counts(&all, Time::from_secs(1));
        assert_eq!(capable, sent, "{controller}");
        assert!(marked > 10, "{controller}: {marked} marks");
        let auto = outcome(CODEL, "", &flow(controller, "auto", "rfc8888"));
        assert_eq!(auto.link.dropped, 0, "{controller}");
    }
}

/// Ten packets of the trial, or those that leave before the first one's report.
#[test]
fn a_path_that_bleaches_or_mangles_is_left_alone() {
    for path in ["bleach = true", "mangle = \"ect0\""] {
        for feedback in ["packet", "rfc8888"] {
            let auto = flow("prague", "auto", feedback);
            let all = packets(DUALPI2, path, &auto);
            let [capable, _, sent] = counts(&all, Time::ZERO);
            assert!((1..=10).contains(&capable), "{path}: {capable} of {sent}");
            let never = outcome(DUALPI2, path, &flow("prague", "not-ect", feedback));
            let auto = outcome(DUALPI2, path, &auto);
            assert!((used(&never) - used(&auto)).abs() < 0.05, "{path}");
            assert!((queue_ms(&never) - queue_ms(&auto)).abs() < 5.0, "{path}");
        }
    }
}

/// Five trials of ten packets, a second apart. A sender that was told believes the marks and
/// stays at its lowest rate.
#[test]
fn a_path_that_marks_everything_is_not_believed() {
    let path = "mangle = \"ce\"";
    let all = packets(DROP_TAIL, path, &flow("prague", "auto", "rfc8888"));
    let [capable, _, _] = counts(&all, Time::ZERO);
    assert_eq!(capable, 50);
    let last = all.iter().rfind(|packet| packet.sent_ecn == Ecn::Ect1);
    let last = last.unwrap().offered;
    assert!(
        (Time::from_secs(4)..Time::from_secs(8)).contains(&last),
        "{last}"
    );
    let auto = outcome(DROP_TAIL, path, &flow("prague", "auto", "rfc8888"));
    let told = outcome(DROP_TAIL, path, &flow("prague", "ect1", "rfc8888"));
    assert!(
        used(&auto) > 0.9 && used(&told) < 0.1,
        "{} {}",
        used(&auto),
        used(&told)
    );
}

/// On a queue without marks the field comes through, and nothing is gained or lost by it.
#[test]
fn a_queue_without_marks_makes_no_difference() {
    let [auto, never] =
        ["auto", "not-ect"].map(|ecn| outcome(DROP_TAIL, "", &flow("scream", ecn, "rfc8888")));
    assert!((used(&auto) - used(&never)).abs() < 1e-9);
    let all = packets(DROP_TAIL, "", &flow("scream", "auto", "rfc8888"));
    let [capable, marked, sent] = counts(&all, Time::from_secs(1));
    assert_eq!((capable, marked), (sent, 0));
}

/// Losses fall on marked packets and others alike.
#[test]
fn losses_do_not_end_it() {
    let path = "loss = 0.02";
    let flow = flow("scream", "auto", "rfc8888");
    let all = packets(DUALPI2, path, &flow);
    let [capable, _, sent] = counts(&all, Time::from_secs(1));
    assert_eq!(capable, sent);
}

#[test]
fn nothing_is_marked_where_nobody_would_hear_or_answer() {
    for (flow, said) in [
        (
            flow("prague", "auto", "transport-cc-02"),
            "its reports do not carry the ECN field",
        ),
        (
            flow("prague", "auto", "transport-cc-01"),
            "its reports do not carry the ECN field",
        ),
        (flow("gcc", "auto", "rfc8888"), "`gcc` answers no marks"),
    ] {
        let loaded = load(&text(DUALPI2, "", &flow), "s.toml", &mut ()).unwrap();
        let (place, note) = &loaded.notes[0];
        assert!(note.starts_with(said), "{note}");
        assert_eq!(place.line, 9);
        let [capable, ..] = counts(&packets(DUALPI2, "", &flow), Time::ZERO);
        assert_eq!(capable, 0, "{flow}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (path, flow, said) in [
        (
            "bleach = true\nmangle = \"ce\"",
            "",
            "`bleach` and `mangle` exclude each other",
        ),
        (
            "mangle = \"ect1\"",
            "",
            "there is no ECN field to mangle to `ect1`; there is ect0, ce",
        ),
        (
            "",
            "ecn = \"ce\"",
            "there is no ECN field to send with `ce`; there is auto, not-ect",
        ),
        (
            "",
            "kind = \"tcp\"\necn = \"auto\"",
            "`auto`; there is not-ect, ect0, ect1",
        ),
        (
            "",
            "kind = \"cbr\"\nrate = \"1Mbit/s\"\necn = \"auto\"",
            "`auto`; there is not-ect",
        ),
        (
            "[[link.next]]\nrate = \"1Mbit/s\"\nbleach = true",
            "",
            "`bleach` means nothing for",
        ),
    ] {
        let error = load(&text(DUALPI2, path, flow), "s.toml", &mut ()).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
    let neither = text(DUALPI2, "bleach = false\nmangle = \"ce\"", "");
    assert!(load(&neither, "s.toml", &mut ()).is_ok());
}
