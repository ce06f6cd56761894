//! Finds links by their sockets, which are in a folder of the user.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::CliError;
use crate::lock::lock;

/// Longest name of a link, because a socket's path may have 107 bytes.
const LONGEST_NAME: usize = 40;
/// How many times, and after which pause, a claim to a name is repeated: a command that removes
/// what a killed link has left holds its lock for less than a millisecond.
const CLAIMS: usize = 5;
const PAUSE: Duration = Duration::from_millis(10);
/// Rights of others than a file's owner: those of its group, and of all users.
const OTHERS: u32 = 0o077;

/// The folder of the links' sockets, which is made if it is not there.
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
    // The metadata of the path itself: a symbolic link may lead to another user's folder.
    let found = fs::symlink_metadata(&path).map_err(failed)?;
    match objection(&found, user.as_raw()) {
        Some(why) => Err(failed(std::io::Error::other(why))),
        None => Ok(path),
    }
}

/// Why a folder cannot hold the sockets of the user with this number: another user could put
/// sockets into it, or have files removed.
fn objection(folder: &fs::Metadata, user: u32) -> Option<&'static str> {
    if !folder.is_dir() {
        Some("it is no folder; remove it")
    } else if folder.uid() != user {
        Some("it belongs to another user; set XDG_RUNTIME_DIR to a folder of your own")
    } else if folder.mode() & OTHERS != 0 {
        Some("others may use it; `chmod 700` it")
    } else {
        None
    }
}

/// Path of the socket of the link `name`.
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

/// A claim to a link's name, which no other link can take while this value exists.
pub(super) struct Claim {
    socket: PathBuf,
    lock: PathBuf,
    _locked: File,
}

impl Claim {
    /// Path of the socket at which the link answers.
    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // A process that waits for the lock sees that the file is gone, and makes another.
        let _ = fs::remove_file(&self.lock);
    }
}

/// Claims the name of a new link, and removes what a killed link of that name has left.
pub(super) fn claim(name: &str) -> Result<Claim, CliError> {
    let socket = socket(name)?;
    for _ in 0..CLAIMS {
        if let Some(claim) = vacant(&socket)? {
            return Ok(claim);
        }
        std::thread::park_timeout(PAUSE);
    }
    Err(CliError::NameTaken(name.to_owned()))
}

/// Claims a socket at which no link answers, and removes it; `None` if a link answers, or is about
/// to.
fn vacant(socket: &Path) -> Result<Option<Claim>, CliError> {
    let lock_path = socket.with_extension("lock");
    let failed = |source| CliError::Place {
        path: lock_path.clone(),
        source,
    };
    let Some(locked) = lock(&lock_path).map_err(failed)? else {
        return Ok(None);
    };
    let claim = Claim {
        socket: socket.to_owned(),
        lock: lock_path.clone(),
        _locked: locked,
    };
    match UnixStream::connect(socket) {
        Ok(_) => return Ok(None),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(socket).map_err(failed)?;
        }
        Err(_) => {}
    }
    Ok(Some(claim))
}

/// Whether there is a link `name`, or one is about to start.
pub(super) fn is_there(name: &str) -> bool {
    socket(name).is_ok_and(|socket| {
        UnixStream::connect(&socket).is_ok() || vacant(&socket).is_ok_and(|claim| claim.is_none())
    })
}

/// Names of all links that answer. Removes what links that do not answer have left.
pub(super) fn names() -> Result<Vec<String>, CliError> {
    names_in(&folder()?)
}

fn names_in(folder: &Path) -> Result<Vec<String>, CliError> {
    let failed = |source| CliError::Place {
        path: folder.to_owned(),
        source,
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|suffix| suffix == "lock") {
            // The lock of a link that was killed before it answered, unless a process holds it.
            let _ = vacant(&path.with_extension("sock"));
            continue;
        }
        let is_socket = path.extension().is_some_and(|suffix| suffix == "sock");
        let name = path.file_stem().and_then(|name| name.to_str());
        let Some(name) = name.filter(|_| is_socket) else {
            continue;
        };
        match UnixStream::connect(&path) {
            Ok(_) => names.push(name.to_owned()),
            // Another process may be removing the socket as well.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                let _ = vacant(&path);
            }
            Err(_) => {}
        }
    }
    names.sort();
    Ok(names)
}

/// The name of the link that is meant: `name`, or that of the only link.
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::output::scratch;

    #[test]
    fn a_folder_of_others_is_refused() {
        let folder = scratch("place");
        let mode = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        let user = rustix::process::geteuid().as_raw();
        let objection = |path: &Path, user| objection(&fs::symlink_metadata(path).unwrap(), user);
        mode(0o700);
        assert_eq!(objection(&folder, user), None);
        assert!(
            objection(&folder, user + 1)
                .unwrap()
                .contains("another user")
        );
        for wide in [0o755, 0o710, 0o702] {
            mode(wide);
            assert!(objection(&folder, user).unwrap().contains("chmod 700"));
        }
        mode(0o700);
        symlink(&folder, folder.join("link")).unwrap();
        assert!(
            objection(&folder.join("link"), user)
                .unwrap()
                .contains("no folder")
        );
    }

    #[test]
    fn a_name_is_claimed_once_and_only_where_nobody_answers() {
        let folder = scratch("claims");
        let socket = folder.join("one.sock");
        let first = vacant(&socket).unwrap().unwrap();
        assert!(vacant(&socket).unwrap().is_none());
        drop(first);
        let listener = UnixListener::bind(&socket).unwrap();
        assert!(vacant(&socket).unwrap().is_none());
        assert!(socket.exists(), "a socket that answers stays");
        drop(listener);
        assert!(vacant(&socket).unwrap().is_some());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn a_list_removes_what_killed_links_have_left_and_nothing_else() {
        let folder = scratch("left");
        let answering = UnixListener::bind(folder.join("answers.sock")).unwrap();
        let starting = vacant(&folder.join("starts.sock")).unwrap().unwrap();
        // One was killed before it answered, the other afterwards.
        fs::write(folder.join("early.lock"), "").unwrap();
        drop(UnixListener::bind(folder.join("late.sock")).unwrap());
        fs::write(folder.join("late.lock"), "").unwrap();
        assert_eq!(names_in(&folder).unwrap(), ["answers"]);
        let left = fs::read_dir(&folder).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["answers.sock", "starts.lock"]);
        drop((answering, starting));
    }
}
