//! Statistics of a trace.
//!
//! The statistics are about mean rates in cells of 100 ms from the trace's beginning, the
//! granularity at which the Pudica paper recorded bandwidth (section 2.2). What is left of the
//! trace after the last whole cell does not count.

use mimosa_units::{Rate, TimeDelta, nearest_rank_index};

use crate::Trace;

/// Length of a cell, over which a rate is a mean.
pub const CELL: TimeDelta = TimeDelta::from_millis(100);
/// Longest trace that has statistics: a longer one is a mistake of units.
pub const LONGEST: TimeDelta = TimeDelta::from_millis(7 * 24 * 3_600_000);
/// The percentiles in [`Statistics`], as nearest ranks.
pub const PERCENTILES: [u32; 7] = [1, 5, 25, 50, 75, 95, 99];
/// Distances between the cells in [`Statistics::autocorrelation`].
pub const LAGS: [TimeDelta; 3] = [
    CELL,
    TimeDelta::from_millis(1_000),
    TimeDelta::from_millis(10_000),
];
/// Least number of cells in an outage.
pub const OUTAGE_CELLS: usize = 2;
/// Default floor of an outage, as a share of the mean rate.
const FLOOR: f64 = 0.05;

/// The statistics of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Length of the trace, after which it repeats.
    pub length: TimeDelta,
    /// The mean rate over the whole trace.
    pub mean: Rate,
    /// The [`PERCENTILES`] of the cells' rates.
    pub rates: [Rate; 7],
    /// Standard deviation of the cells' rates over their mean.
    pub variation: f64,
    /// Autocorrelation of the cells' rates at each of [`LAGS`], from -1 to 1; `None` if the trace
    /// is no longer than the lag, or its rate constant.
    pub autocorrelation: [Option<f64>; 3],
    /// Number of cells for each minute with less than half of the rate of the cell before: the
    /// falls by more than 50 % within 100 ms in the Pudica paper's Fig. 4.
    pub falls_per_minute: f64,
    /// The outages of the trace.
    pub outages: Outages,
    /// The [`PERCENTILES`] of the round trip over time, if the trace has it.
    pub round_trips: Option<[TimeDelta; 7]>,
    /// The [`PERCENTILES`] of the loss over time, from 0 to 1, if the trace has it.
    pub losses: Option<[f64; 7]>,
}

/// The outages of a trace: runs of at least [`OUTAGE_CELLS`] cells with a rate at or below a floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outages {
    /// The rate at or below which a cell is part of an outage.
    pub floor: Rate,
    /// Number of outages.
    pub count: usize,
    /// Share of the time in outages, from 0 to 1.
    pub share: f64,
    /// Length of the longest outage.
    pub longest: TimeDelta,
}

/// The trace is longer than [`LONGEST`].
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the trace lasts {0}, longer than a week; check the unit of its times, or cut it")]
pub struct TooLong(
    /// Length of the trace.
    pub TimeDelta,
);

impl Statistics {
    /// The statistics of `trace`. The floor of an outage is `floor`, or a twentieth of the mean
    /// without it.
    ///
    /// # Errors
    ///
    /// [`TooLong`] if the trace is longer than a week.
    pub fn of(trace: &Trace, floor: Option<Rate>) -> Result<Self, TooLong> {
        let cells = means(trace, CELL)?;
        let mean = trace.mean();
        let mut sorted = cells.clone();
        sorted.sort_unstable();
        let minutes = (CELL * u32::try_from(cells.len()).unwrap_or(u32::MAX)).as_secs() / 60.0;
        let round_trips = trace
            .spans()
            .filter_map(|(segment, lasts)| Some((segment.round_trip?, lasts)))
            .collect();
        let losses = trace
            .spans()
            .filter_map(|(segment, lasts)| Some((segment.loss?, lasts)))
            .collect();
        Ok(Self {
            length: trace.length,
            mean,
            rates: PERCENTILES
                .map(|percent| sorted[nearest_rank_index(sorted.len(), share(percent))]),
            variation: variation(&cells),
            autocorrelation: LAGS.map(|lag| autocorrelation(&cells, cells_in(lag))),
            falls_per_minute: falls(&cells).count() as f64 / minutes,
            outages: outages(&cells, floor.unwrap_or(mean.scale(FLOOR))),
            round_trips: by_time(round_trips, TimeDelta::cmp),
            losses: by_time(losses, f64::total_cmp),
        })
    }
}

