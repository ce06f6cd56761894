//! What the host says about itself: the answer to `GET /api/info`.

use serde::{Deserialize, Serialize};

/// The host, and what it streams.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a field of the answer, and they are independent"
)]
pub struct Info {
    /// Name of the program.
    pub name: String,
    /// Version of the program.
    pub version: String,
    /// Whether a session needs a token.
    pub token_required: bool,
    /// Whether the host shows a PIN to whoever asks.
    #[serde(default)]
    pub pairing: bool,
    /// Whether the request was proven with the owner's token.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub owner: bool,
    /// Whether there is a relay, of which `GET /api/relay` tells.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub relay: bool,
    /// The stream; `None` if a token is required and the request has none.
    #[serde(flatten)]
    pub stream: Option<StreamInfo>,
}

/// The stream, and its player and viewers.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct StreamInfo {
    /// Where the picture comes from.
    pub source: String,
    /// Width of the picture, in pixels.
    pub width: u32,
    /// Height of the picture in pixels.
    pub height: u32,
    /// Highest frame rate, in frames a second.
    pub fps: u32,
    /// Whether a player is connected.
    pub player_present: bool,
    /// Number of viewers connected.
    pub viewers: u32,
    /// Most viewers that may be connected.
    pub viewer_limit: u32,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn without_a_token_little_is_told() {
        let info = Info {
            name: "mimosa".to_owned(),
            version: "0.1.0".to_owned(),
            token_required: true,
            pairing: false,
            owner: false,
            relay: false,
            stream: None,
        };
        let told = json!({ "name": "mimosa", "version": "0.1.0", "token_required": true, "pairing": false });
        assert_eq!(serde_json::to_value(&info).unwrap(), told);
        assert_eq!(serde_json::from_value::<Info>(told).unwrap(), info);
    }
}
