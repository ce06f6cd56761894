//! Queue disciplines: who waits, who is marked, who is dropped.

mod codel;
mod discipline;
mod droptail;
mod dualpi2;
mod fifo;
mod fq_codel;
mod htb;
mod keys;
mod pie;
mod sfq;
mod token_bucket;

use std::fmt::Debug;

use mimosa_units::{Bytes, Rate, Time};
use toml::Spanned;

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
pub use keys::{KeyError, KeyProblem, Table};
use keys::{Keys, Read};
pub use pie::{Pie, PieConfig};
pub use sfq::{Sfq, SfqConfig};
pub use token_bucket::{Peak, ShaperConfig, TokenBucket, TokenBucketConfig};

// The table of queues: a line makes a discipline known to every scenario.
disciplines! {
    /// First in, first out, full at a limit.
    DropTail(DropTailConfig),
    /// RFC 8289.
    Codel(CodelConfig),
    /// RFC 8290.
    FqCodel(FqCodelConfig),
    /// RFC 8033.
    Pie(PieConfig),
    /// RFC 9332.
    DualPi2(DualPi2Config),
    /// Stochastic fairness queueing.
    Sfq(SfqConfig),
    /// A shaper before another queue.
    TokenBucket(ShaperConfig),
    /// Classes, and the queues of some of them.
    Htb(ClassesConfig),
}

impl QueueConfig {
    /// The queue whose keys stand in `table`.
    ///
    /// # Errors
    ///
    /// [`KeyError`] with the place of the first thing that is wrong.
    pub fn read(table: &Spanned<Table>, around: &Surroundings<'_>) -> Result<Self, KeyError> {
        Self::of_keys(Keys::new(table.get_ref(), table.span()), around)
    }

    /// The queue with these keys, its kind among them.
    pub(crate) fn of_keys(keys: Keys<'_>, around: &Surroundings<'_>) -> Read<Self> {
        let (kind, mut keys) = keys.of_queue()?;
        let Some(queue) = Self::of_kind(kind, &mut keys, around) else {
            let kind = kind.to_owned();
            return Err(keys.error_at(keys::KIND, KeyProblem::UnknownQueue { kind }));
        };
        let queue = queue?;
        keys.finish()?;
        Ok(queue)
    }
}

/// A packet that waits, and since when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting<P> {
    /// The packet.
    pub packet: P,
    /// When it was offered.
    pub since: Time,
}

/// A queue in front of a link. The link owns time; the queue owns order.
///
/// Every packet offered comes back exactly once: from `dequeue`, or in
/// `dropped`. The link's serialisation and propagation are not its business.
/// Times never go back from one call to the next.
pub trait Queue<P>: Debug + Send {
    /// Offers `packet` at `now`; packets given up, this or others, go to
    /// `dropped`.
    fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Vec<P>);

    /// Takes the next packet to serialise at `now`, marked if need be. `None` when
    /// nothing waits, or nothing may leave before [`Queue::ready`].
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<Waiting<P>>;

    /// Data waiting.
    fn backlog(&self) -> Bytes;

    /// Packets waiting.
    fn len(&self) -> usize;

    /// Whether nothing waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// When something may leave, after a [`Queue::dequeue`] that gave nothing at
    /// `now`: later than `now` in a queue that shapes. [`Time::MAX`] when nothing
    /// waits.
    fn ready(&self, now: Time) -> Time {
        if self.is_empty() { Time::MAX } else { now }
    }

    /// The number of the queue within this one that `packet` waits in, or would, for
    /// records: a class of [`Htb`], one of the two of [`DualPi2`]. Zero where there is
    /// but one, or where there are too many for names.
    fn lane(&self, packet: &P) -> usize {
        let _ = packet;
        0
    }

    /// The link's rate is `rate` from now on; for limits stated in time.
    fn rate_changed(&mut self, rate: Rate) {
        let _ = rate;
    }
}
