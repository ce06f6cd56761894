//! The secret that admits clients to a private X server.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use mimosa_system::process::Folder;

/// The name of the kind of secret, in the X protocol.
const KIND: &str = "MIT-MAGIC-COOKIE-1";
/// The address of an entry that holds for every address (`FamilyWild` of libXau).
const ANY_ADDRESS: u16 = 0xffff;

/// Sixteen random bytes, which the server and its clients know.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct Cookie([u8; 16]);

impl Cookie {
    /// A new cookie; each server has its own.
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0; 16];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// The kind of secret and the secret, as a client presents them.
    pub(crate) fn present(&self) -> (Vec<u8>, Vec<u8>) {
        (KIND.into(), self.0.to_vec())
    }

    /// The contents of an `.Xauthority` file: one entry, which is a number and four texts,
    /// each after its length; numbers are big endian.
    fn entry(&self) -> Vec<u8> {
        let mut entry = ANY_ADDRESS.to_be_bytes().to_vec();
        let address: &[u8] = &[];
        let display: &[u8] = &[];
        for text in [address, display, KIND.as_bytes(), &self.0] {
            let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
            entry.extend(length.to_be_bytes());
            entry.extend(text);
        }
        entry
    }
}

impl std::fmt::Debug for Cookie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cookie(secret)")
    }
}

/// A directory that only this user can read, with the cookie's file. Dropping this value
/// removes it.
#[derive(Debug)]
pub(crate) struct Authority {
    directory: Folder,
    file: PathBuf,
    cookie: Cookie,
}

impl Authority {
    /// Writes a new cookie into a new temporary directory.
    pub(crate) fn create() -> io::Result<Self> {
        let cookie = Cookie::random()?;
        let directory = Folder::create("mimosa-x11")?;
        let authority = Self {
            file: directory.path().join("Xauthority"),
            directory,
            cookie,
        };
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&authority.file)?
            .write_all(&authority.cookie.entry())?;
        Ok(authority)
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    pub(crate) fn cookie(&self) -> &Cookie {
        &self.cookie
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_file_has_the_format_of_xauth() {
        let mut expected = vec![0xff, 0xff, 0, 0, 0, 0, 0, 18];
        expected.extend(b"MIT-MAGIC-COOKIE-1");
        expected.extend([0, 16]);
        expected.extend([7; 16]);
        assert_eq!(Cookie([7; 16]).entry(), expected);
    }

    #[test]
    fn only_this_user_can_look_into_it() {
        let authority = Authority::create().unwrap();
        let directory = authority.directory().to_owned();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&directory), mode(authority.file())), (0o700, 0o600));
        assert_eq!(
            std::fs::read(authority.file()).unwrap(),
            authority.cookie().entry()
        );
        assert!(Cookie::random().unwrap() != *authority.cookie());
        assert_eq!(format!("{:?}", authority.cookie()), "Cookie(secret)");
        drop(authority);
        assert!(!directory.exists());
    }
}
