//! What the application is told, and when: a bitrate, and that a keyframe is needed.
//!
//! *Source:* our own. An encoder that is told a bitrate takes a while to obey, and some restart for
//! it: so the controller's target, which may change with each frame, is smoothed, and only changes
//! that matter are told. From the target are taken off what goes ahead of the video and what is
//! needed for the queue to be gone in [`drain`](crate::VoiceConfig::drain). An application that
//! sends more than it is told is told less, in the measure in which it does so: otherwise its
//! surplus would stand in the queue.

use std::collections::VecDeque;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::config::VoiceConfig;

/// The share of a measured surplus by which the correction moves at once. Our choice.
const CORRECTION_GAIN: f64 = 0.3;
/// A surplus or a deficit below this share corrects nothing. Our choice.
const CORRECTION_LEAST: f64 = 0.02;
/// The most by which the correction moves at once, as a share: an application may obey later than
/// expected once. Our choice.
const CORRECTION_STEP: f64 = 0.1;
/// How many bitrates are remembered. Our choice: those of many windows, told as often as may be.
const REMEMBERED: usize = 64;

/// Something that the application is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Told {
    /// The bitrate of its video from now on, RTP headers included.
    Bitrate(Rate),
    /// A keyframe is needed.
    Keyframe,
}

/// Bounds that the application sets to what it is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct AppLimits {
    /// The lowest bitrate that is told.
    pub min: Rate,
    /// The highest bitrate that is told; below `min` it counts as `min`.
    pub max: Rate,
}

impl Default for AppLimits {
    fn default() -> Self {
        Self {
            min: Rate::ZERO,
            max: Rate::MAX,
        }
    }
}

/// What the bitrate is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// The controller's target, which counts bytes on the wire.
    pub(crate) target: Rate,
    /// What goes ahead of the video.
    pub(crate) ahead: Rate,
    /// What waits in the queue.
    pub(crate) waiting: Bytes,
    /// Bytes of RTP packets for each byte on the wire.
    pub(crate) share: f64,
}

/// Says what the application is told.
#[derive(Debug)]
pub(crate) struct Voice {
    config: VoiceConfig,
    limits: AppLimits,
    /// The smoothed budget for the application, in bits per second, and when it was smoothed.
    smoothed: Option<(f64, Time)>,
    /// What was told last, and when.
    told: Option<(Rate, Time)>,
    /// By how much what is told is divided, from 1.
    correction: f64,
    /// What was told before that division, in bits per second, and when: what the application is to
    /// send.
    wanted: VecDeque<(Time, f64)>,
    /// When a keyframe was asked for.
    asked: Option<Time>,
    is_keyframe_wanted: bool,
}

impl Voice {
    pub(crate) fn new(config: VoiceConfig) -> Self {
        Self {
            config,
            limits: AppLimits::default(),
            smoothed: None,
            told: None,
            correction: 1.0,
            wanted: VecDeque::new(),
            asked: None,
            is_keyframe_wanted: false,
        }
    }

    /// The application sets bounds; they count from the next bitrate on, which is told at once.
    pub(crate) fn set_limits(&mut self, limits: AppLimits) {
        self.limits = limits;
        self.told = None;
    }

    /// The bitrate told last.
    pub(crate) fn bitrate(&self) -> Option<Rate> {
        self.told.map(|(rate, _)| rate)
    }

