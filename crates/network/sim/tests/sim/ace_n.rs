//! ACE-N with three controllers on its paper's kind of link: a drop-tail queue of 100 kB,
//! 30 frames a second of uneven size, a rate that changes each 200 ms (section 6.1).
//!
//! `cargo test -p mimosa-sim --test sim ace_n -- --ignored --nocapture` prints the figures of
//! `docs/algorithms/ace-n.md`.

use crate::common::{Log, part, scenario, watched, window};
use mimosa_facts::{BucketCause, Pacing};
use mimosa_scenario::{Scenario, load};
use mimosa_units::Time;

const SEEDS: std::ops::RangeInclusive<u64> = 1..=8;

/// The paper's controllers are GCC, with a trendline of 200 ms (section 5.2), and BBR.
const CONTROLLERS: [(&str, &str); 3] = [
    (
        "gcc",
        "controller = \"gcc\"\nparams = { window_time = \"200ms\" }\n",
    ),
    ("pudica", "controller = \"pudica\"\n"),
    ("copa", "controller = \"copa\"\n"),
];

const BURST: &str = "pacer = \"burst\"\n";
const WEBRTC: &str = "pacer = \"webrtc\"\n";
/// WebRTC's pace with feedback for each transport packet, and the same for the bucket.
const STRICT: &str = "pacer = \"webrtc\"\npacer_params = { factor = 1.1 }\n";
/// The paper's WebRTC\*: "paced at BWE" (sections 3.1, 6.1 and 6.4), exactly the estimate.
const PACED: &str = "pacer = \"webrtc\"\npacer_params = { factor = 1.0 }\n";
const ACE_N: &str = "pacer = \"ace-n\"\npacer_params = { fill = 1.1 }\n";
const ACE_N_PAPER: &str = "pacer = \"ace-n\"\n";

const CONSTANT: &str = "rate = \"50Mbit/s\"";

/// Rates with the quartiles of the paper's traces: 29, 55 and 125 Mbit/s, in an order that
/// goes through all pairs of neighbours.
pub(crate) fn changing() -> String {
    const RATES: [u32; 11] = [20, 55, 125, 29, 80, 40, 150, 29, 55, 100, 35];
    let steps = (0..200).map(|step: usize| {
        let rate = RATES[step * (1 + step / RATES.len()) % RATES.len()];
        format!("{{ at = \"{}ms\", rate = \"{rate}Mbit/s\" }}", step * 200)
    });
    format!("steps = [{}]", steps.collect::<Vec<_>>().join(", "))
}

/// Independent sizes, whose mean is the target.
const INDEPENDENT: &str = "frame_noise = 0.5\n";

/// Sizes with which the encoder keeps an average bitrate, that of the target without the headers:
/// over libx264's time, and over a time as a small buffer of its has.
const ABR: &str = "encoder = \"abr\"\nframe_noise = 0.5\noverhead = \"40B\"\nless_headers = true\n";
const FAST_ABR: &str = "encoder = \"abr\"\nframe_noise = 0.5\npay_back = \"200ms\"\n\
                        overhead = \"40B\"\nless_headers = true\n";

/// What loads the pacer: independent sizes, whose mean is a share of the target.
fn load_of(share: f64) -> String {
    format!("{INDEPENDENT}frame_scale = [{{ at = \"0s\", times = {share:?} }}]\n")
}

pub(crate) fn on(link: &str, flow: &str) -> Scenario {
    framed(link, INDEPENDENT, flow)
}

fn framed(link: &str, frames: &str, flow: &str) -> Scenario {
    scenario(&format!(
        "duration = \"30s\"\n[link]\n{link}\none_way_delay = \"10ms\"\n\
         queue = {{ kind = \"droptail\", limit = \"100kB\" }}\n\
         [[flow]]\nfps = 30\nmax_bitrate = \"20Mbit/s\"\n{frames}{flow}"
    ))
}

/// Means over the seeds, from second 5 on; times in milliseconds.
#[derive(Debug, Default)]
struct Figures {
    median_pacing: f64,
    p95_pacing: f64,
    median: f64,
    p95: f64,
    p99: f64,
    loss: f64,
    bitrate: f64,
}

