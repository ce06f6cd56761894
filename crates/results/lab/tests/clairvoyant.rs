//! The bound of the last mile holds for streams that run there.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_lab::{Choice, Embedded, Record, Suite};

/// How much more another stream may bring: the frames at the end of a run, which the clairvoyant has none of.
const MORE: f64 = 0.003;
/// What a frame more or less is of 1500 frames or fewer.
const SLACK: f64 = 0.002;

/// Runs each case of the last mile once, with the clairvoyant and with one stream that takes all that it can, one that
/// takes little and the one of this project.
#[test]
fn no_stream_carries_more_or_has_fewer_late_frames() {
    let mut files = Embedded::named("last-mile").unwrap();
    let suite = Suite::load("last-mile", &mut files, &[]).unwrap();
    let choice = Choice {
        controllers: ["prague", "c3g", "mimosa"].map(str::to_owned).to_vec(),
        seeds: Some((1, 1)),
        cases: Vec::new(),
    };
    let jobs = suite.jobs(&choice).unwrap();
    let records: Vec<Record> = jobs.iter().map(|job| suite.run(job).unwrap()).collect();
    let mut compared = 0;
    let is_bound = |record: &&Record| record.key.controller == "clairvoyant";
    for bound in records.iter().filter(is_bound) {
        let same = |record: &&Record| {
            (&record.key.case, &record.key.variant) == (&bound.key.case, &bound.key.variant)
        };
        for record in records.iter().filter(same) {
            let numbers = |record: &Record| {
                let flow = &record.flows[0];
                (flow.throughput_mbps, flow.stall_50ms.unwrap())
            };
            let ((most, least), (rate, late)) = (numbers(bound), numbers(record));
            let key = &record.key;
            assert!(
                rate <= most * (1.0 + MORE),
                "{key:?}: {rate} of {most} Mbit/s"
            );
            // Who sends little waits less for repeats in a cell.
            let is_bound = rate < 0.1 * most || late + SLACK >= least;
            assert!(is_bound, "{key:?}: {late} late, at least {least}");
            compared += 1;
        }
    }
    assert_eq!(compared, 4 * suite.cases.len(), "each case has a bound");
}
