//! Checks what `mimosa link` and `mimosa emulate` need of the system and `serve` does not.

use std::fs::OpenOptions;
use std::path::Path;

use super::report::{Finding, Report};

const TUN: &str = "/dev/net/tun";
/// The file with the largest number of user namespaces.
const NAMESPACES: &str = "/proc/sys/user/max_user_namespaces";

/// Checks the emulated link.
pub(super) fn look(report: &mut Report) {
    let namespaces = std::fs::read_to_string(NAMESPACES).ok();
    report.add(link(
        Path::new(TUN),
        mimosa_link::may_make_devices(),
        namespaces.as_deref(),
    ));
}

/// Whether TUN devices can be made through `tun`, with the process's rights or in a user namespace.
/// `namespaces` is the text of [`NAMESPACES`].
fn link(tun: &Path, may_make_devices: bool, namespaces: Option<&str>) -> Finding {
    const CHECK: &str = "emulated link";
    if let Err(error) = OpenOptions::new().read(true).write(true).open(tun) {
        return Finding::warning(
            CHECK,
            format!("{}: {error}", tun.display()),
            "modprobe tun, chmod 666 /dev/net/tun; for a container, --device /dev/net/tun",
        );
    }
    let most: Option<u64> = namespaces.and_then(|text| text.trim().parse().ok());
    if may_make_devices {
        Finding::ok(
            CHECK,
            "`mimosa link` can make devices, and reach this machine",
        )
    } else if most.is_some_and(|most| most > 0) {
        Finding::ok(
            CHECK,
            "`mimosa link --isolated` can make devices in a user namespace, if the kernel lets it",
        )
    } else {
        Finding::warning(
            CHECK,
            "neither the rights to make devices nor user namespaces",
            "run `mimosa link` as root, or sysctl user.max_user_namespaces=10000",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(tun: &str, may_make_devices: bool, namespaces: Option<&str>) -> String {
        let mut report = Report::default();
        report.add(link(Path::new(tun), may_make_devices, namespaces));
        report.text(false)
    }

    #[test]
    fn without_the_device_there_is_no_link() {
        let told = told("/nowhere/tun", true, Some("1000\n"));
        assert!(told.starts_with("warning "), "{told}");
        assert!(
            told.contains("/nowhere/tun") && told.contains("modprobe tun"),
            "{told}"
        );
    }

    #[test]
    fn rights_or_namespaces_make_devices() {
        let tun = "/dev/null";
        for (may, namespaces, is_fine) in [
            (true, None, true),
            (false, Some("1000\n"), true),
            (false, Some("0\n"), false),
            (false, None, false),
        ] {
            let told = told(tun, may, namespaces);
            assert_eq!(told.starts_with("ok "), is_fine, "{told}");
        }
    }
}
