//! Chooses between H.264's two ways to turn a frame into bits.
//!
//! CABAC makes better pictures of the same bits, which shows where bits are scarce. CAVLC takes both ends less time for each
//! bit, which counts where there are many, and where a processor cannot keep up. A change takes another encoder and a keyframe:
//! it waits for a keyframe that comes anyway, or until it has been better for a while. `docs/how-it-works/encoder.md` has
//! what both cost.

use mimosa_facts::EntropyCoding;
use mimosa_units::{Bytes, Time, TimeDelta};
use mimosa_video::Size;

/// Bits for each pixel of the frames from which on CAVLC is better, and below which CABAC is. Our choice: 14 and 7 Mbit/s at
/// 1280x720 and 60 frames a second. At 12 Mbit/s the demo's pictures have a VMAF of 97.5 with CABAC and 96.6 with CAVLC.
const ABOUND: f64 = 0.25;
const SCARCE: f64 = 0.125;
/// Weight of the newest frame in the mean of their bits: our choice, a quarter of a second at 60 frames a second.
const NEWEST: f64 = 1.0 / 16.0;
/// Time for which CAVLC, and CABAC, have to be better without a break before a keyframe is made for them. Our choice: on a
/// path that swings, those are two keyframes in eleven seconds at most.
const TO_VARIABLE_LENGTH: TimeDelta = TimeDelta::from_millis(1_000);
const TO_ARITHMETIC: TimeDelta = TimeDelta::from_millis(10_000);

/// The choice of a session.
#[derive(Debug)]
pub(super) struct Entropy {
    chosen: EntropyCoding,
    /// Whether the choice is the session's.
    adapts: bool,
    /// Mean number of bits of a frame for each of its pixels; the newest frames count most.
    bits: f64,
    /// Since when the other one has been better without a break.
    better_since: Option<Time>,
}

impl Entropy {
    /// `fixed` for ever, or what suits the bits.
    pub(super) fn new(fixed: Option<EntropyCoding>) -> Self {
        Self {
            chosen: fixed.unwrap_or_default(),
            adapts: fixed.is_none(),
            bits: 0.0,
            better_since: None,
        }
    }

    /// A picture of `size` has become a frame of so many `bytes`.
    pub(super) fn coded(&mut self, size: Size, bytes: Bytes) {
        let pixels = f64::from(size.width()) * f64::from(size.height());
        self.bits += NEWEST * (bytes.bits() as f64 / pixels - self.bits);
    }

    /// The way for the next frame. `is_strained` if a processor cannot keep up, and `is_keyframe` if the next frame will be
    /// a keyframe in any case.
    pub(super) fn choose(
        &mut self,
        now: Time,
        is_strained: bool,
        is_keyframe: bool,
    ) -> EntropyCoding {
        if !self.adapts {
            return self.chosen;
        }
        let bits = self.bits;
        let (other, is_better, patience) = match self.chosen {
            EntropyCoding::Arithmetic => {
                let is_better = is_strained || bits >= ABOUND;
                (EntropyCoding::VariableLength, is_better, TO_VARIABLE_LENGTH)
            }
            EntropyCoding::VariableLength => {
                let is_better = !is_strained && bits < SCARCE;
                (EntropyCoding::Arithmetic, is_better, TO_ARITHMETIC)
            }
        };
        if !is_better {
            self.better_since = None;
            return self.chosen;
        }
        let since = *self.better_since.get_or_insert(now);
        if is_keyframe || now.since(since) >= patience {
            self.chosen = other;
            self.better_since = None;
        }
        self.chosen
    }
}

#[cfg(test)]
mod tests {
    use super::EntropyCoding::{Arithmetic, VariableLength};
    use super::*;

    const MS: TimeDelta = TimeDelta::from_millis(1);

    /// Frames of 1280x720, 60 a second, for so many milliseconds at a bitrate in Mbit/s. Gives after how many milliseconds
    /// the choice changed, if it did.
    fn changed_after(
        entropy: &mut Entropy,
        now: &mut Time,
        (millis, mbps): (u32, f64),
        is_strained: bool,
    ) -> Option<i64> {
        let (begun, before) = (*now, entropy.chosen);
        let size = Size::new(1280, 720).unwrap();
        let bytes = Bytes::from_f64(mbps * 1e6 / 8.0 / 60.0);
        while now.since(begun) < MS * millis {
            *now += TimeDelta::from_micros(16_667);
            entropy.coded(size, bytes);
            if entropy.choose(*now, is_strained, false) != before {
                return Some(now.since(begun).as_nanos() / 1_000_000);
            }
        }
        None
    }

    #[test]
    fn many_bits_for_a_second_are_not_worth_their_time() {
        let (mut entropy, mut now) = (Entropy::new(None), Time::ZERO);
        let mut after =
            |span, is_strained| changed_after(&mut entropy, &mut now, span, is_strained);
        assert_eq!(after((5_000, 12.0), false), None);
        assert_eq!(after((700, 20.0), false), None);
        assert_eq!(after((500, 10.0), false), None, "a break");
        let late = after((5_000, 20.0), false).unwrap();
        // The mean takes a while to rise.
        assert!((1_016..1_500).contains(&late), "{late}");
        // In between, what was chosen stays.
        assert_eq!(after((60_000, 9.0), false), None);
        assert_eq!(after((9_500, 5.0), false), None);
        assert_eq!(after((500, 9.0), false), None, "a break");
        let late = after((20_000, 5.0), false).unwrap();
        assert!((10_016..10_500).contains(&late), "{late}");
    }

    #[test]
    fn a_processor_that_cannot_keep_up_is_spared_the_work() {
        let (mut entropy, mut now) = (Entropy::new(None), Time::ZERO);
        let mut after =
            |span, is_strained| changed_after(&mut entropy, &mut now, span, is_strained);
        assert_eq!(after((2_000, 5.0), true), Some(1_016));
        assert_eq!(after((60_000, 5.0), true), None, "it has no time yet");
        assert_eq!(after((60_000, 5.0), false), Some(10_016));
    }

    #[test]
    fn a_keyframe_that_comes_anyway_is_used() {
        let mut entropy = Entropy::new(None);
        let size = Size::new(1280, 720).unwrap();
        let mut after = |bytes, is_keyframe| {
            for _ in 0..100 {
                entropy.coded(size, Bytes::new(bytes));
            }
            entropy.choose(Time::ZERO, false, is_keyframe)
        };
        assert_eq!(after(40_000, false), Arithmetic);
        assert_eq!(after(40_000, true), VariableLength);
        assert_eq!(after(10_000, false), VariableLength);
        assert_eq!(after(10_000, true), Arithmetic);
    }

    #[test]
    fn what_is_fixed_stays() {
        for fixed in [Arithmetic, VariableLength] {
            let (mut entropy, mut now) = (Entropy::new(Some(fixed)), Time::ZERO);
            for mbps in [1.0, 50.0] {
                let span = (20_000, mbps);
                assert_eq!(changed_after(&mut entropy, &mut now, span, true), None);
            }
        }
    }
}
