//! The rule over models of a viewer.

use std::collections::VecDeque;

use mimosa_facts::FrameId;
use mimosa_units::PeerTime;

use super::*;

const MS: TimeDelta = TimeDelta::from_millis(1);

/// A viewer that gets a picture an interval, decodes them one after the other, and shows each at the
/// display's next refresh.
struct Viewer {
    load: Load,
    number: u64,
    now: Time,
    /// The time for the pixels and bytes of a whole frame, and the time for which a frame passes
    /// through the decoder besides, while the next ones begin.
    decodes: TimeDelta,
    pipeline: TimeDelta,
    refresh: TimeDelta,
    /// The time for which the screen is busy with a picture. It takes the newest one when it is free.
    composes: TimeDelta,
    free: Time,
    screen_free: Time,
    /// The frames that are decoded, until their refresh, and when the screen takes each.
    reports: VecDeque<(Time, Seen)>,
    taken: usize,
    /// The pictures shown, and the number of them of which one is told.
    count: u32,
    tells: u32,
}

impl Viewer {
    fn new() -> Self {
        let mut viewer = Self {
            load: Load::new(INTERVAL, true),
            number: 0,
            now: Time::from_secs(1),
            decodes: MS * 4,
            pipeline: TimeDelta::ZERO,
            refresh: INTERVAL,
            composes: MS,
            free: Time::ZERO,
            screen_free: Time::ZERO,
            reports: VecDeque::new(),
            taken: 0,
            count: 0,
            tells: 1,
        };
        viewer.run(5.0, |_| TimeDelta::ZERO);
        viewer
    }

    /// Runs; the network holds frames up until `held` from the beginning on.
    fn run(&mut self, seconds: f64, held: impl Fn(f64) -> TimeDelta) {
        let begun = self.now;
        let mut number = 0_u32;
        self.taken = 0;
        while self.now.since(begun).as_secs() < seconds {
            number += 1;
            self.load.offered(self.now);
            let every = self.load.step().every();
            if number.is_multiple_of(every) {
                self.frame(begun, &held);
            }
            self.now += INTERVAL;
            let now = self.now;
            while let Some((_, mut seen)) = self.reports.pop_front_if(|(_, seen)| seen.shown <= now)
            {
                self.count += 1;
                seen.count = self.count;
                if self.count.is_multiple_of(self.tells) {
                    self.load.seen(self.now, &seen);
                }
            }
        }
    }

    fn frame(&mut self, begun: Time, held: &impl Fn(f64) -> TimeDelta) {
        self.taken += 1;
        let full: Size = FULL.parse().unwrap();
        let size = self.load.step().size(full);
        let bytes = self.load.budget(GRANT);
        let part = size.luma_len() as f64 / full.luma_len() as f64;
        let whole = work(full.luma_len() as f64, GRANT);
        let share = work(size.luma_len() as f64, bytes) / whole;
        let since = self.now.since(begun).as_secs();
        let received = self.now + MS * 20 + held(since);
        self.free = self.free.max(received) + self.decodes.scale(share);
        let decoded = self.free + self.pipeline;
        let replaced = self.reports.pop_back_if(|(taken, _)| *taken > decoded);
        let taken = replaced.map_or(decoded.max(self.screen_free), |(taken, _)| taken);
        self.screen_free = taken + self.composes;
        let refreshes = (self.screen_free.as_secs() / self.refresh.as_secs()).ceil();
        let shown = Time::ZERO + self.refresh.scale(refreshes);
        self.number += 1;
        let at = i64::try_from(received.as_nanos()).unwrap();
        self.load.arrived(PeerTime::from_nanos(at));
        // Of two pictures, the display shows the newer one.
        self.reports.pop_back_if(|(_, last)| last.shown == shown);
        let seen = Seen {
            frame: FrameId(self.number),
            received,
            decoded,
            shown,
            count: 0,
        };
        self.reports.push_back((taken, seen));
        self.load.encoded(
            self.now + MS * 8,
            &Coded {
                took: MS * 8,
                processor: None,
                source: full,
                size,
                detail: Step::FULL,
                complexity: Complexity::C0,
                bytes,
                asked: GRANT,
                quantiser: Some(
                    17.0 - 6.0 * libm::log2(bytes.get() as f64 / GRANT.get() as f64 / part),
                ),
            },
        );
    }

    /// How far the decoder is behind.
    fn queue(&self) -> TimeDelta {
        self.free.since(self.now + MS * 20)
    }
}

