//! Checks the machine: its cores, and how punctual its timer is.

use std::time::{Duration, Instant};

use mimosa_settings::Settings;
use rustix::event::{Timespec, poll};

use super::report::{Finding, Report};

/// Number of waits that are timed.
const TRIES: usize = 100;
/// Length of each wait.
const WAIT: Duration = Duration::from_millis(1);
/// Lateness above which packets leave in visible bursts: at 20 Mbit/s, two packets are 480 us
/// apart.
const LATE: Duration = Duration::from_micros(200);

/// Checks the machine.
pub(super) fn look(settings: &Settings, report: &mut Report) {
    report.add(cores(settings));
    report.add(timer());
    report.add(priority());
}

/// The time by the monotonic clock.
#[expect(clippy::disallowed_methods, reason = "measures this machine")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// Checks that there are enough cores: the encoder's, and one for everything else.
fn cores(settings: &Settings) -> Finding {
    let needed = settings.encoder.threads as usize + 1;
    match std::thread::available_parallelism() {
        Ok(cores) if cores.get() >= needed => Finding::ok("cores", cores.to_string()),
        Ok(cores) => Finding::warning(
            "cores",
            format!("{cores}, but {needed} keep encoder and network apart"),
            "use more cores, or fewer --encoder-threads",
        ),
        Err(error) => Finding::warning("cores", format!("unknown: {error}"), ""),
    }
}

/// Checks whether the host's threads may go before other work on the machine.
fn priority() -> Finding {
    if mimosa_host::may_go_first() {
        return Finding::ok("priority", "the host goes before other work");
    }
    Finding::warning(
        "priority",
        "the host may not go before other work, so frames wait while it is busy",
        "sudo setcap cap_sys_nice+ep \"$(command -v mimosa)\"",
    )
}

/// Measures how late the system wakes a thread that waits for a millisecond.
fn timer() -> Finding {
    let mut late = Vec::with_capacity(TRIES);
    let wait = Timespec {
        tv_sec: 0,
        tv_nsec: i64::from(WAIT.subsec_nanos()),
    };
    for _ in 0..TRIES {
        let begun = now();
        if let Err(error) = poll(&mut [], Some(&wait)) {
            return Finding::warning("timer", format!("cannot wait: {error}"), "");
        }
        late.push(begun.elapsed().saturating_sub(WAIT));
    }
    late.sort_unstable();
    let median = late[TRIES / 2];
    let detail = format!("wakes {} us late (median of {TRIES})", median.as_micros());
    if median > LATE {
        let remedy =
            "play on a machine with less to do; in a virtual machine, give it cores of its own";
        Finding::warning(
            "timer",
            format!("{detail}, so packets leave in bursts"),
            remedy,
        )
    } else {
        Finding::ok("timer", detail)
    }
}
