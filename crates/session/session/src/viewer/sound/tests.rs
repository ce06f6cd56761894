use std::ops::Range;

use mimosa_rtp::red::Earlier;

use super::*;

fn coded(number: u32) -> Vec<u8> {
    number.to_be_bytes().to_vec()
}

/// Hands the buffer frame `number` in a packet that repeats `earlier` frames.
fn packet(buffer: &mut SoundBuffer, now: Time, number: u32, earlier: u32) {
    let timestamp = |number: u32| number.wrapping_mul(FRAME).wrapping_sub(5_000);
    let before: Vec<_> = (1..=earlier)
        .rev()
        .map(|back| (back * FRAME, coded(number - back)))
        .collect();
    let before: Vec<_> = before
        .iter()
        .map(|(age, payload)| Earlier { age: *age, payload })
        .collect();
    let payload = red::write(111, &before, &coded(number));
    buffer.redundant(now, timestamp(number), &payload).unwrap();
}

/// The conditions of a run.
struct Run {
    frames: u32,
    earlier: u32,
    /// How late the packet of a frame comes; `None` if it never does.
    late: fn(u32) -> Option<TimeDelta>,
    /// Whether the loudspeaker plays.
    plays: fn(Time) -> bool,
    /// Most milliseconds by which the loudspeaker asks too early.
    early: u32,
    /// Number of milliseconds of sound that the loudspeaker takes at a time.
    lump: u32,
    /// Whether the loudspeaker reports for how long it had nothing.
    tells: bool,
    /// Whether packets are not read either while the loudspeaker stands still.
    alone: bool,
}

const CLEAN: Run = Run {
    frames: 1_000,
    earlier: 0,
    late: |_| Some(TimeDelta::ZERO),
    plays: |_| true,
    early: 0,
    lump: 1,
    tells: false,
    alone: false,
};

/// Whether `now` is within these milliseconds.
fn stands(now: Time, millis: Range<u64>) -> bool {
    millis.contains(&(now.as_nanos() / 1_000_000))
}

/// The lateness of a frame when the first of every `every` frames is late by `frames` frames, and
/// the next ones wait behind it. The first second has no late frames.
fn burst(number: u32, every: u32, frames: u32) -> TimeDelta {
    let late = frames.saturating_sub(number % every);
    FRAME_TIME * if number < 100 { 0 } else { late }
}

/// A pseudorandom number from 0 to `most`, the same for the same `number`.
fn random(number: u64, most: u32) -> u32 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    u32::try_from((mixed >> 33) % u64::from(most + 1)).unwrap()
}

const MS: TimeDelta = TimeDelta::from_millis(1);

/// The counts of a run, and the mean wait of the frames in its last second.
fn run(run: &Run) -> (SoundCounts, TimeDelta) {
    let mut buffer = SoundBuffer::new(SoundConfig::default());
    let number_of = |coded: Vec<u8>| u32::from_be_bytes(coded.try_into().unwrap());
    let due = |number: u32| Time::ZERO + FRAME_TIME * (number + 1);
    let (mut last, mut next, mut read) = (None, Time::ZERO, None);
    let (mut waits, mut is_silent) = (Vec::new(), true);
    let millis = u64::from(run.frames) * 10;
    for now in (0..millis).map(Time::from_millis) {
        let newest = u32::try_from(now.as_nanos() / 10_000_000).unwrap();
        let plays = (run.plays)(now);
        if plays || !run.alone {
            for number in newest.saturating_sub(40)..newest {
                let come = (run.late)(number).map(|late| due(number) + late);
                if come.is_some_and(|come| come <= now && read.is_none_or(|read| come > read)) {
                    packet(&mut buffer, now, number, run.earlier.min(number));
                }
            }
            read = Some(now);
            buffer.look(now);
        }
        let silent = now.since(next);
        if !plays {
            next = if run.tells { next } else { now + MS };
            continue;
        }
        if run.tells && silent > MS {
            next = now;
            buffer.ran_out(silent);
        }
        if now.as_nanos() / 1_000_000 % u64::from(run.lump) != 0 {
            continue;
        }
        // The loudspeaker's earliness changes every 50 ms.
        let early = MS * (random(now.as_nanos() / 50_000_000, run.early) + run.lump - 1);
        while next <= now + early {
            let mut wanted = (now + early).since(next) + MS;
            if is_silent {
                wanted = wanted.max(FRAME_TIME * 2);
            }
            let play = buffer.play(now, wanted);
            is_silent = play == Play::Silence;
            if is_silent {
                next = now + MS;
                break;
            }
            let speed = match &play {
                Play::Frame { speed, .. } => *speed,
                Play::Late | Play::MadeUp | Play::Silence => 1.0,
            };
            assert!((0.99..=1.005).contains(&speed), "{speed}");
            next += FRAME_TIME.scale(1.0 / speed);
            if let Play::Frame { coded, .. } = play {
                let number = number_of(coded);
                assert!(Some(number) > last, "{number} after {last:?}");
                last = Some(number);
                if newest + 100 > run.frames {
                    waits.push(now.since(due(number)));
                }
            }
        }
    }
    assert!(buffer.frames.len() <= MOST_KEPT);
    let sum = waits.iter().fold(TimeDelta::ZERO, |sum, wait| sum + *wait);
    (buffer.counts(), sum / u32::try_from(waits.len()).unwrap())
}

