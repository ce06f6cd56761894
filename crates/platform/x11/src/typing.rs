//! Writing characters that no key of the layout has.

use std::collections::VecDeque;
use std::time::Duration;

use mimosa_system::clock::wait;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt as _, Keycode, Keysym};
use x11rb::rust_connection::RustConnection;

use crate::display::DisplayError;

/// The keysym without a meaning (`NoSymbol`).
const NONE: Keysym = 0;
/// The first keysym of Unicode characters (X Window System Protocol, appendix A).
const UNICODE: Keysym = 0x0100_0000;

/// The time after which a program knows of a change that was reported while the program
/// asked for an earlier one. Our choice: a program that waits for an answer is back within
/// it.
const SETTLED: Duration = Duration::from_millis(20);

/// A typist, which gives characters to keys without a meaning; most keyboards do not even
/// have these keys.
///
/// A program asks the server for a key's meaning when it receives the key, which is later
/// than the key was pressed. Therefore a key keeps its character for as long as others are
/// free, and of those in use the one longest unused is taken.
///
/// The X library asks for all keys when its program reads the first, and then for those
/// that change. It forgets to ask for changes that happen while it asks. Therefore programs
/// are notified of each change twice, some time apart, before the key is pressed.
#[derive(Debug)]
pub(crate) struct Typist {
    /// The keys and their characters, the longest unused one first.
    keys: VecDeque<(Keycode, Keysym)>,
}

impl Typist {
    /// Finds the keys without a meaning.
    pub(crate) fn new(connection: &RustConnection) -> Result<Self, DisplayError> {
        let setup = connection.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let count = last - first + 1;
        let meanings = connection.get_keyboard_mapping(first, count)?.reply()?;
        let modifiers = connection.get_modifier_mapping()?.reply()?.keycodes;
        let each = usize::from(meanings.keysyms_per_keycode).max(1);
        let keys = (first..=last).zip(meanings.keysyms.chunks(each));
        let free = keys.filter(|(key, meanings)| {
            meanings.iter().all(|meaning| *meaning == NONE) && !modifiers.contains(key)
        });
        let keys = free.map(|(key, _)| (key, NONE)).collect();
        Ok(Self { keys })
    }

    /// A key with this character as its meaning; `None` when no key is free.
    pub(crate) fn key(
        &mut self,
        connection: &RustConnection,
        character: char,
    ) -> Result<Option<Keycode>, DisplayError> {
        let wanted = meaning(character);
        let known = self.keys.iter().position(|(_, meaning)| *meaning == wanted);
        let Some((key, meaning)) = self.keys.remove(known.unwrap_or(0)) else {
            return Ok(None);
        };
        if meaning != wanted {
            // The key means the character with Shift as well.
            let change = || connection.change_keyboard_mapping(1, key, 2, &[wanted; 2]);
            change()?;
            connection.flush()?;
            wait(SETTLED);
            change()?;
        }
        self.keys.push_back((key, wanted));
        Ok(Some(key))
    }

    /// Restores the keys.
    pub(crate) fn restore(&mut self, connection: &RustConnection) -> Result<(), DisplayError> {
        for (key, meaning) in &mut self.keys {
            if std::mem::replace(meaning, NONE) != NONE {
                connection.change_keyboard_mapping(1, *key, 2, &[NONE; 2])?;
            }
        }
        Ok(())
    }
}

/// The keysym of a character: those of Latin-1 are their own.
fn meaning(character: char) -> Keysym {
    match u32::from(character) {
        latin @ (0x20..=0x7e | 0xa0..=0xff) => latin,
        other => UNICODE + other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin_characters_are_their_own_and_others_are_unicode() {
        let cases = [
            ('a', 0x61),
            ('\u{e9}', 0xe9),
            ('\u{20ac}', 0x0100_20ac),
            ('\u{1f600}', 0x0101_f600),
        ];
        for (character, expected) in cases {
            assert_eq!(meaning(character), expected, "{character}");
        }
    }
}
