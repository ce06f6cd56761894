//! A suite, read and checked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mimosa_facts::Limits;
use mimosa_foreign::{Maker, OutsideName};
use mimosa_scenario::{Files, FlowKind, Scenario};

use crate::clairvoyant;
use crate::error::SuiteError;
use crate::figure::{Claim, Plot};
use crate::index::Index;
use crate::measure::{self, Parts};
use crate::reader::{Reader, mixed};
use crate::record::{Key, Record};
use crate::rivals::Beside;

pub use crate::index::PageKind;

/// A suite that was read and checked.
#[derive(Debug)]
pub struct Suite {
    /// Name of the suite on the command line.
    pub name: String,
    /// Title of the suite.
    pub title: String,
    /// Purpose of the suite.
    pub about: String,
    /// How its results are shown.
    pub page: PageKind,
    /// First and last seed by default.
    pub seeds: (u64, u64),
    /// The controller with which the others are compared, or `clairvoyant`, a stream that knows what its links will carry.
    pub reference: Option<String>,
    /// The controllers that run by default; if empty, all but `fixed`.
    pub controllers: Vec<String>,
    /// Parameters by controller, for flows without their own controller.
    pub params: BTreeMap<String, toml::Table>,
    /// What makes the controllers that are not part of the program, by their names.
    makers: BTreeMap<String, Arc<dyn Maker>>,
    /// The cases, in the order of the index.
    pub cases: Vec<Case>,
    /// Plots in the axes of a source.
    pub plots: Vec<Plot>,
    /// The claims of a source.
    pub claims: Vec<Claim>,
    /// Hash of every byte that was read, which identifies the suite's content.
    pub digest: u64,
}

/// A case of a suite.
#[derive(Debug)]
pub struct Case {
    /// Short name of the case.
    pub name: String,
    /// Title of the case.
    pub title: String,
    /// Source of the case.
    pub source: String,
    /// The result that the source expects.
    pub expected: Option<String>,
    /// How the scenario differs from the source.
    pub differs: Option<String>,
    /// The scenarios of the case, if it can be simulated.
    pub body: Body,
}

/// The scenarios of a case, or why there are none.
#[derive(Debug)]
pub enum Body {
    /// The variants of the case's scenario.
    Carried(Vec<Setting>),
    /// The case cannot be simulated, for this reason.
    NotCarried(String),
}

/// One variant of a case's scenario.
#[derive(Debug)]
pub struct Setting {
    /// Name of the variant, if there are several.
    pub variant: Option<String>,
    /// The scenario, as in the file.
    pub scenario: Scenario,
    pub(crate) parts: Parts,
    /// Numbers of the video flows that name no controller; with a rival, the stream's.
    pub(crate) open: Vec<usize>,
    /// The flow beside the stream, in a case with rivals.
    pub(crate) beside: Option<Beside>,
}

impl Setting {
    /// The controller of the first video flow, if all video flows name theirs.
    fn own_controller(&self) -> Option<&str> {
        let mut flows = self.scenario.flows.iter();
        let first = flows.find_map(|flow| match &flow.kind {
            FlowKind::Video(video) => Some(video.controller.as_str()),
            FlowKind::Cbr(_) | FlowKind::Tcp(_) => None,
        });
        first.filter(|_| self.open.is_empty())
    }

    /// Whether a run of a case is one of this setting.
    pub(crate) fn has(&self, key: &Key) -> bool {
        let rival = self.beside.as_ref().map(|beside| &beside.rival);
        self.variant == key.variant && rival == key.rival.as_ref()
    }

