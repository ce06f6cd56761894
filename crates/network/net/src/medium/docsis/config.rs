//! The parameters of a cable.

use mimosa_units::{Rate, TimeDelta};

use crate::medium::periods::Means;

/// Other modems on the channel back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OtherModems {
    /// Share of each MAP interval that is granted to them while they want something.
    pub share: f64,
    /// Mean lengths of the periods in which they want something, and of their pauses, distributed
    /// exponentially; `None` for always.
    pub periods: Option<Means>,
}

/// The parameters of a cable.
#[derive(Clone, Debug, PartialEq)]
pub struct DocsisConfig {
    /// The rate there. Default: 250 Mbit/s, our choice of a common contract.
    pub rate: Rate,
    /// The rate back. Default: 25 Mbit/s, our choice: a tenth of the rate there.
    pub rate_back: Rate,
    /// Time in each direction from a packet's last bit until it is handed up: the interleaver,
    /// OFDM symbols and propagation. Default: 0.5 ms, our choice. The defaults of docsis-ns3 have
    /// between 0.1 and 0.2 ms in either direction, without any switching.
    pub latency: TimeDelta,
    /// Length of the interval that each MAP message describes. Default: 2 ms, as in docsis-ns3.
    pub interval: TimeDelta,
    /// Which interval after that of a request has its grant. Default: the second. With the
    /// defaults of docsis-ns3 a request has to be sent about 1.6 ms before an interval begins, so
    /// that most requests are too late for the next one.
    pub answer: u32,
    /// Share of requests in the contention region that collide with another modem's. Default:
    /// none, as in docsis-ns3.
    pub collisions: f64,
    /// Other modems. Default: none.
    pub others: OtherModems,
    /// The rate that is granted unasked, once in each interval (proactive grant service);
    /// `None` for none, which is the default.
    pub proactive: Option<Rate>,
}

impl Default for DocsisConfig {
    fn default() -> Self {
        Self {
            rate: Rate::from_kbps(250_000),
            rate_back: Rate::from_kbps(25_000),
            latency: TimeDelta::from_micros(500),
            interval: TimeDelta::from_millis(2),
            answer: 2,
            collisions: 0.0,
            others: OtherModems {
                share: 0.0,
                periods: None,
            },
            proactive: None,
        }
    }
}
