//! The file that is created on first run.

use mimosa_settings::{KEYS, template};

use super::{Say, file};

#[test]
fn it_says_nothing_but_the_defaults() {
    let defaults = Say::default().settings();
    assert_eq!(file(&template()).settings(), defaults, "as it stands");
    // Comments have a space after their `#`, keys have none.
    let uncommented: String = template()
        .lines()
        .map(|line| match line.strip_prefix('#') {
            Some(rest) if !rest.starts_with([' ', '#']) && !rest.is_empty() => format!("{rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    assert_eq!(file(&uncommented).settings(), defaults, "uncommented");
    for key in KEYS {
        let (table, leaf) = key.path.rsplit_once('.').unwrap_or(("", key.path));
        let mut within = "";
        let mut stands = 0;
        for line in uncommented.lines() {
            if let Some(name) = line.strip_prefix('[') {
                within = name.trim_end_matches(']');
                stands += usize::from(within == key.path);
            } else if within == table {
                stands += usize::from(line.starts_with(&format!("{leaf} = ")));
            }
        }
        assert_eq!(stands, 1, "{}", key.path);
    }
}

#[test]
fn each_key_alone_can_be_uncommented() {
    for line in template().lines().filter(|line| line.contains(" = ")) {
        let Some(key) = line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')) else {
            continue;
        };
        let text = template().replace(&format!("\n{line}\n"), &format!("\n{key}\n"));
        assert_ne!(text, template(), "{line}");
        assert_eq!(file(&text).settings(), Say::default().settings(), "{line}");
    }
}

#[test]
fn its_lines_fit_a_terminal() {
    for line in template().lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn names_are_unique() {
    for (index, key) in KEYS.iter().enumerate() {
        let is_taken = KEYS[index + 1..]
            .iter()
            .any(|other| other.name == key.name || other.path == key.path);
        assert!(!is_taken, "{}", key.path);
        assert!(
            key.comment.ends_with('.') && !key.must.is_empty(),
            "{}",
            key.path
        );
    }
}
