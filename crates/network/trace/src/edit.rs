//! Parts of a trace, and the same trace faster or slower.

use mimosa_units::{Rate, TimeDelta};

use crate::rows::HIGHEST_MBPS;
use crate::{Segment, Trace, push};

/// Why a trace cannot be changed so.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The part is no part of the trace.
    #[error(
        "{from} to {to} is no part of the trace, which lasts {length}; let it begin before it ends, and end by {length}"
    )]
    NoPart {
        /// Its beginning.
        from: TimeDelta,
        /// Its end.
        to: TimeDelta,
        /// How long the trace is.
        length: TimeDelta,
    },
    /// Nothing would pass any more.
    #[error("nothing would ever pass in it; choose another part, or a higher rate")]
    NeverPasses,
    /// The factor is no number above zero.
    #[error("{factor} is no factor; write a number above zero, e.g. 0.5")]
    NoFactor {
        /// The factor as it stood.
        factor: f64,
    },
    /// A rate would be too high for a trace.
    #[error("its highest rate would be {rate}, and 10 Tbit/s is the most; scale it less")]
    TooFast {
        /// The highest rate.
        rate: Rate,
    },
}

impl Trace {
    /// The part from `from` to before `to`, as a trace of its own.
    ///
    /// # Errors
    ///
    /// [`EditError::NoPart`] unless `from` is before `to` and `to` within the
    /// trace; [`EditError::NeverPasses`] for an outage alone.
    pub fn cut(&self, from: TimeDelta, to: TimeDelta) -> Result<Self, EditError> {
        if from < TimeDelta::ZERO || from >= to || to > self.length {
            return Err(EditError::NoPart {
                from,
                to,
                length: self.length,
            });
        }
        let mut segments = Vec::new();
        for (segment, lasts) in self.spans() {
            if segment.at < to && segment.at + lasts > from {
                push(
                    &mut segments,
                    Segment {
                        at: segment.at.max(from) - from,
                        ..*segment
                    },
                );
            }
        }
        Self {
            segments,
            length: to - from,
            notes: Vec::new(),
        }
        .checked()
    }

    /// The same with every rate times `factor`.
    ///
    /// # Errors
    ///
    /// [`EditError::NoFactor`] for what is no number above zero;
    /// [`EditError::NeverPasses`] and [`EditError::TooFast`] for what would be
    /// no trace.
    pub fn scale(&self, factor: f64) -> Result<Self, EditError> {
        if !factor.is_finite() || factor <= 0.0 {
            return Err(EditError::NoFactor { factor });
        }
        let mut segments = Vec::new();
        for segment in &self.segments {
            push(
                &mut segments,
                Segment {
                    rate: segment.rate.scale(factor),
                    ..*segment
                },
            );
        }
        Self {
            segments,
            length: self.length,
            notes: Vec::new(),
        }
        .checked()
    }

    /// The same, scaled so that its mean rate is `mean`.
    ///
    /// # Errors
    ///
    /// As [`Trace::scale`].
    pub fn scale_to(&self, mean: Rate) -> Result<Self, EditError> {
        if mean == Rate::ZERO || self.mean() == Rate::ZERO {
            return Err(EditError::NeverPasses);
        }
        self.scale(mean.ratio(self.mean()))
    }

    pub(crate) fn checked(self) -> Result<Self, EditError> {
        match self.segments.iter().map(|segment| segment.rate).max() {
            None | Some(Rate::ZERO) => Err(EditError::NeverPasses),
            Some(rate) if rate.as_mbps() > HIGHEST_MBPS => Err(EditError::TooFast { rate }),
            Some(_) => Ok(self),
        }
    }
}