#[test]
fn it_keeps_their_order_and_no_more_than_it_has_to() {
    let (counts, wait) = run(&CLEAN);
    assert_eq!((counts.packets, counts.played), (999, 971));
    assert_eq!((counts.made_up, counts.left_out), (0, 0));
    assert!(wait >= MS * 4 && wait <= MS * 8, "{wait:?}");
}

#[test]
fn repeated_frames_make_up_for_two_lost_in_a_row() {
    let late = |number: u32| (!matches!(number % 97, 50 | 51)).then_some(TimeDelta::ZERO);
    let lossy = Run {
        frames: 20_000,
        late,
        ..CLEAN
    };
    let repeated = Run {
        earlier: 2,
        ..lossy
    };
    let (counts, wait) = run(&repeated);
    assert_eq!((counts.made_up, counts.gaps), (0, 0));
    assert!(counts.repaired >= 2 * 200, "{counts:?}");
    assert!(wait >= MS * 24 && wait <= MS * 28, "{wait:?}");
    // Without repetitions each loss is heard.
    let (counts, _) = run(&lossy);
    assert_eq!((counts.made_up, counts.gaps), (412, 206));
    assert_eq!(counts.stretched, 0, "none of them was late after all");
}

#[test]
fn what_the_first_picture_keeps_waiting_is_not_heard() {
    // The first packets wait behind a picture of 90 ms.
    for earlier in [0, 2] {
        let late = |number: u32| {
            let behind = match number {
                3..12 => 12 - number,
                _ => 0,
            };
            Some(FRAME_TIME * behind)
        };
        let (counts, wait) = run(&Run {
            earlier,
            late,
            frames: 300,
            ..CLEAN
        });
        assert_eq!((counts.stretched, counts.made_up), (0, 0), "{counts:?}");
        assert!(wait <= MS * (18 + 10 * earlier), "{wait:?}");
    }
}

#[test]
fn what_is_late_once_may_be_so_again() {
    let (counts, wait) = run(&Run {
        frames: 3_000,
        late: |number| Some(burst(number, 100, 6)),
        ..CLEAN
    });
    assert_eq!(
        (counts.stretched, counts.made_up, counts.gaps),
        (2, 3, 1),
        "60 ms, less what was waited: {counts:?}"
    );
    assert!(wait >= MS * 60 && wait <= MS * 70, "{wait:?}");
}

#[test]
fn jitter_is_waited_for_and_no_more() {
    for most in [4, 20] {
        let late: fn(u32) -> Option<TimeDelta> = match most {
            4 => |number| Some(MS * ((number.wrapping_mul(2_654_435_761) >> 16) % 4)),
            _ => |number| Some(MS * ((number.wrapping_mul(2_654_435_761) >> 16) % 20)),
        };
        let (counts, wait) = run(&Run {
            frames: 6_000,
            late,
            ..CLEAN
        });
        assert_eq!((counts.gaps, counts.left_out), (0, 0), "{counts:?}");
        assert!(
            wait >= MS * (most + 3) && wait <= MS * (most + 7),
            "{wait:?}"
        );
    }
}

#[test]
fn a_delay_that_is_not_needed_goes_away_without_a_seam() {
    // Frames are late once, at the beginning.
    let long = Run {
        frames: 6_000,
        late: |number| Some(burst(number + 9_900, 10_000, 4)),
        ..CLEAN
    };
    let (counts, wait) = run(&long);
    assert_eq!(counts.left_out, 0, "{counts:?}");
    assert!(
        wait >= MS * 4 && wait <= MS * 8,
        "what is needed is left: {wait:?}"
    );
    // With repetitions in the packets, the wait is two frames longer.
    let (_, wait) = run(&Run { earlier: 2, ..long });
    assert!(wait >= MS * 24 && wait <= MS * 28, "{wait:?}");
}

#[test]
fn what_was_late_is_remembered_for_some_seconds() {
    let once = Run {
        frames: 1_000,
        late: |number| Some(burst(number, 800, 4)),
        ..CLEAN
    };
    let (first, wait) = run(&once);
    assert!(first.stretched + first.made_up > 0, "{first:?}");
    // The delay has not grown by more than it had to.
    assert!(wait >= MS * 43 && wait <= MS * 47, "{wait:?}");
    let (counts, _) = run(&Run {
        frames: 6_000,
        ..once
    });
    let both = |counts: SoundCounts| (counts.stretched, counts.made_up);
    assert_eq!(both(counts), both(first));
}

