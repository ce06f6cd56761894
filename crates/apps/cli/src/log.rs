//! The log, as lines of text or JSON objects on standard error.

use std::io::IsTerminal;

use mimosa_settings::LogFormat;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::{Targets, filter_fn};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// The crate with the connectivity checks. Below `info`, it logs the sessions' passwords, with
/// which anybody could join a session.
const SECRETIVE: &str = "is";

/// Starts to log what passes the filter.
pub(crate) fn start(filter: Targets, format: LogFormat) -> Result<(), String> {
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        // A message about a failed write of a message would panic.
        .log_internal_errors(false);
    let lines = match format {
        LogFormat::Text => lines.with_ansi(is_colourful()).boxed(),
        LogFormat::Json => lines.json().boxed(),
    };
    let log = tracing_subscriber::registry().with(lines).with(filter);
    log.with(filter_fn(may_be_read))
        .try_init()
        .map_err(|error| error.to_string())
}

/// Whether a line may be logged, whatever the filter says.
fn may_be_read(line: &Metadata<'_>) -> bool {
    let mut module = line.target().split("::");
    module.next() != Some(SECRETIVE) || *line.level() <= Level::INFO
}

/// Parses a filter. A single word has to be a level: [`Targets`] would take any other word for a
/// module, all of which it would log.
pub(crate) fn filter(text: &str) -> Result<Targets, String> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let is_known = |word: &&str| match word.split_once('=') {
        // The module of a directive; `Targets` would take spans in brackets for modules, too.
        Some((module, _)) => module
            .chars()
            .all(|c| c.is_alphanumeric() || "_:".contains(c)),
        None => LEVELS.contains(&word.to_ascii_lowercase().as_str()),
    };
    if let Some(word) = text.split(',').find(|word| !is_known(word)) {
        return Err(format!(
            "`{word}` is none of {}, and no module with one of them as in mimosa_host=debug",
            LEVELS.join(", ")
        ));
    }
    text.parse::<Targets>().map_err(|error| error.to_string())
}

/// Whether to write colours to standard error (no-color.org).
fn is_colourful() -> bool {
    let is_unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    std::io::stderr().is_terminal() && !is_unwanted
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// The lines that were written.
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn no_filter_shows_passwords_of_sessions() {
        for text in ["trace", "is=trace", "is::agent=trace,trace"] {
            let lines = Lines::default();
            let written = lines.clone();
            let log = tracing_subscriber::registry()
                .with(tracing_subscriber::fmt::layer().with_writer(move || written.clone()))
                .with(filter(text).unwrap())
                .with(filter_fn(may_be_read));
            tracing::subscriber::with_default(log, || {
                tracing::trace!(target: "is::agent", "pass: secret");
                tracing::debug!(target: "is", "pass: secret");
                tracing::info!(target: "is::agent", "connected");
                tracing::debug!(target: "issue", "another");
            });
            let lines = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
            assert!(!lines.contains("secret"), "{lines}");
            assert!(lines.contains("connected"), "{lines}");
            // Filters match the beginning of names; the rule that hides passwords does not.
            assert!(lines.contains("another"), "{lines}");
        }
    }

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
            "[span]=debug",
        ] {
            assert!(filter(bad).is_err(), "{bad}");
        }
    }
}
