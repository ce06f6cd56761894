//! Reads quantities as people write them, a number and then a unit, and quotes their text in
//! messages.

/// Why a text is not a quantity. Every variant is a mistake of whoever wrote the text.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnitError {
    /// The text is a number alone, whose unit would have to be guessed.
    #[error(
        "`{}` has no unit; write the {kind} as e.g. \"{example}\"",
        shortened(text)
    )]
    NoUnit {
        /// The text that was to be read.
        text: String,
        /// The kind of quantity that was expected: a rate, a size or a duration.
        kind: &'static str,
        /// An example of a text that is accepted.
        example: &'static str,
    },
    /// The number is followed by a text that is not a unit of this kind of quantity.
    #[error(
        "`{}` is no unit of a {kind}; use one of {units}, e.g. \"{example}\"",
        shortened(unit)
    )]
    UnknownUnit {
        /// The text in place of the unit.
        unit: String,
        /// The kind of quantity that was expected.
        kind: &'static str,
        /// The units of this kind of quantity, separated by commas.
        units: String,
        /// An example of a text that is accepted.
        example: &'static str,
    },
    /// The text before the unit is not a finite number, or the number is negative.
    #[error(
        "`{}` is not a {kind}; write a number that is not negative, e.g. \"{example}\"",
        shortened(text)
    )]
    NotANumber {
        /// The text that was to be read.
        text: String,
        /// The kind of quantity that was expected.
        kind: &'static str,
        /// An example of a text that is accepted.
        example: &'static str,
    },
    /// The quantity is larger than 2^53 base units, beyond which a float is not exact.
    #[error("`{}` is too large for a {kind}", shortened(text))]
    TooLarge {
        /// The text that was to be read.
        text: String,
        /// The kind of quantity that was expected.
        kind: &'static str,
    },
}

/// The beginning of a text from outside the program, as a message of one line quotes it:
/// trimmed, at most 60 characters and then `…`, with spaces for control characters, which a
/// terminal may obey.
#[must_use]
pub fn shortened(text: &str) -> String {
    /// Most characters that are quoted. Our choice: enough of a wrong value to show what is wrong.
    const LONGEST: usize = 60;
    one_line(text, LONGEST)
}

/// The first `longest` characters of a text from outside the program, trimmed, with spaces for
/// line breaks and other control characters, and with `…` where more follows.
#[must_use]
pub fn one_line(text: &str, longest: usize) -> String {
    let mut rest = text.trim().chars();
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    let mut short: String = rest.by_ref().take(longest).map(printable).collect();
    if rest.next().is_some() {
        short.push('…');
    }
    short
}

/// A kind of quantity: its name, an example for messages, and its units, each with its size in
/// base units.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) example: &'static str,
    pub(crate) units: &'static [(&'static str, u64)],
}

/// Reads `text` as a quantity of `kind`, rounded to a whole number of base units.
pub(crate) fn parse(text: &str, kind: &Kind) -> Result<u64, UnitError> {
    let trimmed = text.trim();
    let split = trimmed
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+')))
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let unit = unit.trim();
    let not_a_number = || UnitError::NotANumber {
        text: text.to_owned(),
        kind: kind.name,
        example: kind.example,
    };
    let value: f64 = number.parse().map_err(|_| not_a_number())?;
    if !value.is_finite() || value < 0.0 {
        return Err(not_a_number());
    }
    if unit.is_empty() {
        return Err(UnitError::NoUnit {
            text: text.to_owned(),
            kind: kind.name,
            example: kind.example,
        });
    }
    let Some(&(_, scale)) = kind.units.iter().find(|(name, _)| *name == unit) else {
        let names: Vec<_> = kind.units.iter().map(|(name, _)| *name).collect();
        return Err(UnitError::UnknownUnit {
            unit: unit.to_owned(),
            kind: kind.name,
            units: names.join(", "),
            example: kind.example,
        });
    };
    let scaled = (value * scale as f64).round();
    // Beyond 2^53 a float cannot represent every whole number.
    if scaled > 9_007_199_254_740_992.0 {
        return Err(UnitError::TooLarge {
            text: text.to_owned(),
            kind: kind.name,
        });
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between zero and 2^53, as checked above"
    )]
    Ok(scaled as u64)
}

/// Implements `serde::Deserialize` through `FromStr` and `serde::Serialize` through `Display`.
/// A number without a unit is refused with the message of [`UnitError::NoUnit`].
macro_rules! deserialize_from_text {
    ($quantity:ty, $expecting:literal) => {
        impl<'de> serde::Deserialize<'de> for $quantity {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $quantity;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$quantity, E> {
                        text.parse().map_err(E::custom)
                    }
                    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<$quantity, E> {
                        self.visit_str(&number.to_string())
                    }
                    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<$quantity, E> {
                        self.visit_str(&number.to_string())
                    }
                }
                from.deserialize_any(Text)
            }
        }

        impl serde::Serialize for $quantity {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }
    };
}
pub(crate) use deserialize_from_text;

#[cfg(test)]
mod tests {
    use crate::{Rate, TimeDelta, UnitError, one_line, shortened};

    #[test]
    fn each_mistake_is_named_with_its_mend() {
        let error = |text: &str| text.parse::<Rate>().unwrap_err().to_string();
        assert_eq!(
            error("20"),
            "`20` has no unit; write the rate as e.g. \"20Mbit/s\""
        );
        assert_eq!(
            error("20Mbps"),
            "`Mbps` is no unit of a rate; use one of bit/s, kbit/s, Mbit/s, Gbit/s, e.g. \"20Mbit/s\""
        );
        assert!(matches!(
            "soon".parse::<TimeDelta>(),
            Err(UnitError::NotANumber { .. })
        ));
        assert!(matches!(
            "99999999999h".parse::<TimeDelta>(),
            Err(UnitError::TooLarge { .. })
        ));
    }

    #[test]
    fn a_quotation_is_one_short_line_without_controls() {
        assert_eq!(shortened(" 20\u{1b}[31m\n2\u{9b}0 "), "20 [31m 2 0");
        assert_eq!(shortened(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(shortened(&"é".repeat(61)), "é".repeat(60) + "…");
        assert_eq!(one_line("a\tb", 2), "a …");
        let error = "\u{1b}[2J".repeat(9_999).parse::<Rate>().unwrap_err();
        let error = error.to_string();
        assert!(error.len() < 200 && !error.contains('\u{1b}'), "{error}");
    }
}
