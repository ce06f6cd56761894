//! Puts the built page into the program: the files under `web/dist`, or none when
//! it has not been built.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> std::io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let page = root.join("../../../web/dist");
    println!("cargo::rerun-if-changed={}", page.display());
    let mut files = Vec::new();
    if page.is_dir() {
        collect(&page, &mut files)?;
    }
    files.sort();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let mut table = String::from("&[\n");
    for (index, file) in files.iter().enumerate() {
        println!("cargo::rerun-if-changed={}", file.display());
        // A copy: the page may be built anew while the program is.
        let copy = out.join(format!("page-{index}"));
        fs::copy(file, &copy)?;
        let name = file.strip_prefix(&page).unwrap_or(file);
        let _ = writeln!(
            table,
            "    ({:?}, include_bytes!({:?})),",
            format!("/{}", name.display()),
            copy.display().to_string()
        );
    }
    table.push_str("]\n");
    fs::write(out.join("page.rs"), table)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
