//! A model, in virtual time, of a stream of pictures and the display that shows them.
//!
//! The host captures pictures evenly by its own clock. Each is ready at the client a delay after its
//! capture, in order. The display refreshes evenly, and shows at a refresh what was handed to it before. A
//! picture takes [`DRAWING`] to be drawn, under every strategy.

use mimosa_session::viewer::presentation::{CaptureClock, Pacer, PresentationConfig};
use mimosa_units::random::SplitMix;
use mimosa_units::{Time, TimeDelta, nearest_rank};

/// Time for which pictures are captured, of which the first [`SETTLING`] are left out of the figures.
const LENGTH: f64 = 65.0;
const SETTLING: f64 = 5.0;
/// The last refresh is so long before the last picture.
const ENDING: f64 = 0.2;
/// Delay of every picture, to which the jitter is added, in seconds.
const DELAY: f64 = 0.020;
/// Time from one picture to the next where several come at once: what decoding one takes, in seconds.
const DECODING: f64 = 0.001;
/// Time for drawing a picture, in seconds.
const DRAWING: f64 = 0.001;
/// Latest that a refresh is noticed, and that a decision is made after it is due, in seconds.
const NOTICED_AFTER: f64 = 0.000_2;
const WOKEN_AFTER: f64 = 0.001;
/// One refresh in so many is not noticed.
const NOT_NOTICED: u64 = 100;

/// How the delays of pictures differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Jitter {
    /// They do not.
    None,
    /// Each picture up to this many seconds later than the others.
    Uniform(f64),
    /// As `Uniform`, and every 2 to 5 s a pause of 20 to 80 ms, after which what waited comes at once.
    WiFi(f64),
    /// A queue that grows evenly to this many seconds over 3 s, and is empty again.
    Sawtooth(f64),
}

/// A stream and a display.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    /// Pictures a second.
    pub(crate) pictures: f64,
    /// Refreshes a second.
    pub(crate) hertz: f64,
    /// The share by which the host's clock is slow.
    pub(crate) drift: f64,
    /// The delays.
    pub(crate) jitter: Jitter,
}

/// What shows pictures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Strategy {
    /// Each refresh shows the newest picture, as a compositor does with pictures drawn at once.
    AtOnce,
    /// A fixed buffer of one picture: each is due one picture's time after the delay of the first.
    Fixed,
    /// The least constant delay after the capture that no picture misses, plus a margin in seconds. It is
    /// known in advance, as no client can know it.
    Least(f64),
    /// The pacer.
    Paced,
}

/// What was seen. Times are in milliseconds.
#[derive(Clone, Debug)]
pub(crate) struct Figures {
    /// Pictures shown in a second.
    pub(crate) shown: f64,
    /// Refreshes in a second that repeated a picture.
    pub(crate) repeated: f64,
    /// Pictures in a second that were never shown.
    pub(crate) dropped: f64,
    /// Quantiles of the time from being ready to being on the screen: 50, 95, 99 % and the longest.
    pub(crate) added: [f64; 4],
    /// The longest time for which a picture stayed on the screen.
    pub(crate) stay: f64,
    /// Standard deviation of that time.
    pub(crate) deviation: f64,
}

/// A picture: when it was captured by the host's clock, and is ready by the client's.
#[derive(Clone, Copy, Debug)]
struct Picture {
    captured: f64,
    ready: f64,
}

/// Runs a case.
pub(crate) fn run(case: &Case, strategy: Strategy, seed: u64) -> Figures {
    let pictures = stream(case, seed);
    let interval = 1.0 / case.hertz;
    let phase = interval * SplitMix::stream(seed, 2).uniform();
    let mut refreshes = Vec::new();
    while refreshes.last().is_none_or(|last| *last < LENGTH - ENDING) {
        refreshes.push(phase + refreshes.len() as f64 * interval);
    }
    let shown = match strategy {
        Strategy::AtOnce => latest(&pictures, &refreshes, |picture| picture.ready),
        Strategy::Fixed => {
            let first = pictures[0].ready - pictures[0].captured;
            constant(&pictures, &refreshes, first + 1.0 / case.pictures)
        }
        Strategy::Least(margin) => {
            let delays = pictures
                .iter()
                .map(|picture| picture.ready - picture.captured);
            constant(&pictures, &refreshes, delays.fold(0.0, f64::max) + margin)
        }
        Strategy::Paced => paced(&pictures, &refreshes, seed),
    };
    figures(&pictures, &refreshes, &shown)
}

