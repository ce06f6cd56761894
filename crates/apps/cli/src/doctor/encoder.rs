//! Checks the encoders: which of them work, what they make of a picture, how fast the chosen one
//! is, and which could not be tried.

use std::time::Duration;

use mimosa_facts::{Complexity, FrameId};
use mimosa_host::{
    ENCODERS, Element, Hardware, Leaves, choose_encoder, look_for_hardware, open_encoder,
};
use mimosa_scene::Scene;
use mimosa_settings::{EncoderName, EncoderSettings, Settings, Work};
use mimosa_units::{Bytes, Rate, TimeDelta, nearest_rank_index};
use mimosa_video::{EncodeError, EncodedFrame, Encoder, FrameRequest, Picture, Recovery, Size};

use super::machine::now;
use super::report::{Finding, Report};

/// Number of frames that are timed, after a keyframe that is not.
const FRAMES: usize = 60;
/// The bitrate of the trial, unless the settings forbid it: one at which a game looks good. A frame
/// takes longer the more bits it may have.
const BITRATE: Rate = Rate::from_kbps(20_000);
/// Seed of the scene; any would do.
const SEED: u64 = 1;

/// Checks the encoders.
pub(super) fn look(settings: &Settings, report: &mut Report) {
    for &name in ENCODERS {
        // Without an element the encoder is hardware, which is checked below.
        if name != EncoderName::GStreamer || !settings.encoder.element.is_empty() {
            report.add(trial(settings, name));
        }
    }
    let found = look_for_hardware(settings.size, settings.frames_per_second);
    for finding in hardware(found) {
        report.add(finding);
    }
    let (encoder, frames) = (settings.encoder, settings.frames_per_second);
    let chosen = choose_encoder(encoder, frames, settings.size)
        .and_then(|name| open_encoder(EncoderSettings { name, ..encoder }, frames, settings.size));
    let mut encoder = match chosen {
        Ok(encoder) => encoder,
        Err(error) => {
            let remedy = "change the settings of the encoder";
            report.add(Finding::missing("encoder", error.to_string(), remedy));
            return;
        }
    };
    let why = match settings.encoder.name {
        EncoderName::Auto => "the first that opens",
        _ => "as the settings say",
    };
    let name = &encoder.capabilities().name;
    report.add(Finding::ok("encoder", format!("{name}, {why}")));
    match times(settings, encoder.as_mut()) {
        Ok(times) => report.add(speed(settings, times)),
        Err(error) => report.add(Finding::missing("encoder speed", error.to_string(), "")),
    }
}

/// Tries a built-in encoder on a picture.
fn trial(settings: &Settings, name: EncoderName) -> Finding {
    let check = match name {
        EncoderName::Auto => "encoder auto",
        EncoderName::X264 => "encoder x264",
        EncoderName::OpenH264 => "encoder openh264",
        EncoderName::SvtAv1 => "encoder svt-av1",
        EncoderName::GStreamer => "encoder gstreamer",
    };
    let is_needed = settings.encoder.name == name;
    let told = Size::new(320, 240)
        .map_err(|error| error.to_string())
        .and_then(|size| tried(settings, name, size));
    match told {
        Ok(told) => Finding::ok(check, told),
        Err(error) => Finding::absent(is_needed, check, error, ""),
    }
}

/// The encoder's name, with size and time of a keyframe of `size`.
fn tried(settings: &Settings, name: EncoderName, size: Size) -> Result<String, String> {
    let encoder = EncoderSettings {
        name,
        ..settings.encoder
    };
    let mut encoder = open_encoder(encoder, settings.frames_per_second, size)
        .map_err(|error| error.to_string())?;
    let interval = interval(settings);
    let mut picture = Picture::new(size);
    Scene::new(size, SEED).draw(interval, &mut picture);
    let budget = BITRATE.amount_in(interval);
    let begun = now();
    let frame = encode(settings, encoder.as_mut(), &picture, 0, budget)
        .map_err(|error| error.to_string())?;
    let took = milliseconds(begun.elapsed());
    let bytes = Bytes::new(frame.data.len() as u64);
    let name = &encoder.capabilities().name;
    Ok(format!(
        "{name}: a keyframe of {size} has {bytes} and took {took:.1} ms"
    ))
}

