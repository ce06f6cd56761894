//! Tests that `docs/embed/feedback.md` says the same about the needs of each
//! controller as the code.
#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_cc::NAMES;
use mimosa_cc::needs::{Arrivals, Reports, needs};

#[test]
fn the_page_says_what_the_code_says() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../docs/embed/feedback.md"
    );
    let page = std::fs::read_to_string(path).unwrap();
    for name in NAMES {
        let needs = needs(name).unwrap();
        let made_for = match needs.made_for {
            Reports::Never => "none".to_owned(),
            Reports::PerPacket => "each packet".to_owned(),
            Reports::PerFrame => "each frame".to_owned(),
            Reports::Every(interval) => format!("every {interval}"),
        };
        let arrivals = match needs.arrivals {
            Arrivals::Nothing => "no",
            Arrivals::Frames => "of frames",
            Arrivals::Packets => "of packets",
        };
        let yes = |is: bool| if is { "yes" } else { "no" };
        let cells = [
            &format!("`{name}`"),
            &made_for,
            arrivals,
            yes(needs.counts_waiting),
            yes(needs.uses_ecn),
            needs.with_less,
        ];
        let row = format!("| {} |", cells.join(" | "));
        assert!(
            page.contains(&row),
            "docs/embed/feedback.md has no row\n{row}"
        );
    }
}
