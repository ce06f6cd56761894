//! Reads scenario files, and checks everything in them.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use mimosa_foreign::{Maker, OutsideName};
use mimosa_net::KeyProblem;
use mimosa_units::{Time, TimeDelta, Where, shortened};
use toml::Spanned;

use super::Scenario;
use super::error::{Problem, ScenarioError};
use super::queue::Place;
use super::raw;
use super::route::largest_packet;

/// The longest run, 30 days: beyond it times would no longer be counted exactly.
const LONGEST: TimeDelta = TimeDelta::from_millis(1_000 * 3600 * 24 * 30);

/// Reads the files that a scenario names: traces and frame sizes, and controllers from outside the
/// program.
pub trait Files {
    /// Reads the file at `path`, which is relative to the scenario's folder, and returns
    /// its content.
    ///
    /// # Errors
    ///
    /// The system's message when the file cannot be read.
    fn read(&mut self, path: &str) -> Result<String, String>;

    /// Finds what makes the controller called `name`, which is not part of the program. Paths in
    /// the name are relative to the scenario's folder.
    ///
    /// # Errors
    ///
    /// A text that says what is wrong with the controller, and what to write instead. By default, it says
    /// that no controller from outside the program runs here.
    fn outside(&mut self, name: OutsideName<'_>) -> Result<Arc<dyn Maker>, String> {
        let _ = name;
        let forms = OutsideName::FORMS;
        Err(format!(
            "controllers of the forms {forms} run in `mimosa sim`, `mimosa lab` and `mimosa serve`, \
             and not here; name a controller that is built in"
        ))
    }
}

/// Reads no file: for scenarios that name none.
impl Files for () {
    fn read(&mut self, _path: &str) -> Result<String, String> {
        Err("no files are read here".to_owned())
    }
}

/// The content of a scenario file.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The seed that the file names; 1 when it names none.
    pub seed: u64,
    /// The variants of the scenario, each with its name, in the order of the file; a
    /// single one without a name when the file has no variants.
    pub variants: Vec<(Option<String>, Scenario)>,
    /// Remarks on what was not taken literally, in the scenario or in the files that it
    /// names, each with its place.
    pub notes: Vec<(Where, String)>,
}

/// Reads the scenario `text` in the file called `file`. The files that it names are read
/// with `files`.
///
/// # Errors
///
/// [`ScenarioError`] with the place of the first mistake.
pub fn load(text: &str, file: &str, files: &mut dyn Files) -> Result<Loaded, ScenarioError> {
    let mut reader = Reader::new(text, file, files);
    let raw = reader.raw()?;
    let variants = reader.variants(&raw, Reader::scenario)?;
    reader.notes.dedup();
    Ok(Loaded {
        seed: raw.seed.unwrap_or(1),
        variants,
        notes: reader.notes,
    })
}

/// A reader of a scenario file, which collects notes.
pub(super) struct Reader<'a> {
    text: &'a str,
    file: &'a str,
    pub(super) files: &'a mut dyn Files,
    pub(super) notes: Vec<(Where, String)>,
}

/// The result of reading: a value, or why it could not be read.
pub(super) type Read<T> = Result<T, ScenarioError>;