/// The mean rates of `trace` in cells of `width`, from its beginning to the last
/// whole one; a shorter trace is one cell.
///
/// # Errors
///
/// [`TooLong`] if the trace is longer than a week.
pub fn means(trace: &Trace, width: TimeDelta) -> Result<Vec<Rate>, TooLong> {
    if trace.length > LONGEST {
        return Err(TooLong(trace.length));
    }
    let width = width.min(trace.length).max(TimeDelta::from_nanos(1));
    let nanos = u128::from(width.as_nanos().unsigned_abs());
    let mut means = Vec::new();
    let (mut end, mut passed) = (width, 0);
    for (segment, lasts) in trace.spans() {
        let mut at = segment.at;
        let until = segment.at + lasts;
        while at < until {
            let part = until.min(end) - at;
            passed +=
                u128::from(segment.rate.as_bps()) * u128::from(part.as_nanos().unsigned_abs());
            at += part;
            if at == end {
                let mean = (passed + nanos / 2) / nanos;
                means.push(Rate::from_bps(u64::try_from(mean).unwrap_or(u64::MAX)));
                end += width;
                passed = 0;
            }
        }
    }
    // A trace without segments passes nothing.
    if means.is_empty() {
        means.push(Rate::ZERO);
    }
    Ok(means)
}

/// The indices of the cells whose rate is less than half of that of the cell before.
pub fn falls(cells: &[Rate]) -> impl Iterator<Item = usize> {
    cells
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| pair[1] + pair[1] < pair[0])
        .map(|(index, _)| index + 1)
}

fn cells_in(span: TimeDelta) -> usize {
    usize::try_from(span.as_nanos() / CELL.as_nanos()).unwrap_or(usize::MAX)
}

/// `percent` as a share of one.
fn share(percent: u32) -> f64 {
    f64::from(percent) / 100.0
}

/// The mean of the cells, and the sum of the squared differences from it, in Mbit/s.
fn moments(cells: &[Rate]) -> (f64, f64) {
    let mean = cells.iter().map(|cell| cell.as_mbps()).sum::<f64>() / cells.len() as f64;
    let square = |cell: &Rate| (cell.as_mbps() - mean) * (cell.as_mbps() - mean);
    (mean, cells.iter().map(square).sum())
}

fn variation(cells: &[Rate]) -> f64 {
    let (mean, squares) = moments(cells);
    if mean > 0.0 {
        (squares / cells.len() as f64).sqrt() / mean
    } else {
        0.0
    }
}

fn autocorrelation(cells: &[Rate], lag: usize) -> Option<f64> {
    let (mean, squares) = moments(cells);
    if cells.len() <= lag || squares <= 0.0 {
        return None;
    }
    let products = cells
        .iter()
        .zip(&cells[lag..])
        .map(|(one, other)| (one.as_mbps() - mean) * (other.as_mbps() - mean));
    Some(products.sum::<f64>() / squares)
}

fn outages(cells: &[Rate], floor: Rate) -> Outages {
    let runs = cells
        .chunk_by(|one, other| (*one <= floor) == (*other <= floor))
        .filter(|run| run[0] <= floor && run.len() >= OUTAGE_CELLS);
    let lengths: Vec<usize> = runs.map(<[Rate]>::len).collect();
    let longest = lengths.iter().copied().max().unwrap_or(0);
    Outages {
        floor,
        count: lengths.len(),
        share: lengths.iter().sum::<usize>() as f64 / cells.len() as f64,
        longest: CELL * u32::try_from(longest).unwrap_or(u32::MAX),
    }
}

/// The values below which each percentile of the time lies.
fn by_time<T: Copy>(
    mut values: Vec<(T, TimeDelta)>,
    order: fn(&T, &T) -> std::cmp::Ordering,
) -> Option<[T; 7]> {
    let total: TimeDelta = values
        .iter()
        .fold(TimeDelta::ZERO, |sum, value| sum + value.1);
    values.sort_by(|one, other| order(&one.0, &other.0));
    let (most, _) = *values.last()?;
    Some(PERCENTILES.map(|percent| {
        let until = total.scale(share(percent));
        let mut passed = TimeDelta::ZERO;
        let reached = values.iter().find(|(_, lasts)| {
            passed += *lasts;
            passed >= until
        });
        reached.map_or(most, |(value, _)| *value)
    }))
}
