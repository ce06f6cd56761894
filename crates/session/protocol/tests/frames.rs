//! Messages of the channel `frames`, and the map between the clocks.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_protocol::PageTime;
use mimosa_protocol::frames::{ClockMap, FrameMessage, FramesError, Shown};
use mimosa_units::{Time, TimeDelta};
use proptest::prelude::*;

fn page(millis: f64) -> PageTime {
    PageTime::from_millis(millis).unwrap()
}

#[test]
fn a_message_is_laid_out_as_the_document_says() {
    let number = |millis: f64| millis.to_le_bytes();
    let shown = FrameMessage::Shown(Shown {
        timestamp: 0x0403_0201,
        received: Some(page(1.5)),
        decoding: Some(TimeDelta::from_micros(2_500)),
        presented: Some(page(3.5)),
        expected: None,
        count: 5,
    });
    let bytes = shown.to_bytes();
    assert_eq!(bytes.len(), 44);
    assert_eq!(bytes[..8], [32, 0, 0, 0, 1, 2, 3, 4]);
    let times = [number(1.5), number(2.5), number(3.5)].concat();
    assert_eq!(bytes[8..32], times);
    assert!(f64::from_le_bytes(bytes[32..40].try_into().unwrap()).is_nan());
    assert_eq!(bytes[40..], [5, 0, 0, 0]);
    assert_eq!(FrameMessage::parse(&bytes), Ok(shown));

    let decoded = FrameMessage::Decoded {
        timestamp: 7,
        at: Some(page(1.0)),
    };
    let head = [33, 0, 0, 0, 7, 0, 0, 0];
    assert_eq!(decoded.to_bytes(), [head, number(1.0)].concat());

    let host = Time::from_nanos(12_250_000);
    let question = FrameMessage::ClockQuestion { host };
    let head = [48, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(question.to_bytes(), [head, number(12.25)].concat());
    let answer = FrameMessage::ClockAnswer {
        host,
        page: page(9.0),
    };
    let head = [34, 0, 0, 0, 0, 0, 0, 0];
    let bytes = [head, number(12.25), number(9.0)].concat();
    assert_eq!(answer.to_bytes(), bytes);
}

#[test]
fn what_no_clock_says_is_not_known() {
    let mut bytes = vec![0; 44];
    bytes[0] = 32;
    for (at, absurd) in [(8, f64::NAN), (16, -1.0), (24, f64::INFINITY), (32, -0.5)] {
        bytes[at..at + 8].copy_from_slice(&absurd.to_le_bytes());
    }
    let Ok(FrameMessage::Shown(shown)) = FrameMessage::parse(&bytes) else {
        panic!("not shown");
    };
    assert_eq!(shown.decoding, None);
    let times = [shown.received, shown.presented, shown.expected];
    assert_eq!(times, [None; 3]);
}

#[test]
fn a_wrong_message_is_named_with_what_it_should_be() {
    let error = |bytes: &[u8]| FrameMessage::parse(bytes).unwrap_err();
    assert_eq!(error(&[]), FramesError::Empty);
    let (kind, length) = (35, 2);
    assert_eq!(error(&[35, 0]), FramesError::UnknownKind { kind, length });
    for (kind, expected) in [(32, 44), (33, 16), (34, 24), (48, 16)] {
        for length in [1, expected - 1, expected + 1] {
            let mut bytes = vec![0; length];
            bytes[0] = kind;
            let wrong = FramesError::Length {
                kind,
                length,
                expected,
            };
            assert_eq!(error(&bytes), wrong);
        }
    }
    for (kind, at, length) in [(34, 8, 24), (34, 16, 24), (48, 8, 16)] {
        let mut bytes = vec![0; length];
        bytes[0] = kind;
        bytes[at..at + 8].copy_from_slice(&f64::NAN.to_le_bytes());
        assert_eq!(error(&bytes), FramesError::NoTime { kind, at });
    }
}

/// A host's clock, a page's clock, and the network between them.
struct World {
    map: ClockMap,
    /// The host's time less the page's at the host's time zero, in milliseconds.
    offset: f64,
    /// How fast the page's clock runs too fast, as a share of time.
    drift: f64,
}

impl World {
    fn page_at(&self, host: f64) -> PageTime {
        page((host - self.offset) * (1.0 + self.drift))
    }

    /// Asks at `host`; the ways there and back take `there` and `back`. All in milliseconds.
    fn ask(&mut self, host: f64, there: f64, back: f64) {
        let answered = self.page_at(host + there);
        self.map
            .answer(time(host + there + back), time(host), answered);
    }

    /// Error of the map for the page's time at `host`, in milliseconds.
    fn error(&self, host: f64) -> f64 {
        let read = self.map.to_host(self.page_at(host)).unwrap();
        (read - time(host)).as_millis()
    }
}

fn time(millis: f64) -> Time {
    Time::ZERO + TimeDelta::from_secs(millis / 1e3)
}

#[test]
fn the_answer_that_came_fastest_is_used() {
    let mut world = World {
        map: ClockMap::new(),
        offset: 5_000.0,
        drift: 0.0,
    };
    assert_eq!(world.map.to_host(page(1.0)), None);
    assert_eq!(world.map.uncertainty(), None);
    world.ask(10_000.0, 30.0, 2.0);
    assert!((world.error(10_500.0) - -14.0).abs() < 0.001);
    assert_eq!(world.map.uncertainty(), Some(TimeDelta::from_millis(16)));
    world.ask(11_000.0, 1.5, 0.5);
    assert!((world.error(11_500.0) - -0.5).abs() < 0.001);
    assert_eq!(world.map.uncertainty(), Some(TimeDelta::from_millis(1)));
    world.ask(12_000.0, 0.0, 40.0);
    assert_eq!(world.map.uncertainty(), Some(TimeDelta::from_millis(1)));
}

#[test]
fn drift_is_bounded_by_forgetting() {
    let mut world = World {
        map: ClockMap::new(),
        offset: 0.0,
        drift: 50e-6,
    };
    world.ask(1_000.0, 0.1, 0.1);
    let mut worst = 0.0_f64;
    for second in 2..600 {
        let now = f64::from(second) * 1_000.0;
        // No later answer is as fast as the first.
        world.ask(now, 1.0, 1.0);
        worst = worst.max(world.error(now + 10.0).abs());
    }
    assert!(worst < 0.6, "50 us/s over ten seconds, not {worst} ms");
    assert!(worst > 0.4, "the first answer counts for a while");
    assert!(world.error(599_010.0).abs() < 0.06);
    // Without new answers, the last one continues to count.
    assert!(world.error(660_000.0).abs() < 4.0);
}

#[test]
fn an_answer_from_the_future_is_passed_over() {
    let mut map = ClockMap::new();
    map.answer(time(5.0), time(6.0), page(1.0));
    assert_eq!(map.uncertainty(), None);
}

#[test]
fn times_before_the_hosts_beginning_are_its_beginning() {
    let mut map = ClockMap::new();
    map.answer(time(10.0), time(10.0), page(1_000.0));
    assert_eq!(map.to_host(page(995.0)), Some(time(5.0)));
    assert_eq!(map.to_host(page(900.0)), Some(Time::ZERO));
    assert_eq!(
        map.to_host(page(f64::MAX)).map(|at| at > time(1e9)),
        Some(true)
    );
}

fn spans() -> impl Strategy<Value = u64> {
    // 23 days: beyond that, milliseconds in an f64 do not distinguish nanoseconds.
    0..2_000_000_000_000_000_u64
}

proptest! {
    #[test]
    fn every_message_comes_back(
        kind in 0..4,
        timestamp: u32,
        count: u32,
        millis in prop::array::uniform3(any::<f64>()),
        nanos in spans(),
    ) {
        let [received, presented, expected] = millis.map(PageTime::from_millis);
        let host = Time::from_nanos(nanos);
        let message = match kind {
            0 => FrameMessage::Shown(Shown {
                timestamp,
                received,
                decoding: received.map(|_| TimeDelta::from_nanos(nanos.cast_signed())),
                presented,
                expected,
                count,
            }),
            1 => FrameMessage::Decoded { timestamp, at: received },
            2 => FrameMessage::ClockAnswer { host, page: page(millis[0].abs()) },
            _ => FrameMessage::ClockQuestion { host },
        };
        prop_assert_eq!(FrameMessage::parse(&message.to_bytes()), Ok(message));
    }

    /// Whatever times the ways take, the error stays within the stated uncertainty.
    #[test]
    fn the_uncertainty_is_no_understatement(
        ways in prop::collection::vec((0.0..80.0_f64, 0.0..80.0_f64), 1..200),
        offset in -1e6..0.0_f64,
    ) {
        let mut world = World { map: ClockMap::new(), offset, drift: 0.0 };
        let mut now = 0.0;
        for (there, back) in ways {
            now += 100.0;
            world.ask(now, there, back);
            let bound = world.map.uncertainty().unwrap().as_millis();
            prop_assert!(world.error(now).abs() <= bound + 0.001);
        }
    }
}
