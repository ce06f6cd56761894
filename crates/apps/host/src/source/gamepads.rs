//! Brings a player's gamepads to a game: as kernel devices, or as other actions.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use mimosa_facts::{Action, Gamepad, InputTimes};
use mimosa_protocol::input::Rumble;
use mimosa_session::host::{Inputs, Played};
use mimosa_settings::GamepadSettings;
use mimosa_system::{Inbox, Mailbox, mailbox, priority};
use mimosa_uinput::{Device, Pad, UinputError};
use mimosa_units::{Time, TimeDelta};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::HostError;
use mimosa_system::clock::Clock;

/// Longest sleep of the thread.
const LONGEST_SLEEP: TimeDelta = TimeDelta::from_millis(1_000);

/// Where the states of gamepads go.
#[derive(Debug)]
pub(super) enum Gamepads {
    /// To the source, as all other actions do.
    Actions,
    /// To kernel devices.
    Devices(Devices),
    /// Nowhere: they are ignored.
    Off,
}

/// The thread with the devices. When this is dropped, the thread ends and the devices go.
#[derive(Debug)]
pub(super) struct Devices {
    mailbox: Mailbox<Told>,
    thread: Option<JoinHandle<()>>,
}

/// A message to the thread.
#[derive(Debug)]
enum Told {
    State(Gamepad, Option<InputTimes>),
    Stop,
}

impl Gamepads {
    /// Starts the way that the settings ask for. States of gamepads for which no device can be made
    /// go to `actions`. `applied` counts what has reached a device.
    ///
    /// # Errors
    ///
    /// [`HostError::Gamepads`] if there have to be devices and there cannot.
    pub(super) fn start(
        settings: GamepadSettings,
        clock: Clock,
        actions: mpsc::Sender<Played>,
        applied: Arc<Mutex<Inputs>>,
        say: impl Fn(Rumble) + Send + 'static,
    ) -> Result<Self, HostError> {
        match settings {
            GamepadSettings::Off => return Ok(Self::Off),
            GamepadSettings::Keys => return Ok(Self::Actions),
            GamepadSettings::Auto => {
                if let Err(reason) = mimosa_uinput::check() {
                    tracing::info!(%reason, "gamepads press keys");
                    return Ok(Self::Actions);
                }
            }
            GamepadSettings::Uinput => mimosa_uinput::check()?,
        }
        let (mailbox, inbox) = mailbox().map_err(HostError::Thread)?;
        let runner = Runner {
            clock,
            inbox,
            actions,
            applied,
            pads: BTreeMap::new(),
        };
        let thread = std::thread::Builder::new()
            .name("gamepads".to_owned())
            .spawn(move || {
                priority::raise();
                runner.run(&say);
            })
            .map_err(HostError::Thread)?;
        Ok(Self::Devices(Devices {
            mailbox,
            thread: Some(thread),
        }))
    }

    /// Takes an action for gamepads, and returns any other.
    pub(super) fn take(&self, played: Played) -> Option<Played> {
        match (self, played.action) {
            (Self::Devices(devices), Action::Gamepad(state)) => {
                devices.mailbox.send(Told::State(state, played.times));
                None
            }
            (Self::Off, Action::Gamepad(_)) => None,
            _ => Some(played),
        }
    }
}

