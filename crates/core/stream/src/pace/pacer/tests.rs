//! When packets leave the pacer: spreads, bursts, buckets, frames in parts, probes, retransmissions.

use mimosa_facts::ProbeStart;

use super::*;

const PACKET: Bytes = Bytes::new(1_000);
const EACH_MILLISECOND: Pacing = Pacing::Bucket {
    rate: Rate::from_kbps(8_000),
    burst: Bytes::ZERO,
};

fn frame(pacer: &mut Pacer<u32>, now: Time, id: u64, packets: u32) {
    let size = Bytes::new(u64::from(packets) * PACKET.get());
    pacer.push_frame(now, FrameId(id), size, (0..packets).map(|i| (PACKET, i)));
}

/// Runs the pacer until it is empty and returns the times of departure.
fn departures(pacer: &mut Pacer<u32>) -> Vec<(u64, PacketKind)> {
    let mut times = Vec::new();
    while let Some(due) = pacer.next_due(Bytes::MAX) {
        let packet = pacer.pop(due, Bytes::MAX).expect("due means due");
        times.push((due.as_nanos() / 1_000, packet.kind));
    }
    times
}

fn micros(times: &[(u64, PacketKind)]) -> Vec<u64> {
    times.iter().map(|(time, _)| *time).collect()
}

#[test]
fn a_frame_is_spread_evenly_and_a_burst_is_not() {
    let mut pacer = Pacer::new(Bounds::default());
    frame(&mut pacer, Time::ZERO, 0, 3);
    assert_eq!(micros(&departures(&mut pacer)), [0, 0, 0]);
    pacer.set_pacing(Pacing::Spread {
        over: TimeDelta::from_millis(8),
        lead: 1,
    });
    frame(&mut pacer, Time::from_millis(1), 1, 4);
    let times = micros(&departures(&mut pacer));
    assert_eq!(times, [1_000, 3_000, 5_000, 7_000]);
}

/// Six packets over 12 ms: the first ones leave together, the others where they would
/// have without a lead.
#[test]
fn a_lead_leaves_at_once_and_the_others_keep_their_places() {
    let over = TimeDelta::from_millis(12);
    for (lead, expected) in [
        (0, [0, 2_000, 4_000, 6_000, 8_000, 10_000]),
        (1, [0, 2_000, 4_000, 6_000, 8_000, 10_000]),
        (4, [0, 0, 0, 0, 8_000, 10_000]),
        (9, [0; 6]),
    ] {
        let mut pacer = Pacer::new(Bounds::default());
        pacer.set_pacing(Pacing::Spread { over, lead });
        frame(&mut pacer, Time::ZERO, 0, 6);
        assert_eq!(micros(&departures(&mut pacer)), expected, "lead {lead}");
    }
}

/// Groups of three after a lead of four.
#[test]
fn groups_begin_after_a_lead() {
    let mut pacer = Pacer::new(Bounds {
        shortest_gap: TimeDelta::from_micros(500),
        ..Bounds::default()
    });
    let over = TimeDelta::from_millis(2);
    pacer.set_pacing(Pacing::Spread { over, lead: 4 });
    frame(&mut pacer, Time::ZERO, 0, 10);
    let expected = [0, 0, 0, 0, 800, 800, 800, 1_400, 1_400, 1_400];
    assert_eq!(micros(&departures(&mut pacer)), expected);
}

#[test]
fn packets_too_close_leave_in_groups_of_two_to_twelve() {
    let mut pacer = Pacer::new(Bounds {
        shortest_gap: TimeDelta::from_micros(500),
        ..Bounds::default()
    });
    pacer.set_pacing(Pacing::Spread {
        over: TimeDelta::from_millis(2),
        lead: 1,
    });
    for (packets, expected) in [
        (4, &[0, 500, 1_000, 1_500][..]),
        (5, &[0, 0, 800, 800, 1_600][..]),
        (
            10,
            &[0, 0, 0, 600, 600, 600, 1_200, 1_200, 1_200, 1_800][..],
        ),
        (
            12,
            &[
                0, 0, 0, 500, 500, 500, 1_000, 1_000, 1_000, 1_500, 1_500, 1_500,
            ][..],
        ),
        (
            14,
            &[
                0, 0, 0, 0, 571, 571, 571, 571, 1_142, 1_142, 1_142, 1_142, 1_714, 1_714,
            ][..],
        ),
    ] {
        frame(&mut pacer, Time::ZERO, 0, packets);
        assert_eq!(micros(&departures(&mut pacer)), expected);
    }
    frame(&mut pacer, Time::ZERO, 0, 200);
    let times = micros(&departures(&mut pacer));
    assert!(times[..192].chunks(12).all(|group| group[0] == group[11]));
    assert_eq!(times[12], 120, "twelve at most, whatever the gap");
}

