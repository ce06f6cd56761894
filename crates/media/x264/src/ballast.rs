//! libx264's buffer, kept full for every frame but for what the frame may have.
//!
//! With a buffer of one frame, libx264 aims each frame at what the buffer holds and keeps it below
//! that. It fills the buffer again when the frame ends, at that frame's rate, so after a small frame
//! the next one would be small as well. Here, the buffer holds more than a frame is to have, and
//! changes seldom. Before each frame, a unit of supplemental information as large as the rest takes
//! what the frame is not to have: libx264 subtracts what precedes the slices from the buffer. The
//! unit is no part of the stream. So the buffer is full before each frame, and a frame of any size
//! follows one of any other.
//!
//! # Source
//!
//! `ratecontrol.c` of libx264: `x264_ratecontrol_start`, `update_vbv_plan` and `update_vbv`. There is
//! no paper. The constants are measured on clips of a game and of the demo's scene at 4 to 40 kB a
//! frame, with steady, walking, stepping and random budgets.

use mimosa_units::Bytes;

/// The size of the buffer, as a multiple of what a frame asks for. With 1.05 to 1.5, frames use 0.80 to
/// 0.85 of what they ask for, most evenly with 1.5; and a frame may ask for 1.4 times what the frame
/// before asked for, and find the buffer full enough.
const HEADROOM: f64 = 1.5;
/// The buffer grows when frames ask for more than this part above the size for which it was made.
const GROWS: f64 = 1.05;
/// The buffer shrinks when frames ask for less than this part of that size, [`FRAMES`] times in a row.
const SHRINKS: f64 = 0.7;
/// The number of small frames in a row after which the buffer shrinks: a second of the usual rate. Until
/// then, a frame may at once be as large as those before, as after a fall of the rate that does not
/// last. Waiting costs little: budgets that differ at random by a factor of up to ten are filled as well,
/// and a unit of 170 kB takes a tenth of the time of a frame at 1280x720.
const FRAMES: u32 = 60;
/// The buffer shrinks at once when a frame asks for less than this part of that size. Chosen.
const SHRINKS_AT_ONCE: f64 = 0.125;
/// The part of the buffer that libx264 leaves: it aims at what the buffer holds less 0.05 of what it is
/// filled with in a frame's time, which is the whole buffer.
const LEFT: f64 = 0.05;
/// Bytes of the unit apart from its payload: start code, header, type, trailing bits, and some of its
/// size, which takes a byte for each 255 of the payload. The rest of that, 0.4 % of the unit, a frame has
/// less than it asks for.
const AROUND: f64 = 12.0;

/// The largest payload of the unit, in bytes. libx264 writes the unit into room of at least a megabyte
/// (`x264_encoder_open`, `i_bitstream`) and does not look whether it fits.
const LARGEST: f64 = 800_000.0;

/// What libx264's buffer holds.
#[derive(Clone, Debug)]
pub(crate) struct Ballast {
    /// The size of the buffer in bytes; zero before the first frame.
    size: f64,
    /// What the buffer holds, in bytes.
    holds: f64,
    /// Number of frames in a row that asked for too little for a buffer of this size.
    small: u32,
}

/// What a frame is encoded with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Loaded {
    /// The size of the buffer, and what it is filled with in a frame's time.
    pub(crate) buffer: Bytes,
    /// The payload of the unit that takes the rest of the buffer.
    pub(crate) ballast: Bytes,
}

impl Ballast {
    /// A buffer that is full when it is first used.
    pub(crate) const fn new() -> Self {
        Self {
            size: 0.0,
            holds: f64::MAX,
            small: 0,
        }
    }

    /// The buffer and the unit for a frame of `ask`.
    pub(crate) fn load(&mut self, ask: Bytes) -> Loaded {
        let ask = ask.get() as f64;
        let wanted = HEADROOM * ask;
        self.small = if wanted < SHRINKS * self.size {
            self.small + 1
        } else {
            0
        };
        let grows = wanted > GROWS * self.size;
        if grows || self.small >= FRAMES || wanted < SHRINKS_AT_ONCE * self.size {
            self.size = wanted;
            self.small = 0;
        }
        let most = (ask + LARGEST + AROUND) / (1.0 - LEFT);
        if self.size > most {
            self.size = most;
            self.small = 0;
        }
        self.holds = self.holds.min(self.size);
        let rest = self.holds - ask - LEFT * self.size - AROUND;
        Loaded {
            buffer: Bytes::from_f64(self.size),
            ballast: Bytes::from_f64(rest.max(0.0)),
        }
    }

    /// A frame came out at `size`, the unit included, from a buffer that libx264 made `buffer` large.
    pub(crate) fn took(&mut self, buffer: Bytes, size: Bytes) {
        let buffer = buffer.get() as f64;
        self.holds = ((self.holds - size.get() as f64).max(0.0) + buffer).min(buffer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASK: Bytes = Bytes::new(20_000);

    /// Loads and takes a frame that uses all that it asks for. Gives what libx264 aims at, in bytes,
    /// and the size of the buffer.
    fn frame(ballast: &mut Ballast, ask: Bytes) -> (f64, u64) {
        let loaded = ballast.load(ask);
        let buffer = loaded.buffer.get() as f64;
        let aim = ballast.holds - loaded.ballast.get() as f64 - AROUND - LEFT * buffer;
        ballast.took(loaded.buffer, ask + loaded.ballast + Bytes::new(12));
        (aim, loaded.buffer.get())
    }

    #[test]
    fn a_frame_after_small_ones_may_be_as_large_as_before() {
        let mut ballast = Ballast::new();
        let steady = [20_000; 10];
        for ask in steady.into_iter().chain([8_000, 26_000, 5_000, 20_000]) {
            let (aim, buffer) = frame(&mut ballast, Bytes::new(ask));
            assert!((aim - ask as f64).abs() < 3.0, "{aim} for {ask}");
            assert!(buffer >= 30_000, "{buffer} for {ask}");
        }
    }

    #[test]
    fn the_buffer_follows_what_stays() {
        let mut ballast = Ballast::new();
        frame(&mut ballast, ASK);
        let sizes: Vec<u64> = (0..61)
            .map(|_| frame(&mut ballast, ASK.scale(0.5)).1)
            .collect();
        assert_eq!(sizes[..59], [30_000; 59]);
        assert_eq!(sizes[59..], [15_000; 2]);
        assert_eq!(frame(&mut ballast, Bytes::new(500)).1, 750);
        assert_eq!(frame(&mut ballast, ASK).1, 30_000);
    }

    #[test]
    fn the_unit_is_never_larger_than_libx264_has_room_for() {
        let mut ballast = Ballast::new();
        for ask in [4_000_000, 4_000_000, 1_000_000, 300_000, 290_000, 40_000] {
            let ask = Bytes::new(ask);
            let loaded = ballast.load(ask);
            assert!(loaded.ballast <= Bytes::new(800_000), "{loaded:?}");
            let (buffer, unit) = (loaded.buffer.get() as f64, loaded.ballast.get() as f64);
            let aim = ballast.holds - unit - AROUND - LEFT * buffer;
            assert!((aim - ask.get() as f64).abs() < 3.0, "{aim} for {ask:?}");
            ballast.took(loaded.buffer, ask + loaded.ballast + Bytes::new(12));
        }
    }

    #[test]
    fn a_frame_above_all_that_the_buffer_held_empties_it() {
        let mut ballast = Ballast::new();
        let loaded = ballast.load(ASK);
        ballast.took(loaded.buffer, Bytes::new(1_000_000));
        assert_eq!(ballast.load(ASK), loaded);
    }
}