fn stream(case: &Case, seed: u64) -> Vec<Picture> {
    let mut random = SplitMix::stream(seed, 1);
    let phase = 0.1 * random.uniform();
    let mut pictures: Vec<Picture> = Vec::new();
    let (mut pause, mut until) = (2.0 + 3.0 * random.uniform(), 0.0);
    loop {
        let captured = pictures.len() as f64 / case.pictures;
        let at = phase + captured * (1.0 + case.drift);
        let jitter = match case.jitter {
            Jitter::None => 0.0,
            Jitter::Uniform(most) | Jitter::WiFi(most) => most * random.uniform(),
            Jitter::Sawtooth(most) => most * (at / 3.0).fract(),
        };
        let mut ready = at + DELAY + jitter;
        if matches!(case.jitter, Jitter::WiFi(_)) {
            if ready >= pause {
                until = pause + 0.020 + 0.060 * random.uniform();
                pause += 2.0 + 3.0 * random.uniform();
            }
            ready = ready.max(until);
        }
        let before = pictures.last().map_or(0.0, |before| before.ready);
        ready = ready.max(before + DECODING);
        if at > LENGTH {
            return pictures;
        }
        pictures.push(Picture { captured, ready });
    }
}

/// For each refresh the newest picture for which `available` is over by the time it is drawn.
fn latest(
    pictures: &[Picture],
    refreshes: &[f64],
    available: impl Fn(&Picture) -> f64,
) -> Vec<Option<usize>> {
    let newest = |refresh: &f64| {
        let later = |picture: &Picture| available(picture) + DRAWING <= *refresh;
        pictures.partition_point(later).checked_sub(1)
    };
    refreshes.iter().map(newest).collect()
}

/// For each refresh the newest picture whose capture is so long ago.
fn constant(pictures: &[Picture], refreshes: &[f64], delay: f64) -> Vec<Option<usize>> {
    latest(pictures, refreshes, |picture| {
        picture.ready.max(picture.captured + delay)
    })
}

/// For each refresh the picture that the pacer has on the screen.
fn paced(pictures: &[Picture], refreshes: &[f64], seed: u64) -> Vec<Option<usize>> {
    let mut random = SplitMix::stream(seed, 3);
    let noticed: Vec<_> = refreshes
        .iter()
        .filter_map(|refresh| {
            let after = NOTICED_AFTER * random.uniform();
            (!random.one_in(NOT_NOTICED)).then_some(refresh + after)
        })
        .collect();
    let mut pacer = Pacer::new(PresentationConfig::default());
    let mut captures = CaptureClock::default();
    let (mut next_picture, mut next_refresh) = (0, 0);
    let mut on_screen = vec![None; refreshes.len()];
    let mut now = 0.0;
    let mut late = 0.0;
    loop {
        // The client sleeps until the decision is due, and is woken a little late, unless a picture or a
        // refresh wakes it.
        let wakes = match pacer.due(time(now)) {
            Some(due) if due <= time(now) => now,
            Some(due) => due.as_secs() + late,
            None => f64::INFINITY,
        };
        let ready = pictures
            .get(next_picture)
            .map_or(f64::INFINITY, |picture| picture.ready);
        let refresh = noticed.get(next_refresh).copied().unwrap_or(f64::INFINITY);
        if ready.min(refresh).min(wakes) > LENGTH {
            break;
        }
        if refresh <= ready.min(wakes) {
            now = refresh;
            next_refresh += 1;
            pacer.refreshed(time(now));
        } else if ready <= wakes {
            now = ready;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a minute has few ticks"
            )]
            let ticks = (pictures[next_picture].captured * 90_000.0).round() as u32;
            pacer.ready(time(now), next_picture as u64, captures.at(ticks));
            next_picture += 1;
        } else {
            now = wakes;
            late = WOKEN_AFTER * random.uniform();
            let decision = pacer.decide(time(now));
            if let Some(picture) = decision.and_then(|decision| decision.show) {
                pacer.drawn(TimeDelta::from_secs(DRAWING));
                let first = refreshes.partition_point(|refresh| *refresh < now + DRAWING);
                on_screen[first..].fill(usize::try_from(picture).ok());
            }
        }
    }
    on_screen
}

