//! The name of a GStreamer element.

/// Most characters of a name.
const LONGEST: usize = 31;

/// The name of a GStreamer element, e.g. `vah264enc`, or no name, if empty.
///
/// The characters are stored inline, so that settings with a name are `Copy`.
#[derive(Clone, Copy, Default, Eq, PartialEq)]
pub struct ElementName {
    letters: [u8; LONGEST],
    length: u8,
}

impl ElementName {
    /// The name in `text`, which may have at most 31 ASCII letters, digits, `-` and `_`.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let mut name = Self {
            length: u8::try_from(text.len()).ok()?,
            ..Self::default()
        };
        let letters = name.letters.get_mut(..text.len())?;
        letters.copy_from_slice(text.as_bytes());
        text.bytes().all(fits).then_some(name)
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let letters = self.letters.get(..usize::from(self.length));
        letters
            .and_then(|letters| std::str::from_utf8(letters).ok())
            .unwrap_or_default()
    }

    /// Whether there is no name.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl std::fmt::Debug for ElementName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_as_it_was_written() {
        for text in ["", "vah264enc", "a-b_C9", &"x".repeat(31)] {
            let name = ElementName::new(text).unwrap();
            assert_eq!(name.as_str(), text);
            assert_eq!(name.is_empty(), text.is_empty());
        }
        for text in ["a b", "a!b", "ä", &"x".repeat(32), &"x".repeat(300)] {
            assert_eq!(ElementName::new(text), None, "{text}");
        }
    }
}
