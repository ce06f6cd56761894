//! Measures how soon after a change each video flow has its share.

use std::collections::BTreeSet;

use mimosa_figures::Window;
use mimosa_scenario::{FlowConfig, FlowKind, Scenario};
use mimosa_units::{Time, TimeDelta};

use crate::bins::{BIN, Bins, PER_SECOND, Seen};
use crate::numbers::round;
use crate::record::Converged;

/// Largest relative distance from a share at which the share counts as reached.
const WITHIN: f64 = 0.2;

/// The times to converge after each change within the window, separately for each part of the
/// network. `seen` are the video flows in their order.
pub(crate) fn measure(scenario: &Scenario, window: Window, seen: &[Seen]) -> Vec<Converged> {
    let end = window.to.min(Time::ZERO + scenario.duration);
    let videos: Vec<_> = scenario
        .flows
        .iter()
        .filter(|flow| matches!(flow.kind, FlowKind::Video(_)))
        .zip(seen)
        .collect();
    parts(scenario)
        .iter()
        .flat_map(|links| of_part(scenario, links, (window.from, end), &videos))
        .collect()
}

/// The links of each part of the network. Two links are in one part if a video flow passes both, or
/// if a flow on one shares a link with a flow on the other. Each direction is its own part.
fn parts(scenario: &Scenario) -> Vec<BTreeSet<usize>> {
    let mut parts: Vec<BTreeSet<usize>> = Vec::new();
    for flow in &scenario.flows {
        if !matches!(flow.kind, FlowKind::Video(_)) {
            continue;
        }
        let mut whole: BTreeSet<_> = flow.route.data.iter().copied().collect();
        parts.retain(|part| {
            let is_apart = part.is_disjoint(&whole);
            if !is_apart {
                whole.extend(part);
            }
            is_apart
        });
        parts.push(whole);
    }
    parts.sort();
    parts
}

fn passes(flow: &FlowConfig, links: &BTreeSet<usize>) -> bool {
    flow.route.data.iter().any(|link| links.contains(link))
}

