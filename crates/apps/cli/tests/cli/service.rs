//! `mimosa service` with a `systemctl` of the test's own.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::folder;

/// A home in which `systemctl` writes down its arguments and fails where the file `broken` is.
struct Home(PathBuf);

impl Home {
    fn new(name: &str) -> Self {
        let home = folder(name);
        let program = home.join("systemctl");
        let script = "#!/bin/sh\necho \"$@\" >> \"$HOME/calls\"\n\
                      [ ! -e \"$HOME/broken\" ] || { echo no bus >&2; exit 1; }\n\
                      case $2 in is-*) echo really ;; esac\n";
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self(home)
    }

    fn service(&self, action: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_mimosa"))
            .args(["service", action])
            .env("HOME", &self.0)
            .env_remove("XDG_CONFIG_HOME")
            .env("PATH", format!("{}:/bin:/usr/bin", self.0.display()))
            .output()
            .unwrap()
    }

    fn succeeds(&self, action: &str) -> String {
        let output = self.service(action);
        assert!(output.status.success(), "{action}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn refusal(&self, action: &str) -> String {
        let output = self.service(action);
        assert_eq!(output.status.code(), Some(2), "{action}: {output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    fn unit(&self) -> PathBuf {
        self.0.join(".config/systemd/user/mimosa.service")
    }

    /// What systemctl was called with since the last time.
    fn calls(&self) -> Vec<String> {
        let file = self.0.join("calls");
        let calls = std::fs::read_to_string(&file).unwrap_or_default();
        let _ = std::fs::remove_file(file);
        calls.lines().map(str::to_owned).collect()
    }
}

#[test]
fn a_service_is_installed_twice_and_removed_twice() {
    let home = Home::new("service");
    for _ in 0..2 {
        let said = home.succeeds("install");
        assert!(
            said.contains("journalctl --user -u mimosa.service"),
            "{said}"
        );
        let unit = std::fs::read_to_string(home.unit()).unwrap();
        let start = format!("ExecStart=\"{}\" serve\n", env!("CARGO_BIN_EXE_mimosa"));
        assert!(unit.contains(&start), "{unit}");
        let calls = [
            "--user daemon-reload",
            "--user daemon-reload",
            "--user enable mimosa.service",
            "--user restart mimosa.service",
        ];
        assert_eq!(home.calls(), calls);
    }
    let said = home.succeeds("status");
    assert!(
        said.contains("is there\nat log-in: really\nnow: really\n"),
        "{said}"
    );
    home.calls();
    assert!(home.succeeds("uninstall").contains("is removed"));
    let calls = [
        "--user disable --now mimosa.service",
        "--user daemon-reload",
    ];
    assert_eq!(home.calls(), calls);
    assert!(!home.unit().exists());
    assert!(home.succeeds("uninstall").contains("is not there"));
    assert_eq!(home.calls(), [""; 0]);
}

#[test]
fn the_service_of_somebody_else_stays() {
    let home = Home::new("service-foreign");
    std::fs::create_dir_all(home.unit().parent().unwrap()).unwrap();
    std::fs::write(home.unit(), "[Service]\n").unwrap();
    for action in ["install", "uninstall"] {
        let errors = home.refusal(action);
        assert!(errors.contains("did not write it"), "{action}: {errors}");
    }
    assert_eq!(std::fs::read_to_string(home.unit()).unwrap(), "[Service]\n");
    assert_eq!(home.calls(), [""; 0]);
}

#[test]
fn without_systemd_nothing_is_written() {
    let home = Home::new("service-no-systemd");
    std::fs::write(home.0.join("broken"), "").unwrap();
    let errors = home.refusal("install");
    assert!(
        errors.contains("daemon-reload`: no bus") && errors.contains("`mimosa serve`"),
        "{errors}"
    );
    assert!(!home.0.join(".config").exists());
}
