//! Time as it passes.

use std::thread;
use std::time::{Duration, Instant};

#[expect(clippy::disallowed_methods, reason = "a driver reads the clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "a driver waits")]
pub(crate) fn wait(time: Duration) {
    thread::sleep(time);
}
