//! The host's own key and certificate, which it keeps in the folder of its state.
//!
//! The key is made once and kept: clients know the host by it. The certificate is made anew before
//! it ends, and when the machine has a name or an address that it lacks.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use mimosa_tls::{Name, OwnKey, Pair, is_due};

use super::TlsError;
use crate::private;

const KEY: &str = "tls-key.pem";
const CERTIFICATE: &str = "tls-certificate.pem";

/// The host's own key with the certificate of the moment.
pub(super) struct Own {
    /// Where both are kept; `None` if that is nowhere.
    folder: Option<PathBuf>,
    key: OwnKey,
    pair: Pair,
}

impl Own {
    /// Reads both from this folder, or makes what is not there or is due. What cannot be kept lasts
    /// until the host stops, and a warning says so.
    ///
    /// # Errors
    ///
    /// [`TlsError`] if there is a key that cannot be used, or none can be made.
    pub(super) fn open(
        folder: Option<PathBuf>,
        names: &BTreeSet<Name>,
        now: SystemTime,
    ) -> Result<Self, TlsError> {
        let key = match kept_key(folder.as_deref())? {
            Some(key) => key,
            None => new_key(folder.as_deref())?,
        };
        let kept = kept_certificate(folder.as_deref(), &key);
        let (pair, is_new) = match kept.filter(|pair| !is_due(pair.about(), names, now)) {
            Some(pair) => (pair, false),
            None => (key.certificate(names, now)?, true),
        };
        let own = Self { folder, key, pair };
        if is_new {
            own.keep();
        }
        Ok(own)
    }

    /// The certificate of the moment.
    pub(super) const fn pair(&self) -> &Pair {
        &self.pair
    }

    /// A new certificate, if one is due at `now` for these names.
    ///
    /// # Errors
    ///
    /// [`TlsError::Make`] if none can be made.
    pub(super) fn renewed(
        &mut self,
        names: &BTreeSet<Name>,
        now: SystemTime,
    ) -> Result<Option<Pair>, TlsError> {
        if !is_due(self.pair.about(), names, now) {
            return Ok(None);
        }
        self.pair = self.key.certificate(names, now)?;
        self.keep();
        Ok(Some(self.pair.clone()))
    }

    /// Writes the certificate.
    fn keep(&self) {
        let Some(folder) = &self.folder else { return };
        let path = folder.join(CERTIFICATE);
        if let Err(error) = write(&path, self.pair.to_pem().as_bytes(), Existing::Replaced) {
            tracing::warn!("cannot write {}: {error}", path.display());
        }
    }
}

/// The folder of the host's state, from `$XDG_STATE_HOME`, which counts only as an absolute path
/// (XDG Base Directory Specification), and `$HOME`.
pub(super) fn folder() -> Option<PathBuf> {
    let variable = std::env::var_os;
    folder_in(variable("XDG_STATE_HOME"), variable("HOME"))
}

fn folder_in(state: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let state = state
        .and_then(absolute)
        .or_else(|| Some(home.and_then(absolute)?.join(".local/state")))?;
    Some(state.join("mimosa"))
}

/// The certificate in this folder with its key, if both are there and fit.
///
/// # Errors
///
/// [`TlsError`] if there is a key that cannot be used.
pub(super) fn kept(folder: Option<&Path>) -> Result<Option<Pair>, TlsError> {
    let key = kept_key(folder)?;
    Ok(key.and_then(|key| kept_certificate(folder, &key)))
}

fn kept_key(folder: Option<&Path>) -> Result<Option<OwnKey>, TlsError> {
    let Some(path) = folder.map(|folder| folder.join(KEY)) else {
        return Ok(None);
    };
    match fs::read(&path) {
        Ok(text) => match OwnKey::from_pem(&text) {
            Ok(key) => Ok(Some(key)),
            Err(error) => Err(TlsError::Damaged { path, error }),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(TlsError::Unreadable { path, error }),
    }
}

/// The kept certificate of this key. One that is damaged or of another key is as good as none.
fn kept_certificate(folder: Option<&Path>, key: &OwnKey) -> Option<Pair> {
    let text = fs::read(folder?.join(CERTIFICATE)).ok()?;
    Pair::from_pem(&text, key.to_pem().as_bytes()).ok()
}

/// Makes a key and keeps it. If another host has made one at the same time, that one counts.
fn new_key(folder: Option<&Path>) -> Result<OwnKey, TlsError> {
    let key = OwnKey::generate()?;
    let Some(folder) = folder else {
        tracing::warn!(
            "neither HOME nor XDG_STATE_HOME is an absolute path: the host's key, which is in its URLs, changes at each start"
        );
        return Ok(key);
    };
    let path = folder.join(KEY);
    let written = private::folder(folder)
        .and_then(|()| write(&path, key.to_pem().as_bytes(), Existing::Kept));
    match written {
        Ok(()) => Ok(key),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            Ok(kept_key(Some(folder))?.unwrap_or(key))
        }
        Err(error) => {
            let path = path.display();
            tracing::warn!(
                "cannot write {path}: {error}; the host's key, which is in its URLs, changes at each start"
            );
            Ok(key)
        }
    }
}

