//! `mimosa lab`.

use std::path::Path;

use crate::{folder, mimosa, stdout};

const RUN: &str = "lab run scoreboard --case constant-8 --case jitter --controller pudica \
                   --controller copa --seeds 1..2";

/// What a run of `RUN` into `output` leaves: results, both pages and the figure.
fn results(here: &Path, output: &str) -> [Vec<u8>; 4] {
    [
        "results.jsonl",
        "page.html",
        "page.md",
        "figures/frame-delay-and-use-of-the-link.svg",
    ]
    .map(|name| std::fs::read(here.join(output).join(name)).unwrap())
}

fn refusal(here: &Path, arguments: &str) -> String {
    let output = mimosa(here, arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments}: {errors}");
    assert_eq!(output.stdout, b"", "{arguments}");
    errors
}

#[test]
fn a_run_that_was_stopped_goes_on_and_ends_with_the_same_bytes() {
    let here = folder("lab-resume");
    // Two cases, two controllers and the reference, two seeds.
    let said = stdout(&here, &format!("{RUN} --output whole"));
    assert_eq!(said, "12 runs; whole/page.html\n");
    let whole = results(&here, "whole");
    let runs = std::fs::read_to_string(here.join("whole/runs.jsonl")).unwrap();
    assert_eq!(runs.lines().count(), 13);

    // Stopped within the sixth run, whose line is half there.
    let stopped = here.join("stopped");
    std::fs::create_dir_all(&stopped).unwrap();
    let lines: Vec<_> = runs.lines().collect();
    let half = &lines[6][..lines[6].len() / 2];
    let text = format!("{}\n{half}", lines[..6].join("\n"));
    std::fs::write(stopped.join("runs.jsonl"), text).unwrap();
    let output = mimosa(&here, &format!("{RUN} --output stopped"));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors, "note: 5 of 12 runs are done already\n");
    assert!(output.status.success());
    assert_eq!(results(&here, "stopped"), whole);

    // What is of another program does not count.
    let other = runs.replacen("\"program\":\"", "\"program\":\"other ", 1);
    assert_ne!(other, runs);
    std::fs::write(stopped.join("runs.jsonl"), other).unwrap();
    stdout(&here, &format!("{RUN} --output stopped"));
    assert_eq!(results(&here, "stopped"), whole);

    // Once more from the beginning.
    stdout(&here, &format!("{RUN} --output whole --fresh"));
    assert_eq!(results(&here, "whole"), whole);
}

#[test]
fn a_suite_of_figures_leaves_claims_and_figures() {
    let here = folder("lab-figures");
    let run = "lab run pudica-fig17 --controller pudica --seeds 1 --output out";
    // Each of the two networks once.
    assert_eq!(stdout(&here, run), "2 runs; out/page.html\n");
    let read = |name: &str| std::fs::read_to_string(here.join("out").join(name)).unwrap();
    let claims: serde_json::Value = serde_json::from_str(&read("claims.json")).unwrap();
    let [used, _, late, ..] = &claims.as_array().unwrap()[..] else {
        panic!("{claims}");
    };
    let is_of_sqp = |claim: &&serde_json::Value| {
        claim["of"]
            .as_str()
            .is_some_and(|of| of.starts_with("sqp,"))
    };
    let of_sqp = claims.as_array().unwrap().iter().find(is_of_sqp).unwrap();
    assert!(
        used["here"].as_f64().is_some_and(|here| here > 50.0),
        "{used}"
    );
    assert!(used["holds"].is_boolean() && late["holds"].is_boolean());
    assert!(of_sqp["holds"].is_null(), "SQP did not run: {of_sqp}");
    for name in ["figures/bitrate.svg", "figures/delay.svg"] {
        assert!(read(name).starts_with("<svg"), "{name}");
        assert!(read("page.md").contains(&format!("]({name})")), "{name}");
    }
    assert!(read("page.html").contains("What is claimed, and what came of it"));
}

#[test]
fn recorded_traces_take_the_place_of_generated_ones() {
    let here = folder("lab-traces");
    std::fs::create_dir_all(here.join("links/home")).unwrap();
    std::fs::write(here.join("links/home/dsl.txt"), "0 10\n5 12\n10 11\n").unwrap();
    std::fs::write(here.join("links/lab.txt"), "0 20\n5 22\n10 21\n").unwrap();
    let run = "lab run scoreboard --controller oracle --seeds 1 --output out --traces links";
    // Two directions of one recording have one name but for what the extension adds.
    std::fs::write(here.join("links/lte.down"), "0 30\n5 32\n10 31\n").unwrap();
    std::fs::write(here.join("links/lte.up"), "0 6\n5 7\n10 5\n").unwrap();
    // Thirteen cases without a trace, and the four.
    assert_eq!(stdout(&here, run), "17 runs; out/page.html\n");
    let page = std::fs::read_to_string(here.join("out/page.md")).unwrap();
    assert!(
        page.contains("## home/dsl: Recorded link home/dsl"),
        "{page}"
    );
    assert!(page.contains("## lab: Recorded link lab"), "{page}");
    assert!(
        page.contains("## lte.down: Recorded link lte.down"),
        "{page}"
    );
    assert!(page.contains("## lte.up: Recorded link lte.up"), "{page}");
    assert!(!page.contains("Wi-Fi trace"), "{page}");
}

#[test]
fn suites_are_listed_with_what_they_do_not_carry() {
    let here = folder("lab-list");
    let list = stdout(&here, "lab list");
    for line in [
        "rfc8867: RFC 8867: test cases",
        "  5.1              Variable available capacity with a single flow\n",
        "  6.3              Multiple bottlenecks\n",
        "  3.3              EDCA/WMM, and links of different rates (not carried)\n",
        "scoreboard: Scoreboard\n",
    ] {
        assert!(list.contains(line), "{line} in {list}");
    }
}

#[test]
fn what_is_not_there_is_refused_with_what_is() {
    let here = folder("lab-refusals");
    assert_eq!(
        refusal(&here, "lab run rfc9999"),
        "error: there is no suite `rfc9999`; there is ace, c3g, coexistence, feedback, htb-causes, htb-l4s, \
         last-mile, loss-recovery, \
         pudica-causes, pudica-fig7, pudica-fig12, pudica-fig13, pudica-fig15, pudica-fig16, pudica-fig17, \
         pudica-fig18, pudica-sessions, pudica-wild, \
         rfc8867, rfc8869, robust, scoreboard, or name a folder with a suite.toml\n"
    );
    let error = refusal(&here, "lab run rfc8867 --controller pudicca");
    let known = "error: there is no controller `pudicca`; there is ";
    assert!(
        error.starts_with(known) && error.contains("pudica"),
        "{error}"
    );
    let error = refusal(&here, "lab run rfc8869 --case 3.3");
    assert!(
        error.contains("case `3.3` is not carried: Access categories"),
        "{error}"
    );
    let error = refusal(&here, "lab run rfc8867 --traces none");
    assert!(error.contains("cannot read --traces none"), "{error}");
    assert!(!here.join("lab-results").exists(), "nothing was run");
}
