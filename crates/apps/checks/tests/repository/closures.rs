//! Checks what comes along with parts of the workspace: an embedder's few crates, the host, and the
//! program of `make play`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::Command;

use crate::files::{root, texts};

/// What simulates, emulates, measures and draws, and no host needs.
const NO_HOST_NEEDS: &[&str] = &[
    "mimosa-figures",
    "mimosa-lab",
    "mimosa-net",
    "mimosa-plot",
    "mimosa-scenario",
    "mimosa-sim",
    "mimosa-sweep",
    "mimosa-tcp",
    "mimosa-trace",
    "mimosa-world",
    "resvg",
];
/// The crates of an application that streams over its own transport.
const EMBEDDED: &[&str] = &["mimosa-cc", "mimosa-rtp", "mimosa-stream", "mimosa-units"];
/// Most crates of this workspace that these crates may bring, themselves included.
const MOST_EMBEDDED: usize = 6;
/// The marks around the lists in the page that states them.
const BEGIN: &str = "<!-- closures -->\n";
const END: &str = "<!-- /closures -->\n";
/// The beginning of the Makefile's line with the features of `make play`.
const LEAN: &str = "LEAN := ";

/// Names of all packages that cargo would build into the libraries and programs that `selection`
/// names, including themselves.
fn closure(selection: &[&str]) -> BTreeSet<String> {
    let tree = run(selection, &["--offline"])
        .or_else(|_| run(selection, &[]))
        .unwrap_or_else(|error| panic!("cargo tree fails for {selection:?}:\n{error}"));
    names(&tree)
}

/// The names in the output of `cargo tree`, one at the beginning of each line.
fn names(tree: &str) -> BTreeSet<String> {
    tree.lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

fn run(selection: &[&str], arguments: &[&str]) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--edges", "normal", "--prefix", "none"])
        .args(arguments)
        .args(selection)
        .current_dir(root())
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The packages of the host with all of its features.
fn host() -> BTreeSet<String> {
    closure(&["--package", "mimosa-host", "--all-features"])
}

/// The packages of the program of `make play`.
fn lean() -> BTreeSet<String> {
    let makefile = std::fs::read_to_string(root().join("Makefile")).expect("a Makefile");
    let features = makefile.lines().find_map(|line| line.strip_prefix(LEAN));
    let features = features.expect("the features of `make play`");
    let mut selection = vec!["--package", "mimosa-cli"];
    selection.extend(features.split_whitespace());
    closure(&selection)
}

/// The packages of an embedder's crates.
fn embedded() -> BTreeSet<String> {
    let packages = EMBEDDED.iter().flat_map(|name| ["--package", name]);
    closure(&packages.collect::<Vec<_>>())
}

/// The `names` that are crates of this workspace.
fn ours(names: &BTreeSet<String>) -> Vec<&str> {
    let names = names.iter().map(String::as_str);
    names.filter(|name| name.starts_with("mimosa-")).collect()
}

/// The `names` that are in `unwanted`.
fn unwanted<'a>(names: &'a BTreeSet<String>, unwanted: &[&str]) -> Vec<&'a str> {
    let names = names.iter().map(String::as_str);
    names.filter(|name| unwanted.contains(name)).collect()
}

#[test]
fn neither_the_host_nor_the_program_of_make_play_simulates_or_draws() {
    for (what, closure, contains) in [
        ("mimosa-host", host(), "mimosa-transport"),
        ("the program of `make play`", lean(), "mimosa-host"),
    ] {
        assert!(closure.contains(contains), "{what}: {closure:?}");
        let found = unwanted(&closure, NO_HOST_NEEDS);
        assert!(found.is_empty(), "{what} is built with {found:?}");
    }
}

#[test]
fn the_program_of_make_play_has_no_window() {
    let (lean, windows) = (lean(), ["mimosa-avcodec", "mimosa-window", "sdl3-sys"]);
    assert_eq!(unwanted(&lean, &windows), [""; 0]);
    let all = closure(&["--package", "mimosa-cli", "--all-features"]);
    assert_eq!(unwanted(&all, &windows), windows, "with all features");
}

#[test]
fn an_embedder_takes_few_crates() {
    let closure = embedded();
    let ours = ours(&closure);
    assert!(
        EMBEDDED.iter().all(|name| ours.contains(name)) && ours.len() <= MOST_EMBEDDED,
        "{ours:?}"
    );
    assert!(!ours.contains(&"mimosa-tcp"), "{ours:?}");
}

/// The lists as the page has to have them.
fn lists() -> String {
    let embedder = format!("an application with {}", code(EMBEDDED.iter().copied()));
    let rows = [
        (embedder.as_str(), embedded()),
        ("`mimosa-host`, with all features", host()),
        ("the program of `make play`", lean()),
    ];
    let rows = rows.map(|(what, closure)| {
        let ours = ours(&closure);
        format!("| {what} | {} | {} |\n", ours.len(), code(ours))
    });
    format!(
        "| Built | Crates | Which crates of this repository are in it |\n| --- | --- | --- |\n{}",
        rows.concat()
    )
}

/// The names as Markdown code, with commas between them.
fn code<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The text between the marks, if it has them.
fn between(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(BEGIN)?;
    Some(rest.split_once(END)?.0)
}

#[test]
fn the_page_states_what_comes_along() {
    let Some(texts) = texts() else {
        return;
    };
    let pages = texts.iter().filter(|file| file.path.starts_with("docs/"));
    let stated: Vec<_> = pages
        .filter_map(|file| Some((&file.path, between(&file.text)?)))
        .collect();
    let [(path, stated)] = stated.as_slice() else {
        panic!("one page below docs/ has {BEGIN}, not {}", stated.len());
    };
    let lists = lists();
    assert_eq!(
        stated.trim(),
        lists.trim(),
        "write into {path}, between {BEGIN} and {END}:\n\n{lists}"
    );
}

#[test]
fn names_are_read_and_what_is_unwanted_is_found() {
    let tree =
        "mimosa-host v0.1.0 (/here)\nlibm v0.2.16\nmimosa-sim v0.1.0 (/here) (*)\n\nlibm v0.2.16\n";
    let names = names(tree);
    assert!(names.iter().eq(["libm", "mimosa-host", "mimosa-sim"]));
    assert_eq!(ours(&names), ["mimosa-host", "mimosa-sim"]);
    assert_eq!(unwanted(&names, NO_HOST_NEEDS), ["mimosa-sim"]);
    let page = format!("# A\n\n{BEGIN}b\n{END}\nc\n");
    assert_eq!(between(&page), Some("b\n"));
    assert_eq!(between("c\n"), None);
}
