//! The encoder: whether it is there, and how fast it is.

use mimosa_settings::Settings;

use super::report::Report;

#[cfg(not(feature = "x264"))]
pub(super) fn look(_settings: &Settings, report: &mut Report) {
    report.add(super::report::Finding::missing(
        "encoder",
        "this build has none for H.264",
        "apt-get install libx264-dev, then cargo build --release --features x264",
    ));
}

#[cfg(feature = "x264")]
pub(super) fn look(settings: &Settings, report: &mut Report) {
    built_in::look(settings, report);
}

#[cfg(feature = "x264")]
mod built_in {
    use std::time::Duration;

    use mimosa_control::FrameId;
    use mimosa_scene::Scene;
    use mimosa_settings::{Settings, Work};
    use mimosa_units::{Rate, TimeDelta};
    use mimosa_video::{Complexity, Encoder, FrameRequest, Picture, Recovery};
    use mimosa_x264::{Config, X264};

    use crate::doctor::machine::now;
    use crate::doctor::report::{Finding, Report};

    /// Frames that are timed, after a keyframe that is not.
    const FRAMES: usize = 60;
    /// A bitrate at which a game looks good, unless the settings forbid it: a
    /// frame takes the longer the more it may have.
    const BITRATE: Rate = Rate::from_kbps(20_000);
    /// The scene's: any.
    const SEED: u64 = 1;

    /// Looks at it.
    pub(super) fn look(settings: &Settings, report: &mut Report) {
        let mut config = Config::new(settings.size, settings.frames_per_second);
        config.threads = u8::try_from(settings.encoder.threads).unwrap_or(u8::MAX);
        let mut encoder = match X264::open(config) {
            Ok(encoder) => encoder,
            Err(error) => {
                report.add(Finding::missing(
                    "encoder",
                    error.to_string(),
                    "change the settings of the encoder",
                ));
                return;
            }
        };
        report.add(Finding::ok("encoder", encoder.capabilities().name.clone()));
        match times(settings, &mut encoder) {
            Ok(times) => report.add(speed(settings, times)),
            Err(error) => report.add(Finding::missing("encoder speed", error.to_string(), "")),
        }
    }

    /// How long each frame of the demonstration takes.
    fn times(
        settings: &Settings,
        encoder: &mut X264,
    ) -> Result<Vec<Duration>, mimosa_video::EncodeError> {
        let interval = TimeDelta::from_secs(1.0) / settings.frames_per_second;
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
            let request = FrameRequest {
                frame: FrameId(number as u64),
                budget,
                interval,
                complexity: match settings.encoder.work {
                    Work::Always(level) => level,
                    // Nearly all frames.
                    Work::Adaptive => Complexity::C0,
                },
                recovery: if number == 0 {
                    Recovery::Keyframe
                } else {
                    Recovery::None
                },
            };
            let begun = now();
            encoder.encode(&picture, &request)?;
            if number > 0 {
                times.push(begun.elapsed());
            }
        }
        Ok(times)
    }

    /// What the times mean for the frame rate.
    fn speed(settings: &Settings, mut times: Vec<Duration>) -> Finding {
        times.sort_unstable();
        let quantile = |percent: usize| {
            // The nearest rank.
            let rank = (times.len() * percent).div_ceil(100);
            times[rank.saturating_sub(1)].as_secs_f64() * 1e3
        };
        let (median, worst) = (quantile(50), quantile(99));
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
}
