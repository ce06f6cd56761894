//! Plays without a window: for tests, probes and fleets of clients.

use mimosa_facts::Action;
use mimosa_facts::sound::{BLOCK, CHANNELS, span_of};
use mimosa_scene::marker;
use mimosa_units::{Time, TimeDelta};
use mimosa_video::{Picture, Plane};

use super::decode::Decoded;
use super::engine::DecodeIn;
use super::error::PlayError;
use super::network::{ConnectionConfig, FromHost, Loudspeaker};
use super::player::{News, Player};
use super::report::{PlayReport, Sample};
use mimosa_system::clock::Clock;

/// Code of the space bar (`KEY_SPACE`), whose press the demo shows at once.
const PROBE_KEY: u16 = 57;
/// Time between presses, and from a press to the release. Neither is a multiple of a usual frame
/// interval, so that presses fall anywhere in it.
const PROBE_EVERY: TimeDelta = TimeDelta::from_micros(237_300);
const PROBE_HELD: TimeDelta = TimeDelta::from_micros(101_700);
/// Time after which a press counts as not shown.
const PROBE_LOST: TimeDelta = TimeDelta::from_millis(2_000);

/// How to play without a window.
#[derive(Clone, Debug)]
pub struct Headless {
    /// How long to play at most; `None` to play until the host ends the session.
    pub duration: Option<TimeDelta>,
    /// Number of pictures after which to leave; `None` for any number.
    pub pictures: Option<u32>,
    /// Whether sound is wanted.
    pub wants_sound: bool,
    /// Whether to press a key now and then, and to measure when the demo shows it.
    pub probes: bool,
    /// Where frames are decoded.
    pub decoder: DecodeIn,
    /// Number of threads that decode the slices of a frame.
    pub threads: u8,
}

/// Plays a session, and returns a report about it.
///
/// # Errors
///
/// [`PlayError`] if the host is not there or refuses, or without a decoder, also when the host has ended
/// its process too often.
pub fn play(config: ConnectionConfig, headless: Headless) -> Result<PlayReport, PlayError> {
    let clock = Clock::start();
    let loudspeaker = headless
        .wants_sound
        .then(|| -> Box<dyn Loudspeaker> { Box::new(Nobody { until: Time::ZERO }) });
    let mut report = PlayReport::new(&config);
    let decoder = (headless.decoder, headless.threads);
    let player = Player::start(config, decoder, clock, None, loudspeaker, || {})?;
    let begun = clock.now();
    let mut probe = Probe::new(begun);
    let mut pictures = 0;
    let is_over = |now: Time, pictures: u32| {
        let is_late = |duration| now.since(begun) >= duration;
        headless.duration.is_some_and(is_late)
            || headless.pictures.is_some_and(|most| pictures >= most)
    };
    let mut is_connected = false;
    while !is_over(clock.now(), pictures) {
        let now = clock.now();
        if headless.probes && is_connected {
            probe.act(now, |action| player.act(action));
        }
        let rest = probe.next.since(now).max(TimeDelta::ZERO);
        let longest = if headless.probes { rest } else { PROBE_LOST };
        match player.wait(longest.min(TimeDelta::from_millis(50))) {
            Some(News::Host(FromHost::Ended {
                reason,
                is_final,
                tally,
            })) => {
                report.ended(&reason, is_final, &tally);
                return Ok(report);
            }
            Some(News::Host(message)) => {
                is_connected |= matches!(message, FromHost::Connected);
                report.heard(&message);
            }
            Some(News::Decoded(frame)) => {
                player.decoded(&frame);
                if frame.picture.is_some() {
                    player.seen(&frame, frame.at);
                    pictures += 1;
                }
                report.frame(&Sample::of(&frame));
                if headless.probes
                    && let Some(latency) = probe.looked(&frame)
                {
                    report.input(latency);
                }
            }
            Some(News::Replaced(_)) => report.replaced(),
            Some(News::Undecodable(error)) => return Err(error),
            None => {}
        }
    }
    // The last message has the counts.
    for news in player.leave() {
        if let News::Host(FromHost::Ended { tally, .. }) = news {
            report.ended("left", true, &tally);
        }
    }
    Ok(report)
}

/// A loudspeaker that plays nothing, in the time of the clock.
#[derive(Debug)]
struct Nobody {
    until: Time,
}

impl Loudspeaker for Nobody {
    fn ahead(&self) -> TimeDelta {
        BLOCK + BLOCK / 2
    }

    fn queued(&mut self, now: Time) -> TimeDelta {
        self.until.since(now).max(TimeDelta::ZERO)
    }

    fn play(&mut self, now: Time, samples: &[i16]) -> TimeDelta {
        let silent = now.since(self.until).max(TimeDelta::ZERO);
        let frames = i64::try_from(samples.len() / CHANNELS).unwrap_or(0);
        self.until = self.until.max(now) + span_of(frames);
        silent
    }

    /// A clock has no troubles.
    fn troubled(&mut self, _now: Time) {}
}

/// Presses a key, and looks for it in the demo's marker.
#[derive(Debug)]
struct Probe {
    next: Time,
    is_down: bool,
    pressed: Option<Time>,
    /// Number of actions that the newest picture shows.
    actions: Option<u16>,
}

impl Probe {
    const fn new(now: Time) -> Self {
        Self {
            next: now,
            is_down: false,
            pressed: None,
            actions: None,
        }
    }

    fn act(&mut self, now: Time, act: impl FnOnce(Action)) {
        self.pressed
            .take_if(|pressed| now.since(*pressed) > PROBE_LOST);
        // A press has to wait until the one before was shown, and the number of actions is known.
        let is_known = self.actions.is_some() && self.pressed.is_none();
        if now < self.next || !is_known {
            self.next = self.next.max(now + BLOCK);
            return;
        }
        self.is_down = !self.is_down;
        act(Action::Key {
            code: PROBE_KEY,
            pressed: self.is_down,
        });
        self.pressed = Some(now);
        self.next = now
            + if self.is_down {
                PROBE_HELD
            } else {
                PROBE_EVERY
            };
    }

    /// Time since the key was pressed or released, if this picture is the first to show it.
    fn looked(&mut self, frame: &Decoded) -> Option<TimeDelta> {
        let view = frame.picture.as_ref()?.view();
        let mut picture = Picture::new(view.size());
        let [luma, ..] = picture.planes_mut();
        let width = view.size().width() as usize;
        for (own, row) in luma.chunks_mut(width).zip(view.rows(Plane::Y)) {
            own.copy_from_slice(row);
        }
        let marker = marker::read(&picture)?;
        let before = self.actions.replace(marker.actions)?;
        if marker.actions == before {
            return None;
        }
        let pressed = self.pressed.take()?;
        Some(frame.at - pressed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_plays_by_the_clock_and_tells_when_it_had_nothing() {
        let mut nobody = Nobody { until: Time::ZERO };
        let block = [0; 480 * CHANNELS];
        let at = Time::from_millis;
        let ms = TimeDelta::from_millis;
        nobody.play(at(100), &block);
        assert_eq!(nobody.queued(at(104)), ms(6));
        assert_eq!(nobody.play(at(104), &block), TimeDelta::ZERO);
        assert_eq!(nobody.queued(at(104)), ms(16));
        assert_eq!(nobody.play(at(120), &block), TimeDelta::ZERO, "just then");
        assert_eq!(nobody.queued(at(143)), TimeDelta::ZERO);
        assert_eq!(nobody.play(at(143), &block), ms(13));
        assert_eq!(nobody.queued(at(143)), ms(10));
    }
}
