//! Marks: the queue stays short, and the link stays busy.

use mimosa_cc::window::Algorithm;
use mimosa_tcp::Config;
use mimosa_units::{Time, TimeDelta};

use crate::bottleneck::{Network, Path, bulk, goodput};

/// Goodput in Mbit/s and mean wait in ms of one flow that is marked.
fn marked(algorithm: Algorithm, after: TimeDelta) -> (f64, f64) {
    let path = Path {
        mark_after: Some(after),
        ..Path::kernel()
    };
    let config = Config {
        ecn: algorithm.ecn(),
        ..bulk(algorithm)
    };
    let mut network = Network::new(path, &[config]);
    let goodput = goodput(&mut network, Time::from_secs(5), Time::from_secs(35))[0];
    let wait = network.mean_wait().as_millis();
    let statistics = network.flows[0].sender.statistics();
    println!(
        "{}: {goodput:.2} Mbit/s, waits {wait:.2} ms, at most {}, {statistics:?}",
        algorithm.name(),
        network.wait_max,
    );
    assert!(network.marked > 0, "the queue was short, but not by marks");
    assert!(statistics.marked.get() >= network.marked * 1460 - 100 * 1460);
    assert_eq!(statistics.timeouts, 0);
    (goodput, wait)
}

#[test]
fn dctcp_keeps_the_queue_at_the_step() {
    let (goodput, wait) = marked(Algorithm::Dctcp, TimeDelta::from_millis(5));
    assert!((46.0..48.7).contains(&goodput), "{goodput} Mbit/s");
    assert!((2.0..6.0).contains(&wait), "waits {wait} ms");
}

#[test]
fn prague_keeps_the_queue_at_a_step_of_one_millisecond() {
    let (goodput, wait) = marked(Algorithm::Prague, TimeDelta::from_millis(1));
    assert!((44.0..48.7).contains(&goodput), "{goodput} Mbit/s");
    assert!((0.2..2.0).contains(&wait), "waits {wait} ms");
}

#[test]
fn one_mark_per_window_is_heard_as_one_loss() {
    for algorithm in [Algorithm::Reno, Algorithm::Cubic] {
        let (goodput, wait) = marked(algorithm, TimeDelta::from_millis(20));
        assert!((43.0..48.7).contains(&goodput), "{goodput} Mbit/s");
        assert!((4.0..20.0).contains(&wait), "waits {wait} ms");
    }
}

#[test]
fn two_scalable_flows_share_the_link() {
    for algorithm in [Algorithm::Dctcp, Algorithm::Prague] {
        let path = Path {
            mark_after: Some(TimeDelta::from_millis(2)),
            ..Path::kernel()
        };
        let first = Config {
            ecn: algorithm.ecn(),
            ..bulk(algorithm)
        };
        let second = Config {
            start: Time::from_secs(3),
            ..first.clone()
        };
        let mut network = Network::new(path, &[first, second]);
        let rates = goodput(&mut network, Time::from_secs(20), Time::from_secs(60));
        println!(
            "{}: {rates:?}, waits {}",
            algorithm.name(),
            network.mean_wait()
        );
        let share = rates[0] / (rates[0] + rates[1]);
        assert!(
            (0.4..0.6).contains(&share),
            "{}: {rates:?}",
            algorithm.name()
        );
        assert!(
            rates[0] + rates[1] > 45.0,
            "{}: {rates:?}",
            algorithm.name()
        );
    }
}
