//! The summary of a clip's frames.

use std::fmt;

use mimosa_facts::Complexity;
use mimosa_units::{TimeDelta, nearest_rank};

use super::frames::Row;

/// Number of frames at the beginning that do not count: the encoder looks for its quantiser.
const WARM_UP: usize = 10;

/// The figures of a clip, in milliseconds and kilobits per frame.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Summary {
    frames: usize,
    kilobits_per_frame: f64,
    largest_over_mean: f64,
    latency_ms: Quantiles,
    encoding_ms: Quantiles,
    prediction_ms_p50: f64,
    psnr_db: f64,
    /// Per cent of frames at c0, c0+, c1 and c2.
    levels_percent: [f64; 4],
    /// Savings that c0+, c1 and c2 are expected to bring at the end, in per cent.
    saves_percent: [f64; 3],
    /// Encoding times of c0+, c1 and c2 relative to c0.
    work: [f64; 3],
    attempts: f64,
    /// Correlation of predicted sizes with sizes at equal quality.
    prediction_correlation: Option<f64>,
}

/// The median and the tail of a time.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
struct Quantiles {
    p50: f64,
    p95: f64,
    p99: f64,
}

impl Quantiles {
    /// The quantiles by nearest rank.
    fn of(rows: &[Row], time: impl Fn(&Row) -> TimeDelta) -> Self {
        let mut times: Vec<f64> = rows.iter().map(|row| time(row).as_millis()).collect();
        times.sort_by(f64::total_cmp);
        let at = |share| nearest_rank(&times, share).unwrap_or_default();
        Self {
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
        }
    }
}

impl Summary {
    /// The summary of all frames but the first; `None` if there are no others.
    pub(crate) fn of(rows: &[Row]) -> Option<Self> {
        let rows = rows.get(WARM_UP..).filter(|rows| !rows.is_empty())?;
        let last = rows.last()?;
        let count = rows.len() as f64;
        let mean = |value: &dyn Fn(&Row) -> f64| rows.iter().map(value).sum::<f64>() / count;
        let bits = mean(&|row| row.coded.bits() as f64);
        let largest = rows.iter().map(|row| row.coded.bits()).max()?;
        let error = mean(&|row| row.distortion);
        Some(Self {
            frames: rows.len(),
            kilobits_per_frame: bits / 1e3,
            largest_over_mean: largest as f64 / bits,
            latency_ms: Quantiles::of(rows, |row| row.waits.total),
            encoding_ms: Quantiles::of(rows, |row| row.encoding),
            prediction_ms_p50: Quantiles::of(rows, |row| row.prediction).p50,
            psnr_db: 10.0 * libm::log10(255.0 * 255.0 / error.max(1e-6)),
            levels_percent: Complexity::ALL
                .map(|level| 100.0 * mean(&|row| f64::from(u8::from(row.complexity == level)))),
            saves_percent: last.saves.map(|part| 100.0 * part)[1..].try_into().ok()?,
            work: last.work[1..].try_into().ok()?,
            attempts: mean(&|row| f64::from(row.attempts)),
            prediction_correlation: correlation(rows),
        })
    }
}

/// Correlation of the logarithms of predicted sizes with those of sizes times the error, which are
/// the sizes at one error for all frames (`crates/media/video`).
fn correlation(rows: &[Row]) -> Option<f64> {
    let pairs: Vec<(f64, f64)> = rows
        .iter()
        .filter(|row| row.relative > 0.0 && row.distortion > 0.0 && row.coded.get() > 0)
        .map(|row| {
            let equal = row.coded.get() as f64 * libm::pow(row.distortion, 0.8);
            (libm::log(row.relative), libm::log(equal))
        })
        .collect();
    let count = pairs.len() as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| pairs.iter().map(part).sum::<f64>() / count;
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let moment = |part: &dyn Fn(f64, f64) -> f64| {
        pairs
            .iter()
            .map(|pair| part(pair.0 - x, pair.1 - y))
            .sum::<f64>()
    };
    let spread = libm::sqrt(moment(&|x, _| x * x) * moment(&|_, y| y * y));
    (spread > 0.0).then(|| moment(&|x, y| x * y) / spread)
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times =
            |times: &Quantiles| format!("{:.1}, {:.1}, {:.1} ms", times.p50, times.p95, times.p99);
        writeln!(f, "frames                   {}", self.frames)?;
        writeln!(
            f,
            "size in the mean         {:.1} kbit",
            self.kilobits_per_frame
        )?;
        writeln!(f, "largest over the mean    {:.2}", self.largest_over_mean)?;
        writeln!(f, "latency p50, p95, p99    {}", times(&self.latency_ms))?;
        writeln!(f, "encoding p50, p95, p99   {}", times(&self.encoding_ms))?;
        writeln!(
            f,
            "predicting p50           {:.2} ms",
            self.prediction_ms_p50
        )?;
        writeln!(f, "PSNR of the brightness   {:.2} dB", self.psnr_db)?;
        let [c0, c0_plus, c1, c2] = self.levels_percent;
        writeln!(
            f,
            "at c0, c0+, c1, c2       {c0:.1}, {c0_plus:.1}, {c1:.1}, {c2:.1} %"
        )?;
        let [c0_plus, c1, c2] = self.saves_percent;
        writeln!(
            f,
            "c0+, c1, c2 save         {c0_plus:.0}, {c1:.0}, {c2:.0} %"
        )?;
        let [c0_plus, c1, c2] = self.work;
        writeln!(f, "and take, over c0        {c0_plus:.2}, {c1:.2}, {c2:.2}")?;
        writeln!(f, "attempts                 {:.3}", self.attempts)?;
        match self.prediction_correlation {
            Some(correlation) => writeln!(f, "sizes as predicted       {correlation:.2}"),
            None => Ok(()),
        }
    }
}
