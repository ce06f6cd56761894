//! The owner's certificate and key: two files, read again when they change.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::SystemTime;

use mimosa_settings::TlsFiles;
use mimosa_tls::Pair;

use super::TlsError;

/// What tells that a file has changed, as the system knows it: its number, its length, and the
/// second and nanosecond of its last change.
type Stamp = (u64, u64, i64, i64);

/// The owner's files, as they were last looked at.
pub(super) struct Given {
    files: TlsFiles,
    stamps: [Option<Stamp>; 2],
}

impl Given {
    /// Reads the files, and checks that the certificate is good at `now`.
    ///
    /// # Errors
    ///
    /// [`TlsError`] if the host cannot use them.
    pub(super) fn open(files: &TlsFiles, now: SystemTime) -> Result<(Self, Pair), TlsError> {
        let stamps = stamps(files);
        let pair = read(files, now)?;
        let files = files.clone();
        Ok((Self { files, stamps }, pair))
    }

    /// The certificate, if one of the files has changed since the last look.
    ///
    /// # Errors
    ///
    /// [`TlsError`] if the new files cannot be used. They are not read again before they change.
    pub(super) fn changed(&mut self, now: SystemTime) -> Result<Option<Pair>, TlsError> {
        let stamps = stamps(&self.files);
        if stamps == self.stamps {
            return Ok(None);
        }
        self.stamps = stamps;
        read(&self.files, now).map(Some)
    }
}

fn stamps(files: &TlsFiles) -> [Option<Stamp>; 2] {
    let stamp = |about: Metadata| (about.ino(), about.len(), about.mtime(), about.mtime_nsec());
    [&files.certificate, &files.key].map(|path| path.metadata().ok().map(stamp))
}

fn read(files: &TlsFiles, now: SystemTime) -> Result<Pair, TlsError> {
    let text = |path: &Path, flag| {
        std::fs::read(path).map_err(|error| TlsError::Read {
            path: path.to_owned(),
            flag,
            error,
        })
    };
    let certificate = text(&files.certificate, "tls-certificate")?;
    let key = text(&files.key, "tls-key")?;
    let pair = Pair::from_pem(&certificate, &key);
    let pair = pair.and_then(|pair| pair.check(now).map(|()| pair));
    pair.map_err(|error| TlsError::Given {
        certificate: files.certificate.clone(),
        key: files.key.clone(),
        error,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::{Duration, UNIX_EPOCH};

    use mimosa_system::process::Folder;
    use mimosa_tls::{KeyHash, OwnKey, VALIDITY};

    use super::*;

    fn today() -> SystemTime {
        UNIX_EPOCH + Duration::from_hours(20_777 * 24)
    }

    /// Writes a new certificate with its key.
    fn write(files: &TlsFiles) -> KeyHash {
        let key = OwnKey::generate().unwrap();
        let pair = key.certificate(&BTreeSet::new(), today()).unwrap();
        std::fs::write(&files.certificate, pair.to_pem()).unwrap();
        std::fs::write(&files.key, key.to_pem()).unwrap();
        pair.key_hash()
    }

    fn files(folder: &Folder) -> TlsFiles {
        TlsFiles {
            certificate: folder.path().join("host.pem"),
            key: folder.path().join("host.key"),
        }
    }

    #[test]
    fn new_files_are_read_and_broken_ones_left() {
        let folder = Folder::create("mimosa-given").unwrap();
        let files = files(&folder);
        let first = write(&files);
        let (mut given, pair) = Given::open(&files, today()).unwrap();
        assert_eq!(pair.key_hash(), first);
        assert!(given.changed(today()).unwrap().is_none());
        let second = write(&files);
        let pair = given.changed(today()).unwrap().unwrap();
        assert_eq!(pair.key_hash(), second);
        std::fs::write(&files.key, "none").unwrap();
        let error = given.changed(today()).unwrap_err().to_string();
        assert!(
            error.contains("host.key: there is no private key"),
            "{error}"
        );
        assert!(given.changed(today()).unwrap().is_none(), "said once");
        std::fs::remove_file(&files.certificate).unwrap();
        let error = given.changed(today()).unwrap_err().to_string();
        assert!(
            error.contains("host.pem: ") && error.ends_with("name another with --tls-certificate"),
            "{error}"
        );
        let third = write(&files);
        let pair = given.changed(today()).unwrap().unwrap();
        assert_eq!(pair.key_hash(), third);
    }

    #[test]
    fn a_certificate_that_has_ended_is_refused() {
        let folder = Folder::create("mimosa-given").unwrap();
        let files = files(&folder);
        write(&files);
        let refused = Given::open(&files, today() + VALIDITY).map(|_| ());
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("has ended on 2027-12-22"), "{error}");
    }
}
