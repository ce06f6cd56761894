//! Gamepads and the loudspeaker.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sdl::audio::{SDL_AudioSpec, SDL_AudioStream};
use sdl::gamepad::{SDL_Gamepad, SDL_GamepadAxis, SDL_GamepadButton};
use sdl::joystick::SDL_JoystickID;
use sdl3_sys as sdl;

use super::{Refusal, Subsystem, SubsystemKind, check};

/// An open gamepad. It stays in its thread.
#[derive(Debug)]
pub(crate) struct RawGamepad(NonNull<SDL_Gamepad>);

impl RawGamepad {
    pub(crate) fn open(id: u32) -> Result<Self, Refusal> {
        // SAFETY: SDL refuses numbers that it does not know.
        let gamepad = unsafe { sdl::gamepad::SDL_OpenGamepad(SDL_JoystickID(id)) };
        NonNull::new(gamepad).map(Self).ok_or_else(Refusal::last)
    }

    pub(crate) fn is_pressed(&self, button: SDL_GamepadButton) -> bool {
        // SAFETY: it is open.
        unsafe { sdl::gamepad::SDL_GetGamepadButton(self.0.as_ptr(), button) }
    }

    pub(crate) fn axis(&self, axis: SDL_GamepadAxis) -> i16 {
        // SAFETY: it is open.
        unsafe { sdl::gamepad::SDL_GetGamepadAxis(self.0.as_ptr(), axis) }
    }

    /// Runs the motors of the gamepad; not all gamepads have any.
    pub(crate) fn rumble(&mut self, strong: u16, weak: u16, milliseconds: u32) {
        // SAFETY: it is open.
        unsafe { sdl::gamepad::SDL_RumbleGamepad(self.0.as_ptr(), strong, weak, milliseconds) };
    }
}

impl Drop for RawGamepad {
    fn drop(&mut self) {
        // SAFETY: it is open, and nothing uses it afterwards.
        unsafe { sdl::gamepad::SDL_CloseGamepad(self.0.as_ptr()) };
    }
}

/// Samples on their way to the loudspeaker.
#[derive(Debug)]
pub(crate) struct RawSpeaker {
    stream: NonNull<SDL_AudioStream>,
    /// The sample frames that the system takes at a time.
    at_once: usize,
    /// The bytes that the system wanted and did not get.
    lacking: Arc<AtomicUsize>,
    // The device ends after the stream.
    _part: Subsystem,
}

// SAFETY: SDL's functions for sound may be called from any thread.
unsafe impl Send for RawSpeaker {}

impl RawSpeaker {
    /// Begins to play, at so many samples per second and channel in so many channels. The
    /// system is asked to take `at_once` samples at a time.
    pub(crate) fn open(rate: c_int, channels: c_int, at_once: u32) -> Result<Self, Refusal> {
        let part = Subsystem::start(SubsystemKind::Sound)?;
        let at_once = super::c_string(&at_once.to_string());
        let hint = sdl::hints::SDL_HINT_AUDIO_DEVICE_SAMPLE_FRAMES;
        // SAFETY: both are C strings, which SDL copies.
        unsafe { sdl::hints::SDL_SetHint(hint, at_once.as_ptr()) };
        let format = SDL_AudioSpec {
            format: sdl::audio::SDL_AUDIO_S16,
            channels,
            freq: rate,
        };
        let lacking = Arc::new(AtomicUsize::new(0));
        // SAFETY: sound is in use, SDL reads the format, and what it gives to the function is
        // there until after the stream's end.
        let stream = unsafe {
            sdl::audio::SDL_OpenAudioDeviceStream(
                sdl::audio::SDL_AUDIO_DEVICE_DEFAULT_PLAYBACK,
                &raw const format,
                Some(taken),
                Arc::as_ptr(&lacking).cast_mut().cast(),
            )
        };
        let stream = NonNull::new(stream).ok_or_else(Refusal::last)?;
        let mut speaker = Self {
            stream,
            at_once: 0,
            lacking,
            _part: part,
        };
        let (mut format, mut at_once) = (SDL_AudioSpec::default(), 0);
        // SAFETY: the stream is there and has a device, and SDL writes to both.
        check(unsafe {
            let device = sdl::audio::SDL_GetAudioStreamDevice(stream.as_ptr());
            sdl::audio::SDL_GetAudioDeviceFormat(device, &raw mut format, &raw mut at_once)
        })?;
        // SDL counts by the device's clock.
        let at_once = i64::from(at_once) * i64::from(rate) / i64::from(format.freq.max(1));
        speaker.at_once = usize::try_from(at_once).unwrap_or_default();
        // SAFETY: the stream is there.
        check(unsafe { sdl::audio::SDL_ResumeAudioStreamDevice(stream.as_ptr()) })?;
        Ok(speaker)
    }

