//! Gamepads and the loudspeaker.

use std::ffi::c_int;
use std::ptr::{NonNull, null_mut};

use sdl::audio::{SDL_AudioSpec, SDL_AudioStream};
use sdl::gamepad::{SDL_Gamepad, SDL_GamepadAxis, SDL_GamepadButton};
use sdl::joystick::SDL_JoystickID;
use sdl3_sys as sdl;

use super::{Kind, Part, Refusal, check};

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

    /// Shakes it; not all can.
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
    // Ends after the other.
    _part: Part,
}

// SAFETY: SDL's functions for sound may be called from any thread.
unsafe impl Send for RawSpeaker {}

impl RawSpeaker {
    /// Begins to play whatever comes, of so many samples a second in so many channels.
    pub(crate) fn open(rate: c_int, channels: c_int) -> Result<Self, Refusal> {
        let part = Part::start(Kind::Sound)?;
        let format = SDL_AudioSpec {
            format: sdl::audio::SDL_AUDIO_S16,
            channels,
            freq: rate,
        };
        // SAFETY: sound is in use, SDL reads the format, and there is no function to call.
        let stream = unsafe {
            sdl::audio::SDL_OpenAudioDeviceStream(
                sdl::audio::SDL_AUDIO_DEVICE_DEFAULT_PLAYBACK,
                &raw const format,
                None,
                null_mut(),
            )
        };
        let stream = NonNull::new(stream).ok_or_else(Refusal::last)?;
        let speaker = Self {
            stream,
            _part: part,
        };
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

    /// Bytes that wait to be taken by the system.
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

impl Drop for RawSpeaker {
    fn drop(&mut self) {
        // SAFETY: it is there, and nothing uses it afterwards; its device goes with it.
        unsafe { sdl::audio::SDL_DestroyAudioStream(self.stream.as_ptr()) };
    }
}

/// A gamepad that exists in SDL alone.
#[cfg(test)]
pub(crate) struct VirtualGamepad {
    id: SDL_JoystickID,
    joystick: NonNull<sdl::joystick::SDL_Joystick>,
}

#[cfg(test)]
impl VirtualGamepad {
    /// Plugs one in.
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
    /// Pulls it out.
    fn drop(&mut self) {
        // SAFETY: it is open, and nothing uses it afterwards.
        unsafe {
            sdl::joystick::SDL_CloseJoystick(self.joystick.as_ptr());
            sdl::joystick::SDL_DetachVirtualJoystick(self.id);
        }
    }
}
