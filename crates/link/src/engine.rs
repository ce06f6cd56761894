//! The threads of a link, one for each direction.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::JoinHandle;

use mimosa_emulation::{Counts, Direction, IpPacket, Passage};
use mimosa_units::{Time, TimeDelta};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::clock::{Clock, sleep_exactly, slept};
use crate::error::LinkError;
use crate::tun::{LARGEST, Tun};

/// Packets read from a device before what is due is looked at again.
const MOST_AT_ONCE: usize = 32;
/// Longest sleep: so long a stop may take.
const LONGEST_SLEEP: TimeDelta = TimeDelta::from_millis(100);
/// Bounds of the classes of lateness, in microseconds.
const BOUNDS: [u64; 12] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000, 20_000];

/// How a thread waits for the next packet's time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Waiting {
    /// The last part of each wait is spent looking at the clock: what a sleep may be
    /// late. Zero sleeps all of it, a second never sleeps while packets are under way.
    pub spin: TimeDelta,
}

impl Default for Waiting {
    /// 50 us: twice what a sleep is usually late on a virtual machine.
    fn default() -> Self {
        Self {
            spin: TimeDelta::from_micros(50),
        }
    }
}

/// How late packets left, in classes.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Lateness {
    counts: [u64; BOUNDS.len() + 1],
    most: TimeDelta,
}

impl Lateness {
    fn note(&mut self, late: TimeDelta) {
        let micros = late.as_nanos().max(0).unsigned_abs() / 1_000;
        let class = BOUNDS.iter().position(|bound| micros < *bound);
        if let Some(count) = self.counts.get_mut(class.unwrap_or(BOUNDS.len())) {
            *count += 1;
        }
        self.most = self.most.max(late);
    }

    /// The upper bound of the class in which this share of the packets ends; `None`
    /// without packets, and the largest lateness in the last class.
    #[must_use]
    pub fn at(&self, share: f64) -> Option<TimeDelta> {
        let all: u64 = self.counts.iter().sum();
        let mut below = 0;
        for (index, count) in self.counts.iter().enumerate() {
            below += count;
            if all > 0 && below as f64 >= share * all as f64 {
                let bound = BOUNDS
                    .get(index)
                    .and_then(|micros| i64::try_from(*micros).ok());
                return Some(bound.map_or(self.most, TimeDelta::from_micros));
            }
        }
        None
    }

    /// The largest.
    #[must_use]
    pub const fn most(&self) -> TimeDelta {
        self.most
    }
}

/// What a direction has done.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// What became of packets.
    pub counts: Counts,
    /// Packets still in the queue, the link or on the path.
    pub inside: u64,
    /// What was read and is no IP packet.
    pub not_ip: u64,
    /// Packets released that the other end did not take.
    pub unwritten: u64,
    /// How late packets left.
    pub lateness: Lateness,
}

/// A running link. It stops when this is dropped.
#[derive(Debug)]
pub struct Engine {
    is_stopped: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Tally>>,
}

impl Engine {
    /// Starts two threads: from `left` to `right` by way of `there`, and back by way
    /// of `back`. `passages` gets the record of every packet, with whether it went
    /// there.
    ///
    /// # Errors
    ///
    /// [`LinkError::Thread`].
    pub fn start(
        clock: Clock,
        (left, right): (Tun, Tun),
        (there, back): (Direction, Direction),
        waiting: Waiting,
        passages: Option<&mpsc::Sender<(bool, Passage)>>,
    ) -> Result<Self, LinkError> {
        let is_stopped = Arc::<AtomicBool>::default();
        let (left, right) = (Arc::new(left), Arc::new(right));
        let mut engine = Self {
            is_stopped: Arc::clone(&is_stopped),
            threads: Vec::new(),
        };
        for (name, from, to, direction) in [
            ("there", &left, &right, there),
            ("back", &right, &left, back),
        ] {
            let mut way = Way {
                clock,
                from: Arc::clone(from),
                to: Arc::clone(to),
                direction,
                waiting,
                is_stopped: Arc::clone(&is_stopped),
                passages: passages.cloned(),
                is_there: name == "there",
                tally: Tally::default(),
            };
            let thread = std::thread::Builder::new()
                .name(format!("link-{name}"))
                .spawn(move || way.run())
                .map_err(LinkError::Thread)?;
            engine.threads.push(thread);
        }
        Ok(engine)
    }

    /// Stops both directions, and says what they did.
    #[must_use]
    pub fn stop(mut self) -> Vec<Tally> {
        self.is_stopped.store(true, Ordering::Relaxed);
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
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A panic has been said on standard error.
            let _ = thread.join();
        }
    }
}

/// One direction's thread.
struct Way {
    clock: Clock,
    from: Arc<Tun>,
    to: Arc<Tun>,
    direction: Direction,
    waiting: Waiting,
    is_stopped: Arc<AtomicBool>,
    passages: Option<mpsc::Sender<(bool, Passage)>>,
    is_there: bool,
    tally: Tally,
}

impl Way {
    fn run(&mut self) -> Tally {
        sleep_exactly();
        let mut buffer = vec![0; LARGEST];
        while !self.is_stopped.load(Ordering::Relaxed) {
            let came = self.take_in(&mut buffer);
            self.let_out();
            if !came {
                self.wait();
            }
        }
        let (waiting, _) = self.direction.waiting();
        self.tally.counts = self.direction.counts();
        self.tally.inside = (waiting + self.direction.flying()) as u64;
        self.tally
    }

    /// Takes what the host has sent; whether there was anything.
    fn take_in(&mut self, buffer: &mut [u8]) -> bool {
        for count in 0..MOST_AT_ONCE {
            // A device that is down, or gone, has nothing; the end comes by itself.
            let Ok(Some(length)) = self.from.read(buffer) else {
                return count > 0;
            };
            let now = self.clock.now();
            let bytes = buffer.get(..length).unwrap_or_default();
            match IpPacket::parse(bytes.to_vec()) {
                Ok(packet) => self.direction.offer(now, packet),
                Err(_) => self.tally.not_ip += 1,
            }
        }
        true
    }

    /// Gives the other host what is due.
    fn let_out(&mut self) {
        loop {
            let now = self.clock.now();
            let Some(release) = self.direction.release(now) else {
                break;
            };
            self.tally.lateness.note(now.since(release.due));
            if !self.to.write(release.packet.bytes()) {
                self.tally.unwritten += 1;
            }
        }
        while let Some(passage) = self.direction.poll_passage() {
            if let Some(passages) = &self.passages {
                // Whoever wanted to know may have gone.
                let _ = passages.send((self.is_there, passage));
            }
        }
    }

    /// Waits for a packet, or until one is due.
    fn wait(&self) {
        let deadline = self.direction.deadline();
        let rest = if deadline == Time::MAX {
            LONGEST_SLEEP
        } else {
            deadline.since(self.clock.now()).min(LONGEST_SLEEP)
        };
        let Some(sleep) = slept(rest, self.waiting.spin) else {
            std::hint::spin_loop();
            return;
        };
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: sleep.as_nanos(),
        };
        let fd = self.from.as_fd();
        // An interruption is a wake-up like any other.
        let _ = poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&timeout));
    }
}
