//! The times and the rates of probes (`ProbeController`).

use std::collections::VecDeque;

use mimosa_facts::{Probe, ProbeStart};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::config::Config;

/// Longest wait for the result of a probe (`kMaxWaitingTimeForProbingResult`).
const WAIT: TimeDelta = TimeDelta::from_millis(1_000);
/// Share of the target: a fall below it is a large one (`kBitrateDropThreshold`).
const DROP: f64 = 0.66;
/// Time after a large fall in which the old target may be probed (`kBitrateDropTimeout`).
const DROP_TIMEOUT: TimeDelta = TimeDelta::from_millis(5_000);
/// Rate of the probe after a large fall, as a share of the old target (`kProbeFractionAfterDrop`).
const AFTER_DROP: f64 = 0.85;
/// Shortest time between two probes after large falls (`kMinTimeBetweenAlrProbes`).
const BETWEEN_DROPS: TimeDelta = TimeDelta::from_millis(5_000);
/// Uncertainty of the probe after a large fall, as a share of its rate: less this share, the rate
/// must be above the present target (`kProbeUncertainty`).
const UNCERTAINTY: f64 = 0.05;
/// Time for which a stream that was application-limited may still probe after a large fall
/// (`kAlrEndedTimeout`).
const LIMITED_ENDED: TimeDelta = TimeDelta::from_millis(3_000);
/// Highest rate of a probe while loss limits the target, as a multiple of the target
/// (`loss_limited_probe_scale`).
const LOSS_LIMITED: f64 = 1.5;
/// Largest number of groups that wait for their turn.
const MOST_WAITING: usize = 4;
/// Largest number of packets in a group: 15 ms at 1.28 Gbit/s in packets of 1200 B.
const MOST_PACKETS: u16 = 2_000;

/// The limit of the target, as far as probing distinguishes it (`BandwidthLimitedCause`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum LimitedBy {
    /// The delay limits the target, and does not change now.
    Delay,
    /// The delay changes, loss reduces the target, or the round trip is too long: no probes are
    /// sent.
    Congestion,
    /// Loss limits the target, which recovers.
    LossRecovering,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Init,
    /// A result is awaited; a target above this rate is probed further.
    Waiting(Rate),
    Complete,
}

/// The state of probing, with the groups to send.
#[derive(Debug)]
pub(super) struct Probing {
    state: State,
    limited_by: LimitedBy,
    rate: Rate,
    max: Rate,
    initiated: Time,
    limited_since: Option<Time>,
    limited_ended: Option<Time>,
    /// When the target last fell by much, and the target before.
    drop: Option<(Time, Rate)>,
    drop_probed: Option<Time>,
    waiting: VecDeque<Rate>,
    /// Number of packets of the present group that have not left, and when the group began; `None`
    /// between two groups.
    sending: Option<(u16, Time)>,
    next_id: u64,
}

impl Probing {
    pub(super) const fn new(start: Rate, max: Rate) -> Self {
        Self {
            state: State::Init,
            limited_by: LimitedBy::Delay,
            rate: start,
            max,
            initiated: Time::ZERO,
            limited_since: None,
            limited_ended: None,
            drop: None,
            drop_probed: None,
            waiting: VecDeque::new(),
            sending: None,
            next_id: 0,
        }
    }

    /// Begins the first probes, when the first packet of the stream leaves; later calls do nothing.
    pub(super) fn start(&mut self, config: &Config, now: Time) {
        if self.state == State::Init {
            let first = self.rate.scale(config.probe_first);
            let second = self.rate.scale(config.probe_second);
            self.initiate(config, now, first, Some(second), true);
        }
    }

    pub(super) const fn set_limited(&mut self, since: Option<Time>) {
        self.limited_since = since;
    }

    pub(super) const fn limited_ended(&mut self, now: Time) {
        self.limited_ended = Some(now);
    }

    /// Sets the target to `rate`, which `by` limits, and probes further if the result of the last
    /// probe is high enough.
    pub(super) fn set_rate(&mut self, config: &Config, now: Time, rate: Rate, by: LimitedBy) {
        self.limited_by = by;
        if rate < self.rate.scale(DROP) {
            self.drop = Some((now, self.rate));
        }
        self.rate = rate;
        if let State::Waiting(above) = self.state
            && rate > above
        {
            self.initiate(config, now, rate.scale(config.probe_further), None, true);
        }
    }

