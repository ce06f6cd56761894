use mimosa_facts::{Cause, FrameId};
use mimosa_units::random::SplitMix;
use mimosa_units::{Bytes, Rate, TimeDelta};

use super::*;

fn limits() -> Limits {
    let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
    Limits::new(mbps(1), mbps(2), mbps(10))
}

/// A dialogue whose first line is answered.
fn begun() -> Dialogue {
    let (mut dialogue, _) = Dialogue::begin(limits(), &toml::Table::new());
    dialogue.take(b"{\"seq\":0}\n").unwrap();
    dialogue
}

fn due(number: u64) -> Event<'static> {
    Event::FrameDue {
        frame: FrameId(number),
        interval: TimeDelta::from_millis(16),
    }
}

#[test]
fn parameters_are_told_with_the_limits() {
    let params: toml::Table = toml::from_str("gain = 0.5\nname = 'a'\nsteps = [1, 2]").unwrap();
    let (_, first) = Dialogue::begin(limits(), &params);
    let first: serde_json::Value = serde_json::from_slice(&first).unwrap();
    assert_eq!(first["params"]["gain"], 0.5);
    assert_eq!(first["params"]["steps"][1], 2);
    assert_eq!(first["limits"]["start_bps"], 2_000_000);
}

#[test]
fn an_answer_without_a_decision_changes_nothing() {
    let mut dialogue = begun();
    dialogue.tell(Time::ZERO, &due(0));
    let timed = br#"{"seq":1,"decision":{"target_bps":3000000,"timer_ns":9000000}}"#;
    dialogue.take(timed).unwrap();
    let before = (*dialogue.decision(), dialogue.deadline());
    dialogue.tell(Time::from_millis(1), &Event::Timer);
    dialogue.take(br#"{"seq":2,"decision":null}"#).unwrap();
    assert_eq!(*dialogue.decision(), before.0);
    assert_eq!(before.1, Some(Time::from_millis(9)));
    assert_eq!(dialogue.deadline(), None, "the timer has come");
    assert_eq!(dialogue.unanswered(), 0);
}

#[test]
fn late_answers_count_in_their_order_and_a_late_limit_for_no_frame() {
    let mut dialogue = begun();
    dialogue.tell(Time::ZERO, &due(0));
    dialogue.tell(Time::from_millis(16), &due(1));
    assert_eq!(dialogue.unanswered(), 2);
    let late = br#"{"seq":1,"decision":{"target_bps":4000000,"frame_limit_bytes":10}}"#;
    dialogue.take(late).unwrap();
    assert_eq!(dialogue.decision().target, Rate::from_kbps(4_000));
    assert_eq!(dialogue.decision().frame_limit, None);
    let answer = br#"{"seq":2,"decision":{"frame_limit_bytes":20,"cause":"step"}}"#;
    let refused = dialogue.take(answer).unwrap_err().to_string();
    assert!(
        refused.contains("answer 2 is no decision: `cause`"),
        "{refused}"
    );
    dialogue
        .take(br#"{"seq":2,"decision":{"frame_limit_bytes":20}}"#)
        .unwrap();
    assert_eq!(dialogue.decision().frame_limit, Some(Bytes::new(20)));
    assert_eq!(dialogue.decision().cause, Cause::External);
}

#[test]
fn a_wrong_answer_is_named_with_what_to_write() {
    let long = vec![b' '; LONGEST_ANSWER + 1];
    for (answer, what) in [
        (&b"hello"[..], "answer 1, `hello`, is wrong: expected value"),
        (b"", "EOF while parsing"),
        (b"\xff\xfe", "is wrong"),
        (b"7", "is wrong"),
        (br#"{"seq":1,"decision":{"taget_bps":1}}"#, "`target_bps`"),
        (br#"{"target_bps":1}"#, "unknown field `target_bps`"),
        (br#"{"seq":3}"#, "answer 1 has the number 3"),
        (
            br#"{"seq":1,"decision":{"target_bps":-1}}"#,
            "is no decision",
        ),
        (&long, "longer than 16384 bytes"),
    ] {
        let mut dialogue = begun();
        dialogue.tell(Time::ZERO, &due(0));
        let before = *dialogue.decision();
        let said = dialogue.take(answer).unwrap_err().to_string();
        assert!(said.contains(what), "{what}: {said}");
        assert!(said.len() < 500 && !said.contains('\n'), "{said}");
        assert_eq!((*dialogue.decision(), dialogue.awaited()), (before, 1));
    }
    let said = begun().take(br#"{"seq":1}"#).unwrap_err().to_string();
    assert!(said.contains("no line was told"), "{said}");
}

/// Pieces of which random answers are made.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "null",
    "true",
    "-",
    "1e999",
    "18446744073709551616",
    "0",
    "5000000.5",
    "\"seq\":1",
    "\"decision\":{",
    "\"target_bps\":",
    "\"pacing\":{\"kind\":\"spread\"",
    "\"over_ns\":",
    "\"probe\":{",
    "\"timer_ns\":",
    "\"cause\":\"loss\"",
    "\\u0000",
    "\u{1b}[2J",
    "\n",
];

/// A valid answer with a few of its bytes changed, or a heap of pieces of one.
fn random_answer(random: &mut SplitMix) -> Vec<u8> {
    let whole = br#"{"seq":1,"decision":{"target_bps":5e6,"frame_limit_bytes":9000,"window_bytes":2e4,"pacing":{"kind":"bucket","rate_bps":4e6,"burst_bytes":0},"probe":{"id":1,"packets":3,"interval_ns":10},"timer_ns":77}}"#;
    if random.below(2) == 0 {
        let mut answer = whole.to_vec();
        for _ in 0..=random.below(4) {
            let at = usize::try_from(random.below(answer.len() as u64)).unwrap();
            let byte = random.next_u64().to_le_bytes()[0];
            match random.below(3) {
                _ if answer[at].is_ascii_digit() => answer[at] = b'0' + byte % 10,
                0 => answer[at] = byte,
                1 => answer.insert(at, byte),
                _ => drop(answer.remove(at)),
            }
        }
        return answer;
    }
    let pieces = (0..random.below(12)).map(|_| {
        let at = random.below(PIECES.len() as u64);
        PIECES[usize::try_from(at).unwrap()]
    });
    pieces.collect::<String>().into_bytes()
}

#[test]
fn no_answer_makes_a_dialogue_panic_or_leave_the_limits() {
    let mut random = SplitMix::new(1);
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut dialogue = begun();
        dialogue.tell(Time::from_secs(1), &due(0));
        let before = *dialogue.decision();
        match dialogue.take(&random_answer(&mut random)) {
            Ok(()) => {
                taken += 1;
                let target = dialogue.decision().target;
                assert_eq!(target, limits().clamp(target));
                assert!(dialogue.deadline().is_none_or(|at| at > Time::from_secs(1)));
            }
            Err(error) => {
                refused += 1;
                assert_eq!(*dialogue.decision(), before, "{error}");
                assert!(!error.to_string().contains(char::is_control), "{error}");
            }
        }
    }
    assert!(taken > 200 && refused > 5_000, "{taken} and {refused}");
}
