//! The claims of a source, and whether they hold in the runs.

use mimosa_figures::Window;
use mimosa_units::{Time, TimeDelta};
use serde::Serialize;

use super::measured::Part;
use super::packets;
use super::quantity::{Class, Quantity};
use crate::index;
use crate::record::Record;
use crate::suite::{Body, Case};

/// A claim holds if it fails in no more than one of so many seeds, and an interval leaves one of so many
/// out at each end. A claim that is as often true as not holds in 12 of 16 seeds with a chance of 4 %.
/// Our choice.
const OUTER: usize = 4;

/// A claim about one controller, possibly compared with another.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// The claim, in the source's words or nearly so.
    pub text: String,
    /// Place of the claim in the source.
    pub source: String,
    /// The source's number, in the unit of the quantity.
    pub paper: Option<f64>,
    /// The quantity that decides the claim.
    pub quantity: Quantity,
    /// Upper bound for the claim to hold; as a multiple of the other side, if there is one.
    pub at_most: Option<f64>,
    /// Lower bound for the claim to hold; as a multiple of the other side, if there is one.
    pub at_least: Option<f64>,
    pub(crate) of: Side,
    /// The side with which the claim compares, if any.
    pub(crate) than: Option<Side>,
}

/// A side of a claim: which runs, and which part of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Side {
    pub(crate) case: String,
    pub(crate) variant: Option<String>,
    pub(crate) controller: String,
    pub(crate) part: Part,
}

/// Whether a claim holds here.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The claim, in the source's words or nearly so.
    pub claim: String,
    /// Place of the claim in the source.
    pub source: String,
    /// Name of the quantity.
    pub quantity: String,
    /// The case, variant and controller that the claim is about.
    pub of: String,
    /// The condition for the claim to hold, in words.
    pub criterion: String,
    /// The source's number.
    pub paper: Option<f64>,
    /// The number here, in the same unit, over all seeds.
    pub here: Option<f64>,
    /// Of the seeds' numbers in order, the last of the first quarter: of 16, the fourth. The median of
    /// all possible seeds is below it with a chance of 1 %. Of less than eight seeds, the first.
    pub low: Option<f64>,
    /// Of the seeds' numbers in order, the first of the last quarter: of 16, the thirteenth. Of less than
    /// eight seeds, the last.
    pub high: Option<f64>,
    /// The number of the side with which the claim compares.
    pub other: Option<f64>,
    /// The numbers' unit; empty for a number without one.
    pub unit: &'static str,
    /// Digits after the point with which the numbers are shown.
    pub digits: usize,
    /// Whether the claim holds here: with the number over all seeds, and in at least three quarters of
    /// the seeds; `None` without runs.
    pub holds: Option<bool>,
    /// Number of seeds in which the claim holds.
    pub seeds_held: usize,
    /// Number of seeds.
    pub seeds: usize,
}

impl Claim {
    /// The claims of an entry of the index: one for each controller and each that it is compared
    /// with. The entry's case is among `cases`.
    pub(crate) fn of(entry: &index::Claim, cases: &[Case]) -> Result<Vec<Self>, String> {
        check(entry)?;
        let mut claims = Vec::new();
        for controller in &entry.controllers {
            let than = entry.than.clone().unwrap_or_default();
            let others: Vec<_> = if than.controllers.is_empty() {
                vec![controller.clone()]
            } else {
                than.controllers.clone()
            };
            let of = side(entry, &index::Than::default(), controller, cases)?;
            for other in others
                .iter()
                .take(if entry.than.is_some() { usize::MAX } else { 1 })
            {
                let other = side(entry, &than, other, cases)?;
                if entry.than.is_some() && other == of {
                    let why = "`than` names what the claim is about; write what is different, \
                               e.g. `than = { controllers = [\"sqp\"] }`";
                    return Err(why.to_owned());
                }
                claims.push(Self {
                    text: entry.text.clone(),
                    source: entry.source.clone(),
                    paper: entry.paper,
                    quantity: entry.quantity,
                    at_most: entry.at_most,
                    at_least: entry.at_least,
                    of: of.clone(),
                    than: entry.than.is_some().then_some(other),
                });
            }
        }
        Ok(claims)
    }

