//! The built-in scene, drawn at the frame rate.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use mimosa_audio::Tone;
use mimosa_facts::{Action, TouchPhase};
use mimosa_scene::Scene;
use mimosa_session::host::{Inputs, Played};
use mimosa_settings::Settings;
use mimosa_system::priority;
use mimosa_units::TimeDelta;

use super::pool::Pool;
use super::{FromSource, Shared};
use crate::error::HostError;
use crate::sound::Strike;
use mimosa_system::clock::{Clock, now};

/// Seed of the scene, which is the same every time.
const SEED: u64 = 1;

/// Starts the thread. Presses are heard, as is each picture whose number is a multiple of the frame
/// rate. The marker in the corner shows the numbers of both.
pub(super) fn start(
    settings: &Settings,
    clock: Clock,
    shared: Arc<Shared>,
    (actions, strikes): (Receiver<Played>, Option<Sender<Strike>>),
    say: impl Fn(FromSource) + Send + 'static,
) -> Result<JoinHandle<()>, HostError> {
    let size = settings.size;
    let frames_per_second = u64::from(settings.frames_per_second);
    let interval = TimeDelta::from_secs(1.0) / settings.frames_per_second;
    std::thread::Builder::new()
        .name("demo".to_owned())
        .spawn(move || {
            priority::raise();
            let mut scene = Scene::new(size, SEED);
            let mut pool = Pool::new();
            let mut drawn = 0_u64;
            let mut due = clock.now();
            while !shared.is_stopped() {
                if !shared.is_watched() {
                    std::thread::park_timeout(Duration::from_millis(100));
                    due = clock.now();
                    continue;
                }
                let Some((applied, is_pressed)) = wait(&actions, &mut scene, clock, due) else {
                    return;
                };
                let mut next = pool.take(size);
                next.at = clock.now();
                next.inputs = applied;
                drawn += 1;
                let is_pulse = drawn.is_multiple_of(frames_per_second);
                for (is_struck, tone) in [(is_pressed, Tone::Action), (is_pulse, Tone::Pulse)] {
                    if let Some(strikes) = strikes.as_ref().filter(|_| is_struck) {
                        // If there is no thread for sound, this was logged.
                        let _ = strikes.send(Strike { at: next.at, tone });
                    }
                }
                scene.draw(interval, &mut next.picture);
                say(FromSource::Picture(pool.publish(next)));
                due += interval + shared.take_shift();
                if clock.now() > due + interval {
                    due = clock.now();
                }
            }
        })
        .map_err(HostError::Thread)
}

/// Applies actions until `due`. Returns them and whether anything was pressed; `None` if the host
/// is gone.
fn wait(
    actions: &Receiver<Played>,
    scene: &mut Scene,
    clock: Clock,
    due: mimosa_units::Time,
) -> Option<(Inputs, bool)> {
    let (mut applied, mut is_pressed) = (Inputs::default(), false);
    loop {
        let rest = clock.instant(due).saturating_duration_since(now());
        match actions.recv_timeout(rest) {
            Ok(Played { action, times }) => {
                scene.act(action);
                applied.add(times);
                is_pressed |= presses(action);
            }
            Err(RecvTimeoutError::Timeout) => return Some((applied, is_pressed)),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// Whether an action presses something.
const fn presses(action: Action) -> bool {
    match action {
        Action::Key { pressed, .. } | Action::Button { pressed, .. } => pressed,
        Action::Touch { phase, .. } => matches!(phase, TouchPhase::Begin),
        _ => false,
    }
}
