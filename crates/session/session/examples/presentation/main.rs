//! Prints the table of docs/results/presentation.md: `make presentation`.

mod model;

use model::{Case, Jitter, rows};

/// The jitters of the table, with the share by which the host's clock is slow.
const JITTERS: [(&str, Jitter, f64); 5] = [
    ("none", Jitter::None, 0.0),
    ("0 to 4 ms", Jitter::Uniform(0.004), 0.0),
    ("Wi-Fi", Jitter::WiFi(0.004), 0.0),
    ("sawtooth", Jitter::Sawtooth(0.012), 0.0),
    ("drift", Jitter::Uniform(0.001), 200e-6),
];

fn main() {
    let head = "| jitter | display | shown by | shown/s | repeated/s | dropped/s | p50 | p95 | p99 | longest stay | deviation |";
    let line = "| --- | --: | --- | --: | --: | --: | --: | --: | --: | --: | --: |";
    println!("{head}\n{line}");
    for (name, jitter, drift) in JITTERS {
        // One jitter is enough for a display that is slower than the stream: others change little there.
        let slower = matches!(jitter, Jitter::Uniform(_)) && drift == 0.0;
        for hertz in [60.0, 75.0, 144.0]
            .into_iter()
            .chain(slower.then_some(50.0))
        {
            let case = Case {
                pictures: 60.0,
                hertz,
                drift,
                jitter,
            };
            for row in rows(name, &case) {
                println!("{row}");
            }
        }
    }
}