    /// Probes the target before a large fall, because the delay has stopped falling and the old
    /// capacity may have returned.
    pub(super) fn recovered(&mut self, config: &Config, now: Time) {
        let lately = |since: Option<Time>, span| since.is_some_and(|since| now.since(since) < span);
        let is_limited = self.limited_since.is_some() || lately(self.limited_ended, LIMITED_ENDED);
        let Some((at, before)) = self.drop else {
            return;
        };
        let rate = before.scale(AFTER_DROP);
        if is_limited
            && self.state == State::Complete
            && rate.scale(1.0 - UNCERTAINTY) > self.rate
            && now.since(at) < DROP_TIMEOUT
            && !lately(self.drop_probed, BETWEEN_DROPS)
        {
            self.drop_probed = Some(now);
            self.initiate(config, now, rate, None, false);
        }
    }

    /// Ends the wait for a late result, and probes if the stream has been application-limited for
    /// long.
    pub(super) fn process(&mut self, config: &Config, now: Time) {
        if matches!(self.state, State::Waiting(_)) && now.since(self.initiated) > WAIT {
            self.state = State::Complete;
        }
        if self.state != State::Complete || config.limited_interval <= TimeDelta::ZERO {
            return;
        }
        if let Some(since) = self.limited_since
            && now.since(since.max(self.initiated)) >= config.limited_interval
        {
            let rate = self.rate.scale(config.limited_scale);
            self.initiate(config, now, rate, None, true);
        }
    }

    /// Records that a probe has left.
    pub(super) const fn sent(&mut self) {
        if let Some((left, _)) = &mut self.sending {
            *left -= 1;
            if *left == 0 {
                self.sending = None;
            }
        }
    }

    /// Returns the next group, if one waits and the one before has left or began more than `WAIT`
    /// ago.
    pub(super) fn poll(&mut self, config: &Config, now: Time) -> Option<Probe> {
        if self
            .sending
            .is_some_and(|(_, since)| now.since(since) <= WAIT)
        {
            return None;
        }
        let rate = self.waiting.pop_front()?;
        let amount = rate.amount_in(config.probe_duration);
        let packets = u16::try_from(amount.pieces(config.probe_size))
            .unwrap_or(u16::MAX)
            .clamp(config.probe_packets, MOST_PACKETS);
        self.sending = Some((packets, now));
        self.next_id += 1;
        Some(Probe {
            id: self.next_id,
            packets,
            interval: rate.transmit_time(config.probe_size),
            size: Some(config.probe_size),
            start: ProbeStart::Now,
        })
    }

    fn initiate(
        &mut self,
        config: &Config,
        now: Time,
        first: Rate,
        second: Option<Rate>,
        further: bool,
    ) {
        let most = match self.limited_by {
            LimitedBy::Congestion => return,
            LimitedBy::LossRecovering => self.max.min(self.rate.scale(LOSS_LIMITED)),
            LimitedBy::Delay => self.max,
        };
        let mut last = Rate::ZERO;
        let mut is_further = further;
        for rate in [Some(first), second].into_iter().flatten() {
            if rate == Rate::ZERO || last >= most {
                continue;
            }
            is_further &= rate < most;
            last = rate.min(most);
            if self.waiting.len() < MOST_WAITING {
                self.waiting.push_back(last);
            }
        }
        self.initiated = now;
        self.state = if is_further {
            State::Waiting(last.scale(config.probe_threshold))
        } else {
            State::Complete
        };
    }
}

