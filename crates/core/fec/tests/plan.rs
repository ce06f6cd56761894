//! Plans have the probabilities of the model, and no needless repair packet.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_facts::Loss;
use mimosa_fec::{Code, Lacking, Planner, Target, losses, xor};
use proptest::prelude::*;

const TARGET: Target = Target {
    late: 1e-3,
    most_overhead: 0.5,
};

/// One percent of packets is lost, in bursts of four.
const BURSTS: Loss = Loss {
    begins: 0.01 / 0.99 * 0.25,
    ends: 0.25,
};

fn planner(loss: Loss) -> Planner {
    let mut planner = Planner::new(TARGET, Code::ReedSolomon);
    planner.set_loss(loss);
    planner
}

/// Probability that more than `repairs` of `packets` packets are lost.
fn beyond(loss: Loss, packets: u32, repairs: u32) -> f64 {
    let chances = losses(loss, packets as usize);
    chances.iter().skip(repairs as usize + 1).sum()
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-12, "{a}, not {b}");
}

#[test]
fn independent_losses_are_binomial() {
    for (rate, packets) in [(0.01, 12), (0.05, 40), (0.5, 7), (0.0, 3)] {
        let chances = losses(Loss::independent(rate), packets);
        let mut ways = 1.0;
        for (count, chance) in chances.iter().enumerate() {
            let power = |base: f64, times: usize| (0..times).map(|_| base).product::<f64>();
            close(
                *chance,
                ways * power(rate, count) * power(1.0 - rate, packets - count),
            );
            ways = ways * (packets - count) as f64 / (count + 1) as f64;
        }
    }
}

/// Compares with all possible fates of eight packets.
#[test]
fn bursts_are_those_of_the_chain() {
    let loss = Loss {
        begins: 0.1,
        ends: 0.3,
    };
    let mut expected = [0.0; 9];
    for ways in 0_u32..256 {
        let is_lost = |packet: u32| ways >> packet & 1 == 1;
        let mut chance = if is_lost(0) {
            loss.rate()
        } else {
            1.0 - loss.rate()
        };
        for packet in 1..8 {
            chance *= match (is_lost(packet - 1), is_lost(packet)) {
                (false, true) => loss.begins,
                (false, false) => 1.0 - loss.begins,
                (true, false) => loss.ends,
                (true, true) => 1.0 - loss.ends,
            };
        }
        expected[ways.count_ones() as usize] += chance;
    }
    for (chance, expected) in losses(loss, 8).iter().zip(expected) {
        close(*chance, expected);
    }
}

/// Without a round, the repair packets have to suffice alone, and one less would not.
#[test]
fn without_a_round_the_least_repair_that_does_is_sent() {
    for loss in [0.005, 0.01, 0.02, 0.05]
        .map(Loss::independent)
        .into_iter()
        .chain([BURSTS])
    {
        for media in [1, 6, 12, 25, 60] {
            let plan = planner(loss).plan(media, 0);
            close(plan.late, beyond(loss, media + plan.repairs, plan.repairs));
            let is_bound = plan.repairs == media.div_ceil(2);
            assert!(plan.late <= TARGET.late || is_bound, "{plan:?}");
            let fewer = plan.repairs - 1;
            assert!(beyond(loss, media + fewer, fewer) > TARGET.late, "{plan:?}");
        }
    }
    // By hand: 1 - 0.99^14 - 14 * 0.01 * 0.99^13 = 0.0084, with two 0.00036.
    assert_eq!(planner(Loss::independent(0.01)).plan(12, 0).repairs, 2);
    assert_eq!(planner(BURSTS).plan(12, 0).repairs, 6, "the bound");
    assert_eq!(planner(Loss::NONE).plan(12, 0).repairs, 0);
}

/// One round is worth nearly all repair packets, because few frames need more in it.
#[test]
fn a_round_takes_the_place_of_repair() {
    let planner = &mut planner(Loss::independent(0.01));
    let plan = planner.plan(12, 1);
    assert_eq!(plan.repairs, 0);
    // 1 - 0.99^12.
    close(plan.again, beyond(Loss::independent(0.01), 12, 0));
    assert!((0.11..0.12).contains(&plan.again), "{plan:?}");
    assert!(plan.late < TARGET.late / 2.0, "{plan:?}");
    let lacking = Lacking {
        media: 12,
        repairs: 0,
        packets: 1,
        rounds: 0,
        again: plan.again,
    };
    assert_eq!(planner.extra(&lacking), 1, "the last round is sure");
    let second = Lacking {
        rounds: 1,
        ..lacking
    };
    assert_eq!(planner.extra(&second), 0, "few frames come to a second one");
    let two = planner.plan(12, 2);
    assert_eq!(two.repairs, 0);
    assert!(two.late <= TARGET.late, "{two:?}");
}

