//! Where links are found: a socket for each, in a folder of the user's own.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use super::error::CliError;

/// Longest name; a socket's path may have 107 bytes.
const LONGEST_NAME: usize = 40;

/// The folder, which is made if it is not there.
fn folder() -> Result<PathBuf, CliError> {
    let user = rustix::process::geteuid();
    let path = if user.is_root() {
        PathBuf::from("/run/mimosa-link")
    } else if let Some(folder) = std::env::var_os("XDG_RUNTIME_DIR") {
        PathBuf::from(folder).join("mimosa-link")
    } else {
        std::env::temp_dir().join(format!("mimosa-link-{}", user.as_raw()))
    };
    let failed = |source| CliError::Place {
        path: path.clone(),
        source,
    };
    fs::DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(&path)
        .map_err(failed)?;
    let owner = fs::metadata(&path).map_err(failed)?.uid();
    if owner != user.as_raw() {
        let why = "it belongs to another user";
        return Err(failed(std::io::Error::other(why)));
    }
    Ok(path)
}

/// The socket of the link `name`.
pub(super) fn socket(name: &str) -> Result<PathBuf, CliError> {
    check(name)?;
    Ok(folder()?.join(format!("{name}.sock")))
}

fn check(name: &str) -> Result<(), CliError> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-' || *byte == b'_';
    let bytes = name.as_bytes();
    let begins = bytes.first().is_some_and(u8::is_ascii_alphabetic);
    if begins && bytes.len() <= LONGEST_NAME && bytes.iter().all(is_letter) {
        Ok(())
    } else {
        Err(CliError::BadName(name.to_owned()))
    }
}

/// Whether the link `name` answers.
pub(super) fn is_there(name: &str) -> bool {
    socket(name).is_ok_and(|path| UnixStream::connect(path).is_ok())
}

/// The names of all links that answer. What those have left that do not is removed.
pub(super) fn names() -> Result<Vec<String>, CliError> {
    let folder = folder()?;
    let failed = |source| CliError::Place {
        path: folder.clone(),
        source,
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_socket = path.extension().is_some_and(|suffix| suffix == "sock");
        let name = path.file_stem().and_then(|name| name.to_str());
        let Some(name) = name.filter(|_| is_socket) else {
            continue;
        };
        match UnixStream::connect(&path) {
            Ok(_) => names.push(name.to_owned()),
            // Another user of this folder may have removed it, too.
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                let _ = fs::remove_file(&path);
            }
            Err(_) => {}
        }
    }
    names.sort();
    Ok(names)
}

/// The link that is meant: `name`, or the only one.
pub(super) fn chosen(name: Option<&str>) -> Result<String, CliError> {
    let mut names = names()?;
    let Some(name) = name else {
        return match names.len() {
            1 => Ok(names.remove(0)),
            0 => Err(CliError::NoLinks),
            _ => Err(CliError::WhichLink(names.join(", "))),
        };
    };
    check(name)?;
    if names.iter().any(|known| known == name) {
        return Ok(name.to_owned());
    }
    let known = if names.is_empty() {
        "there is none at all".to_owned()
    } else {
        format!("there is {}", names.join(", "))
    };
    Err(CliError::NoLink {
        name: name.to_owned(),
        known,
    })
}
