//! Linux's key codes for SDL's numbers of physical keys.

use std::ffi::c_int;

use sdl3_sys::scancode::SDL_Scancode as Scancode;

/// Rows of neighbouring keys: the first of SDL's numbers, which are those of USB keyboards,
/// and the `KEY_…` code of each, from `input-event-codes.h`. Zero stands for no key.
const ROWS: [(Scancode, &[u16]); 14] = [
    (
        Scancode::A,
        &[
            30, 48, 46, 32, 18, 33, 34, 35, 23, 36, 37, 38, 50, // A to M
            49, 24, 25, 16, 19, 31, 20, 22, 47, 17, 45, 21, 44, // N to Z
        ],
    ),
    (Scancode::_1, &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
    // Return to `/`; the key beside Return on European keyboards is the key above it.
    (
        Scancode::RETURN,
        &[
            28, 1, 14, 15, 57, 12, 13, 26, 27, 43, 43, 39, 40, 41, 51, 52, 53,
        ],
    ),
    (
        Scancode::CAPSLOCK,
        &[58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 87, 88],
    ),
    // Print to the arrows.
    (
        Scancode::PRINTSCREEN,
        &[
            99, 70, 119, 110, 102, 104, 111, 107, 109, 106, 105, 108, 103,
        ],
    ),
    // The keypad: Num Lock, `/ * - +`, Enter, 1 to 9, 0, the point.
    (
        Scancode::NUMLOCKCLEAR,
        &[
            69, 98, 55, 74, 78, 96, 79, 80, 81, 75, 76, 77, 71, 72, 73, 82, 83,
        ],
    ),
    // The key beside the left Shift, the menu key, Power, the keypad's `=`.
    (Scancode::NONUSBACKSLASH, &[86, 127, 116, 117]),
    (
        Scancode::F13,
        &[183, 184, 185, 186, 187, 188, 189, 190, 191, 192, 193, 194],
    ),
    // Help, Menu, Select, Stop, Again, Undo, Cut, Copy, Paste, Find, the volume.
    (
        Scancode::HELP,
        &[
            138, 139, 353, 128, 129, 131, 137, 133, 135, 136, 113, 115, 114,
        ],
    ),
    // The keypad's comma and second `=`; Japanese: Ro, Kana, Yen, Henkan, Muhenkan, the
    // keypad's comma.
    (Scancode::KP_COMMA, &[121, 117, 89, 93, 124, 92, 94, 95]),
    // Hangul, Hanja, Katakana, Hiragana, Zenkaku.
    (Scancode::LANG1, &[122, 123, 90, 91, 85]),
    // Erase, System Request, Cancel, Clear.
    (Scancode::ALTERASE, &[222, 99, 223, 355]),
    // Control, Shift, Alt and the system's key, left, and then right.
    (Scancode::LCTRL, &[29, 42, 56, 125, 97, 54, 100, 126]),
    // Sleep, Wake, channels; Play, Pause, Record, forward, back, next, previous, Stop,
    // Eject, Play/Pause, Select; New, Open, Close, Exit, Save, Print, Properties, Search,
    // Home, Back, Forward, Stop, Refresh, Bookmarks.
    (
        Scancode::SLEEP,
        &[
            142, 143, 402, 403, 207, 201, 167, 208, 168, 163, 165, 166, 161, 164, 226, 181, 134,
            206, 174, 234, 210, 130, 217, 172, 158, 159, 128, 173, 156,
        ],
    ),
];

/// Single keys: the keypad's brackets, ± and Clear, and a second right Alt.
const SINGLE: [(Scancode, u16); 5] = [
    (Scancode::KP_LEFTPAREN, 179),
    (Scancode::KP_RIGHTPAREN, 180),
    (Scancode::KP_PLUSMINUS, 118),
    (Scancode::KP_CLEAR, 355),
    (Scancode::MODE, 100),
];

/// The Linux code of a physical key, if it has one.
pub(crate) fn linux_code(scancode: c_int) -> Option<u16> {
    let single = SINGLE.iter().find(|(first, _)| first.0 == scancode);
    let in_row = |(first, codes): &(Scancode, &[u16])| {
        let place = usize::try_from(scancode.checked_sub(first.0)?).ok()?;
        codes.get(place).copied()
    };
    single
        .map(|(_, code)| *code)
        .or_else(|| ROWS.iter().find_map(in_row))
        .filter(|code| *code != 0)
}

/// Whether a key is Control, Shift, Alt or the system's key.
pub(crate) fn is_modifier(scancode: c_int) -> bool {
    (Scancode::LCTRL.0..=Scancode::RGUI.0).contains(&scancode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// A slip within a row would move the last key of the row.
    #[test]
    fn the_last_key_of_each_row_is_in_its_place() {
        let last = [
            (Scancode::Z, 44),
            (Scancode::_0, 11),
            (Scancode::SLASH, 53),
            (Scancode::F12, 88),
            (Scancode::UP, 103),
            (Scancode::KP_PERIOD, 83),
            (Scancode::KP_EQUALS, 117),
            (Scancode::F24, 194),
            (Scancode::VOLUMEDOWN, 114),
            (Scancode::INTERNATIONAL6, 95),
            (Scancode::LANG5, 85),
            (Scancode::CLEAR, 355),
            (Scancode::RGUI, 126),
            (Scancode::AC_BOOKMARKS, 156),
            (Scancode::M, 50),
            (Scancode::MODE, 100),
        ];
        for (scancode, code) in last {
            assert_eq!(linux_code(scancode.0), Some(code), "{}", scancode.0);
        }
        for (row, (_, codes)) in ROWS.iter().enumerate() {
            let end = ROWS[row].0.0 + c_int::try_from(codes.len()).unwrap() - 1;
            assert!(last.iter().any(|(scancode, _)| scancode.0 == end), "{row}");
        }
    }

    #[test]
    fn rows_do_not_overlap() {
        let mut seen = BTreeMap::new();
        for (first, codes) in ROWS {
            for (scancode, code) in (first.0..).zip(codes) {
                let before = seen.insert(scancode, code);
                assert_eq!(before, None, "{scancode} has two codes");
            }
        }
        for (scancode, code) in SINGLE {
            assert!(!seen.contains_key(&scancode.0), "{code}");
        }
    }

    #[test]
    fn what_is_no_key_has_no_code() {
        for scancode in [0, 3, -1, c_int::MIN, c_int::MAX, 512] {
            assert_eq!(linux_code(scancode), None);
        }
        assert!(is_modifier(Scancode::RALT.0) && !is_modifier(Scancode::A.0));
    }
}
