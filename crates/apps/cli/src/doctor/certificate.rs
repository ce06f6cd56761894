//! Checks the certificate for HTTPS.

use mimosa_host::{Certificate, FromAuthority, TlsError};
use mimosa_settings::{AcmeSettings, Settings};
use mimosa_tls::{About, day};

use super::report::{Finding, Report};

const CHECK: &str = "HTTPS";
const AUTHORITY: &str = "HTTPS by name";

/// Checks the certificates that `mimosa serve` would show.
pub(super) fn look(settings: &Settings, report: &mut Report) {
    report.add(finding(mimosa_host::certificate(settings)));
    let found = mimosa_host::from_authority(settings);
    if let Some((found, asked)) = found.zip(settings.tls.acme.as_ref()) {
        report.add(by_name(&found, asked));
    }
}

/// What has come of the names for which an authority is to give a certificate.
fn by_name(found: &FromAuthority, asked: &AcmeSettings) -> Finding {
    let names = asked.names.join(", ");
    match found {
        FromAuthority::Kept(about) => {
            Finding::ok(AUTHORITY, format!("a certificate, {}", words(about)))
        }
        FromAuthority::NotYet => Finding::warning(
            AUTHORITY,
            format!("no certificate yet for {names} from {}", asked.directory),
            "start the host, whose log says why one is not given; TCP port 443 or 80 of each name has to lead to its HTTP port",
        ),
        FromAuthority::NoFolder => Finding::missing(
            AUTHORITY,
            format!("no certificate is asked for {names}, as there is no place for it"),
            "set HOME or XDG_STATE_HOME to an absolute path",
        ),
    }
}

fn finding(found: Result<Certificate, TlsError>) -> Finding {
    match found {
        Ok(Certificate::None) => Finding::ok(CHECK, "off: browsers take this machine as secure"),
        Ok(Certificate::NotYetMade { folder: None }) => Finding::warning(
            CHECK,
            "the host's key changes at each start, as there is no place for it",
            "set HOME or XDG_STATE_HOME to an absolute path",
        ),
        Ok(Certificate::NotYetMade {
            folder: Some(folder),
        }) => {
            let folder = folder.display();
            let detail = format!("a certificate is made at the first start, and kept in {folder}");
            Finding::ok(CHECK, detail)
        }
        Ok(Certificate::Own { about, key }) => {
            let detail = format!("the host's own certificate, {}\nkey {key}", words(&about));
            Finding::ok(CHECK, detail)
        }
        Ok(Certificate::Given { about, ends_soon }) => {
            let detail = format!("the given certificate, {}", words(&about));
            if ends_soon {
                return Finding::warning(CHECK, detail, "have it renewed");
            }
            Finding::ok(CHECK, detail)
        }
        Err(error) => Finding::missing(CHECK, error.to_string(), "or serve without, --tls off"),
    }
}

fn words(about: &About) -> String {
    let names: Vec<_> = about.names.iter().map(ToString::to_string).collect();
    let names = if names.is_empty() {
        "no name".to_owned()
    } else {
        names.join(", ")
    };
    format!("until {}, for {names}", day(about.until))
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use mimosa_tls::{Name, VALIDITY};

    use super::*;

    #[test]
    fn names_without_a_certificate_are_told() {
        let asked = AcmeSettings {
            names: vec!["den.example.org".to_owned()],
            directory: "https://authority.example.org/directory".to_owned(),
            contact: None,
            root: None,
        };
        let about = About {
            names: [Name::new("den.example.org").unwrap()].into(),
            from: UNIX_EPOCH,
            until: UNIX_EPOCH + VALIDITY,
        };
        let text = |found: &FromAuthority| {
            let mut report = Report::default();
            report.add(by_name(found, &asked));
            report.text(false)
        };
        let kept = text(&FromAuthority::Kept(about));
        assert!(
            kept.starts_with("ok ") && kept.contains("until 1971-02-03, for den.example.org"),
            "{kept}"
        );
        let none = text(&FromAuthority::NotYet);
        assert!(
            none.starts_with("warning") && none.contains("den.example.org from https://authority"),
            "{none}"
        );
        let nowhere = text(&FromAuthority::NoFolder);
        assert!(nowhere.starts_with("missing"), "{nowhere}");
    }

    #[test]
    fn a_certificate_that_ends_soon_is_named() {
        let about = About {
            names: ["den.local", "192.0.2.1"]
                .map(|name| Name::new(name).unwrap())
                .into(),
            from: UNIX_EPOCH,
            until: UNIX_EPOCH + VALIDITY,
        };
        let text = |ends_soon| {
            let mut report = Report::default();
            let about = about.clone();
            report.add(finding(Ok(Certificate::Given { about, ends_soon })));
            report.text(false)
        };
        let good = text(false);
        let expected =
            "ok       HTTPS  the given certificate, until 1971-02-03, for den.local, 192.0.2.1\n";
        assert!(good.starts_with(expected), "{good}");
        let bad = text(true);
        assert!(
            bad.starts_with("warning") && bad.contains("renewed"),
            "{bad}"
        );
    }
}
