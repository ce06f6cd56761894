//! Queue disciplines: which packets wait, which are marked and which are dropped.

mod codel;
mod discipline;
mod droptail;
mod dualpi2;
mod fifo;
mod fq_codel;
mod htb;
mod pie;
mod sfq;
mod token_bucket;

use std::fmt::Debug;

use mimosa_units::{Bytes, Rate, Time};
use toml::Spanned;

use crate::keys::{KIND, KeyError, KeyProblem, Keys, Read, Table};
use crate::packet::Packet;
pub use codel::{Codel, CodelConfig};
pub(crate) use discipline::Discipline;
use discipline::disciplines;
pub use discipline::{Classes, Surroundings};
pub use droptail::{DropTail, DropTailConfig, Limit};
pub use dualpi2::{DualPi2, DualPi2Config, Native, Overload, Scheduler};
pub(crate) use fifo::Fifo;
pub use fq_codel::{FqCodel, FqCodelConfig};
pub use htb::{ClassConfig, ClassId, ClassesConfig, Filter, Htb, HtbConfig, HtbError, Prefix};
pub use pie::{Pie, PieConfig};
pub use sfq::{Sfq, SfqConfig};
pub use token_bucket::{Peak, ShaperConfig, TokenBucket, TokenBucketConfig};

// The table of queues: a discipline with a line here is known to every scenario.
disciplines! {
    /// First in, first out, with a limit beyond which packets are dropped.
    DropTail(DropTailConfig),
    /// Controlled delay, CoDel (RFC 8289).
    Codel(CodelConfig),
    /// Fair queueing with CoDel, FQ-CoDel (RFC 8290).
    FqCodel(FqCodelConfig),
    /// Proportional integral controller enhanced, PIE (RFC 8033).
    Pie(PieConfig),
    /// Dual-queue coupled AQM, DualPI2 (RFC 9332).
    DualPi2(DualPi2Config),
    /// Stochastic fairness queueing, SFQ.
    Sfq(SfqConfig),
    /// A token bucket, which shapes the packets of another queue.
    TokenBucket(ShaperConfig),
    /// Hierarchical token bucket, HTB: classes, and the queues of some of them.
    Htb(ClassesConfig),
}

impl QueueConfig {
    /// Reads the queue whose keys are in `table`.
    ///
    /// # Errors
    ///
    /// [`KeyError`] with the place of the first mistake.
    pub fn read(table: &Spanned<Table>, around: &Surroundings<'_>) -> Result<Self, KeyError> {
        Self::of_keys(Keys::new(table.get_ref(), table.span()), around)
    }

    /// Reads the queue with these keys, one of which is its kind.
    pub(crate) fn of_keys(keys: Keys<'_>, around: &Surroundings<'_>) -> Read<Self> {
        let (kind, mut keys) = keys.of_kind("queue")?;
        let Some(queue) = Self::of_kind(kind, &mut keys, around) else {
            let kind = kind.to_owned();
            return Err(keys.error_at(KIND, KeyProblem::UnknownQueue { kind }));
        };
        let queue = queue?;
        keys.finish()?;
        Ok(queue)
    }
}

/// A packet that waits in a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting<P> {
    /// The packet that waits.
    pub packet: P,
    /// When the packet was offered.
    pub since: Time,
}

/// A queue in front of a link. The link owns time; the queue owns order.
///
/// Every packet that is offered comes back exactly once: from `dequeue`, or in
/// `dropped`. A queue has no part in the link's serialisation and propagation. Times
/// never go back from one call to the next.
pub trait Queue<P>: Debug + Send {
    /// Offers `packet` at `now`. Packets that the queue drops, this one or others, are
    /// appended to `dropped`.
    fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Vec<P>);

    /// Takes the next packet to serialise at `now`, marked if the queue decides so.
    /// `None` when nothing waits, or when nothing may leave before [`Queue::ready`].
    /// Packets that the queue drops are appended to `dropped`.
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<Waiting<P>>;

    /// Bytes of the packets that wait.
    fn backlog(&self) -> Bytes;

    /// Number of packets that wait.
    fn len(&self) -> usize;

    /// Whether no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// When a packet may leave, after a [`Queue::dequeue`] at `now` that returned
    /// `None`: later than `now` in a queue that shapes. [`Time::MAX`] when nothing
    /// waits.
    fn ready(&self, now: Time) -> Time {
        if self.is_empty() { Time::MAX } else { now }
    }

    /// The number of the queue within this one in which `packet` waits or would wait,
    /// for records: a class of [`Htb`], or one of the two queues of [`DualPi2`]. Zero
    /// where there is only one queue, or where there are too many to name.
    fn lane(&self, packet: &P) -> usize {
        let _ = packet;
        0
    }

    /// Tells the queue that the link's rate is `rate` from now on, for limits that are
    /// stated in time.
    fn rate_changed(&mut self, rate: Rate) {
        let _ = rate;
    }
}