#[test]
fn a_decoder_that_is_too_slow_gets_less_and_keeps_up() {
    let mut viewer = Viewer::new();
    viewer.decodes = MS * 40;
    viewer.run(1.0, |_| TimeDelta::ZERO);
    assert_eq!(viewer.load.relief().strain, Some(Strain::ViewerBehind));
    viewer.run(5.0, |_| TimeDelta::ZERO);
    assert!(viewer.queue() < MS * 40, "{}", viewer.queue());
    let least = viewer.taken;
    assert!((140..=300).contains(&least), "{least} pictures in 5 s");
    // As soon as it is quick again, it gets more, and all in the end.
    viewer.decodes = MS * 4;
    viewer.run(1.0, |_| TimeDelta::ZERO);
    assert_ne!(viewer.load.relief(), Relief::NONE, "not at once");
    viewer.run(30.0, |_| TimeDelta::ZERO);
    assert_eq!(viewer.load.relief(), Relief::NONE);
}

#[test]
fn a_decoder_that_stays_slow_is_tried_ever_more_seldom() {
    let mut viewer = Viewer::new();
    viewer.decodes = MS * 25;
    viewer.run(200.0, |_| TimeDelta::ZERO);
    let mut behind = 0_u32;
    for _ in 0..600 {
        viewer.run(0.1, |_| TimeDelta::ZERO);
        behind += u32::from(viewer.queue() > MS * 60);
    }
    assert!(behind < 60, "{behind} of 600 tenths of a second");
}

#[test]
fn a_long_pipeline_is_not_slow() {
    let mut viewer = Viewer::new();
    (viewer.decodes, viewer.pipeline) = (MS * 14, MS * 40);
    viewer.run(30.0, |_| TimeDelta::ZERO);
    assert_eq!(viewer.load.relief(), Relief::NONE);
    assert!(viewer.taken > 1_790);
}

#[test]
fn frames_that_the_network_held_up_are_not_the_viewers_fault() {
    let mut viewer = Viewer::new();
    viewer.decodes = MS * 10;
    // Once a second, frames come a quarter of a second late, and then all at once.
    let held = |at: f64| TimeDelta::from_secs((0.25 - at.fract()).max(0.0));
    viewer.run(30.0, held);
    assert_eq!(viewer.load.relief(), Relief::NONE);
    assert!(viewer.taken > 1_790);
}

#[test]
fn a_display_of_half_the_rate_is_not_late() {
    let mut viewer = Viewer::new();
    viewer.refresh = INTERVAL * 2;
    viewer.run(20.0, |_| TimeDelta::ZERO);
    viewer.run(20.0, |_| TimeDelta::ZERO);
    assert_eq!(viewer.load.relief(), Relief::NONE);
}

#[test]
fn a_page_that_tells_of_few_pictures_shows_all() {
    let mut viewer = Viewer::new();
    viewer.tells = 3;
    viewer.run(20.0, |_| TimeDelta::ZERO);
    assert_eq!(viewer.load.relief(), Relief::NONE);
}

#[test]
fn a_screen_that_gets_slow_gets_less() {
    let mut viewer = Viewer::new();
    viewer.load.hidden(true);
    viewer.composes = MS * 45;
    viewer.run(10.0, |_| TimeDelta::ZERO);
    assert_eq!(viewer.load.relief(), Relief::NONE, "nobody looks");
    viewer.load.hidden(false);
    viewer.composes = MS * 45;
    let is_noticed = |_| {
        viewer.run(0.1, |_| TimeDelta::ZERO);
        viewer.load.relief().strain == Some(Strain::ViewerBehind)
    };
    let noticed = (0..100).position(is_noticed).unwrap();
    assert!((10..60).contains(&noticed), "{noticed} tenths of a second");
    let relief = viewer.load.relief();
    assert!(relief.every > 1, "{relief:?}");
    assert_eq!(
        (relief.quarters, relief.most),
        (4, None),
        "better pictures are as quick"
    );
}

#[test]
fn dropped_frames_are_a_sign_when_they_go_on() {
    let mut viewer = Viewer::new();
    let mut counts = (0, 0);
    let mut count = |viewer: &mut Viewer, dropped| {
        counts = (counts.0 + 60, counts.1 + dropped);
        viewer.load.counted(viewer.now, counts.0, counts.1);
        viewer.run(1.0, |_| TimeDelta::ZERO);
        viewer.load.relief() != Relief::NONE
    };
    for _ in 0..5 {
        assert!(!count(&mut viewer, 3), "a few");
        assert!(!count(&mut viewer, 30), "and many once");
    }
    assert!(!count(&mut viewer, 0));
    assert!(!count(&mut viewer, 20));
    assert!(count(&mut viewer, 20));
}
