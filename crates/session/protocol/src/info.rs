//! What the host offers: the answer to `GET /api/info`.

use serde::{Deserialize, Serialize};

/// What is offered.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Info {
    /// The program.
    pub name: String,
    /// Its version.
    pub version: String,
    /// A session needs a token.
    pub token_required: bool,
    /// For those only who show the token, if one is required.
    #[serde(flatten)]
    pub stream: Option<StreamInfo>,
}

/// What there is to see, and for whom.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct StreamInfo {
    /// Where the picture comes from.
    pub source: String,
    /// Width of the picture, in pixels.
    pub width: u32,
    /// Its height.
    pub height: u32,
    /// Most frames in a second.
    pub fps: u32,
    /// Somebody plays.
    pub player_present: bool,
    /// How many watch.
    pub viewers: u32,
    /// How many may.
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
            stream: None,
        };
        let told = json!({ "name": "mimosa", "version": "0.1.0", "token_required": true });
        assert_eq!(serde_json::to_value(&info).unwrap(), told);
        assert_eq!(serde_json::from_value::<Info>(told).unwrap(), info);
    }
}
