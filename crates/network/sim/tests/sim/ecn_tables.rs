//! What a sender's ECN policy is worth beside a field that was fixed. The table of
//! `docs/embed/ecn.md` is what this prints:
//! `cargo test -p mimosa-sim --test sim ecn_tables -- --nocapture`.

use std::fmt::Write;

use crate::common::{part, scenario, window};

const CONTROLLERS: [&str; 2] = ["prague", "scream"];
/// As the page calls them, and as a scenario does.
const QUEUES: [(&str, &str); 2] = [("DualPI2", "dualpi2"), ("CoDel", "codel")];
/// What a path does, its key, and which of [`FIELDS`] suits it.
const PATHS: [(&str, &str, usize); 3] = [
    ("keeps the field", "", 1),
    ("bleaches", "bleach = true", 0),
    ("marks everything", "mangle = \"ce\"", 0),
];
const FIELDS: [&str; 3] = ["not-ect", "ect1", "auto"];

/// Use of the link and mean queue in ms, seconds 5 to 20, with each of [`FIELDS`].
fn figures(controller: &str, queue: &str, path: &str, seed: u64) -> [[f64; 2]; 3] {
    FIELDS.map(|ecn| {
        let scenario = scenario(&format!(
            "duration = \"20s\"\n[link]\nrate = \"20Mbit/s\"\none_way_delay = \"10ms\"\n\
             queue = {{ kind = \"{queue}\" }}\n{path}\n[[flow]]\n\
             controller = \"{controller}\"\necn = \"{ecn}\"\nfeedback = \"rfc8888\"\n"
        ));
        let link = part(&scenario, seed, window(5_000, 20_000)).link;
        [link.utilization.unwrap(), link.queue_delay_ms.unwrap().mean]
    })
}

/// A simulated run is the same everywhere, so the page has these very figures. On each path
/// the policy does as the field that suits it, told beforehand.
#[test]
fn the_page_has_the_figures() {
    let mut table = String::from("| | path | Not-ECT | ECT(1) | auto |\n|---|---|---|---|---|\n");
    for controller in CONTROLLERS {
        for (name, queue) in QUEUES {
            let mut of = format!("`{controller}`, {name} ");
            for (what, path, suits) in PATHS {
                let columns = figures(controller, queue, path, 1);
                let cells = columns.map(|[used, wait]| format!("{used:.3}, {wait:.2} ms"));
                let row = format!("| {of}| {what} | {} |", cells.join(" | "));
                let ([used, wait], [auto_used, auto_wait]) = (columns[suits], columns[2]);
                assert!((used - auto_used).abs() < 0.015, "{row}");
                assert!((wait - auto_wait).abs() < 0.2, "{row}");
                let _ = writeln!(table, "{row}");
                of.clear();
            }
        }
    }
    println!("{table}");
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/embed/ecn.md");
    let is_there = std::fs::read_to_string(page).unwrap().contains(&table);
    assert!(
        is_there,
        "docs/embed/ecn.md has another table; make it\n{table}"
    );
}

/// Below the table: other seeds, and the other path that no mark comes through.
#[test]
fn seeds_make_little_of_a_difference_and_the_rewritten_field_none() {
    for controller in CONTROLLERS {
        for (_, queue) in QUEUES {
            for (what, path, _) in PATHS {
                let first = figures(controller, queue, path, 1);
                for seed in 2..=4 {
                    let other = figures(controller, queue, path, seed);
                    for (column, ([one, _], [two, _])) in first.iter().zip(&other).enumerate() {
                        let place = format!("{controller}, {queue}, {what}, {}", FIELDS[column]);
                        assert!((one - two).abs() <= 0.02, "{place}, {seed}: {one} {two}");
                    }
                }
            }
            let [bleached, rewritten] = ["bleach = true", "mangle = \"ect0\""]
                .map(|path| figures(controller, queue, path, 1).map(|all| all.map(f64::to_bits)));
            assert_eq!(bleached, rewritten, "{controller}, {queue}");
        }
    }
}
