//! Checks the sources of pictures: X servers and a game.

use std::env;
use std::path::{Path, PathBuf};

use mimosa_settings::{Settings, SourceSettings, Target};
use mimosa_x11::{Capture, Display, Injector};

use super::report::{Finding, Report};

/// The folder in which Debian installs games.
const GAMES: &str = "/usr/games";
/// Folders in which WAD files are installed.
const WADS: [&str; 3] = [
    "/usr/share/games/doom",
    "/usr/local/share/games/doom",
    "/usr/share/doom",
];

/// Checks the sources of pictures.
pub(super) fn look(settings: &Settings, report: &mut Report) {
    report.add(private_server(settings));
    report.add(game(settings));
    report.add(display(settings));
}

/// Checks the server in which `--launch` runs a game.
fn private_server(settings: &Settings) -> Finding {
    let is_needed = matches!(settings.source, SourceSettings::Launch { .. });
    match program("Xvfb") {
        Some(path) => Finding::ok("Xvfb", path.display().to_string()),
        None => Finding::absent(
            is_needed,
            "Xvfb",
            "not in PATH; --launch runs a game in it",
            "apt-get install xvfb",
        ),
    }
}

/// Looks for a game to try; nothing depends on it.
fn game(settings: &Settings) -> Finding {
    let wad = wad_folders()
        .into_iter()
        .flat_map(|folder| ["freedoom1.wad", "freedoom2.wad"].map(|wad| folder.join(wad)))
        .find(|path| path.is_file());
    let lacks = match (program("dsda-doom"), wad) {
        (Some(_), Some(wad)) => {
            let command = mimosa_x11::dsda_doom_command(settings.size);
            let detail = format!(
                "dsda-doom with {}\nmimosa serve --launch '{command}'",
                wad.display()
            );
            return Finding::ok("a game", detail);
        }
        (None, Some(_)) => "no dsda-doom",
        (Some(_), None) => "no freedoom1.wad",
        (None, None) => "neither dsda-doom nor freedoom1.wad",
    };
    Finding::warning(
        "a game",
        format!("{lacks}, a game to try without set-up"),
        "apt-get install dsda-doom freedoom",
    )
}

/// Checks that the X display exists, with what is captured and with the extensions.
fn display(settings: &Settings) -> Finding {
    const CHECK: &str = "X display";
    const REMEDY: &str = "--display with the one to play on, or --launch with a command";
    let (is_needed, name, target) = match &settings.source {
        SourceSettings::X11 { display, target } => (true, display.as_deref(), target),
        SourceSettings::Demo | SourceSettings::Launch { .. } => (false, None, &Target::Screen),
    };
    let shown = name.map(str::to_owned).or_else(|| env::var("DISPLAY").ok());
    if shown.is_none() && !is_needed {
        return Finding::ok(CHECK, "DISPLAY is not set, and these settings need none");
    }
    let target = match target {
        Target::Screen => mimosa_x11::Target::Screen,
        Target::Window(window) => mimosa_x11::Target::Window(*window),
        Target::Title(title) => mimosa_x11::Target::Title(title.clone()),
    };
    let display = Display::Named(name);
    let capture = match Capture::open(display, &target) {
        Ok(capture) => capture,
        Err(error) => return Finding::absent(is_needed, CHECK, error.to_string(), REMEDY),
    };
    // The whole screen, because opening a window's injector would give the window the focus.
    if let Err(error) = Injector::open(display, &mimosa_x11::Target::Screen) {
        return Finding::absent(is_needed, CHECK, error.to_string(), REMEDY);
    }
    let size = capture.size();
    let shown = shown.unwrap_or_default();
    Finding::ok(CHECK, format!("{shown} can be captured and played, {size}"))
}

/// The path of the program called `name`, if it is installed.
pub(super) fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain([PathBuf::from(GAMES)]);
    folders
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

fn wad_folders() -> Vec<PathBuf> {
    let named = env::var_os("DOOMWADDIR").map(PathBuf::from);
    let path = env::var_os("DOOMWADPATH").unwrap_or_default();
    let listed: Vec<_> = env::split_paths(&path).collect();
    let usual = WADS.iter().map(|folder| Path::new(folder).to_owned());
    named.into_iter().chain(listed).chain(usual).collect()
}
