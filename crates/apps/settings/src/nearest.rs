//! Finds the name that a wrong one was probably meant to be.

/// The name most similar to `text`, if at most a third of its letters differ.
pub(crate) fn nearest(text: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let most = text.chars().count().div_ceil(3);
    names
        .map(|name| (distance(text, &name), name))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, name)| name)
}

/// The edit distance (Levenshtein): how many letters to insert, remove or replace to turn one text
/// into the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    // Distances of the part of `one` read so far from each beginning of `other`.
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_letters() {
        for (one, other, letters) in [
            ("", "", 0),
            ("", "abc", 3),
            ("PORT", "PROT", 2),
            ("BIND", "BINDS", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(one, other), letters, "{one} {other}");
            assert_eq!(distance(other, one), letters, "{other} {one}");
        }
    }

    #[test]
    fn only_what_is_like_it_is_near() {
        let names = || ["HTTP_PORT", "UDP_PORT"].into_iter().map(str::to_owned);
        assert_eq!(nearest("HTP_PORT", names()).as_deref(), Some("HTTP_PORT"));
        assert_eq!(nearest("COLOUR", names()), None);
    }
}