/// A value for each variant of a file, with the variant's name; a single value without a
/// name when the file has no variants.
pub(super) type Variants<T> = Vec<(Option<String>, T)>;

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, file: &'a str, files: &'a mut dyn Files) -> Self {
        Self {
            text,
            file,
            files,
            notes: Vec::new(),
        }
    }

    /// Reads the file's keys and the types of their values.
    pub(super) fn raw(&self) -> Read<raw::File> {
        toml::from_str(self.text).map_err(|error| {
            let at = error.span().unwrap_or(0..0);
            self.not_toml(at, error.message())
        })
    }

    /// The error for a `message` of serde or of the units.
    pub(super) fn not_toml(&self, at: Range<usize>, message: &str) -> ScenarioError {
        // The messages of the units already quote the value and give an example.
        let said = if message.contains("e.g. ") {
            message.to_owned()
        } else {
            let line = shortened(self.line(at.start));
            format!("{message}; the line is `{line}`")
        };
        self.error(at, Problem::Toml(said))
    }

    /// Calls `read` for each variant, or once without a variant if the file has none.
    /// Returns the results, or the first error.
    pub(super) fn variants<T>(
        &mut self,
        raw: &raw::File,
        read: impl Fn(&mut Self, &raw::File, Option<&raw::Variant>) -> Read<T>,
    ) -> Read<Variants<T>> {
        let mut variants = Vec::new();
        let mut names = BTreeSet::new();
        if raw.variant.is_empty() {
            variants.push((None, read(self, raw, None)?));
        }
        for variant in &raw.variant {
            let variant = variant.get_ref();
            let name = &self.name(&variant.name)?;
            if !names.insert(name.clone()) {
                let problem = KeyProblem::NameTaken { name: name.clone() };
                return Err(self.error(variant.name.span(), problem));
            }
            variants.push((Some(name.clone()), read(self, raw, Some(variant))?));
        }
        Ok(variants)
    }

    pub(super) fn note(&mut self, at: Range<usize>, text: String) {
        let place = self.place(&at);
        self.notes.push((place, text));
    }

    fn place(&self, at: &Range<usize>) -> Where {
        Where::in_text(self.file, self.text, at.start)
    }

    pub(super) fn error(&self, at: Range<usize>, problem: impl Into<Problem>) -> ScenarioError {
        ScenarioError {
            place: self.place(&at),
            problem: problem.into(),
        }
    }

    /// The line that contains the byte at `at`, without surrounding spaces.
    fn line(&self, at: usize) -> &str {
        let before = self.text.get(..at).unwrap_or(self.text);
        let begin = before.rfind('\n').map_or(0, |index| index + 1);
        let rest = self.text.get(begin..).unwrap_or_default();
        rest.lines().next().unwrap_or_default().trim()
    }

    /// A place in a file that the scenario names. `path` is relative to the scenario's
    /// folder; the result is relative to the folder from which the scenario was named.
    pub(super) fn beside(&self, path: &str, line: usize) -> Where {
        let folder = Path::new(self.file).parent().unwrap_or(Path::new(""));
        Where {
            file: folder.join(path).display().to_string(),
            line,
        }
    }

    /// Reads a name. A name that tables and messages could not show is refused.
    pub(super) fn name(&self, given: &Spanned<String>) -> Read<String> {
        let name = given.get_ref();
        KeyProblem::check_name(name).map_err(|problem| self.error(given.span(), problem))?;
        Ok(name.clone())
    }

    pub(super) fn range(
        &self,
        at: Range<usize>,
        key: &'static str,
        valid: bool,
        must: &'static str,
    ) -> Read<()> {
        if valid {
            Ok(())
        } else {
            Err(self.error(at, KeyProblem::OutOfRange { key, must }))
        }
    }

    pub(super) fn scenario(
        &mut self,
        raw: &raw::File,
        variant: Option<&raw::Variant>,
    ) -> Read<Scenario> {
        let missing = |key, mend| self.error(0..0, KeyProblem::Missing { key, mend });
        let Some(duration_at) = &raw.duration else {
            return Err(missing("duration", "write e.g. `duration = \"30s\"`"));
        };
        let Some(link_at) = &raw.link else {
            return Err(missing("[link]", "add it, with e.g. `rate = \"20Mbit/s\"`"));
        };
        let duration = *duration_at.get_ref();
        self.range(
            duration_at.span(),
            "duration",
            duration > TimeDelta::ZERO && duration <= LONGEST,
            "longer than zero and at most 720h",
        )?;
        let plain = link_at.get_ref();
        let link = variant.map_or_else(|| plain.clone(), |variant| plain.under(&variant.link));
        let mut flows = Vec::new();
        for (index, flow) in raw.flow.iter().enumerate() {
            let plain = flow.get_ref();
            let is_video = plain
                .kind
                .as_ref()
                .is_none_or(|kind| kind.get_ref() == "video");
            let flow_raw = match variant {
                Some(variant) if is_video => lay_over(plain, &variant.flow),
                _ => plain.clone(),
            };
            let made = self.flow(&flow_raw, flow.span(), index, &link)?;
            let (start, end) = (made.start, Time::ZERO + duration);
            if start >= end {
                let at = flow_raw.start.as_ref().map_or(flow.span(), Spanned::span);
                return Err(self.error(at, Problem::StartsAfterEnd { start, end }));
            }
            flows.push(made);
        }
        if flows.is_empty() {
            return Err(self.error(link_at.span(), Problem::NoFlow));
        }
        let mut names = BTreeSet::new();
        for (flow, raw) in flows.iter().zip(&raw.flow) {
            if !names.insert(flow.name.clone()) {
                let name = flow.name.clone();
                return Err(self.error(raw.span(), KeyProblem::NameTaken { name }));
            }
        }
        let flow_names: Vec<_> = flows.iter().map(|flow| flow.name.clone()).collect();
        let queue = self.queue(&Place {
            link: &link,
            largest: largest_packet(&flows, 0),
            flows: &flow_names,
        })?;
        let first = self.service(&link, link_at.span(), queue, &flow_names)?;
        let (next, reverse) = self.other_links(&link, &flows, &first)?;
        Ok(Scenario {
            duration,
            link: first,
            next,
            reverse,
            flows,
        })
    }

    pub(super) fn read(&mut self, path: &Spanned<String>) -> Read<String> {
        self.files.read(path.get_ref()).map_err(|why| {
            let path_text = path.get_ref().clone();
            let problem = Problem::Unreadable {
                path: path_text,
                why,
            };
            self.error(path.span(), problem)
        })
    }

    pub(super) fn share(&self, key: &'static str, value: Option<&Spanned<f64>>) -> Read<f64> {
        let Some(value) = value else {
            return Ok(0.0);
        };
        let share = *value.get_ref();
        let valid = (0.0..=1.0).contains(&share);
        self.range(value.span(), key, valid, "a share between 0 and 1")?;
        Ok(share)
    }
}

