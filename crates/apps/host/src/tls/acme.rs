//! A certificate that an authority gives for the names of the host's owner: ACME (RFC 8555).
//!
//! The authority looks whether this host answers for each name, by a handshake of TLS at port 443 (TLS-ALPN-01, RFC
//! 8737) or, if that does not reach the host, by a request at port 80 (HTTP-01, RFC 8555, section 8.3). Either has to
//! be forwarded to the host's HTTP port, which takes both. The certificate is shown to whoever names one of the names;
//! everybody else gets the host's own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use instant_acme::{
    Account, AccountCredentials, AuthorizationStatus, ChallengeType, Identifier, NewAccount,
    NewOrder, Order, OrderStatus, Problem, RetryPolicy,
};
use mimosa_settings::AcmeSettings;
use mimosa_system::clock;
use mimosa_tls::{Name, Pair, Slot, challenge};

use super::own::{Existing, write};
use crate::private;

const ACCOUNT: &str = "acme-account.json";
const CERTIFICATE: &str = "acme-certificate.pem";
const KEY: &str = "acme-key.pem";

/// How often a certificate's end is looked at, and how long to wait after a failure. Our choice: Let's Encrypt lets a
/// name fail five times an hour, and each attempt tries two ways.
const LOOK: Duration = Duration::from_hours(1);
/// How long the authority may take to look at a name and to sign. Our choice: Let's Encrypt looks from several
/// places, each for 10 s at most.
const PATIENCE: Duration = Duration::from_mins(1);
/// Most characters of an authority's words in the log. Our choice: a few lines.
const LONGEST: usize = 300;
/// A certificate is replaced when a third of its time is left, as Let's Encrypt recommends.
const LAST_PART: u32 = 3;

/// What an authority asks for by HTTP: what to answer, by token.
#[derive(Debug, Default)]
pub(crate) struct Answers(RwLock<BTreeMap<String, String>>);

impl Answers {
    /// The answer to this token, if an authority has asked for it.
    pub(crate) fn to(&self, token: &str) -> Option<String> {
        let answers = self.0.read().unwrap_or_else(PoisonError::into_inner);
        answers.get(token).cloned()
    }

    fn set(&self, token: &str, answer: &str) {
        let mut answers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        answers.insert(token.to_owned(), answer.to_owned());
    }

