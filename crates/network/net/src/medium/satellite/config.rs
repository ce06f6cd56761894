//! The parameters of a satellite link.

use mimosa_units::{Rate, TimeDelta};

/// The parameters of a satellite link.
#[derive(Clone, Debug, PartialEq)]
pub struct SatelliteConfig {
    /// Time for which the terminal keeps a satellite. Default: 15 s (Huston; Garcia et al.).
    pub period: TimeDelta,
    /// When the first change comes, from the beginning on; `None` for a time that is drawn from
    /// the first period, which is the default: a stream begins at any time.
    pub offset: Option<TimeDelta>,
    /// The least and the most one-way latency, between which one is drawn for each satellite.
    /// Default: 10 and 30 ms, our choice: Huston saw round trips from 30 ms on.
    pub latency: [TimeDelta; 2],
    /// Rates there, of which one is drawn for each satellite. Default: from 50 to 250 Mbit/s, our
    /// choice. Huston states 10 to 370 Mbit/s in all.
    pub rates: Vec<Rate>,
    /// Rates back, of which one is drawn for each satellite. Default: from 8 to 25 Mbit/s, our
    /// choice: about a tenth of the rates there.
    pub rates_back: Vec<Rate>,
    /// Mean length of the gap around a change, distributed exponentially up to a second; zero for
    /// none. Default: 100 ms, our choice between two measurements: spikes last for 215 ms in all
    /// (arXiv 2601.08439) and are up to 50 ms high (Huston), and a gap is as high as it is long.
    pub gap: TimeDelta,
    /// Share of the gap, at its beginning, in which what is sent is lost. Default: 0.25, our
    /// choice: half of the most that *A browser-side view of Starlink* saw.
    pub lost: f64,
    /// Length of a radio frame of the link back. Default: 4 ms, our choice of a few milliseconds.
    pub frame: TimeDelta,
}

impl Default for SatelliteConfig {
    fn default() -> Self {
        let ms = TimeDelta::from_millis;
        let rates = |mbps: &[u64]| {
            let rates = mbps.iter().map(|mbps| Rate::from_kbps(1_000 * mbps));
            rates.collect()
        };
        Self {
            period: ms(15_000),
            offset: None,
            latency: [ms(10), ms(30)],
            rates: rates(&[50, 100, 150, 200, 250]),
            rates_back: rates(&[8, 12, 16, 20, 25]),
            gap: ms(100),
            lost: 0.25,
            frame: ms(4),
        }
    }
}

impl SatelliteConfig {
    /// The rate that counts as the capacity in figures: the mean of the rates there.
    #[must_use]
    pub fn capacity(&self) -> Rate {
        let sum: u64 = self.rates.iter().map(|rate| rate.as_bps()).sum();
        Rate::from_bps(sum / self.rates.len().max(1) as u64)
    }
}
