//! `mimosa fleet` with a Python of the test's own, and with one that lacks the package. The tests of the
//! Python package run it whole.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::folder;

/// A program that answers `-c` as a Python with everything does, and otherwise does `what`.
fn stand_in(path: &Path, what: &str) {
    let script = format!("#!/bin/sh\nif [ \"$1\" = -c ]; then echo lacks; exit; fi\n{what}\n");
    std::fs::write(path, script).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// `mimosa fleet` in a folder, with the programs of that folder and of the system.
fn fleet(here: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mimosa"));
    command
        .arg("fleet")
        .args(arguments)
        .current_dir(here)
        .env_remove("MIMOSA_PYTHON")
        .env_remove("PYTHONPATH")
        .env(
            "PATH",
            format!("{}:{}", here.display(), std::env::var("PATH").unwrap()),
        );
    command
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_usual_python_gets_the_arguments_and_its_exit_code_is_the_commands() {
    let here = folder("fleet-arguments");
    stand_in(&here.join("python3"), "echo \"$@\"; echo said >&2; exit 7");
    let command = ["run", "a study.toml", "--out", "x", "--workers", "2"];
    let output = fleet(&here, &command).output().unwrap();
    let (told, said) = texts(&output);
    let words = "-m mimosa_lab.fleet run --cluster=local --out=x --workers=2 -- a study.toml\n";
    assert_eq!(
        (output.status.code(), &*told, &*said),
        (Some(7), words, "said\n")
    );
}

#[test]
fn an_option_wins_over_the_environment_and_that_over_the_usual_python() {
    let here = folder("fleet-order");
    for name in ["python3", "named", "optional"] {
        stand_in(&here.join(name), &format!("echo {name}"));
    }
    let ran = |arguments: &[&str], variable: &str| {
        let mut command = fleet(&here, arguments);
        texts(&command.env("MIMOSA_PYTHON", variable).output().unwrap()).0
    };
    let named = here.join("named").display().to_string();
    assert_eq!(ran(&["analyse", "."], ""), "python3\n");
    assert_eq!(ran(&["analyse", "."], &named), "named\n");
    assert_eq!(
        ran(&["analyse", ".", "--python", "./optional"], &named),
        "optional\n"
    );
}

#[test]
fn a_signal_reaches_the_study() {
    let here = folder("fleet-signal");
    // It ends after 20 s should no signal end it.
    let trap = "trap 'echo stopped; exit 143' TERM; echo $$ > pid; mv pid begun\n\
                for _ in $(seq 400); do sleep 0.05; done";
    stand_in(&here.join("python3"), trap);
    let mut command = fleet(&here, &["run", "s.toml"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let begun = here.join("begun");
    while !begun.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        std::thread::park_timeout(Duration::from_millis(10));
    }
    let told = std::fs::read_to_string(begun).unwrap();
    assert_eq!(
        told.trim(),
        child.id().to_string(),
        "the process is replaced"
    );
    let process = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    // A test that runs in the background of a shell ignores SIGINT, and so would all that it starts.
    kill_process(process, Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), output.status.signal()),
        (Some(143), None)
    );
    assert_eq!(texts(&output).0, "stopped\n");
}

/// A Python without packages but those in its own folder, as a new environment has it.
fn bare_python(here: &Path) -> PathBuf {
    let bare = here.join("bare");
    std::fs::write(&bare, "#!/bin/sh\nexec python3 -S \"$@\"\n").unwrap();
    std::fs::set_permissions(&bare, std::fs::Permissions::from_mode(0o755)).unwrap();
    bare
}

/// What `mimosa fleet` says on standard error where it refuses to run with this Python.
fn refusal(here: &Path, python: &Path) -> String {
    let mut command = fleet(here, &["run", "s.toml", "--python"]);
    let output = command.arg(python).output().unwrap();
    let (told, said) = texts(&output);
    assert_eq!((output.status.code(), &*told), (Some(2), ""), "{said}");
    said
}

#[test]
fn what_is_missing_is_said_with_what_to_install() {
    let here = folder("fleet-missing");
    let said = refusal(&here, Path::new("./none"));
    assert!(
        said.contains("./none") && said.contains("apt-get install python3"),
        "{said}"
    );
    let said = refusal(&here, Path::new("/bin/echo"));
    assert!(said.contains("/bin/echo is no Python"), "{said}");
    let said = refusal(&here, &bare_python(&here));
    for part in [
        "lacks the package mimosa_lab",
        "`make wheel`",
        "bare -m pip install",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn sources_without_their_native_part_are_no_package() {
    let here = folder("fleet-sources");
    let package = here.join("mimosa_lab");
    std::fs::create_dir(&package).unwrap();
    std::fs::write(package.join("__init__.py"), "raise ImportError('native')\n").unwrap();
    let python = bare_python(&here);
    assert!(refusal(&here, &python).contains("lacks the package mimosa_lab"));
    std::fs::write(package.join("_native.abi3.so"), "").unwrap();
    for name in ["numpy", "polars"] {
        std::fs::write(here.join(format!("{name}.py")), "").unwrap();
    }
    let mut command = fleet(&here, &["run", "s.toml", "--python"]);
    let output = command.arg(&python).output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(1),
        "Python itself says what is wrong"
    );
    std::fs::remove_file(here.join("polars.py")).unwrap();
    let said = refusal(&here, &python);
    assert!(
        said.contains("lacks polars") && said.contains("pip install polars`"),
        "{said}"
    );
}
