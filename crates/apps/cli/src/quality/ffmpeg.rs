//! Finds `ffmpeg` programs, and what they support.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The variable that names an ffmpeg to try before the usual ones. `mimosa serve` ignores it.
const VARIABLE: &str = "MIMOSA_FFMPEG";
/// Most characters of an error message: enough for a path and a reason.
const LONGEST: usize = 1_000;
/// Where a Python virtual environment is expected.
const VENV: &str = ".venv/lib";

/// The ffmpeg programs to try, the best first.
#[derive(Debug)]
pub(super) struct Ffmpeg {
    candidates: Vec<PathBuf>,
}

impl Ffmpeg {
    /// The program `named` on the command line, before those in their usual places.
    pub(super) fn new(named: Option<PathBuf>) -> Self {
        let variable = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
        let mut candidates: Vec<_> = named.into_iter().collect();
        candidates.extend(variable.map(PathBuf::from));
        candidates.push(PathBuf::from("ffmpeg"));
        candidates.extend(of_python(Path::new(VENV)));
        Self { candidates }
    }

    /// The first program that runs, or what was tried.
    pub(super) fn any(&self) -> Result<&Path, String> {
        self.first(|program| told(program, &["-version"]).map(|_| ()))
    }

    /// The first program that has libvmaf, or what was tried.
    pub(super) fn with_vmaf(&self) -> Result<&Path, String> {
        self.first(|program| {
            let filters = told(program, &["-filters"])?;
            let has_vmaf = filters
                .lines()
                .any(|line| line.split_whitespace().nth(1) == Some("libvmaf"));
            if has_vmaf {
                Ok(())
            } else {
                Err("is without libvmaf".to_owned())
            }
        })
    }

    fn first(&self, fits: impl Fn(&Path) -> Result<(), String>) -> Result<&Path, String> {
        let mut tried = Vec::new();
        for program in &self.candidates {
            match fits(program) {
                Ok(()) => return Ok(program),
                Err(why) => tried.push(format!("{} {why}", program.display())),
            }
        }
        Err(tried.join(", "))
    }
}

/// The output of a program with these arguments.
fn told(program: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program)
        .arg("-hide_banner")
        .args(arguments)
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) => Err(format!("fails with {}", output.status)),
        Err(error) => Err(format!("does not run ({error})")),
    }
}

/// Programs of the Python package imageio-ffmpeg, below a virtual environment's `lib`.
fn of_python(lib: &Path) -> Vec<PathBuf> {
    let entries = |folder: PathBuf| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    };
    let is_called = |path: &Path, beginning: &str| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(beginning))
    };
    let mut found: Vec<_> = entries(lib.to_owned())
        .filter(|path| is_called(path, "python"))
        .flat_map(|python| entries(python.join("site-packages/imageio_ffmpeg/binaries")))
        .filter(|path| is_called(path, "ffmpeg"))
        .collect();
    found.sort();
    found
}

/// A path as an input of ffmpeg, which takes other forms for protocols and options.
pub(super) fn input(path: &Path) -> OsString {
    let mut input = OsString::from("file:");
    input.push(path);
    input
}

/// The last line of a program's error output.
pub(super) fn last_line(complaints: &str) -> String {
    let mut lines = complaints.lines().map(str::trim);
    let last = lines.rfind(|line| !line.is_empty());
    mimosa_units::one_line(last.unwrap_or("it says nothing about it"), LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_tried_is_told() {
        let ffmpeg = Ffmpeg {
            candidates: vec![PathBuf::from("/none/a"), PathBuf::from("false")],
        };
        let tried = ffmpeg.any().unwrap_err();
        assert!(
            tried.starts_with("/none/a does not run (") && tried.contains(", false fails with "),
            "{tried}"
        );
        let ffmpeg = Ffmpeg {
            candidates: vec![PathBuf::from("/none/a"), PathBuf::from("echo")],
        };
        assert_eq!(ffmpeg.any(), Ok(Path::new("echo")));
        let tried = ffmpeg.with_vmaf().unwrap_err();
        assert!(tried.ends_with(", echo is without libvmaf"), "{tried}");
    }

    #[test]
    fn the_last_complaint_counts() {
        assert_eq!(last_line("a\n b \n\n"), "b");
        assert_eq!(last_line(" \n"), "it says nothing about it");
    }
}
