//! The keys and buttons that are held down, and their holders.

use std::collections::{BTreeMap, BTreeSet};

/// A key or button.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Switch {
    /// A key, by its number in the X protocol.
    Key(u8),
    /// A button of the pointer, by its number in the X protocol.
    Button(u8),
}

/// A device that presses keys and buttons.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Holder {
    /// Keyboard and mouse.
    Desk,
    /// The finger that is the pointer.
    Finger,
    /// A gamepad.
    Gamepad(u8),
}

/// All keys and buttons that are down. Each goes down with its first holder and up with its
/// last.
#[derive(Debug, Default)]
pub(crate) struct HeldSwitches(BTreeMap<Switch, BTreeSet<Holder>>);

impl HeldSwitches {
    /// Whether this holder holds this key or button.
    pub(crate) fn holds(&self, holder: Holder, switch: Switch) -> bool {
        self.0
            .get(&switch)
            .is_some_and(|holders| holders.contains(&holder))
    }

    /// Whether anybody holds a key or button of which `is_meant` is true.
    pub(crate) fn any(&self, is_meant: impl Fn(Switch) -> bool) -> bool {
        self.0.keys().any(|switch| is_meant(*switch))
    }

    /// Whether anybody holds this key or button.
    pub(crate) fn is_down(&self, switch: Switch) -> bool {
        self.0.contains_key(&switch)
    }

    /// Presses or releases a key or button. Returns whether that made a difference.
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

    /// Releases everything, and returns what was down.
    pub(crate) fn clear(&mut self) -> impl Iterator<Item = Switch> + use<> {
        std::mem::take(&mut self.0).into_keys()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_holder_lets_go() {
        let mut held = HeldSwitches::default();
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
