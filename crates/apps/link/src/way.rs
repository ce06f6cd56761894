//! The thread of one direction.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

use mimosa_facts::{LinkPacket, Passage};
use mimosa_net::{Change, Direction, IpPacket};
use mimosa_units::TimeDelta;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::engine::{Waiting, rest};
use crate::tally::Tally;
use crate::tun::{LARGEST, Tun};
use mimosa_system::clock::{Clock, sleep_exactly};
use mimosa_system::priority::go_first;

/// Most packets read from a device before due packets are released again.
const MOST_AT_ONCE: usize = 32;
/// Longest sleep; an order ends it.
const LONGEST_SLEEP: TimeDelta = TimeDelta::from_millis(500);

/// An order to a direction's thread.
pub(crate) enum Order {
    Change(Change),
    Tally(mpsc::Sender<Tally>),
}

/// One direction of a link.
pub(crate) struct Way {
    pub(crate) clock: Clock,
    pub(crate) from: Arc<Tun>,
    pub(crate) to: Arc<Tun>,
    pub(crate) direction: Direction,
    pub(crate) waiting: Waiting,
    pub(crate) is_stopped: Arc<AtomicBool>,
    pub(crate) passages: Option<mpsc::Sender<Passage<LinkPacket>>>,
    pub(crate) orders: mpsc::Receiver<Order>,
    /// Event descriptor that is signalled when there is an order.
    pub(crate) bell: Arc<OwnedFd>,
    pub(crate) tally: Tally,
}

impl Way {
    pub(crate) fn run(&mut self) -> Tally {
        sleep_exactly();
        // Without the right, the thread waits behind the machine's other work.
        let _ = go_first();
        let mut buffer = vec![0; LARGEST];
        while !self.is_stopped.load(Ordering::Relaxed) {
            self.obey();
            let came = self.take_in(&mut buffer);
            self.let_out();
            if !came {
                self.wait();
            }
        }
        self.tally()
    }

    /// Carries out all orders that have come.
    fn obey(&mut self) {
        while let Ok(order) = self.orders.try_recv() {
            match order {
                Order::Change(change) => self.direction.change(self.clock.now(), change),
                Order::Tally(answer) => {
                    // The asking thread may be gone.
                    let _ = answer.send(self.tally());
                }
            }
        }
    }

    fn tally(&mut self) -> Tally {
        let now = self.clock.now();
        let (packets, backlog) = self.direction.waiting();
        self.tally.at = now;
        self.tally.rate = self.direction.rate();
        self.tally.counts = self.direction.counts();
        self.tally.inside = (packets + self.direction.flying()) as u64;
        self.tally.backlog = backlog;
        self.tally.monitor.timer(now);
        self.tally.clone()
    }

    /// Reads packets that the host has sent, until one is due to leave. Returns whether there may
    /// be more.
    fn take_in(&mut self, buffer: &mut [u8]) -> bool {
        for _ in 0..MOST_AT_ONCE {
            // A device that is down or gone has no packets; the thread is stopped separately.
            let Ok(Some(length)) = self.from.read(buffer) else {
                return false;
            };
            let now = self.clock.now();
            let bytes = buffer.get(..length).unwrap_or_default();
            match IpPacket::parse(bytes.to_vec()) {
                Ok(packet) => self.direction.offer(now, packet),
                Err(_) => self.tally.not_ip += 1,
            }
            if self.direction.deadline() <= now {
                break;
            }
        }
        true
    }

    /// Writes the packets that are due to the other host.
    fn let_out(&mut self) {
        loop {
            let now = self.clock.now();
            let Some(release) = self.direction.release(now) else {
                self.tally.monitor.timer(now);
                break;
            };
            self.tally.lateness.note(now.since(release.due));
            if !self.to.write(release.packet.bytes()) {
                self.tally.unwritten += 1;
            }
        }
        while let Some(passage) = self.direction.poll_passage() {
            self.tally.monitor.note(&passage);
            if let Some(passages) = &self.passages {
                // The receiver of passages may be gone.
                let _ = passages.send(passage);
            }
        }
    }

    /// Waits for a packet or an order, or until a packet is due.
    fn wait(&self) {
        let now = self.clock.now();
        let rest = rest(self.direction.deadline(), now, LONGEST_SLEEP);
        let sleep = rest - self.waiting.spin;
        if sleep <= TimeDelta::ZERO {
            std::hint::spin_loop();
            return;
        }
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: sleep.as_nanos(),
        };
        let (device, bell) = (self.from.as_fd(), self.bell.as_fd());
        let mut waited = [
            PollFd::new(&device, PollFlags::IN),
            PollFd::new(&bell, PollFlags::IN),
        ];
        // An interruption counts as a wake-up.
        let _ = poll(&mut waited, Some(&timeout));
        if !waited[1].revents().is_empty() {
            // Resets the descriptor.
            let _ = rustix::io::read(&self.bell, &mut [0_u8; 8]);
        }
    }
}
