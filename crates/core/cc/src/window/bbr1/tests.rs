use super::*;
use crate::window::delivery::DeliverySample;

const MSS: Bytes = Bytes::new(1460);
const RTT: TimeDelta = TimeDelta::from_millis(30);

/// A state in `ProbeBw`, on a path that delivers `rate` with a round trip of
/// 30 ms.
fn cruising(rate: Rate) -> Bbr1 {
    let mut bbr = Bbr1::new(MSS, 1);
    bbr.mode = Mode::ProbeBw;
    bbr.phase = 2;
    bbr.full.is_reached = true;
    bbr.least_rtt = Some(RTT);
    bbr.rate.update(0, rate);
    bbr.pacing_rate = rate.scale(MARGIN);
    bbr
}

/// An acknowledgement of two segments on a path that delivers `rate`, in the
/// middle of a round.
fn sample(rate: Rate) -> AckSample {
    let in_flight = rate.amount_in(RTT);
    AckSample {
        acked: MSS + MSS,
        lost: Bytes::ZERO,
        delivered: Bytes::new(50_000_000),
        marked: Bytes::ZERO,
        rtt: Some(RTT + TimeDelta::from_millis(5)),
        smoothed_rtt: Some(RTT),
        prior_in_flight: in_flight,
        in_flight,
        delivery: Some(DeliverySample {
            delivered: in_flight,
            interval: Some(RTT),
            prior_delivered: Bytes::new(50_000_000) - in_flight,
            sent_in_flight: in_flight,
            lost: Bytes::ZERO,
            is_app_limited: false,
        }),
        is_window_limited: false,
        is_reducing: false,
        pacing_wait: TimeDelta::ZERO,
    }
}

const FAST: Rate = Rate::from_kbps(50_000);

/// 50 Mbit/s and 30 ms are 128.4 segments, and a burst is four of them.
#[test]
fn the_budget_is_three_bursts_and_an_even_number_of_segments() {
    let mut bbr = cruising(FAST);
    assert_eq!(bbr.inflight(1.0), MSS.scale(142.0));
    bbr.phase = 0;
    assert_eq!(bbr.inflight(1.0), MSS.scale(144.0), "while it probes");
    // 1 Mbit/s and 30 ms are 2.6 segments, and a burst is one segment.
    let slow = cruising(Rate::from_kbps(1_000));
    assert_eq!(slow.inflight(1.0), MSS.scale(6.0));
    assert_eq!(slow.burst(MSS, Bytes::ZERO), 1);
    assert_eq!(cruising(FAST).burst(MSS, Bytes::ZERO), 4);
}

#[test]
fn the_flight_is_that_of_the_time_when_the_next_burst_leaves() {
    let mut bbr = cruising(FAST);
    let soon = AckSample {
        // 6250 bytes at 50 Mbit/s.
        pacing_wait: TimeDelta::from_millis(1),
        ..sample(FAST)
    };
    let at = |bbr: &Bbr1| bbr.in_flight_at_departure(Bytes::new(100_000), &soon);
    assert_eq!(at(&bbr), Bytes::new(93_750));
    bbr.phase = 0;
    assert_eq!(at(&bbr), Bytes::new(93_750 + 4 * 1460), "and that burst");
    assert_eq!(
        bbr.in_flight_at_departure(MSS, &soon),
        MSS.scale(4.0) + MSS - Bytes::new(6_250)
    );
}

#[test]
fn aggregated_acknowledgements_widen_the_window() {
    let mut bbr = cruising(FAST);
    let now = Time::from_secs(1);
    for _ in 0..200 {
        bbr.on_ack(now, &sample(FAST));
    }
    let even = bbr.window();
    // All 200 times two segments arrive at once. The excess is limited to a
    // window, and to what passes in 100 ms.
    let excess = even - bbr.with_budget(bbr.product(FAST, WINDOW_GAIN));
    assert!(excess > MSS.scale(100.0), "{excess}");
    assert!(
        excess <= FAST.amount_in(TimeDelta::from_millis(100)) + MSS,
        "{excess}"
    );
}

