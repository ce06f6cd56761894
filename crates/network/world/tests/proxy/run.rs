//! An application, both ends of the proxy or none, and the link between them, in virtual time.

use mimosa_facts::{Codec, Controller, Limits};
use mimosa_net::queue::{DropTail, DualPi2, DualPi2Config, Limit, Queue};
use mimosa_proxy::{Far, FarConfig, Near, NearConfig, Pass, Told};
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};

use crate::application::{Application, Habits, VIDEO};
use crate::path::{Carried, Path};

/// One way, as across a city.
const DELAY: TimeDelta = TimeDelta::from_millis(10);

pub(crate) const fn mbps(mbps: u64) -> Rate {
    Rate::from_kbps(mbps * 1_000)
}

pub(crate) fn droptail() -> Box<dyn Queue<Carried>> {
    // A second at 5 Mbit/s.
    Box::new(DropTail::new(Limit::Bytes(Bytes::new(625_000))))
}

pub(crate) fn dualpi2() -> Box<dyn Queue<Carried>> {
    Box::new(DualPi2::new(DualPi2Config::linux(), 1))
}

pub(crate) fn controller(name: &'static str) -> mimosa_proxy::Maker {
    Box::new(move |limits| make(name, limits))
}

fn make(name: &str, limits: Limits) -> Box<dyn Controller> {
    mimosa_cc::build(name, toml::Table::new(), limits).unwrap()
}

pub(crate) fn config() -> NearConfig {
    NearConfig {
        codec: Some(Codec::H264),
        ..NearConfig::new(Limits::new(mbps(1), mbps(10), mbps(50)))
    }
}

/// A packet of the video that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) at: Time,
    pub(crate) waited: TimeDelta,
    /// Since the application sent the packet.
    pub(crate) delay: TimeDelta,
    pub(crate) bytes: u64,
    pub(crate) ecn: Ecn,
}

#[derive(Debug)]
pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) application: Application,
    pub(crate) ends: Option<(Near, Far)>,
    pub(crate) there: Path,
    pub(crate) back: Path,
    /// Whether datagrams of either end get lost.
    pub(crate) is_cut: bool,
    pub(crate) seen: Vec<Seen>,
    pub(crate) told: Vec<(Time, Told)>,
    /// RTCP for the application.
    pub(crate) requests: Vec<Vec<u8>>,
}

