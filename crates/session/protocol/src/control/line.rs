//! The result of a test of the line.

use serde::{Deserialize, Serialize};

use super::{BitsPerSecond, Millis};

/// What a line is like from the host to the page.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct LineReport {
    /// The rate that the stream can have.
    pub rate: BitsPerSecond,
    /// Whether the test could not fill the line, so that its rate is at least `rate`.
    pub rate_is_least: bool,
    /// The shortest round trip.
    pub round_trip: Millis,
    /// Delay above the least that 95 % of packets do not exceed while the line is at rest.
    pub jitter: Millis,
    /// The line's queue; `None` if the test could not fill the line.
    pub buffer: Option<LineBuffer>,
    /// Grade of the delay that a full line adds, from A to F; `None` likewise.
    pub grade: Option<char>,
    /// Share of packets lost while the line was not full, from 0 to 1.
    pub loss_at_rest: f64,
    /// Share of packets lost while the line was full; `None` if the test could not fill it.
    pub loss_when_full: Option<f64>,
    /// Bytes that the line takes at once.
    pub burst: u64,
    /// Whether the line takes at least `burst`, and maybe more.
    pub burst_is_least: bool,
    /// How the line serves packets: `steady`, `in-aggregates`, `in-turns` or `unknown`.
    pub medium: String,
    /// Bytes that the test has sent.
    pub spent: u64,
    /// How long the test took.
    pub took: Millis,
    /// The same in plain words, a sentence each, the most important first.
    pub words: Vec<String>,
}

/// The queue before the narrowest link of a line.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct LineBuffer {
    /// Delay that the full queue adds.
    pub delay: Millis,
    /// Bytes that the queue holds.
    pub size: u64,
    /// Whether the test ended before the queue was full, so that it is at least as large.
    pub is_least: bool,
}
