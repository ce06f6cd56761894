//! Checks what `mimosa play` decodes with.

use mimosa_client::decoders;

use super::report::{Finding, Report};

/// Lists the codecs that can be decoded. `mimosa serve` runs without any.
pub(super) fn look(report: &mut Report) {
    const CHECK: &str = "decoder";
    report.add(match decoders() {
        Ok(codecs) => {
            let names: Vec<_> = codecs.iter().map(|codec| codec.name()).collect();
            Finding::ok(CHECK, format!("libavcodec decodes {}", names.join(", ")))
        }
        Err(error) => Finding::warning(CHECK, error.to_string(), ""),
    });
}
