//! Converts a series into the lines to draw: gaps, steps, thinning, clipping.

use crate::{Kind, Series};

/// One point of a series.
pub(crate) type Point = (f64, f64);

/// Points joined by a line without a gap.
pub(crate) type Run = Vec<Point>;

/// How many parts of the x axis a long series is thinned to: one for about two
/// pixels.
const BUCKETS: f64 = 500.0;

/// The length above which a series is thinned: four points per bucket.
const LONGEST: usize = 2_000;

/// The largest value drawn. The widest range then has a finite width.
const LARGEST: f64 = 1e300;

/// The series' points in the order of x, or in the given order for a path, without those that
/// cannot be drawn: each x with its value, or with `None` for a gap.
pub(crate) fn samples(series: &Series) -> Vec<(f64, Option<f64>)> {
    let drawable = |value: f64| value.abs() <= LARGEST;
    let mut latest = None;
    let mut samples = Vec::with_capacity(series.points.len());
    for &(x, y) in &series.points {
        if drawable(x) {
            latest = Some(x);
        }
        if let Some(at) = latest {
            samples.push((at, (drawable(x) && drawable(y)).then_some(y)));
        }
    }
    if series.kind != Kind::Path {
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    samples
}

/// The lines to draw for `series` on an x axis from `low` to `high`.
pub(crate) fn runs(series: &Series, low: f64, high: f64) -> Vec<Run> {
    let steps = matches!(series.kind, Kind::Steps | Kind::Area | Kind::Reference);
    let mut runs = Vec::new();
    let mut run = Run::new();
    let mut held = None;
    for (x, sample) in samples(series) {
        if let Some(value) = held.filter(|_| steps && held != sample) {
            run.push((x, value));
        }
        if let Some(y) = sample {
            run.push((x, y));
        } else if !run.is_empty() {
            runs.push(std::mem::take(&mut run));
        }
        held = sample;
    }
    if let Some(value) = held.filter(|_| series.kind == Kind::Reference) {
        run.push((high, value));
    }
    if !run.is_empty() {
        runs.push(run);
    }
    if series.kind == Kind::Path {
        return runs;
    }
    thin(runs, low, high)
}

/// Keeps from each bucket the first and last point, which connect it with its neighbours, and the
/// lowest and highest, which would be visible. A gap within a bucket is closed.
fn thin(runs: Vec<Run>, low: f64, high: f64) -> Vec<Run> {
    if runs.iter().map(Vec::len).sum::<usize>() <= LONGEST {
        return runs;
    }
    let bucket = |x: f64| libm::floor((x - low) / (high - low) * BUCKETS).min(BUCKETS - 1.0);
    let points: Vec<(bool, Point)> = runs
        .into_iter()
        .flat_map(|run| run.into_iter().enumerate())
        .map(|(index, point)| (index == 0, point))
        .collect();
    let mut thinned = Vec::new();
    for part in points.chunk_by(|a, b| bucket(a.1.0).total_cmp(&bucket(b.1.0)).is_eq()) {
        let height = |index: &usize| part[*index].1.1;
        let by_height = |a: &usize, b: &usize| height(a).total_cmp(&height(b));
        let lowest = (0..part.len()).min_by(by_height).unwrap_or_default();
        let highest = (0..part.len()).max_by(by_height).unwrap_or_default();
        let mut kept = [0, lowest, highest, part.len() - 1];
        kept.sort_unstable();
        if part[0].0 {
            thinned.push(Run::new());
        }
        if let Some(run) = thinned.last_mut() {
            run.extend(kept.map(|index| part[index].1));
            run.dedup();
        }
    }
    thinned
}

/// The outline of the area between `run` and zero, within `low` and `high`.
pub(crate) fn outline(mut run: Run, low: f64, high: f64) -> Run {
    let ends = [run.last(), run.first()];
    let floor = ends.map(|end| end.map(|point| (point.0, 0.0)));
    run.extend(floor.into_iter().flatten());
    for point in &mut run {
        point.1 = point.1.clamp(low, high);
    }
    run
}

/// The parts of `run` between `low` and `high`.
pub(crate) fn clip(run: Run, low: f64, high: f64) -> Vec<Run> {
    let inside = |point: &Point| (low..=high).contains(&point.1);
    if run.iter().all(inside) {
        return vec![run];
    }
    let mut clipped: Vec<Run> = Vec::new();
    for pair in run.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        if from.1.max(to.1) < low || from.1.min(to.1) > high {
            continue;
        }
        let at = |point: Point| {
            if inside(&point) {
                return point;
            }
            let y = point.1.clamp(low, high);
            let share = (y - from.1) / (to.1 - from.1);
            (from.0 + share * (to.0 - from.0), y)
        };
        let (start, end) = (at(from), at(to));
        match clipped.last_mut() {
            Some(last) if last.last() == Some(&start) => last.push(end),
            _ => clipped.push(vec![start, end]),
        }
    }
    clipped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(kind: Kind, points: &[Point]) -> Series {
        Series {
            name: String::new(),
            points: points.to_vec(),
            kind,
        }
    }

    #[test]
    fn peaks_survive_thinning() {
        let count = 1_000_000;
        let points: Vec<Point> = (0..count)
            .map(|index| match index {
                123_456 => (123_456.0, 900.0),
                765_432 => (765_432.0, -900.0),
                _ => (f64::from(index), f64::from(index % 10)),
            })
            .collect();
        for kind in [Kind::Line, Kind::Steps, Kind::Dots] {
            let thinned = runs(&series(kind, &points), 0.0, f64::from(count - 1));
            assert_eq!(thinned.len(), 1, "{kind:?} has no gap");
            let run = &thinned[0];
            assert!((1_000..=LONGEST).contains(&run.len()), "{}", run.len());
            assert!(run.iter().any(|point| point.1 >= 900.0), "{kind:?} peaks");
            assert!(run.iter().any(|point| point.1 <= -900.0), "{kind:?} dips");
            assert_eq!(run.last(), points.last());
        }
    }

    #[test]
    fn a_gap_stays_a_gap_when_thinned() {
        let mut points: Vec<Point> = (0..9_000).map(|x| (f64::from(x), 1.0)).collect();
        for point in &mut points[3_000..6_000] {
            point.1 = f64::NAN;
        }
        let thinned = runs(&series(Kind::Line, &points), 0.0, 8_999.0);
        let ends: Vec<_> = thinned
            .iter()
            .map(|run| (run[0], run[run.len() - 1]))
            .collect();
        assert_eq!(
            ends,
            [
                ((0.0, 1.0), (2_999.0, 1.0)),
                ((6_000.0, 1.0), (8_999.0, 1.0))
            ]
        );
    }

    #[test]
    fn points_that_are_not_finite_break_the_line() {
        let points = [
            (f64::NAN, 0.0),
            (2.0, 1.0),
            (1.0, 1.0),
            (f64::INFINITY, 1.0),
            (3.0, f64::NEG_INFINITY),
            (4.0, 1.0),
        ];
        let lines = runs(&series(Kind::Line, &points), 1.0, 4.0);
        assert_eq!(
            lines,
            [vec![(1.0, 1.0)], vec![(2.0, 1.0)], vec![(4.0, 1.0)]]
        );
    }

    #[test]
    fn steps_hold_until_the_next_point_and_references_to_the_end() {
        let points = [(0.0, 1.0), (1.0, 3.0), (2.0, f64::NAN), (3.0, 5.0)];
        let held = vec![(0.0, 1.0), (1.0, 1.0), (1.0, 3.0), (2.0, 3.0)];
        let steps = runs(&series(Kind::Steps, &points), 0.0, 9.0);
        assert_eq!(steps, [held.clone(), vec![(3.0, 5.0)]]);
        let reference = runs(&series(Kind::Reference, &points), 0.0, 9.0);
        assert_eq!(reference, [held, vec![(3.0, 5.0), (9.0, 5.0)]]);
    }

    #[test]
    fn areas_stand_on_zero_and_stay_within_the_range() {
        let steps = runs(
            &series(Kind::Area, &[(1.0, 5.0), (2.0, 9.0), (3.0, f64::NAN)]),
            0.0,
            3.0,
        );
        let run = steps[0].clone();
        assert_eq!(run, [(1.0, 5.0), (2.0, 5.0), (2.0, 9.0), (3.0, 9.0)]);
        let floor = [(3.0, 0.0), (1.0, 0.0)];
        assert_eq!(outline(run.clone(), -1.0, 10.0)[4..], floor);
        let cut = outline(run, 1.0, 6.0);
        assert_eq!(cut[2..], [(2.0, 6.0), (3.0, 6.0), (3.0, 1.0), (1.0, 1.0)]);
    }

    #[test]
    fn lines_are_cut_where_they_leave_the_range() {
        let run = vec![(0.0, 0.0), (10.0, 20.0), (20.0, 0.0), (30.0, -10.0)];
        let cut = clip(run, 0.0, 10.0);
        assert_eq!(
            cut,
            [
                vec![(0.0, 0.0), (5.0, 10.0)],
                vec![(15.0, 10.0), (20.0, 0.0), (20.0, 0.0)]
            ]
        );
        assert_eq!(clip(vec![(0.0, 11.0)], 0.0, 10.0), Vec::<Run>::new());
    }
}
