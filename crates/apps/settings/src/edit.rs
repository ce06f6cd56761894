//! The settings as their owner sees and changes them from a page: what is in force and where it comes from,
//! and one value changed in the file's text, of which the rest stays as it is.

use toml::Value;
use toml::de::{DeTable, DeValue};

use crate::error::{Origin, SettingsError};
use crate::given::{Flags, Said};
use crate::key::Key;
use crate::keys;
use crate::resolve::{Checks, resolve};
use crate::{environment, file};

/// The keys that an owner's page may change. A key is not here if a wrong or a hostile value could run a
/// program, open or write a file, let somebody in, show another picture, or keep the owner from the page.
pub static CHANGEABLE: &[&Key] = &[
    &keys::ANNOUNCE,
    &keys::VIEWERS,
    &keys::SIZE,
    &keys::FRAMES_PER_SECOND,
    &keys::VIEWER_FRAMES_PER_SECOND,
    &keys::PROTECTION,
    &keys::REPAIR_DEADLINE,
    &keys::RETRANSMISSION_DEADLINE,
    &keys::PRESENTATION_DEADLINE,
    &keys::SHORTEST_GAP,
    &keys::GAMEPADS,
    &keys::CLIPBOARD,
    &keys::ENCODER_COMPLEXITY,
    &keys::ENCODER_BUFFER_FRAMES,
    &keys::SIZE_PREDICTION,
    &keys::DETAIL,
    &keys::RELIEF,
    &keys::ENTROPY_CODING,
    &keys::FINEST_QUANTISER,
    &keys::FRAME_SIZES,
    &keys::ENCODER_PARTS,
    &keys::ENCODER_THREADS,
    &keys::SOUND,
    &keys::SOUND_BITRATE,
    &keys::MIN_BITRATE,
    &keys::START_BITRATE,
    &keys::MAX_BITRATE,
    &keys::VIEWER_MAX_BITRATE,
    &keys::BLIND_RATE,
];

/// A key's value, as a flag takes it, and where it comes from.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The key.
    pub key: &'static Key,
    /// The value in force.
    pub value: String,
    /// Where that comes from.
    pub origin: Origin,
}

/// Why a value is not changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The page may not change this key.
    #[error("`{0}` cannot be changed from the page; change it in the settings file")]
    NotChangeable(String),
    /// The file as it is, or as it would be, is wrong.
    #[error(transparent)]
    Wrong(#[from] SettingsError),
    /// The file is written in a form that cannot be changed by this.
    #[error("`{0}` cannot be found a place in the settings file; change it there by hand")]
    ByHand(&'static str),
}

/// The values in force of all [`CHANGEABLE`] keys, from the same places as [`resolve`]'s.
///
/// # Errors
///
/// [`SettingsError`] if a place cannot be read.
pub fn listed(
    file: Option<(&str, &str)>,
    environment: impl IntoIterator<Item = (String, String)>,
    flags: &Flags,
) -> Result<Vec<Listed>, SettingsError> {
    let mut said = Said::default();
    if let Some((name, text)) = file {
        file::read(name, text, &mut said)?;
    }
    environment::read(environment, &mut said)?;
    flags.add_to(&mut said)?;
    let one = |key: &&'static Key| {
        let given = said.of(key);
        Listed {
            key,
            value: as_flag(&given.value),
            origin: given.origin,
        }
    };
    Ok(CHANGEABLE.iter().map(one).collect())
}

/// What the next start has besides the settings file.
#[derive(Clone, Copy)]
pub struct NextStart<'a> {
    /// Variables of the environment, by name.
    pub environment: &'a [(String, String)],
    /// The command line's flags.
    pub flags: &'a Flags,
    /// The checks that only the program can make.
    pub checks: &'a dyn Checks,
}

