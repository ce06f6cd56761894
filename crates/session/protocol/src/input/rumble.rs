//! A game's request for a gamepad's vibration.

use mimosa_units::TimeDelta;

use crate::fields::put;

const RUMBLE: u8 = 49;

/// The speed of a gamepad's motors from now on. It replaces all earlier requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Rumble {
    /// Number of the gamepad, from 0 to 15.
    pub index: u8,
    /// Strength of the heavy motor, from 0 to 255.
    pub strong: u8,
    /// Strength of the light motor, from 0 to 255.
    pub weak: u8,
    /// How long the motors run, unless another request comes.
    pub duration: TimeDelta,
}

impl Rumble {
    /// Parses a message of the host on the channel `input`; `None` for anything else.
    #[must_use]
    pub fn parse(message: &[u8]) -> Option<Self> {
        let &[RUMBLE, index @ 0..16, strong, weak, a, b, c, d] = message else {
            return None;
        };
        Some(Self {
            index,
            strong,
            weak,
            duration: TimeDelta::from_millis(u32::from_le_bytes([a, b, c, d]).into()),
        })
    }

    /// The message as bytes.
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
        assert_eq!(
            Rumble::parse(&bytes),
            Some(rumble(TimeDelta::from_millis(258)))
        );
        for (place, byte) in [(0, 48), (1, 16)] {
            let mut other = bytes;
            other[place] = byte;
            assert_eq!(Rumble::parse(&other), None, "byte {place}");
        }
        assert_eq!(Rumble::parse(&bytes[..7]), None);
        let bytes = rumble(TimeDelta::from_millis(-1)).to_bytes();
        assert_eq!(bytes, [49, 3, 255, 1, 0, 0, 0, 0]);
    }
}
