//! A URL as a QR code (ISO/IEC 18004) in the characters of a terminal, for the camera of a telephone.

use std::fmt::Write;

use qrcodegen::{QrCode, QrCodeEcc};

/// Light modules around the code. The standard asks for four; cameras read it with two, and most of a
/// terminal around it is as even.
const QUIET: i32 = 2;
/// Black on bright white, whatever the terminal's colours are: many cameras do not read the inverse.
const COLOURS: &str = "\x1b[30;107m";
/// Back to the terminal's colours.
const RESET: &str = "\x1b[0m";

/// What a camera should read: the first of `urls` that another machine can open, without the host's
/// key, which browsers do not look at and which would make the code twice as large. `None` if only
/// this machine can open any.
pub(super) fn subject(urls: &[String]) -> Option<String> {
    let is_here = |url: &str| {
        let host = url.split("://").nth(1).unwrap_or(url);
        ["localhost", "127.", "[::1]"]
            .iter()
            .any(|here| host.starts_with(here))
    };
    let url = urls.iter().find(|url| !is_here(url))?;
    let end = ["&key=", "#key="].iter().filter_map(|key| url.find(key));
    Some(url[..end.min().unwrap_or(url.len())].to_owned())
}

/// The code's modules, row by row, `1` for dark, without the light ones around it; `None` if the text is longer
/// than any code takes.
pub(super) fn modules(text: &str) -> Option<Vec<String>> {
    let code = QrCode::encode_text(text, QrCodeEcc::Low).ok()?;
    let module = |x, y| if code.get_module(x, y) { '1' } else { '0' };
    let row = |y| (0..code.size()).map(|x| module(x, y)).collect();
    Some((0..code.size()).map(row).collect())
}

/// The code, two rows of modules in a line; `None` if it is wider than so many columns or the text is
/// longer than any code takes.
pub(super) fn drawn(text: &str, columns: usize) -> Option<String> {
    let code = QrCode::encode_text(text, QrCodeEcc::Low).ok()?;
    let (from, to) = (-QUIET, code.size() + QUIET);
    if usize::try_from(to - from).ok()? > columns {
        return None;
    }
    let mut lines = String::new();
    for upper in (from..to).step_by(2) {
        lines.push_str(COLOURS);
        // Beyond the code all is light.
        let dark = |x, y| code.get_module(x, y);
        lines.extend(
            (from..to).map(|x| match (dark(x, upper), dark(x, upper + 1)) {
                (true, true) => '█',
                (true, false) => '▀',
                (false, true) => '▄',
                (false, false) => ' ',
            }),
        );
        let _ = writeln!(lines, "{RESET}");
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://192.0.2.7:8080/#token=0123456789abcdef0123456789abcdef";

    #[test]
    fn the_first_url_for_others_is_shown_without_the_key() {
        let urls = |all: &[&str]| all.iter().map(|url| (*url).to_owned()).collect::<Vec<_>>();
        let here = "http://localhost:8080/#token=a";
        let key = format!("{URL}&key=0f");
        let all = urls(&[
            here,
            "http://[::1]:8080/#token=a",
            &key,
            "https://192.0.2.8/",
        ]);
        assert_eq!(subject(&all).as_deref(), Some(URL));
        let open = urls(&["https://192.0.2.7:8080/#key=0f"]);
        assert_eq!(subject(&open).as_deref(), Some("https://192.0.2.7:8080/"));
        assert_eq!(subject(&urls(&[here, "http://127.0.0.1/"])), None);
    }

    #[test]
    fn each_half_of_a_character_is_a_module() {
        let code = QrCode::encode_text(URL, QrCodeEcc::Low).unwrap();
        let drawn = drawn(URL, 80).unwrap();
        let rows = drawn.lines().flat_map(|line| {
            let line = line.strip_prefix(COLOURS).unwrap();
            let line = line.strip_suffix(RESET).unwrap();
            let half = |dark: [char; 2]| {
                let modules = line.chars().map(move |c| dark.contains(&c));
                modules.collect::<Vec<_>>()
            };
            [half(['█', '▀']), half(['█', '▄'])]
        });
        let rows: Vec<_> = rows.collect();
        let size = usize::try_from(code.size() + 2 * QUIET).unwrap();
        assert!(
            rows.len() == size || rows.len() == size + 1,
            "{}",
            rows.len()
        );
        for (y, row) in (-QUIET..).zip(&rows) {
            assert_eq!(row.len(), size);
            for (x, dark) in (-QUIET..).zip(row) {
                assert_eq!(*dark, code.get_module(x, y), "{x}, {y}");
            }
        }
        // In a common terminal, URL and all.
        assert!(size <= 40 && drawn.lines().count() <= 20, "{size}");
    }

    #[test]
    fn what_does_not_fit_is_not_drawn() {
        assert_eq!(drawn(URL, 30), None);
        assert_eq!(drawn(&"a".repeat(3_000), 500), None);
    }
}
