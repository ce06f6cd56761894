//! Gamepads in the W3C's standard mapping.

use mimosa_facts::Gamepad;
use sdl3_sys::gamepad::{SDL_GamepadAxis as Axis, SDL_GamepadButton as Button};

use crate::raw::RawGamepad;

/// The most gamepads: as many as the protocol has room for.
const MOST: usize = 16;
/// The value from which on a trigger also counts as a pressed button, out of 255: the
/// threshold of Windows.
const PRESSED: u8 = 30;
/// The buttons in the order of the mapping; the two left out are the triggers.
const BUTTONS: [Option<Button>; 17] = [
    Some(Button::SOUTH),
    Some(Button::EAST),
    Some(Button::WEST),
    Some(Button::NORTH),
    Some(Button::LEFT_SHOULDER),
    Some(Button::RIGHT_SHOULDER),
    None,
    None,
    Some(Button::BACK),
    Some(Button::START),
    Some(Button::LEFT_STICK),
    Some(Button::RIGHT_STICK),
    Some(Button::DPAD_UP),
    Some(Button::DPAD_DOWN),
    Some(Button::DPAD_LEFT),
    Some(Button::DPAD_RIGHT),
    Some(Button::GUIDE),
];
/// The places of the triggers in that order.
const TRIGGERS: [usize; 2] = [6, 7];

/// The gamepads that are plugged in, each in its place.
#[derive(Debug, Default)]
pub(crate) struct Gamepads {
    places: [Option<Pad>; MOST],
}

#[derive(Debug)]
struct Pad {
    id: u32,
    raw: RawGamepad,
    told: Gamepad,
}

impl Gamepads {
    /// Opens a gamepad that was plugged in, in the first free place.
    pub(crate) fn add(&mut self, id: u32) -> Option<Gamepad> {
        if self.index(id).is_some() {
            return None;
        }
        let index = self.places.iter().position(Option::is_none)?;
        let raw = RawGamepad::open(id)
            .inspect_err(|refusal| tracing::debug!("a gamepad does not open: {refusal}"))
            .ok()?;
        let told = read(index, &raw);
        self.places[index] = Some(Pad { id, raw, told });
        Some(told)
    }

    /// Removes a gamepad that was pulled out.
    pub(crate) fn remove(&mut self, id: u32) -> Option<Gamepad> {
        let index = self.index(id)?;
        self.places[index] = None;
        Some(Gamepad {
            index: u8::try_from(index).ok()?,
            ..Gamepad::default()
        })
    }

    /// A gamepad's state, if it differs from the one reported last.
    pub(crate) fn change(&mut self, id: u32) -> Option<Gamepad> {
        let index = self.index(id)?;
        let pad = self.places[index].as_mut()?;
        let state = read(index, &pad.raw);
        (state != pad.told).then(|| {
            pad.told = state;
            state
        })
    }

    pub(crate) fn at(&mut self, index: u8) -> Option<&mut RawGamepad> {
        let place = self.places.get_mut(usize::from(index))?;
        place.as_mut().map(|pad| &mut pad.raw)
    }

    fn index(&self, id: u32) -> Option<usize> {
        let is_it = |place: &Option<Pad>| place.as_ref().is_some_and(|pad| pad.id == id);
        self.places.iter().position(is_it)
    }
}

fn read(index: usize, raw: &RawGamepad) -> Gamepad {
    state(
        index,
        |button| raw.is_pressed(button),
        |axis| raw.axis(axis),
    )
}