/// Returns the size of all packets of `probe` together.
pub(super) fn size(probe: &Probe) -> Bytes {
    let each = probe.size.unwrap_or(Bytes::ZERO);
    Bytes::new(each.get().saturating_mul(u64::from(probe.packets)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: Rate = Rate::from_kbps(50_000);

    fn mbps(mbps: u64) -> Rate {
        Rate::from_kbps(mbps * 1_000)
    }

    fn config() -> Config {
        Config::default()
    }

    /// Sends all groups that wait, each at once. Returns their rates in Mbit/s.
    fn rates(probing: &mut Probing, now: Time) -> Vec<f64> {
        let mut rates = Vec::new();
        while let Some(probe) = probing.poll(&config(), now) {
            let rate = Rate::of(probe.size.unwrap(), probe.interval);
            rates.push((rate.as_mbps() * 10.0).round() / 10.0);
            for _ in 0..probe.packets {
                probing.sent();
            }
        }
        rates
    }

    fn started(start: u64) -> Probing {
        let mut probing = Probing::new(mbps(start), MAX);
        probing.start(&config(), Time::ZERO);
        probing
    }

    #[test]
    fn the_first_probes_are_three_and_six_times_the_first_rate() {
        let mut probing = started(5);
        assert_eq!(rates(&mut probing, Time::ZERO), [15.0, 30.0]);
        // 21 Mbit/s does not exceed 0.7 of 30 Mbit/s, and 22 Mbit/s does.
        let now = Time::from_millis(100);
        probing.set_rate(&config(), now, mbps(21), LimitedBy::Delay);
        assert_eq!(rates(&mut probing, now), []);
        probing.set_rate(&config(), now, mbps(22), LimitedBy::Delay);
        assert_eq!(rates(&mut probing, now), [44.0]);
        probing.set_rate(&config(), now, mbps(40), LimitedBy::Delay);
        assert_eq!(
            rates(&mut probing, now),
            [50.0],
            "the maximum, and no further"
        );
        probing.set_rate(&config(), now, mbps(49), LimitedBy::Delay);
        assert_eq!(rates(&mut probing, now), []);
    }

    #[test]
    fn a_group_lasts_15_ms_and_has_five_packets_at_least() {
        let mut probing = started(5);
        let probe = probing.poll(&config(), Time::ZERO).unwrap();
        // 15 Mbit/s for 15 ms are 28.1 kB.
        assert_eq!(
            (probe.packets, probe.interval),
            (24, TimeDelta::from_micros(640))
        );
        assert_eq!(probing.poll(&config(), Time::ZERO), None, "one at a time");
        let mut slow = Probing::new(Rate::from_kbps(200), MAX);
        slow.start(&config(), Time::ZERO);
        assert_eq!(slow.poll(&config(), Time::ZERO).unwrap().packets, 5);
    }

    #[test]
    fn results_after_a_second_are_too_late() {
        let mut probing = started(5);
        rates(&mut probing, Time::ZERO);
        let late = Time::from_millis(1_001);
        probing.process(&config(), late);
        probing.set_rate(&config(), late, mbps(30), LimitedBy::Delay);
        assert_eq!(rates(&mut probing, late), []);
    }

    #[test]
    fn a_limited_stream_probes_twice_its_rate_every_5_s() {
        let mut probing = started(5);
        rates(&mut probing, Time::ZERO);
        probing.set_limited(Some(Time::from_secs(2)));
        for (ms, expected) in [
            (6_999, &[][..]),
            (7_000, &[10.0]),
            (11_999, &[]),
            (12_000, &[10.0]),
        ] {
            let now = Time::from_millis(ms);
            probing.process(&config(), now);
            assert_eq!(rates(&mut probing, now), expected, "at {now}");
        }
    }

    #[test]
    fn congestion_forbids_probes_and_loss_bounds_them() {
        for (by, expected) in [
            (LimitedBy::Congestion, &[][..]),
            (LimitedBy::LossRecovering, &[7.5]),
            (LimitedBy::Delay, &[10.0]),
        ] {
            let mut probing = started(5);
            rates(&mut probing, Time::ZERO);
            probing.process(&config(), Time::from_secs(2));
            probing.set_limited(Some(Time::from_secs(2)));
            probing.set_rate(&config(), Time::from_secs(2), mbps(5), by);
            let now = Time::from_secs(8);
            probing.process(&config(), now);
            assert_eq!(rates(&mut probing, now), expected, "{by:?}");
        }
    }

    #[test]
    fn after_a_large_fall_a_limited_stream_tries_what_it_had() {
        let mut probing = started(20);
        rates(&mut probing, Time::ZERO);
        probing.process(&config(), Time::from_secs(2));
        let now = Time::from_secs(6);
        probing.set_rate(&config(), now, mbps(10), LimitedBy::Delay);
        probing.recovered(&config(), now);
        assert_eq!(rates(&mut probing, now), [], "not limited");
        probing.limited_ended(now);
        probing.recovered(&config(), now);
        assert_eq!(rates(&mut probing, now), [17.0]);
        probing.recovered(&config(), now + TimeDelta::from_millis(2_000));
        assert_eq!(rates(&mut probing, now), [], "5 s apart");
    }
}
