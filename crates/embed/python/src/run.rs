//! Runs of many seeds on all cores.

use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use mimosa_facts::{Controller, Passage, StreamPacket};
use mimosa_figures::{Window, measure};
use mimosa_record::FrameRow;
use mimosa_scenario::{FlowKind, Scenario as Described};
use mimosa_sim::Run;
use mimosa_sweep::parallel;
use mimosa_units::{Time, TimeDelta};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;

use crate::controller::{PyController, Stop, steered};
use crate::flows::{self, Measured};
use crate::scenario::{Scenario, first_video};
use crate::table::{Table, failed};
use crate::{to_python, window};

/// How often the program that waits looks for an interrupt.
const LOOK: Duration = Duration::from_millis(50);
/// The virtual time after which a run looks whether it is to stop.
const SLICE: TimeDelta = TimeDelta::from_millis(500);

/// Which tables a run keeps besides its figures.
#[derive(Clone, Copy, Default)]
struct Kept {
    frames: bool,
    packets: bool,
}

/// One run: the place of its variant, and its seed.
#[derive(Clone, Copy)]
struct Job {
    variant: usize,
    seed: u64,
}

/// What a run gave.
struct Ran {
    measured: Measured,
    frames: Option<mimosa_record::Table<FrameRow>>,
    packets: Option<mimosa_record::Table<Passage<StreamPacket>>>,
}

/// What replaces the scenario's controllers.
enum Replaced {
    No,
    /// By the name of one of Mimosa's, in all video flows or in one.
    Named(String, Option<usize>),
    /// By what this object of Python makes, in one flow or in the first video flow.
    Made(Maker, Option<usize>),
}

/// An object of Python that makes controllers, or policies.
enum Maker {
    Controller(Py<PyAny>),
    Policy(Py<PyAny>),
}

/// The results of runs.
#[pyclass(frozen, module = "mimosa_lab._native")]
pub(crate) struct RunResult {
    runs: Vec<Measured>,
    window: Window,
    frames: Option<Py<Table>>,
    packets: Option<Py<Table>>,
}

/// The columns of frames that say what was decided, and on what evidence.
const DECISIONS: [&str; 17] = [
    "seed",
    "variant",
    "flow",
    "frame",
    "due_ns",
    "target_bps",
    "limit_bytes",
    "pacing",
    "pace_span_ns",
    "pace_lead",
    "pace_bps",
    "cause",
    "utilization",
    "smoothed_utilization",
    "service_rate_bps",
    "backlog_bytes",
    "queue_delay_ns",
];

#[pymethods]
impl RunResult {
    /// A record of each run, as `mimosa sim --json` prints it.
    #[getter]
    fn figures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let records = to_python(py, &self.runs)?;
        let reading = py.import("mimosa_lab.reading")?;
        reading.call_method1("Records", (records,))
    }

    /// Which part of each run the figures are about: from when to before when, in nanoseconds.
    #[getter]
    fn window_ns(&self) -> (u64, u64) {
        (self.window.from.as_nanos(), self.window.to.as_nanos())
    }

    /// The figures of each flow of each run, as a table.
    #[getter]
    fn flows(&self) -> PyResult<Table> {
        flows::table(&self.runs)
    }

    /// One row for each frame.
    #[getter]
    fn frames(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        kept(self.frames.as_ref(), "frames", py)
    }

    /// One row for each packet.
    #[getter]
    fn packets(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        kept(self.packets.as_ref(), "packets", py)
    }

    /// One row for each frame: what the controller decided before it, by which rule, and on what
    /// evidence.
    #[getter]
    fn decisions(&self, py: Python<'_>) -> PyResult<Table> {
        let frames = kept(self.frames.as_ref(), "frames", py)?;
        let batch = &frames.get().batch;
        let places = DECISIONS.iter().map(|name| batch.schema().index_of(name));
        let places = places.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let batch = batch.project(&places).map_err(failed)?;
        Ok(Table { batch })
    }

    fn __len__(&self) -> usize {
        self.runs.len()
    }

    fn __repr__(&self) -> String {
        format!("<RunResult of {} runs>", self.runs.len())
    }
}

fn kept(table: Option<&Py<Table>>, name: &str, py: Python<'_>) -> PyResult<Py<Table>> {
    table.map(|table| table.clone_ref(py)).ok_or_else(|| {
        let text = format!("the runs kept no {name}: pass `record=(\"{name}\",)`");
        PyValueError::new_err(text)
    })
}