fn figures(link: &str, flow: &str) -> Figures {
    let scenario = on(link, flow);
    let mut mean = Figures::default();
    let count = SEEDS.count() as f64;
    for seed in SEEDS {
        let mut log = Log::default();
        let outcome = watched(&scenario, seed, window(5_000, 30_000), &mut log);
        let lives = log.frames.iter().map(|(_, life)| life);
        let mut pacing: Vec<_> = lives
            .filter(|life| life.handed_over > Time::from_secs(5) && life.retransmitted == 0)
            .filter_map(|life| Some(life.last_sent?.since(life.handed_over).as_millis()))
            .collect();
        pacing.sort_by(f64::total_cmp);
        let flow = &outcome.flows[0];
        let delays = flow.frame_delay_ms.unwrap();
        mean.median_pacing += pacing[pacing.len() / 2] / count;
        mean.p95_pacing += pacing[pacing.len() * 95 / 100] / count;
        mean.median += delays.p50 / count;
        mean.p95 += delays.p95 / count;
        mean.p99 += delays.p99 / count;
        mean.loss += flow.loss_rate.unwrap() / count;
        mean.bitrate += flow.bitrate_mbps.unwrap() / count;
    }
    mean
}

/// Percentile 95 of the frame delay in ms, and the loss, of a flow in `seed` from second 5 on.
fn tail(scenario: &Scenario, seed: u64) -> (f64, f64) {
    let flow = &part(scenario, seed, window(5_000, 30_000)).flows[0];
    (flow.frame_delay_ms.unwrap().p95, flow.loss_rate.unwrap())
}

/// Sections 6.3 and 6.4 with the paper's own baseline: at the estimate itself ACE-N, whose bucket
/// fills at the estimate, is faster in each seed, and hardly loses more.
#[test]
fn the_bucket_is_faster_than_a_pacer_at_the_estimate() {
    let (_, controller) = CONTROLLERS[0];
    for link in [CONSTANT, &changing()] {
        for frames in [&load_of(0.8), &load_of(0.9), FAST_ABR] {
            for seed in 1..=4 {
                let of = |pacer| tail(&framed(link, frames, &format!("{controller}{pacer}")), seed);
                let ((paced, _), (ace_n, lost)) = (of(PACED), of(ACE_N_PAPER));
                let at = format!("{link:.20}, {frames}, seed {seed}: {paced} and {ace_n} ms");
                assert!(ace_n < paced, "{at}");
                assert!(lost < 0.01, "{at}: lost {lost}");
            }
        }
    }
}

/// What makes the queue of `fill = 1` is that frames are independent: where later frames pay back
/// what large ones took, the pacer and the bucket are rid of it.
#[test]
fn pay_back_takes_the_load_off_the_pacer() {
    let (_, controller) = CONTROLLERS[0];
    for pacer in [PACED, ACE_N_PAPER] {
        for seed in 1..=4 {
            let of = |frames| {
                tail(
                    &framed(CONSTANT, frames, &format!("{controller}{pacer}")),
                    seed,
                )
            };
            let ((independent, _), (paid_back, _)) = (of(INDEPENDENT), of(FAST_ABR));
            let at = format!("{pacer}, seed {seed}: {independent} and {paid_back} ms");
            assert!(paid_back < 0.9 * independent && paid_back > 40.0, "{at}");
        }
    }
}

/// Section 6.3: less delay than with the pacer, hardly more loss, and far less loss than
/// with bursts.
#[test]
fn the_bucket_is_faster_than_the_pacer_and_loses_less_than_bursts() {
    for link in [CONSTANT, &changing()] {
        for (name, controller) in CONTROLLERS {
            let of = |pacer: &str| figures(link, &format!("{controller}{pacer}"));
            let (burst, pacer, ace_n) = (of(BURST), of(STRICT), of(ACE_N));
            let at = format!("{name} on {link:.20}: {burst:?}, {pacer:?}, {ace_n:?}");
            assert!(ace_n.p95 < pacer.p95, "{at}");
            assert!(ace_n.loss <= burst.loss && ace_n.loss < 0.01, "{at}");
            assert!(pacer.loss < 0.01, "{at}");
            if name == "copa" {
                // Its window holds back what the pacer would let through.
                assert!(ace_n.median_pacing < pacer.median_pacing, "{at}");
            } else {
                assert!(ace_n.median_pacing < 0.5 * pacer.median_pacing, "{at}");
                assert!(burst.loss > 0.02, "{at}");
            }
        }
    }
}

