//! Checks the licences of everything that is built, the fuzz targets included.

use spdx::{Expression, ParseMode};

use crate::metadata::packages;

/// Licences under which a package may be part of a work under MIT or Apache-2.0. An exception
/// counts as part of the licence's name.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    // Data: the roots of Mozilla, which only a build for Android would hold.
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "NCSA",
    "OFL-1.1",
    "Ubuntu-font-1.0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

/// What is wrong with a package under `licence`, if anything.
fn objection(licence: Option<&str>) -> Option<String> {
    let Some(licence) = licence else {
        return Some("it names no licence".to_owned());
    };
    // LAX: older packages write `MIT/Apache-2.0`.
    let expression = match Expression::parse_mode(licence, ParseMode::LAX) {
        Ok(expression) => expression,
        Err(error) => return Some(format!("`{licence}` is not understood: {}", error.reason)),
    };
    let is_allowed =
        expression.evaluate(|requirement| ALLOWED.contains(&requirement.to_string().as_str()));
    (!is_allowed).then(|| format!("`{licence}` is not allowed"))
}

fn assert_licences(manifest: &str) {
    let objections: Vec<_> = packages(manifest)
        .iter()
        .filter_map(|package| {
            let objection = objection(package.licence.as_deref())?;
            Some(format!("{} {}: {objection}", package.name, package.version))
        })
        .collect();
    assert!(
        objections.is_empty(),
        "\n{}\n(ALLOWED in {})",
        objections.join("\n"),
        file!()
    );
}

#[test]
fn the_workspace_is_under_licences_that_are_allowed() {
    assert_licences("Cargo.toml");
}

#[test]
fn the_fuzz_targets_are_under_licences_that_are_allowed() {
    assert_licences("fuzz/Cargo.toml");
}

#[test]
fn a_licence_is_allowed_by_what_it_demands() {
    for fine in [
        "MIT",
        "MIT/Apache-2.0",
        "MIT OR GPL-3.0-only",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception OR GPL-2.0-only",
    ] {
        assert_eq!(objection(Some(fine)), None, "{fine}");
    }
    for bad in [
        "GPL-3.0-only",
        "MIT AND GPL-3.0-only",
        "Apache-2.0 WITH Classpath-exception-2.0",
        "Nonsense",
    ] {
        assert!(objection(Some(bad)).is_some(), "{bad}");
    }
    assert!(objection(None).is_some());
}