#[test]
fn a_loudspeaker_that_asks_unevenly_has_enough() {
    let (counts, wait) = run(&Run {
        frames: 6_000,
        early: 30,
        ..CLEAN
    });
    assert_eq!((counts.stretched, counts.made_up), (0, 0), "{counts:?}");
    assert!(wait <= MS * 38, "{wait:?}");
}

#[test]
fn what_is_late_now_and_then_and_not_lost_is_no_reason_for_more() {
    let late = |number: u32| Some(MS * if number % 100 == 50 { 15 } else { 0 });
    let (counts, wait) = run(&Run {
        frames: 6_000,
        earlier: 2,
        late,
        ..CLEAN
    });
    assert_eq!(counts.gaps, 0);
    assert!(wait <= MS * 28, "{wait:?}");
}

#[test]
fn what_is_late_and_was_repeated_before_is_not_waited_for() {
    let late = |number: u32| Some(MS * if number % 10 == 5 { 25 } else { 0 });
    let (counts, wait) = run(&Run {
        frames: 3_000,
        earlier: 2,
        late,
        ..CLEAN
    });
    assert_eq!((counts.stretched, counts.gaps), (0, 0), "{counts:?}");
    assert!(wait >= MS * 24 && wait <= MS * 28, "{wait:?}");
}

#[test]
fn a_loudspeaker_that_had_nothing_is_no_later_afterwards() {
    for frames in [1, 4, 30] {
        let plays = match frames {
            1 => |now| !stands(now, 8_000..8_012),
            4 => |now| !stands(now, 8_000..8_043),
            _ => |now| !stands(now, 8_000..8_300),
        };
        let (counts, wait) = run(&Run {
            frames: 1_100,
            plays,
            tells: true,
            ..CLEAN
        });
        assert_eq!((counts.ran_out, counts.left_out), (1, frames));
        assert_eq!((counts.made_up, counts.gaps), (0, 0), "{frames}");
        assert!(wait >= MS * 4 && wait <= MS * 8, "{frames}: {wait:?}");
    }
}

#[test]
fn what_came_while_everything_stood_still_was_not_late() {
    let (counts, wait) = run(&Run {
        frames: 1_000,
        earlier: 2,
        plays: |now| !stands(now, 8_000..8_070),
        tells: true,
        alone: true,
        ..CLEAN
    });
    assert_eq!((counts.ran_out, counts.left_out), (1, 7), "{counts:?}");
    assert_eq!((counts.stretched, counts.made_up), (0, 0), "{counts:?}");
    assert!(wait >= MS * 24 && wait <= MS * 32, "{wait:?}");
}

#[test]
fn what_is_left_out_without_a_halt_is_a_gap() {
    // All frames are 80 ms late, and then no longer.
    let late = |number: u32| Some(FRAME_TIME * if number < 300 { 8 } else { 0 });
    for (lump, frames) in [(1, 8), (60, 7)] {
        let (counts, wait) = run(&Run {
            frames: 3_000,
            late,
            lump,
            ..CLEAN
        });
        assert_eq!((counts.gaps, counts.made_up), (1, 0), "{counts:?}");
        assert_eq!(counts.left_out, frames, "{counts:?}");
        assert!(wait >= MS * 4 && wait <= MS * (11 + lump), "{wait:?}");
    }
}

#[test]
fn what_a_loudspeaker_missed_is_left_out_soon() {
    // The loudspeaker stands still for 0.8 s.
    let plays = |now| !stands(now, 1_000..1_800);
    let (counts, wait) = run(&Run {
        frames: 500,
        plays,
        ..CLEAN
    });
    assert_eq!((counts.made_up, counts.gaps), (0, 0));
    assert!((75..85).contains(&counts.left_out), "{counts:?}");
    assert!(wait <= FRAME_TIME * 2, "{wait:?}");
}

#[test]
fn after_a_long_gap_it_begins_anew() {
    let late = |number: u32| (!(500..1_500).contains(&number)).then_some(TimeDelta::ZERO);
    let (counts, _) = run(&Run {
        frames: 3_000,
        late,
        ..CLEAN
    });
    assert!(counts.made_up <= 20, "{counts:?}");
    assert_eq!(counts.gaps, 1);
    assert!(counts.played >= 1_990, "{counts:?}");
}

#[test]
fn nobody_playing_costs_no_memory() {
    let mut buffer = SoundBuffer::new(SoundConfig::default());
    let mut now = Time::ZERO;
    for number in 0..10_000 {
        packet(&mut buffer, now, number, 0);
        now += FRAME_TIME;
    }
    assert!(buffer.frames.len() <= MOST_KEPT);
    let Play::Frame { coded, .. } = buffer.play(now, FRAME_TIME * 2) else {
        panic!("there is sound");
    };
    assert_eq!(coded, self::coded(9_998), "what is old is left out");
    assert!(buffer.redundant(now, 0, &[0x80]).is_err());
}