#[test]
fn the_first_round_of_recovery_sends_what_arrives() {
    let mut bbr = cruising(FAST);
    let now = Time::from_secs(1);
    bbr.window = MSS.scale(300.0);
    bbr.on_loss(now, MSS.scale(128.0));
    let lossy = AckSample {
        lost: MSS,
        ..sample(FAST)
    };
    bbr.on_ack(now, &lossy);
    assert_eq!(bbr.window(), lossy.in_flight + lossy.acked);
    assert_eq!(bbr.repair, Repair::Conserving);
    // The round ends when something sent since is delivered.
    bbr.on_ack(now, &sample(FAST));
    assert_eq!(bbr.repair, Repair::Conserving);
    let mut next = sample(FAST);
    next.delivered += Bytes::new(200_000);
    next.delivery = next.delivery.map(|delivery| DeliverySample {
        prior_delivered: lossy.delivered,
        ..delivery
    });
    bbr.on_ack(now, &next);
    assert_eq!(bbr.repair, Repair::Growing);
    bbr.on_recovered(now);
    assert_eq!(bbr.window(), MSS.scale(300.0));
}

#[test]
fn a_lone_segment_may_lower_the_round_trip_but_not_renew_it() {
    let mut bbr = cruising(FAST);
    let now = Time::from_secs(11);
    let delayed = AckSample {
        acked: MSS,
        delivery: Some(DeliverySample {
            delivered: MSS,
            interval: Some(RTT * 2),
            ..DeliverySample::default()
        }),
        rtt: Some(RTT * 2),
        ..sample(FAST)
    };
    bbr.on_ack(now, &delayed);
    assert_eq!(bbr.least_rtt, Some(RTT), "it may have waited for the timer");
    bbr.on_ack(now, &sample(FAST));
    assert_eq!(bbr.least_rtt, sample(FAST).rtt, "ten seconds are over");
    let lower = AckSample {
        rtt: Some(RTT / 2),
        ..delayed
    };
    bbr.on_ack(now, &lower);
    assert_eq!(bbr.least_rtt, Some(RTT / 2));
}

#[test]
fn what_leaves_in_probe_rtt_says_nothing_of_the_path() {
    let mut bbr = cruising(FAST);
    bbr.on_ack(Time::from_secs(9), &sample(FAST));
    assert!(!bbr.limits_itself());
    bbr.on_ack(Time::from_secs(11), &sample(FAST));
    assert!(bbr.limits_itself());
    assert_eq!(bbr.window(), MSS.scale(4.0));
}

#[test]
fn the_rate_of_a_policer_replaces_the_greatest_and_is_not_probed() {
    let mut bbr = cruising(FAST);
    bbr.phase = 0;
    let half = Rate::from_kbps(25_000);
    // Rounds of 30 ms, in which a third is lost and half passes.
    let passed = half.amount_in(RTT);
    for round in 1..=10_u64 {
        let total = Bytes::new(round * passed.get());
        bbr.on_segment_lost(
            Time::ZERO,
            &LostSegment {
                length: Bytes::new(passed.get() / 2),
                sent_in_flight: Bytes::ZERO,
                lost_since: Bytes::ZERO,
                delivered: total,
                is_app_limited: false,
            },
        );
        let mut lossy = sample(half);
        lossy.lost = MSS;
        lossy.delivered = total;
        lossy.delivery = lossy.delivery.map(|delivery| DeliverySample {
            prior_delivered: total - passed,
            ..delivery
        });
        bbr.on_ack(Time::from_millis(round * 30), &lossy);
    }
    assert_eq!(bbr.bandwidth(), half);
    assert_eq!(bbr.greatest_rate(), FAST, "of ten rounds");
    bbr.phase = 0;
    assert!((bbr.pacing_gain() - 1.0).abs() < 1e-9);
}