impl World {
    /// A link of 20 Mbit/s with the proxy around it, or none.
    pub(crate) fn new(
        habits: Habits,
        proxy: Option<(NearConfig, &'static str)>,
        queue: Box<dyn Queue<Carried>>,
    ) -> Self {
        let near = proxy.map(|(config, name)| Near::new(config, 77, controller(name)));
        Self {
            now: Time::ZERO,
            application: Application::new(habits, 1),
            ends: near.map(|near| (near, Far::new(FarConfig::default(), 88))),
            there: Path::new(queue, mbps(20), DELAY),
            back: Path::new(droptail(), mbps(20), DELAY),
            is_cut: false,
            seen: Vec::new(),
            told: Vec::new(),
            requests: Vec::new(),
        }
    }

    pub(crate) fn run_to(&mut self, end: Time) {
        loop {
            let ends = self.ends.as_ref();
            let proxy = ends.map_or(Time::MAX, |(near, far)| near.deadline().min(far.deadline()));
            let next = [
                self.application.deadline(),
                self.there.deadline(),
                self.back.deadline(),
                proxy,
            ];
            let next = next.into_iter().fold(Time::MAX, Time::min);
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            self.step();
        }
    }

    fn step(&mut self) {
        let now = self.now;
        for datagram in self.application.poll(now) {
            self.leave(datagram);
        }
        while let Some(arrived) = self.there.poll(now) {
            let datagram = &arrived.carried.contents;
            let ecn = arrived.carried.ecn;
            let is_video = datagram.get(8..12) == Some(&VIDEO.to_be_bytes()[..]);
            if is_video {
                self.seen.push(Seen {
                    at: now,
                    delay: now.since(sent(datagram)),
                    waited: arrived.waited,
                    bytes: datagram.len() as u64 + 28,
                    ecn,
                });
            }
            if let Some((_, far)) = &mut self.ends
                && !far.greeted(datagram)
            {
                far.network_brought(now, ecn, datagram);
            }
        }
        if let Some((_, far)) = &mut self.ends {
            for report in far.reports(now) {
                if !self.is_cut {
                    self.back.offer(now, report, Ecn::NotEct);
                }
            }
        }
        while let Some(arrived) = self.back.poll(now) {
            if let Some((near, _)) = &mut self.ends {
                let pass = near.network_brought(now, &arrived.carried.contents);
                // A report that was on its way to a near end before this one is not signed to this one.
                assert!(matches!(pass, Pass::Taken | Pass::Unsigned), "a report");
            }
        }
        self.advance();
    }

    /// A datagram leaves the application.
    pub(crate) fn leave(&mut self, datagram: Vec<u8>) {
        let now = self.now;
        let goes_on = match &mut self.ends {
            Some((near, _)) => near.application_sent(now, &datagram),
            None => Pass::Rtp,
        };
        if matches!(goes_on, Pass::Rtp | Pass::Rtcp) && !self.is_cut {
            self.there.offer(now, datagram, Ecn::NotEct);
        }
    }

    fn advance(&mut self) {
        let now = self.now;
        let Some((near, _)) = &mut self.ends else {
            return;
        };
        near.advance(now);
        assert!(near.deadline() > now, "{near:?} at {now}");
        while let Some(departure) = near.poll_departure() {
            if !self.is_cut {
                self.there.offer(now, departure.contents, departure.ecn);
            }
        }
        while let Some(told) = near.poll_told() {
            self.told.push((now, told));
            self.application.told(now, told);
        }
        self.requests
            .extend(std::iter::from_fn(|| near.poll_request()));
    }

    pub(crate) fn near(&self) -> &Near {
        &self.ends.as_ref().unwrap().0
    }

    /// The median and the 95th percentile of the time from application to application, for what
    /// arrived between two times.
    pub(crate) fn delays(&self, from: Time, to: Time) -> [TimeDelta; 2] {
        let seen = self.seen.iter().filter(|one| (from..to).contains(&one.at));
        let mut delays: Vec<_> = seen.map(|one| one.delay).collect();
        delays.sort_unstable();
        let at = |percent| delays.len().saturating_sub(1) * percent / 100;
        [50, 95].map(|percent| delays.get(at(percent)).copied().unwrap_or(TimeDelta::ZERO))
    }

    /// The 95th percentile of the wait before the link, and the rate of what arrived, between two
    /// times.
    pub(crate) fn between(&self, from: Time, to: Time) -> (TimeDelta, Rate) {
        let seen = self.seen.iter();
        let seen: Vec<_> = seen.filter(|one| (from..to).contains(&one.at)).collect();
        let mut waits: Vec<_> = seen.iter().map(|one| one.waited).collect();
        waits.sort_unstable();
        let place = waits.len().saturating_sub(1) * 95 / 100;
        let bytes = seen.iter().map(|one| one.bytes).sum();
        let rate = Rate::of(Bytes::new(bytes), to.since(from));
        (waits.get(place).copied().unwrap_or(TimeDelta::ZERO), rate)
    }
}

/// When the application sent a packet of its video, by its timestamp.
fn sent(packet: &[u8]) -> Time {
    let timestamp = packet.get(4..8).map(|bytes| bytes.try_into().unwrap());
    let frames = timestamp.map_or(0, u32::from_be_bytes) / 1_500;
    Time::ZERO + TimeDelta::from_micros(16_667) * frames.saturating_sub(1)
}
