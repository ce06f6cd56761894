//! Checks the documented list of dependencies against the manifests.

use std::collections::{BTreeMap, BTreeSet};

use crate::files::root;
use crate::metadata::packages;

const LIST: &str = "docs/extend/dependencies.md";

/// Each dependency and the crates that use it.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// The dependencies in the manifests.
fn used() -> Uses {
    let mut found = Uses::new();
    for manifest in ["Cargo.toml", "fuzz/Cargo.toml"] {
        for package in packages(manifest)
            .iter()
            .filter(|package| package.is_member)
        {
            for dependency in &package.dependencies {
                if !dependency.is_ours {
                    let user = package.name.trim_start_matches("mimosa-");
                    found
                        .entry(dependency.name.clone())
                        .or_default()
                        .insert(user.to_owned());
                }
            }
        }
    }
    found
}

/// The dependencies in the rows of a Markdown table: the dependency as a word in backticks, then
/// the crates that use it, with commas between them.
fn listed(table: &str) -> Uses {
    let mut rows = Uses::new();
    for line in table.lines() {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let (Some(name), Some(users)) = (cells.next(), cells.next()) else {
            continue;
        };
        let name = name
            .strip_prefix('`')
            .and_then(|name| name.strip_suffix('`'));
        if let Some(name) = name {
            let users = users.split(',').map(|user| user.trim().to_owned());
            rows.insert(name.to_owned(), users.collect());
        }
    }
    rows
}

#[test]
fn every_dependency_is_listed_with_its_users() {
    let table = std::fs::read_to_string(root().join(LIST)).expect("the list can be read");
    let (used, listed) = (used(), listed(&table));
    let cell = |users: &BTreeSet<String>| users.iter().cloned().collect::<Vec<_>>().join(", ");
    let mut objections = Vec::new();
    for (name, users) in &used {
        let users = cell(users);
        match listed.get(name) {
            None => objections.push(format!("no row for `{name}`, used by {users}")),
            Some(said) if cell(said) != users => objections.push(format!(
                "`{name}` is used by {users}, but the row says {}",
                cell(said)
            )),
            Some(_) => {}
        }
    }
    for name in listed.keys().filter(|name| !used.contains_key(*name)) {
        objections.push(format!("a row for `{name}`, which nothing uses"));
    }
    assert!(objections.is_empty(), "{LIST}:\n{}", objections.join("\n"));
}

#[test]
fn rows_are_read_and_headings_are_not() {
    let table = "| Dependency | Used by | Why |\n| --- | --- | --- |\n| `a` | x, y | z |\n";
    let listed = listed(table);
    assert_eq!(listed.len(), 1);
    assert!(listed["a"].iter().eq(["x", "y"]));
}
