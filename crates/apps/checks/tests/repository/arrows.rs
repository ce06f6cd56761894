//! Which crate may use which, tests included: the folders of `crates/` are layers, and a
//! layer may use those that stand above it in [`LAYERS`]. [`MEASURED`] has the one exception.

use crate::metadata::{Dependency, Package, packages};

/// A layer, which is a folder of `crates/`.
struct Layer {
    folder: &'static str,
    /// Other layers that the crates of this one may use.
    uses: &'static [&'static str],
    /// Whether the layer's crates only compute: no clocks, no sockets, no threads and no randomness
    /// of their own.
    is_pure: bool,
}

/// Every layer, in the order in which they build on each other.
const LAYERS: &[Layer] = &[
    Layer {
        folder: "core",
        uses: &[],
        is_pure: true,
    },
    Layer {
        folder: "media",
        uses: &["core"],
        is_pure: true,
    },
    Layer {
        folder: "session",
        uses: &["core", "media"],
        is_pure: true,
    },
    Layer {
        folder: "network",
        uses: &["core", "media", "session"],
        is_pure: true,
    },
    Layer {
        folder: "results",
        uses: &["core", "media", "network"],
        is_pure: true,
    },
    Layer {
        folder: "embed",
        uses: &["core", "media", "network", "results"],
        is_pure: true,
    },
    Layer {
        folder: "platform",
        uses: &["core", "media", "session"],
        is_pure: false,
    },
    Layer {
        folder: "apps",
        uses: &["core", "media", "session", "network", "results", "platform"],
        is_pure: false,
    },
];

/// Crates of pure layers that are not pure: each binds one foreign library.
const BINDINGS: &[&str] = &[
    "mimosa-avcodec",
    "mimosa-dynamic",
    "mimosa-gstreamer",
    "mimosa-openh264",
    "mimosa-python",
    "mimosa-svt-av1",
    "mimosa-transport",
    "mimosa-x264",
];

/// Crates of pure layers that are drivers: each starts threads or writes files with the standard
/// library alone. No pure crate may use one.
const DRIVERS: &[&str] = &["mimosa-sweep"];

/// Crates that use none of the others.
const ALONE: &[&str] = &["mimosa-checks"];

/// Crates for tests and benchmarks only, which no program may contain.
const FOR_TESTS: &[&str] = &["mimosa-conformance"];

/// Arrows against the order of the layers, from a crate to another, which only tests and
/// benchmarks may take: they measure the runs of the crate that they test.
const MEASURED: &[(&str, &str)] = &[("mimosa-sim", "mimosa-figures")];

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
    "hyper",
    "hyper-util",
    "if-addrs",
    "indicatif",
    "io-uring",
    "jiff",
    "libc",
    "libloading",
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
    "windows",
    "windows-sys",
];

/// The layer of a member of the workspace, by the folder of its manifest.
fn layer(package: &Package) -> Option<&'static Layer> {
    LAYERS.iter().find(|layer| layer.folder == package.layer)
}

/// The forbidden dependencies of `package`, one in each line. `members` are the crates of the
/// workspace.
fn objections(package: &Package, members: &[Package]) -> Vec<String> {
    let name = package.name.as_str();
    let Some(layer) = layer(package) else {
        return vec![format!(
            "{name} lies in crates/{}, which is no layer: add it to LAYERS in {}",
            package.layer,
            file!()
        )];
    };
    let is_pure = layer.is_pure && !BINDINGS.contains(&name) && !DRIVERS.contains(&name);
    let mut objections = Vec::new();
    for dependency in &package.dependencies {
        let used = dependency.name.as_str();
        let member = members.iter().find(|member| member.name == used);
        if let Some(member) = member.filter(|_| dependency.is_ours) {
            let below = member.layer.as_str();
            let is_measured = dependency.is_for_tests && MEASURED.contains(&(name, used));
            let is_allowed = below == layer.folder || layer.uses.contains(&below) || is_measured;
            if !is_allowed || ALONE.contains(&name) {
                objections.push(format!(
                    "{name} of crates/{} may not use {used} of crates/{below} (LAYERS in {})",
                    layer.folder,
                    file!()
                ));
            }
        }
        if FOR_TESTS.contains(&used) && !dependency.is_for_tests {
            objections.push(format!(
                "{name} may use {used} only as a dev-dependency (FOR_TESTS in {})",
                file!()
            ));
        }
        for (table, drivers) in [("DRIVER_CRATES", DRIVER_CRATES), ("DRIVERS", DRIVERS)] {
            if is_pure && drivers.contains(&used) {
                objections.push(format!(
                    "{name} is pure and may not use {used} ({table} in {})",
                    file!()
                ));
            }
        }
    }
    objections
}