/// The findings about hardware encoders, one for each GStreamer element.
fn hardware(found: Hardware) -> Vec<Finding> {
    const CHECK: &str = "hardware encoder";
    let (devices, elements) = match found {
        Hardware::NoDevice => {
            let detail = "none tried: there is no graphics processor here, nor another device";
            return vec![Finding::ok(CHECK, detail)];
        }
        Hardware::NotBuilt(devices) => {
            let detail = format!(
                "none tried: {} may have one, but this program was built without GStreamer",
                devices.join(" and ")
            );
            return vec![Finding::warning(CHECK, detail, "")];
        }
        Hardware::Looked(devices, Err(error)) => {
            let detail = format!(
                "none tried: {} may have one, but {error}",
                devices.join(" and ")
            );
            return vec![Finding::warning(CHECK, detail, "")];
        }
        Hardware::Looked(devices, Ok(elements)) => (devices, elements),
    };
    let absent = elements
        .iter()
        .filter(|(_, found)| *found == Element::Absent);
    let absent: Vec<_> = absent.map(|(name, _)| *name).collect();
    let mut findings: Vec<_> = elements
        .iter()
        .filter_map(|(name, found)| match found {
            Element::Absent => None,
            Element::Works { restarts, leaves } => Some(works(CHECK, name, *restarts, leaves)),
            Element::Fails(reason) => Some(Finding::warning(CHECK, reason, "")),
        })
        .collect();
    if findings.is_empty() {
        findings.push(Finding::warning(
            CHECK,
            format!(
                "none found: {} may have one, but GStreamer has none of {}",
                devices.join(" and "),
                absent.join(", ")
            ),
            "apt-get install gstreamer1.0-plugins-bad, and the driver for VA-API or NVENC",
        ));
    }
    findings
}

/// The finding about an element that works.
fn works(check: &'static str, name: &str, restarts: bool, leaves: &Leaves) -> Finding {
    let restarts = if restarts {
        "; each change of its bitrate makes a keyframe, so that it changes seldom"
    } else {
        ""
    };
    let (leaves, fault) = match leaves {
        Leaves::Whole => ("frames leave whole".to_owned(), None),
        Leaves::InParts(parts) => (format!("frames leave in up to {parts} parts"), None),
        Leaves::WholeFor(fault) => (
            format!("frames leave whole and not in parts, for {fault}"),
            Some(fault),
        ),
    };
    let detail = format!("{name}: found, opened, encoded 4 frames; {leaves}{restarts}");
    match fault {
        None => Finding::ok(check, detail),
        Some(_) => Finding::warning(check, detail, ""),
    }
}

fn interval(settings: &Settings) -> TimeDelta {
    TimeDelta::from_secs(1.0) / settings.frames_per_second
}

/// Encodes a picture as frame `number`, the first one as a keyframe.
fn encode(
    settings: &Settings,
    encoder: &mut dyn Encoder,
    picture: &Picture,
    number: usize,
    budget: Bytes,
) -> Result<EncodedFrame, EncodeError> {
    let recovery = if number == 0 {
        Recovery::Keyframe
    } else {
        Recovery::None
    };
    let request = FrameRequest {
        frame: FrameId(number as u64),
        budget,
        interval: interval(settings),
        complexity: match settings.encoder.work {
            Work::Always(level) => level,
            // Nearly all frames have this level.
            Work::Adaptive => Complexity::C0,
        },
        recovery,
    };
    encoder.encode(picture, &request)
}