/// As many frames are late as the plan says when losses are drawn from the model.
#[test]
fn as_many_frames_are_late_as_planned() {
    let cases = [
        (Loss::independent(0.05), 12, 0),
        (Loss::independent(0.05), 25, 1),
        (Loss::independent(0.2), 10, 2),
        (
            Loss {
                begins: 0.03,
                ends: 0.25,
            },
            20,
            0,
        ),
        (
            Loss {
                begins: 0.03,
                ends: 0.25,
            },
            20,
            1,
        ),
        (
            Loss {
                begins: 0.06,
                ends: 0.4,
            },
            8,
            2,
        ),
    ];
    for (loss, media, rounds) in cases {
        let target = Target {
            late: 0.02,
            most_overhead: 0.3,
        };
        let mut planner = Planner::new(target, Code::ReedSolomon);
        planner.set_loss(loss);
        let plan = planner.plan(media, rounds);
        let mut state = 1_u64;
        let mut chance = move |p: f64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 11) as f64) < p * (1_u64 << 53) as f64
        };
        let mut lost_of = |packets: u32| {
            let mut is_lost = chance(loss.rate());
            let mut count = u32::from(is_lost && packets > 0);
            for _ in 1..packets {
                is_lost = if is_lost {
                    !chance(loss.ends)
                } else {
                    chance(loss.begins)
                };
                count += u32::from(is_lost);
            }
            count
        };
        let frames = 200_000;
        let (mut late, mut again) = (0, 0);
        for _ in 0..frames {
            let mut packets = lost_of(media + plan.repairs).saturating_sub(plan.repairs);
            again += u32::from(packets > 0);
            for round in 0..rounds {
                let extra = if round + 1 == rounds && packets > 0 {
                    planner.extra(&Lacking {
                        media,
                        repairs: plan.repairs,
                        packets,
                        rounds: round,
                        again: plan.again,
                    })
                } else {
                    0
                };
                packets = lost_of(packets + extra).saturating_sub(extra);
            }
            late += u32::from(packets > 0);
        }
        let frames = f64::from(frames);
        for (count, expected) in [(again, plan.again), (late, plan.late)] {
            let share = f64::from(count) / frames;
            let deviation = (expected * (1.0 - expected) / frames).sqrt();
            assert!(
                (share - expected).abs() < 5.0 * deviation,
                "{share} {plan:?} {loss:?}"
            );
        }
    }
}

/// A block of the code has 255 packets, and larger frames get no repair packets.
#[test]
fn no_block_is_larger_than_the_code_has() {
    let mut planner = planner(Loss::independent(0.5));
    for (media, repairs) in [(170, 85), (200, 55), (254, 1), (255, 0), (300, 0)] {
        assert_eq!(planner.plan(media, 0).repairs, repairs, "{media}");
    }
}

proptest! {
    /// Whatever the loss, probabilities add up, bounds hold, and a round never asks for more.
    #[test]
    fn plans_keep_their_bounds(
        begins in 0.0_f64..1.0, ends in 0.01_f64..1.0, packets in 1_u32..40, rounds in 0_u32..4,
    ) {
        let loss = Loss { begins, ends };
        let all: f64 = losses(loss, packets as usize).iter().sum();
        prop_assert!((all - 1.0).abs() < 1e-9);
        let mut planner = planner(loss);
        let plan = planner.plan(packets, rounds);
        prop_assert!(plan.repairs <= packets.div_ceil(2));
        prop_assert!((0.0..=1.0 + 1e-9).contains(&plan.late), "{plan:?}");
        prop_assert!(plan.late <= plan.again + 1e-9, "{plan:?}");
        prop_assert_eq!(plan, planner.plan(packets, rounds));
    }
}

/// As many frames lack something as planned when losses are drawn one at a time.
#[test]
fn the_exclusive_or_needs_more_and_fails_as_often_as_planned() {
    let target = Target {
        late: 0.002,
        most_overhead: 0.5,
    };
    let loss = Loss::independent(0.03);
    for media in [6_u32, 12, 30] {
        let [best, mut planner] = [Code::ReedSolomon, Code::Xor].map(|code| {
            let mut planner = Planner::new(target, code);
            planner.set_loss(loss);
            planner
        });
        let least = { best }.plan(media, 0).repairs;
        let plan = planner.plan(media, 0);
        assert!(plan.repairs >= least, "{media}: {plan:?}");
        let (media, repairs) = (media as usize, plan.repairs as usize);
        let columns = xor::columns(media, repairs);
        let mut state = 1_u64;
        let frames = 100_000;
        let bad = (0..frames).filter(|_| {
            let missing: Vec<usize> = (0..media + repairs)
                .filter(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    ((state >> 11) as f64) < 0.03 * (1_u64 << 53) as f64
                })
                .collect();
            !xor::residual(&columns, repairs, &missing).is_empty()
        });
        let share = bad.count() as f64 / f64::from(frames);
        println!("{media} packets: {plan:?}, {share}");
        assert!(
            (share - plan.late).abs() < 0.15 * plan.late + 3e-4,
            "{media}: {share} {plan:?}"
        );
    }
}

#[test]
fn a_plan_is_of_the_loss_as_it_is_now() {
    for rounds in [0, 2] {
        let mut planner = planner(Loss::independent(0.2));
        let before = planner.plan(20, rounds);
        let now = Loss::independent(0.01);
        planner.set_loss(now);
        let plan = planner.plan(20, rounds);
        assert_eq!(plan, self::planner(now).plan(20, rounds));
        assert!(plan.repairs < before.repairs);
    }
}

#[test]
fn the_exclusive_or_has_no_more_packets_than_its_format() {
    let mut planner = Planner::new(TARGET, Code::Xor);
    planner.set_loss(Loss::independent(0.1));
    assert_eq!(planner.plan(110, 0).repairs, 0);
    assert!((1..=12).contains(&planner.plan(109, 0).repairs));
}
