//! What a certificate says (RFC 5280): for whom, and from when until when.

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustls::pki_types::{CertificateDer, DnsName};
use x509_cert::Certificate;
use x509_cert::der::{DateTime, Decode};
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

/// The bytes are no certificate that is understood.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not a certificate: {0}")]
pub struct Unreadable(pub String);

/// A name of a machine, as a certificate lists it.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Name {
    /// A name of the DNS, or of multicast DNS, in lower case.
    Dns(String),
    /// An address.
    Address(IpAddr),
}

impl Name {
    /// The name or the address in `text`; `None` if it is neither.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse() {
            return Some(Self::Address(address));
        }
        let name = text.to_ascii_lowercase();
        DnsName::try_from(name.as_str()).ok()?;
        Some(Self::Dns(name))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dns(name) => f.write_str(name),
            Self::Address(address) => address.fmt(f),
        }
    }
}

/// What a certificate says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct About {
    /// Names and addresses for which the certificate is good.
    pub names: BTreeSet<Name>,
    /// First moment at which the certificate is good.
    pub from: SystemTime,
    /// Last moment at which the certificate is good.
    pub until: SystemTime,
}

impl About {
    /// Reads a certificate. Names of other kinds than those of the DNS and addresses are left out.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if these bytes are none.
    pub fn read(certificate: &CertificateDer<'_>) -> Result<Self, Unreadable> {
        let bad = |error: x509_cert::der::Error| Unreadable(error.to_string());
        let parsed = Certificate::from_der(certificate).map_err(bad)?;
        let signed = parsed.tbs_certificate();
        let names = signed.get_extension::<SubjectAltName>().map_err(bad)?;
        let names = names.map(|(_, names)| names.0).unwrap_or_default();
        let moment = |time: x509_cert::time::Time| UNIX_EPOCH + time.to_unix_duration();
        Ok(Self {
            names: names.iter().filter_map(name).collect(),
            from: moment(signed.validity().not_before),
            until: moment(signed.validity().not_after),
        })
    }
}

fn name(name: &GeneralName) -> Option<Name> {
    match name {
        GeneralName::DnsName(name) => Name::new(name.as_str()),
        GeneralName::IpAddress(bytes) => {
            let bytes = bytes.as_bytes();
            let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
            let address = v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from));
            address.ok().map(Name::Address)
        }
        _ => None,
    }
}

/// The day of a moment in UTC, e.g. `2026-11-25`.
#[must_use]
pub fn day(moment: SystemTime) -> String {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let date = DateTime::from_unix_duration(since).unwrap_or(DateTime::INFINITY);
    format!("{:04}-{:02}-{:02}", date.year(), date.month(), date.day())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_of_the_dns_or_an_address() {
        let address = |text: &str| Some(Name::Address(text.parse().unwrap()));
        assert_eq!(Name::new("192.0.2.1"), address("192.0.2.1"));
        assert_eq!(Name::new("2001:db8::1"), address("2001:db8::1"));
        assert_eq!(
            Name::new("Den.local"),
            Some(Name::Dns("den.local".to_owned()))
        );
        for bad in ["", "two words", "a..b", "[::1]", "caf\u{e9}", "a/b"] {
            assert_eq!(Name::new(bad), None, "{bad}");
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        let after = |seconds| day(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(after(0), "1970-01-01");
        assert_eq!(after(951_782_400), "2000-02-29");
        assert_eq!(after(4_107_542_399), "2100-02-28");
        assert_eq!(day(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01");
    }
}
