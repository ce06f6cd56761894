//! Checks that no file names a directory of the machine on which it was written.

use crate::files::texts;

/// Directories at the root of a machine that belong to one person or one job. The second field says
/// whether the name of the owner follows.
const DIRECTORIES: &[(&str, bool)] = &[
    ("root", false),
    ("work", false),
    ("home", true),
    ("Users", true),
];

/// The first path on `line` that lies in one of [`DIRECTORIES`].
fn machine_path(line: &str) -> Option<&str> {
    DIRECTORIES.iter().find_map(|(directory, has_owner)| {
        let start = format!("/{directory}/");
        line.match_indices(&start)
            .find(|(at, _)| {
                let before = line[..*at].chars().next_back();
                let mut after = line[at + start.len()..].splitn(2, '/');
                let first = after.next().unwrap_or_default();
                let is_owner = !first.is_empty() && first.chars().all(is_part_of_a_name);
                !before.is_some_and(is_part_of_a_name)
                    && (!has_owner || (is_owner && after.next().is_some()))
            })
            .map(|(at, _)| &line[at..])
    })
}

fn is_part_of_a_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '~' | '}' | ')' | '*')
}

#[test]
fn no_file_names_a_place_on_one_machine() {
    let Some(files) = texts() else {
        return;
    };
    let mut found = Vec::new();
    for file in files {
        if file.path.ends_with("Cargo.lock") {
            continue;
        }
        for (index, line) in file.text.lines().enumerate() {
            if let Some(path) = machine_path(line) {
                found.push(format!("{}:{}: {path}", file.path, index + 1));
            }
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn a_machine_path_is_told_from_a_relative_one() {
    // The paths are put together here, so that this file itself contains none.
    for (start, rest) in [
        ("cd /", "work/main"),
        ("`/", "root/.cargo`"),
        ("\"/", "home/ada/mimosa\""),
        ("file:///", "Users/ada/x"),
    ] {
        let line = format!("{start}{rest}");
        assert!(machine_path(&line).is_some(), "{line}");
    }
    let address = ["example.org/", "root/x"].concat();
    for fine in [
        "docs/work/notes.md",
        &address,
        ".github/workflows",
        "/home/",
        "/home/<name>/",
        "~/work/x",
    ] {
        assert_eq!(machine_path(fine), None, "{fine}");
    }
}