fn time(seconds: f64) -> Time {
    Time::ZERO + TimeDelta::from_secs(seconds)
}

fn figures(pictures: &[Picture], refreshes: &[f64], on_screen: &[Option<usize>]) -> Figures {
    let (mut shown, mut added, mut stays) = (Vec::new(), Vec::new(), Vec::new());
    let mut before: Option<(usize, f64)> = None;
    let mut repeated = 0;
    for (refresh, picture) in refreshes.iter().zip(on_screen) {
        let Some(picture) = picture else { continue };
        let is_counted = *refresh >= SETTLING;
        match before {
            Some((last, _)) if last == *picture => repeated += u32::from(is_counted),
            _ => {
                if is_counted {
                    shown.push(*picture);
                    added.push((refresh - pictures[*picture].ready) * 1e3);
                    stays.extend(before.map(|(_, since)| (refresh - since) * 1e3));
                }
                before = Some((*picture, *refresh));
            }
        }
    }
    let seconds = LENGTH - ENDING - SETTLING;
    let range = shown
        .first()
        .zip(shown.last())
        .map_or(0, |(first, last)| last + 1 - first);
    let mean = stays.iter().sum::<f64>() / stays.len() as f64;
    let variance = stays
        .iter()
        .map(|stay| (stay - mean) * (stay - mean))
        .sum::<f64>();
    added.sort_by(f64::total_cmp);
    let quantile = |share| nearest_rank(&added, share).unwrap_or(f64::NAN);
    Figures {
        shown: shown.len() as f64 / seconds,
        repeated: f64::from(repeated) / seconds,
        dropped: (range - shown.len()) as f64 / seconds,
        added: [0.5, 0.95, 0.99, 1.0].map(quantile),
        stay: stays.iter().copied().fold(0.0, f64::max),
        deviation: (variance / stays.len() as f64).sqrt(),
    }
}

/// Runs of each case of the table, each with another phase between stream and display.
const RUNS: u64 = 20;

/// The strategies of the table.
const STRATEGIES: [(&str, Strategy); 4] = [
    ("at once", Strategy::AtOnce),
    ("fixed", Strategy::Fixed),
    ("least", Strategy::Least(0.0)),
    ("paced", Strategy::Paced),
];

/// The rows of a case, one for each strategy. The longest stay is that of all runs; the rest are means.
pub(crate) fn rows(name: &str, case: &Case) -> Vec<String> {
    let row = |(label, strategy): (&str, Strategy)| {
        let runs: Vec<_> = (0..RUNS).map(|seed| run(case, strategy, seed)).collect();
        let mean = |of: fn(&Figures) -> f64| runs.iter().map(of).sum::<f64>() / RUNS as f64;
        let stay = runs.iter().map(|run| run.stay).fold(0.0, f64::max);
        format!(
            "| {name} | {:.0} Hz | {label} | {:.2} | {:.2} | {:.2} | {:.1} | {:.1} | {:.1} | {stay:.1} | {:.2} |",
            case.hertz,
            mean(|run| run.shown),
            mean(|run| run.repeated),
            mean(|run| run.dropped),
            mean(|run| run.added[0]),
            mean(|run| run.added[1]),
            mean(|run| run.added[2]),
            mean(|run| run.deviation),
        )
    };
    STRATEGIES.into_iter().map(row).collect()
}