/// Eight packets over 8 ms, of a host that sleeps from the first packet on until 5 ms have passed.
#[test]
fn late_packets_leave_at_once_or_at_twice_their_pace() {
    for (catch_up, expected) in [
        (None, [0, 5_000, 5_000, 5_000, 5_000, 5_000, 6_000, 7_000]),
        (
            Some(2.0),
            [0, 5_000, 5_500, 6_000, 6_500, 7_000, 7_500, 8_000],
        ),
    ] {
        let mut pacer = Pacer::new(Bounds {
            catch_up,
            ..Bounds::default()
        });
        let over = TimeDelta::from_millis(8);
        pacer.set_pacing(Pacing::Spread { over, lead: 1 });
        frame(&mut pacer, Time::ZERO, 0, 8);
        // The next frame begins in time, however late this one was.
        frame(&mut pacer, Time::from_millis(9), 1, 1);
        let mut times = Vec::new();
        while let Some(due) = pacer.next_due(Bytes::MAX) {
            let awake = if times.is_empty() { 0 } else { 5 };
            let now = due.max(Time::from_millis(awake));
            pacer.pop(now, Bytes::MAX).expect("due means due");
            times.push(now.as_nanos() / 1_000);
        }
        assert_eq!(times.pop(), Some(9_000));
        assert_eq!(times, expected);
    }
}

/// Thirteen packets from a bucket that lets one out each millisecond, on a host that wakes up late each time.
#[test]
fn a_bucket_keeps_its_rate_on_a_host_that_wakes_up_late() {
    let micros = TimeDelta::from_micros;
    for (catch_up, shortest_gap, late, twelve) in [
        (None, 0, 400, 16_800),
        (Some(2.0), 0, 400, 12_000),
        // More than half of a packet's time cannot be made up for.
        (Some(2.0), 0, 600, 13_200),
        (None, 3_000, 1_200, 16_800),
        (Some(2.0), 3_000, 1_200, 12_000),
    ] {
        let mut pacer = Pacer::new(Bounds {
            shortest_gap: micros(shortest_gap),
            catch_up,
            ..Bounds::default()
        });
        pacer.set_pacing(EACH_MILLISECOND);
        frame(&mut pacer, Time::ZERO, 0, 13);
        let (mut times, mut now) = (Vec::new(), Time::ZERO);
        while let Some(due) = pacer.next_due(Bytes::MAX) {
            if times.is_empty() || now < due {
                now = due + micros(late);
            }
            pacer.pop(now, Bytes::MAX).expect("due means due");
            times.push(now.as_nanos() / 1_000);
        }
        assert_eq!(times[12] - times[0], twelve, "{times:?}");
    }
}

/// Three packets have to wait until there is room in flight: what they have not used of the bucket is not made up for.
#[test]
fn room_in_flight_that_comes_late_is_no_lost_time() {
    let mut pacer = Pacer::new(Bounds {
        catch_up: Some(2.0),
        ..Bounds::default()
    });
    pacer.set_pacing(EACH_MILLISECOND);
    frame(&mut pacer, Time::ZERO, 0, 3);
    assert_eq!(pacer.pop(Time::ZERO, Bytes::ZERO), None);
    let awake = Time::from_millis(10);
    pacer.pop(awake, Bytes::MAX).expect("there is room");
    assert_eq!(micros(&departures(&mut pacer)), [11_000, 12_000]);
}

