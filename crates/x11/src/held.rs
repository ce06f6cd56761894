//! What is held down, and by whom.

use std::collections::{BTreeMap, BTreeSet};

/// Something that is down or up.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Switch {
    /// A key, by its number in the X protocol.
    Key(u8),
    /// A button of the pointer, likewise.
    Button(u8),
}

/// What presses it.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Holder {
    /// Keyboard and mouse.
    Desk,
    /// The finger that is the pointer.
    Finger,
    /// A gamepad.
    Gamepad(u8),
}

/// All that is down. It goes down with its first holder and up with its last.
#[derive(Debug, Default)]
pub(crate) struct Held(BTreeMap<Switch, BTreeSet<Holder>>);

impl Held {
    /// Whether this holder holds it.
    pub(crate) fn holds(&self, holder: Holder, switch: Switch) -> bool {
        self.0
            .get(&switch)
            .is_some_and(|holders| holders.contains(&holder))
    }

    /// Presses it or lets go. Whether that made a difference.
    #[must_use]
    pub(crate) fn set(&mut self, holder: Holder, switch: Switch, pressed: bool) -> bool {
        if pressed {
            let holders = self.0.entry(switch).or_default();
            holders.insert(holder) && holders.len() == 1
        } else {
            let Some(holders) = self.0.get_mut(&switch) else {
                return false;
            };
            let was_last = holders.remove(&holder) && holders.is_empty();
            if was_last {
                self.0.remove(&switch);
            }
            was_last
        }
    }

    /// Forgets all, and tells what was down.
    pub(crate) fn clear(&mut self) -> impl Iterator<Item = Switch> + use<> {
        std::mem::take(&mut self.0).into_keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_holder_lets_go() {
        let mut held = Held::default();
        let key = Switch::Key(38);
        assert!(held.set(Holder::Desk, key, true));
        assert!(!held.set(Holder::Desk, key, true), "a repeat");
        assert!(!held.set(Holder::Gamepad(0), key, true));
        assert!(!held.set(Holder::Desk, key, false));
        assert!(held.holds(Holder::Gamepad(0), key));
        assert!(held.set(Holder::Gamepad(0), key, false));
        assert!(!held.set(Holder::Gamepad(0), key, false), "up already");
        assert_eq!(held.clear().count(), 0);
    }
}
