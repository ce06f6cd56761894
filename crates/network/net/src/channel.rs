//! A channel: one link that serialises, or the two links that share a medium.

use std::fmt::Debug;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::link::{Link, Served};
use crate::medium::{Cell, Docsis, Port, Satellite, Wifi};
use crate::packet::Packet;
use crate::queue::Queue;
use crate::schedule::Schedule;
use crate::ticks::Ticks;

/// One link that serialises, or the two links that share a medium.
#[derive(Debug)]
pub enum Channel<P> {
    /// A link of its own, in one direction.
    Wire(Link<P>),
    /// A link of its own that serves packets at ticks.
    Ticks(Box<Ticks<P>>),
    /// A Wi-Fi network, in both directions.
    Wifi(Box<Wifi<P>>),
    /// A cell, in both directions.
    Cell(Box<Cell<P>>),
    /// A cable, in both directions.
    Docsis(Box<Docsis<P>>),
    /// A satellite link, in both directions.
    Satellite(Box<Satellite<P>>),
}

impl<P: Packet + Debug + Send + 'static> Channel<P> {
    /// A link of its own with this queue and this schedule, which serves packets one after the
    /// other, or all that its rate carries in a `tick` at once.
    #[must_use]
    pub fn link(queue: Box<dyn Queue<P>>, schedule: Schedule, tick: Option<TimeDelta>) -> Self {
        match tick {
            None => Self::Wire(Link::new(queue, schedule)),
            Some(tick) => Self::Ticks(Box::new(Ticks::new(queue, schedule, tick))),
        }
    }

    /// Replaces the schedule of a link from `now` on. A medium has none, and stays as it is.
    pub fn set_schedule(&mut self, now: Time, schedule: Schedule) {
        match self {
            Self::Wire(link) => link.set_schedule(now, schedule),
            Self::Ticks(link) => link.set_schedule(now, schedule),
            Self::Wifi(_) | Self::Cell(_) | Self::Docsis(_) | Self::Satellite(_) => {}
        }
    }

    /// Offers a packet to the link at `port` at `now`, which must not be before the time of the
    /// last call. Packets that a queue gives up are appended to `dropped`.
    pub fn offer(&mut self, now: Time, port: Port, packet: P, dropped: &mut Vec<P>) {
        match self {
            Self::Wire(link) => link.offer(now, packet, dropped),
            Self::Ticks(link) => link.offer(now, packet, dropped),
            Self::Wifi(wifi) => wifi.offer(now, port, packet, dropped),
            Self::Cell(cell) => cell.offer(now, port, packet, dropped),
            Self::Docsis(cable) => cable.offer(now, port, packet, dropped),
            Self::Satellite(link) => link.offer(now, port, packet, dropped),
        }
    }

    /// When to call [`Channel::poll`]; [`Time::MAX`] for never.
    #[must_use]
    pub fn deadline(&self) -> Time {
        match self {
            Self::Wire(link) => link.deadline(),
            Self::Ticks(link) => link.deadline(),
            Self::Wifi(wifi) => wifi.deadline(),
            Self::Cell(cell) => cell.deadline(),
            Self::Docsis(cable) => cable.deadline(),
            Self::Satellite(link) => link.deadline(),
        }
    }

    /// Takes a packet that has passed by `now`, and the link that it passed; `None` when none
    /// has. Packets that a queue gives up are appended to `dropped`. Call it until it returns
    /// `None`, and before [`Channel::offer`] with the same time.
    pub fn poll(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<(Port, Served<P>)> {
        match self {
            Self::Wire(link) => Some((Port::There, link.poll(now, dropped)?)),
            Self::Ticks(link) => Some((Port::There, link.poll(now, dropped)?)),
            Self::Wifi(wifi) => wifi.poll(now, dropped),
            Self::Cell(cell) => cell.poll(now, dropped),
            Self::Docsis(cable) => cable.poll(now, dropped),
            Self::Satellite(link) => link.poll(now, dropped),
        }
    }

    /// The propagation delay and the share of packets lost that a link's schedule states for the
    /// time of the last call; each `None` where it does not state it, as media never do.
    #[must_use]
    pub fn conditions(&self) -> (Option<TimeDelta>, Option<f64>) {
        match self {
            Self::Wire(link) => link.conditions(),
            Self::Ticks(link) => link.conditions(),
            Self::Wifi(_) | Self::Cell(_) | Self::Docsis(_) | Self::Satellite(_) => (None, None),
        }
    }

    /// The rate at the time of the last call; of a medium, the rate that it carries at most.
    #[must_use]
    pub fn rate(&self) -> Rate {
        match self {
            Self::Wire(link) => link.rate(),
            Self::Ticks(link) => link.rate(),
            Self::Wifi(wifi) => wifi.capacity(),
            Self::Cell(cell) => cell.capacity(),
            Self::Docsis(cable) => cable.capacity(),
            Self::Satellite(link) => link.capacity(),
        }
    }

    /// The number of the queue in which a packet waits or would wait; see
    /// [`Queue::lane`](crate::queue::Queue::lane).
    #[must_use]
    pub fn lane(&self, port: Port, packet: &P) -> usize {
        match self {
            Self::Wire(link) => link.lane(packet),
            Self::Ticks(link) => link.lane(packet),
            Self::Wifi(wifi) => wifi.lane(port, packet),
            Self::Cell(cell) => cell.lane(port, packet),
            Self::Docsis(cable) => cable.lane(port, packet),
            Self::Satellite(link) => link.lane(port, packet),
        }
    }

    /// Data that wait at the link at `port`, and what is being served.
    #[must_use]
    pub fn backlog(&self, port: Port) -> Bytes {
        match self {
            Self::Wire(link) => link.backlog(),
            Self::Ticks(link) => link.backlog(),
            Self::Wifi(wifi) => wifi.backlog(port),
            Self::Cell(cell) => cell.backlog(port),
            Self::Docsis(cable) => cable.backlog(port),
            Self::Satellite(link) => link.backlog(port),
        }
    }

    /// Number of packets that wait or are being served, at all links of the channel.
    #[must_use]
    pub fn packets(&self) -> usize {
        match self {
            Self::Wire(_) | Self::Ticks(_) => self.packets_of(Port::There),
            Self::Wifi(_) | Self::Cell(_) | Self::Docsis(_) | Self::Satellite(_) => {
                self.packets_of(Port::There) + self.packets_of(Port::Back)
            }
        }
    }

    /// Number of packets that wait or are being served at the link at `port`.
    #[must_use]
    pub fn packets_of(&self, port: Port) -> usize {
        match self {
            Self::Wire(link) => link.packets(),
            Self::Ticks(link) => link.packets(),
            Self::Wifi(wifi) => wifi.packets_of(port),
            Self::Cell(cell) => cell.packets_of(port),
            Self::Docsis(cable) => cable.packets_of(port),
            Self::Satellite(link) => link.packets_of(port),
        }
    }
}
