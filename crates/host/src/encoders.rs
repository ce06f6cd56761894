//! The encoders of this program, and which of them a host uses.

use mimosa_openh264::OpenH264;
use mimosa_settings::{EncoderName, EncoderSettings};
use mimosa_video::{Encoder, Size};

use crate::error::HostError;

/// The encoders built in.
pub const ENCODERS: &[EncoderName] = &[
    #[cfg(feature = "x264")]
    EncoderName::X264,
    EncoderName::OpenH264,
    #[cfg(feature = "svt-av1")]
    EncoderName::SvtAv1,
];

/// Those of them that `auto` tries, in this order: their codec is one that everybody
/// decodes, and they keep to their budgets.
const AUTO: &[EncoderName] = &[
    #[cfg(feature = "x264")]
    EncoderName::X264,
    EncoderName::OpenH264,
];

/// Which encoder `settings` mean here: the one named, or the first that opens.
/// Either was opened once.
///
/// # Errors
///
/// [`HostError::Encoder`] with what each that was tried says.
pub fn choose_encoder(
    settings: EncoderSettings,
    frames_per_second: u32,
    size: Size,
) -> Result<EncoderName, HostError> {
    let tried = match settings.name {
        EncoderName::Auto => AUTO,
        _ => &[settings.name],
    };
    let mut reasons = Vec::new();
    for &name in tried {
        match open_encoder(
            EncoderSettings { name, ..settings },
            frames_per_second,
            size,
        ) {
            Ok(encoder) => {
                tracing::info!(encoder = encoder.capabilities().name, "chosen");
                return Ok(name);
            }
            Err(HostError::Encoder(reason)) => reasons.push(reason),
            Err(error) => return Err(error),
        }
    }
    Err(HostError::Encoder(reasons.join("; ")))
}

/// Opens the encoder that `settings` name, or for `auto` the first there is.
///
/// # Errors
///
/// [`HostError::Encoder`] with its name and what it says.
pub fn open_encoder(
    settings: EncoderSettings,
    frames_per_second: u32,
    size: Size,
) -> Result<Box<dyn Encoder>, HostError> {
    let [first, ..] = AUTO else {
        return Err(HostError::Encoder("there is none".to_owned()));
    };
    let name = match settings.name {
        EncoderName::Auto => *first,
        name => name,
    };
    let opened = match name {
        #[cfg(feature = "x264")]
        EncoderName::X264 => open_x264(settings, frames_per_second, size),
        EncoderName::OpenH264 => open_openh264(settings, frames_per_second, size),
        #[cfg(feature = "svt-av1")]
        EncoderName::SvtAv1 => open_svt_av1(settings, frames_per_second, size),
        _ => Err("not in this build".to_owned()),
    };
    opened.map_err(|reason| HostError::Encoder(format!("{}: {reason}", name.name())))
}

#[cfg(feature = "x264")]
fn open_x264(
    settings: EncoderSettings,
    frames_per_second: u32,
    size: Size,
) -> Result<Box<dyn Encoder>, String> {
    let config = mimosa_x264::Config {
        finest: settings.finest_quantiser,
        threads: threads(settings),
        // Room for lost frames and rejected attempts before a keyframe is needed.
        references: 8,
        ..mimosa_x264::Config::new(size, frames_per_second)
    };
    match mimosa_x264::X264::open(config) {
        Ok(encoder) => Ok(Box::new(encoder)),
        Err(error) => Err(error.to_string()),
    }
}

fn open_openh264(
    settings: EncoderSettings,
    frames_per_second: u32,
    size: Size,
) -> Result<Box<dyn Encoder>, String> {
    let config = mimosa_openh264::Config {
        finest: settings.finest_quantiser,
        threads: threads(settings),
        ..mimosa_openh264::Config::new(size, frames_per_second)
    };
    match OpenH264::open(config) {
        Ok(encoder) => Ok(Box::new(encoder)),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(feature = "svt-av1")]
fn open_svt_av1(
    settings: EncoderSettings,
    frames_per_second: u32,
    size: Size,
) -> Result<Box<dyn Encoder>, String> {
    let config = mimosa_svt_av1::Config {
        finest: settings.finest_quantiser,
        threads: threads(settings),
        ..mimosa_svt_av1::Config::new(size, frames_per_second)
    };
    match mimosa_svt_av1::SvtAv1::open(config) {
        Ok(encoder) => Ok(Box::new(encoder)),
        Err(error) => Err(error.to_string()),
    }
}

fn threads(settings: EncoderSettings) -> u8 {
    u8::try_from(settings.threads).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use mimosa_settings::{SizePrediction, Work};

    use super::*;

    fn settings(name: EncoderName, threads: u32) -> EncoderSettings {
        EncoderSettings {
            name,
            work: Work::Always(mimosa_video::Complexity::C0),
            buffer_frames: 1,
            size_prediction: SizePrediction::Motion,
            adapts_detail: true,
            finest_quantiser: 17,
            threads,
        }
    }

    fn size(text: &str) -> Size {
        text.parse().unwrap()
    }

    #[test]
    fn each_that_is_built_in_opens_under_its_name() {
        for &name in ENCODERS {
            let encoder = open_encoder(settings(name, 1), 60, size("320x240")).unwrap();
            let shown = encoder.capabilities().name.to_lowercase();
            assert!(shown.contains(name.name()), "{shown}");
        }
    }

    #[test]
    fn auto_is_the_first_that_opens() {
        let choose = |name, text| choose_encoder(settings(name, 1), 60, size(text));
        assert_eq!(choose(EncoderName::Auto, "320x240").unwrap(), AUTO[0]);
        let named = choose(EncoderName::OpenH264, "320x240").unwrap();
        assert_eq!(named, EncoderName::OpenH264);
    }

    #[test]
    fn what_does_not_open_is_named_with_its_reason() {
        for name in [EncoderName::OpenH264, EncoderName::Auto] {
            let error = choose_encoder(settings(name, 99), 60, size("320x240")).unwrap_err();
            let error = error.to_string();
            assert!(
                error.contains("openh264: 99 threads; state 1 to 4"),
                "{error}"
            );
            assert!(error.contains("--encoder"), "{error}");
        }
    }
}
