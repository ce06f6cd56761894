//! What is written is what is read.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_trace::{Format, Segment, Trace, WriteError, parse, write};
use mimosa_units::{Rate, TimeDelta};
use proptest::prelude::*;

const MILLI: u64 = 1_000_000;

/// Rates and how long they last, in bits per second and nanoseconds.
fn trace(spans: &[(u64, u64)], more: impl Fn(usize) -> (Option<TimeDelta>, Option<f64>)) -> Trace {
    let mut at = TimeDelta::ZERO;
    let mut segments: Vec<Segment> = Vec::new();
    for (index, (bps, nanos)) in spans.iter().enumerate() {
        let (round_trip, loss) = more(index);
        let segment = Segment {
            at,
            rate: Rate::from_bps(*bps),
            round_trip,
            loss,
        };
        let continues = segments.last().is_some_and(|last| {
            (last.rate, last.round_trip, last.loss) == (segment.rate, round_trip, loss)
        });
        if !continues {
            segments.push(segment);
        }
        at += TimeDelta::from_nanos(nanos.cast_signed());
    }
    Trace {
        segments,
        length: at,
        notes: Vec::new(),
    }
}

/// What has passed by `until`, in bits and nanoseconds.
fn passed(trace: &Trace, until: TimeDelta) -> u128 {
    trace
        .spans()
        .map(|(segment, lasts)| {
            let lasts = lasts.min(until - segment.at).max(TimeDelta::ZERO);
            u128::from(segment.rate.as_bps()) * u128::from(lasts.as_nanos().unsigned_abs())
        })
        .sum()
}

fn rates() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        1..1_000_000_000_u64,
        1_000_000..20_000_000_u64,
        Just(10_000_000_000_000)
    ]
}

/// Even steps as recordings have them, and any others.
fn spans() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let nanos = prop_oneof![
        Just(100 * MILLI),
        Just(200 * MILLI),
        Just(5_000 * MILLI),
        1..3_000 * MILLI
    ];
    let even = prop::collection::vec((rates(), Just(100 * MILLI)), 1..40);
    let any = prop::collection::vec((rates(), nanos), 1..40);
    prop_oneof![even, any].prop_filter("something passes", |spans| {
        spans.iter().any(|(bps, _)| *bps > 0)
    })
}

proptest! {
    #[test]
    fn rows_are_exact(spans in spans(), kind in 0..3, round_trips in prop::collection::vec(0..3_600_000_000_000_u64, 40)) {
        let before = trace(&spans, |index| {
            let round_trip = TimeDelta::from_nanos(round_trips[index].cast_signed());
            (
                (kind > 0).then_some(round_trip),
                (kind > 1).then_some(round_trips[index] as f64 / 3.6e12),
            )
        });
        let text = write(&before, Format::Rows).unwrap();
        prop_assert_eq!(parse(&text).unwrap(), before, "{}", text);
    }

    #[test]
    fn opportunities_carry_what_is_left_over(spans in spans()) {
        let spans: Vec<_> = spans.iter().map(|(bps, nanos)| (*bps % 100_000_000 + 1, *nanos)).collect();
        let before = trace(&spans, |_| (None, None));
        let after = parse(&write(&before, Format::Mahimahi).unwrap()).unwrap();
        let millis = before.length.as_nanos().unsigned_abs().div_ceil(MILLI);
        prop_assert_eq!(after.length, TimeDelta::from_millis(millis.cast_signed()));
        for at in (0..before.length.as_nanos().unsigned_abs() / MILLI).step_by(499) {
            let until = TimeDelta::from_millis(at.cast_signed());
            let (one, other) = (passed(&before, until), passed(&after, until));
            prop_assert!(one <= other && other - one <= 12_000 * 1_000_000_000, "at {}: {} and {}", until, one, other);
        }
    }

    #[test]
    fn opportunities_are_kept(mut millis in prop::collection::vec(1..400_u64, 1..300)) {
        millis.sort_unstable();
        let lines: Vec<_> = millis.iter().map(u64::to_string).collect();
        let text = lines.join("\n") + "\n";
        let before = parse(&text).unwrap();
        let mahimahi = write(&before, Format::Mahimahi).unwrap();
        prop_assert_eq!(&mahimahi, &text);
        let rows = write(&before, Format::Rows).unwrap();
        prop_assert_eq!(parse(&rows).unwrap(), before);
    }

    #[test]
    fn parts_put_together_are_the_whole(spans in spans(), at in 0.01..0.99) {
        let whole = trace(&spans, |_| (None, None));
        let cut = whole.length.scale(at);
        let (first, second) = (whole.cut(TimeDelta::ZERO, cut), whole.cut(cut, whole.length));
        let bits = |part: Result<Trace, _>| part.map_or(0, |part: Trace| passed(&part, part.length));
        prop_assert_eq!(bits(first) + bits(second), passed(&whole, whole.length));
    }

    #[test]
    fn what_is_no_trace_is_refused_and_nothing_else_happens(text in "[0-9 .ms\n#-]{0,80}") {
        if let Ok(trace) = parse(&text) {
            for format in [Format::Rows, Format::Mahimahi] {
                if let Ok(text) = write(&trace, format) {
                    prop_assert!(parse(&text).is_ok(), "{}", text);
                }
            }
        }
    }
}