    /// The bitrate to tell at `now`, if one is to be told.
    pub(crate) fn consider(&mut self, now: Time, budget: &Budget) -> Option<Rate> {
        let config = self.config;
        let drain = Rate::of(budget.waiting, config.drain);
        let target = (budget.target - budget.ahead).scale(config.headroom);
        let wanted = (target - drain).as_bps() as f64 * budget.share;
        let smoothed = self.smooth(now, wanted);
        let bps = Rate::from_mbps(smoothed / self.correction / 1e6);
        let bitrate = bps.clamp(self.limits.min, self.limits.max.max(self.limits.min));
        let is_due = self.told.is_none_or(|(before, at)| {
            let (ratio, age) = (bitrate.ratio(before), now.since(at));
            ratio <= 1.0 - config.least_fall && age >= config.fall_after
                || ratio >= 1.0 + config.least_rise && age >= config.rise_after
                || before == Rate::ZERO && bitrate > before
        });
        is_due.then(|| {
            self.told = Some((bitrate, now));
            if self.wanted.len() == REMEMBERED {
                self.wanted.pop_front();
            }
            let wanted = bitrate.as_bps() as f64 * self.correction;
            self.wanted.push_back((now, wanted));
            bitrate
        })
    }

    fn smooth(&mut self, now: Time, wanted: f64) -> f64 {
        let config = self.config;
        let smoothed = self.smoothed.map_or(wanted, |(before, at)| {
            if wanted < config.sudden * before {
                return wanted;
            }
            let constant = if wanted < before {
                config.fall
            } else {
                config.rise
            };
            // The first-order filter's share of the new value, by its Padé approximant.
            let steps = now.since(at).ratio(constant);
            before + (wanted - before) * (steps / (1.0 + steps))
        });
        self.smoothed = Some((smoothed, now));
        smoothed
    }

    /// Notes the rate at which the application sent what is paced, from `from` to `to`.
    pub(crate) fn sent(&mut self, from: Time, to: Time, rate: Rate) {
        let late = self.config.obeys_within;
        let Some(wanted) = self.mean_wanted(from - late, to - late) else {
            return;
        };
        let surplus = rate.as_bps() as f64 / wanted - 1.0;
        if surplus.abs() >= CORRECTION_LEAST {
            let step = CORRECTION_GAIN * surplus;
            let step = step.clamp(-CORRECTION_STEP, CORRECTION_STEP);
            let corrected = self.correction * (1.0 + step);
            self.correction = corrected.clamp(1.0, self.config.most_correction.max(1.0));
        }
    }

    /// The mean of what the application was to send between two times; `None` if it had been told
    /// nothing, or to send nothing.
    fn mean_wanted(&self, from: Time, to: Time) -> Option<f64> {
        let mut amount = 0.0;
        let mut end = to;
        for &(at, wanted) in self.wanted.iter().rev() {
            let begin = at.max(from);
            amount += wanted * end.since(begin).as_secs();
            end = end.min(begin);
            if at <= from {
                let mean = amount / to.since(from).as_secs();
                return (mean > 0.0).then_some(mean);
            }
        }
        None
    }

    /// A keyframe is needed.
    pub(crate) fn want_keyframe(&mut self) {
        self.is_keyframe_wanted = true;
    }

    /// A keyframe has come.
    pub(crate) fn keyframe_came(&mut self) {
        self.is_keyframe_wanted = false;
    }

    /// Whether to ask for a keyframe at `now`.
    pub(crate) fn asks(&mut self, now: Time) -> bool {
        let is_due = self.is_keyframe_wanted && self.keyframe_due() <= now;
        if is_due {
            self.is_keyframe_wanted = false;
            self.asked = Some(now);
        }
        is_due
    }

    fn keyframe_due(&self) -> Time {
        self.asked
            .map_or(Time::ZERO, |asked| asked + self.config.keyframe_after)
    }

    /// When to ask again; [`Time::MAX`] for never.
    pub(crate) fn deadline(&self) -> Time {
        if self.is_keyframe_wanted {
            self.keyframe_due()
        } else {
            Time::MAX
        }
    }

