//! Checks that the documentation's index lists every page.

use std::collections::BTreeSet;

use crate::files::texts;
use crate::links::{is_markdown, resolve, targets};

/// The index of the documentation.
const INDEX: &str = "docs/README.md";

/// The pages under `docs/` among `paths` to which `index` has no link.
fn unlisted<'a>(index: &str, paths: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let listed: BTreeSet<String> = targets(index)
        .iter()
        .filter_map(|target| resolve(INDEX, target))
        .collect();
    let is_page = |path: &&str| path.starts_with("docs/") && is_markdown(path) && *path != INDEX;
    let pages = paths.into_iter().filter(is_page);
    pages.filter(|page| !listed.contains(*page)).collect()
}

#[test]
fn every_page_is_in_the_index() {
    let Some(files) = texts() else {
        return;
    };
    let index = files.iter().find(|file| file.path == INDEX);
    let index = &index.expect("the index is in the repository").text;
    let missing = unlisted(index, files.iter().map(|file| file.path.as_str()));
    assert!(missing.is_empty(), "{INDEX} lists no {missing:?}");
}

#[test]
fn a_missing_page_is_found() {
    let index = "| [Host](use/host.md#keys) | ... |\n`[Link](use/link.md)`\n";
    let paths = [
        INDEX,
        "docs/use/host.md",
        "docs/use/link.md",
        "docs/figures/play.jpg",
        "web/README.md",
    ];
    assert_eq!(unlisted(index, paths), ["docs/use/link.md"]);
}