#[test]
fn rows_are_as_short_as_may_be() {
    let of = |spans: &[(u64, u64)]| write(&trace(spans, |_| (None, None)), Format::Rows).unwrap();
    let (slow, fast) = (1_500_000, 20_000_000);
    let step = 100 * MILLI;
    // Even steps need no end; a rate that is kept is said again.
    assert_eq!(of(&[(slow, step), (fast, step)]), "0 1.5\n0.1 20\n");
    let held = [(slow, step), (fast, 2 * step), (slow, step)];
    assert_eq!(of(&held), "0 1.5\n0.1 20\n0.2 20\n0.3 1.5\n");
    let long = [(slow, step), (fast, 50 * step)];
    assert_eq!(of(&long), "0 1.5\n0.1 20\n5.1\n");
    assert_eq!(of(&[(slow, step)]), "0 1.5\n0.1\n");
}

#[test]
fn an_outage_at_the_beginning_keeps_the_length() {
    let late = trace(&[(0, 5 * MILLI), (12_000_000, 3 * MILLI)], |_| (None, None));
    assert_eq!(write(&late, Format::Mahimahi).unwrap(), "6\n7\n8\n");
}

#[test]
fn what_a_format_cannot_hold_is_refused() {
    let day = 86_400_000 * MILLI;
    let plain = |spans: &[(u64, u64)]| trace(spans, |_| (None, None));
    let too_long = write(&plain(&[(1_000, day + 1)]), Format::Mahimahi);
    assert!(matches!(too_long, Err(WriteError::TooLong { .. })));
    let huge = write(&plain(&[(1_000_000_000, day)]), Format::Mahimahi);
    assert_eq!(
        huge,
        Err(WriteError::TooManyLines {
            lines: 7_200_000_000
        })
    );
    let fast = write(&plain(&[(10_000_000_000_001, MILLI)]), Format::Rows);
    assert_eq!(fast, Err(WriteError::TooFast));
    for format in [Format::Rows, Format::Mahimahi] {
        assert_eq!(write(&plain(&[(0, MILLI)]), format), Err(WriteError::Empty));
        assert_eq!(write(&plain(&[]), format), Err(WriteError::Empty));
    }
    for (round_trip, loss) in [
        (None, Some(0.1)),
        (Some(TimeDelta::ZERO), Some(1.1)),
        (Some(TimeDelta::ZERO), Some(f64::NAN)),
        (Some(TimeDelta::from_nanos(-1)), None),
        (Some(TimeDelta::from_millis(3_600_001)), None),
    ] {
        let odd = trace(&[(1, MILLI)], |_| (round_trip, loss));
        let at = TimeDelta::ZERO;
        assert_eq!(write(&odd, Format::Rows), Err(WriteError::NoRow { at }));
    }
}