    /// The time after which the last bitrate is to be repeated by RTCP.
    pub(crate) const fn repeat(&self) -> TimeDelta {
        self.config.repeat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(kbps: u64) -> Budget {
        Budget {
            target: Rate::from_kbps(kbps),
            ahead: Rate::ZERO,
            waiting: Bytes::ZERO,
            share: 1.0,
        }
    }

    fn ms(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    #[test]
    fn a_wavering_target_is_told_once_and_a_fall_soon() {
        let mut voice = Voice::new(VoiceConfig::default());
        let first = voice.consider(ms(0), &budget(10_000));
        assert_eq!(first, Some(Rate::from_kbps(9_500)));
        // Sixty times a second, the target wavers by a tenth.
        let told = (1..120).filter(|number| {
            let target = if number % 2 == 0 { 10_500 } else { 9_500 };
            let at = ms(number * 16);
            voice.consider(at, &budget(target)).is_some()
        });
        assert!(told.count() <= 2);
        let at = ms(3_000);
        let fall = voice.consider(at, &budget(4_000)).unwrap();
        assert_eq!(fall, Rate::from_kbps(3_800), "without smoothing");
        assert_eq!(voice.consider(ms(3_099), &budget(2_000)), None);
        assert!(voice.consider(ms(3_101), &budget(2_000)).is_some());
        // A rise waits, and is told in steps.
        let rises: Vec<_> = (0..60)
            .filter_map(|number| {
                let at = ms(3_101 + number * 16);
                voice.consider(at, &budget(10_000))
            })
            .collect();
        assert!((2..=4).contains(&rises.len()), "{rises:?}");
        assert!(rises.is_sorted());
        let last = rises.last().copied();
        assert!(last > Some(Rate::from_kbps(8_000)), "{rises:?}");
    }

    #[test]
    fn what_waits_and_what_goes_ahead_are_taken_off() {
        let mut voice = Voice::new(VoiceConfig::default());
        let full = Budget {
            ahead: Rate::from_kbps(2_000),
            waiting: Bytes::new(125_000),
            share: 0.9,
            ..budget(10_000)
        };
        // 95 % of 8 Mbit/s, less 1 Mbit/s for what waits; nine tenths of it.
        let told = voice.consider(ms(0), &full);
        assert_eq!(told, Some(Rate::from_kbps(5_940)));
        voice.set_limits(AppLimits {
            min: Rate::from_kbps(7_000),
            max: Rate::from_kbps(1),
        });
        assert_eq!(
            voice.consider(ms(1), &full),
            Some(Rate::from_kbps(7_000)),
            "within the application's limits, at once"
        );
    }

    /// An application that sends `surplus` times what it was told 300 ms ago, until `to`.
    fn obey(voice: &mut Voice, from: u64, to: u64, surplus: f64) -> Rate {
        let mut rate = Rate::ZERO;
        for number in from..to {
            let at = ms(500 * number);
            voice.consider(at, &budget(10_000));
            rate = voice.bitrate().unwrap().scale(surplus);
            voice.sent(at, at + TimeDelta::from_millis(500), rate);
        }
        rate
    }

    #[test]
    fn a_surplus_is_corrected_and_the_correction_ends_with_it() {
        let mut voice = Voice::new(VoiceConfig::default());
        voice.consider(ms(1_000), &budget(10_000));
        voice.sent(ms(1_000), ms(1_500), Rate::from_kbps(90_000));
        assert!(voice.correction < 1.001, "it has not had time to obey");
        let sends = obey(&mut voice, 3, 60, 1.33).as_mbps();
        assert!((9.0..9.8).contains(&sends), "{sends} of 9.5 Mbit/s");
        obey(&mut voice, 60, 120, 0.5);
        let told = voice.bitrate().unwrap();
        assert!(told >= Rate::from_kbps(9_100), "{told:?}");
    }

    #[test]
    fn keyframes_are_asked_for_at_most_so_often() {
        let mut voice = Voice::new(VoiceConfig::default());
        assert!(!voice.asks(ms(0)));
        voice.want_keyframe();
        assert!(voice.asks(ms(10)) && !voice.asks(ms(10)));
        voice.want_keyframe();
        assert_eq!(voice.deadline(), ms(510));
        assert!(!voice.asks(ms(509)) && voice.asks(ms(510)));
        voice.want_keyframe();
        voice.keyframe_came();
        assert_eq!(voice.deadline(), Time::MAX);
    }
}
