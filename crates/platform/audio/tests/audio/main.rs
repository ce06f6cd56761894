//! Sound through a real PulseAudio and a real Opus.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::process::{Command, Stdio};

use mimosa_audio::{OpusEncoder, PrivateSound, Recording};
use mimosa_facts::sound::{CHANNELS, RATE};
use mimosa_units::Rate;

/// The most blocks that are thrown away while the player starts: ten seconds of silence.
const MOST_SILENCE: usize = 1_000;
const BLOCKS: usize = 100;

/// One channel of a sine.
fn sine(frequency: f64, seconds: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in 0..RATE * seconds {
        let at = f64::from(number) / f64::from(RATE);
        let value = libm::sin(std::f64::consts::TAU * frequency * at) * 12_000.0;
        #[expect(clippy::cast_possible_truncation, reason = "within its bounds")]
        let sample = (value as i16).to_le_bytes();
        bytes.extend([sample; CHANNELS].concat());
    }
    bytes
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

/// A tone that a program plays into the sink comes out of the encoder.
#[test]
fn what_a_game_plays_is_recorded_and_coded() {
    let server = PrivateSound::start().unwrap_or_else(|error| panic!("{error}"));
    let address = server.address();
    let mut recording = Recording::start(Some(&address), &server.monitor()).unwrap();
    // While nothing plays, silence arrives.
    let (silence, _) = recording.read().unwrap_or_else(|error| panic!("{error}"));
    assert!(silence.iter().all(|sample| *sample == 0));

    let file = std::env::temp_dir().join(format!("mimosa-sine-{}", std::process::id()));
    std::fs::write(&file, sine(750.0, 4)).unwrap();
    let mut player = Command::new("pacat");
    player
        .args(["--raw", "--format=s16le", "--rate=48000", "--channels=2"])
        .stdin(Stdio::from(std::fs::File::open(&file).unwrap()));
    for (name, value) in server.environment() {
        player.env(name, value);
    }
    // The program writes all at once, so that a busy machine leaves no gaps.
    player.env("PULSE_LATENCY_MSEC", "4000");
    let mut player = player.spawn().unwrap();

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
    let mut coder = OpusEncoder::new(Rate::from_kbps(64)).unwrap();
    let mut decoder = opus::Decoder::new(RATE, opus::Channels::Stereo).unwrap();
    let mut left = Vec::new();
    for _ in 0..BLOCKS {
        let (block, _) = recording.read().unwrap();
        let frame = coder.encode(&block).unwrap();
        let mut heard = [0; 960];
        assert_eq!(decoder.decode(&frame, &mut heard, false).unwrap(), 480);
        left.extend(heard.into_iter().step_by(CHANNELS));
    }
    let share = |hertz| {
        let parts = left.chunks_exact(4_800);
        let count = parts.len() as f64;
        parts.map(|part| share_of(hertz, part)).sum::<f64>() / count
    };
    let shares = [700.0, 750.0, 800.0].map(share);
    let [below, tone, above] = shares;
    assert!(tone > 0.7 && below < 0.1 && above < 0.1, "{shares:?}");
    player.kill().unwrap();
    player.wait().unwrap();
    std::fs::remove_file(file).unwrap();
}

#[test]
fn the_server_ends_with_its_folder_and_the_recording_says_so() {
    let server = PrivateSound::start().unwrap();
    let address = server.address().into_string().unwrap();
    let folder = std::path::Path::new(address.strip_prefix("unix:").unwrap());
    let folder = folder.parent().unwrap().to_owned();
    let mut recording = Recording::start(Some(address.as_ref()), &server.monitor()).unwrap();
    recording.read().unwrap();
    assert!(folder.exists());
    drop(server);
    assert!(!folder.exists());
    let error = loop {
        if let Err(error) = recording.read() {
            break error.to_string();
        }
    };
    assert!(
        error.contains("recording of `game.monitor` has ended"),
        "{error}"
    );
}

#[test]
fn a_source_that_is_not_there_is_named() {
    let server = PrivateSound::start().unwrap();
    let mut recording = Recording::start(Some(&server.address()), "nothing.monitor").unwrap();
    let error = recording.read().unwrap_err().to_string();
    assert!(
        error.contains("`nothing.monitor`") && error.contains("pactl list"),
        "{error}"
    );
}