/// Runs every chosen variant with every seed on all cores, and returns the results in the order of
/// the variants and then of the seeds, whatever ran first. Figures are about the `window` alone, from
/// its first to before its second time; `None` is the run's own beginning or end.
#[pyfunction]
#[pyo3(signature = (scenario, seeds, controller, policy, flow, variant, window, record, progress))]
#[expect(clippy::too_many_arguments, reason = "they are Python's, by name")]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Scenario,
    seeds: Vec<u64>,
    controller: Option<Bound<'_, PyAny>>,
    policy: Option<Py<PyAny>>,
    flow: Option<usize>,
    variant: Option<&str>,
    window: (Option<String>, Option<String>),
    record: Vec<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<RunResult> {
    let variants = scenario.chosen(variant)?;
    let jobs = variants.iter().flat_map(|&variant| {
        let job = move |&seed| Job { variant, seed };
        seeds.iter().map(job)
    });
    let jobs: Vec<_> = jobs.collect();
    let window = window::read(window, &scenario.loaded)?;
    let kept = Kept::read(&record)?;
    let replaced = Replaced::read(controller, policy, flow)?;
    let mut described = scenario.loaded.variants.clone();
    replaced.set(&mut described)?;
    let stop = Stop::default();
    let ran = sweep(
        py,
        &described,
        &jobs,
        (window, kept),
        &replaced,
        &stop,
        progress.as_ref(),
    )?;
    let (mut runs, mut frames, mut packets) = (Vec::new(), Vec::new(), Vec::new());
    for ran in ran {
        runs.push(ran.measured);
        frames.extend(ran.frames);
        packets.extend(ran.packets);
    }
    let table = |is_kept: bool, table: PyResult<Table>| -> PyResult<Option<Py<Table>>> {
        is_kept.then(|| Py::new(py, table?)).transpose()
    };
    Ok(RunResult {
        frames: table(kept.frames, Table::of_rows(&frames))?,
        packets: table(kept.packets, Table::of_rows(&packets))?,
        runs,
        window,
    })
}

impl Kept {
    fn read(names: &[String]) -> PyResult<Self> {
        let mut kept = Self::default();
        for name in names {
            match &**name {
                "frames" => kept.frames = true,
                "packets" => kept.packets = true,
                _ => {
                    let text = format!("`record` takes `frames` and `packets`, not `{name}`");
                    return Err(PyKeyError::new_err(text));
                }
            }
        }
        Ok(kept)
    }
}

impl Replaced {
    fn read(
        controller: Option<Bound<'_, PyAny>>,
        policy: Option<Py<PyAny>>,
        flow: Option<usize>,
    ) -> PyResult<Self> {
        let controller = match (controller, policy) {
            (None, None) => return Ok(Self::No),
            (None, Some(policy)) => return Ok(Self::Made(Maker::Policy(policy), flow)),
            (Some(controller), None) => controller,
            (Some(_), Some(_)) => {
                let text = "pass `controller` or `policy`, not both";
                return Err(PyValueError::new_err(text));
            }
        };
        if let Ok(name) = controller.extract::<String>() {
            return Ok(Self::Named(name, flow));
        }
        if controller.is_callable() {
            return Ok(Self::Made(Maker::Controller(controller.unbind()), flow));
        }
        let text = "`controller` takes a name, or a class or function that makes a controller";
        Err(PyValueError::new_err(text))
    }

    /// Gives the flows the controller with the name, if it is one.
    fn set(&self, variants: &mut [(Option<String>, Described)]) -> PyResult<()> {
        for (_, scenario) in variants {
            match self {
                Self::Named(name, chosen) => {
                    let flows = scenario.flows.iter_mut().enumerate();
                    let wanted = flows.filter(|(number, flow)| match chosen {
                        Some(chosen) => chosen == number,
                        None => matches!(flow.kind, FlowKind::Video(_)),
                    });
                    let mut set = 0;
                    for (_, flow) in wanted {
                        if !flow.set_controller(name) {
                            let text = format!(
                                "the flow `{}` can have no controller `{name}`; there is {}",
                                flow.name,
                                mimosa_cc::NAMES.join(", ")
                            );
                            return Err(PyValueError::new_err(text));
                        }
                        set += 1;
                    }
                    if set == 0 {
                        return Err(no_flow(*chosen));
                    }
                }
                Self::Made(_, chosen) if self.flow_of(scenario).is_none() => {
                    return Err(no_flow(*chosen));
                }
                Self::Made(..) | Self::No => {}
            }
        }
        Ok(())
    }

