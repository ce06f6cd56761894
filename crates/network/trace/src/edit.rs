//! Cuts and scales traces.

use mimosa_units::{Rate, TimeDelta};

use crate::rows::HIGHEST_MBPS;
use crate::{Segment, Trace, push};

/// Why a trace cannot be changed as asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The part is not within the trace, or does not begin before it ends.
    #[error(
        "{from} to {to} is no part of the trace, which lasts {length}; let it begin before it ends, and end by {length}"
    )]
    NoPart {
        /// Beginning of the part.
        from: TimeDelta,
        /// End of the part.
        to: TimeDelta,
        /// Length of the trace.
        length: TimeDelta,
    },
    /// Nothing would ever pass in the result.
    #[error("nothing would ever pass in it; choose another part, or a higher rate")]
    NeverPasses,
    /// The factor is not a number above zero.
    #[error("{factor} is no factor; write a number above zero, e.g. 0.5")]
    NoFactor {
        /// The factor that was given.
        factor: f64,
    },
    /// The result would have a rate that is too high for a trace.
    #[error("its highest rate would be {rate}, and 10 Tbit/s is the most; scale it less")]
    TooFast {
        /// The highest rate of the result.
        rate: Rate,
    },
}

impl Trace {
    /// The part from `from` up to `to`, as a new trace.
    ///
    /// # Errors
    ///
    /// [`EditError::NoPart`] unless `from` is before `to` and `to` within the trace;
    /// [`EditError::NeverPasses`] if the part is an outage throughout.
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

    /// The trace with every rate multiplied by `factor`.
    ///
    /// # Errors
    ///
    /// [`EditError::NoFactor`] if `factor` is not a number above zero; [`EditError::NeverPasses`]
    /// or [`EditError::TooFast`] if the result would not be a valid trace.
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

    /// The trace, scaled so that its mean rate is `mean`.
    ///
    /// # Errors
    ///
    /// The errors of [`Trace::scale`].
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