/// Eight packets over 8 ms in two parts.
#[test]
fn parts_leave_as_one_frame_would_and_late_ones_do_not_hurry() {
    let ms = Time::from_millis;
    for (second, expected) in [
        (2, [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000]),
        // The second part is 3 ms late.
        (7, [0, 1_000, 2_000, 3_000, 7_000, 8_000, 9_000, 10_000]),
    ] {
        let mut pacer = Pacer::new(Bounds::default());
        pacer.set_pacing(Pacing::Spread {
            over: TimeDelta::from_millis(8),
            lead: 1,
        });
        pacer.begin_frame(Time::ZERO, FrameId(3), Bytes::new(8_000), 8);
        let part = |count: u32| (0..count).map(|index| (PACKET, index));
        pacer.push_part(Time::ZERO, part(4), false);
        pacer.push_part(ms(second), part(4), true);
        let mut times = Vec::new();
        while let Some(due) = pacer.next_due(Bytes::MAX) {
            let packet = pacer.pop(due, Bytes::MAX).expect("due means due");
            assert_eq!(packet.frame, FrameId(3));
            times.push(due.as_nanos() / 1_000);
            assert_eq!(packet.last, times.len() == 8);
        }
        assert_eq!(times, expected);
    }
}

#[test]
fn a_bucket_spaces_packets_and_forgives_a_burst() {
    let rate = Rate::from_kbps(8_000); // a packet takes 1 ms
    let mut pacer = Pacer::new(Bounds::default());
    for (burst, expected) in [(0, [0, 1_000, 2_000, 3_000]), (2_000, [0, 0, 0, 1_000])] {
        let mut fresh = Pacer::new(Bounds::default());
        std::mem::swap(&mut pacer, &mut fresh);
        pacer.set_pacing(Pacing::Bucket {
            rate,
            burst: Bytes::new(burst),
        });
        frame(&mut pacer, Time::ZERO, 0, 4);
        assert_eq!(micros(&departures(&mut pacer)), expected);
    }
}

/// A bucket of 4 packets that leaks one in 1 ms; 8 wait when it changes.
#[test]
fn a_bucket_that_changes_while_packets_wait_keeps_what_it_holds() {
    let packets = |count: u64| Bytes::new(count * PACKET.get());
    let (fast, slow) = (Rate::from_kbps(8_000), Rate::from_kbps(2_000));
    for (rate, burst, expected) in [
        // Four have left; each further one waits for its predecessor's room.
        (fast, 4, [1_000, 2_000, 3_000, 4_000]),
        // Half of a packet has leaked: the other half takes four times as long.
        (slow, 4, [2_500, 6_500, 10_500, 14_500]),
        // 3.5 packets are in a bucket for one: 2.5 leak first, then the next.
        (fast, 1, [4_000, 5_000, 6_000, 7_000]),
        // Room for 2.5 more: as many whole ones leave at once.
        (fast, 6, [500, 500, 1_000, 2_000]),
    ] {
        let mut pacer = Pacer::new(Bounds::default());
        pacer.set_bucket(Time::ZERO, fast, packets(3));
        frame(&mut pacer, Time::ZERO, 0, 8);
        while pacer.pop(Time::ZERO, Bytes::MAX).is_some() {}
        assert_eq!(pacer.waiting(), packets(4));
        let now = Time::ZERO + TimeDelta::from_micros(500);
        pacer.set_bucket(now, rate, packets(burst - 1));
        let mut times = Vec::new();
        while let Some(due) = pacer.next_due(Bytes::MAX) {
            let due = due.max(now);
            pacer.pop(due, Bytes::MAX).expect("due means due");
            times.push(due.as_nanos() / 1_000);
        }
        assert_eq!(times, expected, "{burst} at {rate}");
    }
}

