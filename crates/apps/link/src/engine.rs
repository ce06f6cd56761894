//! The threads of a link, one for each direction.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use mimosa_facts::{LinkPacket, Passage};
use mimosa_net::{Change, Direction};
use mimosa_units::{Time, TimeDelta};
use rustix::event::EventfdFlags;

use crate::error::LinkError;
use crate::tally::Tally;
use crate::tun::Tun;
use crate::way::{Order, Way};
use mimosa_system::clock::Clock;

/// Longest time that a direction may take to answer.
const ANSWER: Duration = Duration::from_secs(2);

/// How a thread waits for the time of the next packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Waiting {
    /// The last part of each wait, which is spent in a loop on the clock, because a sleep may end
    /// late. With zero, threads only sleep; with a second, they never sleep while packets are under
    /// way.
    pub spin: TimeDelta,
}

impl Default for Waiting {
    /// 50 us, which is twice the usual lateness of a sleep on a virtual machine.
    fn default() -> Self {
        Self {
            spin: TimeDelta::from_micros(50),
        }
    }
}

/// A running link, which stops when this is dropped.
#[derive(Debug)]
pub struct Engine {
    is_stopped: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Tally>>,
    control: Control,
}

/// Controls a running link. The first direction is that from the left to the right.
#[derive(Clone, Debug)]
pub struct Control {
    ways: Vec<(mpsc::Sender<Order>, Arc<OwnedFd>)>,
    /// Whether the directions have a rate that can be changed.
    has_rate: bool,
}

impl Control {
    /// Changes the direction there, or the one back.
    ///
    /// # Errors
    ///
    /// [`LinkError::Stopped`] if the link has stopped, and [`LinkError::NoRate`] for another rate of
    /// a medium.
    pub fn change(&self, is_there: bool, change: Change) -> Result<(), LinkError> {
        if change.rate.is_some() && !self.has_rate {
            return Err(LinkError::NoRate);
        }
        let way = self.ways.get(usize::from(!is_there));
        way.map_or(Err(LinkError::Stopped), |way| {
            send(way, Order::Change(change))
        })
    }

    /// The tallies of both directions so far.
    ///
    /// # Errors
    ///
    /// [`LinkError::Stopped`] if the link has stopped.
    pub fn tallies(&self) -> Result<Vec<Tally>, LinkError> {
        let mut tallies = Vec::new();
        for way in &self.ways {
            let (answer, answers) = mpsc::channel();
            send(way, Order::Tally(answer))?;
            let tally = answers.recv_timeout(ANSWER);
            tallies.push(tally.map_err(|_| LinkError::Stopped)?);
        }
        Ok(tallies)
    }
}

/// Sends an order to a direction's thread, and wakes it.
fn send(way: &(mpsc::Sender<Order>, Arc<OwnedFd>), order: Order) -> Result<(), LinkError> {
    let (orders, bell) = way;
    orders.send(order).map_err(|_| LinkError::Stopped)?;
    // This fails if the thread is about to wake already.
    let _ = rustix::io::write(bell, &1_u64.to_ne_bytes());
    Ok(())
}

impl Engine {
    /// Starts two threads: one from `left` to `right` through `there`, and one back through `back`.
    /// The passage of every packet is sent to `passages`.
    ///
    /// # Errors
    ///
    /// [`LinkError::Thread`] if the system refuses a thread.
    pub fn start(
        clock: Clock,
        (left, right): (Tun, Tun),
        (there, back): (Direction, Direction),
        waiting: Waiting,
        passages: Option<&mpsc::Sender<Passage<LinkPacket>>>,
    ) -> Result<Self, LinkError> {
        let is_stopped = Arc::<AtomicBool>::default();
        let (left, right) = (Arc::new(left), Arc::new(right));
        let mut engine = Self {
            is_stopped: Arc::clone(&is_stopped),
            threads: Vec::new(),
            control: Control {
                ways: Vec::new(),
                has_rate: there.has_rate(),
            },
        };
        for (name, from, to, direction) in [
            ("there", &left, &right, there),
            ("back", &right, &left, back.reversed()),
        ] {
            let (orders, taken) = mpsc::channel();
            let flags = EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
            let bell = rustix::event::eventfd(0, flags)
                .map_err(|error| LinkError::Thread(error.into()))?;
            let bell = Arc::new(bell);
            engine.control.ways.push((orders, Arc::clone(&bell)));
            let mut way = Way {
                clock,
                from: Arc::clone(from),
                to: Arc::clone(to),
                tally: Tally::new(direction.lanes(), clock.now()),
                direction,
                waiting,
                is_stopped: Arc::clone(&is_stopped),
                passages: passages.cloned(),
                orders: taken,
                bell,
            };
            let thread = std::thread::Builder::new()
                .name(format!("link-{name}"))
                .spawn(move || way.run())
                .map_err(LinkError::Thread)?;
            engine.threads.push(thread);
        }
        Ok(engine)
    }

    /// The control of the link, for any thread.
    #[must_use]
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Stops both directions, and returns their tallies.
    #[must_use]
    pub fn stop(mut self) -> Vec<Tally> {
        self.halt();
        let threads = std::mem::take(&mut self.threads);
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    }

    fn halt(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        for way in &self.control.ways {
            // A thread that has stopped by itself need not be woken.
            let _ = send(way, Order::Change(Change::default()));
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.halt();
        for thread in self.threads.drain(..) {
            // A panic of the thread was printed on standard error.
            let _ = thread.join();
        }
    }
}

/// Time until `deadline`, at most `longest`.
pub(crate) fn rest(deadline: Time, now: Time, longest: TimeDelta) -> TimeDelta {
    if deadline == Time::MAX {
        longest
    } else {
        deadline.since(now).min(longest)
    }
}
