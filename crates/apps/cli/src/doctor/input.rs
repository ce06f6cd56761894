//! Checks in which form a game here gets gamepads.

use mimosa_settings::{GamepadSettings, Settings, SourceSettings};
use mimosa_uinput::UinputError;

use super::report::{Finding, Report};

const CHECK: &str = "gamepads";

/// Checks the gamepads.
pub(super) fn look(settings: &Settings, report: &mut Report) {
    report.add(gamepads(settings));
}

fn gamepads(settings: &Settings) -> Finding {
    let is_needed = match settings.input.gamepads {
        GamepadSettings::Off => return Finding::ok(CHECK, "none, by these settings"),
        GamepadSettings::Keys => return Finding::ok(CHECK, "press keys, by these settings"),
        GamepadSettings::Auto => false,
        GamepadSettings::Uinput => true,
    };
    if settings.source == SourceSettings::Demo {
        return Finding::ok(CHECK, "the demo takes them as they are");
    }
    let Err(error) = mimosa_uinput::check() else {
        let detail = "become devices, with rumble, for games that may read /dev/input/event*";
        return Finding::ok(CHECK, detail);
    };
    let remedy = match &error {
        UinputError::Absent => "sudo modprobe uinput",
        UinputError::Denied => "sudo setfacl -m u:$USER:rw /dev/uinput",
        _ => "",
    };
    let reason = error.to_string();
    let reason = reason.split(';').next().unwrap_or_default();
    let detail = if is_needed {
        reason.to_owned()
    } else {
        format!("press keys, and do not rumble: {reason}")
    };
    Finding::absent(is_needed, CHECK, detail, remedy)
}
