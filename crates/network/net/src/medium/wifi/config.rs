//! The parameters of a Wi-Fi network.

use std::net::IpAddr;

use mimosa_units::{Bytes, Rate, TimeDelta};

use super::neighbour::Neighbour;
use super::standard::{Standard, Timing};

/// How a station's packets come through, in both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Signal {
    /// The physical rates, of which one is drawn after each `hold`; empty for the standard's own.
    pub rates: Vec<Rate>,
    /// Mean time for which a drawn rate stays, distributed exponentially.
    pub hold: TimeDelta,
    /// Share of transmissions of which nothing is understood.
    pub failed: f64,
    /// Share of packets lost within a transmission that is understood.
    pub lost: f64,
}

impl Default for Signal {
    fn default() -> Self {
        Self {
            rates: Vec::new(),
            hold: TimeDelta::from_millis(100),
            failed: 0.0,
            lost: 0.0,
        }
    }
}

/// A station.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// Name of the station.
    pub name: String,
    /// Addresses of the packets that the station sends and receives.
    pub addresses: Vec<IpAddr>,
    /// How the station's packets come through.
    pub signal: Signal,
}

/// The parameters of a Wi-Fi network.
#[derive(Clone, Debug, PartialEq)]
pub struct WifiConfig {
    /// The generation of 802.11.
    pub standard: Standard,
    /// Stations that are told apart by their packets' addresses. Packets of another address
    /// belong to a station of their own, with `signal`.
    pub stations: Vec<Station>,
    /// How the packets of stations come through that `stations` does not name.
    pub signal: Signal,
    /// Stations that send for themselves.
    pub neighbours: Vec<Neighbour>,
    /// The longest transmission. Default: 5.484 ms (`aPPDUMaxTime`); access points with `OpenWrt`
    /// send at most 2 ms of best-effort traffic.
    pub longest: TimeDelta,
    /// Most packets that a radio holds. Default: 100, as in the records made with ns-3.
    pub buffer: usize,
    /// Probability that a node's transmission is understood although a neighbour sends as well.
    /// Default: 0.98, which the records made with ns-3 have for a station near its access point.
    pub capture: f64,
    /// Whether the access point sends beacons. Default: yes.
    pub beacons: bool,
    /// Whether the packets of a transmission arrive at its end, as hardware hands them up; else
    /// each when it is complete, as in ns-3. Default: at its end.
    pub at_once: bool,
    /// Whether a station whose back-off is over answers what it received without a new one, as
    /// stations do in ns-3, which take no time to answer. Default: no.
    pub answers_at_once: bool,
    /// The rate that counts as the network's capacity in figures; `None` for that of
    /// [`WifiConfig::alone`].
    pub carries: Option<Rate>,
}

impl WifiConfig {
    /// A network of this standard without neighbours.
    #[must_use]
    pub fn new(standard: Standard) -> Self {
        Self {
            standard,
            stations: Vec::new(),
            signal: Signal::default(),
            neighbours: Vec::new(),
            longest: TimeDelta::from_micros(5_484),
            buffer: 100,
            capture: 0.98,
            beacons: true,
            at_once: true,
            answers_at_once: false,
            carries: None,
        }
    }

    /// The rate that counts as the network's capacity in figures.
    #[must_use]
    pub fn capacity(&self) -> Rate {
        self.carries.unwrap_or_else(|| self.alone())
    }

    /// The rate that one sender gets at most that is alone and near: that of the largest
    /// transmissions of full packets, each with AIFS, the mean back-off and its block ack.
    #[must_use]
    pub fn alone(&self) -> Rate {
        let timing = self.standard.timing();
        let packet = Bytes::new(1_500);
        let on_air = Timing::on_air(packet);
        let mut packets = 1;
        let airtime =
            |packets: u64| timing.airtime(Bytes::new(on_air.get() * packets), timing.rate);
        while packets < timing.window as u64
            && on_air.get() * (packets + 1) <= timing.most_bytes.get()
            && airtime(packets + 1) <= self.longest
        {
            packets += 1;
        }
        // The mean of 0 to 15 slots.
        let back_off = timing.slot.scale(7.5);
        let whole = timing.aifs() + back_off + airtime(packets) + timing.acknowledgement();
        Rate::of(Bytes::new(packet.get() * packets), whole)
    }
}
