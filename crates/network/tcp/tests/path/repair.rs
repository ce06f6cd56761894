//! Loss, reordering and silence: everything arrives, once and in order, and
//! nothing waits for ever. The order is checked by the bottleneck itself.

use mimosa_cc::window::Algorithm;
use mimosa_tcp::{Ack, Application, Block, Config, Sender};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::bottleneck::{Lcg, Network, Path, bulk, goodput};

fn finite(algorithm: Algorithm, size: u64) -> Config {
    Config {
        application: Application::Finite(Bytes::new(size)),
        ..bulk(algorithm)
    }
}

#[test]
fn a_blackout_of_two_seconds_is_survived() {
    for &algorithm in Algorithm::ALL {
        let path = Path {
            blackout: Some((Time::from_secs(10), Time::from_secs(12))),
            ..Path::kernel()
        };
        let mut network = Network::new(path, &[bulk(algorithm)]);
        let dark = goodput(&mut network, Time::from_millis(10_200), Time::from_secs(12))[0];
        let after = goodput(&mut network, Time::from_secs(16), Time::from_secs(30))[0];
        let statistics = network.flows[0].sender.statistics();
        println!(
            "{}: {after:.2} Mbit/s after, {statistics:?}",
            algorithm.name()
        );
        assert!(dark < 0.1, "{dark} Mbit/s in the dark");
        assert!((2..=5).contains(&statistics.timeouts), "{statistics:?}");
        assert!(after > 44.0, "{}: {after} Mbit/s", algorithm.name());
    }
}

#[test]
fn one_percent_of_random_loss_does_not_stall() {
    for &algorithm in Algorithm::ALL {
        let path = Path {
            loss: 0.01,
            ..Path::kernel()
        };
        let mut network = Network::new(path, &[bulk(algorithm)]);
        let rate = goodput(&mut network, Time::from_secs(5), Time::from_secs(35))[0];
        let statistics = network.flows[0].sender.statistics();
        println!("{}: {rate:.2} Mbit/s, {statistics:?}", algorithm.name());
        // Mathis et al.: 1.22 * MSS / (RTT * sqrt(p)) is 4.7 Mbit/s for Reno.
        assert!(rate > 3.0, "{}: {rate} Mbit/s", algorithm.name());
        if algorithm == Algorithm::Reno {
            assert!(rate < 7.0, "{rate} Mbit/s is no Reno");
        }
        assert!(statistics.retransmissions > 50, "{statistics:?}");
        assert!(statistics.timeouts <= 3, "{statistics:?}");
    }
}

#[test]
fn reordering_below_a_quarter_of_the_round_trip_costs_little() {
    for &algorithm in Algorithm::ALL {
        let path = Path {
            reorder: 0.01,
            reorder_by: TimeDelta::from_millis(5),
            ..Path::kernel()
        };
        let mut network = Network::new(path, &[bulk(algorithm)]);
        let rate = goodput(&mut network, Time::from_secs(5), Time::from_secs(35))[0];
        let statistics = network.flows[0].sender.statistics();
        let duplicates = network.flows[0].receiver.duplicates();
        println!(
            "{}: {rate:.2} Mbit/s, {duplicates} in vain, {statistics:?}",
            algorithm.name()
        );
        assert!(rate > 45.0, "{}: {rate} Mbit/s", algorithm.name());
        assert!(duplicates < 30, "{}: {duplicates}", algorithm.name());
        assert_eq!(statistics.timeouts, 0);
    }
}

#[test]
fn a_short_flow_takes_as_many_rounds_as_slow_start_needs() {
    for &algorithm in Algorithm::ALL {
        // 10 + 20 + 40 segments: three rounds, and the last acknowledgement.
        let mut network = Network::new(Path::kernel(), &[finite(algorithm, 70 * 1460)]);
        network.run(Time::from_secs(5));
        let flow = &network.flows[0];
        assert_eq!(flow.receiver.delivered(), Bytes::new(70 * 1460));
        let took = flow.finished_at.unwrap();
        println!("{}: {took}", algorithm.name());
        assert!((90..180).contains(&(took.as_nanos() / 1_000_000)), "{took}");
        assert_eq!(flow.sender.statistics().retransmissions, 0);
    }
}

#[test]
fn a_lost_tail_is_probed_before_the_timeout() {
    // Ten segments leave at once, the last two after a round trip.
    let path = Path {
        rate: Rate::from_kbps(100_000_000),
        blackout: Some((Time::from_millis(30), Time::from_millis(40))),
        ..Path::kernel()
    };
    let tail = finite(Algorithm::Cubic, 12 * 1460);
    let mut network = Network::new(path, &[tail]);
    network.run(Time::from_secs(5));
    let flow = &network.flows[0];
    let statistics = flow.sender.statistics();
    let took = flow.finished_at.unwrap();
    assert_eq!(
        (statistics.timeouts, statistics.probes),
        (0, 1),
        "{took} {statistics:?}"
    );
    assert!(took < Time::from_millis(200), "{took}");
}