impl Drop for Devices {
    fn drop(&mut self) {
        self.mailbox.send(Told::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The state of the thread.
struct Runner {
    clock: Clock,
    inbox: Inbox<Told>,
    actions: mpsc::Sender<Played>,
    applied: Arc<Mutex<Inputs>>,
    /// Devices by gamepad; `None` for a device that could not be made, so that it presses keys.
    pads: BTreeMap<u8, Option<Pad<Device>>>,
}

impl Runner {
    fn run(mut self, say: &impl Fn(Rumble)) {
        loop {
            self.inbox.clear();
            while let Some(told) = self.inbox.take() {
                match told {
                    Told::State(state, times) => self.state(state, times),
                    Told::Stop => return,
                }
            }
            let now = self.clock.now();
            for pad in self.pads.values_mut().filter_map(Option::as_mut) {
                said(pad.answer(now));
                if let Some(rumble) = pad.rumble(now) {
                    say(rumble);
                }
            }
            self.wait();
        }
    }

    fn state(&mut self, state: Gamepad, times: Option<InputTimes>) {
        if !state.is_present && self.pads.get(&state.index).is_some_and(Option::is_some) {
            self.pads.remove(&state.index);
            tracing::info!(index = state.index, "a gamepad is unplugged");
            return;
        }
        if !state.is_present && !self.pads.contains_key(&state.index) {
            return;
        }
        let pad = self.pads.entry(state.index).or_insert_with(|| {
            let made = Device::open().and_then(|device| Pad::create(device, state.index));
            match &made {
                Ok(_) => tracing::info!(index = state.index, "a gamepad is plugged in"),
                Err(error) => tracing::warn!(%error, "a gamepad presses keys"),
            }
            made.ok()
        });
        if let Some(pad) = pad {
            said(pad.set(state));
            let applied = self.applied.lock();
            applied.unwrap_or_else(PoisonError::into_inner).add(times);
        } else {
            // A source that has ended has reported it.
            let action = Action::Gamepad(state);
            let _ = self.actions.send(Played { action, times });
        }
    }

    /// Sleeps until something is due or comes.
    fn wait(&self) {
        let now = self.clock.now();
        let pads = self.pads.values().flatten();
        let deadlines = pads.clone().filter_map(Pad::deadline);
        let until = deadlines.fold(now + LONGEST_SLEEP, Time::min);
        let rest = until.since(now).max(TimeDelta::ZERO);
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: rest.as_nanos().min(999_999_999),
        };
        let mut fds = vec![PollFd::from_borrowed_fd(self.inbox.fd(), PollFlags::IN)];
        let devices = pads.map(|pad| pad.kernel().as_fd());
        fds.extend(devices.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        // An interruption is a wake-up like any other.
        let _ = poll(&mut fds, Some(&timeout));
    }
}

/// A device that fails is like a gamepad with an empty battery: the next state is tried again.
fn said(result: Result<(), UinputError>) {
    if let Err(error) = result {
        tracing::debug!(%error, "a gamepad");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAD: Played = played(Action::Gamepad(Gamepad {
        index: 0,
        is_present: true,
        buttons: 1,
        axes: [0; 4],
        triggers: [0; 2],
    }));

    const fn played(action: Action) -> Played {
        Played {
            action,
            times: None,
        }
    }

    fn started(settings: GamepadSettings) -> Result<Gamepads, HostError> {
        let (actions, _) = mpsc::channel();
        let clock = Clock::start();
        Gamepads::start(settings, clock, actions, Arc::default(), |_| {})
    }

    #[test]
    fn gamepads_are_actions_or_nothing_as_asked() {
        let keys = started(GamepadSettings::Keys).unwrap();
        assert_eq!(keys.take(PAD), Some(PAD));
        let off = started(GamepadSettings::Off).unwrap();
        assert_eq!(off.take(PAD), None);
        for action in [
            Action::ReleaseAll,
            Action::Key {
                code: 1,
                pressed: true,
            },
        ] {
            assert_eq!(off.take(played(action)), Some(played(action)));
        }
    }

    /// Which of the two happens depends on the machine; a gamepad is lost in neither.
    #[test]
    fn what_must_be_a_device_is_one_or_is_refused() {
        match started(GamepadSettings::Uinput) {
            Ok(gamepads) => assert!(matches!(gamepads, Gamepads::Devices(_))),
            Err(error) => assert!(matches!(error, HostError::Gamepads(_)), "{error}"),
        }
        match started(GamepadSettings::Auto).unwrap() {
            Gamepads::Devices(_) => assert!(mimosa_uinput::check().is_ok()),
            other => assert_eq!(other.take(PAD), Some(PAD)),
        }
    }
}
