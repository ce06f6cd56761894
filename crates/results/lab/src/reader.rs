//! Reads and checks the files of a suite.

use std::sync::Arc;

use mimosa_figures::Window;
use mimosa_foreign::{Maker, OutsideName};
use mimosa_scenario::{Files, Scenario};
use mimosa_units::{Time, TimeDelta};

use crate::error::SuiteError;
use crate::figure::{Claim, Plot, kept};
use crate::index;
use crate::measure::Parts;
use crate::rivals::pairs;
use crate::suite::{Body, Case, PageKind, Setting};
use crate::trace::Kept;

/// The path by which a scenario reads the trace that its case names.
const TRACE: &str = "trace.txt";

/// Default time that frames may take beyond the round trip: with 20 ms, frames of up to 50 ms are
/// in time.
const LATE: TimeDelta = TimeDelta::from_millis(30);

/// Constants of the hash FNV-1a with 64 bits.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0100_0000_01b3;

/// Reads the files of a suite, and hashes their content.
pub(crate) struct Reader<'a> {
    suite: &'a str,
    files: &'a mut dyn Files,
    pub(crate) digest: u64,
    /// The path that is read for [`TRACE`].
    trace: Option<String>,
}

impl Files for Reader<'_> {
    fn read(&mut self, path: &str) -> Result<String, String> {
        let path = match &self.trace {
            Some(trace) if path == TRACE => trace,
            _ => path,
        };
        let text = self.files.read(path)?;
        self.digest = mixed(self.digest, text.bytes().chain([0]));
        Ok(text)
    }

    fn outside(&mut self, name: OutsideName<'_>) -> Result<Arc<dyn Maker>, String> {
        let maker = self.files.outside(name)?;
        self.digest = mixed(self.digest, maker.digest().to_le_bytes());
        Ok(maker)
    }
}

/// `digest`, with `bytes` after what it is the hash of.
pub(crate) fn mixed(digest: u64, bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(digest, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(PRIME)
    })
}

impl<'a> Reader<'a> {
    pub(crate) fn new(suite: &'a str, files: &'a mut dyn Files) -> Self {
        Self {
            suite,
            files,
            digest: OFFSET,
            trace: None,
        }
    }
}

