//! The header `Authorization: Mimosa …` (RFC 9110, section 11.4).

use super::{Digest, hex, unhex};

/// The scheme's name, which has no case (RFC 9110, section 11.1).
pub const SCHEME: &str = "Mimosa";
/// Longest value of a parameter, in bytes; a nonce has 64.
const LONGEST: usize = 64;

/// What a request shows: `Mimosa id="…", nonce="…", proof="…"`, with the parameters in any order.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Shown {
    /// The device whose token it is; `None` for the tokens that the host printed.
    pub id: Option<String>,
    /// The host's nonce, or the number of a request within a session.
    pub nonce: String,
    /// The proof.
    pub proof: Digest,
}

/// Why a header is not understood.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum HeaderError {
    /// A parameter is missing.
    #[error("`Authorization: Mimosa` has no `{0}`; write Mimosa nonce=\"…\", proof=\"…\"")]
    Missing(&'static str),
    /// A parameter is there twice, unknown, or has a wrong form.
    #[error(
        "`Authorization: Mimosa` has a parameter that is not understood; write Mimosa nonce=\"…\", proof=\"…\", each once, with at most {LONGEST} letters and digits"
    )]
    Parameter,
}

impl Shown {
    /// Reads the value of a header; `None` if its scheme is another.
    ///
    /// # Errors
    ///
    /// [`HeaderError`] if the scheme is ours, and the rest is wrong.
    #[must_use]
    pub fn parse(value: &str) -> Option<Result<Self, HeaderError>> {
        let (scheme, parameters) = value.split_once(' ').unwrap_or((value, ""));
        scheme
            .eq_ignore_ascii_case(SCHEME)
            .then(|| Self::parameters(parameters))
    }

    fn parameters(text: &str) -> Result<Self, HeaderError> {
        let (mut id, mut nonce, mut proof) = (None, None, None);
        for parameter in text
            .split(',')
            .map(str::trim)
            .filter(|text| !text.is_empty())
        {
            let (name, value) = parameter.split_once('=').ok_or(HeaderError::Parameter)?;
            let place = match name {
                "id" => &mut id,
                "nonce" => &mut nonce,
                "proof" => &mut proof,
                _ => return Err(HeaderError::Parameter),
            };
            if place.replace(unquoted(value)?).is_some() {
                return Err(HeaderError::Parameter);
            }
        }
        let nonce = nonce.ok_or(HeaderError::Missing("nonce"))?;
        let proof = proof.ok_or(HeaderError::Missing("proof"))?;
        Ok(Self {
            id: id.map(str::to_owned),
            nonce: nonce.to_owned(),
            proof: unhex(proof).ok_or(HeaderError::Parameter)?,
        })
    }

    /// The header's value.
    #[must_use]
    pub fn value(&self) -> String {
        let id = self.id.as_ref();
        let id = id.map_or_else(String::new, |id| format!("id=\"{id}\", "));
        let (nonce, proof) = (&self.nonce, hex(&self.proof));
        format!("{SCHEME} {id}nonce=\"{nonce}\", proof=\"{proof}\"")
    }
}

/// What stands between quotation marks: letters and digits.
fn unquoted(value: &str) -> Result<&str, HeaderError> {
    let inner = value
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let fits = |text: &&str| {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_plain && !text.is_empty() && text.len() <= LONGEST
    };
    inner.filter(fits).ok_or(HeaderError::Parameter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(id: Option<&str>) -> Shown {
        Shown {
            id: id.map(str::to_owned),
            nonce: "00ff".to_owned(),
            proof: [0xab; 32],
        }
    }

    #[test]
    fn a_header_is_read_as_it_is_written() {
        for id in [None, Some("0123456789abcdef")] {
            let shown = shown(id);
            assert_eq!(Shown::parse(&shown.value()), Some(Ok(shown)));
        }
        let proof = "ab".repeat(32);
        let other = format!("mimosa proof=\"{proof}\",  nonce=\"00ff\"");
        assert_eq!(Shown::parse(&other), Some(Ok(shown(None))));
    }

    #[test]
    fn other_schemes_are_others_business() {
        for value in ["Bearer abc", "", "Mimosas nonce=\"1\"", "Basic nonce=\"1\""] {
            assert_eq!(Shown::parse(value), None, "{value}");
        }
    }

    #[test]
    fn what_is_wrong_is_refused() {
        let proof = "ab".repeat(32);
        for (parameters, error) in [
            (String::new(), HeaderError::Missing("nonce")),
            ("nonce=\"1\"".to_owned(), HeaderError::Missing("proof")),
            (format!("proof=\"{proof}\""), HeaderError::Missing("nonce")),
        ] {
            let value = format!("Mimosa {parameters}");
            assert_eq!(Shown::parse(&value), Some(Err(error)), "{value}");
        }
        for parameters in [
            format!("nonce=\"1\", nonce=\"1\", proof=\"{proof}\""),
            format!("nonce=1, proof=\"{proof}\""),
            format!("nonce=\"\", proof=\"{proof}\""),
            format!("nonce=\"a b\", proof=\"{proof}\""),
            format!("nonce=\"{}\", proof=\"{proof}\"", "0".repeat(65)),
            format!("nonce=\"1\", proof=\"{proof}00\""),
            "nonce=\"1\", proof=\"zz\"".to_owned(),
            format!("nonce=\"1\", proof=\"{proof}\", more=\"1\""),
            "nonce".to_owned(),
        ] {
            let value = format!("Mimosa {parameters}");
            assert_eq!(
                Shown::parse(&value),
                Some(Err(HeaderError::Parameter)),
                "{value}"
            );
        }
    }
}
