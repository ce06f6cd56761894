//! The devices that have paired, in a file of the user's state folder: `devices.toml`. The file is
//! read anew when it has changed, so that a running host knows what `mimosa devices` did.

use std::fmt::Write;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use mimosa_protocol::pairing::{Allowed, is_name};
use mimosa_system::state;
use serde::Deserialize;

/// Most devices. Our choice: a household with all of its visitors.
const MOST: usize = 100;

/// A device that has paired.
#[derive(Clone, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Identifier of the device: 16 hexadecimal digits.
    pub id: String,
    /// Name of the device, which no other one has.
    pub name: String,
    /// What the device may do.
    pub role: Allowed,
    /// Token of the device: 32 hexadecimal digits.
    pub token: String,
    /// When the device paired, in seconds since 1970.
    pub paired: u64,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Device({})", self.name)
    }
}

/// Why the devices cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum DevicesError {
    /// There is no place for the file.
    #[error("neither XDG_STATE_HOME nor HOME is an absolute path, so that no devices can be kept")]
    NoPlace,
    /// The system's error.
    #[error("the list of devices: {0}")]
    Io(#[from] io::Error),
    /// The file is wrong.
    #[error("the list of devices: {0}; mend the file, or remove it and pair again")]
    Wrong(String),
    /// There is no device of this name.
    #[error("there is no device `{0}`; `mimosa devices` lists them")]
    Unknown(String),
    /// A name is taken or impossible.
    #[error("`{0}` is taken, or no name; write 1 to 40 bytes of visible text")]
    Name(String),
    /// There are as many devices as there may be.
    #[error(
        "{MOST} devices have paired, and no more can; `mimosa devices revoke NAME` removes one"
    )]
    TooMany,
}

/// The list of devices.
#[derive(Clone, Debug)]
pub struct Devices {
    path: PathBuf,
    list: Vec<Device>,
    /// Of the file that was read: its number, size, and time in nanoseconds.
    read: Option<[i128; 3]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    device: Vec<Device>,
}

impl Devices {
    /// The list in its usual place.
    ///
    /// # Errors
    ///
    /// [`DevicesError`] if there is no place, or the file is wrong.
    pub fn open() -> Result<Self, DevicesError> {
        Self::at(&state::path("devices.toml").ok_or(DevicesError::NoPlace)?)
    }

    /// The list at this path.
    ///
    /// # Errors
    ///
    /// As [`Devices::open`].
    pub fn at(path: &Path) -> Result<Self, DevicesError> {
        let mut devices = Self {
            path: path.to_owned(),
            list: Vec::new(),
            read: None,
        };
        devices.look()?;
        Ok(devices)
    }

    /// Reads the file, if it has changed.
    ///
    /// # Errors
    ///
    /// [`DevicesError`] if the file is wrong; the list then is what it was.
    pub fn look(&mut self) -> Result<(), DevicesError> {
        let found = std::fs::metadata(&self.path).ok().map(|found| {
            let time = i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec());
            [found.ino().into(), found.size().into(), time]
        });
        if found != self.read {
            self.list = parse(&state::read(&self.path)?)?;
            self.read = found;
        }
        Ok(())
    }

    /// All devices, the oldest first.
    #[must_use]
    pub fn list(&self) -> &[Device] {
        &self.list
    }

    /// The device with this identifier.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&Device> {
        self.list.iter().find(|device| device.id == id)
    }

    /// Adds a device. If its name is taken, it gets a number after it. Gives its name.
    ///
    /// # Errors
    ///
    /// [`DevicesError`] if there are too many, or the file cannot be written.
    pub fn add(&mut self, mut device: Device) -> Result<String, DevicesError> {
        let wanted = device.name.clone();
        self.change(|list| {
            if list.len() >= MOST {
                return Err(DevicesError::TooMany);
            }
            let is_taken = |name: &str| list.iter().any(|other| other.name == name);
            let mut number = 2;
            while is_taken(&device.name) {
                device.name = format!("{wanted} {number}");
                number += 1;
            }
            let name = device.name.clone();
            list.push(device);
            Ok(name)
        })
    }

    /// Removes a device: its token is good for nothing any more.
    ///
    /// # Errors
    ///
    /// [`DevicesError`] if there is none of this name, or the file cannot be written.
    pub fn revoke(&mut self, name: &str) -> Result<(), DevicesError> {
        self.change(|list| {
            let before = list.len();
            list.retain(|device| device.name != name);
            if list.len() == before {
                return Err(DevicesError::Unknown(name.to_owned()));
            }
            Ok(())
        })
    }

    /// Gives a device another name.
    ///
    /// # Errors
    ///
    /// [`DevicesError`] if there is none of this name, the new one is taken or impossible, or the
    /// file cannot be written.
    pub fn rename(&mut self, name: &str, to: &str) -> Result<(), DevicesError> {
        self.change(|list| {
            if !is_name(to) || list.iter().any(|device| device.name == to) {
                return Err(DevicesError::Name(to.to_owned()));
            }
            let found = list.iter_mut().find(|device| device.name == name);
            let found = found.ok_or_else(|| DevicesError::Unknown(name.to_owned()))?;
            to.clone_into(&mut found.name);
            Ok(())
        })
    }

    fn change<T>(
        &mut self,
        change: impl FnOnce(&mut Vec<Device>) -> Result<T, DevicesError>,
    ) -> Result<T, DevicesError> {
        let mut result = None;
        state::change(&self.path, |text| {
            let mut list = parse(text)?;
            result = Some(change(&mut list)?);
            Ok::<_, DevicesError>(written(&list))
        })?;
        self.look()?;
        result.ok_or_else(|| DevicesError::Wrong("it was not changed".to_owned()))
    }
}

