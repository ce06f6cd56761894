//! A gamepad as keys, for games that do not know gamepads.

use mimosa_facts::Gamepad;

/// The deflection from which on a stick presses a key: half way.
const PRESS: i16 = 16_384;
/// The deflection below which a stick releases its key, so that the key does not tremble.
const RELEASE: i16 = 12_288;
/// The deflection from which on a trigger presses its key; it releases the key below half
/// of it.
const TRIGGER: u8 = 96;

/// Keys for the buttons, in the order of the W3C standard mapping, by Linux's
/// `KEY_…` codes: the table at [`crate::Injector`].
const BUTTONS: [u16; 17] = [
    LEFT_CONTROL,
    SPACE,
    ENTER,
    TAB,
    COMMA,
    DOT,
    LEFT_SHIFT,
    LEFT_CONTROL,
    Y,
    ESCAPE,
    LEFT_BRACE,
    RIGHT_BRACE,
    UP,
    DOWN,
    LEFT,
    RIGHT,
    ESCAPE,
];

const ESCAPE: u16 = 1;
const TAB: u16 = 15;
const W: u16 = 17;
const Y: u16 = 21;
const LEFT_BRACE: u16 = 26;
const RIGHT_BRACE: u16 = 27;
const ENTER: u16 = 28;
const LEFT_CONTROL: u16 = 29;
const A: u16 = 30;
const S: u16 = 31;
const D: u16 = 32;
const LEFT_SHIFT: u16 = 42;
const COMMA: u16 = 51;
const DOT: u16 = 52;
const SPACE: u16 = 57;
const UP: u16 = 103;
const LEFT: u16 = 105;
const RIGHT: u16 = 106;
const DOWN: u16 = 108;

/// Every key that a gamepad can press, and whether this state presses it. `is_down` says
/// whether the same gamepad already holds a key.
pub(crate) fn keys(
    state: Gamepad,
    is_down: impl Fn(u16) -> bool,
) -> impl Iterator<Item = (u16, bool)> {
    let [x, y, ..] = state.axes;
    let [left_trigger, right_trigger] = state.triggers;
    let out = move |axis: i16, is_down: bool| axis > if is_down { RELEASE } else { PRESS };
    let pulled = |trigger: u8, is_down: bool| trigger > if is_down { TRIGGER / 2 } else { TRIGGER };
    let mut all = [&BUTTONS[..], &[W, A, S, D]].concat();
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(move |key| {
        let by_button = (0u32..)
            .zip(BUTTONS)
            .any(|(bit, code)| code == key && state.buttons & (1 << bit) != 0);
        let held = is_down(key);
        let otherwise = match key {
            A => out(x.saturating_neg(), held),
            D => out(x, held),
            W => out(y.saturating_neg(), held),
            S => out(y, held),
            LEFT_SHIFT => pulled(left_trigger, held),
            LEFT_CONTROL => pulled(right_trigger, held),
            _ => false,
        };
        (key, state.is_present && (by_button || otherwise))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(state: Gamepad, down: &[u16]) -> Vec<u16> {
        let keys = keys(state, |key| down.contains(&key));
        keys.filter_map(|(key, pressed)| pressed.then_some(key))
            .collect()
    }

    const REST: Gamepad = Gamepad {
        index: 0,
        is_present: true,
        buttons: 0,
        axes: [0; 4],
        triggers: [0; 2],
    };

    #[test]
    fn buttons_are_keys() {
        assert!(pressed(REST, &[UP]).is_empty());
        let buttons = 1 << 12 | 1 << 15 | 1;
        assert_eq!(
            pressed(Gamepad { buttons, ..REST }, &[]),
            [LEFT_CONTROL, UP, RIGHT]
        );
        assert_eq!(
            pressed(
                Gamepad {
                    buttons: !0,
                    ..REST
                },
                &[]
            )
            .len(),
            15
        );
        let away = Gamepad {
            buttons: !0,
            is_present: false,
            ..REST
        };
        assert!(pressed(away, &[UP]).is_empty());
    }

    #[test]
    fn a_stick_lets_go_later_than_it_presses() {
        let stick = |x, y| Gamepad {
            axes: [x, y, 0, 0],
            ..REST
        };
        assert_eq!(pressed(stick(-32_767, 32_767), &[]), [A, S]);
        assert!(pressed(stick(14_000, 0), &[]).is_empty());
        assert_eq!(pressed(stick(14_000, 0), &[D]), [D]);
        assert!(pressed(stick(12_000, 0), &[D]).is_empty());
        assert_eq!(pressed(stick(0, i16::MIN), &[]), [W]);
        let triggers = [255, 60];
        assert_eq!(pressed(Gamepad { triggers, ..REST }, &[]), [LEFT_SHIFT]);
    }
}
