//! A browser that loads web pages, one after another.
//!
//! A page begins some time after the one before it has come. Its objects are shared evenly by a number of
//! new connections, each of which begins in slow start: what TCP carries of the web is many short flows.
//! Sizes have a log-normal distribution, as those of pages on the web have: half of them are between half
//! and twice the median.
//!
//! *Deviations*: names are not looked up, connections need no handshakes, and objects do not wait for one
//! another, so that a page loads some round trips sooner than a browser shows it.

use std::collections::VecDeque;

use mimosa_facts::PageLoad;
use mimosa_net::Random;
use mimosa_scenario::PagesConfig;
use mimosa_units::{Bytes, Time};

/// Coefficient of variation of the sizes, and their mean as a multiple of the median: those of a
/// log-normal distribution whose logarithm has a standard deviation of 1. Its ninetieth percentile is 3.6
/// times the median: our choice, near the Web Almanac's median of 1.9 MB and ninetieth percentile above 6 MB
/// (HTTP Archive, 2019, chapter 18).
const VARIATION: f64 = 1.310_8;
const MEAN: f64 = 1.648_7;

/// The pages of one flow.
#[derive(Debug)]
pub(crate) struct Pages {
    config: PagesConfig,
    random: Random,
    /// When the next page begins, or the one that is loading began.
    begins: Time,
    /// Size of the page that is loading; `None` between two pages.
    loading: Option<Bytes>,
    /// Pages that have come and have not been told.
    loaded: VecDeque<PageLoad>,
}

impl Pages {
    /// Pages of which the first begins at `start`.
    pub(crate) fn new(config: PagesConfig, start: Time, seed: u64, flow: &str) -> Self {
        Self {
            config,
            random: Random::new(seed, &format!("{flow} pages")),
            begins: start,
            loading: None,
            loaded: VecDeque::new(),
        }
    }

    /// When the next page begins; `None` while one is loading.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.loading.is_none().then_some(self.begins)
    }

    /// Begins a page if one is due at `now`. Returns what each of its connections carries.
    pub(crate) fn begin(&mut self, now: Time) -> Option<(u32, Bytes)> {
        self.deadline().filter(|due| *due <= now)?;
        let relative = MEAN * self.random.log_normal(VARIATION);
        let size = self.config.size.scale(relative);
        let connections = self.config.connections;
        let part = Bytes::new(size.get().div_ceil(u64::from(connections)).max(1));
        self.loading = Some(Bytes::new(part.get() * u64::from(connections)));
        self.begins = now;
        Some((connections, part))
    }

    /// Notes that the page that is loading has come.
    pub(crate) fn came(&mut self, now: Time) {
        if let Some(size) = self.loading.take() {
            self.loaded.push_back(PageLoad {
                began: self.begins,
                loaded: now,
                size,
            });
            self.begins = now + self.random.exponential(self.config.every);
        }
    }

    /// Whether a page is loading.
    pub(crate) const fn is_loading(&self) -> bool {
        self.loading.is_some()
    }

    /// Takes the oldest page that has come and has not been told.
    pub(crate) fn next_loaded(&mut self) -> Option<PageLoad> {
        self.loaded.pop_front()
    }
}
