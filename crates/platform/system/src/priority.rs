//! The priority of threads whose delay the player notices.

use std::sync::atomic::{AtomicBool, Ordering};

/// The nice value of threads that a frame waits for: the value that the system's own
/// services take for sound.
const NICE: i32 = -11;

/// Whether the system lets a thread go before the machine's other work: as root, with
/// `CAP_SYS_NICE`, or within `RLIMIT_NICE`.
#[must_use]
pub fn may_go_first() -> bool {
    let tried = std::thread::spawn(go_first);
    tried.join().unwrap_or(false)
}

/// Puts the calling thread before the machine's other work; `false` where the system does
/// not allow it.
#[must_use]
pub fn go_first() -> bool {
    // On Linux the priority is that of the thread, not of the process.
    rustix::process::setpriority_process(None, NICE).is_ok()
}

/// Puts the calling thread before the machine's other work, and logs the first time that
/// the system does not allow it.
pub fn raise() {
    static IS_SAID: AtomicBool = AtomicBool::new(false);
    if !go_first() && !IS_SAID.swap(true, Ordering::Relaxed) {
        tracing::info!("other work may keep frames waiting: `mimosa doctor` has a remedy");
    }
}

/// Puts the calling thread back among the machine's other work. A thread that a raised
/// thread starts is raised as well.
pub fn normal() {
    // Lowering a priority is never refused.
    let _ = rustix::process::setpriority_process(None, 0);
}