    /// The verdict on the claim from these runs.
    #[must_use]
    pub fn verdict(&self, records: &[Record]) -> Verdict {
        let all: Vec<_> = records.iter().collect();
        let (here, other) = self.measured(&all);
        let mut seeds: Vec<_> = records.iter().map(|record| record.key.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        let by_seed = seeds.into_iter().map(|seed| {
            let own = |record: &&Record| record.key.seed == seed;
            let own: Vec<_> = records.iter().filter(own).collect();
            self.measured(&own)
        });
        let by_seed: Vec<_> = by_seed.collect();
        let verdicts = by_seed.iter();
        let verdicts = verdicts.filter_map(|(here, other)| self.holds(*here, *other));
        let (seeds, seeds_held) = verdicts.fold((0, 0), |(all, held), holds| {
            (all + 1, held + usize::from(holds))
        });
        let mut values: Vec<_> = by_seed.iter().filter_map(|(here, _)| *here).collect();
        values.sort_unstable_by(f64::total_cmp);
        let beyond = (values.len() / OUTER).saturating_sub(1);
        let (digits, unit) = self.quantity.digits_and_unit();
        Verdict {
            claim: self.text.clone(),
            source: self.source.clone(),
            quantity: self.quantity.name().to_owned(),
            of: self.of.text(self.quantity, None),
            criterion: self.criterion(),
            paper: self.paper,
            here,
            low: values.get(beyond).copied(),
            high: values.iter().rev().nth(beyond).copied(),
            other,
            unit,
            digits,
            holds: self
                .holds(here, other)
                .map(|holds| holds && OUTER * (seeds - seeds_held) <= seeds),
            seeds_held,
            seeds,
        }
    }

    fn measured(&self, records: &[&Record]) -> (Option<f64>, Option<f64>) {
        let of = |side: &Side| {
            let runs: Vec<_> = records
                .iter()
                .copied()
                .filter(|run| side.is_of(run))
                .collect();
            self.quantity.of(&runs, &side.part)
        };
        (of(&self.of), self.than.as_ref().and_then(of))
    }

    fn holds(&self, here: Option<f64>, other: Option<f64>) -> Option<bool> {
        let here = here?;
        if self.than.is_none() {
            let low = self.at_least.is_none_or(|least| here >= least);
            return Some(low && self.at_most.is_none_or(|most| here <= most));
        }
        let other = other?;
        let low = self.at_least.is_none_or(|times| here > times * other);
        Some(low && self.at_most.is_none_or(|times| here < times * other))
    }

    /// The condition for the claim to hold, in words.
    fn criterion(&self) -> String {
        let Some(than) = &self.than else {
            let text = |value: f64| self.quantity.text(value);
            return match (self.at_least, self.at_most) {
                (Some(least), Some(most)) => format!("{} to {}", text(least), text(most)),
                (Some(least), None) => format!("at least {}", text(least)),
                (None, most) => format!("at most {}", text(most.unwrap_or(f64::INFINITY))),
            };
        };
        let times = |word: &str, times: Option<f64>| {
            let times = times?;
            Some(if (times - 1.0).abs() < 1e-9 {
                word.to_owned()
            } else {
                format!("{word} {times} times")
            })
        };
        let words: Vec<_> = [times("above", self.at_least), times("below", self.at_most)]
            .into_iter()
            .flatten()
            .collect();
        format!(
            "{} that of {}",
            words.join(" and "),
            than.text(self.quantity, Some(&self.of))
        )
    }
}

impl Side {
    fn is_of(&self, record: &Record) -> bool {
        let key = &record.key;
        let is_variant = self.variant.is_none() || key.variant == self.variant;
        key.case == self.case && key.controller == self.controller && is_variant
    }