/// The text of the settings file called `name`, with `value` for the key of this name. Everything else of the
/// text is as it was. With it the host starts again: with what `next` adds to the file, and, if the file was
/// enough until now, with the file alone.
///
/// # Errors
///
/// [`EditError`] if the key is none of [`CHANGEABLE`], the value is wrong, or the file is.
pub fn changed(
    (name, text): (&str, &str),
    (key, value): (&str, &str),
    next: NextStart<'_>,
) -> Result<String, EditError> {
    let found = CHANGEABLE.iter().find(|known| known.name == key);
    let key = *found.ok_or_else(|| EditError::NotChangeable(mimosa_units::shortened(key)))?;
    let wrong = |problem| SettingsError {
        origin: Origin::File(mimosa_units::Where::in_text(name, text, 0)),
        problem,
    };
    let value = key.value(value).map_err(wrong)?;
    let written = as_toml(&value).ok_or(EditError::ByHand(key.path))?;
    let before = parsed(name, text)?;
    let new = place(text, key, &written);
    // What the text says now is what it said, but for this key.
    let mut expected = before;
    put(&mut expected, key, value.clone());
    if parsed(name, &new)? != expected {
        return Err(EditError::ByHand(key.path));
    }
    // A value that is wrong is refused with the words of any other place.
    let environment = next.environment.iter().cloned();
    resolve(Some((name, &new)), environment, next.flags, next.checks)?;
    let alone = |text| resolve(Some((name, text)), [], &Flags::default(), next.checks);
    if alone(text).is_ok() {
        alone(&new)?;
    }
    Ok(new)
}

fn parsed(name: &str, text: &str) -> Result<toml::Table, SettingsError> {
    // With the place of what is wrong.
    file::read(name, text, &mut Said::default())?;
    Ok(toml::from_str(text).unwrap_or_default())
}

fn put(table: &mut toml::Table, key: &Key, value: Value) {
    if key.table().is_empty() {
        table.insert(key.leaf().to_owned(), value);
    } else {
        let empty = || Value::Table(toml::Table::new());
        let below = table.entry(key.table()).or_insert_with(empty);
        if let Some(below) = below.as_table_mut() {
            below.insert(key.leaf().to_owned(), value);
        }
    }
}

/// The text with `written` at the key's place: in that of its present value, or else after the comment with
/// its default, after its table's heading, before the first heading, or in a table of its own at the end.
fn place(text: &str, key: &Key, written: &str) -> String {
    if let Some(span) = present(text, key) {
        let (before, after) = (text.get(..span.start), text.get(span.end..));
        return [
            before.unwrap_or_default(),
            written,
            after.unwrap_or_default(),
        ]
        .concat();
    }
    let line = format!("{} = {written}\n", key.leaf());
    let mut table = "";
    let mut heading = key.table().is_empty().then_some(0);
    let mut first_heading = None;
    let mut at = 0;
    for whole in text.split_inclusive('\n') {
        let next = at + whole.len();
        let trimmed = whole.trim();
        if let Some(name) = trimmed
            .strip_prefix('[')
            .and_then(|rest| rest.split(']').next())
        {
            first_heading.get_or_insert(at);
            table = name.trim();
            if table == key.table() {
                heading = Some(next);
            }
        }
        let comment = trimmed.strip_prefix('#').map(str::trim_start);
        let leaf = comment
            .and_then(|comment| comment.split_once('='))
            .map(|(leaf, _)| leaf.trim());
        if table == key.table() && leaf == Some(key.leaf()) {
            return inserted(text, next, &line);
        }
        at = next;
    }
    match heading {
        Some(_) if key.table().is_empty() => {
            inserted(text, first_heading.unwrap_or(text.len()), &line)
        }
        Some(at) => inserted(text, at, &line),
        None => inserted(text, text.len(), &format!("\n[{}]\n{line}", key.table())),
    }
}

/// The text with this before its byte `at`, on a line of its own.
fn inserted(text: &str, at: usize, line: &str) -> String {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let end = if before.is_empty() || before.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    [before, end, line, after].concat()
}

/// Where the key's value stands in the text.
fn present(text: &str, key: &Key) -> Option<std::ops::Range<usize>> {
    let root = DeTable::parse(text).ok()?;
    let mut table = root.get_ref();
    if !key.table().is_empty() {
        let below = table.iter().find(|(name, _)| name.get_ref() == key.table());
        let DeValue::Table(inner) = below?.1.get_ref() else {
            return None;
        };
        table = inner;
    }
    let found = table.iter().find(|(name, _)| name.get_ref() == key.leaf());
    Some(found?.1.span())
}

