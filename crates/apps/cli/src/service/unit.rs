//! The text of the systemd unit.

use std::path::Path;

/// The unit as the package has it, which starts `/usr/bin/mimosa serve`.
const PACKAGED: &str = include_str!("../../../../../packaging/mimosa.service");
/// What the packaged unit starts.
const PROGRAM: &str = "/usr/bin/mimosa";
/// Marks, as first line, a unit that `mimosa service install` has written.
const MARK: &str =
    "# Written by `mimosa service install`; `mimosa service uninstall` removes it.\n";

/// The unit that starts `program`, which is an absolute path. `None` if systemd could not read the
/// path: one that is not UTF-8, or has control characters or quotes.
pub(super) fn unit(program: &Path) -> Option<String> {
    let program = program.to_str()?;
    let is_readable = |c: char| !c.is_control() && !matches!(c, '"' | '\'' | '\\');
    if !program.chars().all(is_readable) {
        return None;
    }
    // `%` begins a specifier in a unit and `$` a variable of a command (systemd.service(5)).
    let program = program.replace('%', "%%").replace('$', "$$");
    let program = format!("\"{program}\"");
    Some(format!("{MARK}{}", PACKAGED.replace(PROGRAM, &program)))
}

/// Whether `mimosa service install` wrote `unit`.
pub(super) fn is_ours(unit: &str) -> bool {
    unit.starts_with(MARK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_starts_the_program_that_was_given() {
        let unit = unit(Path::new("/home/a b/100%/mimosa")).unwrap();
        assert!(is_ours(&unit) && !is_ours(PACKAGED));
        let start = "\nExecStart=\"/home/a b/100%%/mimosa\" serve\n";
        assert!(unit.contains(start), "{unit}");
        assert!(!unit.contains(PROGRAM), "{unit}");
    }

    #[test]
    fn a_path_that_systemd_cannot_read_is_none() {
        for path in ["/a\"b/mimosa", "/a\nb/mimosa", "/a\\b/mimosa"] {
            assert_eq!(unit(Path::new(path)), None, "{path:?}");
        }
    }
}