/// A flow's keys, each replaced by the variant's where the variant states it. Parameters
/// of the controller and the pacer are replaced one by one.
fn lay_over(flow: &raw::Flow, over: &raw::Flow) -> raw::Flow {
    let mut laid = flow.under(over);
    merge(&mut laid.params, flow.params.as_ref(), over.params.as_ref());
    merge(
        &mut laid.pacer_params,
        flow.pacer_params.as_ref(),
        over.pacer_params.as_ref(),
    );
    laid
}

/// Sets `merged` to the parameters of `above`, and those of `below` for all others, if
/// all three are given.
fn merge(
    merged: &mut Option<Spanned<raw::Params>>,
    below: Option<&Spanned<raw::Params>>,
    above: Option<&Spanned<raw::Params>>,
) {
    if let (Some(merged), Some(below), Some(above)) = (merged, below, above) {
        let mut params = below.get_ref().clone();
        for (key, value) in above.get_ref() {
            params.remove(key);
            params.insert(key.clone(), value.clone());
        }
        *merged.get_mut() = params;
    }
}

pub(super) fn value<T: Copy>(given: Option<&Spanned<T>>, otherwise: T) -> T {
    given.map_or(otherwise, |value| *value.get_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error message for a scenario with one flow of this name, which is written as
    /// in TOML; `None` if the scenario is accepted.
    fn refusal(name: &str) -> Option<String> {
        let text =
            format!("duration = \"1s\"\n[link]\nrate = \"1Mbit/s\"\n[[flow]]\nname = \"{name}\"\n");
        let loaded = load(&text, "run.toml", &mut ());
        loaded.err().map(|error| error.to_string())
    }

    #[test]
    fn names_are_short_and_on_one_line() {
        assert_eq!(refusal(&"é".repeat(64)), None);
        for bad in ["a".repeat(65), "x".repeat(200_000)] {
            let said = refusal(&bad).unwrap();
            assert!(
                said.starts_with("run.toml:5: `") && said.len() < 300,
                "{said}"
            );
            assert!(
                said.contains("cannot be a name; write up to 64 characters"),
                "{said}"
            );
        }
        for bad in ["a\\u001b[31m", "a\\nerror: b", "a\\u0000b", "a\\u009b"] {
            let said = refusal(bad).unwrap();
            assert!(said.contains("cannot be a name"), "{said}");
            assert!(!said.contains(char::is_control), "{said}");
        }
    }

    #[test]
    fn variants_and_classes_have_such_names_too() {
        let long = "x".repeat(65);
        let flow = "[[flow]]\n";
        for more in [
            format!("{flow}[[variant]]\nname = \"{long}\"\n"),
            format!(
                "queue = {{ kind = \"htb\" }}\n[[link.class]]\nname = \"{long}\"\nrate = \
                 \"1Mbit/s\"\n{flow}"
            ),
        ] {
            let text = format!("duration = \"1s\"\n[link]\nrate = \"1Mbit/s\"\n{more}");
            let said = load(&text, "run.toml", &mut ()).unwrap_err().to_string();
            assert!(said.contains("cannot be a name"), "{said}");
        }
    }

    #[test]
    fn a_message_is_one_line_that_is_not_too_long() {
        let deep = format!("{}1{}", "{a=".repeat(20_000), "}".repeat(20_000));
        for bad in [
            format!("params = {deep}\n"),
            format!("\"{}\" = 1\n", "k".repeat(90_000)),
            "controller = \"\\u001b]0;owned\\u0007\\nerror: no\"\n".to_owned(),
            "\"\\u001b[2J\" = 1\n".to_owned(),
        ] {
            let text = format!("duration = \"1s\"\n[link]\nrate = \"1Mbit/s\"\n[[flow]]\n{bad}");
            let said = load(&text, "run.toml", &mut ()).unwrap_err().to_string();
            assert!(said.len() < 2_100, "{}", said.len());
            assert!(!said.contains(char::is_control), "{said}");
        }
    }
}
