//! What serves the packets of a direction: a link of its own, or a medium that it shares with the
//! direction back.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::Stamped;
use crate::channel::Channel;
use crate::link::Served;
use crate::medium::Port;
use crate::schedule::Schedule;

/// What serves the packets of a direction.
#[derive(Debug)]
pub(super) enum Service {
    /// A link of its own.
    Own(Box<Channel<Stamped>>),
    /// One of the two links of a medium. The other direction may be driven by another thread.
    Shared(Arc<Mutex<Medium>>, Port),
}

/// A medium that two directions share, and what it has for each of them.
#[derive(Debug)]
pub(super) struct Medium {
    channel: Channel<Stamped>,
    /// The time of the last call. Two threads that read one clock may call a little out of order.
    newest: Time,
    there: Outcomes,
    back: Outcomes,
    dropped: Vec<Stamped>,
}

/// Packets that have passed, and those that were dropped.
#[derive(Debug, Default)]
struct Outcomes {
    passed: VecDeque<Served<Stamped>>,
    dropped: Vec<Stamped>,
}

impl Medium {
    pub(super) fn new(channel: Channel<Stamped>) -> Self {
        Self {
            channel,
            newest: Time::ZERO,
            there: Outcomes::default(),
            back: Outcomes::default(),
            dropped: Vec::new(),
        }
    }

    const fn of(&mut self, port: Port) -> &mut Outcomes {
        match port {
            Port::There => &mut self.there,
            Port::Back => &mut self.back,
        }
    }

    fn offer(&mut self, now: Time, port: Port, packet: Stamped) {
        self.newest = self.newest.max(now);
        let now = self.newest;
        self.channel.offer(now, port, packet, &mut self.dropped);
        self.sort_dropped();
    }

    fn advance(&mut self, now: Time) {
        self.newest = self.newest.max(now);
        while let Some((port, served)) = self.channel.poll(self.newest, &mut self.dropped) {
            self.of(port).passed.push_back(served);
        }
        self.sort_dropped();
    }

    fn sort_dropped(&mut self) {
        for packet in std::mem::take(&mut self.dropped) {
            let port = if packet.is_forward {
                Port::There
            } else {
                Port::Back
            };
            self.of(port).dropped.push(packet);
        }
    }
}

fn locked(medium: &Mutex<Medium>) -> MutexGuard<'_, Medium> {
    // A panic in one direction leaves a medium that the other one can go on with.
    medium.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Service {
    /// Offers a packet; see [`Channel::offer`].
    pub(super) fn offer(&mut self, now: Time, packet: Stamped, dropped: &mut Vec<Stamped>) {
        match self {
            Self::Own(link) => link.offer(now, Port::There, packet, dropped),
            Self::Shared(medium, port) => {
                let mut medium = locked(medium);
                medium.offer(now, *port, packet);
                dropped.append(&mut medium.of(*port).dropped);
            }
        }
    }

    /// Takes a packet that has passed; see [`Channel::poll`].
    pub(super) fn poll(
        &mut self,
        now: Time,
        dropped: &mut Vec<Stamped>,
    ) -> Option<Served<Stamped>> {
        match self {
            Self::Own(link) => link.poll(now, dropped).map(|(_, served)| served),
            Self::Shared(medium, port) => {
                let mut medium = locked(medium);
                medium.advance(now);
                let own = medium.of(*port);
                dropped.append(&mut own.dropped);
                own.passed.pop_front()
            }
        }
    }

    /// When to call [`Service::poll`].
    pub(super) fn deadline(&self) -> Time {
        match self {
            Self::Own(link) => link.deadline(),
            Self::Shared(medium, port) => {
                let mut medium = locked(medium);
                let passed = medium.of(*port).passed.front();
                let passed = passed.map_or(Time::MAX, |served| served.finished);
                passed.min(medium.channel.deadline())
            }
        }
    }

    /// Replaces the schedule from `now` on. A medium has none, and stays as it is.
    pub(super) fn set_schedule(&mut self, now: Time, schedule: Schedule) {
        if let Self::Own(link) = self {
            link.set_schedule(now, schedule);
        }
    }

    /// The rate at the time of the last call; of a medium, what counts as its capacity.
    pub(super) fn rate(&self) -> Rate {
        match self {
            Self::Own(link) => link.rate(),
            Self::Shared(medium, _) => locked(medium).channel.rate(),
        }
    }

    /// Data that wait or are being served.
    pub(super) fn backlog(&self) -> Bytes {
        match self {
            Self::Own(link) => link.backlog(Port::There),
            Self::Shared(medium, port) => locked(medium).channel.backlog(*port),
        }
    }

    /// Number of packets that wait or are being served in this direction.
    pub(super) fn packets(&self) -> usize {
        match self {
            Self::Own(link) => link.packets(),
            Self::Shared(medium, port) => {
                let mut medium = locked(medium);
                let passed = medium.of(*port).passed.len();
                medium.channel.packets_of(*port) + passed
            }
        }
    }

    /// The number of the queue in which a packet waits or would wait.
    pub(super) fn lane(&self, packet: &Stamped) -> usize {
        match self {
            Self::Own(link) => link.lane(Port::There, packet),
            Self::Shared(medium, port) => locked(medium).channel.lane(*port, packet),
        }
    }

    /// The propagation delay and loss that the link's schedule states.
    pub(super) fn conditions(&self) -> (Option<TimeDelta>, Option<f64>) {
        match self {
            Self::Own(link) => link.conditions(),
            Self::Shared(medium, _) => locked(medium).channel.conditions(),
        }
    }
}
