//! The most that the viewer wants the stream to take, for the sake of who pays for the data.
//!
//! # Source
//!
//! None: the rule is our choice. The sender is capped at what the sound leaves of the limit: each frame has
//! at most its share of that, with what earlier frames left of theirs (`mimosa_stream`), and with its repair
//! packets. Packets that are sent again come on top, since the network takes them away.

use mimosa_facts::{Relief, Strain};
use mimosa_protocol::control::Limit;
use mimosa_units::{Bytes, Rate, Time};

use super::Session;

/// What is left of a limit for the picture at the least, whatever is asked for. Our choice: the least
/// target of a host by default, and less shows nothing that could be played.
const LEAST: Rate = Rate::from_kbps(300);

impl Session {
    /// Takes the viewer's limit, which holds from the next frame on.
    pub(super) fn limited(&mut self, limit: Limit) {
        let limit = limit.bitrate.map(|rate| rate.0);
        if limit != self.statistics.limit {
            if let Some(rate) = limit {
                tracing::info!(%rate, "the viewer limits the stream");
            } else {
                tracing::info!("the viewer limits the stream no more");
            }
        }
        self.statistics.limit = limit;
    }

    /// The most that the picture may take, with its repair packets; `None` without a limit.
    pub(super) fn picture_limit(&mut self, now: Time) -> Option<Rate> {
        let limit = self.statistics.limit?;
        let sound = self.statistics.sound_rate(now, self.begun);
        let left = limit.as_bps().saturating_sub(sound.as_bps());
        Some(Rate::from_bps(left).max(LEAST))
    }
}

/// What a frame is spared that has at most `most` bytes as the viewer asked; a processor that cannot keep
/// up spares it more.
pub(super) fn with_limit(relief: Relief, most: Bytes) -> Relief {
    if relief.most.is_some_and(|bound| bound <= most) {
        return relief;
    }
    Relief {
        strain: relief.strain.or(Some(Strain::ViewerLimit)),
        most: Some(most),
        ..relief
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_bound_is_recorded_with_its_reason() {
        let most = Bytes::new;
        let limited = with_limit(Relief::NONE, most(900));
        assert_eq!(limited.strain, Some(Strain::ViewerLimit));
        assert_eq!(limited.most, Some(most(900)));
        let taken = Relief {
            strain: Some(Strain::ProcessorTaken),
            most: Some(most(500)),
            ..Relief::NONE
        };
        assert_eq!(with_limit(taken, most(900)), taken);
        let both = with_limit(taken, most(300));
        assert_eq!(both.strain, Some(Strain::ProcessorTaken));
        assert_eq!(both.most, Some(most(300)));
    }
}