fn of_part(
    scenario: &Scenario,
    links: &BTreeSet<usize>,
    (from, end): (Time, Time),
    videos: &[(&FlowConfig, &Seen)],
) -> Vec<Converged> {
    let changes = changes(scenario, links, from, end);
    let next = changes.iter().skip(1).copied().chain([end]);
    changes
        .iter()
        .zip(next)
        .filter_map(|(&at, until)| {
            let there: Vec<_> = videos
                .iter()
                .filter(|(flow, _)| passes(flow, links) && flow.active_from(at) == Some(at))
                .collect();
            if there.is_empty() {
                return None;
            }
            let flows: Vec<_> = there.iter().map(|(flow, _)| *flow).collect();
            let share = share(scenario, at, &flows);
            let bins: Vec<_> = there.iter().map(|(_, seen)| &seen.arrived).collect();
            let is_one_route = flows.iter().all(|flow| flow.route == flows[0].route);
            let even = bins.len() > 1 && is_one_route;
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

/// The times at which the rates of these links or the flows on them change.
fn changes(scenario: &Scenario, links: &BTreeSet<usize>, from: Time, end: Time) -> BTreeSet<Time> {
    let own = scenario.links().enumerate();
    let own = own.filter(|(number, _)| links.contains(number));
    let rates = own.flat_map(|(_, link)| link.schedule.steps(from, end).map(|(at, _)| at));
    let users = scenario.flows.iter().filter(|flow| passes(flow, links));
    let flows = users.flat_map(|flow| {
        let pauses = flow.pauses.iter().flat_map(|(from, to)| [*from, *to]);
        [flow.start, flow.stop].into_iter().chain(pauses)
    });
    rates
        .chain(flows)
        .filter(|at| (from..end).contains(at))
        .collect()
}

/// What each video flow should have, in bytes a second: its max-min fair share of what cross
/// traffic leaves of the links, up to its highest bitrate.
fn share(scenario: &Scenario, at: Time, there: &[&FlowConfig]) -> Vec<f64> {
    let until = at + TimeDelta::from_nanos(1);
    let mut free: Vec<_> = scenario
        .links()
        .map(|link| {
            let rate = link.schedule.steps(at, until).next();
            rate.map_or(0.0, |(_, rate)| rate.as_bps() as f64 / 8.0)
        })
        .collect();
    for flow in &scenario.flows {
        if let FlowKind::Cbr(cbr) = &flow.kind
            && flow.active_from(at) == Some(at)
        {
            for &link in &flow.route.data {
                free[link] -= cbr.rate.as_bps() as f64 / 8.0;
            }
        }
    }
    let most = |flow: &FlowConfig| match &flow.kind {
        FlowKind::Video(video) => video.limits.max().as_bps() as f64 / 8.0,
        FlowKind::Cbr(_) | FlowKind::Tcp(_) => f64::INFINITY,
    };
    let mut shares = vec![None; there.len()];
    // The link that has the least for each of its flows sets their shares; the others get what
    // these leave.
    while let Some((link, least)) = tightest(&free, there, &shares) {
        for (share, flow) in shares.iter_mut().zip(there) {
            if share.is_none() && flow.route.data.contains(&link) {
                *share = Some(least);
                for &link in &flow.route.data {
                    free[link] -= least;
                }
            }
        }
    }
    shares
        .into_iter()
        .zip(there)
        .map(|(share, flow)| share.unwrap_or(0.0).min(most(flow)))
        .collect()
}

/// The link with the least for each flow that has no share yet, and how much that is.
fn tightest(free: &[f64], there: &[&FlowConfig], shares: &[Option<f64>]) -> Option<(usize, f64)> {
    let open = |link: usize| {
        let flows = there.iter().zip(shares);
        flows
            .filter(|(flow, share)| share.is_none() && flow.route.data.contains(&link))
            .count()
    };
    free.iter()
        .enumerate()
        .filter(|(link, _)| open(*link) > 0)
        .map(|(link, free)| (link, free / open(link) as f64))
        .min_by(|(_, one), (_, other)| one.total_cmp(other))
}

fn is_even(rates: &[f64]) -> bool {
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let most = rates.iter().copied().fold(0.0, f64::max);
    least >= (1.0 - WITHIN) * most && most > 0.0
}

/// Seconds from `at` until the means over a second fulfil `wanted`, and continue to for a second,
/// in steps of [`BIN`].
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

    /// Bins with these numbers of bytes.
    fn bins(bytes: &[u64]) -> Bins {
        let mut bins = Bins::new(BIN.scale(bytes.len() as f64));
        for (index, &bytes) in (0..).zip(bytes) {
            bins.add(Time::from_millis(200 * index), bytes);
        }
        bins
    }

    fn scenario(text: &str) -> Scenario {
        let head = "duration = '100s'\n[link]\nrate = '2Mbit/s'\n";
        let mut loaded = mimosa_scenario::load(&format!("{head}{text}"), "test", &mut ()).unwrap();
        loaded.variants.remove(0).1
    }

    fn shares_kbps(scenario: &Scenario) -> Vec<f64> {
        let videos: Vec<_> = scenario
            .flows
            .iter()
            .filter(|flow| flow.kind_name() == "video")
            .collect();
        let shares = share(scenario, Time::ZERO, &videos);
        shares.iter().map(|bytes| bytes * 8.0 / 1e3).collect()
    }

    #[test]
    fn what_one_link_denies_a_flow_another_gives_to_the_rest() {
        // The network of RFC 8867, section 6.3, with audio on the last link.
        let scenario = scenario(
            "[[link.next]]\nrate = '8Mbit/s'\n[[link.next]]\nrate = '1.5Mbit/s'\n\
             [[flow]]\n[[flow]]\nleaves = 1\n[[flow]]\nenters = 3\n\
             [[flow]]\nkind = 'cbr'\nrate = '100kbit/s'\nenters = 3\n",
        );
        assert_eq!(shares_kbps(&scenario), [700.0, 1_300.0, 700.0]);
        assert_eq!(parts(&scenario), [BTreeSet::from([0, 1, 2])]);
    }

    #[test]
    fn each_direction_is_on_its_own() {
        let scenario = scenario(
            "[link.reverse]\nsteps = [{ at = '0s', rate = '1Mbit/s' }, { at = '35s', rate = '800kbit/s' }]\n\
             [[flow]]\nname = 'there'\nmax_bitrate = '1500kbit/s'\nstart_bitrate = '1Mbit/s'\n\
             [[flow]]\nname = 'back'\ndirection = 'back'\n\
             [[flow]]\nkind = 'cbr'\ndirection = 'back'\nrate = '100kbit/s'\nstop = '90s'\n",
        );
        assert_eq!(shares_kbps(&scenario), [1_500.0, 900.0]);
        let parts = parts(&scenario);
        assert_eq!(parts, [BTreeSet::from([0]), BTreeSet::from([1])]);
        let end = Time::from_secs(100);
        let changes = |links| changes(&scenario, links, Time::ZERO, end);
        let at = |seconds: &[u64]| seconds.iter().copied().map(Time::from_secs).collect();
        assert_eq!(changes(&parts[0]), at(&[0]));
        assert_eq!(changes(&parts[1]), at(&[0, 35, 90]));
    }

    #[test]
    fn the_first_of_two_even_seconds_counts() {
        let steady = bins(&[100; 30]);
        let late: Vec<_> = (0..30).map(|bin| if bin < 10 { 0 } else { 90 }).collect();
        let late = bins(&late);
        let until = Time::from_secs(6);
        // The mean over bins 9 to 13 is 72; over bins 10 to 14 it is 90.
        let both = [&steady, &late];
        assert_eq!(first(&both, Time::ZERO, until, is_even), Some(2.0));
        assert_eq!(first(&both, Time::from_secs(1), until, is_even), Some(1.0));
        // The two seconds that this takes have not passed by then.
        let soon = Time::from_millis(3_800);
        assert_eq!(first(&both, Time::ZERO, soon, is_even), None);
    }
}
