//! The work of a frame, counted in pixels.

use mimosa_facts::Complexity;
use mimosa_units::Bytes;

/// The number of pixels that take as long as a byte: of libx264 at c0 and 1280x720 between 2 and 40
/// Mbit/s (`docs/how-it-works/load.md`).
pub(super) const PIXELS_PER_BYTE: f64 = 17.0;

/// The work of a frame with so many pixels and `bytes`.
pub(super) fn work(pixels: f64, bytes: Bytes) -> f64 {
    pixels + PIXELS_PER_BYTE * bytes.get() as f64
}

/// The time that a level of complexity takes, as a multiple of c0's: what ACE-C finds for
/// libx264 at 1280x720 (`mimosa encode`).
pub(super) const fn effort(complexity: Complexity) -> f64 {
    match complexity {
        Complexity::C0 => 1.0,
        Complexity::C0Plus => 1.4,
        Complexity::C1 => 2.15,
        Complexity::C2 => 2.4,
    }
}