    fn forget(&self) {
        let mut answers = self.0.write().unwrap_or_else(PoisonError::into_inner);
        answers.clear();
    }
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
enum AcmeError {
    /// The authority refuses, or cannot be spoken to.
    #[error("{}", whole(.0))]
    Authority(#[from] instant_acme::Error),
    /// The authority has not found this host under a name.
    #[error("{name}: {why}")]
    NotFound { name: String, why: String },
    /// The authority offers no such way to look at a name.
    #[error("{0}: the authority offers no such challenge")]
    NoChallenge(String),
    /// The certificate or its key is no good.
    #[error("what the authority gave is no good: {0}")]
    Pair(#[from] mimosa_tls::PairError),
    /// The answer to a check cannot be made.
    #[error("{0}")]
    Make(#[from] mimosa_tls::OwnKeyError),
    /// The account cannot be kept.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        path: PathBuf,
        error: std::io::Error,
    },
}

/// Fetches certificates.
pub(super) struct Acme {
    settings: AcmeSettings,
    folder: PathBuf,
    slot: Arc<Slot>,
    answers: Arc<Answers>,
    /// The certificate that is shown.
    pair: Option<Pair>,
}

impl Acme {
    /// Shows the certificate that is kept in this folder, if it is good for the names.
    pub(super) fn open(
        settings: AcmeSettings,
        folder: PathBuf,
        slot: Arc<Slot>,
        answers: Arc<Answers>,
    ) -> Self {
        let pair = kept(&folder, &settings, clock::date());
        if let Some(pair) = &pair {
            slot.show_by_name(pair.clone());
        }
        Self {
            settings,
            folder,
            slot,
            answers,
            pair,
        }
    }

    /// Whether this is one of the names.
    pub(super) fn is_for(&self, host: &str) -> bool {
        self.settings.names.iter().any(|name| name == host)
    }

    /// Fetches a certificate whenever one is due. Never completes.
    pub(super) async fn run(mut self) {
        loop {
            if self.is_due(clock::date()) {
                self.fetch().await;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn is_due(&self, now: SystemTime) -> bool {
        let Some(pair) = &self.pair else {
            return true;
        };
        let about = pair.about();
        let whole = about.until.duration_since(about.from).unwrap_or_default();
        now + whole / LAST_PART >= about.until
    }

    /// Fetches a certificate in one of two ways, and shows it.
    async fn fetch(&mut self) {
        for (kind, name, port) in [
            (ChallengeType::TlsAlpn01, "TLS-ALPN-01", 443),
            (ChallengeType::Http01, "HTTP-01", 80),
        ] {
            let obtained = self.obtain(&kind).await;
            self.answers.forget();
            for name in &self.settings.names {
                self.slot.show_challenge(name, None);
            }
            match obtained {
                Ok(pair) => {
                    let until = mimosa_tls::day(pair.about().until);
                    let names = &self.settings.names;
                    tracing::info!(
                        ?names,
                        until,
                        challenge = name,
                        "the authority gave a certificate"
                    );
                    self.slot.show_by_name(pair.clone());
                    self.pair = Some(pair);
                    return;
                }
                Err(error) => {
                    let from = &self.settings.directory;
                    tracing::warn!("no certificate by {name} from {from}: {error}");
                    match error {
                        AcmeError::NotFound { .. } => tracing::warn!(
                            "forward TCP port {port} of each name to this host's HTTP port"
                        ),
                        AcmeError::NoChallenge(_) => {}
                        // Another way would fail alike.
                        _ => break,
                    }
                }
            }
        }
        tracing::warn!("the authority is asked again in an hour");
    }

    /// Asks for a certificate, and lets the authority look at the names in this way.
    async fn obtain(&self, kind: &ChallengeType) -> Result<Pair, AcmeError> {
        let account = self.account().await?;
        let names = self.settings.names.iter().cloned().map(Identifier::Dns);
        let names: Vec<_> = names.collect();
        let mut order = account.new_order(&NewOrder::new(&names)).await?;
        self.prepare(&mut order, kind).await?;
        let patience = RetryPolicy::default().timeout(PATIENCE);
        match order.poll_ready(&patience).await {
            Ok(OrderStatus::Ready) => {}
            Ok(_) | Err(instant_acme::Error::Api(_)) => return Err(refused(&mut order).await),
            Err(error) => return Err(error.into()),
        }
        let key = order.finalize().await?;
        let chain = order.poll_certificate(&patience).await?;
        let pair = Pair::from_pem(chain.as_bytes(), key.as_bytes())?;
        pair.check(clock::date())?;
        // The certificate goes last: the two fit, or the next start fetches others.
        self.keep(KEY, key.as_bytes())?;
        self.keep(CERTIFICATE, chain.as_bytes())?;
        Ok(pair)
    }

    /// Makes the answer to each check, and says that the authority may look.
    async fn prepare(&self, order: &mut Order, kind: &ChallengeType) -> Result<(), AcmeError> {
        let mut authorizations = order.authorizations();
        while let Some(authorization) = authorizations.next().await {
            let mut authorization = authorization?;
            let name = authorization.identifier().to_string();
            match authorization.status {
                AuthorizationStatus::Valid => continue,
                AuthorizationStatus::Pending => {}
                status => {
                    let why = format!("its authorization is {status:?}");
                    return Err(AcmeError::NotFound { name, why });
                }
            }
            let challenged = authorization.challenge(kind.clone());
            let mut challenged = challenged.ok_or_else(|| AcmeError::NoChallenge(name.clone()))?;
            let answer = challenged.key_authorization();
            if *kind == ChallengeType::Http01 {
                self.answers.set(&challenged.token, answer.as_str());
            } else {
                let shown = challenge(&name, answer.digest().as_ref())?;
                self.slot.show_challenge(&name, Some(shown));
            }
            challenged.set_ready().await.map_err(|error| match error {
                // An authority that looks at once answers with what it has found.
                instant_acme::Error::Api(problem) if is_about_the_check(&problem) => {
                    AcmeError::NotFound {
                        name: name.clone(),
                        why: in_words(&problem),
                    }
                }
                error => error.into(),
            })?;
        }
        Ok(())
    }

    /// The account at the authority, which is made at the first time.
    async fn account(&self) -> Result<Account, AcmeError> {
        let builder = || match &self.settings.root {
            Some(root) => Account::builder_with_root(root),
            None => Account::builder(),
        };
        if let Some(credentials) = kept_account(&self.folder, &self.settings) {
            return Ok(builder()?.from_credentials(credentials).await?);
        }
        let contact = self.settings.contact.as_ref();
        let contact = contact.map(|contact| format!("mailto:{contact}"));
        let contact: Vec<_> = contact.iter().map(String::as_str).collect();
        let wanted = NewAccount {
            contact: &contact,
            // The settings have no names without it.
            terms_of_service_agreed: true,
            only_return_existing: false,
        };
        let directory = self.settings.directory.clone();
        let (account, credentials) = builder()?.create(&wanted, directory, None).await?;
        let text = serde_json::to_vec(&(&self.settings.directory, &credentials));
        self.keep(ACCOUNT, &text.unwrap_or_default())?;
        Ok(account)
    }

    fn keep(&self, name: &str, text: &[u8]) -> Result<(), AcmeError> {
        let path = self.folder.join(name);
        let written =
            private::folder(&self.folder).and_then(|()| write(&path, text, Existing::Replaced));
        written.map_err(|error| AcmeError::Write { path, error })
    }
}

/// An error with what is behind it, since HTTP says no more than that it has failed.
fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let why = error.to_string();
        if !text.contains(&why) {
            text = format!("{text}: {why}");
        }
        next = error.source();
    }
    mimosa_units::one_line(&text, LONGEST)
}

/// The account that is kept, if it is one at this authority.
fn kept_account(folder: &Path, settings: &AcmeSettings) -> Option<AccountCredentials> {
    let text = std::fs::read(folder.join(ACCOUNT)).ok()?;
    let (directory, credentials): (String, _) = serde_json::from_slice(&text).ok()?;
    (directory == settings.directory).then_some(credentials)
}

/// The certificate that is kept, if it is good now and for all names.
pub(super) fn kept(folder: &Path, settings: &AcmeSettings, now: SystemTime) -> Option<Pair> {
    let read = |name| std::fs::read(folder.join(name)).ok();
    let pair = Pair::from_pem(&read(CERTIFICATE)?, &read(KEY)?).ok()?;
    let names: BTreeSet<_> = settings
        .names
        .iter()
        .filter_map(|name| Name::new(name))
        .collect();
    let is_good = pair.check(now).is_ok() && names.is_subset(&pair.about().names);
    is_good.then_some(pair)
}

/// Whether the authority tells what came of looking at a name (RFC 8555, section 6.7), and not that it will not look.
fn is_about_the_check(problem: &Problem) -> bool {
    let kind = problem.r#type.as_deref().unwrap_or_default();
    let kind = kind.rsplit(':').next().unwrap_or_default();
    [
        "caa",
        "connection",
        "dns",
        "incorrectResponse",
        "tls",
        "unauthorized",
    ]
    .contains(&kind)
}

/// What the authority says, in a line.
fn in_words(problem: &Problem) -> String {
    let why = problem.detail.clone();
    let why = why.unwrap_or_else(|| problem.to_string());
    mimosa_units::one_line(&why, LONGEST)
}

/// Why the authority has not found the host.
async fn refused(order: &mut Order) -> AcmeError {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let name = authorization.identifier().to_string();
        let Ok(state) = authorization.refresh().await else {
            continue;
        };
        let problem = state
            .challenges
            .iter()
            .find_map(|challenge| challenge.error.as_ref());
        if let Some(problem) = problem {
            let why = in_words(problem);
            return AcmeError::NotFound { name, why };
        }
    }
    AcmeError::NotFound {
        name: "a name".to_owned(),
        why: "the authority does not say why".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use mimosa_system::process::Folder;
    use mimosa_tls::OwnKey;

    use super::*;

    fn settings() -> AcmeSettings {
        AcmeSettings {
            names: vec!["den.example.org".to_owned()],
            directory: "https://authority.example.org/directory".to_owned(),
            contact: None,
            root: None,
        }
    }

    fn today() -> SystemTime {
        UNIX_EPOCH + Duration::from_hours(20_777 * 24)
    }

    #[test]
    fn what_came_of_looking_is_told_from_a_refusal_to_look() {
        for (kind, is_about) in [("unauthorized", true), ("rateLimited", false)] {
            let text = format!("{{\"type\":\"urn:ietf:params:acme:error:{kind}\"}}");
            let problem: Problem = serde_json::from_str(&text).unwrap();
            assert_eq!(is_about_the_check(&problem), is_about, "{kind}");
        }
    }

    #[test]
    fn what_is_kept_is_shown_while_it_is_good() {
        let folder = Folder::create("mimosa-acme").unwrap();
        let folder = folder.path();
        assert!(kept(folder, &settings(), today()).is_none());
        let key = OwnKey::generate().unwrap();
        let names = |all: &[&str]| all.iter().filter_map(|name| Name::new(name)).collect();
        let write = |names: &BTreeSet<Name>| {
            let pair = key.certificate(names, today()).unwrap();
            std::fs::write(folder.join(CERTIFICATE), pair.to_pem()).unwrap();
            std::fs::write(folder.join(KEY), key.to_pem()).unwrap();
        };
        write(&names(&["example.org"]));
        assert!(kept(folder, &settings(), today()).is_none(), "another name");
        write(&names(&["den.example.org", "example.org"]));
        assert!(kept(folder, &settings(), today()).is_some());
        let later = today() + mimosa_tls::VALIDITY;
        assert!(kept(folder, &settings(), later).is_none(), "it has ended");
        std::fs::write(folder.join(KEY), "spoiled").unwrap();
        assert!(kept(folder, &settings(), today()).is_none());
    }

    #[test]
    fn a_certificate_is_replaced_in_the_last_third_of_its_time() {
        let key = OwnKey::generate().unwrap();
        let pair = key.certificate(&BTreeSet::new(), today()).unwrap();
        let slot = Slot::new(pair.clone());
        let about = pair.about().clone();
        let whole = about.until.duration_since(about.from).unwrap();
        let mut acme = Acme {
            settings: settings(),
            folder: PathBuf::new(),
            slot,
            answers: Arc::default(),
            pair: None,
        };
        assert!(acme.is_due(today()), "there is none");
        acme.pair = Some(pair);
        let hour = Duration::from_hours(1);
        assert!(!acme.is_due(about.from + whole / 3 * 2 - hour));
        assert!(acme.is_due(about.from + whole / 3 * 2 + hour));
    }

    #[test]
    fn answers_are_there_until_they_are_forgotten() {
        let answers = Answers::default();
        answers.set("token", "token.thumbprint");
        assert_eq!(answers.to("token").as_deref(), Some("token.thumbprint"));
        assert_eq!(answers.to("other"), None);
        answers.forget();
        assert_eq!(answers.to("token"), None);
    }
}