/// The devices in the file's text.
fn parse(text: &str) -> Result<Vec<Device>, DevicesError> {
    let file: File = toml::from_str(text).map_err(|error| {
        // The message quotes no line, which might have a token.
        DevicesError::Wrong(error.message().to_owned())
    })?;
    Ok(file.device)
}

/// The file's text.
fn written(devices: &[Device]) -> String {
    let mut text =
        "# Devices that have paired. `mimosa devices` lists and changes them.\n".to_owned();
    for device in devices {
        // A string of JSON is one of TOML, too: no name has control characters.
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let _ = write!(
            text,
            "\n[[device]]\nid = {}\nname = {}\nrole = {}\ntoken = {}\npaired = {}\n",
            quoted(&device.id),
            quoted(&device.name),
            quoted(device.role.name()),
            quoted(&device.token),
            device.paired,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use mimosa_system::process::Folder;

    use super::*;

    fn device(id: u8, name: &str) -> Device {
        Device {
            id: format!("{id:016x}"),
            name: name.to_owned(),
            role: Allowed::Play,
            token: format!("{id:032x}"),
            paired: 1_700_000_000,
        }
    }

    #[test]
    fn devices_are_kept_renamed_and_revoked() {
        let folder = Folder::create("mimosa-devices").unwrap();
        let path = folder.path().join("devices.toml");
        let mut host = Devices::at(&path).unwrap();
        assert!(host.list().is_empty());
        for (id, name, kept) in [
            (1, "Anna's \"télé\" \\", "Anna's \"télé\" \\"),
            (2, "Phone", "Phone"),
            (3, "Phone", "Phone 2"),
        ] {
            assert_eq!(host.add(device(id, name)).unwrap(), kept);
        }
        // Another process changes the list, and the host notices.
        let mut other = Devices::at(&path).unwrap();
        assert_eq!(other.list(), host.list());
        other.revoke("Phone").unwrap();
        other.rename("Phone 2", "Tablet").unwrap();
        host.look().unwrap();
        assert_eq!(host.find("0000000000000002"), None);
        assert_eq!(host.find("0000000000000003").unwrap().name, "Tablet");
        for (name, to) in [("Phone", "Other"), ("Tablet", "Tablet"), ("Tablet", "")] {
            assert!(other.rename(name, to).is_err(), "{name} {to}");
        }
        assert!(other.revoke("Phone").is_err());
    }

    #[test]
    fn a_wrong_file_shows_no_token_and_keeps_what_was_known() {
        let folder = Folder::create("mimosa-devices").unwrap();
        let path = folder.path().join("devices.toml");
        let mut host = Devices::at(&path).unwrap();
        host.add(device(1, "Phone")).unwrap();
        std::fs::write(&path, "[[device]]\ntoken = secret-secret\n").unwrap();
        let error = host.look().unwrap_err().to_string();
        assert!(!error.contains("secret-secret"), "{error}");
        assert_eq!(host.list().len(), 1);
        assert!(host.revoke("Phone").is_err(), "nothing is overwritten");
    }

    #[test]
    fn there_is_an_end_of_devices() {
        let mut text = Vec::new();
        for id in 0..100 {
            text.push(device(id, &format!("d{id}")));
        }
        let folder = Folder::create("mimosa-devices").unwrap();
        let path = folder.path().join("devices.toml");
        std::fs::write(&path, written(&text)).unwrap();
        let mut host = Devices::at(&path).unwrap();
        assert!(matches!(
            host.add(device(200, "one")),
            Err(DevicesError::TooMany)
        ));
    }
}
