//! Finds a Python that has the package `mimosa_lab`.

use std::convert::Infallible;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The environment variable that names the Python.
const VARIABLE: &str = "MIMOSA_PYTHON";
/// The Python that is looked for where none is named.
const USUAL: &str = "python3";
/// Prints the version, where it is older than the package's `requires-python`, or else the modules
/// that are missing. The package has a native part, which sources alone do not.
const CHECK: &str = "
import importlib.machinery, importlib.util, sys
if sys.version_info < (3, 11):
    print('old', '%d.%d' % sys.version_info[:2])
else:
    package = importlib.util.find_spec('mimosa_lab')
    places = list(package.submodule_search_locations or []) if package else []
    native = importlib.machinery.PathFinder.find_spec('mimosa_lab._native', places)
    missing = [] if native else ['mimosa_lab']
    others = [name for name in ('numpy', 'polars') if not importlib.util.find_spec(name)]
    print('lacks', *missing, *others)
";

/// Why no Python runs fleets. Each error says what to install.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FleetError {
    /// There is no such program.
    #[error(
        "cannot run {}, which runs fleets: {source}; install Python 3.11 or newer (`apt-get install python3 python3-venv`), or name one with --python or MIMOSA_PYTHON",
        .python.display()
    )]
    NoPython { python: PathBuf, source: io::Error },
    /// The program answers as no Python does.
    #[error("{} is no Python: asked what it has, it answered `{answer}`; name one with --python or MIMOSA_PYTHON", .python.display())]
    Other { python: PathBuf, answer: String },
    /// The package needs a newer Python.
    #[error("{} is Python {version}, and fleets need 3.11 or newer; name one with --python or MIMOSA_PYTHON", .python.display())]
    Old { python: PathBuf, version: String },
    /// The package is missing.
    #[error(
        "{0} lacks the package mimosa_lab, which runs fleets; in a checkout of Mimosa, `make wheel` makes it, and `{0} -m pip install \"$(ls out/wheels/*.whl)[fleet]\"` installs it; where the system's Python takes no packages, make one that does first, with `python3 -m venv FOLDER`, and name FOLDER/bin/python with --python or MIMOSA_PYTHON",
        .python.display()
    )]
    NoPackage { python: PathBuf },
    /// What the package needs for fleets is missing.
    #[error("{0} lacks {missing}, which fleets need; install it with `{0} -m pip install {missing}`", .python.display())]
    NoLibraries { python: PathBuf, missing: String },
}

/// A Python that has all that fleets need.
#[derive(Debug)]
pub(super) struct Python(PathBuf);

impl Python {
    /// The Python that is `named`, or that the environment names, or the usual one.
    pub(super) fn find(named: Option<&Path>) -> Result<Self, FleetError> {
        let variable = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
        let named = named.map(Path::to_owned).or(variable.map(PathBuf::from));
        let python = named.unwrap_or_else(|| PathBuf::from(USUAL));
        let answer = Command::new(&python)
            .args(["-c", CHECK])
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output();
        match answer {
            Ok(answer) => judge(python, &String::from_utf8_lossy(&answer.stdout)).map(Self),
            Err(source) => Err(FleetError::NoPython { python, source }),
        }
    }

    /// Replaces this process with the package's command for fleets.
    pub(super) fn become_fleet(self, words: &[OsString]) -> Result<Infallible, FleetError> {
        let mut command = Command::new(&self.0);
        // `exec` only returns if it fails.
        let source = command.args(["-m", "mimosa_lab.fleet"]).args(words).exec();
        let python = self.0;
        Err(FleetError::NoPython { python, source })
    }
}

/// The Python, if its answer to [`CHECK`] says that it has everything.
fn judge(python: PathBuf, answer: &str) -> Result<PathBuf, FleetError> {
    let words: Vec<_> = answer.split_whitespace().collect();
    match words[..] {
        ["lacks"] => Ok(python),
        ["lacks", "mimosa_lab", ..] => Err(FleetError::NoPackage { python }),
        ["lacks", ref missing @ ..] => {
            let missing = missing.join(" ");
            Err(FleetError::NoLibraries { python, missing })
        }
        ["old", version] => {
            let version = version.to_owned();
            Err(FleetError::Old { python, version })
        }
        _ => {
            let answer = mimosa_units::shortened(answer);
            Err(FleetError::Other { python, answer })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(answer: &str) -> String {
        judge(PathBuf::from("py"), answer).unwrap_err().to_string()
    }

    #[test]
    fn what_is_missing_is_named_with_its_mend() {
        assert!(said("lacks numpy polars\n").contains("`py -m pip install numpy polars`"));
        assert!(said("lacks mimosa_lab numpy\n").contains("`make wheel`"));
        assert!(said("old 3.9\n").contains("py is Python 3.9, and fleets need 3.11"));
        assert!(said("hello\n").contains("answered `hello`"));
        assert!(said("").contains("is no Python"));
        assert!(judge(PathBuf::from("py"), "lacks\n").is_ok());
    }
}
