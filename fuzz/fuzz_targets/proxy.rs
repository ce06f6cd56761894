//! Both ends of the proxy, with arbitrary datagrams from both applications and the network, and with
//! packets of a well-formed stream between them: nothing panics, no time comes twice, and what
//! waits stays bounded.
//!
//! An input's first byte picks the controller and says whether the two ends have a key. Then come steps: a byte says what, a byte how many
//! milliseconds later, a byte how many bytes belong to it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mimosa_facts::{Codec, Limits};
use mimosa_proxy::{AppLimits, Far, FarConfig, Key, Near, NearConfig, Pass, Told};
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};

/// The most bytes that wait: less than arbitrary input can send.
const MOST_BYTES: Bytes = Bytes::new(20_000);

fuzz_target!(|data: &[u8]| {
    let Some((&first, mut data)) = data.split_first() else {
        return;
    };
    let mut world = World::new(first);
    while let [what, wait, length, rest @ ..] = data {
        let (bytes, rest) = rest.split_at(usize::from(*length).min(rest.len()));
        world.step(*what, *wait, bytes);
        data = rest;
    }
});

struct World {
    now: Time,
    near: Near,
    far: Far,
    key: Option<Key>,
    number: u16,
    limits: AppLimits,
}

/// A far end, with the key if there is one.
fn far(ssrc: u32, key: Option<Key>) -> Far {
    let far = Far::new(FarConfig::default(), ssrc);
    match key {
        Some(key) => far.with_key(key),
        None => far,
    }
}

impl World {
    fn new(first: u8) -> Self {
        let mbps = |mbps: u64| Rate::from_kbps(mbps * 1_000);
        let limits = Limits::new(mbps(1), mbps(5), mbps(50));
        let names = mimosa_cc::NAMES;
        let name = names[usize::from(first) % names.len()];
        let config = NearConfig {
            codec: (first & 0x80 != 0).then_some(Codec::H264),
            most_bytes: MOST_BYTES,
            ..NearConfig::new(limits)
        };
        let make = move |limits| match mimosa_cc::build(name, toml::Table::new(), limits) {
            Ok(controller) => controller,
            Err(error) => panic!("{name}: {error}"),
        };
        let key = Key::new("a key of both ends").filter(|_| first & 0x40 != 0);
        let near = Near::new(config, 1, Box::new(make));
        let near = match key.clone() {
            Some(key) => near.with_key(key, [9; 16]),
            None => near,
        };
        let far = far(2, key.clone());
        Self {
            now: Time::ZERO,
            near,
            far,
            key,
            number: u16::MAX - 20,
            limits: AppLimits::default(),
        }
    }

    fn step(&mut self, what: u8, wait: u8, bytes: &[u8]) {
        let times = if what & 0x80 == 0 { 1 } else { 1_000 };
        self.run_to(self.now + TimeDelta::from_millis(i64::from(wait) * times));
        let now = self.now;
        match what % 8 {
            0 => drop(self.near.application_sent(now, bytes)),
            1 => drop(self.near.network_brought(now, bytes)),
            2 => drop(self.far.network_brought(now, Ecn::Ce, bytes)),
            3 => drop(self.far.application_sent(bytes)),
            4 => {
                self.limits = AppLimits {
                    min: Rate::from_kbps(u64::from(bytes.first().copied().unwrap_or(0)) * 100),
                    max: Rate::from_kbps(u64::from(bytes.last().copied().unwrap_or(255)) * 100),
                };
                self.near.set_limits(self.limits);
            }
            5 => self.far = far(3 + u32::from(wait), self.key.clone()),
            _ => self.frame(bytes),
        }
        self.advance();
    }

    /// A frame of well-formed packets.
    fn frame(&mut self, bytes: &[u8]) {
        let count = bytes.first().map_or(1, |count| count % 16 + 1);
        for index in 0..count {
            self.number = self.number.wrapping_add(1);
            let [n0, n1] = self.number.to_be_bytes();
            let [t0, t1] = (self.number / 16).to_be_bytes();
            let marker = if index + 1 == count { 0x80 } else { 0 };
            let header = [0x80, marker | 96, n0, n1, 0, 0, t0, t1, 0, 0, 0, 9];
            let packet = [&header[..], &[0x65; 1_000]].concat();
            let pass = self.near.application_sent(self.now, &packet);
            assert_ne!(pass, Pass::Rtcp);
        }
    }

    /// Does what is due until `end`.
    fn run_to(&mut self, end: Time) {
        // An hour of timers is not worth the time.
        for _ in 0..200 {
            let next = self.near.deadline().min(self.far.deadline());
            if next > end {
                break;
            }
            self.now = self.now.max(next);
            self.advance();
        }
        self.now = self.now.max(end);
        self.advance();
    }

    fn advance(&mut self) {
        let now = self.now;
        self.near.advance(now);
        for report in self.far.reports(now) {
            assert_eq!(self.near.network_brought(now, &report), Pass::Taken);
            self.near.advance(now);
        }
        while let Some(departure) = self.near.poll_departure() {
            assert!(departure.contents.len() >= 12);
            if !self.far.greeted(&departure.contents) {
                self.far
                    .network_brought(now, departure.ecn, &departure.contents);
            }
        }
        while let Some(told) = self.near.poll_told() {
            if let Told::Bitrate(rate) = told {
                let most = self.limits.max.max(self.limits.min);
                assert!(rate >= self.limits.min && rate <= most);
            }
        }
        while self.near.poll_request().is_some() {}
        assert!(self.near.deadline() > now, "{:?} at {now}", self.near);
        assert!(self.near.statistics().waiting <= MOST_BYTES);
    }
}