fn members() -> Vec<Package> {
    let all = packages("Cargo.toml").into_iter();
    all.filter(|package| package.is_member).collect()
}

#[test]
fn arrows_point_one_way() {
    let members = members();
    let objections: Vec<_> = members
        .iter()
        .flat_map(|package| objections(package, &members))
        .collect();
    assert!(objections.is_empty(), "\n{}", objections.join("\n"));
}

#[test]
fn every_crate_in_the_tables_exists() {
    let members = members();
    let measured = MEASURED.iter().flat_map(|(from, to)| [from, to]);
    for name in BINDINGS
        .iter()
        .chain(DRIVERS)
        .chain(ALONE)
        .chain(FOR_TESTS)
        .chain(measured)
    {
        assert!(
            members.iter().any(|package| package.name == *name),
            "there is no crate {name}: remove it from {}",
            file!()
        );
    }
}

#[test]
fn a_wrong_arrow_is_found() {
    let members = [
        package("units", "core", &[]),
        package("net", "network", &[]),
        package("host", "apps", &[]),
    ];
    let count = |name: &str, layer: &str, used: &[(&str, bool)]| {
        objections(&package(name, layer, used), &members).len()
    };
    let (ours, others) = (true, false);
    assert_eq!(count("cc", "core", &[("units", ours)]), 0);
    assert_eq!(count("cc", "core", &[("net", ours)]), 1);
    assert_eq!(
        count("sim", "network", &[("net", ours), ("units", ours)]),
        0
    );
    assert_eq!(count("record", "results", &[("host", ours)]), 1);
    assert_eq!(count("lab", "results", &[("mimosa-sweep", ours)]), 1);
    assert_eq!(count("host", "apps", &[("mimosa-sweep", ours)]), 0);
    assert_eq!(count("mimosa-sweep", "results", &[("net", ours)]), 0);
    assert_eq!(count("mimosa-sweep", "results", &[("host", ours)]), 1);
    assert_eq!(count("cc", "core", &[("libm", others)]), 0);
    assert_eq!(count("cc", "core", &[("tokio", others)]), 1);
    assert_eq!(
        count("mimosa-transport", "session", &[("str0m", others)]),
        0
    );
    assert_eq!(count("cli", "apps", &[("tokio", others), ("net", ours)]), 0);
    assert_eq!(count("mimosa-checks", "apps", &[("units", ours)]), 1);
    assert_eq!(count("new", "elsewhere", &[]), 1, "it lies in no layer");
    let mut encoder = package("x264", "media", &[("mimosa-conformance", ours)]);
    assert_eq!(objections(&encoder, &members).len(), 1, "not in a program");
    encoder.dependencies = [Dependency {
        name: "mimosa-conformance".to_owned(),
        is_ours: true,
        is_for_tests: true,
    }]
    .into();
    assert_eq!(objections(&encoder, &members).len(), 0);
    let members = [package("mimosa-figures", "results", &[])];
    let mut simulator = package("mimosa-sim", "network", &[("mimosa-figures", ours)]);
    assert_eq!(objections(&simulator, &members).len(), 1, "only tests may");
    simulator.dependencies = [Dependency {
        name: "mimosa-figures".to_owned(),
        is_ours: true,
        is_for_tests: true,
    }]
    .into();
    assert_eq!(objections(&simulator, &members).len(), 0);
}

fn package(name: &str, layer: &str, used: &[(&str, bool)]) -> Package {
    Package {
        name: name.to_owned(),
        version: "0.0.0".to_owned(),
        licence: None,
        is_member: true,
        layer: layer.to_owned(),
        dependencies: used
            .iter()
            .map(|&(name, is_ours)| Dependency {
                name: name.to_owned(),
                is_ours,
                is_for_tests: false,
            })
            .collect(),
    }
}
