//! Sessions that a learner steers.

use std::sync::{Mutex, PoisonError};

use mimosa_learn::{Action, Observation, Rewards, Step};
use mimosa_units::TimeDelta;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::scenario::{Scenario, first_video};

/// Numbers of an action: target in Mbit/s, size limit, pace.
const ACTION: usize = 3;

/// A session that is steered frame by frame.
#[pyclass(module = "mimosa_lab._native")]
pub(crate) struct Episode {
    inner: Owned,
}

/// A session with one owner at a time, which Python's threads may pass on.
struct Owned(Mutex<mimosa_learn::Episode>);

impl Owned {
    const fn new(episode: mimosa_learn::Episode) -> Self {
        Self(Mutex::new(episode))
    }

    fn get(&mut self) -> &mut mimosa_learn::Episode {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a step gives: observation, reward, and of the frames that ended how many there are, how many
/// were late, the bytes of those in time and the sum of their delays in milliseconds; then the regret, in a session
/// beside the oracle.
type Stepped = ([f64; 11], f64, (u32, u32, u64, f64), Option<f64>);

#[pymethods]
impl Episode {
    #[new]
    fn new(
        scenario: &Scenario,
        seed: u64,
        flow: Option<usize>,
        variant: Option<&str>,
        rewards: (f64, f64, f64, f64),
        oracle: bool,
    ) -> PyResult<Self> {
        let place = scenario.chosen(variant)?[0];
        let valued = Valued {
            rewards: read(rewards)?,
            oracle,
        };
        let inner = begin(scenario, place, seed, flow, valued)?;
        Ok(Self {
            inner: Owned::new(inner),
        })
    }

    /// The observation before the first frame.
    #[getter]
    fn first(&mut self) -> [f64; 11] {
        self.inner.get().first().values()
    }

    /// The lowest, the first and the highest target, in Mbit/s.
    #[getter]
    fn limits(&mut self) -> (f64, f64, f64) {
        let limits = self.inner.get().limits();
        let [min, start, max] = [limits.min(), limits.start(), limits.max()];
        (min.as_mbps(), start.as_mbps(), max.as_mbps())
    }

    /// Goes on to the next frame; `None` if the session is over.
    fn step(&mut self, target_mbps: f64, limit: f64, pace: f64) -> Option<Stepped> {
        let action = Action {
            target_mbps,
            limit,
            pace,
        };
        let step = self.inner.get().step(action)?;
        let outcome = step.outcome;
        let counts = (
            outcome.frames,
            outcome.late,
            outcome.in_time.get(),
            outcome.delay.as_millis(),
        );
        Some((step.observation.values(), step.reward, counts, step.regret))
    }
}

/// How steps are valued.
#[derive(Clone, Copy)]
struct Valued {
    rewards: Rewards,
    /// Whether the oracle plays beside, and regret is counted.
    oracle: bool,
}

/// Several sessions that are steered at once. A session that is over begins anew with another
/// scenario of the list and the next seed.
#[pyclass(module = "mimosa_lab._native")]
pub(crate) struct Episodes {
    scenarios: Vec<Py<Scenario>>,
    valued: Valued,
    playing: Vec<Owned>,
    /// The seed of the next session that begins, which chooses its scenario too.
    next: u64,
}

#[pymethods]
impl Episodes {
    #[new]
    fn new(
        py: Python<'_>,
        scenarios: Vec<Py<Scenario>>,
        count: usize,
        seed: u64,
        rewards: (f64, f64, f64, f64),
        oracle: bool,
    ) -> PyResult<Self> {
        if scenarios.is_empty() {
            return Err(PyValueError::new_err("there must be a scenario"));
        }
        let mut all = Self {
            scenarios,
            valued: Valued {
                rewards: read(rewards)?,
                oracle,
            },
            playing: Vec::new(),
            next: seed,
        };
        for _ in 0..count {
            let episode = all.begin(py)?;
            all.playing.push(Owned::new(episode));
        }
        Ok(all)
    }

    /// The observations before each session's first frame: little-endian numbers of 4 bytes.
    fn first<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let playing = self.playing.iter_mut();
        let values = playing.map(|episode| episode.get().first().values());
        PyBytes::new(py, &packed(values.flatten()))
    }

    /// The limits of each session's target in Mbit/s.
    fn limits(&mut self) -> Vec<(f64, f64)> {
        let limits = self
            .playing
            .iter_mut()
            .map(|episode| episode.get().limits());
        let both = limits.map(|it| (it.min().as_mbps(), it.max().as_mbps()));
        both.collect()
    }

    /// Steps all sessions: `actions` has three numbers of 4 bytes for each. Gives observations,
    /// rewards, whether each session was over and has begun anew, and regrets, which are zero without the oracle, as
    /// numbers of 4 bytes.
    fn step<'py>(&mut self, py: Python<'py>, actions: &[u8]) -> PyResult<[Bound<'py, PyBytes>; 4]> {
        let number = size_of::<f32>();
        if actions.len() != self.playing.len() * ACTION * number {
            let text = format!(
                "{} actions of {ACTION} numbers are wanted",
                self.playing.len()
            );
            return Err(PyValueError::new_err(text));
        }
        let numbers = actions.chunks_exact(number).map(|bytes| {
            let bytes = <[u8; 4]>::try_from(bytes).unwrap_or_default();
            f64::from(f32::from_le_bytes(bytes))
        });
        let numbers: Vec<_> = numbers.collect();
        let playing = &mut self.playing;
        let steps: Vec<Option<Step>> = py.detach(|| {
            let both = playing.iter_mut().zip(numbers.chunks_exact(ACTION));
            let step = |(episode, action): (&mut Owned, &[f64])| {
                episode.get().step(Action {
                    target_mbps: action[0],
                    limit: action[1],
                    pace: action[2],
                })
            };
            both.map(step).collect()
        });
        let mut observations: Vec<Observation> = Vec::with_capacity(steps.len());
        for (place, step) in steps.iter().enumerate() {
            observations.push(if let Some(step) = step {
                step.observation
            } else {
                let episode = self.begin(py)?;
                let first = episode.first();
                self.playing[place] = Owned::new(episode);
                first
            });
        }
        let values = observations.iter().flat_map(Observation::values);
        let rewards = steps
            .iter()
            .map(|step| step.map_or(0.0, |step| step.reward));
        let over = steps.iter().map(|step| f64::from(u8::from(step.is_none())));
        let regrets = steps.iter().map(|step| step.and_then(|step| step.regret));
        let regrets = regrets.map(Option::unwrap_or_default);
        Ok([
            PyBytes::new(py, &packed(values)),
            PyBytes::new(py, &packed(rewards)),
            PyBytes::new(py, &packed(over)),
            PyBytes::new(py, &packed(regrets)),
        ])
    }
}

