//! What a game has a gamepad do.

use mimosa_units::TimeDelta;

use crate::fields::put;

const RUMBLE: u8 = 49;

/// How strongly a gamepad's motors run from now on; it stands for all that was said
/// before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rumble {
    /// Which gamepad, from 0 to 15.
    pub index: u8,
    /// The heavy motor, 0 to 255.
    pub strong: u8,
    /// The light one.
    pub weak: u8,
    /// For how long, if nothing else is said.
    pub duration: TimeDelta,
}

impl Rumble {
    /// The message.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 8] {
        let millis = self.duration.as_nanos() / 1_000_000;
        let millis = u32::try_from(millis.max(0)).unwrap_or(u32::MAX);
        let mut bytes = [0; 8];
        put(&mut bytes, 0, [RUMBLE, self.index, self.strong, self.weak]);
        put(&mut bytes, 4, millis.to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_laid_out_as_the_document_says() {
        let rumble = |duration| Rumble {
            index: 3,
            strong: 255,
            weak: 1,
            duration,
        };
        let bytes = rumble(TimeDelta::from_millis(258)).to_bytes();
        assert_eq!(bytes, [49, 3, 255, 1, 2, 1, 0, 0]);
        let bytes = rumble(TimeDelta::from_millis(-1)).to_bytes();
        assert_eq!(bytes, [49, 3, 255, 1, 0, 0, 0, 0]);
    }
}
