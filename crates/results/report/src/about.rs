//! The description of a session or a link.

use serde::Serialize;
use serde_json::{Map, Value};

/// The recorded description, with the fields of inner objects beside the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub(crate) struct About(Map<String, Value>);

/// Fields with a fixed place in the line, or without meaning for it; all others follow.
const KNOWN: [&str; 15] = [
    "name",
    "role",
    "source",
    "width",
    "height",
    "fps",
    "encoder",
    "controller",
    "feedback",
    "started",
    "version",
    "begun_unix_s",
    "begun_unix_ns",
    "max_bitrate",
    "type",
];

impl About {
    /// The description in `text`; empty if that is not a JSON object.
    pub(crate) fn parse(text: &str) -> Self {
        let whole: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
        let mut flat = Map::new();
        for (key, value) in whole {
            match value {
                Value::Object(inner) => flat.extend(inner),
                value => {
                    flat.insert(key, value);
                }
            }
        }
        Self(flat)
    }

    /// The wall clock in nanoseconds since 1970 at the recording's time zero.
    pub(crate) fn begun(&self) -> Option<i64> {
        self.0.get("begun_unix_ns")?.as_i64()
    }

    /// The description in one line.
    pub(crate) fn line(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.text("name"));
        parts.extend(self.text("role"));
        parts.extend(self.text("source"));
        parts.extend(self.picture());
        parts.extend(
            ["encoder", "controller", "feedback"]
                .iter()
                .filter_map(|key| self.text(key)),
        );
        parts.extend(self.limit());
        parts.extend(self.started().map(|at| format!("started {at}")));
        parts.extend(
            self.text("version")
                .map(|version| format!("mimosa {version}")),
        );
        let others = self.0.keys().filter(|key| !KNOWN.contains(&key.as_str()));
        parts.extend(others.filter_map(|key| Some(format!("{key} {}", self.text(key)?))));
        parts.join("; ")
    }

    /// Size and rate of the picture, in words.
    fn picture(&self) -> Option<String> {
        let rate = self.text("fps").map(|fps| format!("{fps} fps"));
        let size = self.text("width").zip(self.text("height"));
        match (size, rate) {
            (Some((width, height)), Some(rate)) => Some(format!("{width} × {height}, {rate}")),
            (Some((width, height)), None) => Some(format!("{width} × {height}")),
            (None, rate) => rate,
        }
    }

    /// Upper limit of the bitrate, in words.
    fn limit(&self) -> Option<String> {
        let bps = self.0.get("max_bitrate")?.as_f64()?;
        Some(format!("at most {} Mbit/s", bps / 1e6))
    }

    /// When the recording began.
    fn started(&self) -> Option<String> {
        let seconds = || self.0.get("begun_unix_s")?.as_u64();
        let nanos = || u64::try_from(self.begun()? / 1_000_000_000).ok();
        let text = self.text("started");
        text.or_else(|| seconds().or_else(nanos).map(date))
    }

    fn text(&self, key: &str) -> Option<String> {
        match self.0.get(key)? {
            Value::Null => None,
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            other => Some(other.to_string()),
        }
    }
}

/// The time `seconds` after the beginning of 1970, in ISO 8601.
fn date(seconds: u64) -> String {
    let (mut days, second) = (seconds / 86_400, seconds % 86_400);
    // The calendar repeats every 400 years.
    let mut year = 1970 + days / 146_097 * 400;
    days %= 146_097;
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!(
        "{year}-{month:02}-{:02} {hour:02}:{minute:02}:{:02} UTC",
        days + 1,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_described_in_one_line() {
        let about = About::parse(
            "{\"version\":\"0.1.0\",\"role\":\"player\",\"source\":\"demo\",\"width\":1280,\
             \"height\":720,\"fps\":60,\"encoder\":null,\"controller\":\"pudica\",\"seat\":2}",
        );
        let expected = "player; demo; 1280 × 720, 60 fps; pudica; mimosa 0.1.0; seat 2";
        assert_eq!(about.line(), expected);
        let nested = About::parse(
            "{\"begun_unix_s\":1773500966,\"session\":3,\"hello\":{\"type\":\"hello\",\
             \"role\":\"viewer\",\"fps\":60,\"max_bitrate\":50000000}}",
        );
        let expected =
            "viewer; 60 fps; at most 50 Mbit/s; started 2026-03-14 15:09:26 UTC; session 3";
        assert_eq!(nested.line(), expected);
        let link = About::parse(
            "{\"name\":\"lab\",\"path\":\"lte.toml\",\"begun_unix_ns\":1773500966000000001}",
        );
        let expected = "lab; started 2026-03-14 15:09:26 UTC; path lte.toml";
        assert_eq!(link.line(), expected);
        assert_eq!(link.begun(), Some(1_773_500_966_000_000_001));
        for broken in ["", "[1]", "{\"role\":"] {
            assert_eq!(About::parse(broken).line(), "");
        }
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (951_868_800, "2000-03-01 00:00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(date(seconds), expected);
        }
        assert!(date(u64::MAX).ends_with(" UTC"));
    }
}
