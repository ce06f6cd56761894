//! Checks of budgets.

use mimosa_units::Bytes;
use mimosa_video::{FrameRequest, Recovery, Size};

use super::{encode_at, mean_use, share_above, use_of};
use crate::clip::Clip;
use crate::request::{amount, plain_request, random_rates, stepping_rates};
use crate::subject::{Budgets, Setup, Subject};

/// The number of frames in the longer checks.
const FRAMES: usize = 300;
/// The number of frames before a mean counts: a second of them.
const WARM_UP: usize = 60;

/// Checks that the encoder's capabilities and its subject make the same promise.
fn assert_promise(subject: &Subject) {
    let setup = Setup::new(subject.small.size);
    let encoder = subject.opened(&setup);
    assert_eq!(
        encoder.capabilities().obeys_budget,
        matches!(subject.budgets, Budgets::Kept { .. }),
        "{}'s capabilities and its subject promise different things",
        subject.name
    );
}

/// Checks that budgets that are random from frame to frame are kept as well as promised,
/// and that most of them is used.
pub fn random_budgets_are_kept_and_used(subject: &Subject) {
    assert_promise(subject);
    let pictures = &subject.large;
    let rates = random_rates(FRAMES, pictures.highest);
    let name = subject.name;
    let setup = Setup::new(pictures.size);
    match subject.budgets {
        Budgets::Kept { used, retried, .. } => {
            for &(threads, least) in used {
                kept_random_budgets(subject, threads, &rates, least, retried);
            }
        }
        Budgets::Mostly {
            steady,
            used,
            above,
            ..
        } => {
            for (kind, rates) in [("steady", vec![steady; FRAMES]), ("random", rates)] {
                let frames = encode_at(subject, &setup, pictures.noise, &rates);
                let late = &frames[WARM_UP..];
                let (mean, exceeding) = (mean_use(late), share_above(late));
                println!("{name}, {kind}: {mean:.3} used, {exceeding:.3} above");
                assert!(exceeding <= above, "{name}: {exceeding} of {kind} above");
                assert!(mean >= used, "{name}: {mean} of {kind} used");
            }
        }
        Budgets::OnAverage { random, .. } => {
            let frames = encode_at(subject, &setup, pictures.noise, &rates);
            let late = &frames[WARM_UP..];
            let coded: usize = late.iter().map(|(_, frame)| frame.data.len()).sum();
            let allowed: u64 = late.iter().map(|(budget, _)| budget.get()).sum();
            let used = coded as f64 / allowed as f64;
            println!("{name}: {used:.3} of random budgets used");
            assert!((random.0..random.1).contains(&used), "{name}: {used} used");
        }
    }
}

fn kept_random_budgets(
    subject: &Subject,
    threads: u8,
    rates: &[f64],
    least: f64,
    most_retried: Option<usize>,
) {
    let name = subject.name;
    let setup = Setup {
        threads,
        ..Setup::new(subject.large.size)
    };
    let frames = encode_at(subject, &setup, subject.large.noise, rates);
    let most = frames.iter().map(use_of).fold(0.0, f64::max);
    let late = &frames[WARM_UP..];
    let used = mean_use(late);
    let retried = late.iter().filter(|(_, frame)| frame.attempts > 1).count();
    let keyframes = late.iter().filter(|(_, frame)| frame.is_keyframe).count();
    println!("{name}, {threads} threads: most {most:.3}, mean {used:.3}, {retried} of 240 retried");
    assert!(most <= 1.0, "{name}, {threads} threads: {most} of a budget");
    assert!(used >= least, "{name}, {threads} threads: {used} used");
    assert_eq!(keyframes, 0, "{name}, {threads} threads: keyframes");
    assert!(
        most_retried.is_none_or(|most| retried <= most),
        "{name}, {threads} threads: {retried} of 240 frames retried"
    );
}

