//! A viewer's transport that sends false reports or none when it is ordered to.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mimosa_facts::Codec;
use mimosa_net::Random;
use mimosa_transport::{CallerEvent, Channel, Datagram, ViewerTransport};
use mimosa_units::Time;

/// Orders to a transport, which the world gives.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    /// Whether reports and messages are to be false.
    pub(crate) lies: AtomicBool,
    /// Whether reports are to be withheld.
    pub(crate) is_silent: AtomicBool,
    /// Whether a message without sense went to the channel of keys, where it may press one, or make
    /// the messages after it look old.
    pub(crate) has_spoiled_keys: AtomicBool,
    /// Number of reports and messages withheld or falsified.
    pub(crate) acted: AtomicU64,
}

/// A transport that follows orders.
pub(crate) struct Liar {
    inner: Box<dyn ViewerTransport>,
    orders: Arc<Orders>,
    random: Random,
}

impl Liar {
    pub(crate) fn new(inner: Box<dyn ViewerTransport>, orders: Arc<Orders>, seed: u64) -> Self {
        Self {
            inner,
            orders,
            random: Random::new(seed, "lies"),
        }
    }

    fn byte(&mut self) -> u8 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below 256"
        )]
        let byte = (self.random.uniform() * 256.0) as u8;
        byte
    }

    /// Changes some bytes, but not the first four, which say what the packet is.
    fn spoil(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut spoiled = bytes.to_vec();
        for byte in spoiled.iter_mut().skip(4) {
            if self.random.chance(0.2) {
                *byte = self.byte();
            }
        }
        spoiled
    }
}

impl ViewerTransport for Liar {
    fn codec(&self) -> Codec {
        self.inner.codec()
    }

    fn reads_congestion(&self) -> bool {
        self.inner.reads_congestion()
    }

    fn name(&self) -> u32 {
        self.inner.name()
    }

    fn receive(&mut self, now: Time, source: SocketAddr, destination: SocketAddr, contents: &[u8]) {
        self.inner.receive(now, source, destination, contents);
    }

    fn timeout(&mut self, now: Time) {
        self.inner.timeout(now);
    }

    fn deadline(&self) -> Time {
        self.inner.deadline()
    }

    fn report(&mut self, compound: &[u8]) {
        if self.orders.is_silent.load(Ordering::Relaxed) {
            self.orders.acted.fetch_add(1, Ordering::Relaxed);
            return;
        }
        if self.orders.lies.load(Ordering::Relaxed) {
            self.orders.acted.fetch_add(1, Ordering::Relaxed);
            let spoiled = self.spoil(compound);
            self.inner.report(&spoiled);
            if self.random.chance(0.3) {
                let channel = Channel::ALL[usize::from(self.byte() % 4)];
                let junk: Vec<_> = (0..self.byte()).map(|_| self.byte()).collect();
                if self.inner.write(channel, &junk) && channel == Channel::Keys {
                    self.orders.has_spoiled_keys.store(true, Ordering::Relaxed);
                }
            }
            return;
        }
        self.inner.report(compound);
    }

    fn want_keyframe(&mut self, now: Time) {
        self.inner.want_keyframe(now);
    }

    fn write(&mut self, channel: Channel, data: &[u8]) -> bool {
        if channel == Channel::Frames && self.orders.lies.load(Ordering::Relaxed) {
            let spoiled = self.spoil(data);
            return self.inner.write(channel, &spoiled);
        }
        self.inner.write(channel, data)
    }

    fn close(&mut self) {
        self.inner.close();
    }

    fn poll_datagram(&mut self) -> Option<Datagram> {
        self.inner.poll_datagram()
    }

    fn poll_event(&mut self) -> Option<CallerEvent> {
        self.inner.poll_event()
    }
}