    /// The numbers of the flows whose controllers the lab decides on, each with its own if
    /// `controller` drives those that name none.
    fn driven<'a>(&'a self, controller: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
        let open = self.open.iter().map(move |number| (*number, controller));
        let beside = self.beside.iter();
        open.chain(beside.map(|beside| (beside.number, beside.rival.controller.as_str())))
    }

    /// Whether a run of `controller` in this setting is the mirror image of another one that runs:
    /// of the rival's controller, with `controller` for its rival.
    fn is_mirrored(&self, controller: &str, all: &BTreeSet<String>, case: &[Self]) -> bool {
        let Some(beside) = self.beside.as_ref().filter(|beside| beside.is_mirror) else {
            return false;
        };
        let rival = &beside.rival;
        let is_there = |other: &Self| {
            let other = other.beside.as_ref().map(|beside| &beside.rival);
            other.is_some_and(|other| other.flow == rival.flow && other.controller == *controller)
        };
        rival.controller.as_str() < controller
            && all.contains(&rival.controller)
            && case.iter().any(is_there)
    }
}

/// The jobs to make from a suite.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The controllers of flows that name none, one after the other; if empty, the suite's.
    pub controllers: Vec<String>,
    /// First and last seed; if `None`, the suite's.
    pub seeds: Option<(u64, u64)>,
    /// Names of the cases; if empty, all.
    pub cases: Vec<String>,
}

/// One run.
#[derive(Debug)]
pub struct Job<'a> {
    /// Identification of the run in the results.
    pub key: Key,
    setting: &'a Setting,
}

impl Suite {
    /// Reads the suite called `name` from its folder. `traces`, if there are any, are paths that
    /// `files` can read, and replace the traces that the index names.
    ///
    /// # Errors
    ///
    /// [`SuiteError`] about the first thing that is wrong.
    pub fn load(name: &str, files: &mut dyn Files, traces: &[String]) -> Result<Self, SuiteError> {
        let mut reader = Reader::new(name, files);
        let text = reader.file("suite.toml")?;
        let index: Index = toml::from_str(&text).map_err(|error| SuiteError::Index {
            suite: name.to_owned(),
            line: error.span().map_or(1, |at| {
                let before = text.get(..at.start).unwrap_or_default();
                before.matches('\n').count() + 1
            }),
            why: error.message().trim().replace('\n', " "),
        })?;
        let (first, last) = index.seeds;
        if first > last {
            return Err(SuiteError::Index {
                suite: name.to_owned(),
                line: 1,
                why: format!("`seeds` = [{first}, {last}] is no range; write the least first"),
            });
        }
        let mut makers = BTreeMap::new();
        let controllers = index.reference.iter().chain(&index.controllers);
        for name in controllers.chain(index.params.keys()) {
            if let Some(outside) = OutsideName::of(name) {
                let maker = reader.outside(outside).map_err(|why| SuiteError::Entry {
                    suite: reader.name().to_owned(),
                    what: "controller",
                    name: name.clone(),
                    why,
                })?;
                makers.insert(name.clone(), maker);
            }
            check_controller(name, &makers)?;
        }
        let mut cases = Vec::new();
        let mut names = BTreeSet::new();
        let mut traces = Some(traces).filter(|traces| !traces.is_empty());
        for case in &index.case {
            if case.trace.is_some() && traces.is_some_and(<[_]>::is_empty) {
                continue;
            }
            let Some(given) = traces.filter(|_| case.trace.is_some()) else {
                cases.push(reader.case(case)?);
                continue;
            };
            for trace in given {
                cases.push(reader.traced(case, trace, given)?);
            }
            traces = Some(&[]);
        }
        if traces.is_some_and(|traces| !traces.is_empty()) {
            return Err(SuiteError::NoTraces {
                suite: name.to_owned(),
            });
        }
        for case in &cases {
            if !names.insert(&case.name) {
                return Err(reader.wrong(&case.name, "its name is taken; give it another one"));
            }
        }
        reader.check_rivals(&index)?;
        let (plots, claims) = reader.figures(&index, &mut cases)?;
        let suite = Self {
            name: name.to_owned(),
            title: index.title,
            about: index.about,
            page: index.page,
            seeds: index.seeds,
            reference: index.reference,
            controllers: index.controllers,
            params: index.params,
            makers,
            cases,
            plots,
            claims,
            digest: reader.digest,
        };
        suite.check_params()?;
        Ok(suite)
    }

