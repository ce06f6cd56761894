//! Measures what the packets of a class of flows met, and what of the class arrived.

use mimosa_units::{Time, TimeDelta};

use super::measured::{Part, rank, share};
use super::quantity::{Class, Quantity};
use crate::numbers::mean;
use crate::trace::{Met, STEP, Trace, WAITS_MS};

/// Number of the trace's steps in a second.
const STEPS: usize = 10;

/// The quantity in one run; `None` if there is nothing to measure. Packets count by the second in which
/// they were offered, and rates by whole seconds.
pub(super) fn measure(quantity: Quantity, trace: &Trace, part: &Part) -> Option<f64> {
    let met = match part.class {
        Class::Video => &trace.video,
        Class::Tcp => &trace.tcp,
    };
    let met = seconds(met, part);
    let count = |count: fn(&Met) -> u64| met.iter().map(count).sum::<u64>() as f64;
    let packets = count(|met| met.packets);
    let wait = || (packets > 0.0).then(|| count(|met| met.waited_us) / 1e3 / packets);
    match quantity {
        Quantity::Wait => wait(),
        Quantity::WaitDeviation => {
            let squares = count(|met| met.squares_us2) / 1e6;
            let wait = wait()?;
            Some((squares / packets - wait * wait).max(0.0).sqrt())
        }
        Quantity::Waiting => {
            let above = part.above?;
            let place = WAITS_MS.iter().position(|ms| is(above, *ms))?;
            let late: u64 = met.iter().map(|met| met.above[place]).sum();
            share(late as f64, packets)
        }
        Quantity::Lost => {
            let lost = count(|met| met.lost);
            share(lost, lost + packets)
        }
        _ => received(quantity, trace, part),
    }
}

/// Whether packets are counted above this wait.
pub(super) fn is_counted(above: TimeDelta) -> bool {
    WAITS_MS.iter().any(|ms| is(above, *ms))
}

fn is(above: TimeDelta, ms: u64) -> bool {
    above.as_nanos().unsigned_abs() == ms * 1_000_000
}

/// The rates of seconds, or a quartile of them.
fn received(quantity: Quantity, trace: &Trace, part: &Part) -> Option<f64> {
    let steps: Vec<u64> = match part.class {
        Class::Tcp => trace.tcp_kbps.clone(),
        Class::Video => {
            let longest = trace.flows.iter().map(|flow| flow.arrived_kbps.len()).max();
            let sum = |step: usize| {
                let flows = trace.flows.iter();
                flows.filter_map(|flow| flow.arrived_kbps.get(step)).sum()
            };
            (0..longest.unwrap_or(0)).map(sum).collect()
        }
    };
    let per_second: Vec<_> = steps
        .chunks_exact(STEPS)
        .map(|second| second.iter().sum::<u64>() as f64 / STEPS as f64 / 1e3)
        .collect();
    let mut mbps = seconds(&per_second, part).to_vec();
    let share = match quantity {
        Quantity::ReceivedQ1 => 0.25,
        Quantity::ReceivedMedian => 0.5,
        Quantity::ReceivedQ3 => 0.75,
        _ => return mean(mbps.into_iter()),
    };
    mbps.sort_by(f64::total_cmp);
    rank(&mbps, share).copied()
}

/// The entries, one for each second, of the part.
fn seconds<'a, T>(list: &'a [T], part: &Part) -> &'a [T] {
    let second = STEP.as_nanos().unsigned_abs() * STEPS as u64;
    let index = |at: Time| usize::try_from(at.as_nanos() / second).unwrap_or(usize::MAX);
    let to = index(part.window.to).min(list.len());
    list.get(index(part.window.from).min(to)..to)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use mimosa_figures::Window;

    use super::*;
    use crate::trace::FlowTrace;

    /// Two seconds: in the first ten packets of TCP wait 10 ms each, in the second half of them 30 ms and
    /// half 50 ms, and two are lost.
    fn trace() -> Trace {
        let met = |packets, waited_us, squares_us2, above, lost| Met {
            packets,
            waited_us,
            squares_us2,
            above,
            lost,
        };
        Trace {
            tcp: vec![
                met(10, 100_000, 1_000_000_000, [0; 4], 0),
                met(10, 400_000, 17_000_000_000, [10, 10, 0, 0], 2),
            ],
            tcp_kbps: [[8_000; 10], [12_000; 10], [10_000; 10]].concat(),
            flows: vec![FlowTrace {
                arrived_kbps: vec![5_000; 30],
                ..FlowTrace::default()
            }],
            ..Trace::default()
        }
    }

    fn part(from: u64, to: u64, class: Class, above: Option<i64>) -> Part {
        Part {
            window: Window {
                from: Time::from_secs(from),
                to: Time::from_secs(to),
            },
            above: above.map(TimeDelta::from_millis),
            class,
            used: None,
        }
    }

    #[test]
    fn waits_and_losses_are_those_of_the_class_and_the_part() {
        let measured = |quantity, part: &Part| measure(quantity, &trace(), part).map(f64::round);
        let second = part(1, 2, Class::Tcp, None);
        assert_eq!(measured(Quantity::Wait, &second), Some(40.0));
        assert_eq!(measured(Quantity::WaitDeviation, &second), Some(10.0));
        assert_eq!(measured(Quantity::Lost, &second), Some(17.0));
        let both = part(0, 2, Class::Tcp, Some(20));
        assert_eq!(measured(Quantity::Wait, &both), Some(25.0));
        assert_eq!(measured(Quantity::Waiting, &both), Some(50.0));
        let video = part(0, 2, Class::Video, None);
        assert_eq!(measured(Quantity::Wait, &video), None);
        assert!(is_counted(TimeDelta::from_millis(100)));
        assert!(!is_counted(TimeDelta::from_millis(30)));
    }

    #[test]
    fn rates_are_of_seconds() {
        let of = |quantity, class| measure(quantity, &trace(), &part(0, 3, class, None));
        assert_eq!(of(Quantity::Received, Class::Tcp), Some(10.0));
        assert_eq!(of(Quantity::ReceivedQ1, Class::Tcp), Some(8.0));
        assert_eq!(of(Quantity::ReceivedMedian, Class::Tcp), Some(10.0));
        assert_eq!(of(Quantity::ReceivedQ3, Class::Tcp), Some(12.0));
        assert_eq!(of(Quantity::Received, Class::Video), Some(5.0));
    }
}
