//! A token bucket of fixed depth, as QUIC's senders have (RFC 9002, section 7.7).

use mimosa_facts::Pacing;
use mimosa_units::{Bytes, Rate};
use serde::Deserialize;

use crate::pace::error::{ParameterError, require};

/// All parameters. `Default` gives the RFC's values.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Tokens come at this multiple of the target. RFC 9002, section 7.7: 1.25.
    pub factor: f64,
    /// The amount of data that may leave at once after a rest. RFC 9002, sections 7.2 and 7.7: the
    /// initial window of ten packets, here of 1200 bytes.
    pub depth: Bytes,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            factor: 1.25,
            depth: Bytes::new(12_000),
        }
    }
}

impl Config {
    /// Refuses parameters outside their valid ranges.
    ///
    /// # Errors
    ///
    /// [`ParameterError`].
    pub fn check(&self) -> Result<(), ParameterError> {
        require(
            (0.01..=1e3).contains(&self.factor),
            "factor",
            "from 0.01 to 1000",
        )
    }

    /// The pacing for a `target`.
    pub(crate) fn pacing(&self, target: Rate) -> Pacing {
        Pacing::Bucket {
            rate: target.scale(self.factor),
            burst: self.depth,
        }
    }
}
