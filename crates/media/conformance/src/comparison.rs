//! Encoders beside each other: the benchmark that every encoder's crate runs.

use mimosa_units::{Bytes, TimeDelta};
use mimosa_video::{Encoder, Picture, Size};

use crate::clip::Clip;
use crate::ffmpeg::decode;
use crate::request::{amount, plain_request, random_rates, stepping_rates};
use crate::stream::luma_psnr;

/// The number of frames that every encoder encodes.
const FRAMES: usize = 300;
/// The number of frames before the figures count: a second of them.
const WARM_UP: usize = 60;

/// One encoder and its figures.
pub struct Contestant {
    name: &'static str,
    encoder: Box<dyn Encoder>,
    milliseconds: Vec<f64>,
    used: f64,
    above: usize,
    /// The most that a frame had, in budgets.
    most: f64,
    keyframes: usize,
    attempts: u32,
    stream: Vec<u8>,
}

impl Contestant {
    /// An encoder under its name in the table.
    #[must_use]
    pub fn new(name: &'static str, encoder: Box<dyn Encoder>) -> Self {
        Self {
            name,
            encoder,
            milliseconds: Vec::new(),
            used: 0.0,
            above: 0,
            most: 0.0,
            keyframes: 0,
            attempts: 0,
            stream: Vec::new(),
        }
    }

    fn encode(
        &mut self,
        picture: &Picture,
        number: usize,
        budget: Bytes,
        processor: &dyn Fn() -> TimeDelta,
    ) {
        let request = plain_request(number as u64, budget);
        let begun = processor();
        let frame = self.encoder.encode(picture, &request).unwrap();
        let took = processor() - begun;
        self.stream.extend_from_slice(&frame.data);
        if number < WARM_UP {
            return;
        }
        let part = frame.data.len() as f64 / budget.get() as f64;
        self.milliseconds.push(took.as_millis());
        self.used += part;
        self.above += usize::from(part > 1.0);
        self.most = self.most.max(part);
        self.keyframes += usize::from(frame.is_keyframe);
        self.attempts += frame.attempts;
    }

    /// Prints the encoder's row of the table.
    fn report(mut self, scenario: &str, size: Size, sources: &[Picture]) {
        self.milliseconds.sort_by(f64::total_cmp);
        let percentile = |percent| {
            let last = self.milliseconds.len() - 1;
            self.milliseconds[last * percent / 100]
        };
        let codec = self.encoder.capabilities().codec;
        let decoded = decode(codec, size, self.stream);
        assert_eq!(decoded.len(), sources.len(), "{}", self.name);
        let late = sources.iter().zip(&decoded).skip(WARM_UP);
        let frames = (FRAMES - WARM_UP) as f64;
        let quality = late
            .map(|(source, decoded)| luma_psnr(source, decoded))
            .sum::<f64>()
            / frames;
        println!(
            "| {scenario} | {} | {:.3} | {} | {:.2} | {} | {:.2} | {:.1} | {:.1} | {quality:.2} |",
            self.name,
            self.used / frames,
            self.above,
            self.most,
            self.keyframes,
            f64::from(self.attempts) / frames,
            percentile(50),
            percentile(99),
        );
    }
}

/// Prints a table of encoders, with 1280x720 at 60 frames per second and the same budgets
/// for all of them.
///
/// The encoders take turns, frame by frame, so that whatever else the machine does falls
/// on all of them alike. `open` opens them for each scenario; `processor` reads the time
/// that the processor has spent on this program.
pub fn compare(open: impl Fn(Size) -> Vec<Contestant>, processor: &dyn Fn() -> TimeDelta) {
    let size = Size::new(1280, 720).unwrap();
    println!(
        "| budgets | encoder | use | above | most | keyframes | attempts | cpu ms, p50 | p99 | PSNR, dB |"
    );
    println!("| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: |");
    for (scenario, rates) in scenarios() {
        let mut clip = Clip::new(size, 8);
        let mut contestants = open(size);
        let mut sources = Vec::new();
        for (number, &mbps) in rates.iter().enumerate() {
            let picture = clip.picture(number as u64);
            for contestant in &mut contestants {
                contestant.encode(&picture, number, amount(mbps), processor);
            }
            sources.push(picture);
        }
        for contestant in contestants {
            contestant.report(scenario, size, &sources);
        }
    }
}

/// The rates of every frame in Mbit/s, by the names of the scenarios.
fn scenarios() -> [(&'static str, Vec<f64>); 3] {
    [
        ("10 Mbit/s", vec![10.0; FRAMES]),
        ("random 3 to 30", random_rates(FRAMES, 30.0)),
        ("steps 30 and 5", stepping_rates(FRAMES, 30, 30.0, 5.0)),
    ]
}