/// A packet takes 8000 s at one bit a second; what is left of it after 9 s does not
/// take as long at another rate.
#[test]
fn a_bucket_that_all_but_stood_still_leaks_again() {
    let mut pacer = Pacer::new(Bounds::default());
    pacer.set_bucket(Time::ZERO, Rate::from_bps(1), Bytes::ZERO);
    frame(&mut pacer, Time::ZERO, 0, 2);
    assert!(pacer.pop(Time::ZERO, Bytes::MAX).is_some());
    let now = Time::from_secs(9);
    assert_eq!(pacer.next_due(Bytes::MAX), Some(Time::from_secs(8_000)));
    pacer.set_bucket(now, Rate::from_kbps(8_000), Bytes::ZERO);
    let due = now + TimeDelta::from_micros(999);
    assert_eq!(pacer.next_due(Bytes::MAX), Some(due));
}

#[test]
fn probes_follow_their_frame_and_end_with_the_next() {
    let mut pacer = Pacer::new(Bounds::default());
    let probe = Probe {
        id: 0,
        packets: 4,
        interval: TimeDelta::from_millis(2),
        size: None,
        start: ProbeStart::AfterFrame(FrameId(0)),
    };
    pacer.schedule(Time::ZERO, &probe);
    frame(&mut pacer, Time::ZERO, 0, 1);
    pacer.schedule(Time::ZERO, &probe);
    let times = departures(&mut pacer);
    assert_eq!(micros(&times), [0, 2_000, 4_000, 6_000, 8_000]);
    assert_eq!(times[4].1, PacketKind::Probe);

    // One of four has left when the next frame comes.
    frame(&mut pacer, Time::from_millis(20), 1, 1);
    let follows = ProbeStart::AfterFrame(FrameId(1));
    pacer.schedule(
        Time::from_millis(20),
        &Probe {
            id: 1,
            start: follows,
            ..probe
        },
    );
    pacer.pop(Time::from_millis(20), Bytes::MAX);
    pacer.pop(Time::from_millis(22), Bytes::MAX);
    frame(&mut pacer, Time::from_millis(23), 2, 1);
    let times = departures(&mut pacer);
    assert_eq!(
        times,
        [(23_000, PacketKind::Media)],
        "three probes are gone"
    );
}

#[test]
fn a_retransmission_goes_first_and_keeps_its_distance() {
    let mut pacer = Pacer::new(Bounds::default());
    pacer.set_pacing(Pacing::Spread {
        over: TimeDelta::from_millis(4),
        lead: 1,
    });
    frame(&mut pacer, Time::ZERO, 1, 2);
    for _ in 0..2 {
        pacer.push_retransmission(Time::ZERO, FrameId(0), PACKET, 9);
    }
    let times = departures(&mut pacer);
    assert_eq!(times[0], (0, PacketKind::Retransmission));
    assert_eq!(
        times[2..],
        [
            (2_000, PacketKind::Retransmission),
            (2_000, PacketKind::Media)
        ]
    );
}

#[test]
fn what_waits_is_bounded_in_time_and_number() {
    let mut pacer = Pacer::new(Bounds {
        most_packets: 10,
        ..Bounds::default()
    });
    pacer.set_pacing(Pacing::Bucket {
        rate: Rate::from_bps(1),
        burst: Bytes::ZERO,
    });
    let mut given_up = Vec::new();
    for id in 0..4 {
        frame(&mut pacer, Time::from_millis(id * 16), id, 4);
        pacer.expire(Time::from_millis(id * 16), &mut given_up);
    }
    assert_eq!(given_up, [FrameId(0), FrameId(1)]);
    assert_eq!(pacer.waiting(), Bytes::new(8_000));
    given_up.clear();
    pacer.expire(Time::from_secs(2), &mut given_up);
    assert_eq!(given_up, [FrameId(2), FrameId(3)]);
    assert_eq!(pacer.waiting(), Bytes::ZERO);
    assert_eq!(pacer.next_due(Bytes::MAX), None);
}

#[test]
fn a_full_window_holds_media_back() {
    let mut pacer = Pacer::new(Bounds::default());
    frame(&mut pacer, Time::ZERO, 0, 1);
    assert_eq!(pacer.next_due(Bytes::new(999)), None);
    assert!(pacer.pop(Time::ZERO, Bytes::new(999)).is_none());
    assert!(pacer.pop(Time::ZERO, PACKET).is_some());
}
