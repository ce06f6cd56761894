//! Reads from cargo what it knows about the packages.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::files::root;

/// A package of the resolved graph.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: Option<String>,
    /// Whether the package is a member of the workspace that was asked about.
    pub(crate) is_member: bool,
    /// The folder of `crates/` with the package; meaningless for foreign packages.
    pub(crate) layer: String,
    pub(crate) dependencies: BTreeSet<Dependency>,
}

/// A dependency as a manifest states it, for the build or for tests.
#[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Whether the dependency is in this repository.
    pub(crate) is_ours: bool,
    /// Whether only tests, examples and benchmarks use the dependency.
    pub(crate) is_for_tests: bool,
}

/// The packages to which `manifest` resolves, for every platform.
///
/// The network is only used if a package was never downloaded.
pub(crate) fn packages(manifest: &str) -> Vec<Package> {
    let json = run(manifest, &["--offline"])
        .or_else(|_| run(manifest, &[]))
        .unwrap_or_else(|error| panic!("cargo metadata fails for {manifest}:\n{error}"));
    let json: Value = serde_json::from_str(&json).expect("cargo metadata writes JSON");
    let members: BTreeSet<_> = list(&json["workspace_members"]).iter().map(text).collect();
    list(&json["packages"])
        .iter()
        .map(|package| Package {
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: package["license"].as_str().map(str::to_owned),
            is_member: members.contains(&text(&package["id"])),
            layer: layer(&text(&package["manifest_path"])),
            dependencies: list(&package["dependencies"])
                .iter()
                .map(|dependency| Dependency {
                    name: text(&dependency["name"]),
                    is_ours: !dependency["path"].is_null(),
                    is_for_tests: dependency["kind"] == "dev",
                })
                .collect(),
        })
        .collect()
}

/// Name of the folder above a manifest's.
fn layer(manifest: &str) -> String {
    let folder = Path::new(manifest).parent().and_then(Path::parent);
    let name = folder.and_then(Path::file_name).unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn run(manifest: &str, arguments: &[&str]) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(arguments)
        .arg("--manifest-path")
        .arg(root().join(manifest))
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}
