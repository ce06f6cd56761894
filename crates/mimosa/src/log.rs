//! The log: lines or objects on standard error.

use std::io::IsTerminal;

use mimosa_settings::LogFormat;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::util::SubscriberInitExt;

/// From here on, what happens and passes the filter is logged.
pub(crate) fn start(filter: EnvFilter, format: LogFormat) -> Result<(), String> {
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Text => log.with_ansi(is_colourful()).finish().try_init(),
        LogFormat::Json => log.json().finish().try_init(),
    };
    started.map_err(|error| error.to_string())
}

/// Reads a filter. A word alone must be a level: `EnvFilter` takes any other for
/// a module, which logs nothing when it is a slip.
pub(crate) fn filter(text: &str) -> Result<EnvFilter, String> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let mut words = text.split(',');
    let slip = words.find(|word| {
        !word.contains(['=', '[', ']']) && !LEVELS.contains(&word.to_ascii_lowercase().as_str())
    });
    if let Some(word) = slip {
        return Err(format!("`{word}` is none of {}", LEVELS.join(", ")));
    }
    EnvFilter::try_new(text).map_err(|error| error.to_string())
}

/// Whether standard error shows colours, and is wanted to (no-color.org).
fn is_colourful() -> bool {
    let is_unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !is_unwanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_names_levels() {
        for good in ["info", "WARN", "warn,mimosa_host=debug", "off,mimosa=trace"] {
            assert!(filter(good).is_ok(), "{good}");
        }
        for bad in [
            "inof",
            "",
            "mimosa_host",
            "mimosa=loud",
            "info,,debug",
            "off, info",
        ] {
            assert!(filter(bad).is_err(), "{bad}");
        }
    }
}