impl Episodes {
    fn begin(&mut self, py: Python<'_>) -> PyResult<mimosa_learn::Episode> {
        let seed = self.next;
        self.next += 1;
        let count = self.scenarios.len() as u64;
        let place = usize::try_from(seed % count).unwrap_or_default();
        let scenario = self.scenarios[place].bind(py).get();
        let variants = scenario.loaded.variants.len() as u64;
        let variant = usize::try_from((seed / count) % variants).unwrap_or_default();
        begin(scenario, variant, seed, None, self.valued)
    }
}

fn begin(
    scenario: &Scenario,
    variant: usize,
    seed: u64,
    flow: Option<usize>,
    valued: Valued,
) -> PyResult<mimosa_learn::Episode> {
    let (_, described) = &scenario.loaded.variants[variant];
    let flow = flow.or_else(|| first_video(described)).unwrap_or_default();
    let make = if valued.oracle {
        mimosa_learn::Episode::beside_oracle
    } else {
        mimosa_learn::Episode::new
    };
    make(described, seed, flow, valued.rewards)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Weights and the deadline in milliseconds.
fn read((rate, late, delay, deadline_ms): (f64, f64, f64, f64)) -> PyResult<Rewards> {
    if !(deadline_ms > 0.0 && deadline_ms.is_finite()) {
        let text = format!("`deadline_ms` must be above zero, but is {deadline_ms}");
        return Err(PyValueError::new_err(text));
    }
    Ok(Rewards {
        rate,
        late,
        delay,
        deadline: TimeDelta::from_secs(deadline_ms / 1e3),
    })
}

/// Numbers of 4 bytes.
fn packed(values: impl Iterator<Item = f64>) -> Vec<u8> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "learners take numbers of 4 bytes"
    )]
    let bytes = values.flat_map(|value| (value as f32).to_le_bytes());
    bytes.collect()
}
