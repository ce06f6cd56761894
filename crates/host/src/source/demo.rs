//! The built-in scene, drawn at the frame rate.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use mimosa_scene::Scene;
use mimosa_settings::Settings;
use mimosa_units::TimeDelta;
use mimosa_wire::Action;

use super::pool::Pool;
use super::{FromSource, Shared};
use crate::clock::{Clock, instant};
use crate::error::HostError;
use crate::priority;

/// Any: the same every time.
const SEED: u64 = 1;

/// Starts the thread.
pub(super) fn start(
    settings: &Settings,
    clock: Clock,
    shared: Arc<Shared>,
    actions: Receiver<Action>,
    say: impl Fn(FromSource) + Send + 'static,
) -> Result<JoinHandle<()>, HostError> {
    let size = settings.size;
    let interval = TimeDelta::from_secs(1.0) / settings.frames_per_second;
    std::thread::Builder::new()
        .name("demo".to_owned())
        .spawn(move || {
            priority::raise();
            let mut scene = Scene::new(size, SEED);
            let mut pool = Pool::new();
            let mut due = clock.now();
            while !shared.is_stopped() {
                if !shared.is_watched() {
                    std::thread::park_timeout(Duration::from_millis(100));
                    due = clock.now();
                    continue;
                }
                let Some(applied) = wait(&actions, &mut scene, clock, due) else {
                    return;
                };
                let mut next = pool.take(size);
                next.at = clock.now();
                next.actions = applied;
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

/// Applies actions until `due`, and says how many; `None` when the host has gone.
fn wait(
    actions: &Receiver<Action>,
    scene: &mut Scene,
    clock: Clock,
    due: mimosa_units::Time,
) -> Option<u32> {
    let mut applied = 0;
    loop {
        let rest = clock.instant(due).saturating_duration_since(instant());
        match actions.recv_timeout(rest) {
            Ok(action) => {
                scene.act(action);
                applied += 1;
            }
            Err(RecvTimeoutError::Timeout) => return Some(applied),
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}