/// Section 6.7, figure 25: bursts while there is room, pacing as soon as a queue stands, and
/// bursts again when it has gone.
#[test]
fn a_queue_empties_the_bucket_and_its_end_fills_it_again() {
    let link = "steps = [{ at = \"0s\", rate = \"50Mbit/s\" }, \
        { at = \"10s\", rate = \"10Mbit/s\" }, { at = \"11s\", rate = \"50Mbit/s\" }]";
    let scenario = on(link, &format!("controller = \"pudica\"\n{ACE_N}"));
    for seed in SEEDS {
        let log = Log::of(&scenario, seed);
        let buckets = |from: u64, to: u64| {
            let (from, to) = (Time::from_millis(from), Time::from_millis(to));
            log.frames
                .iter()
                .map(|(_, life)| life)
                .filter(move |life| life.handed_over >= from && life.handed_over < to)
                .filter_map(|life| life.bucket)
        };
        let depths = |from, to| buckets(from, to).map(|bucket| bucket.depth);
        let before = depths(9_500, 10_000).min().unwrap();
        let least = depths(10_000, 11_000).min().unwrap();
        assert!(
            least < before.scale(0.25),
            "seed {seed}: from {before} to {least}"
        );
        let has = |cause, from, to| buckets(from, to).any(|bucket| bucket.cause == cause);
        assert!(
            has(BucketCause::QueueThreshold, 10_000, 11_000),
            "seed {seed}"
        );
        assert!(
            has(BucketCause::FastRecovery, 10_000, 12_000),
            "seed {seed}"
        );
        let after = depths(12_000, 13_000).max().unwrap();
        assert!(
            after >= before.scale(0.5),
            "seed {seed}: {after} afterwards"
        );
    }
}

/// The bucket that a frame left by is as deep as the last decision says.
#[test]
fn a_frame_remembers_the_bucket_it_left_by() {
    let scenario = on(CONSTANT, &format!("controller = \"pudica\"\n{ACE_N_PAPER}"));
    let log = Log::of(&scenario, 1);
    assert!(log.frames.len() > 800);
    for (_, life) in &log.frames {
        let Pacing::Bucket { burst, .. } = life.pacing else {
            panic!("{:?}", life.pacing);
        };
        let bucket = life.bucket.unwrap();
        assert_eq!(bucket.depth, burst);
        assert!(bucket.at <= life.handed_over);
    }
}

