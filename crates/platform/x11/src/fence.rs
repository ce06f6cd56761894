//! Keys that reach past the display, or past a shared window, which no player presses.
//!
//! Codes are those of `linux/input-event-codes.h`. The X server itself changes the console and ends
//! itself by keys with Control and Alt (`XF86Switch_VT_1` and `Terminate_Server` of xkeyboard-config),
//! and desktops listen to the keys for power wherever the focus is.

use crate::held::{HeldSwitches, Switch};
use crate::translate::key;

/// `KEY_SYSRQ`, `KEY_POWER`, `KEY_SLEEP`, `KEY_WAKEUP`, `KEY_COFFEE` (locks the screen) and
/// `KEY_SUSPEND`.
const POWER: [u16; 6] = [99, 116, 142, 143, 152, 205];
/// `KEY_LEFTCTRL` and `KEY_RIGHTCTRL`.
const CONTROL: [u16; 2] = [29, 97];
/// `KEY_LEFTALT` and `KEY_RIGHTALT`.
const ALT: [u16; 2] = [56, 100];
/// `KEY_BACKSPACE`, and `KEY_F1` to `KEY_F12`: with Control and Alt, for the X server.
const CONSOLE: [u16; 13] = [14, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 87, 88];

/// `KEY_LEFTSHIFT` and `KEY_RIGHTSHIFT`.
const SHIFT: [u16; 2] = [42, 54];
/// Keys that open something of a desktop's wherever the focus is: `KEY_LEFTMETA` and `KEY_RIGHTMETA`, and
/// those for overviews, searches, files, mail, the web and programs.
const DESKTOP: [u16; 15] = [
    125, 126, 120, 140, 144, 148, 149, 150, 155, 157, 172, 202, 203, 204, 217,
];
/// Keys with which, and with Alt, desktops change the window or open something: `KEY_ESC`, `KEY_TAB`,
/// `KEY_GRAVE`, `KEY_SPACE`, and `KEY_F1` to `KEY_F12`.
const WITH_ALT: [u16; 16] = [
    1, 15, 41, 57, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 87, 88,
];

/// Whether pressing this key beside those that are `held` would reach past a window that has the focus: by
/// itself, with Alt, or with Control and Alt, with which desktops have keys of their own and their users
/// choose others.
pub(crate) fn reaches_desktop(held: &HeldSwitches, pressed: Switch) -> bool {
    let is_of = |codes: &[u16], switch: Switch| {
        codes
            .iter()
            .filter_map(|&code| key(code))
            .any(|one| one == switch)
    };
    let is_modifier =
        |switch| is_of(&CONTROL, switch) || is_of(&ALT, switch) || is_of(&SHIFT, switch);
    let is_down = |codes: &[u16]| is_of(codes, pressed) || held.any(|switch| is_of(codes, switch));
    let is_key = |switch| matches!(switch, Switch::Key(_)) && !is_modifier(switch);
    let other_is_down = is_key(pressed) || held.any(is_key);
    let has_alt = is_down(&ALT);
    let completes_alt = is_of(&ALT, pressed) || is_of(&WITH_ALT, pressed);
    let completes_both = is_of(&ALT, pressed) || is_of(&CONTROL, pressed) || is_key(pressed);
    is_of(&DESKTOP, pressed)
        || completes_alt && has_alt && is_down(&WITH_ALT)
        || completes_both && has_alt && is_down(&CONTROL) && other_is_down
}

/// Whether pressing this key beside those that are `held` would reach past the display: either by
/// itself, or as the last of Control, Alt and a key for the console. (A key that is held repeats, so
/// that Control and Alt may come after it.)
pub(crate) fn reaches_past(held: &HeldSwitches, pressed: Switch) -> bool {
    let is_any = |codes: &[u16], of: &dyn Fn(Switch) -> bool| {
        codes.iter().filter_map(|&code| key(code)).any(of)
    };
    let is_one_of = |codes: &[u16]| is_any(codes, &|switch| switch == pressed);
    let is_down = |codes: &[u16]| is_one_of(codes) || is_any(codes, &|switch| held.is_down(switch));
    let completes = [&CONTROL[..], &ALT, &CONSOLE]
        .iter()
        .any(|codes| is_one_of(codes));
    is_one_of(&POWER) || completes && is_down(&CONTROL) && is_down(&ALT) && is_down(&CONSOLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::Holder;

    /// Presses keys one after the other, and gives those that were let through.
    fn through(codes: &[u16]) -> Vec<u16> {
        pressed(codes, reaches_past)
    }

    /// Presses keys one after the other, and gives those that `is_out` let through.
    fn pressed(codes: &[u16], is_out: fn(&HeldSwitches, Switch) -> bool) -> Vec<u16> {
        let mut held = HeldSwitches::default();
        let pass = |&code: &u16| {
            let switch = key(code).unwrap();
            let passes = !is_out(&held, switch);
            if passes {
                let _ = held.set(Holder::Desk, switch, true);
            }
            passes
        };
        codes.iter().copied().filter(pass).collect()
    }

    #[test]
    fn keys_for_power_stay_out() {
        for code in POWER {
            assert_eq!(through(&[code, 30]), [30], "{code}");
        }
    }

    #[test]
    fn the_console_is_not_reached_in_any_order() {
        for control in CONTROL {
            for alt in ALT {
                for console in CONSOLE {
                    let [a, b, c] = [control, alt, console];
                    for order in [
                        [a, b, c],
                        [b, a, c],
                        [a, c, b],
                        [c, a, b],
                        [b, c, a],
                        [c, b, a],
                    ] {
                        assert_eq!(through(&order), order[..2], "{order:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_desktop_is_not_called_in_any_order() {
        let of = |codes: &[u16]| pressed(codes, reaches_desktop);
        for code in DESKTOP {
            assert_eq!(of(&[code, 30]), [30], "{code}");
        }
        for alt in ALT {
            for other in WITH_ALT {
                assert_eq!(of(&[alt, other]), [alt]);
                assert_eq!(of(&[other, alt]), [other]);
            }
            for control in CONTROL {
                for order in [[control, alt, 20], [alt, control, 20], [20, alt, control]] {
                    assert_eq!(of(&order), order[..2], "{order:?}");
                }
            }
        }
    }

    #[test]
    fn what_games_and_programs_use_passes_a_window() {
        // Go, jump and crouch; Alt+Enter, Control+Shift+T, Control+Alt alone, AltGr+Q, F4, Escape, Tab.
        for keys in [
            &[17, 57, 29][..],
            &[56, 28],
            &[29, 42, 20],
            &[29, 56],
            &[100, 16],
            &[62],
            &[1],
            &[15, 42],
        ] {
            assert_eq!(pressed(keys, reaches_desktop), keys);
        }
    }

    #[test]
    fn other_combinations_pass() {
        // Control+Alt+A, Alt+F4, Control+F5, Control+Backspace, and a game's keys beside them.
        for keys in [
            &[29, 56, 30][..],
            &[56, 62],
            &[29, 63],
            &[29, 14],
            &[17, 57, 42],
        ] {
            assert_eq!(through(keys), keys);
        }
        // What is held already does not keep other keys out.
        assert_eq!(through(&[29, 56, 60, 30]), [29, 56, 30]);
    }
}