    /// Adds the controller called `name` that `maker` makes, so that [`Choice::controllers`] may
    /// name it. Kept runs of the suite with other code of the controller do not count.
    ///
    /// # Errors
    ///
    /// [`SuiteError::Entry`] if the controller does not begin.
    pub fn bring(&mut self, name: &str, maker: Arc<dyn Maker>) -> Result<(), SuiteError> {
        self.digest = mixed(self.digest, name.bytes().chain([0]));
        self.digest = mixed(self.digest, maker.digest().to_le_bytes());
        self.makers.insert(name.to_owned(), maker);
        self.check_params()
    }

    /// Replaces parameters of a controller, given as TOML: `mimosa.pull = 0.05`.
    ///
    /// # Errors
    ///
    /// [`SuiteError::Entry`] if the text is not TOML, or the controller has no such parameter.
    pub fn set_params(&mut self, params: &str) -> Result<(), SuiteError> {
        let wrong = |why: String| SuiteError::Entry {
            suite: self.name.clone(),
            what: "params",
            name: params.to_owned(),
            why,
        };
        let given: BTreeMap<String, toml::Table> = toml::from_str(params).map_err(|error| {
            let why = error.message().trim().replace('\n', " ");
            wrong(format!("{why}; write `mimosa.pull=0.05`"))
        })?;
        for name in given.keys() {
            check_controller(name, &self.makers)?;
        }
        for (name, table) in given {
            self.params.entry(name).or_default().extend(table);
        }
        self.digest = mixed(self.digest, params.bytes());
        self.check_params()
    }