#[test]
fn a_limited_application_sends_at_its_rate() {
    for &algorithm in Algorithm::ALL {
        let config = Config {
            application: Application::Limited(Rate::from_kbps(10_000)),
            ..bulk(algorithm)
        };
        let mut network = Network::new(Path::kernel(), &[config]);
        let rate = goodput(&mut network, Time::from_secs(2), Time::from_secs(22))[0];
        assert!(
            (9.95..10.05).contains(&rate),
            "{}: {rate}",
            algorithm.name()
        );
        assert!(network.mean_wait() < TimeDelta::from_millis(2));
        assert_eq!(network.flows[0].sender.statistics().retransmissions, 0);
    }
}

/// Whatever the path does, a finite flow ends.
#[test]
fn no_loss_and_no_reordering_blocks_a_flow_for_ever() {
    let mut lcg = Lcg(7);
    for seed in 0..400 {
        let path = Path {
            rate: Rate::from_mbps(1.0 + lcg.uniform() * 50.0),
            rtt: TimeDelta::from_secs(0.002 + lcg.uniform() * 0.2),
            limit: 2 + usize::try_from(lcg.below(100)).unwrap(),
            loss: lcg.uniform() * lcg.uniform() * 0.5,
            ack_loss: lcg.uniform() * lcg.uniform() * 0.5,
            reorder: lcg.uniform() * lcg.uniform(),
            reorder_by: TimeDelta::from_secs(lcg.uniform() * 0.1),
            mark_after: Some(TimeDelta::from_secs(lcg.uniform() * 0.02)),
            seed,
            ..Path::kernel()
        };
        for &algorithm in Algorithm::ALL {
            let size = 1 + lcg.below(1_000_000);
            let config = Config {
                ecn: algorithm.ecn(),
                seed,
                ..finite(algorithm, size)
            };
            let mut network = Network::new(path, &[config]);
            // Timeouts back off to two minutes, so the worst paths take hours.
            network.run(Time::from_secs(100_000));
            let flow = &network.flows[0];
            let story = format!("{} {size} {path:?}", algorithm.name());
            assert!(flow.finished_at.is_some(), "stuck: {story}");
            assert_eq!(flow.receiver.delivered(), Bytes::new(size), "{story}");
        }
    }
}

/// Acknowledgements of anything at any time: no panic, and no segment out of
/// bounds.
#[test]
fn no_acknowledgement_however_wrong_breaks_a_sender() {
    let mut lcg = Lcg(11);
    for &algorithm in Algorithm::ALL {
        let mut sender = Sender::new(Config {
            ecn: algorithm.ecn(),
            receive_window: Bytes::new(300_000),
            ..bulk(algorithm)
        });
        let (mut now, mut next) = (Time::ZERO, 0);
        for _ in 0..30_000 {
            now += TimeDelta::from_secs(lcg.uniform() * lcg.uniform() * 0.02);
            while let Some(segment) = sender.poll(now) {
                next = segment.end().max(next);
                let acknowledged = sender.statistics().acknowledged;
                assert!(Bytes::new(next) - acknowledged <= Bytes::new(300_000));
            }
            let mut block = || {
                let start = next.saturating_sub(lcg.below(50_000));
                (lcg.uniform() < 0.3).then(|| Block {
                    start,
                    end: start + lcg.below(20_000),
                })
            };
            let sacks = [block(), block(), block()];
            let ack = Ack {
                cumulative: next.saturating_sub(lcg.below(60_000)) + lcg.below(3),
                sacks,
                is_duplicate: lcg.uniform() < 0.1,
                ece: lcg.uniform() < 0.1,
                ce_segments: lcg.below(1_000),
                ce_bytes: Bytes::new(lcg.below(1_000_000)),
                echo: Time::from_nanos(lcg.below(now.as_nanos() * 2 + 1)),
            };
            if lcg.uniform() < 0.7 {
                sender.acknowledge(now, &ack);
            } else if let Some(at) = sender.deadline() {
                now = now.max(at);
                sender.timer(now);
            }
        }
        assert!(sender.statistics().segments > 1_000, "{}", algorithm.name());
    }
}

#[test]
fn the_same_run_twice_is_the_same_run() {
    let run = |algorithm| {
        let path = Path {
            loss: 0.01,
            reorder: 0.05,
            reorder_by: TimeDelta::from_millis(5),
            ..Path::kernel()
        };
        let mut network = Network::new(path, &[bulk(algorithm)]);
        network.run(Time::from_secs(5));
        network.flows[0].sender.statistics()
    };
    for &algorithm in Algorithm::ALL {
        assert_eq!(run(algorithm), run(algorithm));
    }
}