    /// The runs and their part in words for a table; beside another side, only the differences.
    fn text(&self, quantity: Quantity, beside: Option<&Self>) -> String {
        let Part {
            window,
            above,
            class,
            used,
        } = self.part;
        let is_new = |same: fn(&Self, &Self) -> bool| beside.is_none_or(|other| !same(self, other));
        let mut words = Vec::new();
        if is_new(|a, b| a.controller == b.controller) {
            words.push(self.controller.clone());
        }
        if is_new(|a, b| a.case == b.case) {
            words.push(self.case.clone());
        }
        if is_new(|a, b| a.variant == b.variant) {
            words.extend(self.variant.clone());
        }
        if class == Class::Tcp && is_new(|a, b| a.part.class == b.part.class) {
            words.push("TCP".to_owned());
        }
        if let Some((low, high)) = used
            && is_new(|a, b| a.part.used == b.part.used)
        {
            words.push(format!("{low} to {high} used"));
        }
        if !quantity.is_estimate() && is_new(|a, b| a.part.window == b.part.window) {
            let (from, to) = (window.from.as_secs(), window.to.as_secs());
            words.push(format!("{from} to {to} s"));
        }
        if let Some(above) = above
            && beside.is_none()
        {
            words.push(format!("above {above}"));
        }
        words.join(", ")
    }
}

fn check(entry: &index::Claim) -> Result<(), String> {
    if entry.controllers.is_empty() {
        return Err("nobody is claimed anything of; name `controllers = [\"pudica\"]`".to_owned());
    }
    if entry.at_most.is_none() && entry.at_least.is_none() {
        return Err("it cannot fail; give it `at_most`, `at_least` or both".to_owned());
    }
    let bounds = [entry.at_least, entry.at_most, entry.paper];
    if bounds.into_iter().flatten().any(|value| !value.is_finite()) {
        return Err("`at_least`, `at_most` and `paper` are plain numbers".to_owned());
    }
    if let (Some(least), Some(most)) = (entry.at_least, entry.at_most)
        && least > most
    {
        return Err(format!("nothing is at least {least} and at most {most}"));
    }
    match (entry.above.is_some(), entry.quantity.needs_above()) {
        (false, true) => {
            return Err("its quantity needs `above`, e.g. `above = \"50ms\"`".to_owned());
        }
        (true, false) => return Err("its quantity has no `above`; leave it out".to_owned()),
        _ => {}
    }
    if entry.quantity == Quantity::Waiting && !entry.above.is_some_and(packets::is_counted) {
        return Err("packets are counted above 10, 20, 50 and 100 ms; name one of them".to_owned());
    }
    let names_class = entry.class.is_some() || entry.than.iter().any(|than| than.class.is_some());
    if names_class && !entry.quantity.is_of_packets() {
        return Err("`class` is for quantities of packets; leave it out".to_owned());
    }
    if entry.used.is_some() && !entry.quantity.is_estimate() {
        return Err("`used` is for quantities of an estimate; leave it out".to_owned());
    }
    Ok(())
}

/// One side of the claim of `entry`, with the fields of `other` in place of the entry's.
fn side(
    entry: &index::Claim,
    other: &index::Than,
    controller: &str,
    cases: &[Case],
) -> Result<Side, String> {
    if !mimosa_cc::NAMES.contains(&controller) {
        let known = mimosa_cc::NAMES.join(", ");
        return Err(format!(
            "there is no controller `{controller}`; there is {known}"
        ));
    }
    let name = other.case.as_ref().unwrap_or(&entry.case);
    let Some(case) = cases.iter().find(|case| case.name == *name) else {
        let known: Vec<_> = cases.iter().map(|case| case.name.as_str()).collect();
        return Err(format!(
            "there is no case `{name}`; there is {}",
            known.join(", ")
        ));
    };
    let Body::Carried(settings) = &case.body else {
        return Err(format!("case `{name}` is not carried; name another"));
    };
    // A variant's name belongs to its case, and is not used for another case.
    let own = other.case.is_none().then_some(&entry.variant);
    let variant = other.variant.as_ref().or(own.and_then(Option::as_ref));
    let mut fitting = settings
        .iter()
        .filter(|setting| variant.is_none() || setting.variant.as_ref() == variant);
    let Some(setting) = fitting.next() else {
        let known: Vec<_> = settings
            .iter()
            .filter_map(|s| s.variant.as_deref())
            .collect();
        let name = variant.map_or("", String::as_str);
        return Err(format!(
            "case `{}` has no variant `{name}`; it has {}",
            case.name,
            known.join(", ")
        ));
    };
    let whole = setting.parts.window;
    let at = |given: Option<TimeDelta>, own: Option<TimeDelta>, whole: Time| {
        given.or(own).map_or(whole, |since| Time::ZERO + since)
    };
    let window = Window {
        from: at(other.from, entry.from, whole.from),
        to: at(other.to, entry.to, whole.to),
    };
    let end = Time::ZERO + setting.scenario.duration;
    let to = window.to.min(end);
    if window.from >= to || window.to > end && window.to != whole.to {
        return Err(format!(
            "what counts is no part of the run, which lasts {}; let `from` be before `to`",
            setting.scenario.duration
        ));
    }
    Ok(Side {
        case: case.name.clone(),
        variant: variant.cloned(),
        controller: controller.to_owned(),
        part: Part {
            window: Window { to, ..window },
            above: entry.above,
            class: other.class.or(entry.class).unwrap_or_default(),
            used: other.used.or(entry.used),
        },
    })
}