    pub(crate) fn put(&mut self, samples: &[i16]) -> Result<(), Refusal> {
        let bytes = c_int::try_from(size_of_val(samples)).unwrap_or(c_int::MAX & !3);
        // SAFETY: the stream is there, and SDL copies so many bytes, of which there are
        // at least as many.
        check(unsafe {
            sdl::audio::SDL_PutAudioStreamData(self.stream.as_ptr(), samples.as_ptr().cast(), bytes)
        })
    }

    pub(crate) const fn at_once(&self) -> usize {
        self.at_once
    }

    /// The bytes that the system wanted and did not get since the last call.
    pub(crate) fn take_lacking(&mut self) -> usize {
        self.lacking.swap(0, Ordering::Relaxed)
    }

    /// The bytes that wait to be taken by the system.
    pub(crate) fn waiting(&self) -> usize {
        // SAFETY: the stream is there.
        let bytes = unsafe { sdl::audio::SDL_GetAudioStreamQueued(self.stream.as_ptr()) };
        usize::try_from(bytes).unwrap_or_default()
    }

    pub(crate) fn clear(&mut self) {
        // SAFETY: the stream is there.
        unsafe { sdl::audio::SDL_ClearAudioStream(self.stream.as_ptr()) };
    }
}

/// SDL calls this function when it is about to take samples.
///
/// # Safety
///
/// `lacking` points to an [`AtomicUsize`].
unsafe extern "C" fn taken(
    lacking: *mut c_void,
    _stream: *mut SDL_AudioStream,
    missing: c_int,
    _wanted: c_int,
) {
    // SAFETY: `lacking` points to an `AtomicUsize`, which is never changed otherwise.
    let lacking = unsafe { &*lacking.cast::<AtomicUsize>() };
    lacking.fetch_add(usize::try_from(missing).unwrap_or(0), Ordering::Relaxed);
}

impl Drop for RawSpeaker {
    fn drop(&mut self) {
        // SAFETY: it is there, and nothing uses it afterwards; its device goes with it.
        unsafe { sdl::audio::SDL_DestroyAudioStream(self.stream.as_ptr()) };
    }
}

/// A gamepad that exists only in SDL.
#[cfg(test)]
pub(crate) struct VirtualGamepad {
    id: SDL_JoystickID,
    joystick: NonNull<sdl::joystick::SDL_Joystick>,
}

#[cfg(test)]
impl VirtualGamepad {
    /// Plugs a gamepad in.
    pub(crate) fn plug() -> Result<Self, Refusal> {
        use sdl::joystick::{SDL_JOYSTICK_TYPE_GAMEPAD, SDL_VirtualJoystickDesc};
        let description = SDL_VirtualJoystickDesc {
            r#type: u16::try_from(SDL_JOYSTICK_TYPE_GAMEPAD.0).unwrap_or_default(),
            naxes: 6,
            nbuttons: 15,
            ..SDL_VirtualJoystickDesc::default()
        };
        // SAFETY: gamepads are in use; SDL copies the description.
        let id = unsafe { sdl::joystick::SDL_AttachVirtualJoystick(&raw const description) };
        // SAFETY: SDL refuses numbers that it does not know.
        let joystick = unsafe { sdl::joystick::SDL_OpenJoystick(id) };
        let joystick = NonNull::new(joystick).ok_or_else(Refusal::last)?;
        Ok(Self { id, joystick })
    }

    pub(crate) fn set_button(&mut self, button: SDL_GamepadButton, pressed: bool) {
        // SAFETY: it is open. Its buttons have the numbers of a gamepad's.
        let set = unsafe {
            sdl::joystick::SDL_SetJoystickVirtualButton(self.joystick.as_ptr(), button.0, pressed)
        };
        assert!(set, "{}", Refusal::last());
    }

    pub(crate) fn set_axis(&mut self, axis: SDL_GamepadAxis, value: i16) {
        // SAFETY: as above.
        let set = unsafe {
            sdl::joystick::SDL_SetJoystickVirtualAxis(self.joystick.as_ptr(), axis.0, value)
        };
        assert!(set, "{}", Refusal::last());
    }
}

#[cfg(test)]
impl Drop for VirtualGamepad {
    /// Pulls the gamepad out.
    fn drop(&mut self) {
        // SAFETY: it is open, and nothing uses it afterwards.
        unsafe {
            sdl::joystick::SDL_CloseJoystick(self.joystick.as_ptr());
            sdl::joystick::SDL_DetachVirtualJoystick(self.id);
        }
    }
}
