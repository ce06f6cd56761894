//! Makes the result from the packets of a test.

use mimosa_units::{Rate, TimeDelta, nearest_rank};

use crate::line::{Buffer, Grade, Line};
use crate::medium;
use crate::ramp::Found;
use crate::samples::{Count, Fate, Part, Sample, Samples, arrivals};

/// Share of the delays at rest that the jitter covers.
const JITTER: f64 = 0.95;
/// Share of the delays on a line whose queue was full from which the delay of the full queue is taken, and
/// on one whose queue was not: while the queue fills, most packets wait less, and a medium holds a few up
/// for longer.
const FULL: f64 = 0.93;
const FILLING: f64 = 0.98;
/// The middle of the delays at rest, and the shares between which they spread.
const MIDDLE: f64 = 0.5;
const SPREAD: [f64; 2] = [0.1, 0.9];
/// Share of the full queue's delay up to which a packet counts as sent at rest. Where the medium's rate
/// varies, so does the delay at which the queue overflows.
const REST: f64 = 0.3;
/// Share of the longest delay below which a queue is almost empty.
const EMPTY: f64 = 0.15;

/// The trains of a test.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trains {
    /// Number of the largest train that was sent.
    pub(crate) largest: u8,
    /// Whether it was too large for the line.
    pub(crate) overflowed: bool,
}

/// The result; `None` if no packet arrived at rest.
pub(crate) fn judge(
    samples: &Samples,
    trains: Trains,
    found: Found,
    took: TimeDelta,
) -> Option<Line> {
    let rest = delays(samples, samples.part(Part::Small));
    let round_trip = samples.round_trip?;
    let at_rest = |share| nearest_rank(&rest, share);
    let middle = at_rest(MIDDLE)?;
    let spread = at_rest(SPREAD[1])? - at_rest(SPREAD[0])?;
    let largest = samples.part(Part::Train(trains.largest));
    let train = Count::of(largest.clone());
    let full = found.full_from.map(|from| samples.from(from));
    let (rate, medium, delay) = if let Some(full) = full {
        let ramp = busy(samples, full).iter().filter(|sample| is_ramp(sample));
        let rate = Count::of(ramp.clone()).arrival_rate()?;
        let delays = delays(samples, ramp.clone());
        let share = if found.is_whole { FULL } else { FILLING };
        let delay = nearest_rank(&delays, share)? - middle;
        let medium = medium::judge(&arrivals(ramp), spread);
        (rate, medium, Some(delay.max(TimeDelta::ZERO)))
    } else {
        let medium = medium::judge(&arrivals(largest.clone()), spread);
        (carried(samples), medium, None)
    };
    let buffer = delay.map(|delay| Buffer {
        delay,
        size: rate.amount_in(delay),
        is_least: !found.is_whole,
    });
    let (loss_at_rest, loss_when_full) = losses(samples, delay.map(|delay| delay + middle));
    Some(Line {
        rate,
        is_rate_least: full.is_none(),
        round_trip,
        jitter: at_rest(JITTER)?,
        buffer,
        grade: delay.map(Grade::of),
        loss_at_rest,
        loss_when_full,
        burst: largest
            .filter(|sample| has_arrived(sample))
            .map(|sample| sample.size)
            .sum(),
        is_burst_least: !trains.overflowed && train.open == 0,
        medium,
        spent: samples.spent,
        took,
    })
}

/// The delays of packets above the least, sorted.
fn delays<'a>(samples: &Samples, of: impl Iterator<Item = &'a Sample>) -> Vec<TimeDelta> {
    let mut delays: Vec<_> = of.filter_map(|sample| samples.queued(sample)).collect();
    delays.sort_unstable();
    delays
}

/// The packets of a full line from the last one on that met an almost empty queue: before, the line may
/// have rested. All of them, if the queue was almost empty until near the end.
fn busy<'a>(samples: &Samples, full: &'a [Sample]) -> &'a [Sample] {
    let ramp = || full.iter().filter(|sample| is_ramp(sample));
    let delays = delays(samples, ramp());
    let limit = delays
        .last()
        .map_or(TimeDelta::ZERO, |longest| longest.scale(EMPTY));
    let is_empty = |sample: &Sample| samples.queued(sample).is_some_and(|queued| queued < limit);
    let from = full
        .iter()
        .rposition(|sample| is_ramp(sample) && is_empty(sample));
    let busy = &full[from.unwrap_or(0)..];
    let span =
        |of: &'a [Sample]| Count::of(of.iter().filter(|sample| is_ramp(sample))).arrival_span();
    if span(busy) * 2 >= span(full) {
        busy
    } else {
        full
    }
}

const fn is_ramp(sample: &Sample) -> bool {
    matches!(sample.part, Part::Ramp(_))
}

const fn has_arrived(sample: &Sample) -> bool {
    matches!(sample.fate, Fate::Arrived(_))
}

/// The highest rate of a step of the ramp that the line carried.
fn carried(samples: &Samples) -> Rate {
    let steps = samples
        .from(0)
        .iter()
        .filter_map(|sample| match sample.part {
            Part::Ramp(step) => Some(step),
            Part::Small | Part::Train(_) | Part::After => None,
        });
    let last = steps.max().unwrap_or(0);
    let rates =
        (0..=last).filter_map(|step| Count::of(samples.part(Part::Ramp(step))).arrival_rate());
    rates.max().unwrap_or(Rate::ZERO)
}

/// Shares of packets lost at rest, and of those lost on a full line, whose queue has this delay. A lost
/// packet counts as having met the queue of the one before it.
fn losses(samples: &Samples, full: Option<TimeDelta>) -> (f64, Option<f64>) {
    let limit = full.map_or(TimeDelta::MAX, |delay| delay.scale(REST));
    let mut met = TimeDelta::ZERO;
    let mut is_full = false;
    let (mut at_rest, mut when_full) = (Vec::new(), Vec::new());
    for sample in samples.from(0) {
        met = samples.queued(sample).unwrap_or(met);
        // Once the ramp has filled the queue, the queue stays full until the ramp ends.
        is_full |= is_ramp(sample) && met >= limit;
        match sample.part {
            Part::After => {}
            Part::Ramp(_) if is_full => when_full.push(sample),
            _ if met < limit => at_rest.push(sample),
            _ => {}
        }
    }
    let loss = |of: Vec<&Sample>| Count::of(of.into_iter()).loss();
    (loss(at_rest), is_full.then(|| loss(when_full)))
}
