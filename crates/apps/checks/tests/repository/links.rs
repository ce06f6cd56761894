//! Checks that links in Markdown lead to files of the repository.

use std::collections::BTreeSet;
use std::path::Path;

use crate::files::texts;

/// The files that links and images in `markdown` name, without URLs, headings of the same page, and
/// code.
pub(crate) fn targets(markdown: &str) -> Vec<String> {
    let mut targets = Vec::new();
    let mut fence = None;
    for line in markdown.lines() {
        let trimmed = line.trim_start();
        let opening = ["```", "~~~"]
            .into_iter()
            .find(|mark| trimmed.starts_with(mark));
        match (fence, opening) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => line_targets(line, &mut targets),
            (Some(_), _) => {}
        }
    }
    targets.retain(|target| !target.is_empty() && !is_address(target));
    targets
}

fn line_targets(line: &str, targets: &mut Vec<String>) {
    // Every second piece between backticks is code.
    let text: String = line.split('`').step_by(2).collect();
    let inline = text.split("](").skip(1);
    targets.extend(inline.map(|rest| target(rest, ')')));
    // `[name]: target`
    if let Some((name, rest)) = text.split_once("]: ")
        && name.starts_with('[')
        && !name.contains(']')
    {
        targets.push(target(rest, ' '));
    }
}

/// The text before `end`, without angle brackets, title and heading.
fn target(rest: &str, end: char) -> String {
    let path = match rest.strip_prefix('<') {
        Some(bracketed) => bracketed.split('>').next(),
        None => rest.split(|c: char| c == end || c.is_whitespace()).next(),
    };
    let path = path.unwrap_or_default();
    path.split('#').next().unwrap_or_default().to_owned()
}

pub(crate) fn is_markdown(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|end| end == "md")
}

fn is_address(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// The path from the root to `target`, as linked from the file `from`; `None` if it is outside the
/// repository.
pub(crate) fn resolve(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<_> = from.split('/').collect();
    parts.pop();
    if target.starts_with('/') {
        parts.clear();
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[test]
fn every_link_leads_to_a_file() {
    let (Some(files), Some(paths)) = (texts(), crate::files::paths()) else {
        return;
    };
    let mut places: BTreeSet<&str> = BTreeSet::from([""]);
    for path in &paths {
        places.insert(path);
        places.extend(path.match_indices('/').map(|(at, _)| &path[..at]));
    }
    let mut broken = Vec::new();
    for file in files.iter().filter(|file| is_markdown(&file.path)) {
        for target in targets(&file.text) {
            let place = resolve(&file.path, &target);
            if !place.is_some_and(|place| places.contains(place.as_str())) {
                broken.push(format!("{}: {target}", file.path));
            }
        }
    }
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn links_are_found_and_code_is_not() {
    let markdown = "[a](x.md) ![b](y/z.png \"t\") `[c](no.md)` [d](#here)\n\
        ```\n[e](no.md)\n```\n\
        [f](../g.md#part) [h](https://example.org) [i](<with space.md>)\n\
        [j]: k.md\n";
    assert_eq!(
        targets(markdown),
        ["x.md", "y/z.png", "../g.md", "with space.md", "k.md"]
    );
}

#[test]
fn a_link_is_followed_from_its_own_file() {
    let from = "docs/a.md";
    assert_eq!(resolve(from, "b.md").as_deref(), Some("docs/b.md"));
    assert_eq!(resolve(from, "../Makefile").as_deref(), Some("Makefile"));
    assert_eq!(resolve(from, "/crates/").as_deref(), Some("crates"));
    assert_eq!(resolve(from, "../../x"), None);
}