/// Checks that budgets that rise and fall in steps are followed as fast as promised.
pub fn steps_are_followed(subject: &Subject) {
    let name = subject.name;
    let pictures = &subject.large;
    let (low, high) = pictures.steps;
    let setup = Setup::new(pictures.size);
    match subject.budgets {
        Budgets::Kept { rise, .. } => {
            let rates = stepping_rates(180, 30, high, low);
            let frames = encode_at(subject, &setup, pictures.noise, &rates);
            for (time, frame) in frames.iter().enumerate() {
                let used = use_of(frame);
                assert!(used <= 1.0, "{name}: {used} of the budget at frame {time}");
                let rises = time.is_multiple_of(60);
                assert!(
                    !rises || used > rise,
                    "{name}: {used} at the rise at {time}"
                );
            }
        }
        Budgets::Mostly {
            above_steps,
            after_a_fall,
            ..
        } => {
            let rates = stepping_rates(180, 30, high, low);
            let frames = encode_at(subject, &setup, pictures.noise, &rates);
            for fall in [30, 90, 150] {
                for used in frames[fall..fall + 4].iter().map(use_of) {
                    assert!(
                        used <= after_a_fall,
                        "{name}: {used} of the budget after the fall at {fall}"
                    );
                }
            }
            let late = &frames[WARM_UP..];
            let (used, above) = (mean_use(late), share_above(late));
            println!("{name}: {used:.3} used, {above:.3} above");
            assert!(above <= above_steps, "{name}: {above} of the frames above");
        }
        Budgets::OnAverage {
            low: low_range,
            high: high_range,
            ..
        } => {
            let rates = stepping_rates(240, 60, high, low);
            let frames = encode_at(subject, &setup, pictures.noise, &rates);
            let used = |from: usize| mean_use(&frames[from..from + 30]);
            let (low, high) = (used(90), used(150));
            let above = share_above(&frames[WARM_UP..]);
            println!("{name}: {low:.2} and {high:.2} used, {above:.3} above");
            assert!(
                (low_range.0..low_range.1).contains(&low),
                "{name}: {low} of the low budgets"
            );
            assert!(
                (high_range.0..high_range.1).contains(&high),
                "{name}: {high} of the high budgets"
            );
        }
    }
}

/// Checks that a picture that does not change uses little, whatever its budget.
pub fn still_pictures_use_little(subject: &Subject) {
    let size = Size::new(640, 360).unwrap();
    let picture = Clip::new(size, 0).picture(0);
    let mut encoder = subject.opened(&Setup::new(size));
    let mut last = 0;
    for number in 0..60 {
        let request = plain_request(number, amount(10.0));
        last = encoder.encode(&picture, &request).unwrap().data.len();
    }
    let name = subject.name;
    assert!(last < 2_000, "{name}: {last} bytes for a still picture");
}

/// Checks that an encoder that promises to keep budgets keeps the smallest that it
/// promises to keep, through scene cuts and keyframes. Encoders that promise less must
/// only encode such frames.
pub fn small_budgets_are_kept(subject: &Subject) {
    let (smallest, range) = match subject.budgets {
        Budgets::Kept {
            smallest,
            smallest_range,
            ..
        } => (smallest, smallest_range),
        Budgets::Mostly { .. } | Budgets::OnAverage { .. } => (Bytes::new(1_000), 1_000),
    };
    let is_promised = matches!(subject.budgets, Budgets::Kept { .. });
    let size = Size::new(1280, 720).unwrap();
    let mut clip = Clip::new(size, 14);
    let mut encoder = subject.opened(&Setup::new(size));
    let mut attempts = 0;
    for number in 0..60 {
        // Everything is new every ten frames, and a keyframe is asked for every twenty.
        let recovery = match number % 20 {
            5 => Recovery::Keyframe,
            _ => Recovery::None,
        };
        let budget = smallest + Bytes::new(number * 397 % range);
        let request = FrameRequest {
            recovery,
            ..plain_request(number, budget)
        };
        let time = number + number / 10 * 333;
        let frame = encoder.encode(&clip.picture(time), &request).unwrap();
        attempts += frame.attempts;
        let size = Bytes::new(frame.data.len() as u64);
        assert!(
            !is_promised || size <= budget,
            "{}: {size} for {budget} at frame {number}",
            subject.name
        );
    }
    println!("{}: {attempts} attempts at 60 frames", subject.name);
}
