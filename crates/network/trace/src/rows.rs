//! Traces of rows: time, rate, and optionally round trip and loss.
//!
//! A recording often holds several sessions in one file, so that the time jumps between rows. Every
//! row lasts until the next one. Where the time goes back, stands still or jumps by more than
//! [`LONGEST_STEPS`] usual steps, the row lasts the usual step instead, and a note says so. In a
//! file whose last line is a time alone, no forward jump is such a break, and the trace ends at
//! that time.

use mimosa_units::{Rate, TimeDelta};

use crate::{Note, Problem, Segment, Trace, TraceError, push};

/// A gap of more than this many median steps is a break between recordings.
pub(crate) const LONGEST_STEPS: f64 = 10.0;
/// Highest rate, in Mbit/s: ten terabits a second, beyond which a rate is a typing mistake.
pub(crate) const HIGHEST_MBPS: f64 = 1e7;
/// Longest round trip, in milliseconds: an hour, beyond which it is a typing mistake.
pub(crate) const LONGEST_RTT_MS: f64 = 3.6e6;
/// Latest time, in seconds: 30,000 years, beyond which it is a typing mistake. Recordings may count
/// from 1970, and in other units than ours.
const LATEST_SECS: f64 = 1e12;
/// Length of a recording with one row, in seconds.
const LONE_ROW: f64 = 1.0;
const TIME: &str = "time in seconds";

struct Row {
    line: usize,
    secs: f64,
    rate: Rate,
    round_trip: Option<TimeDelta>,
    loss: Option<f64>,
}

pub(crate) fn parse<'a>(
    lines: impl Iterator<Item = (usize, &'a str)>,
) -> Result<Trace, TraceError> {
    let mut notes = Vec::new();
    let mut lines: Vec<_> = lines.collect();
    let end = end(&mut lines)?;
    let rows = lines
        .into_iter()
        .map(|(line, text)| {
            row(line, text, &mut notes).map_err(|problem| TraceError { line, problem })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let usual = usual_step(&rows);
    let mut segments = Vec::new();
    let mut at = TimeDelta::ZERO;
    for (index, row) in rows.iter().enumerate() {
        push(
            &mut segments,
            Segment {
                at,
                rate: row.rate,
                round_trip: row.round_trip,
                loss: row.loss,
            },
        );
        let mut step = usual;
        if let Some(next) = rows.get(index + 1) {
            let gap = next.secs - row.secs;
            if gap > 0.0 && (end.is_some() || gap <= usual * LONGEST_STEPS) {
                step = gap;
            } else {
                notes.push(Note {
                    line: next.line,
                    text: format!(
                        "time moves by {gap:.3} s; the row before lasts {usual:.3} s instead"
                    ),
                });
            }
        } else if let Some((line, end)) = end {
            step = end - row.secs;
            if step <= 0.0 {
                let last = row.secs;
                let problem = Problem::EndsEarly { end, last };
                return Err(TraceError { line, problem });
            }
        }
        at += TimeDelta::from_secs(step);
    }
    notes.sort_by_key(|note| note.line);
    Ok(Trace {
        segments,
        length: at.max(TimeDelta::from_nanos(1)),
        notes,
    })
}

/// Removes the last line if it is a time alone, and returns the time.
fn end(lines: &mut Vec<(usize, &str)>) -> Result<Option<(usize, f64)>, TraceError> {
    let is_end = |(_, text): &mut (usize, &str)| text.split_whitespace().count() == 1;
    let Some((line, text)) = lines.pop_if(is_end) else {
        return Ok(None);
    };
    let secs = number(text, TIME, LATEST_SECS);
    let secs = secs.map_err(|problem| TraceError { line, problem })?;
    Ok(Some((line, secs)))
}

/// The median of the steps that go forwards, in seconds.
fn usual_step(rows: &[Row]) -> f64 {
    let mut steps: Vec<f64> = rows
        .windows(2)
        .map(|pair| pair[1].secs - pair[0].secs)
        .filter(|step| *step > 0.0)
        .collect();
    if steps.is_empty() {
        return LONE_ROW;
    }
    steps.sort_by(f64::total_cmp);
    steps[steps.len() / 2]
}

fn row(line: usize, text: &str, notes: &mut Vec<Note>) -> Result<Row, Problem> {
    let fields: Vec<_> = text.split_whitespace().collect();
    let (Some(secs), Some(rate), true) = (fields.first(), fields.get(1), fields.len() <= 4) else {
        return Err(Problem::FieldCount {
            found: fields.len(),
        });
    };
    let secs = number(secs, TIME, LATEST_SECS)?;
    let mbps = number(rate, "rate in Mbit/s", HIGHEST_MBPS)?;
    let round_trip = match fields.get(2) {
        None => None,
        Some(text) => {
            let field = "round trip in milliseconds with its unit";
            let millis = text.strip_suffix("ms").ok_or_else(|| bad(text, field))?;
            let millis = number(millis, field, LONGEST_RTT_MS)?;
            Some(TimeDelta::from_secs(millis / 1e3))
        }
    };
    let loss = match fields.get(3) {
        None => None,
        Some(text) => Some(loss(line, text, notes)?),
    };
    Ok(Row {
        line,
        secs,
        rate: Rate::from_mbps(mbps),
        round_trip,
        loss,
    })
}

/// Parses a share of lost packets. Recorders compute it from counters, and it is sometimes outside
/// its bounds, which is no reason to refuse the recording.
fn loss(line: usize, text: &str, notes: &mut Vec<Note>) -> Result<f64, Problem> {
    let field = "loss as a share between 0 and 1";
    let share: f64 = text.parse().map_err(|_| bad(text, field))?;
    if !share.is_finite() {
        return Err(bad(text, field));
    }
    let bounded = share.clamp(0.0, 1.0);
    if (0.0..=1.0).contains(&share) {
        return Ok(share);
    }
    notes.push(Note {
        line,
        text: format!("a loss of {share} is no share; taken as {bounded}"),
    });
    Ok(bounded)
}

fn number(text: &str, field: &'static str, most: f64) -> Result<f64, Problem> {
    text.parse()
        .ok()
        .filter(|value: &f64| (0.0..=most).contains(value))
        .ok_or_else(|| bad(text, field))
}

fn bad(text: &str, field: &'static str) -> Problem {
    Problem::BadField {
        field,
        text: text.to_owned(),
    }
}
