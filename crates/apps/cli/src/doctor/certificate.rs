//! Checks the certificate for HTTPS.

use mimosa_host::{Certificate, TlsError};
use mimosa_settings::Settings;
use mimosa_tls::{About, day};

use super::report::{Finding, Report};

const CHECK: &str = "HTTPS";

/// Checks the certificate that `mimosa serve` would show.
pub(super) fn look(settings: &Settings, report: &mut Report) {
    report.add(finding(mimosa_host::certificate(settings)));
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
