//! Sound arrives where the system plays it.

use mimosa_audio::{PrivateSound, Recording};
use mimosa_facts::sound::RATE;

use crate::desk::{size, start, wait_until};
use crate::program::{Program, environment};

/// The frequency of the tone in Hz.
const TONE: f64 = 750.0;
/// The most blocks of 10 ms before the tone.
const MOST_SILENCE: usize = 3_000;
const BLOCKS: usize = 100;

/// So many seconds of the tone, in both channels.
pub(crate) fn tone(seconds: u32) -> Vec<i16> {
    let mut samples = Vec::new();
    for number in 0..RATE * seconds {
        let at = f64::from(number) / f64::from(RATE);
        let value = libm::sin(std::f64::consts::TAU * TONE * at) * 12_000.0;
        samples.extend([value as i16; 2]);
    }
    samples
}

/// The share of the power at this frequency, give or take 10 Hz for a tenth of a second.
fn share_of(hertz: f64, samples: &[i16]) -> f64 {
    let (mut real, mut imaginary, mut power) = (0.0, 0.0, f64::MIN_POSITIVE);
    for (number, sample) in (0_u32..).zip(samples) {
        let turn = std::f64::consts::TAU * hertz * f64::from(number) / f64::from(RATE);
        let sample = f64::from(*sample);
        real += sample * libm::cos(turn);
        imaginary += sample * libm::sin(turn);
        power += sample * sample;
    }
    2.0 * (real * real + imaginary * imaginary) / samples.len() as f64 / power
}

#[test]
fn what_is_queued_is_heard() {
    let server = start(size(64, 64));
    let sound = PrivateSound::start().unwrap_or_else(|error| panic!("{error}"));
    let address = sound.address();
    let mut recording = Recording::start(Some(&address), &sound.monitor()).unwrap();
    let mut all: Vec<_> = environment(&server).into();
    all.extend([
        ("PULSE_SERVER", address.clone()),
        ("SDL_AUDIO_DRIVER", "pulseaudio".into()),
        // Two seconds are queued at a time.
        ("PULSE_LATENCY_MSEC", "2000".into()),
    ]);
    let mut program = Program::spawn("64x64", all);
    assert_eq!(program.next(), "open");
    program.order("sound 20 480");
    let mut queued = || program.ask("queued").parse::<f64>().unwrap();
    let first = queued();
    assert!((1.0..=20_000.0).contains(&first), "{first} ms");
    let mut waited = 0;
    while recording
        .read()
        .unwrap()
        .0
        .iter()
        .all(|sample| sample.unsigned_abs() < 6_000)
    {
        waited += 1;
        assert!(waited < MOST_SILENCE, "the tone does not come");
    }
    let mut left = Vec::new();
    for _ in 0..BLOCKS {
        let (block, _) = recording.read().unwrap();
        left.extend(block.iter().step_by(2));
    }
    // A busy machine may leave gaps.
    let is_tone = |part: &&[i16]| {
        let [below, tone, above] = [700.0, TONE, 800.0].map(|hertz| share_of(hertz, part));
        tone > 0.7 && below < 0.1 && above < 0.1
    };
    let parts = left.chunks_exact(4_800).filter(is_tone).count();
    assert!(parts >= 5, "{parts} tenths of a second with the tone");
    wait_until("less in the queue", || queued() < first - 500.0);
    program.order("clear");
    assert_eq!(program.ask("queued"), "0");
}

#[test]
fn a_loudspeaker_says_what_it_takes_and_what_it_lacked() {
    let server = start(size(64, 64));
    let sound = PrivateSound::start().unwrap_or_else(|error| panic!("{error}"));
    let mut all: Vec<_> = environment(&server).into();
    all.extend([
        ("PULSE_SERVER", sound.address()),
        ("SDL_AUDIO_DRIVER", "pulseaudio".into()),
    ]);
    let mut program = Program::spawn("64x64", all);
    assert_eq!(program.next(), "open");
    let mut lump = |at_once: &str| {
        program.order(&format!("sound 20 {at_once}"));
        program.ask("lump").parse::<f64>().unwrap()
    };
    let (most, least) = (lump("3840"), lump("480"));
    assert!((1.0..=20.0).contains(&least), "{least} ms");
    assert!(most > 2.0 * least, "{most} ms after {least}");
    let silence = |program: &mut Program| program.ask("silence").parse::<f64>().unwrap();
    // This reads the silence before the first samples.
    silence(&mut program);
    assert!(silence(&mut program) <= 0.0, "there is sound");
    program.order("clear");
    wait_until("silence", || silence(&mut program) > 0.0);
}
