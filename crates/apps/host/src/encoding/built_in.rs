//! The encoders of this program, and the choice between them.

#[cfg(feature = "x264")]
use mimosa_settings::FrameSizes;
use mimosa_settings::{EncoderName, EncoderSettings};
use mimosa_video::{Encoder, Size};

use crate::error::HostError;

#[cfg(not(any(
    feature = "gstreamer",
    feature = "openh264",
    feature = "svt-av1",
    feature = "x264"
)))]
compile_error!("a host needs an encoder: add a feature, `openh264` for one without a library");

/// The encoders that are built in.
pub const ENCODERS: &[EncoderName] = &[
    #[cfg(feature = "x264")]
    EncoderName::X264,
    #[cfg(feature = "openh264")]
    EncoderName::OpenH264,
    #[cfg(feature = "svt-av1")]
    EncoderName::SvtAv1,
    #[cfg(feature = "gstreamer")]
    EncoderName::GStreamer,
];

/// The encoders that `auto` tries, in this order: those with a codec that every browser decodes. Of
/// GStreamer's elements, only those for hardware are tried.
const AUTO: &[EncoderName] = &[
    #[cfg(feature = "gstreamer")]
    EncoderName::GStreamer,
    #[cfg(feature = "x264")]
    EncoderName::X264,
    #[cfg(feature = "openh264")]
    EncoderName::OpenH264,
];

/// The encoder that `settings` select here: the named one, or the first that opens. It was opened
/// once to find out.
///
/// # Errors
///
/// [`HostError::Encoder`] with the error of each encoder that was tried.
pub fn choose_encoder(
    settings: EncoderSettings,
    frames_per_second: u32,
    size: Size,
) -> Result<EncoderName, HostError> {
    let (name, encoder) = first_that_opens(settings, frames_per_second, size)?;
    tracing::info!(encoder = encoder.capabilities().name, "chosen");
    Ok(name)
}

/// Opens the encoder that `settings` name, or, for `auto`, the first that opens.
///
/// # Errors
///
/// [`HostError::Encoder`] with the error of each encoder that was tried.
pub fn open_encoder(
    settings: EncoderSettings,
    frames_per_second: u32,
    size: Size,
) -> Result<Box<dyn Encoder>, HostError> {
    first_that_opens(settings, frames_per_second, size).map(|(_, encoder)| encoder)
}

fn first_that_opens(
    settings: EncoderSettings,
    frames_per_second: u32,
    size: Size,
) -> Result<(EncoderName, Box<dyn Encoder>), HostError> {
    let tried = match settings.name {
        EncoderName::Auto => AUTO,
        _ => &[settings.name],
    };
    let mut reasons = Vec::new();
    for &name in tried {
        if settings.name == EncoderName::Auto && !is_worth_a_try(name, settings) {
            continue;
        }
        match open(name, settings, frames_per_second, size) {
            Ok(encoder) => return Ok((name, encoder)),
            Err(reason) => reasons.push(format!("{}: {reason}", name.name())),
        }
    }
    if reasons.is_empty() {
        reasons.push("none that is built in is tried unless it is named".to_owned());
    }
    Err(HostError::Encoder(reasons.join("; ")))
}

/// Whether an encoder can open at all: GStreamer's hardware elements need their hardware.
fn is_worth_a_try(name: EncoderName, settings: EncoderSettings) -> bool {
    let needs_hardware = name == EncoderName::GStreamer && settings.element.is_empty();
    !needs_hardware || super::hardware::may_encode()
}