#[test]
fn a_scenario_names_the_pacer_and_its_parameters() {
    let text =
        |flow: &str| format!("duration = \"1s\"\n[link]\nrate = \"8Mbit/s\"\n[[flow]]\n{flow}\n");
    for pacer in [
        "ace-n",
        "token-bucket",
        "webrtc",
        "salsify",
        "scream",
        "controller",
        "2x",
    ] {
        let loaded = load(&text(&format!("pacer = \"{pacer}\"")), "t", &mut ());
        assert!(loaded.is_ok(), "{pacer}: {}", loaded.unwrap_err());
    }
    for (flow, expected) in [
        (
            "pacer = \"ace\"",
            "t:5: there is no pacer `ace`; there is controller, burst, webrtc, token-bucket, \
             salsify, scream, ace-n, multiples of the bitrate such as 2x, and rates such as 800Mbit/s",
        ),
        (
            "pacer = \"burst\"\npacer_params = {}",
            "t:6: the pacer `burst` has no parameters; remove `pacer_params`",
        ),
        (
            "pacer_params = { factor = 2.0 }",
            "t:5: the pacer `controller` has no parameters; remove `pacer_params`",
        ),
        (
            "pacer = \"webrtc\"\n[flow.pacer_params]\nfactor = 2.0\nstep = \"9s\"",
            "t:8: `step` must be at most 1s",
        ),
        (
            "pacer = \"webrtc\"\npacer_params = { factor = 2.0, fill = 1.0 }",
            "t:6: unknown field `fill`, expected one of `factor`, `step`, `longest_queue`",
        ),
        (
            "kind = \"cbr\"\nrate = \"1Mbit/s\"\npacer_params = {}",
            "t:7: `pacer_params` means nothing for a flow of kind \"cbr\"; remove it",
        ),
    ] {
        let error = load(&text(flow), "t", &mut ()).unwrap_err().to_string();
        assert_eq!(error, expected);
    }
    // A variant's parameters lie over the file's, one by one.
    let file = text("pacer = \"ace-n\"\npacer_params = { alpha = 0.9, step = 2.0 }")
        + "[[variant]]\nname = \"v\"\nflow.pacer_params = { step = -1.0 }\n";
    let error = load(&file, "t", &mut ()).unwrap_err().to_string();
    assert_eq!(error, "t:9: `step` must be from 0 to 1000000 packets");
}

#[test]
#[ignore = "prints the figures of the documentation"]
fn figures_of_the_documentation() {
    let print = |at: &str, figures: &Figures| {
        println!(
            "| {at} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.2} | {:.1} |",
            figures.median_pacing,
            figures.p95_pacing,
            figures.median,
            figures.p95,
            figures.p99,
            100.0 * figures.loss,
            figures.bitrate
        );
    };
    let changing = changing();
    for (place, link) in [("50 Mbit/s", CONSTANT), ("changing", &changing)] {
        for (name, controller) in CONTROLLERS {
            for (pacer, text) in [
                ("burst", BURST),
                ("2.5x", WEBRTC),
                ("1.1x", STRICT),
                ("1.0x", PACED),
                ("ACE-N, 1.1x", ACE_N),
                ("ACE-N, 1x", ACE_N_PAPER),
            ] {
                let at = format!("{place} | {name} | {pacer}");
                print(&at, &figures(link, &format!("{controller}{text}")));
            }
        }
    }
    println!();
    let (_, gcc) = CONTROLLERS[0];
    for (place, link) in [("50 Mbit/s", CONSTANT), ("changing", &changing)] {
        let loads = [0.8, 0.9, 0.95, 1.0].map(|share| (format!("{share}"), load_of(share)));
        let abr = [("1, paid back in 2 s", ABR), ("1, in 0.2 s", FAST_ABR)]
            .map(|(load, frames)| (load.to_owned(), frames.to_owned()));
        for (load, frames) in loads.into_iter().chain(abr) {
            let cells = [ACE_N_PAPER, PACED, STRICT, WEBRTC].map(|pacer| {
                let scenario = framed(link, &frames, &format!("{gcc}{pacer}"));
                let runs = [1, 2, 3, 4].map(|seed| tail(&scenario, seed));
                let mean = |of: fn(&(f64, f64)) -> f64| runs.iter().map(of).sum::<f64>() / 4.0;
                format!(
                    "{:.1} ({:.2})",
                    mean(|run| run.0),
                    100.0 * mean(|run| run.1)
                )
            });
            println!("| {place} | {load} | {} |", cells.join(" | "));
        }
    }
    println!();
    for params in [
        "threshold = 7.5",
        "threshold = 10.0",
        "threshold = 12.5",
        "threshold = 15.0",
        "alpha = 0.25",
        "alpha = 0.9",
        "step = 0.25",
        "step = 4.0",
        "initial_frames = 0.0",
        "standing_frames = 0.0",
    ] {
        let (_, controller) = CONTROLLERS[1];
        let pacer = format!("pacer = \"ace-n\"\npacer_params = {{ fill = 1.1, {params} }}\n");
        print(params, &figures(&changing, &format!("{controller}{pacer}")));
    }
}