/// The state of a gamepad, read button by button.
fn state(index: usize, is_pressed: impl Fn(Button) -> bool, axis: impl Fn(Axis) -> i16) -> Gamepad {
    let triggers = [Axis::LEFT_TRIGGER, Axis::RIGHT_TRIGGER].map(|trigger| {
        // The range is 0 to 32767.
        u8::try_from(axis(trigger).max(0) >> 7).unwrap_or(u8::MAX)
    });
    let mut buttons = 0;
    for (bit, button) in BUTTONS.into_iter().enumerate() {
        buttons |= u32::from(button.is_some_and(&is_pressed)) << bit;
    }
    for (bit, trigger) in TRIGGERS.into_iter().zip(triggers) {
        buttons |= u32::from(trigger >= PRESSED) << bit;
    }
    Gamepad {
        index: u8::try_from(index).unwrap_or(u8::MAX),
        is_present: true,
        buttons,
        axes: [Axis::LEFTX, Axis::LEFTY, Axis::RIGHTX, Axis::RIGHTY]
            .map(|stick| axis(stick).max(-i16::MAX)),
        triggers,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::{RawEvent, Subsystem, SubsystemKind, VirtualGamepad, next};

    #[test]
    fn buttons_are_in_the_order_of_the_standard_mapping() {
        let bit = |button| state(0, |pressed| pressed == button, |_| 0).buttons;
        for (button, bit_number) in [
            (Button::SOUTH, 0),
            (Button::NORTH, 3),
            (Button::RIGHT_SHOULDER, 5),
            (Button::BACK, 8),
            (Button::START, 9),
            (Button::RIGHT_STICK, 11),
            (Button::DPAD_UP, 12),
            (Button::DPAD_RIGHT, 15),
            (Button::GUIDE, 16),
        ] {
            assert_eq!(bit(button), 1 << bit_number, "bit {bit_number}");
        }
        assert_eq!(bit(Button::MISC1), 0);
        assert_eq!(state(0, |_| true, |_| 0).buttons, 0x1_ff3f);
    }

    #[test]
    fn axes_and_triggers_fill_their_ranges() {
        let of = |value: i16| state(3, |_| false, |_| value);
        assert_eq!(of(i16::MIN).axes, [-32_767; 4]);
        assert_eq!(of(i16::MIN).triggers, [0, 0]);
        assert_eq!(of(i16::MAX).axes, [32_767; 4]);
        assert_eq!(of(i16::MAX).triggers, [255, 255]);
        assert_eq!((of(0).index, of(0).is_present), (3, true));
        let one = |axis| {
            let value = |asked| if asked == axis { 1_000 } else { 0 };
            state(0, |_| false, value).axes
        };
        assert_eq!(one(Axis::RIGHTX), [0, 0, 1_000, 0]);
        assert_eq!(one(Axis::LEFTY), [0, 1_000, 0, 0]);
    }

    /// Takes SDL's events until a gamepad has the expected state.
    fn until(gamepads: &mut Gamepads, expected: &Gamepad) {
        let mut told = Vec::new();
        for _ in 0..1_000 {
            let state = match next(10, u32::MAX) {
                Ok(Some(RawEvent::GamepadAdded(id))) => gamepads.add(id),
                Ok(Some(RawEvent::GamepadRemoved(id))) => gamepads.remove(id),
                Ok(Some(RawEvent::GamepadChanged(id))) => gamepads.change(id),
                _ => None,
            };
            if state.as_ref() == Some(expected) {
                return;
            }
            told.extend(state);
        }
        panic!("no {expected:?} in {told:?}");
    }

    /// This is the one test in this process that uses SDL, which is bound to a thread.
    #[test]
    fn gamepads_come_and_go_and_keep_their_numbers() {
        let _part = Subsystem::start(SubsystemKind::Gamepads).unwrap();
        let mut gamepads = Gamepads::default();
        let still = |index| Gamepad {
            index,
            is_present: true,
            ..Gamepad::default()
        };
        let mut first = VirtualGamepad::plug().unwrap();
        until(&mut gamepads, &still(0));
        let mut second = VirtualGamepad::plug().unwrap();
        until(&mut gamepads, &still(1));
        first.set_button(Button::EAST, true);
        first.set_axis(Axis::LEFTY, -20_000);
        let pressed = Gamepad {
            buttons: 1 << 1,
            axes: [0, -20_000, 0, 0],
            ..still(0)
        };
        until(&mut gamepads, &pressed);
        second.set_button(Button::GUIDE, true);
        let other = Gamepad {
            buttons: 1 << 16,
            ..still(1)
        };
        until(&mut gamepads, &other);
        first.set_button(Button::EAST, false);
        let released = Gamepad {
            buttons: 0,
            ..pressed
        };
        until(&mut gamepads, &released);
        drop(first);
        let gone = Gamepad {
            is_present: false,
            ..still(0)
        };
        until(&mut gamepads, &gone);
        let third = VirtualGamepad::plug().unwrap();
        until(&mut gamepads, &still(0));
        assert!(gamepads.at(1).is_some() && gamepads.at(2).is_none());
        drop((second, third));
    }

    #[test]
    fn a_trigger_is_a_button_from_a_part_of_its_way() {
        let of = |value: i16| {
            let axis = |axis| {
                if axis == Axis::RIGHT_TRIGGER {
                    value
                } else {
                    0
                }
            };
            state(0, |_| false, axis).buttons
        };
        assert_eq!(of(29 << 7), 0);
        assert_eq!(of(30 << 7), 1 << 7);
    }
}
