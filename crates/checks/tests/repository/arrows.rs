//! Which crate may use which, tests included.

use crate::metadata::{Dependency, Package, packages};

/// Where a crate stands.
enum Role {
    /// Computes: no clock, no sockets, no threads, no randomness of its own.
    /// Uses these crates of the workspace, and no others.
    Pure(&'static [&'static str]),
    /// Drives the pure ones, and may use every one of them.
    Driver,
    /// Stands alone.
    Alone,
}

/// Every crate of the workspace. A new one needs a line here.
const CRATES: &[(&str, Role)] = &[
    ("mimosa-units", Role::Pure(&[])),
    ("mimosa-control", Role::Pure(&["mimosa-units"])),
    (
        "mimosa-complexity",
        Role::Pure(&["mimosa-units", "mimosa-control", "mimosa-video"]),
    ),
    (
        "mimosa-cc",
        Role::Pure(&["mimosa-units", "mimosa-control", "mimosa-tcp"]),
    ),
    (
        "mimosa-pace",
        Role::Pure(&["mimosa-units", "mimosa-control"]),
    ),
    ("mimosa-fec", Role::Pure(&["mimosa-units"])),
    (
        "mimosa-session",
        Role::Pure(&[
            "mimosa-units",
            "mimosa-control",
            "mimosa-fec",
            "mimosa-pace",
            "mimosa-wire",
        ]),
    ),
    ("mimosa-net", Role::Pure(&["mimosa-units"])),
    (
        "mimosa-emulation",
        Role::Pure(&["mimosa-units", "mimosa-net"]),
    ),
    ("mimosa-link", Role::Driver),
    ("mimosa-realtime", Role::Driver),
    ("mimosa-tcp", Role::Pure(&["mimosa-units"])),
    ("mimosa-trace", Role::Pure(&["mimosa-units"])),
    (
        "mimosa-sim",
        Role::Pure(&[
            "mimosa-units",
            "mimosa-control",
            "mimosa-cc",
            "mimosa-pace",
            "mimosa-session",
            "mimosa-net",
            "mimosa-tcp",
            "mimosa-trace",
        ]),
    ),
    (
        "mimosa-record",
        Role::Pure(&[
            "mimosa-units",
            "mimosa-control",
            "mimosa-session",
            "mimosa-net",
            "mimosa-sim",
            "mimosa-video",
        ]),
    ),
    ("mimosa-plot", Role::Pure(&["mimosa-units"])),
    (
        "mimosa-lab",
        Role::Pure(&[
            "mimosa-units",
            "mimosa-cc",
            "mimosa-session",
            "mimosa-sim",
            "mimosa-plot",
        ]),
    ),
    ("mimosa-wire", Role::Pure(&["mimosa-units", "mimosa-video"])),
    (
        "mimosa-video",
        Role::Pure(&["mimosa-units", "mimosa-control"]),
    ),
    (
        "mimosa-scene",
        Role::Pure(&[
            "mimosa-units",
            "mimosa-video",
            "mimosa-wire",
            "mimosa-quality",
        ]),
    ),
    ("mimosa-quality", Role::Pure(&["mimosa-units"])),
    (
        "mimosa-settings",
        Role::Pure(&["mimosa-units", "mimosa-control", "mimosa-video"]),
    ),
    (
        "mimosa-report",
        Role::Pure(&[
            "mimosa-units",
            "mimosa-control",
            "mimosa-session",
            "mimosa-record",
            "mimosa-plot",
        ]),
    ),
    ("mimosa-gstreamer", Role::Driver),
    ("mimosa-openh264", Role::Driver),
    ("mimosa-svt-av1", Role::Driver),
    ("mimosa-process", Role::Driver),
    ("mimosa-threads", Role::Driver),
    ("mimosa-client", Role::Driver),
    ("mimosa-audio", Role::Driver),
    ("mimosa-avcodec", Role::Driver),
    ("mimosa-window", Role::Driver),
    ("mimosa-x264", Role::Driver),
    ("mimosa-x11", Role::Driver),
    ("mimosa-uinput", Role::Driver),
    ("mimosa-webrtc", Role::Driver),
    ("mimosa-host", Role::Driver),
    ("mimosa", Role::Driver),
    ("mimosa-checks", Role::Alone),
];

