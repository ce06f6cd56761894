//! Chooses the source of pictures: one of three, selected by five keys.
//!
//! The origin of the highest rank decides. Flags that contradict each other are refused, and so are
//! keys of the file, or variables, of which one would be ignored; only `launch` may stand beside
//! `source` there, and wins.

use toml::Value;

use crate::error::{Origin, SettingsError};
use crate::given::{Given, Said};
use crate::key::{Key, whole};
use crate::keys::{DISPLAY, LAUNCH, SOURCE, TITLE, WINDOW};
use crate::settings::{SourceSettings, Target};

/// Chooses the source.
pub(crate) fn choose(said: &Said) -> Result<SourceSettings, SettingsError> {
    check(said)?;
    let is_x11 = said.read(&SOURCE, |value| match value.as_str()? {
        "demo" => Some(false),
        "x11" => Some(true),
        _ => None,
    })?;
    let display = said.text(&DISPLAY)?;
    let window = said.read(&WINDOW, window)?;
    let title = said.text(&TITLE)?;
    let details = [
        rank(said, &DISPLAY),
        rank(said, &WINDOW),
        rank(said, &TITLE),
    ];
    let details = details.into_iter().max().flatten();
    let source = said.of(&SOURCE).origin.rank();
    if let Some(command) = said.text(&LAUNCH)?
        && rank(said, &LAUNCH) >= details.max(Some(source))
    {
        return Ok(SourceSettings::Launch { command });
    }
    // Naming a window selects the X display.
    if !is_x11 && details <= Some(source) {
        return Ok(SourceSettings::Demo);
    }
    let target = match title {
        Some(title) if rank(said, &TITLE) > rank(said, &WINDOW) => Target::Title(title),
        _ => window,
    };
    Ok(SourceSettings::X11 { display, target })
}

/// Rank of the value in force for `key`; `None` if it has none.
fn rank(said: &Said, key: &'static Key) -> Option<u8> {
    let given = said.of(key);
    (given.is_said() && !given.is_nothing()).then(|| given.origin.rank())
}

/// A window by its number; the whole screen without one. `xwininfo` prints `0x1a00003`, which may
/// also be given as a text.
fn window(value: &Value) -> Option<Target> {
    if value.as_str() == Some("") {
        return Some(Target::Screen);
    }
    let number = value.as_str().map_or_else(|| value.as_integer(), whole)?;
    let number = u32::try_from(number).ok().filter(|number| *number > 0)?;
    Some(Target::Window(number))
}

/// Refuses contradictions, for each rank of origins by itself.
fn check(said: &Said) -> Result<(), SettingsError> {
    for level in 1..=3 {
        let find = |key: &Key| {
            let mut all = said.all(key).iter();
            all.find(|given| given.origin.rank() == level && !given.is_nothing())
        };
        let [launch, window, title, display] = [&LAUNCH, &WINDOW, &TITLE, &DISPLAY].map(find);
        let source = find(&SOURCE);
        let is_flag = |given: &&Given| matches!(given.origin, Origin::Flag(_));
        let is_demo = |given: &&Given| given.value.as_str() == Some("demo");
        let pairs = [
            (launch, source.filter(is_flag)),
            (launch, display),
            (launch, window),
            (launch, title),
            (window, title),
            (display, source.filter(is_demo)),
            (window, source.filter(is_demo)),
            (title, source.filter(is_demo)),
        ];
        for pair in pairs {
            if let (Some(one), Some(other)) = pair {
                return Err(one.excludes(other));
            }
        }
    }
    Ok(())
}
