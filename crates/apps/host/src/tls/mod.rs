//! HTTPS: which certificate the host shows, and when that is replaced.
//!
//! The host has either the certificate of its owner ([`given`]) or one that it makes for itself
//! ([`own`]). Both can change while the host runs, and are looked at every few seconds. Beside its own it may have
//! one that an authority gives it ([`acme`]).

mod acme;
mod given;
mod own;

use std::collections::BTreeSet;
use std::io;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mimosa_settings::{Advertised, PublicHost, Settings, TlsMode};
use mimosa_system::clock;
use mimosa_tls::{About, KeyHash, Name, OwnKeyError, PairError, RENEWAL, Slot, server_config};
use tokio_rustls::TlsAcceptor;

use self::acme::Acme;
pub(crate) use self::acme::Answers;
use self::given::Given;
use self::own::Own;
use crate::machine;

/// How often files and addresses are looked at. Our choice: a certificate that was renewed is shown
/// within that, and a look is a few system calls.
const LOOK: Duration = Duration::from_secs(5);

/// Why there is no HTTPS.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file of the owner's cannot be read.
    #[error("cannot read {}: {error}; name another with --{flag}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The flag that names the file.
        flag: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// The owner's certificate and its key are not good.
    #[error("{} with {}: {error}", certificate.display(), key.display())]
    Given {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// Reason for the error.
        error: PairError,
    },
    /// The host's own key is there, and cannot be read.
    #[error("cannot read the host's own key {}: {error}; let this user read it", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The host's own key is damaged.
    #[error(
        "{}: {error}; put back what was there, or remove it: the host then makes another, and clients that know the old one refuse it",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Reason for the error.
        error: OwnKeyError,
    },
    /// No key or no certificate can be made.
    #[error(transparent)]
    Make(#[from] OwnKeyError),
    /// The library refuses.
    #[error("TLS cannot be set up: {0}")]
    Library(#[from] mimosa_tls::LibraryError),
}

/// The certificate that a host would show.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Certificate {
    /// None: nothing is encrypted.
    None,
    /// One that the host makes at its next start.
    NotYetMade {
        /// Where it is kept; `None`: it lasts until the host stops.
        folder: Option<PathBuf>,
    },
    /// One that the host has made.
    Own {
        /// Names and dates of the certificate.
        about: About,
        /// The key by which clients know the host.
        key: KeyHash,
    },
    /// The owner's.
    Given {
        /// Names and dates of the certificate.
        about: About,
        /// Whether it ends within a month.
        ends_soon: bool,
    },
}

/// The certificate that a host with these settings would show now. Nothing is made or changed.
///
/// # Errors
///
/// [`TlsError`] for which the host would not start.
pub fn certificate(settings: &Settings) -> Result<Certificate, TlsError> {
    if !is_needed(settings) {
        return Ok(Certificate::None);
    }
    if let Some(files) = &settings.tls.files {
        let now = clock::date();
        let (_, pair) = Given::open(files, now)?;
        let about = pair.about().clone();
        let ends_soon = now + RENEWAL >= about.until;
        return Ok(Certificate::Given { about, ends_soon });
    }
    let folder = own::folder();
    Ok(match own::kept(folder.as_deref())? {
        Some(pair) => Certificate::Own {
            about: pair.about().clone(),
            key: pair.key_hash(),
        },
        None => Certificate::NotYetMade { folder },
    })
}

/// What has come of the names for which an authority is to give a certificate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FromAuthority {
    /// A certificate that is good for all of them.
    Kept(About),
    /// None, or one that is not good: the host asks for one at its next start.
    NotYet,
    /// None, and there is no folder to keep one in.
    NoFolder,
}

/// What a host with these settings would show by name now; `None` where no authority is to be asked. Nothing is made,
/// changed or fetched.
#[must_use]
pub fn from_authority(settings: &Settings) -> Option<FromAuthority> {
    let acme = settings.tls.acme.as_ref().filter(|_| is_needed(settings))?;
    let Some(folder) = own::folder() else {
        return Some(FromAuthority::NoFolder);
    };
    let pair = acme::kept(&folder, acme, clock::date());
    Some(pair.map_or(FromAuthority::NotYet, |pair| {
        FromAuthority::Kept(pair.about().clone())
    }))
}

/// HTTPS with the certificate of the moment.
pub(crate) struct Tls {
    /// Which connections have to be encrypted.
    pub(crate) door: Door,
    /// The key by which clients know the host, if its certificate is its own.
    pub(crate) key: Option<KeyHash>,
    /// What an authority is answered by HTTP.
    pub(crate) answers: Arc<Answers>,
    acme: Option<Acme>,
    watch: Watch,
}

/// What connections need to come in.
#[derive(Clone)]
pub(crate) struct Door {
    /// What makes the handshakes.
    pub(crate) acceptor: TlsAcceptor,
    /// Whether connections from this machine have to be encrypted as well.
    is_everywhere: bool,
}

