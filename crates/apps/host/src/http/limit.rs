//! Limits how often one address may send requests.

use std::collections::BTreeMap;
use std::net::IpAddr;

use mimosa_units::{Time, TimeDelta};

/// Most addresses that are remembered. Beyond that, addresses with a full bucket are forgotten, and
/// without such addresses, new ones have to wait.
const MOST: usize = 4_096;

/// A token bucket for each address.
#[derive(Debug)]
pub(super) struct RateLimit {
    /// Number of requests that may come at once after a pause.
    burst: u32,
    /// Time after which one more request may come.
    interval: TimeDelta,
    /// When the bucket of each address will be full again.
    full: BTreeMap<IpAddr, Time>,
}

impl RateLimit {
    /// Allows `burst` requests at once, and one in each `interval` in the long run.
    pub(super) const fn new(burst: u32, interval: TimeDelta) -> Self {
        Self {
            burst,
            interval,
            full: BTreeMap::new(),
        }
    }

    /// Whether one more request at `now` is allowed. The request is not counted.
    ///
    /// # Errors
    ///
    /// How long to wait before the next request.
    pub(super) fn check(&self, now: Time, address: IpAddr) -> Result<(), TimeDelta> {
        let full = self.full.get(&network(address));
        let after = full.map_or(now, |full| (*full).max(now)) + self.interval;
        let too_much = after.since(now) - self.interval * self.burst;
        if too_much > TimeDelta::ZERO {
            return Err(too_much);
        }
        Ok(())
    }

    /// Counts a request at `now`.
    ///
    /// # Errors
    ///
    /// How long to wait, if the request is one too many.
    pub(super) fn request(&mut self, now: Time, address: IpAddr) -> Result<(), TimeDelta> {
        let address = network(address);
        if self.full.len() >= MOST && !self.full.contains_key(&address) {
            self.full.retain(|_, full| *full > now);
            if self.full.len() >= MOST {
                return Err(self.interval);
            }
        }
        self.check(now, address)?;
        let full = self.full.entry(address).or_insert(now);
        *full = (*full).max(now) + self.interval;
        Ok(())
    }
}

/// The address, or for IPv6 its /64 prefix, all of which one machine may have.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => IpAddr::V4(v4),
            None => IpAddr::V6((v6.to_bits() & (u128::MAX << 64)).into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: TimeDelta = TimeDelta::from_millis(1_000);

    #[test]
    fn a_burst_passes_and_then_one_in_each_interval() {
        let mut limit = RateLimit::new(3, SECOND);
        let address = IpAddr::from([192, 0, 2, 1]);
        let start = Time::from_secs(10);
        for _ in 0..3 {
            assert_eq!(limit.request(start, address), Ok(()));
        }
        assert_eq!(limit.request(start, address), Err(SECOND));
        let other = IpAddr::from([192, 0, 2, 2]);
        assert_eq!(limit.request(start, other), Ok(()));
        assert_eq!(limit.request(start + SECOND, address), Ok(()));
        assert!(limit.request(start + SECOND, address).is_err());
    }

    #[test]
    fn one_network_of_ipv6_is_one_asker() {
        let mut limit = RateLimit::new(1, SECOND);
        let first = "2001:db8::1".parse().unwrap();
        let second = "2001:db8::2:3".parse().unwrap();
        let elsewhere = "2001:db8:0:1::1".parse().unwrap();
        assert!(limit.request(Time::ZERO, first).is_ok());
        assert!(limit.request(Time::ZERO, second).is_err());
        assert!(limit.request(Time::ZERO, elsewhere).is_ok());
    }

    #[test]
    fn memory_is_bounded() {
        let mut limit = RateLimit::new(1, SECOND);
        for address in 0..10_000_u32 {
            let _ = limit.request(Time::ZERO, IpAddr::V4(address.into()));
        }
        assert!(limit.full.len() <= MOST);
        let late = Time::from_secs(5);
        assert!(limit.request(late, IpAddr::from([192, 0, 2, 1])).is_ok());
        assert_eq!(limit.full.len(), 1, "those at rest are forgotten");
    }
}
