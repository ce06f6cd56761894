//! One gamepad, and the requests and answers about it.

use std::io;

use mimosa_facts::Gamepad;
use mimosa_protocol::input::Rumble;
use mimosa_units::Time;

use crate::effects::{Effects, Motors};
use crate::error::UinputError;
use crate::layout::{
    ERASE, EV_ABS, EV_FF, EV_KEY, EV_UINPUT, EVENT, Event, FF_RUMBLE, Request, UI_FF_ERASE,
    UI_FF_UPLOAD, UPLOAD, Upload, answer, erased, request, setup,
};
use crate::state::{AXES, BUTTONS, events};

/// The error for a request that this side does not know.
const EINVAL: i32 = -22;

/// The kernel's side of one gamepad.
pub trait Kernel {
    /// Sends a request with a number, or without an argument, in which case the number is
    /// 0.
    ///
    /// # Errors
    ///
    /// The kernel's error.
    fn tell(&mut self, request: Request, number: u32) -> io::Result<()>;

    /// Sends a request with a structure, which the kernel may fill in.
    ///
    /// # Errors
    ///
    /// The kernel's error.
    fn exchange(&mut self, request: Request, bytes: &mut [u8]) -> io::Result<()>;

    /// Writes events, all or none.
    ///
    /// # Errors
    ///
    /// The kernel's error.
    fn write(&mut self, events: &[u8]) -> io::Result<()>;

    /// Reads an event that a program has sent to the gamepad; returns `false` when there is
    /// none.
    ///
    /// # Errors
    ///
    /// The kernel's error.
    fn read(&mut self, event: &mut [u8; EVENT]) -> io::Result<bool>;
}

/// A gamepad that is plugged in until this value is dropped.
#[derive(Debug)]
pub struct Pad<K: Kernel> {
    kernel: K,
    index: u8,
    state: Gamepad,
    effects: Effects,
}

impl<K: Kernel> Pad<K> {
    /// Plugs in the gamepad that the page knows by `index`.
    ///
    /// # Errors
    ///
    /// [`UinputError::Request`] names what the kernel refused.
    pub fn create(mut kernel: K, index: u8) -> Result<Self, UinputError> {
        let kinds = [EV_KEY, EV_ABS, EV_FF].map(|kind| (Request::EventBit, kind));
        let keys = BUTTONS.map(|(_, code)| (Request::KeyBit, code));
        let effects = [(Request::EffectBit, FF_RUMBLE)];
        for (request, number) in kinds.into_iter().chain(keys).chain(effects) {
            let result = kernel.tell(request, u32::from(number));
            result.map_err(|error| UinputError::Request { request, error })?;
        }
        let mut exchange = |request, bytes: &mut [u8]| {
            let result = kernel.exchange(request, bytes);
            result.map_err(|error| UinputError::Request { request, error })
        };
        for axis in AXES {
            exchange(Request::AxisSetup, &mut axis.to_bytes())?;
        }
        exchange(Request::Setup, &mut setup())?;
        let request = Request::Create;
        let result = kernel.tell(request, 0);
        result.map_err(|error| UinputError::Request { request, error })?;
        Ok(Self {
            kernel,
            index,
            state: Gamepad::default(),
            effects: Effects::default(),
        })
    }

    /// Writes the events for all that has changed.
    ///
    /// # Errors
    ///
    /// [`UinputError::Events`]; no event is then written.
    pub fn set(&mut self, state: Gamepad) -> Result<(), UinputError> {
        let events = events(&self.state, &state);
        if events.is_empty() {
            return Ok(());
        }
        let bytes: Vec<u8> = events.into_iter().flat_map(Event::to_bytes).collect();
        self.kernel.write(&bytes).map_err(UinputError::Events)?;
        self.state = state;
        Ok(())
    }

    /// Takes the requests of programs and answers them. The kernel lets programs wait until
    /// then, so this must be called whenever there is something to read.
    ///
    /// # Errors
    ///
    /// [`UinputError::Events`] or [`UinputError::Request`].
    pub fn answer(&mut self, now: Time) -> Result<(), UinputError> {
        let mut bytes = [0; EVENT];
        while self.kernel.read(&mut bytes).map_err(UinputError::Events)? {
            let Event { kind, code, value } = Event::from_bytes(&bytes);
            match (kind, code) {
                (EV_UINPUT, UI_FF_UPLOAD) => self.upload(value)?,
                (EV_UINPUT, UI_FF_ERASE) => self.erase(value)?,
                (EV_FF, id) => {
                    if let Ok(id) = i16::try_from(id) {
                        self.effects.play(now, id, value);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The command for the motors, when it differs from the last one or must be repeated.
    pub fn rumble(&mut self, now: Time) -> Option<Rumble> {
        let Motors {
            strong,
            weak,
            duration,
        } = self.effects.poll(now)?;
        Some(Rumble {
            index: self.index,
            strong,
            weak,
            duration,
        })
    }

    /// The time of the next call of [`Self::rumble`] if nothing is read before.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.effects.deadline()
    }

    /// The kernel that was given to [`Self::create`].
    #[must_use]
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    fn upload(&mut self, number: i32) -> Result<(), UinputError> {
        let mut bytes = request::<UPLOAD>(number);
        self.exchange(Request::BeginUpload, &mut bytes)?;
        let effect = Upload::from_bytes(&bytes);
        let is_known = effect.kind == FF_RUMBLE;
        if is_known {
            self.effects.keep(effect);
        }
        answer(&mut bytes, if is_known { 0 } else { EINVAL });
        self.exchange(Request::EndUpload, &mut bytes)
    }

    fn erase(&mut self, number: i32) -> Result<(), UinputError> {
        let mut bytes = request::<ERASE>(number);
        self.exchange(Request::BeginErase, &mut bytes)?;
        if let Ok(id) = i16::try_from(erased(&bytes)) {
            self.effects.forget(id);
        }
        answer(&mut bytes, 0);
        self.exchange(Request::EndErase, &mut bytes)
    }

    fn exchange(&mut self, request: Request, bytes: &mut [u8]) -> Result<(), UinputError> {
        let result = self.kernel.exchange(request, bytes);
        result.map_err(|error| UinputError::Request { request, error })
    }
}

impl<K: Kernel> Drop for Pad<K> {
    fn drop(&mut self) {
        // Closing the device has the same effect; this leaves no time in between.
        let _ = self.kernel.tell(Request::Destroy, 0);
    }
}
