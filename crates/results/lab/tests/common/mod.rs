//! Suites that are given as text.

use mimosa_scenario::Files;

/// Files by name.
pub(crate) struct Given(&'static [(&'static str, String)]);

impl Files for Given {
    fn read(&mut self, path: &str) -> Result<String, String> {
        let found = self.0.iter().find(|(name, _)| *name == path);
        found
            .map(|(_, text)| text.clone())
            .ok_or("no such file".to_owned())
    }
}

pub(crate) fn given(files: &[(&'static str, &str)]) -> Given {
    let files: Vec<_> = files
        .iter()
        .map(|(name, text)| (*name, (*text).to_owned()))
        .collect();
    Given(files.leak())
}