/// The time that each frame of the demonstration takes.
fn times(settings: &Settings, encoder: &mut dyn Encoder) -> Result<Vec<Duration>, EncodeError> {
    let interval = interval(settings);
    let budget = settings
        .controller
        .limits
        .clamp(BITRATE)
        .amount_in(interval);
    let mut scene = Scene::new(settings.size, SEED);
    let mut picture = Picture::new(settings.size);
    let mut times = Vec::with_capacity(FRAMES);
    for number in 0..=FRAMES {
        scene.draw(interval, &mut picture);
        let begun = now();
        encode(settings, encoder, &picture, number, budget)?;
        if number > 0 {
            times.push(begun.elapsed());
        }
    }
    Ok(times)
}

/// Whether the times suffice for the frame rate.
fn speed(settings: &Settings, mut times: Vec<Duration>) -> Finding {
    times.sort_unstable();
    let quantile = |share| milliseconds(times[nearest_rank_index(times.len(), share)]);
    let (median, worst) = (quantile(0.5), quantile(0.99));
    let fits = (1e3 / worst).floor();
    let size = settings.size;
    let detail = format!(
        "{median:.1} ms a frame of {size}, {worst:.1} ms at worst (p99), enough for {fits:.0} frames a second"
    );
    if fits < f64::from(settings.frames_per_second) {
        let remedy = format!(
            "--frames-per-second {:.0}, a smaller --size, or more --encoder-threads",
            fits.max(1.0)
        );
        return Finding::warning("encoder speed", detail, remedy);
    }
    Finding::ok("encoder speed", detail)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(found: Hardware) -> String {
        let mut report = Report::default();
        for finding in hardware(found) {
            report.add(finding);
        }
        report.text(false)
    }

    #[test]
    fn hardware_is_named_whether_it_was_tried_or_not() {
        let devices = || vec!["/dev/dri/renderD128".to_owned(), "/dev/nvidia0".to_owned()];
        let none = told(Hardware::NoDevice);
        assert!(
            none.starts_with("ok ") && none.contains("none tried"),
            "{none}"
        );
        let unbuilt = told(Hardware::NotBuilt(devices()));
        assert!(
            unbuilt.starts_with("warning ")
                && unbuilt.contains("dri/renderD128 and /dev/nvidia0 may have one"),
            "{unbuilt}"
        );
        let elements = vec![
            ("nvh264enc", Element::Absent),
            ("vah264enc", Element::Absent),
        ];
        let absent = told(Hardware::Looked(devices(), Ok(elements)));
        assert!(
            absent.contains("none of nvh264enc, vah264enc") && absent.contains("-> apt-get"),
            "{absent}"
        );
        let elements = vec![
            ("nvh264enc", Element::Absent),
            (
                "vah264enc",
                Element::Works {
                    restarts: true,
                    leaves: Leaves::Whole,
                },
            ),
            (
                "omxh264enc",
                Element::Works {
                    restarts: false,
                    leaves: Leaves::InParts(8),
                },
            ),
            (
                "omxh265enc",
                Element::Works {
                    restarts: false,
                    leaves: Leaves::WholeFor("it has no marker".to_owned()),
                },
            ),
            (
                "vah265enc",
                Element::Fails("vah265enc does not work: why".to_owned()),
            ),
        ];
        let found = told(Hardware::Looked(devices(), Ok(elements)));
        assert!(
            found.contains(
                "ok       hardware encoder  vah264enc: found, opened, encoded 4 frames; frames leave whole; each change"
            ) && found.contains("omxh264enc: found, opened, encoded 4 frames; frames leave in up to 8 parts\n")
                && found.contains(
                    "warning  hardware encoder  omxh265enc: found, opened, encoded 4 frames; frames leave whole and not in parts, for it has no marker"
                ) && found.contains("warning  hardware encoder  vah265enc does not work: why")
                && !found.contains("nvh264enc"),
            "{found}"
        );
    }
}
