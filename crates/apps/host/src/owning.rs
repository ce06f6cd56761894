//! What the host's owner sees and changes from the page. Where settings are kept is the program's business,
//! which hands the host how to read and change them.

use serde::{Deserialize, Serialize};

use crate::devices::Device;
use crate::sessions::Listed;
use crate::updates::Newer;

/// A setting, as the owner sees it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Setting {
    /// The key's name.
    pub name: &'static str,
    /// The heading above the key.
    pub group: &'static str,
    /// What the key does, in one line.
    pub comment: &'static str,
    /// What the value must be.
    pub must: &'static str,
    /// The default, as a flag takes it.
    pub default: &'static str,
    /// The value that the next start uses, as a flag takes it.
    pub value: String,
    /// Where the value comes from, if it is neither the default nor the file: the name of a flag or of an
    /// environment variable, which wins over the file.
    pub fixed_by: Option<String>,
    /// Whether the host that runs has another value.
    pub waits: bool,
}

/// How the host's owner reads and changes settings.
pub trait Owning: Send + Sync {
    /// The settings of the next start.
    ///
    /// # Errors
    ///
    /// Why they cannot be read, in words.
    fn settings(&self) -> Result<Vec<Setting>, String>;

    /// Changes the setting of this name in the file.
    ///
    /// # Errors
    ///
    /// Why it is not changed, and what to write instead, in words.
    fn change(&self, name: &str, value: &str) -> Result<(), String>;

    /// What another machine's camera reads, of the URLs for playing; `None` if no other machine can open
    /// any.
    fn invite(&self, urls: &[String]) -> Option<Invitation>;
}

/// A URL for other machines.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Invitation {
    /// The URL, with a token.
    pub url: String,
    /// The URL as a QR code: rows of `0` and `1`, which is dark, without a margin.
    pub code: Vec<String>,
}

/// What the owner is told: the answer to `GET /api/own`.
#[derive(Serialize)]
pub(crate) struct Told {
    /// The settings that can be changed.
    pub(crate) settings: Vec<Setting>,
    /// Why the settings cannot be read.
    pub(crate) trouble: Option<String>,
    /// Who is connected.
    pub(crate) sessions: Vec<Listed>,
    /// The devices that have paired; `None` if none can.
    pub(crate) devices: Option<Vec<KnownDevice>>,
    /// Whether the host shows PINs.
    pub(crate) pairs: bool,
    /// The PIN that is good now.
    pub(crate) pin: Option<Shown>,
    /// The URL for other machines.
    pub(crate) invitation: Option<Invitation>,
    /// A version that is newer than this host's, where the settings name somebody to ask.
    pub(crate) update: Option<Newer>,
}

/// A device that has paired, without its token.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub(crate) struct KnownDevice {
    name: String,
    role: mimosa_protocol::pairing::Allowed,
    /// Seconds since 1970.
    paired: u64,
}

impl From<&Device> for KnownDevice {
    fn from(device: &Device) -> Self {
        Self {
            name: device.name.clone(),
            role: device.role,
            paired: device.paired,
        }
    }
}

/// A PIN, and for how many seconds it is good.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Shown {
    pub(crate) pin: String,
    pub(crate) seconds: f64,
}

/// What the owner asks: the body of `POST /api/own`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub(crate) enum Wish {
    /// Change a setting in the file.
    Setting { name: String, value: String },
    /// Take back what a device may do.
    Revoke { name: String },
    /// Give a device another name.
    Rename { name: String, to: String },
    /// End the session with this number.
    End { number: u64 },
    /// Show a PIN.
    Pin {},
}

impl Setting {
    /// The settings that can be changed, as `listed` says they will be, beside those that are `running`.
    #[must_use]
    pub fn all(
        listed: &[mimosa_settings::Listed],
        running: &[mimosa_settings::Listed],
    ) -> Vec<Self> {
        let one = |listed: &mimosa_settings::Listed| {
            let key = listed.key;
            let now = running.iter().find(|other| other.key.name == key.name);
            let fixed_by = match &listed.origin {
                mimosa_settings::Origin::Flag(name) | mimosa_settings::Origin::Variable(name) => {
                    Some(name.clone())
                }
                mimosa_settings::Origin::Default | mimosa_settings::Origin::File(_) => None,
            };
            Self {
                name: key.name,
                group: key.group,
                comment: key.comment,
                must: key.must,
                default: key.default,
                value: listed.value.clone(),
                fixed_by,
                waits: now.is_some_and(|now| now.value != listed.value),
            }
        };
        listed.iter().map(one).collect()
    }
}
