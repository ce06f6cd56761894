//! The comparison of the arms: paired differences, with intervals.

use std::collections::BTreeMap;

use mimosa_plot::Table;
use mimosa_units::nearest_rank;
use mimosa_units::random::SplitMix;
use serde::Serialize;

use crate::figures::METRICS;
use crate::file::Campaign;
use crate::row::{Outcome, Row};

/// Resamples of the bootstrap: the edges of an interval of 95 % then lie at the 50th value from
/// either end (B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, section 14.3,
/// asks for at least 1000).
const RESAMPLES: usize = 2_000;
/// Fewest pairs from which arms are told apart. With five, all differences have the same sign in one
/// of 16 campaigns in which the arms do not differ, which is more than the 5 % of an interval of
/// 95 %; with six, in one of 32.
pub const FEWEST: usize = 6;

/// An arm beside the baseline in one figure of one test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Name of the test.
    pub test: String,
    /// Name of the path; `None` for all paths together.
    pub path: Option<String>,
    /// Name of the figure, with its unit.
    pub metric: &'static str,
    /// Name of the baseline.
    pub baseline: String,
    /// Name of the arm.
    pub arm: String,
    /// Number of pairs: blocks of a path in which both arms have the figure.
    pub pairs: usize,
    /// Mean of the baseline over the pairs.
    pub baseline_mean: f64,
    /// Mean of the arm over the pairs.
    pub arm_mean: f64,
    /// Mean of the differences, the arm's figure minus the baseline's.
    pub difference: f64,
    /// Interval of 95 % of that mean, by a bootstrap over the pairs; `None` for a single pair.
    pub interval: Option<[f64; 2]>,
    /// Whether the arms are told apart: the interval leaves zero out, and there are at least
    /// [`FEWEST`] pairs.
    pub differs: bool,
}

/// Compares each arm with the baseline, in each test and figure, over all paths and over each.
///
/// A pair is what both arms had in one block over one path; a failed session breaks its pair, which
/// is left out.
#[must_use]
pub fn analyse(campaign: &Campaign, rows: &[Row]) -> Vec<Comparison> {
    let names = campaign.paths.iter().map(|path| Some(path.name.as_str()));
    // One path needs no row of its own beside all paths together.
    let paths: Vec<Option<&str>> = if campaign.paths.len() > 1 {
        std::iter::once(None).chain(names).collect()
    } else {
        vec![None]
    };
    let baseline = campaign.arms[campaign.baseline].name.as_str();
    let mut found = Vec::new();
    let mut stream = 0;
    for test in &campaign.tests {
        for path in &paths {
            for arm in &campaign.arms {
                if arm.name == baseline {
                    continue;
                }
                for metric in METRICS {
                    stream += 1;
                    let values = |arm: &str| values(rows, &test.name, *path, arm, metric.name);
                    let (before, after) = (values(baseline), values(&arm.name));
                    let pairs: Vec<(f64, f64)> = before
                        .iter()
                        .filter_map(|(key, value)| Some((*value, *after.get(key)?)))
                        .collect();
                    if pairs.is_empty() {
                        continue;
                    }
                    let differences: Vec<f64> =
                        pairs.iter().map(|(before, after)| after - before).collect();
                    let interval = interval(&differences, campaign.seed, stream);
                    let is_apart = interval.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
                    found.push(Comparison {
                        test: test.name.clone(),
                        path: path.map(str::to_owned),
                        metric: metric.name,
                        baseline: baseline.to_owned(),
                        arm: arm.name.clone(),
                        pairs: pairs.len(),
                        baseline_mean: mean(pairs.iter().map(|(before, _)| *before)),
                        arm_mean: mean(pairs.iter().map(|(_, after)| *after)),
                        difference: mean(differences.iter().copied()),
                        interval,
                        differs: is_apart && differences.len() >= FEWEST,
                    });
                }
            }
        }
    }
    found
}

/// What an arm had of a figure, by path and block.
fn values<'a>(
    rows: &'a [Row],
    test: &str,
    path: Option<&str>,
    arm: &str,
    metric: &str,
) -> BTreeMap<(&'a str, u32), f64> {
    let is_meant = |row: &&Row| {
        row.outcome == Outcome::Done
            && row.test == test
            && row.arm == arm
            && path.is_none_or(|path| row.path == path)
    };
    let value = |row: &'a Row| Some(((row.path.as_str(), row.block), *row.figures.get(metric)?));
    rows.iter().filter(is_meant).filter_map(value).collect()
}

