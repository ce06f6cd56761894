//! A model of an application that sends video and sound by RTP and obeys a bitrate late.

use std::collections::VecDeque;

use mimosa_net::Random;
use mimosa_proxy::Told;
use mimosa_units::{Rate, Time, TimeDelta};

/// Bytes of an RTP header.
const HEADER: usize = 12;
/// Largest payload, as `ffmpeg` and GStreamer cut it.
const LARGEST: usize = 1_400;

pub(crate) const VIDEO: u32 = 0x11;
pub(crate) const SOUND: u32 = 0x22;

/// How an application behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Habits {
    pub(crate) bitrate: Rate,
    /// Time from a message to the first frame that obeys it; `None` for an application that obeys
    /// nothing.
    pub(crate) obeys_within: Option<TimeDelta>,
    /// Ratio of the bitrate that the application sends to the one that it was told.
    pub(crate) surplus: f64,
    /// Deviation of a frame's size, as a share of its mean.
    pub(crate) variation: f64,
    pub(crate) sets_markers: bool,
    pub(crate) has_sound: bool,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            bitrate: Rate::from_kbps(18_000),
            obeys_within: Some(TimeDelta::from_millis(300)),
            surplus: 1.0,
            variation: 0.15,
            sets_markers: true,
            has_sound: true,
        }
    }
}

/// The application: video at 60 frames a second in H.264, and sound at 50 packets.
#[derive(Debug)]
pub(crate) struct Application {
    habits: Habits,
    random: Random,
    bitrate: Rate,
    orders: VecDeque<(Time, Told)>,
    next_frame: Time,
    next_sound: Time,
    frames: u32,
    sounds: u16,
    sequence: u16,
    wants_keyframe: bool,
    pub(crate) keyframes: u32,
}

impl Application {
    pub(crate) fn new(habits: Habits, seed: u64) -> Self {
        Self {
            habits,
            random: Random::new(seed, "application"),
            bitrate: habits.bitrate,
            orders: VecDeque::new(),
            next_frame: Time::ZERO,
            next_sound: Time::ZERO,
            frames: 0,
            sounds: 0,
            // So that numbers wrap early.
            sequence: 65_000,
            wants_keyframe: true,
            keyframes: 0,
        }
    }

    pub(crate) fn told(&mut self, now: Time, told: Told) {
        if let Some(obeys_within) = self.habits.obeys_within {
            self.orders.push_back((now + obeys_within, told));
        }
    }

    pub(crate) fn deadline(&self) -> Time {
        self.next_frame.min(if self.habits.has_sound {
            self.next_sound
        } else {
            Time::MAX
        })
    }

    /// The datagrams that leave at `now`.
    pub(crate) fn poll(&mut self, now: Time) -> Vec<Vec<u8>> {
        while let Some((_, told)) = self.orders.pop_front_if(|(at, _)| *at <= now) {
            match told {
                Told::Bitrate(bitrate) => self.bitrate = bitrate.min(self.habits.bitrate),
                Told::Keyframe => self.wants_keyframe = true,
            }
        }
        let mut packets = Vec::new();
        if self.next_frame <= now {
            self.next_frame += TimeDelta::from_micros(16_667);
            packets.extend(self.frame());
        }
        if self.habits.has_sound && self.next_sound <= now {
            self.next_sound += TimeDelta::from_millis(20);
            self.sounds += 1;
            let timestamp = u32::from(self.sounds) * 960;
            packets.push(rtp(SOUND, self.sounds, timestamp, false, &[7; 160]));
        }
        packets
    }

    fn frame(&mut self) -> Vec<Vec<u8>> {
        self.frames += 1;
        let is_keyframe = std::mem::take(&mut self.wants_keyframe);
        self.keyframes += u32::from(is_keyframe);
        let mean = self
            .bitrate
            .scale(self.habits.surplus)
            .amount_in(TimeDelta::from_micros(16_667));
        let varied = 1.0 + self.habits.variation * self.random.normal();
        // A keyframe of an encoder with a small buffer.
        let factor = if is_keyframe { 3.0 } else { varied.max(0.2) };
        let size = usize::try_from(mean.scale(factor).get()).unwrap_or(0);
        let count = size.div_ceil(LARGEST).max(1);
        let each = size.div_ceil(count).max(2);
        (0..count)
            .map(|index| {
                self.sequence = self.sequence.wrapping_add(1);
                let ends = index + 1 == count && self.habits.sets_markers;
                let mut payload = vec![0x61; each];
                if is_keyframe {
                    // A fragment of an IDR slice, the first one or another.
                    payload[0] = 0x7c;
                    payload[1] = if index == 0 { 0x85 } else { 5 };
                }
                let timestamp = self.frames * 1_500;
                rtp(VIDEO, self.sequence, timestamp, ends, &payload)
            })
            .collect()
    }
}

pub(crate) fn rtp(
    ssrc: u32,
    sequence: u16,
    timestamp: u32,
    marker: bool,
    payload: &[u8],
) -> Vec<u8> {
    let mut packet = Vec::with_capacity(HEADER + payload.len());
    packet.extend([0x80, if marker { 0xe0 } else { 0x60 }]);
    packet.extend(sequence.to_be_bytes());
    packet.extend(timestamp.to_be_bytes());
    packet.extend(ssrc.to_be_bytes());
    packet.extend(payload);
    packet
}
