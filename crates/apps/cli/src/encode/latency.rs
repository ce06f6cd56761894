//! What a frame waits for: the encoder, its encoding, and a leaky bucket.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// The encoder and the bucket, each with what it is at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pipeline {
    rate: Rate,
    encoder_free: Time,
    bucket_empty: Time,
}

/// Where a frame's time went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Waits {
    /// For the encoder.
    pub(crate) queue: TimeDelta,
    /// From its encoding until its last packet has left.
    pub(crate) pace: TimeDelta,
    /// From the capture until then.
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

    /// A frame captured then takes so long to encode and comes out at `size`.
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
        // The encoder is free at 5, the bucket at 13.
        assert_eq!(at(4, 2, 1_000), (ms(1), ms(14), ms(17)));
        assert_eq!(at(100, 2, 500), (ms(0), ms(4), ms(6)));
    }
}