/// The interval of 95 % of the mean of `values`, by the percentiles of a bootstrap; `None` below two
/// values.
fn interval(values: &[f64], seed: u64, stream: u64) -> Option<[f64; 2]> {
    if values.len() < 2 {
        return None;
    }
    let mut random = SplitMix::stream(seed, stream);
    let mut draw = || {
        let at = random.below(values.len() as u64);
        values[usize::try_from(at).unwrap_or(0)]
    };
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| mean((0..values.len()).map(|_| draw())))
        .collect();
    means.sort_by(f64::total_cmp);
    Some([nearest_rank(&means, 0.025)?, nearest_rank(&means, 0.975)?])
}

/// The mean of `values`, of which there is one at least.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// The comparisons over all paths as tables, one for each test and arm.
#[must_use]
pub fn tables(comparisons: &[Comparison]) -> Vec<Table> {
    let mut tables: BTreeMap<(&str, &str), Table> = BTreeMap::new();
    for one in comparisons.iter().filter(|one| one.path.is_none()) {
        let table = tables
            .entry((&one.test, &one.arm))
            .or_insert_with(|| Table {
                title: format!(
                    "Test `{}`: `{}` minus `{}`",
                    one.test, one.arm, one.baseline
                ),
                headers: [
                    "figure",
                    &one.baseline,
                    &one.arm,
                    "difference",
                    "95 %",
                    "pairs",
                    "finding",
                ]
                .map(str::to_owned)
                .to_vec(),
                rows: Vec::new(),
            });
        let interval = one.interval.map_or("-".to_owned(), |[low, high]| {
            format!("{} to {}", short(low), short(high))
        });
        let finding = match (one.differs, one.difference > 0.0) {
            (false, _) if one.pairs < FEWEST => "too few pairs",
            (false, _) => "not told apart",
            (true, true) => "higher",
            (true, false) => "lower",
        };
        table.rows.push(vec![
            one.metric.to_owned(),
            short(one.baseline_mean),
            short(one.arm_mean),
            short(one.difference),
            interval,
            one.pairs.to_string(),
            finding.to_owned(),
        ]);
    }
    tables.into_values().collect()
}

/// A number with about three digits.
fn short(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eight pairs in which the arm has `more` than the baseline, and noise of one step.
    fn rows(campaign: &Campaign, more: f64) -> Vec<Row> {
        let of = |session: &crate::Session| {
            let noise = f64::from(session.block % 3) * 0.1;
            let own = if session.arm == 1 { more } else { 0.0 };
            // Half of the noise is common to a block, and cancels in a pair.
            let own = own + noise * f64::from(u32::try_from(session.arm).unwrap_or(0) + 1) - 0.1;
            Row {
                id: session.id.clone(),
                block: session.block,
                path: campaign.paths[session.path].name.clone(),
                test: "efficiency".to_owned(),
                arm: campaign.arms[session.arm].name.clone(),
                started: 0,
                outcome: Outcome::Done,
                cause: None,
                figures: [("bitrate_mbps".to_owned(), 5.0 + own)].into(),
            }
        };
        campaign.sessions().iter().map(of).collect()
    }

    fn campaign(blocks: u32) -> Campaign {
        let text = format!(
            "title = \"t\"\n[plan]\nblocks = {blocks}\nsession = \"4s\"\n[[machine]]\nname = \"m\"\n\
             [[path]]\nname = \"p\"\nhost = \"m\"\nclient = \"m\"\naddress = \"127.0.0.1\"\n\
             [[arm]]\nname = \"a\"\ncontroller = \"pudica\"\n[[arm]]\nname = \"b\"\ncontroller = \"mimosa\"\n"
        );
        Campaign::parse(&text, "f").unwrap()
    }

    #[test]
    fn arms_are_told_apart_exactly_where_they_differ() {
        let campaign = campaign(9);
        for (more, differs) in [(2.0, true), (-2.0, true), (-0.1, false)] {
            let found = analyse(&campaign, &rows(&campaign, more));
            let [one] = &found[..] else {
                panic!("{found:?}");
            };
            assert_eq!((one.pairs, one.differs), (9, differs), "{one:?}");
            let [low, high] = one.interval.unwrap();
            assert!((low..=high).contains(&one.difference), "{one:?}");
            assert!((one.difference - more - 0.1).abs() < 1e-9, "{one:?}");
            assert!(high - low < 0.3, "{one:?}");
        }
    }

    #[test]
    fn few_pairs_tell_nothing_and_failed_sessions_are_no_pairs() {
        let few = campaign(5);
        let found = analyse(&few, &rows(&few, 2.0));
        assert!(!found[0].differs && found[0].interval.unwrap()[0] > 1.0);
        assert_eq!(tables(&found)[0].rows[0][6], "too few pairs");

        let campaign = campaign(6);
        let mut rows = rows(&campaign, 2.0);
        assert!(analyse(&campaign, &rows)[0].differs);
        rows[3].outcome = Outcome::Failed;
        let found = analyse(&campaign, &rows);
        assert_eq!((found[0].pairs, found[0].differs), (5, false));
    }
}