impl Reader<'_> {
    /// Name of the suite.
    pub(crate) const fn name(&self) -> &str {
        self.suite
    }

    pub(crate) fn file(&mut self, file: &str) -> Result<String, SuiteError> {
        self.read(file).map_err(|why| SuiteError::Read {
            suite: self.suite.to_owned(),
            file: file.to_owned(),
            why,
        })
    }

    pub(crate) fn wrong(&self, case: &str, why: &str) -> SuiteError {
        SuiteError::Case {
            suite: self.suite.to_owned(),
            case: case.to_owned(),
            why: why.to_owned(),
        }
    }

    /// `case` with one of `all` traces. Its name is the trace's path without the extension, unless
    /// another trace would have the same name.
    pub(crate) fn traced(
        &mut self,
        case: &index::Case,
        trace: &str,
        all: &[String],
    ) -> Result<Case, SuiteError> {
        let bare = |trace: &str| std::path::Path::new(trace).with_extension("");
        let is_alone = all.iter().filter(|each| bare(each) == bare(trace)).count() < 2;
        let name = if is_alone {
            bare(trace).display().to_string()
        } else {
            trace.to_owned()
        };
        self.trace = Some(trace.to_owned());
        let body = self.body(case);
        self.trace = None;
        Ok(Case {
            title: format!("Recorded link {name}"),
            name,
            source: format!("the trace {trace}"),
            expected: case.expected.clone(),
            differs: case.differs.clone(),
            body: body?,
        })
    }

    pub(crate) fn case(&mut self, case: &index::Case) -> Result<Case, SuiteError> {
        self.trace.clone_from(&case.trace);
        let body = self.body(case);
        self.trace = None;
        Ok(Case {
            name: case.name.clone(),
            title: case.title.clone(),
            source: case.source.clone(),
            expected: case.expected.clone(),
            differs: case.differs.clone(),
            body: body?,
        })
    }

    /// Checks that pairs stand on a page that shows them, and that such a page has some.
    pub(crate) fn check_rivals(&self, index: &index::Index) -> Result<(), SuiteError> {
        let pair = index.case.iter().find(|case| !case.rivals.is_empty());
        match (pair, index.page == PageKind::Matrix) {
            (Some(case), false) => {
                let why = "rivals stand on a page of their own; write `page = \"matrix\"`";
                Err(self.wrong(&case.name, why))
            }
            (None, true) => Err(SuiteError::Index {
                suite: self.suite.to_owned(),
                line: 1,
                why: "a page of this kind needs a case with `rivals`".to_owned(),
            }),
            (Some(_), true) | (None, false) => Ok(()),
        }
    }

    /// The figures and claims of an index. Sets in `cases` what runs have to keep for them.
    pub(crate) fn figures(
        &self,
        index: &index::Index,
        cases: &mut [Case],
    ) -> Result<(Vec<Plot>, Vec<Claim>), SuiteError> {
        let entry = |what, name: &str, why: String| SuiteError::Entry {
            suite: self.suite.to_owned(),
            what,
            name: name.to_owned(),
            why,
        };
        let mut plots: Vec<Plot> = Vec::new();
        for figure in &index.figure {
            let taken = plots.iter().any(|plot| plot.name == figure.name);
            let plot = plot(figure, taken, index.page, cases);
            plots.push(plot.map_err(|why| entry("figure", &figure.name, why))?);
        }
        let mut claims = Vec::new();
        for claim in &index.claim {
            let made = if index.page == PageKind::Figure {
                Claim::of(claim, cases)
            } else {
                Err("claims stand on a page of their own; write `page = \"figure\"`".to_owned())
            };
            claims.extend(made.map_err(|why| entry("claim", &claim.text, why))?);
        }
        if index.page == PageKind::Figure && (plots.is_empty() || claims.is_empty()) {
            return Err(SuiteError::Index {
                suite: self.suite.to_owned(),
                line: 1,
                why: "a page of this kind needs a `[[figure]]` and a `[[claim]]`".to_owned(),
            });
        }
        for case in cases {
            if let Body::Carried(settings) = &mut case.body {
                for setting in settings {
                    setting.parts.kept = kept(&case.name, &plots, &claims);
                    let is_alone = setting.beside.is_none();
                    setting.parts.waits = index.page == PageKind::Matrix && is_alone;
                }
            }
        }
        Ok((plots, claims))
    }

    fn body(&mut self, case: &index::Case) -> Result<Body, SuiteError> {
        let file = match (&case.file, &case.not_carried) {
            (Some(file), None) => file,
            (None, Some(why)) => return Ok(Body::NotCarried(why.clone())),
            _ => {
                let why = "it needs either `file = \"….toml\"` or the reason `not_carried = \"…\"`";
                return Err(self.wrong(&case.name, why));
            }
        };
        let text = self.file(file)?;
        let place = format!("{}/{file}", self.suite);
        let loaded = mimosa_scenario::load(&text, &place, self)?;
        let open = open_flows(&text);
        let mut settings = Vec::new();
        let mut carried = 0;
        for (variant, scenario) in loaded.variants {
            let belongs = |names: &Vec<String>| variant.as_ref().is_some_and(|v| names.contains(v));
            if !case.variants.as_ref().is_none_or(belongs) {
                continue;
            }
            carried += 1;
            let parts = self.parts(case, &scenario)?;
            if case.rivals.is_empty() {
                settings.push(Setting {
                    variant,
                    scenario,
                    parts,
                    open: open.clone(),
                    beside: None,
                });
                continue;
            }
            let pairs = pairs(&scenario, &text, &case.rivals);
            let pairs = pairs.map_err(|why| self.wrong(&case.name, &why))?;
            settings.extend(pairs.into_iter().map(|pair| Setting {
                variant: variant.clone(),
                scenario: pair.scenario,
                parts,
                open: vec![pair.stream],
                beside: Some(pair.beside),
            }));
        }
        let wanted = case.variants.as_ref().map_or(1, Vec::len);
        if carried < wanted {
            let why = format!("{file} has not all of these `variants`; write those it has");
            return Err(self.wrong(&case.name, &why));
        }
        Ok(Body::Carried(settings))
    }

    fn parts(&self, case: &index::Case, scenario: &Scenario) -> Result<Parts, SuiteError> {
        let window = |from: Option<TimeDelta>, to: Option<TimeDelta>| {
            let to = to.unwrap_or(scenario.duration);
            let from = from.unwrap_or(TimeDelta::ZERO);
            let valid = TimeDelta::ZERO <= from && from < to && to <= scenario.duration;
            valid.then_some(Window {
                from: Time::ZERO + from,
                to: Time::ZERO + to,
            })
        };
        let fair_from = case.fair_from.or(case.from);
        let fair_to = case.fair_to.or(case.to);
        let parts = window(case.from, case.to).zip(window(fair_from, fair_to));
        let (window, fair) = parts.ok_or_else(|| {
            let why = format!(
                "what counts is no part of the run, which lasts {}; let `from` be before `to`",
                scenario.duration
            );
            self.wrong(&case.name, &why)
        })?;
        Ok(Parts {
            window,
            fair,
            late: case.late.unwrap_or(LATE),
            converges: case.converges,
            kept: Kept::default(),
            waits: false,
        })
    }
}