/// What happens to a file that is there.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Existing {
    Kept,
    Replaced,
}

/// Writes a file of mode 0600 whole or not at all.
pub(super) fn write(path: &Path, text: &[u8], existing: Existing) -> io::Result<()> {
    let part = path.with_extension(format!("{}.part", std::process::id()));
    // What a host with the same number has left there is nobody's.
    let _ = fs::remove_file(&part);
    let mut file = private::file(&part)?;
    let written = file.write_all(text).and_then(|()| file.sync_all());
    let placed = written.and_then(|()| match existing {
        Existing::Replaced => fs::rename(&part, path),
        // Unlike renaming, linking refuses to replace; not every file system has links.
        Existing::Kept => fs::hard_link(&part, path).or_else(|error| {
            if path.exists() {
                Err(error)
            } else {
                fs::rename(&part, path)
            }
        }),
    });
    // What was renamed is no longer there.
    let _ = fs::remove_file(&part);
    placed
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, UNIX_EPOCH};

    use mimosa_system::process::Folder;
    use mimosa_tls::{RENEWAL, VALIDITY};

    use super::*;

    fn today() -> SystemTime {
        UNIX_EPOCH + Duration::from_hours(20_777 * 24)
    }

    fn names(all: &[&str]) -> BTreeSet<Name> {
        all.iter().map(|text| Name::new(text).unwrap()).collect()
    }

    fn open(folder: &Path, all: &[&str], now: SystemTime) -> Own {
        Own::open(Some(folder.to_owned()), &names(all), now).unwrap()
    }

    #[test]
    fn the_key_outlasts_certificates() {
        let around = Folder::create("mimosa-own").unwrap();
        let folder = around.path().join("state/mimosa");
        assert!(kept(Some(&folder)).unwrap().is_none());
        let first = open(&folder, &["den.local"], today());
        let mode = |name: &str| folder.join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode(KEY) & 0o777, 0o600);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "no parts");
        let mut again = open(&folder, &["den.local"], today() + VALIDITY - 2 * RENEWAL);
        assert_eq!(
            again.pair().to_pem(),
            first.pair().to_pem(),
            "nothing is due"
        );
        let all = names(&["den.local", "192.0.2.1"]);
        let renewed = again.renewed(&all, today()).unwrap().unwrap();
        assert_eq!(renewed.about().names, all);
        assert_eq!(renewed.key_hash(), first.pair().key_hash());
        assert!(again.renewed(&all, today()).unwrap().is_none());
        let late = open(&folder, &["den.local"], today() + VALIDITY);
        assert_ne!(late.pair().about(), renewed.about());
        assert_eq!(late.pair().key_hash(), first.pair().key_hash());
        let kept = kept(Some(&folder)).unwrap().unwrap();
        assert_eq!(kept.about(), late.pair().about());
    }

    #[test]
    fn a_damaged_key_is_named_and_a_damaged_certificate_made_anew() {
        let folder = Folder::create("mimosa-own").unwrap();
        let folder = folder.path();
        let key = open(folder, &["a"], today()).pair().key_hash();
        fs::write(folder.join(CERTIFICATE), "none").unwrap();
        assert_eq!(open(folder, &["a"], today()).pair().key_hash(), key);
        fs::write(folder.join(KEY), "none").unwrap();
        let refused = Own::open(Some(folder.to_owned()), &names(&["a"]), today()).map(|_| ());
        let error = refused.unwrap_err().to_string();
        assert!(
            error.contains(KEY) && error.contains("or remove it"),
            "{error}"
        );
        fs::remove_file(folder.join(KEY)).unwrap();
        assert_ne!(open(folder, &["a"], today()).pair().key_hash(), key);
    }

    #[test]
    fn of_two_hosts_that_begin_at_once_one_makes_the_key() {
        let folder = Folder::create("mimosa-own").unwrap();
        let path = folder.path().join(KEY);
        write(&path, b"one", Existing::Kept).unwrap();
        let error = write(&path, b"other", Existing::Kept).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        write(&path, b"other", Existing::Replaced).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"other");
    }

    #[test]
    fn a_host_without_a_folder_has_a_key_all_the_same() {
        for folder in [None, Some("/proc/mimosa".into())] {
            let own = Own::open(folder, &names(&["a"]), today()).unwrap();
            assert_eq!(own.pair().about().names, names(&["a"]));
        }
    }

    #[test]
    fn the_state_is_where_xdg_says() {
        let folder = |state: Option<&str>, home: Option<&str>| {
            folder_in(state.map(OsString::from), home.map(OsString::from))
        };
        let at = |path: &str| Some(PathBuf::from(path));
        assert_eq!(folder(Some("/x"), Some("/h")), at("/x/mimosa"));
        assert_eq!(folder(Some("x"), Some("/h")), at("/h/.local/state/mimosa"));
        assert_eq!(folder(None, None), None);
    }
}
