//! Checks what `mimosa play` decodes with.

use mimosa_client::{Program, decoders, sandboxed_decoders};

use super::report::{Finding, Report};
use crate::play::DECODER;

/// Lists the codecs that can be decoded, and starts the process that decodes them. `mimosa serve` runs without
/// any.
pub(super) fn look(report: &mut Report) {
    const CHECK: &str = "decoder";
    let codecs = match decoders() {
        Ok(codecs) => codecs,
        Err(error) => return report.add(Finding::warning(CHECK, error.to_string(), "")),
    };
    let names: Vec<_> = codecs.iter().map(|codec| codec.name()).collect();
    let decodes = format!("libavcodec decodes {}", names.join(", "));
    report.add(match sandboxed_decoders(Program::own(DECODER)) {
        Ok(_) => Finding::ok(
            CHECK,
            format!("{decodes} in a process without files and network"),
        ),
        Err(error) => Finding::warning(
            CHECK,
            format!("{decodes}, but not in a process without files and network: {error}"),
            "`mimosa play --decoder-sandbox off` plays without that, with hosts that you trust",
        ),
    });
}
