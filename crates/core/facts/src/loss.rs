//! How packets are thought to be lost.

/// How packets are lost: Gilbert's model with two states, by its two probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Probability that a packet is lost after one that arrived.
    pub begins: f64,
    /// Probability that a packet arrives after one that was lost.
    pub ends: f64,
}

impl Loss {
    /// Nothing is lost.
    pub const NONE: Self = Self {
        begins: 0.0,
        ends: 1.0,
    };

    /// Each packet is lost with this probability, whatever became of the others.
    #[must_use]
    pub fn independent(rate: f64) -> Self {
        Self {
            begins: rate,
            ends: 1.0 - rate,
        }
    }

    /// Share of packets that are lost.
    #[must_use]
    pub fn rate(&self) -> f64 {
        if self.begins > 0.0 {
            self.begins / (self.begins + self.ends)
        } else {
            0.0
        }
    }

    /// Mean number of packets lost one after the other.
    #[must_use]
    pub fn burst(&self) -> f64 {
        1.0 / self.ends
    }
}