    /// The runs in the order of their results: by case, by variant, by rival, by controller, by
    /// seed. The reference is always among the controllers. A scenario all of whose video flows name
    /// their controllers runs unchanged, once for each seed, under the name of the first one's. Two
    /// controllers that are rivals of each other run under the name of the first one alone. The `clairvoyant`
    /// runs where one video flow has its links without TCP.
    ///
    /// # Errors
    ///
    /// [`SuiteError`] if a controller or case does not exist.
    pub fn jobs(&self, choice: &Choice) -> Result<Vec<Job<'_>>, SuiteError> {
        for name in &choice.cases {
            self.check_case(name)?;
        }
        let controllers = self.controllers(choice)?;
        let (first, last) = choice.seeds.unwrap_or(self.seeds);
        let mut jobs = Vec::new();
        let wanted = |case: &&Case| choice.cases.is_empty() || choice.cases.contains(&case.name);
        for case in self.cases.iter().filter(wanted) {
            let Body::Carried(settings) = &case.body else {
                continue;
            };
            for setting in settings {
                let own = setting.own_controller().map(str::to_owned);
                let own = own.map(|name| BTreeSet::from([name]));
                let driving = own.as_ref().unwrap_or(&controllers);
                let has_bound = clairvoyant::stream(&setting.scenario).is_some();
                let is_new = |name: &&String| {
                    (has_bound || *name != clairvoyant::NAME)
                        && !setting.is_mirrored(name, driving, settings)
                };
                let rival = setting.beside.as_ref().map(|beside| &beside.rival);
                for controller in driving.iter().filter(is_new) {
                    jobs.extend((first..=last).map(|seed| Job {
                        key: Key {
                            case: case.name.clone(),
                            variant: setting.variant.clone(),
                            rival: rival.cloned(),
                            controller: controller.clone(),
                            seed,
                        },
                        setting,
                    }));
                }
            }
        }
        Ok(jobs)
    }

    /// The chosen controllers and the reference, without repetition and in the order of their
    /// names.
    fn controllers(&self, choice: &Choice) -> Result<BTreeSet<String>, SuiteError> {
        let mut controllers: BTreeSet<String> = choice.controllers.iter().cloned().collect();
        if controllers.is_empty() {
            controllers.extend(self.controllers.iter().cloned());
        }
        if controllers.is_empty() {
            let all = mimosa_cc::NAMES.iter().filter(|name| **name != "fixed");
            controllers.extend(all.map(|name| (*name).to_owned()));
        }
        for name in &controllers {
            check_controller(name, &self.makers)?;
        }
        controllers.extend(self.reference.clone());
        Ok(controllers)
    }

    /// Checks that parameters fit their controllers, in every scenario. Controllers from outside
    /// are made once, with the limits of the first scenario.
    fn check_params(&self) -> Result<(), SuiteError> {
        let settings = self.cases.iter().filter_map(|case| match &case.body {
            Body::Carried(settings) => Some(settings),
            Body::NotCarried(_) => None,
        });
        let mut limits = Vec::new();
        for setting in settings.flatten() {
            for (number, _) in setting.driven("") {
                let flow = setting.scenario.flows.get(number);
                if let Some(FlowKind::Video(video)) = flow.map(|flow| &flow.kind) {
                    limits.push(video.limits);
                }
            }
        }
        let none = toml::Table::new();
        for (name, maker) in &self.makers {
            let params = self.params.get(name).unwrap_or(&none);
            let checked = limits.first().map(|limits| maker.check(params, *limits));
            checked
                .unwrap_or(Ok(()))
                .map_err(|why| self.wrong_params(name, why))?;
        }
        let ours = self.params.iter();
        for (name, params) in ours.filter(|(name, _)| !self.makers.contains_key(*name)) {
            for limits in &limits {
                build(name, params, *limits).map_err(|why| self.wrong_params(name, why))?;
            }
        }
        Ok(())
    }

    fn wrong_params(&self, name: &str, why: String) -> SuiteError {
        SuiteError::Entry {
            suite: self.name.clone(),
            what: "params of",
            name: name.to_owned(),
            why,
        }
    }

    fn check_case(&self, name: &str) -> Result<(), SuiteError> {
        let found = self.cases.iter().find(|case| case.name == *name);
        match found.map(|case| &case.body) {
            Some(Body::Carried(_)) => Ok(()),
            Some(Body::NotCarried(why)) => Err(SuiteError::NotCarried {
                suite: self.name.clone(),
                name: name.to_owned(),
                why: why.clone(),
            }),
            None => {
                let known: Vec<_> = self.cases.iter().map(|case| case.name.as_str()).collect();
                Err(SuiteError::UnknownCase {
                    suite: self.name.clone(),
                    name: name.to_owned(),
                    known: known.join(", "),
                })
            }
        }
    }

    /// Runs one of [`Suite::jobs`]. The same job gives the same record.
    ///
    /// # Errors
    ///
    /// [`SuiteError::Failed`] if a controller from outside the program fails.
    pub fn run(&self, job: &Job<'_>) -> Result<Record, SuiteError> {
        let mut scenario = job.setting.scenario.clone();
        if job.key.controller == clairvoyant::NAME {
            clairvoyant::take(&mut scenario);
        }
        for (number, controller) in job.setting.driven(&job.key.controller) {
            let Some(flow) = scenario.flows.get_mut(number) else {
                continue;
            };
            match self.makers.get(controller) {
                Some(maker) => flow.set_outside(controller, Arc::clone(maker)),
                None => flow.set_controller(controller),
            };
            if let FlowKind::Video(video) = &mut flow.kind
                && let Some(params) = self.params.get(controller)
                && video.params.is_empty()
            {
                video.params.clone_from(params);
            }
        }
        measure::run(&scenario, job.setting.parts, job.key.clone()).map_err(|failed| {
            SuiteError::Failed {
                suite: self.name.clone(),
                case: job.key.case.clone(),
                seed: job.key.seed,
                why: failed.to_string(),
            }
        })
    }
}

fn build(name: &str, params: &toml::Table, limits: Limits) -> Result<(), String> {
    mimosa_cc::build(name, toml::Value::Table(params.clone()), limits)
        .map(drop)
        .map_err(|error| error.to_string())
}

fn check_controller(
    name: &str,
    makers: &BTreeMap<String, Arc<dyn Maker>>,
) -> Result<(), SuiteError> {
    let is_known = mimosa_cc::NAMES.contains(&name) || name == clairvoyant::NAME;
    if is_known || makers.contains_key(name) {
        return Ok(());
    }
    Err(SuiteError::UnknownController {
        name: name.to_owned(),
    })
}
