//! Splits a command into its words.

use std::path::{Path, PathBuf};

use crate::error::Problem;

/// The words of a command: spaces separate them, and words with spaces stand in single or double
/// quotes. No shell reads the command, so that no other character has a meaning.
pub(crate) fn words(command: &str) -> Result<Vec<String>, Problem> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for each in command.chars() {
        match (quote, each) {
            (Some(open), _) if each == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(each);
                word.get_or_insert_default();
            }
            (None, _) if each.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(each),
        }
    }
    if let Some(open) = quote {
        return Err(Problem::Quote(open));
    }
    words.extend(word);
    if words.first().is_none_or(String::is_empty) {
        return Err(Problem::NoCommand);
    }
    Ok(words)
}

/// The program of a command that runs in `folder`: a relative path counts from there, and a bare
/// name is looked for in `PATH`.
pub(crate) fn program(word: &str, folder: &Path) -> PathBuf {
    let is_path = word.contains('/');
    if is_path {
        // The system resolves the folder before the process is in it.
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        folder.join(word)
    } else {
        PathBuf::from(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_separate_words_and_quotes_join_them() {
        for (command, expected) in [
            ("python3 aimd.py", &["python3", "aimd.py"][..]),
            ("  a\t b ", &["a", "b"]),
            ("'my program' \"it's\" ''", &["my program", "it's", ""]),
            ("a'b c'd $HOME *", &["ab cd", "$HOME", "*"]),
        ] {
            assert_eq!(words(command).unwrap(), expected, "{command}");
        }
        for command in ["", "  ", "''", "a 'b"] {
            assert!(words(command).is_err(), "{command}");
        }
    }

    #[test]
    fn a_path_counts_from_the_folder_and_a_name_does_not() {
        let folder = Path::new("/srv/suite");
        assert_eq!(program("./aimd", folder), Path::new("/srv/suite/./aimd"));
        assert_eq!(program("/bin/aimd", folder), Path::new("/bin/aimd"));
        assert_eq!(program("python3", folder), Path::new("python3"));
    }
}