/// The plot of a figure in the index.
fn plot(
    figure: &index::Figure,
    taken: bool,
    page: PageKind,
    cases: &[Case],
) -> Result<Plot, String> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    if page != PageKind::Figure {
        return Err("it stands on a page of its own; write `page = \"figure\"`".to_owned());
    }
    if figure.name.is_empty() || !figure.name.chars().all(is_plain) {
        return Err("its name is to be a file's; use a-z, 0-9 and -".to_owned());
    }
    if taken {
        return Err("its name is taken; give it another one".to_owned());
    }
    let known: Vec<_> = cases.iter().map(|case| case.name.as_str()).collect();
    let unknown = |name: &&String| !known.contains(&name.as_str());
    if let Some(name) = figure.cases.iter().find(unknown) {
        let known = known.join(", ");
        return Err(format!("there is no case `{name}`; there is {known}"));
    }
    let is_range = |(low, high): (f64, f64)| low < high && (high - low).is_finite();
    if !figure.range.is_none_or(is_range) {
        return Err("`range` is the lowest and the highest value, e.g. [0.0, 50.0]".to_owned());
    }
    Ok(Plot {
        name: figure.name.clone(),
        title: figure.title.clone(),
        cases: figure.cases.clone(),
        shows: figure.shows,
        range: figure.range,
        marks: figure
            .mark
            .iter()
            .map(|mark| (mark.name.clone(), mark.value))
            .collect(),
    })
}

/// The numbers of the video flows of a scenario that name no controller.
fn open_flows(text: &str) -> Vec<usize> {
    let table: toml::Table = toml::from_str(text).unwrap_or_default();
    let flows = table.get("flow").and_then(toml::Value::as_array);
    let is_open = |flow: &toml::Value| {
        let kind = flow.get("kind").and_then(toml::Value::as_str);
        kind.is_none_or(|kind| kind == "video") && flow.get("controller").is_none()
    };
    let numbered = flows.into_iter().flatten().enumerate();
    numbered
        .filter(|(_, flow)| is_open(flow))
        .map(|(number, _)| number)
        .collect()
}
