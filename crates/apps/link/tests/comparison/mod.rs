//! Compares the kernel's HTB and ours under the same offered load.
//!
//! The test and the example of the same name share this module. A run sends a case's load from one
//! network namespace to another, either through a pair of virtual Ethernet devices with `tc`'s
//! `htb`, or through an [`Engine`](mimosa_link::Engine) whose queue is our
//! [`Htb`](mimosa_net::queue::Htb). Nothing else differs: trees, leaves' queues, the load's
//! schedule, and the program that sends and receives are the same.
//!
//! `tc` counts an Ethernet frame, 14 bytes more than its packet; `stab overhead -14`
//! takes them off, so that both count packets of IP.

pub(crate) mod case;
mod figures;
pub(crate) mod table;
mod traffic;
mod world;

use case::Case;
use figures::Figures;
use table::Compared;
use world::{Kind, World};

/// Milliseconds by which one packet in a hundred may be sent late. With more, the machine was too
/// busy to offer the load.
const LATE: f64 = 5.0;
/// Most tries of a run until the load was offered in time.
const TRIES: usize = 3;

/// Runs `case` this many times with each HTB in turn; `None` without the rights.
pub(crate) fn compare(case: &Case, times: usize) -> Option<Compared> {
    let mut runs = Vec::new();
    for kind in [Kind::Kernel, Kind::Ours].repeat(times) {
        let mut tries = 0;
        loop {
            let world = World::new(case, kind)?;
            let run = Figures::of(case, &traffic::send(case, &world));
            tries += 1;
            if run.late <= LATE || tries == TRIES {
                runs.push((kind, run));
                break;
            }
            eprintln!("{}: sent {:.1} ms late, once more", case.name, run.late);
        }
    }
    let case = case.clone();
    Some(Compared { case, runs })
}
