//! SDL's events as plain numbers.

use std::ffi::c_int;

use sdl::events::{SDL_Event, SDL_EventType, SDL_UserEvent};
use sdl3_sys as sdl;

/// An event of SDL.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RawEvent {
    /// The window is to be closed.
    Quit,
    /// [`wake`] was called.
    Woken,
    FocusGained,
    FocusLost,
    /// The window has another size, or lost its contents.
    Changed {
        is_size: bool,
    },
    Key {
        scancode: c_int,
        pressed: bool,
        is_repeat: bool,
        modifiers: Modifiers,
    },
    /// The pointer's place, in the window's coordinates.
    Motion {
        x: f32,
        y: f32,
        right: f32,
        down: f32,
    },
    Button {
        number: u8,
        pressed: bool,
        x: f32,
        y: f32,
    },
    /// Movements of the wheel, in notches.
    Wheel {
        right: f32,
        up: f32,
    },
    /// A finger's place, in parts of the window.
    Finger {
        id: u64,
        phase: FingerPhase,
        x: f32,
        y: f32,
    },
    GamepadAdded(u32),
    GamepadRemoved(u32),
    GamepadChanged(u32),
    /// Another program has put something onto the clipboard.
    Clipboard,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FingerPhase {
    Down,
    Moved,
    Up,
    Cancelled,
}

/// The modifiers that are held with another key.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Modifiers {
    pub(crate) control: bool,
    pub(crate) alt: bool,
    pub(crate) shift: bool,
}

/// Reserves a number for the events of [`wake`].
pub(crate) fn register_wake() -> u32 {
    // SAFETY: reserves a number; zero when there are no more.
    unsafe { sdl::events::SDL_RegisterEvents(1) }
}

/// Ends a wait, from any thread, while the window system is in use.
pub(crate) fn wake(number: u32) {
    let mut event = SDL_Event {
        user: SDL_UserEvent {
            r#type: number,
            ..SDL_UserEvent::default()
        },
    };
    // SAFETY: SDL copies the event; the function may be called from any thread.
    unsafe { sdl::events::SDL_PushEvent(&raw mut event) };
}

/// Waits for the next event, at most so many milliseconds, or for ever if the number is
/// negative. Returns `Err` when the time is over, and `Ok(None)` for an event of no
/// interest.
pub(crate) fn next(milliseconds: i32, wake: u32) -> Result<Option<RawEvent>, ()> {
    let mut event = SDL_Event::default();
    // SAFETY: SDL fills in the event. The call is made in the thread that started the
    // window system, since a `RawWindow` does not leave it.
    if !unsafe { sdl::events::SDL_WaitEventTimeout(&raw mut event, milliseconds) } {
        return Err(());
    }
    // SAFETY: the type is the first field of every event.
    let kind = unsafe { event.r#type };
    Ok(if kind == wake {
        Some(RawEvent::Woken)
    } else {
        understand(SDL_EventType(kind), &event)
    })
}

fn understand(kind: SDL_EventType, event: &SDL_Event) -> Option<RawEvent> {
    use SDL_EventType as Type;
    // SAFETY, here and below: the type says which of the event's parts SDL filled in.
    Some(match kind {
        Type::QUIT | Type::WINDOW_CLOSE_REQUESTED => RawEvent::Quit,
        Type::WINDOW_FOCUS_GAINED => RawEvent::FocusGained,
        Type::WINDOW_FOCUS_LOST => RawEvent::FocusLost,
        Type::WINDOW_EXPOSED => RawEvent::Changed { is_size: false },
        Type::WINDOW_PIXEL_SIZE_CHANGED => RawEvent::Changed { is_size: true },
        Type::KEY_DOWN | Type::KEY_UP => {
            // SAFETY: as above.
            let key = unsafe { event.key };
            let held = |keys| (key.r#mod & keys).0 != 0;
            RawEvent::Key {
                scancode: key.scancode.0,
                pressed: key.down,
                is_repeat: key.repeat,
                modifiers: Modifiers {
                    control: held(sdl::keycode::SDL_KMOD_CTRL),
                    alt: held(sdl::keycode::SDL_KMOD_ALT),
                    shift: held(sdl::keycode::SDL_KMOD_SHIFT),
                },
            }
        }
        Type::MOUSE_MOTION => {
            // SAFETY: as above.
            let motion = unsafe { event.motion };
            RawEvent::Motion {
                x: motion.x,
                y: motion.y,
                right: motion.xrel,
                down: motion.yrel,
            }
        }
        Type::MOUSE_BUTTON_DOWN | Type::MOUSE_BUTTON_UP => {
            // SAFETY: as above.
            let button = unsafe { event.button };
            RawEvent::Button {
                number: button.button,
                pressed: button.down,
                x: button.x,
                y: button.y,
            }
        }
        Type::MOUSE_WHEEL => {
            // SAFETY: as above.
            let wheel = unsafe { event.wheel };
            RawEvent::Wheel {
                right: wheel.x,
                up: wheel.y,
            }
        }
        Type::FINGER_DOWN | Type::FINGER_UP | Type::FINGER_MOTION | Type::FINGER_CANCELED => {
            // SAFETY: as above.
            let finger = unsafe { event.tfinger };
            RawEvent::Finger {
                id: finger.fingerID.0,
                phase: match kind {
                    Type::FINGER_DOWN => FingerPhase::Down,
                    Type::FINGER_UP => FingerPhase::Up,
                    Type::FINGER_MOTION => FingerPhase::Moved,
                    _ => FingerPhase::Cancelled,
                },
                x: finger.x,
                y: finger.y,
            }
        }
        Type::GAMEPAD_ADDED | Type::GAMEPAD_REMOVED | Type::GAMEPAD_UPDATE_COMPLETE => {
            // SAFETY: as above.
            let which = unsafe { event.gdevice }.which.0;
            match kind {
                Type::GAMEPAD_ADDED => RawEvent::GamepadAdded(which),
                Type::GAMEPAD_REMOVED => RawEvent::GamepadRemoved(which),
                _ => RawEvent::GamepadChanged(which),
            }
        }
        // SAFETY: as above.
        Type::CLIPBOARD_UPDATE if !unsafe { event.clipboard }.owner => RawEvent::Clipboard,
        _ => return None,
    })
}