fn open(
    name: EncoderName,
    settings: EncoderSettings,
    frames_per_second: u32,
    size: Size,
) -> Result<Box<dyn Encoder>, String> {
    match name {
        #[cfg(feature = "x264")]
        EncoderName::X264 => open_x264(settings, frames_per_second, size),
        #[cfg(feature = "openh264")]
        EncoderName::OpenH264 => open_openh264(settings, frames_per_second, size),
        #[cfg(feature = "svt-av1")]
        EncoderName::SvtAv1 => open_svt_av1(settings, frames_per_second, size),
        #[cfg(feature = "gstreamer")]
        EncoderName::GStreamer => open_gstreamer(settings, frames_per_second, size),
        _ => Err(format!(
            "not in this build; one with `--features {}` has it",
            name.name()
        )),
    }
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
        aim: match settings.sizes {
            FrameSizes::Carried => mimosa_x264::Aim::Buffer,
            FrameSizes::Strict => mimosa_x264::Aim::Learnt(mimosa_x264::Margin::default()),
        },
        entropy: settings.entropy.unwrap_or_default(),
        references: references(frames_per_second),
        ..mimosa_x264::Config::new(size, frames_per_second)
    };
    match mimosa_x264::X264::open(config) {
        Ok(encoder) => Ok(Box::new(encoder)),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(feature = "openh264")]
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
    match mimosa_openh264::OpenH264::open(config) {
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

#[cfg(feature = "gstreamer")]
fn open_gstreamer(
    settings: EncoderSettings,
    frames_per_second: u32,
    size: Size,
) -> Result<Box<dyn Encoder>, String> {
    let config = mimosa_gstreamer::Config {
        element: settings.element.as_str().to_owned(),
        finest: settings.finest_quantiser,
        threads: threads(settings),
        parts: settings.most_parts(),
        ..mimosa_gstreamer::Config::new(size, frames_per_second)
    };
    match mimosa_gstreamer::GStreamer::open(&config) {
        Ok(encoder) => Ok(Box::new(encoder)),
        Err(error) => Err(error.to_string()),
    }
}

/// The number of earlier pictures that a picture may refer to: those of 133 ms, so that a frame can be lost and the
/// loss be known before a keyframe is needed, and at least four for attempts that are rejected. Each takes 5 MB at
/// 1280x720 (`cargo test -p mimosa-memory --test encoder -- --nocapture`).
#[cfg(feature = "x264")]
fn references(frames_per_second: u32) -> u8 {
    const REMEMBERED_MS: u32 = 133;
    let frames = (frames_per_second * REMEMBERED_MS).div_ceil(1_000);
    u8::try_from(frames.clamp(4, 8)).unwrap_or(8)
}

fn threads(settings: EncoderSettings) -> u8 {
    u8::try_from(settings.threads).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use mimosa_settings::{ElementName, FrameSizes, SizePrediction, Work};

    use super::*;

    fn settings(name: EncoderName, threads: u32) -> EncoderSettings {
        EncoderSettings {
            name,
            element: ElementName::default(),
            work: Work::Always(mimosa_facts::Complexity::C0),
            buffer_frames: 1,
            size_prediction: SizePrediction::Motion,
            adapts_detail: true,
            relieves: false,
            entropy: None,
            finest_quantiser: 17,
            sizes: FrameSizes::default(),
            parts: 1,
            threads,
        }
    }

    fn size(text: &str) -> Size {
        text.parse().unwrap()
    }

    /// Settings of an encoder that works on every machine.
    fn software(name: EncoderName) -> EncoderSettings {
        let element = match name {
            EncoderName::GStreamer => "x264enc",
            _ => "",
        };
        EncoderSettings {
            element: ElementName::new(element).unwrap(),
            ..settings(name, 1)
        }
    }

    #[cfg(feature = "x264")]
    #[test]
    fn pictures_refer_to_those_of_the_last_133_ms() {
        let found = [15, 30, 45, 60, 240].map(references);
        assert_eq!(found, [4, 4, 6, 8, 8]);
    }

    #[test]
    fn each_that_is_built_in_opens_under_its_name() {
        for &name in ENCODERS {
            let encoder = open_encoder(software(name), 60, size("320x240")).unwrap();
            let shown = encoder.capabilities().name.to_lowercase();
            assert!(shown.contains(name.name()), "{shown}");
        }
    }

    #[cfg(feature = "openh264")]
    #[test]
    fn auto_is_the_first_that_opens() {
        let choose = |name, text| choose_encoder(settings(name, 1), 60, size(text));
        let chosen = choose(EncoderName::Auto, "320x240").unwrap();
        let mut software = AUTO.iter().copied();
        let software = software.find(|&name| name != EncoderName::GStreamer);
        assert!(
            chosen == EncoderName::GStreamer || Some(chosen) == software,
            "{chosen:?}"
        );
        let named = choose(EncoderName::OpenH264, "320x240").unwrap();
        assert_eq!(named, EncoderName::OpenH264);
    }

    #[cfg(feature = "gstreamer")]
    #[test]
    fn an_element_that_is_named_is_the_first_choice() {
        let settings = EncoderSettings {
            name: EncoderName::Auto,
            ..software(EncoderName::GStreamer)
        };
        let chosen = choose_encoder(settings, 60, size("320x240")).unwrap();
        assert_eq!(chosen, EncoderName::GStreamer);
    }

    #[cfg(feature = "openh264")]
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
