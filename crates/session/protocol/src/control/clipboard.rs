//! Text that a person or a program has copied.

use serde::{Deserialize, Serialize};

use super::LARGEST;

/// Bytes of the message beside the text and its quotes.
const FRAME: usize = r#"{"type":"clipboard","text":}"#.len();

/// Text that was copied on one side, to be pasted on the other. `Debug` prints its length and not
/// the text.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
pub struct Clipboard {
    /// The copied text.
    pub text: String,
}

impl Clipboard {
    /// Length of the longest text that fits a message, in bytes.
    pub const LONGEST: usize = 64 * 1024 - FRAME - 2;

    /// Wraps this text; `None` if the message would be larger than [`LARGEST`]. Quotes, line ends
    /// and control characters take more room in JSON than in the text.
    #[must_use]
    pub fn new(text: String) -> Option<Self> {
        let clipboard = Self { text };
        let length = serde_json::to_string(&clipboard.text).ok()?.len() + FRAME;
        (length as u64 <= LARGEST.get()).then_some(clipboard)
    }
}

impl std::fmt::Debug for Clipboard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Clipboard({} bytes)", self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::ToPage;

    #[test]
    fn what_is_made_fits_into_a_message() {
        for (unit, most) in [
            ("a", Clipboard::LONGEST),
            ("\n", 32_753),
            ("\u{1}", 10_917),
            ("\u{e9}", 32_753),
        ] {
            let text = |length: usize| unit.repeat(length);
            let longest = Clipboard::new(text(most)).unwrap();
            let message = ToPage::Clipboard(longest.clone()).to_json();
            assert_eq!(
                ToPage::parse(message.as_bytes()),
                Ok(ToPage::Clipboard(longest))
            );
            assert_eq!(Clipboard::new(text(most + 1)), None, "{unit:?}");
        }
    }

    #[test]
    fn text_is_not_printed() {
        let clipboard = Clipboard::new("a secret".to_owned()).unwrap();
        assert_eq!(format!("{clipboard:?}"), "Clipboard(8 bytes)");
    }
}
