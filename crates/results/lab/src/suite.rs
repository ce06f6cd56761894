//! A suite, read and checked.

use std::collections::{BTreeMap, BTreeSet};

use mimosa_scenario::{Files, FlowKind, Scenario};

use crate::error::SuiteError;
use crate::figure::{Claim, Plot};
use crate::index::Index;
use crate::measure::{self, Parts};
use crate::reader::{PRIME, Reader};
use crate::record::{Key, Record};

pub use crate::index::PageKind;

/// A suite, ready to run.
#[derive(Debug)]
pub struct Suite {
    /// Its name on the command line.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// What it is for.
    pub about: String,
    /// How its results are shown.
    pub page: PageKind,
    /// First and last seed when none are asked for.
    pub seeds: (u64, u64),
    /// The controller that the others are compared with.
    pub reference: Option<String>,
    /// The controllers that run when none are asked for; empty for all but `fixed`.
    pub controllers: Vec<String>,
    /// Parameters by controller, where it takes the place of those of flows without any.
    pub params: BTreeMap<String, toml::Table>,
    /// In the order of the index.
    pub cases: Vec<Case>,
    /// Plots in the axes of a source.
    pub plots: Vec<Plot>,
    /// What a source claims.
    pub claims: Vec<Claim>,
    /// Stands for every byte that was read: another digest, another suite.
    pub digest: u64,
}

/// A case of a suite.
#[derive(Debug)]
pub struct Case {
    /// Its short name.
    pub name: String,
    /// What it is about.
    pub title: String,
    /// Where it comes from.
    pub source: String,
    /// What the source expects.
    pub expected: Option<String>,
    /// In what the scenario is not as in the source.
    pub differs: Option<String>,
    /// What there is to run.
    pub body: Body,
}

/// What there is to run of a case.
#[derive(Debug)]
pub enum Body {
    /// The forms of its scenario.
    Carried(Vec<Setting>),
    /// Nothing, for this reason.
    NotCarried(String),
}

/// One form of a case's scenario.
#[derive(Debug)]
pub struct Setting {
    /// The variant's name.
    pub variant: Option<String>,
    /// The scenario, as the file has it.
    pub scenario: Scenario,
    pub(crate) parts: Parts,
    /// The video flows that name no controller.
    pub(crate) open: Vec<usize>,
}

impl Setting {
    /// The controller of the first video flow when all of them name theirs.
    fn own_controller(&self) -> Option<&str> {
        let mut flows = self.scenario.flows.iter();
        let first = flows.find_map(|flow| match &flow.kind {
            FlowKind::Video(video) => Some(video.controller.as_str()),
            FlowKind::Cbr(_) | FlowKind::Tcp(_) => None,
        });
        first.filter(|_| self.open.is_empty())
    }
}

/// What of a suite is to be run.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Of the flows that name none, one after the other; empty for the suite's.
    pub controllers: Vec<String>,
    /// First and last seed; `None` for the suite's.
    pub seeds: Option<(u64, u64)>,
    /// Names of cases; empty for all.
    pub cases: Vec<String>,
}

/// One run.
#[derive(Debug)]
pub struct Job<'a> {
    /// Its name in the results.
    pub key: Key,
    setting: &'a Setting,
}

impl Suite {
    /// Reads the suite called `name` from its folder. When there are `traces`, paths that
    /// `files` can read, they take the place of those that the index names.
    ///
    /// # Errors
    ///
    /// [`SuiteError`] with the first thing that is wrong.
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
        for name in index.reference.iter().chain(&index.controllers) {
            check_controller(name)?;
        }
        for name in index.params.keys() {
            check_controller(name)?;
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
            cases,
            plots,
            claims,
            digest: reader.digest,
        };
        suite.check_params()?;
        Ok(suite)
    }

    /// Sets parameters of a controller in place of the suite's, as TOML has them:
    /// `mimosa.pull = 0.05`.
    ///
    /// # Errors
    ///
    /// [`SuiteError::Entry`] when that is no TOML or the controller has no such parameter.
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
            check_controller(name)?;
        }
        for (name, table) in given {
            self.params.entry(name).or_default().extend(table);
        }
        for byte in params.bytes() {
            self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(PRIME);
        }
        self.check_params()
    }

    /// The runs, in the order of their results: case by case, variant by variant,
    /// controller by controller, seed by seed. The reference is always among them. A
    /// scenario all of whose video flows name their controllers runs as it is, once for each
    /// seed, under the name of the first's.
    ///
    /// # Errors
    ///
    /// [`SuiteError`] when a controller or case does not exist.
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
                for controller in own.as_ref().unwrap_or(&controllers) {
                    jobs.extend((first..=last).map(|seed| Job {
                        key: Key {
                            case: case.name.clone(),
                            variant: setting.variant.clone(),
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

    /// Those that are asked for, each once and in the order of their names, and the
    /// reference.
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
            check_controller(name)?;
        }
        controllers.extend(self.reference.clone());
        Ok(controllers)
    }

    /// Whether parameters fit the controllers they are of, in every scenario.
    fn check_params(&self) -> Result<(), SuiteError> {
        let settings = self.cases.iter().filter_map(|case| match &case.body {
            Body::Carried(settings) => Some(settings),
            Body::NotCarried(_) => None,
        });
        for setting in settings.flatten() {
            for &number in &setting.open {
                let flow = setting.scenario.flows.get(number);
                let Some(FlowKind::Video(video)) = flow.map(|flow| &flow.kind) else {
                    continue;
                };
                for (controller, params) in &self.params {
                    let params = toml::Value::Table(params.clone());
                    mimosa_cc::build(controller, params, video.limits).map_err(|error| {
                        SuiteError::Entry {
                            suite: self.name.clone(),
                            what: "params of",
                            name: controller.clone(),
                            why: error.to_string(),
                        }
                    })?;
                }
            }
        }
        Ok(())
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
    #[must_use]
    pub fn run(&self, job: &Job<'_>) -> Record {
        let Setting {
            scenario,
            parts,
            open,
            ..
        } = job.setting;
        let mut scenario = scenario.clone();
        for &number in open {
            if let Some(flow) = scenario.flows.get_mut(number)
                && let FlowKind::Video(video) = &mut flow.kind
            {
                video.controller.clone_from(&job.key.controller);
                if let Some(params) = self.params.get(&job.key.controller)
                    && video.params.is_empty()
                {
                    video.params.clone_from(params);
                }
            }
        }
        measure::run(&scenario, *parts, job.key.clone())
    }
}

fn check_controller(name: &str) -> Result<(), SuiteError> {
    if mimosa_cc::NAMES.contains(&name) {
        return Ok(());
    }
    Err(SuiteError::UnknownController {
        name: name.to_owned(),
    })
}
