//! Prints the table of docs/use/client.md about pacing: `make presentation`.

mod model;

use model::{Case, Jitter, Strategy, run};

/// Runs of each case, each with another phase between stream and display.
const SEEDS: u64 = 20;

fn main() {
    println!(
        "| jitter | display | shown by | shown/s | repeated/s | dropped/s | p50 | p95 | p99 | longest stay | deviation |"
    );
    println!("| --- | --: | --- | --: | --: | --: | --: | --: | --: | --: | --: |");
    let jitters = [
        ("none", Jitter::None, 0.0),
        ("0 to 4 ms", Jitter::Uniform(0.004), 0.0),
        ("Wi-Fi", Jitter::WiFi(0.004), 0.0),
        ("sawtooth", Jitter::Sawtooth(0.012), 0.0),
        ("drift", Jitter::Uniform(0.001), 200e-6),
    ];
    for (name, jitter, drift) in jitters {
        for hertz in [60.0, 75.0, 144.0, 50.0] {
            let case = Case {
                pictures: 60.0,
                hertz,
                drift,
                jitter,
            };
            let strategies = [
                ("at once", Strategy::AtOnce),
                ("fixed", Strategy::Fixed),
                ("least", Strategy::Least(0.0)),
                ("paced", Strategy::Paced),
            ];
            for (label, strategy) in strategies {
                let runs: Vec<_> = (0..SEEDS).map(|seed| run(&case, strategy, seed)).collect();
                let mean = |of: &dyn Fn(&model::Figures) -> f64| {
                    runs.iter().map(of).sum::<f64>() / SEEDS as f64
                };
                let most = runs.iter().map(|run| run.gap).fold(0.0, f64::max);
                println!(
                    "| {name} | {hertz:.0} Hz | {label} | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} | {:.1} | {most:.1} | {:.2} |",
                    mean(&|run| run.shown),
                    mean(&|run| run.repeated),
                    mean(&|run| run.dropped),
                    mean(&|run| run.added[0]),
                    mean(&|run| run.added[1]),
                    mean(&|run| run.added[2]),
                    mean(&|run| run.deviation),
                );
            }
        }
    }
}
