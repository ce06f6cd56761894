//! A model of packet losses.

/// Gilbert's model of packet losses, which has two states and two probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loss {
    /// Probability that a packet is lost after one that arrived, from 0 to 1.
    pub begins: f64,
    /// Probability that a packet arrives after one that was lost, from 0 to 1.
    pub ends: f64,
}

impl Loss {
    /// A model in which nothing is lost.
    pub const NONE: Self = Self {
        begins: 0.0,
        ends: 1.0,
    };

    /// A model in which each packet is lost with this probability, independently of the others.
    #[must_use]
    pub fn independent(rate: f64) -> Self {
        Self {
            begins: rate,
            ends: 1.0 - rate,
        }
    }

    /// Share of packets that are lost, from 0 to 1.
    #[must_use]
    pub fn rate(&self) -> f64 {
        if self.begins > 0.0 {
            self.begins / (self.begins + self.ends)
        } else {
            0.0
        }
    }

    /// Mean number of packets that are lost in a row.
    #[must_use]
    pub fn burst(&self) -> f64 {
        1.0 / self.ends
    }
}