/// Crates that reach the outside world: clocks, sockets, threads, terminals and
/// the system's randomness. Only a driver may use them.
const DRIVER_CRATES: &[&str] = &[
    "async-io",
    "async-std",
    "axum",
    "chrono",
    "coarsetime",
    "crossbeam",
    "crossterm",
    "ctrlc",
    "fastrand",
    "futures",
    "getrandom",
    "gstreamer",
    "gstreamer-app",
    "if-addrs",
    "indicatif",
    "io-uring",
    "jiff",
    "libc",
    "mio",
    "nix",
    "openh264-sys2",
    "opus",
    "polling",
    "quanta",
    "quinn",
    "rand",
    "rayon",
    "rustix",
    "sdl3-sys",
    "signal-hook",
    "smol",
    "socket2",
    "str0m",
    "time",
    "tokio",
    "web-time",
    "winapi",
    "x11rb",
    "x264-sys",
    "windows",
    "windows-sys",
];

/// What is wrong with the dependencies of `package`, one line for each.
fn objections(package: &Package) -> Vec<String> {
    let name = &package.name;
    let Some((_, role)) = CRATES.iter().find(|(known, _)| known == name) else {
        return vec![format!(
            "{name} is not in CRATES: add it to {} with what it may use",
            file!()
        )];
    };
    let (allowed, is_pure) = match role {
        Role::Driver => return Vec::new(),
        Role::Pure(allowed) => (*allowed, true),
        Role::Alone => (&[][..], false),
    };
    let mut objections = Vec::new();
    for dependency in &package.dependencies {
        let used = dependency.name.as_str();
        if dependency.is_ours && !allowed.contains(&used) {
            objections.push(format!("{name} may not use {used} (CRATES in {})", file!()));
        }
        if is_pure && DRIVER_CRATES.contains(&used) {
            objections.push(format!(
                "{name} is pure and may not use {used} (DRIVER_CRATES in {})",
                file!()
            ));
        }
    }
    objections
}

#[test]
fn arrows_point_one_way() {
    let packages = packages("Cargo.toml");
    let objections: Vec<_> = packages
        .iter()
        .filter(|package| package.is_member)
        .flat_map(objections)
        .collect();
    assert!(objections.is_empty(), "\n{}", objections.join("\n"));
}

#[test]
fn every_crate_in_the_table_exists() {
    let packages = packages("Cargo.toml");
    for (name, _) in CRATES {
        assert!(
            packages
                .iter()
                .any(|package| package.is_member && package.name == *name),
            "there is no crate {name}: remove it from CRATES in {}",
            file!()
        );
    }
}

#[test]
fn a_wrong_arrow_is_found() {
    let count = |name: &str, used: &[(&str, bool)]| objections(&package(name, used)).len();
    let (ours, others) = (true, false);
    assert_eq!(count("mimosa-cc", &[("mimosa-units", ours)]), 0);
    assert_eq!(count("mimosa-cc", &[("mimosa-pace", ours)]), 1);
    assert_eq!(count("mimosa-cc", &[("libm", others)]), 0);
    assert_eq!(count("mimosa-cc", &[("tokio", others)]), 1);
    assert_eq!(count("mimosa", &[("tokio", others)]), 0);
    assert_eq!(count("mimosa", &[("mimosa-cc", ours)]), 0);
    assert_eq!(count("mimosa-checks", &[("mimosa-units", ours)]), 1);
    assert_eq!(count("mimosa-new", &[]), 1, "it is in no table");
}

fn package(name: &str, used: &[(&str, bool)]) -> Package {
    Package {
        name: name.to_owned(),
        version: "0.0.0".to_owned(),
        licence: None,
        is_member: true,
        dependencies: used
            .iter()
            .map(|&(name, is_ours)| Dependency {
                name: name.to_owned(),
                is_ours,
            })
            .collect(),
    }
}