    /// The number of the flow whose controller an object of Python makes.
    fn flow_of(&self, scenario: &Described) -> Option<usize> {
        let Self::Made(_, chosen) = self else {
            return None;
        };
        let flow = chosen.or_else(|| first_video(scenario))?;
        let config = scenario.flows.get(flow)?;
        matches!(config.kind, FlowKind::Video(_)).then_some(flow)
    }

    fn controller(
        &self,
        scenario: &Described,
        number: usize,
        stop: &Stop,
    ) -> Option<Box<dyn Controller>> {
        let Self::Made(maker, _) = self else {
            return None;
        };
        let FlowKind::Video(video) = &scenario.flows.get(number)?.kind else {
            return None;
        };
        if self.flow_of(scenario) != Some(number) {
            return None;
        }
        let made = Python::attach(|py| match maker {
            Maker::Controller(make) => {
                let controller = PyController::new(py, make, video.limits, stop)?;
                Ok(Box::new(controller) as Box<dyn Controller>)
            }
            Maker::Policy(make) => steered(py, make, video.limits, stop),
        });
        match made {
            Ok(controller) => Some(controller),
            Err(error) => {
                stop.set(error);
                None
            }
        }
    }
}

fn no_flow(chosen: Option<usize>) -> PyErr {
    PyValueError::new_err(match chosen {
        Some(flow) => format!("the flow number {flow} is not there, or is no video"),
        None => "the scenario has no video flow".to_owned(),
    })
}

/// Makes the runs on all cores, while this thread looks for interrupts and tells the progress.
fn sweep(
    py: Python<'_>,
    variants: &[(Option<String>, Described)],
    jobs: &[Job],
    watched: (Window, Kept),
    replaced: &Replaced,
    stop: &Stop,
    progress: Option<&Py<PyAny>>,
) -> PyResult<Vec<Ran>> {
    let ran = Mutex::new(Vec::with_capacity(jobs.len()));
    let (told, news) = channel();
    let kept_runs = &ran;
    py.detach(move || {
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let work = |_, job: &Job| one(variants, *job, watched, replaced, stop);
                let take = |_: &Job, result: Option<Ran>| {
                    if let (Some(result), Ok(mut ran)) = (result, kept_runs.lock()) {
                        ran.push(result);
                    }
                    if stop.is_set() { Err(()) } else { Ok(()) }
                };
                // Why it stopped is in `stop`.
                let _ = parallel(jobs, work, take, |progress| {
                    let _ = told.send(progress);
                });
            });
            loop {
                match news.recv_timeout(LOOK) {
                    Ok(so_far) => {
                        let Some(progress) = progress else { continue };
                        let told = Python::attach(|py| {
                            progress.call1(py, (so_far.done, so_far.jobs)).map(drop)
                        });
                        if let Err(error) = told {
                            stop.set(error);
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {
                        let interrupt = Python::attach(|py| py.check_signals().err());
                        if let Some(interrupt) = interrupt {
                            stop.set(interrupt);
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
        });
    });
    if let Some(why) = stop.why() {
        return Err(why);
    }
    Ok(ran.into_inner().unwrap_or_default())
}

/// Makes one run; `None` if it was stopped.
fn one(
    variants: &[(Option<String>, Described)],
    job: Job,
    (window, kept): (Window, Kept),
    replaced: &Replaced,
    stop: &Stop,
) -> Option<Ran> {
    let (variant, scenario) = &variants[job.variant];
    let about = || mimosa_record::Run {
        seed: job.seed,
        variant: variant.clone(),
        flows: scenario
            .flows
            .iter()
            .map(|flow| flow.name.clone())
            .collect(),
    };
    let frames = kept
        .frames
        .then(|| mimosa_record::Table::<FrameRow>::new(about()));
    let packets = kept
        .packets
        .then(|| mimosa_record::Table::<Passage<StreamPacket>>::new(about()));
    let mut tables = (frames, packets);
    let mut is_stopped = false;
    let figures = measure(scenario, window, &mut tables, |observer| {
        let mut controllers = |number| replaced.controller(scenario, number, stop);
        let mut run = Run::with(scenario, job.seed, &mut controllers);
        let end = Time::ZERO + scenario.duration;
        let mut now = Time::ZERO;
        while now < end && !stop.is_set() {
            now += SLICE;
            run.until(now, observer);
        }
        is_stopped = stop.is_set();
        run.finish(observer);
    });
    let (frames, packets) = tables;
    (!is_stopped).then(|| Ran {
        measured: Measured {
            seed: job.seed,
            variant: variant.clone(),
            figures,
        },
        frames,
        packets,
    })
}
