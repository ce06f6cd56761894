//! Tests of what the newest frames alone decide: smaller frames, drains and silence (Pudica, section
//! 4.3).

use super::*;

#[test]
fn one_frame_above_one_makes_the_next_alone_smaller() {
    let mut stream = Stream::new(Config::default(), 20);
    stream.frames(3, 0.95);
    stream.frame(1.2);
    let rate = stream.mbps();
    let granted = stream.frame(0.95);
    let limit = granted.frame_limit.unwrap().get() as f64;
    let whole = Rate::from_mbps(rate).amount_in(L).get() as f64;
    assert!(close(limit / whole, 0.85), "{}", limit / whole);
    assert_eq!(granted.cause, Cause::FrameFallback);
    let after = stream.frame(0.95);
    assert_eq!(after.frame_limit, None, "only the next");
    assert_ne!(after.cause, Cause::FrameFallback, "nor is it the cause");
}

#[test]
fn an_overdue_frame_makes_the_next_one_smaller() {
    let mut stream = Stream::new(Config::default(), 20);
    stream.frames(5, 0.9);
    let mut limits = Vec::new();
    for _ in 0..6 {
        let (_, _, granted) = stream.send();
        limits.push(granted.frame_limit.is_some());
        stream.now += L;
    }
    // The threshold is the minimum RTT of 20 ms and two intervals, 52 ms in
    // all.
    assert_eq!(limits, [false, false, false, false, true, true]);
    assert_eq!(stream.cause(), Cause::NextDelayFallback);
}

#[test]
fn a_frame_that_the_receiver_has_is_not_overdue() {
    let mut stream = Stream::new(Config::default(), 20);
    stream.frames(5, 0.9);
    for sent in 0..8 {
        let (frame, _, granted) = stream.send();
        assert_eq!(granted.frame_limit, None, "frame {sent}");
        stream.now += L;
        let decoded = Event::FrameDecoded { frame };
        stream.controller.handle(stream.now, decoded);
    }
    // A frame without that event becomes overdue.
    let overdue = (0..5).any(|_| {
        let (_, _, granted) = stream.send();
        stream.now += L;
        granted.frame_limit.is_some()
    });
    assert!(overdue && stream.cause() == Cause::NextDelayFallback);
}

#[test]
fn three_frames_above_one_drain_and_the_first_below_recovers() {
    let mut stream = Stream::new(Config::default(), 20);
    stream.frames(5, 0.9);
    let before = stream.mbps();
    stream.frames(2, 1.5);
    assert!(stream.mbps() >= before * 0.95, "not yet");
    // A frame of BUR 1.5 takes 24 ms: it arrives at two thirds of its bitrate.
    let (_, packets, granted) = stream.send();
    let size = granted.frame_limit.unwrap();
    for (index, packet) in packets.into_iter().enumerate() {
        let share = index as f64 / f64::from(PACKETS - 1);
        stream.arrived(packet, L.scale(1.5 * share), 25_000);
    }
    stream.now += L;
    assert_eq!(stream.cause(), Cause::Drain);
    let evidence = stream.controller.decision().evidence;
    let receiving = evidence.service_rate.unwrap().as_mbps();
    // 25 kB in 200 ms are 1 Mbit/s.
    assert!(
        close(stream.mbps(), 0.85 * receiving - 1.0),
        "{}",
        stream.mbps()
    );
    let last = Rate::of(size.scale(0.9), L.scale(1.5)).as_mbps();
    assert!((last * 0.7..last * 1.6).contains(&receiving), "{receiving}");
    stream.frame(0.5);
    assert_eq!(stream.cause(), Cause::Recover);
    assert!(stream.mbps() <= before * 1.05, "never above what it was");
    assert!(stream.mbps() > 0.5 * receiving);
    // Measurements of a queue are no evidence when the queue has gone.
    assert_eq!(evidence.backlog, Some(Bytes::new(25_000)));
    let evidence = stream.controller.decision().evidence;
    assert!(evidence.backlog.is_none() && evidence.service_rate.is_some());
    stream.frames(5, 0.5);
    assert_eq!(stream.controller.decision().evidence.service_rate, None);
}

#[test]
fn mechanisms_can_be_switched_off() {
    let config = Config {
        fallback: false,
        drain: false,
        ..Config::default()
    };
    let mut stream = Stream::new(config, 20);
    stream.frames(3, 0.95);
    let before = stream.mbps();
    for _ in 0..20 {
        assert_eq!(stream.frame(1.5).frame_limit, None);
    }
    assert!(stream.mbps() >= before * 0.95);
    assert_eq!(stream.cause(), Cause::Overuse);
}

#[test]
fn silence_halves_the_rate_and_feedback_brings_it_back() {
    let mut stream = Stream::new(Config::default(), 20);
    stream.frames(5, 0.9);
    let before = stream.mbps();
    let mut lowest = before;
    for _ in 0..(10_000 / 16) {
        stream.send();
        stream.now += L;
        lowest = stream.mbps().min(lowest);
    }
    assert!(
        lowest <= 0.2 + 1e-9,
        "{lowest} Mbit/s after 10 s of silence"
    );
    stream.frames(240, 0.3);
    assert!(stream.mbps() > before / 2.0, "{}", stream.mbps());
}
