//! Checks what `make dist` packs, with a script in place of the program: the same input gives the
//! same bytes, and the package's files are what Debian, the desktop and systemd expect.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::files::root;

/// A moment to stamp on the files.
const EPOCH: &str = "1700000000";

/// What `command` prints and complains about; `None`, after saying so, where there is no such program.
fn output(command: &mut Command) -> Option<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = match command.output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("skipped: {name} is not installed");
            return None;
        }
        Err(error) => panic!("{name}: {error}"),
    };
    let told = [output.stdout, output.stderr].concat();
    let told = String::from_utf8_lossy(&told).into_owned();
    assert!(output.status.success(), "{command:?}: {told}");
    Some(told)
}

/// A fresh folder for this test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Packs a script that prints its arguments, and returns the files by name.
fn packed(folder: &Path) -> Option<BTreeMap<String, Vec<u8>>> {
    let program = folder.join("mimosa");
    std::fs::write(&program, "#!/bin/sh\necho mimosa \"$@\"\n").expect("a script");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    let dist = folder.join("dist");
    output(
        Command::new("python3")
            .arg(root().join("scripts/dist/pack.py"))
            .args([&program, &dist])
            .args(["--version", "1.2+3", "--epoch", EPOCH, "--fast"]),
    )?;
    let files = std::fs::read_dir(&dist).expect("a folder");
    let files = files.map(|file| {
        let path = file.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        (name.into_owned(), std::fs::read(&path).expect("a file"))
    });
    Some(files.collect())
}

#[test]
fn the_same_program_gives_the_same_packages() {
    let (one, other) = (folder("packed"), folder("packed-elsewhere"));
    let (Some(first), Some(second)) = (packed(&one), packed(&other)) else {
        return;
    };
    let names = [
        "SHA256SUMS",
        "latest.json",
        "mimosa-1.2+3-x86_64-linux.tar.xz",
        "mimosa_1.2+3_amd64.deb",
    ];
    assert!(first.keys().eq(names), "{:?}", first.keys());
    for name in names {
        assert!(first[name] == second[name], "{name} differs");
    }
    assert_eq!(first["latest.json"], b"{\"version\": \"1.2\"}\n");

    let package = one.join("dist/mimosa_1.2+3_amd64.deb");
    let Some(control) = output(Command::new("dpkg-deb").arg("--field").arg(&package)) else {
        return;
    };
    for part in [
        "Package: mimosa\n",
        "Version: 1.2+3\n",
        "Depends: libc6 (>= 2.31), ",
        "Recommends: xvfb, libavcodec61 | libavcodec59",
    ] {
        assert!(control.contains(part), "no {part:?} in:\n{control}");
    }
    let listed = output(Command::new("dpkg-deb").arg("--contents").arg(&package));
    let listed = listed.unwrap_or_default();
    for line in listed.lines() {
        let is_plain = line.contains(" root/root ") && line.contains("2023-11-14 ");
        assert!(is_plain && !line.contains("rwxrwx"), "{line}");
    }
    for file in [
        "bin/mimosa",
        "lib/systemd/user/mimosa.service",
        "lib/udev/rules.d/60-mimosa.rules",
    ] {
        assert!(
            listed.contains(&format!(" ./usr/{file}\n")),
            "no {file} in:\n{listed}"
        );
    }
}

#[test]
fn the_desktop_and_systemd_read_their_files() {
    let packaging = root().join("packaging");
    let desktop = packaging.join("mimosa.desktop");
    let told = output(Command::new("desktop-file-validate").arg(desktop));
    assert_eq!(told.unwrap_or_default(), "");
    let unit = std::fs::read_to_string(packaging.join("mimosa.service")).expect("the unit");
    // systemd asks whether the program is there.
    let there = unit.replace("/usr/bin/mimosa serve", "/bin/sh");
    assert_ne!(there, unit);
    let folder = folder("unit");
    let file = folder.join("mimosa.service");
    std::fs::write(&file, there).expect("the unit");
    let told = output(
        Command::new("systemd-analyze")
            .args(["--user", "--man=no", "verify"])
            .arg(&file)
            .env("XDG_RUNTIME_DIR", &folder),
    );
    assert_eq!(told.unwrap_or_default(), "");
}

#[test]
fn the_list_of_what_is_inside_is_made_for_the_features_that_are_built() {
    let read = |file: &str| std::fs::read_to_string(root().join(file)).expect("a script");
    let (script, list) = (read("scripts/dist/build.sh"), read("scripts/dist/sbom.py"));
    let built = script
        .lines()
        .find_map(|line| line.strip_prefix("readonly features="));
    let listed = list
        .lines()
        .find_map(|line| line.strip_prefix("FEATURES = ["));
    let listed = listed
        .expect("a list")
        .trim_end_matches(']')
        .replace('"', "");
    assert_eq!(built.map(|built| built.replace(',', ", ")), Some(listed));
}