impl Door {
    /// A door for all connections, or for those from other machines.
    pub(crate) const fn new(acceptor: TlsAcceptor, is_everywhere: bool) -> Self {
        Self {
            acceptor,
            is_everywhere,
        }
    }

    /// Whether connections from this address may be plain.
    pub(crate) fn takes_plain(&self, from: IpAddr) -> bool {
        !self.is_everywhere && from.to_canonical().is_loopback()
    }
}

impl Tls {
    /// HTTPS as the settings want it, also at the address `beyond` of a router that forwards to the host; `None` if
    /// nothing is encrypted.
    ///
    /// # Errors
    ///
    /// [`TlsError`] if there is no certificate.
    pub(crate) fn start(
        settings: &Settings,
        beyond: Option<IpAddr>,
    ) -> Result<Option<Self>, TlsError> {
        if !is_needed(settings) {
            return Ok(None);
        }
        let (source, pair) = if let Some(files) = &settings.tls.files {
            let (given, pair) = Given::open(files, clock::date())?;
            (Source::Given(given), pair)
        } else {
            let advertised = settings.advertise.iter().filter_map(name);
            let advertised: Vec<_> = advertised.chain(beyond.map(Name::Address)).collect();
            let own = Own::open(own::folder(), &names(&advertised), clock::date())?;
            let pair = own.pair().clone();
            (Source::Own(Box::new(own), advertised), pair)
        };
        let is_own = matches!(source, Source::Own(..));
        let key = is_own.then(|| pair.key_hash());
        let slot = Slot::new(pair);
        let answers = Arc::new(Answers::default());
        let acme = settings.tls.acme.clone().and_then(|acme| {
            let folder = own::folder();
            if folder.is_none() {
                tracing::warn!(
                    "no certificate is fetched: neither HOME nor XDG_STATE_HOME is an absolute path"
                );
            }
            let (slot, answers) = (Arc::clone(&slot), Arc::clone(&answers));
            Some(Acme::open(acme, folder?, slot, answers))
        });
        let config = server_config(Arc::clone(&slot))?;
        Ok(Some(Self {
            answers,
            acme,
            door: Door::new(TlsAcceptor::from(config), settings.tls.mode == TlsMode::On),
            key,
            watch: Watch { slot, source },
        }))
    }

    /// Whether an authority is asked for a certificate of this name.
    pub(crate) fn is_vouched_for(&self, host: &str) -> bool {
        self.acme.as_ref().is_some_and(|acme| acme.is_for(host))
    }

    /// Replaces the certificates whenever that is due. Never completes.
    pub(crate) async fn watch(self) {
        let mut watch = self.watch;
        if let Some(acme) = self.acme {
            tokio::spawn(acme.run());
        }
        loop {
            tokio::time::sleep(LOOK).await;
            watch.look();
        }
    }
}

/// Where the certificate comes from.
enum Source {
    /// The host makes it, also for these names of places that it advertises.
    Own(Box<Own>, Vec<Name>),
    Given(Given),
}

/// The certificate, and where the next one comes from.
struct Watch {
    slot: Arc<Slot>,
    source: Source,
}

impl Watch {
    fn look(&mut self) {
        let now = clock::date();
        let changed = match &mut self.source {
            Source::Own(own, advertised) => own.renewed(&names(advertised), now),
            Source::Given(given) => given.changed(now),
        };
        match changed {
            Ok(None) => {}
            Ok(Some(pair)) => {
                let until = mimosa_tls::day(pair.about().until);
                tracing::info!(until, "a new certificate is shown");
                self.slot.replace(pair);
            }
            Err(error) => tracing::warn!(%error, "the certificate stays as it was"),
        }
    }
}

/// Whether these settings encrypt anything.
fn is_needed(settings: &Settings) -> bool {
    match settings.tls.mode {
        TlsMode::On => true,
        TlsMode::Off => false,
        TlsMode::Auto => !settings.bind.iter().all(IpAddr::is_loopback),
    }
}

/// What a certificate calls a place that the host advertises.
fn name(place: &Advertised) -> Option<Name> {
    match &place.host {
        PublicHost::Address(address) => Some(Name::Address(*address)),
        PublicHost::Name(name) => Name::new(name),
    }
}

/// The names for which the host's own certificate is good: the machine's, and those `advertised`.
fn names(advertised: &[Name]) -> BTreeSet<Name> {
    let names = machine::names().into_iter();
    let names = names.chain(["localhost".to_owned()]);
    let names = names.filter_map(|name| Name::new(&name));
    let addresses = machine::lasting_addresses().into_iter().map(Name::Address);
    let advertised = advertised.iter().cloned();
    names.chain(addresses).chain(advertised).collect()
}
