//! The work of a frame, counted in pixels.

use mimosa_facts::Complexity;
use mimosa_units::Bytes;

/// The number of pixels that take as long as a byte. Measured with libx264 at c0 and 1280x720, see
/// `docs/how-it-works/load.md`.
pub(super) const PIXELS_PER_BYTE: f64 = 25.0;

/// The work of a frame with so many pixels and `bytes`.
pub(super) fn work(pixels: f64, bytes: Bytes) -> f64 {
    pixels + PIXELS_PER_BYTE * bytes.get() as f64
}

/// The time that a level of complexity takes, as a multiple of c0's: of libx264 at 1280x720
/// (`cargo bench -p mimosa-x264`).
pub(super) const fn effort(complexity: Complexity) -> f64 {
    match complexity {
        Complexity::C0 => 1.0,
        Complexity::C0Plus => 1.3,
        Complexity::C1 => 2.2,
        Complexity::C2 => 2.5,
    }
}
