//! A model of a frame's waiting: for the encoder, for its encoding, and for a token bucket.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// When the encoder and the bucket are free again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pipeline {
    rate: Rate,
    encoder_free: Time,
    bucket_empty: Time,
}

/// The parts of a frame's latency.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Waits {
    /// Time that the frame waits for the encoder.
    pub(crate) queue: TimeDelta,
    /// Time from the end of the encoding until the last packet has left.
    pub(crate) pace: TimeDelta,
    /// Time from the capture until the last packet has left.
    pub(crate) total: TimeDelta,
}

impl Pipeline {
    pub(crate) const fn new(rate: Rate) -> Self {
        Self {
            rate,
            encoder_free: Time::ZERO,
            bucket_empty: Time::ZERO,
        }
    }

    /// The waits of a frame that was captured at `captured`, takes `encoding` to encode and has
    /// `size`.
    pub(crate) fn frame(&mut self, captured: Time, encoding: TimeDelta, size: Bytes) -> Waits {
        let begun = captured.max(self.encoder_free);
        self.encoder_free = begun + encoding;
        let begins = self.encoder_free.max(self.bucket_empty);
        self.bucket_empty = begins + self.rate.transmit_time(size);
        Waits {
            queue: begun - captured,
            pace: self.bucket_empty - self.encoder_free,
            total: self.bucket_empty - captured,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_waits_for_encoder_and_bucket() {
        // 1000 bytes take 8 ms at 1 Mbit/s.
        let mut pipeline = Pipeline::new(Rate::from_kbps(1_000));
        let ms = TimeDelta::from_millis;
        let mut at = |captured, encoding, size| {
            let waits = pipeline.frame(Time::from_millis(captured), ms(encoding), Bytes::new(size));
            (waits.queue, waits.pace, waits.total)
        };
        assert_eq!(at(0, 5, 1_000), (ms(0), ms(8), ms(13)));
        // The encoder is free at 5 ms, the bucket at 13 ms.
        assert_eq!(at(4, 2, 1_000), (ms(1), ms(14), ms(17)));
        assert_eq!(at(100, 2, 500), (ms(0), ms(4), ms(6)));
    }
}
