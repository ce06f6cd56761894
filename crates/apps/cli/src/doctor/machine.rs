//! The machine: cores, and how punctual its timer is.

use std::time::{Duration, Instant};

use mimosa_settings::Settings;
use rustix::event::{Timespec, poll};

use super::report::{Finding, Report};

/// How often the timer is tried.
const TRIES: usize = 100;
/// The wait that is tried.
const WAIT: Duration = Duration::from_millis(1);
/// Later than this, packets leave in visible bursts: at 20 Mbit/s, two packets
/// are 480 us apart.
const LATE: Duration = Duration::from_micros(200);

/// Looks at it.
pub(super) fn look(settings: &Settings, report: &mut Report) {
    report.add(cores(settings));
    report.add(timer());
    report.add(priority());
}

/// Now.
#[expect(clippy::disallowed_methods, reason = "measures this machine")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// One core encodes, another does the rest.
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

/// Whether frames wait for the machine's other work.
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

/// How late the system wakes whoever waits for a millisecond.
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
