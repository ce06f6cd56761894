//! How soon after a change each video flow has its share.

use std::collections::BTreeSet;

use mimosa_sim::scenario::{FlowConfig, FlowKind};
use mimosa_sim::{Scenario, Window};
use mimosa_units::{Time, TimeDelta};

use crate::bins::{BIN, Bins, PER_SECOND, Seen};
use crate::numbers::round;
use crate::record::Converged;

/// A share counts as reached when it is not further off than this.
const WITHIN: f64 = 0.2;

/// One for each change within the window. `seen` are the video flows in their order.
pub(crate) fn measure(scenario: &Scenario, window: Window, seen: &[Seen]) -> Vec<Converged> {
    let end = window.to.min(Time::ZERO + scenario.duration);
    let videos: Vec<_> = scenario
        .flows
        .iter()
        .filter(|flow| matches!(flow.kind, FlowKind::Video(_)))
        .collect();
    let changes = changes(scenario, window.from, end);
    let next = changes.iter().skip(1).copied().chain([end]);
    changes
        .iter()
        .zip(next)
        .filter_map(|(&at, until)| {
            let there: Vec<_> = videos
                .iter()
                .zip(seen)
                .filter(|(flow, _)| flow.active_from(at) == Some(at))
                .map(|(flow, seen)| (*flow, &seen.arrived))
                .collect();
            if there.is_empty() {
                return None;
            }
            let share = share(scenario, at, &there);
            let bins: Vec<_> = there.iter().map(|(_, bins)| *bins).collect();
            let even = bins.len() > 1;
            Some(Converged {
                at_s: round(at.as_secs()),
                share_s: first(&bins, at, until, |rates| {
                    rates
                        .iter()
                        .zip(&share)
                        .all(|(rate, share)| (rate / share - 1.0).abs() <= WITHIN)
                }),
                even_s: even.then(|| first(&bins, at, until, is_even)).flatten(),
                flows: bins.len(),
            })
        })
        .collect()
}

/// When the link's rate or the flows that use it change.
fn changes(scenario: &Scenario, from: Time, end: Time) -> BTreeSet<Time> {
    let rates = scenario.link.schedule.steps(from, end).map(|(at, _)| at);
    let flows = scenario.flows.iter().flat_map(|flow| {
        let pauses = flow.pauses.iter().flat_map(|(from, to)| [*from, *to]);
        [flow.start, flow.stop].into_iter().chain(pauses)
    });
    rates
        .chain(flows)
        .filter(|at| (from..end).contains(at))
        .collect()
}

/// What each video flow should have, in bytes a second: an equal part of what cross
/// traffic leaves, and no more than its highest bitrate.
fn share(scenario: &Scenario, at: Time, there: &[(&FlowConfig, &Bins)]) -> Vec<f64> {
    let until = at + TimeDelta::from_nanos(1);
    let rate = scenario.link.schedule.steps(at, until).next();
    let mut free = rate.map_or(0.0, |(_, rate)| rate.as_bps() as f64 / 8.0);
    for flow in &scenario.flows {
        if let FlowKind::Cbr(cbr) = &flow.kind
            && flow.active_from(at) == Some(at)
        {
            free -= cbr.rate.as_bps() as f64 / 8.0;
        }
    }
    let most = |flow: &FlowConfig| match &flow.kind {
        FlowKind::Video(video) => video.limits.max().as_bps() as f64 / 8.0,
        FlowKind::Cbr(_) | FlowKind::Tcp(_) => f64::INFINITY,
    };
    let equal = free / there.len() as f64;
    there
        .iter()
        .map(|(flow, _)| equal.min(most(flow)))
        .collect()
}

fn is_even(rates: &[f64]) -> bool {
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    least >= (1.0 - WITHIN) * most && most > 0.0
}

/// Seconds from `at` until the means of a second fulfil `wanted`, and go on doing so for a
/// second; looked at every [`BIN`].
fn first(bins: &[&Bins], at: Time, until: Time, wanted: impl Fn(&[f64]) -> bool) -> Option<f64> {
    let from = Bins::index(at + (BIN - TimeDelta::from_nanos(1)));
    let to = Bins::index(until);
    let mut held = 0;
    for first in from..to.saturating_sub(PER_SECOND - 1) {
        let rates: Option<Vec<_>> = bins
            .iter()
            .map(|bins| bins.second(first).map(|bytes| bytes as f64))
            .collect();
        held = if wanted(&rates?) { held + 1 } else { 0 };
        if held > PER_SECOND {
            let begin = BIN.as_secs() * (first - PER_SECOND) as f64;
            return Some(round((begin - at.as_secs()).max(0.0)));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow of so many bytes in each bin.
    fn bins(bytes: &[u64]) -> Bins {
        let mut bins = Bins::new(BIN.scale(bytes.len() as f64));
        for (index, &bytes) in (0..).zip(bytes) {
            bins.add(Time::from_millis(200 * index), bytes);
        }
        bins
    }

    #[test]
    fn the_first_of_two_even_seconds_counts() {
        let steady = bins(&[100; 30]);
        let late: Vec<_> = (0..30).map(|bin| if bin < 10 { 0 } else { 90 }).collect();
        let late = bins(&late);
        let until = Time::from_secs(6);
        // The mean over bins 9 to 13 is 72, over 10 to 14 it is 90.
        let both = [&steady, &late];
        assert_eq!(first(&both, Time::ZERO, until, is_even), Some(2.0));
        assert_eq!(first(&both, Time::from_secs(1), until, is_even), Some(1.0));
        // Two seconds are not over by then.
        let soon = Time::from_millis(3_800);
        assert_eq!(first(&both, Time::ZERO, soon, is_even), None);
    }
}