/// A value as a flag takes it.
fn as_flag(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Array(all) => all.iter().map(as_flag).collect::<Vec<_>>().join(","),
        // No changeable key has another form.
        _ => String::new(),
    }
}

/// A value as TOML; `None` for one that no changeable key has.
fn as_toml(value: &Value) -> Option<String> {
    match value {
        Value::Integer(number) => Some(number.to_string()),
        Value::String(text) if !text.contains(char::is_control) => Some(format!(
            "\"{}\"",
            text.replace('\\', "\\\\").replace('"', "\\\"")
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Shape;
    use crate::keys::KEYS;
    use crate::template;

    struct Any;

    impl Checks for Any {
        fn controllers(&self) -> &[&str] {
            &["mimosa"]
        }

        fn pacers(&self) -> &[&str] {
            &["controller"]
        }

        fn encoders(&self) -> &[&str] {
            &["auto"]
        }

        fn params(&self, _: &str, _: &toml::Table, _: mimosa_facts::Limits) -> Result<(), String> {
            Ok(())
        }

        fn log(&self, _: &str) -> Result<(), String> {
            Ok(())
        }
    }

    fn change(text: &str, key: &str, value: &str) -> Result<String, String> {
        beside(text, (key, value), &[], &Flags::default())
    }

    fn beside(
        text: &str,
        change: (&str, &str),
        environment: &[(String, String)],
        flags: &Flags,
    ) -> Result<String, String> {
        let next = NextStart {
            environment,
            flags,
            checks: &Any,
        };
        changed(("f", text), change, next).map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_dangerous_can_be_changed() {
        for key in [
            &keys::BIND,
            &keys::HTTP_PORT,
            &keys::UDP_PORT,
            &keys::TLS,
            &keys::TLS_CERTIFICATE,
            &keys::TLS_KEY,
            &keys::FORWARD_PORTS,
            &keys::ALLOWED_ORIGINS,
            &keys::TOKEN,
            &keys::VIEW_TOKEN,
            &keys::PAIR,
            &keys::LAUNCH,
            &keys::SOURCE,
            &keys::DISPLAY,
            &keys::RECORD,
            &keys::RECORD_PICTURES,
            &keys::CONTROLLER,
            &keys::PARAMS,
            &keys::ENCODER,
            &keys::ENCODER_ELEMENT,
            &keys::SOUND_SINK,
            &keys::RELAY,
            &keys::RELAY_SECRET,
        ] {
            let error = change("", key.name, "x").unwrap_err();
            assert!(
                error.contains("cannot be changed from the page"),
                "{}: {error}",
                key.name
            );
        }
        let is_secret = |key: &&&Key| matches!(key.shape, Shape::Secret | Shape::Table);
        assert!(!CHANGEABLE.iter().any(|key| is_secret(&key)));
    }

    #[test]
    fn in_the_file_that_people_edit_a_value_stands_below_its_default() {
        let text = template();
        let new = change(&text, "viewers", "2").unwrap();
        assert!(new.contains("#viewers = 4\nviewers = 2\n"), "{new}");
        assert_eq!(new.replace("viewers = 2\n", ""), text);
        let new = change(&new, "encoder_threads", "3").unwrap();
        assert!(new.contains("#threads = 1\nthreads = 3\n"), "{new}");
        let again = change(&new, "viewers", "0x10").unwrap();
        assert!(again.contains("#viewers = 4\nviewers = 16\n"), "{again}");
        assert_eq!(again.len(), new.len() + 1);
    }

    #[test]
    fn every_key_can_be_changed_in_every_form_of_file() {
        let inline = "encoder = {}\ncontroller = {}\ninput = {}\nsound = {}\n";
        for key in CHANGEABLE {
            let value = key.default;
            for text in [
                "",
                "# nothing",
                "token = \"0123456789abcdef\" # mine\n[encoder]\n",
                &template(),
            ] {
                let new = change(text, key.name, value).unwrap_or_else(|error| panic!("{error}"));
                let listed = listed(Some(("f", &new)), [], &Flags::default()).unwrap();
                let found = listed
                    .iter()
                    .find(|listed| listed.key.name == key.name)
                    .unwrap();
                assert_eq!(found.value, value, "{} in {text:?}", key.name);
                assert!(matches!(found.origin, Origin::File(_)));
                // Nothing is lost.
                assert!(text.lines().all(|line| new.contains(line)), "{new}");
            }
            if !key.table().is_empty() {
                let error = change(inline, key.name, value).unwrap_err();
                assert!(!error.is_empty());
            }
        }
    }

    #[test]
    fn a_present_value_is_changed_where_it_stands() {
        let text = "viewers=1 # a few\n[encoder]\n  threads   =   2   # two\n";
        let new = change(text, "viewers", "7").unwrap();
        assert_eq!(
            new,
            "viewers=7 # a few\n[encoder]\n  threads   =   2   # two\n"
        );
        let new = change(text, "encoder_threads", "16").unwrap();
        assert_eq!(
            new,
            "viewers=1 # a few\n[encoder]\n  threads   =   16   # two\n"
        );
        let inline = "encoder = { threads = 2, parts = 4 }\n";
        let new = change(inline, "encoder_threads", "3").unwrap();
        assert_eq!(new, "encoder = { threads = 3, parts = 4 }\n");
    }

    #[test]
    fn what_is_wrong_is_refused_in_the_words_of_the_file() {
        let error = change("", "viewers", "many").unwrap_err();
        assert!(error.contains("a whole number from 0 to 100"), "{error}");
        let error = change("", "detail", "\"\nlaunch = \"rm").unwrap_err();
        assert!(!error.is_empty());
        let error = change("", "size", "x\"\nlaunch=\"y").unwrap_err();
        assert!(!error.is_empty());
        let error = change("viewers = [", "viewers", "1").unwrap_err();
        assert!(error.contains('f'), "{error}");
        let error = change("min_bitrate = 1", "viewers", "1").unwrap_err();
        assert!(error.contains("controller"), "{error}");
        let low = "[controller]\nmax_bitrate = \"10Mbit/s\"\n";
        let error = change(low, "min_bitrate", "60Mbit/s").unwrap_err();
        assert!(error.contains("max_bitrate"), "{error}");
    }

    #[test]
    fn the_host_starts_again_with_its_flags_and_variables() {
        let mut flags = Flags::default();
        flags.set(&keys::MIN_BITRATE, "20Mbit/s");
        flags.set(&keys::START_BITRATE, "30Mbit/s");
        let low = ("max_bitrate", "10Mbit/s");
        let error = beside("", low, &[], &flags).unwrap_err();
        assert!(error.contains("bitrate"), "{error}");
        beside("", ("max_bitrate", "40Mbit/s"), &[], &flags).unwrap();
        let variable = [("MIMOSA_MIN_BITRATE".to_owned(), "20Mbit/s".to_owned())];
        beside("", low, &variable, &Flags::default()).unwrap_err();
        // A file that only starts with flags can be changed; one that was enough without them stays enough.
        let mut flags = Flags::default();
        flags.set(&keys::START_BITRATE, "30Mbit/s");
        let low = "[controller]\nstart_bitrate = \"5Mbit/s\"\n";
        beside(low, ("min_bitrate", "20Mbit/s"), &[], &flags).unwrap_err();
        let wrong = format!("{low}min_bitrate = \"20Mbit/s\"\n");
        beside(&wrong, ("viewers", "2"), &[], &flags).unwrap();
        beside(&wrong, ("viewers", "2"), &[], &Flags::default()).unwrap_err();
    }

    #[test]
    fn the_value_in_force_has_its_origin() {
        let mut flags = Flags::default();
        flags.set(&keys::SIZE, "640x480");
        let environment = [("MIMOSA_VIEWERS".to_owned(), "2".to_owned())];
        let file = Some(("f", "viewers = 1\nframes_per_second = 30\n"));
        let all = listed(file, environment, &flags).unwrap();
        let of = |name: &str| {
            let found = all.iter().find(|listed| listed.key.name == name).unwrap();
            (found.value.as_str(), found.origin.to_string())
        };
        assert_eq!(of("size"), ("640x480", "--size".to_owned()));
        assert_eq!(of("viewers"), ("2", "MIMOSA_VIEWERS".to_owned()));
        assert_eq!(of("frames_per_second").0, "30");
        assert_eq!(of("detail"), ("adaptive", "defaults".to_owned()));
        assert!(KEYS.len() > CHANGEABLE.len());
    }
}
