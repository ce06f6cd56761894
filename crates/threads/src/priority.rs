//! Threads whose delay is the player's.

use std::sync::atomic::{AtomicBool, Ordering};

/// Nice value of threads that a frame waits for: as far as the system's own services
/// go for sound.
const NICE: i32 = -11;

/// Whether the system lets a thread go before the machine's other work: as root, with
/// `CAP_SYS_NICE`, or within `RLIMIT_NICE`.
#[must_use]
pub fn may_go_first() -> bool {
    let tried = std::thread::spawn(|| rustix::process::setpriority_process(None, NICE).is_ok());
    tried.join().unwrap_or(false)
}

/// Puts the calling thread before the machine's other work, where the system allows
/// it.
pub fn raise() {
    static IS_SAID: AtomicBool = AtomicBool::new(false);
    // On Linux this is the thread's own, not the process's.
    let result = rustix::process::setpriority_process(None, NICE);
    if result.is_err() && !IS_SAID.swap(true, Ordering::Relaxed) {
        tracing::info!("other work may keep frames waiting: `mimosa doctor` has a remedy");
    }
}

/// Puts the calling thread back among the machine's other work: one that a raised
/// thread started is as raised.
pub fn normal() {
    // Nobody is refused less.
    let _ = rustix::process::setpriority_process(None, 0);
}
