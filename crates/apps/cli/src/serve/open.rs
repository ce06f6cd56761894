//! Opens the host's page in the browser of the desktop that the host was started from.
//!
//! A process's arguments can be read by every user of the machine, and the page's URL has the token. The
//! desktop is therefore asked to open a file, which is its owner's alone and leads to the URL.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{Builder, sleep};
use std::time::Duration;

use mimosa_settings::SourceSettings;
use mimosa_system::state;

/// The desktop's command that opens a file with the program for it (freedesktop.org, xdg-utils).
const OPENER: &str = "xdg-open";
/// How long the file stays: browsers may be slow to start. Our choice.
const STAYS: Duration = Duration::from_mins(1);

/// Whether there is a browser to open: somebody sits at a terminal of a desktop of this machine, and what
/// is streamed is not that desktop itself, on which the page would show itself in itself.
pub(super) fn has_browser(
    is_terminal: bool,
    source: &SourceSettings,
    variable: impl Fn(&str) -> Option<OsString>,
) -> bool {
    let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
    let is_desktop = is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
    let is_elsewhere = is_set("SSH_CONNECTION") || is_set("CI");
    let shows_itself = matches!(source, SourceSettings::X11 { .. });
    is_terminal && is_desktop && !is_elsewhere && !shows_itself
}

/// Opens `url` in the browser, and says in the log if that fails. Nothing waits for it.
pub(super) fn open(url: String) {
    let run = move || {
        if let Err(error) = through_file(&url) {
            tracing::warn!("the page cannot be opened in a browser: {error}");
        }
    };
    // Without a thread, the URL is on the terminal.
    let _ = Builder::new().name("browser".to_owned()).spawn(run);
}

#[expect(clippy::disallowed_methods, reason = "a driver waits")]
fn through_file(url: &str) -> io::Result<()> {
    let path = place(std::env::var_os("XDG_RUNTIME_DIR"))
        .ok_or_else(|| io::Error::other("there is no folder for a file of this user's alone"))?;
    state::change(&path, |_| Ok::<_, io::Error>(page(url)))?;
    let status = Command::new(OPENER)
        .arg(&path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if status.as_ref().is_ok_and(std::process::ExitStatus::success) {
        sleep(STAYS);
    }
    let _ = std::fs::remove_file(&path);
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(io::Error::other(format!("{OPENER} says {status}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(io::Error::other(format!(
            "there is no {OPENER}; install xdg-utils, or start with --no-open"
        ))),
        Err(error) => Err(error),
    }
}

/// Where the file is: with what of this user's ends with their session, or else with their state.
fn place(runtime: Option<OsString>) -> Option<PathBuf> {
    let runtime = runtime.map(PathBuf::from);
    match runtime.filter(|folder| folder.is_absolute()) {
        Some(folder) => Some(Path::new(&folder).join("mimosa").join("open.html")),
        None => state::path("open.html"),
    }
}

/// A page that leads to `url`.
fn page(url: &str) -> String {
    let url: String = url
        .chars()
        .map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            c => c.to_string(),
        })
        .collect();
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Mimosa</title>\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={url}\">\n<a href=\"{url}\">Play</a>\n"
    )
}

#[cfg(test)]
mod tests {
    use mimosa_settings::Target;

    use super::*;

    #[test]
    fn a_browser_is_opened_where_somebody_sits_before_it() {
        let has = |set: &[&str], is_terminal, source: &SourceSettings| {
            has_browser(is_terminal, source, |name| {
                set.contains(&name).then(|| OsString::from("x"))
            })
        };
        let demo = SourceSettings::Demo;
        assert!(has(&["DISPLAY"], true, &demo));
        assert!(has(&["WAYLAND_DISPLAY"], true, &demo));
        assert!(!has(&["DISPLAY"], false, &demo), "a service");
        assert!(!has(&[], true, &demo), "a console");
        assert!(!has(&["DISPLAY", "SSH_CONNECTION"], true, &demo));
        assert!(!has(&["DISPLAY", "CI"], true, &demo));
        let desktop = SourceSettings::X11 {
            display: None,
            target: Target::Screen,
        };
        assert!(!has(&["DISPLAY"], true, &desktop), "the page in itself");
    }

    #[test]
    fn the_page_leads_to_the_url_and_to_nothing_else() {
        let page = page("https://h:1/?a=1&b=\"><script>#token=t");
        assert!(page.contains("url=https://h:1/?a=1&amp;b=&quot;&gt;&lt;script&gt;#token=t\""));
        assert!(!page.contains("<script"));
    }

    #[test]
    fn the_file_is_in_a_folder_of_this_user() {
        let place = |text: &str| place(Some(OsString::from(text)));
        let expected = Some(PathBuf::from("/run/user/7/mimosa/open.html"));
        assert_eq!(place("/run/user/7"), expected);
        assert_eq!(place("relative"), state::path("open.html"));
    }
}
