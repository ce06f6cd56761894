//! Statistics and changes of traces that are known by hand.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_trace::{CELL, EditError, LONGEST, Statistics, TooLong, Trace, falls, means, parse};
use mimosa_units::{Rate, TimeDelta};

fn of(text: &str) -> Statistics {
    Statistics::of(&parse(text).unwrap(), None).unwrap()
}

/// A row for each rate in Mbit/s, 100 ms apart.
fn rows(rates: impl IntoIterator<Item = f64>) -> String {
    let row = |(index, rate)| format!("{} {rate}\n", f64::from(index) / 10.0);
    (0..).zip(rates).map(row).collect()
}

#[test]
fn a_ramp_has_its_percentiles() {
    let ramp = of(&rows((1..=100).map(f64::from)));
    assert_eq!(ramp.length, TimeDelta::from_millis(10_000));
    assert_eq!(ramp.mean, Rate::from_kbps(50_500));
    let expected = [1, 5, 25, 50, 75, 95, 99].map(|mbps| Rate::from_kbps(mbps * 1_000));
    assert_eq!(ramp.rates, expected);
    // The variance of 1 to n is (n^2 - 1) / 12.
    let deviation = (9_999.0_f64 / 12.0).sqrt();
    assert!((ramp.variation - deviation / 50.5).abs() < 1e-9);
    assert!(ramp.falls_per_minute.abs() < 1e-9, "it only rises");
    assert_eq!(ramp.round_trips, None);
    assert_eq!(ramp.losses, None);
}

#[test]
fn a_fall_is_by_more_than_half_from_cell_to_cell() {
    // To half: none. Below: one. In two steps of a third: none.
    let cells = [10.0, 5.0, 10.0, 4.9, 10.0, 6.6, 4.4, 0.0, 0.0, 8.0];
    let found: Vec<_> = falls(&means(&parse(&rows(cells)).unwrap(), CELL).unwrap()).collect();
    assert_eq!(found, [3, 7]);
    let per_minute = of(&rows(cells)).falls_per_minute;
    assert!(
        (per_minute - 120.0).abs() < 1e-9,
        "two in a second: {per_minute}"
    );
}

#[test]
fn finer_rows_are_averaged_and_coarser_ones_repeated() {
    let fine = parse("0 10\n0.025 20\n0.05 30\n0.075 40\n").unwrap();
    assert_eq!(means(&fine, CELL).unwrap(), [Rate::from_kbps(25_000)]);
    let coarse = parse("0 10\n0.25 20\n").unwrap();
    let expected = [10, 10, 15, 20, 20].map(|mbps| Rate::from_kbps(mbps * 1_000));
    assert_eq!(means(&coarse, CELL).unwrap(), expected);
    // What is left after the last whole cell does not count, unless it is all.
    let short = parse("0 10\n0.04 20\n").unwrap();
    assert_eq!(means(&short, CELL).unwrap(), [Rate::from_kbps(15_000)]);
}

#[test]
fn autocorrelation_is_that_of_a_square_wave() {
    let wave = of(&rows(
        (0..400).map(|index| if index % 20 < 10 { 9.0 } else { 11.0 }),
    ));
    let [near, second, ten] = wave.autocorrelation.map(Option::unwrap);
    // One cell in ten turns; after a second all have; after ten none.
    assert!((near - (399.0 - 2.0 * 39.0) / 400.0).abs() < 1e-9, "{near}");
    assert!((second + 390.0 / 400.0).abs() < 1e-9, "{second}");
    assert!((ten - 300.0 / 400.0).abs() < 1e-9, "{ten}");
    let steady = of(&rows([5.0; 20]));
    assert_eq!(steady.autocorrelation, [None; 3]);
    let short = of(&rows([5.0, 6.0]));
    assert!(short.autocorrelation[0].is_some() && short.autocorrelation[1].is_none());
}

#[test]
fn outages_last_two_cells_at_least() {
    let mut rates = vec![10.0; 100];
    rates[10] = 0.0;
    rates[20..22].fill(0.0);
    rates[30..35].fill(0.4);
    rates[40..45].fill(0.6);
    let text = rows(rates);
    let outages = of(&text).outages;
    let mean = 10.0 - (10.0 + 20.0 + 48.0 + 47.0) / 100.0;
    assert_eq!(outages.floor, Rate::from_mbps(mean * 0.05));
    assert_eq!(
        (outages.count, outages.longest),
        (2, TimeDelta::from_millis(500))
    );
    assert!((outages.share - 0.07).abs() < 1e-9);
    let with = |floor| {
        Statistics::of(&parse(&text).unwrap(), Some(floor))
            .unwrap()
            .outages
    };
    assert_eq!(with(Rate::ZERO).count, 1);
    assert_eq!(with(Rate::from_kbps(600)).count, 3);
}

fn same(found: [f64; 7], expected: [f64; 7]) {
    let close = |(one, other): (&f64, &f64)| (one - other).abs() < 1e-9;
    assert!(found.iter().zip(&expected).all(close), "{found:?}");
}

#[test]
fn round_trips_and_losses_count_by_time() {
    let recorded = of("0 9 10ms 0\n0.1 8 30ms 0.5\n0.2 9 20ms 0.1\n0.5 9 10ms 0\n0.6\n");
    let millis = recorded.round_trips.unwrap().map(TimeDelta::as_millis);
    same(millis, [10.0, 10.0, 10.0, 20.0, 20.0, 30.0, 30.0]);
    let losses = recorded.losses.unwrap();
    same(losses, [0.0, 0.0, 0.0, 0.1, 0.1, 0.5, 0.5]);
}

#[test]
fn a_week_is_enough() {
    let long = parse("0 1\n700000 2\n1400000\n").unwrap();
    assert!(long.length > LONGEST);
    assert_eq!(Statistics::of(&long, None), Err(TooLong(long.length)));
}

#[test]
fn a_part_and_a_scale_are_what_they_say() {
    let whole = parse("0 10\n0.1 20\n0.2 0\n0.3 40\n").unwrap();
    let millis = TimeDelta::from_millis;
    let part = whole.cut(millis(150), millis(350)).unwrap();
    let starts = |trace: &Trace| -> Vec<_> {
        let segments = trace.segments.iter();
        segments
            .map(|s| (s.at.as_millis(), s.rate.as_mbps()))
            .collect()
    };
    assert_eq!(starts(&part), [(0.0, 20.0), (50.0, 0.0), (150.0, 40.0)]);
    assert_eq!(part.length, millis(200));
    let half = whole.scale(0.5).unwrap();
    assert_eq!(
        starts(&half),
        [(0.0, 5.0), (100.0, 10.0), (200.0, 0.0), (300.0, 20.0)]
    );
    assert_eq!(
        whole.scale_to(Rate::from_kbps(7_000)).unwrap().mean(),
        Rate::from_kbps(7_000)
    );
    for (from, to) in [(100, 100), (200, 100), (0, 401)] {
        let refused = whole.cut(millis(from), millis(to));
        assert!(
            matches!(refused, Err(EditError::NoPart { .. })),
            "{from} {to}"
        );
    }
    assert_eq!(
        whole.cut(millis(200), millis(300)),
        Err(EditError::NeverPasses)
    );
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(
            whole.scale(factor),
            Err(EditError::NoFactor { .. })
        ));
    }
    assert_eq!(whole.scale(1e-9), Err(EditError::NeverPasses));
    assert_eq!(whole.scale_to(Rate::ZERO), Err(EditError::NeverPasses));
    assert!(matches!(whole.scale(1e6), Err(EditError::TooFast { .. })));
}
