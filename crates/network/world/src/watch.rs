//! A host's transport that compares what a frame is told to refer to with what it refers to.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use mimosa_facts::FrameId;
use mimosa_rtp::video::Payloads;
use mimosa_stream::Outgoing;
use mimosa_transport::{Agreed, Channel, Datagram, HostTransport, Left, OfferError, PeerEvent};
use mimosa_units::Time;

use crate::encoder::{Refers, reference};

/// What a frame was told to refer to, though it refers to another one.
pub(crate) type Wrong = Arc<Mutex<Option<String>>>;

/// A transport that looks at frames of the model of an encoder.
pub(crate) struct Watch {
    inner: Box<dyn HostTransport>,
    wrong: Wrong,
}

impl Watch {
    pub(crate) fn new(inner: Box<dyn HostTransport>, wrong: Wrong) -> Self {
        Self { inner, wrong }
    }
}

impl Watch {
    /// Looks at the first payloads of a frame, of which players are `told` that it refers to a frame.
    fn look(&self, frame: FrameId, told: Option<FrameId>, payloads: &Payloads) {
        let coded = payloads.iter().next().and_then(reference);
        if let Some(Refers(coded)) = coded.filter(|coded| *coded != Refers(told)) {
            let detail = format!("{frame:?} refers to {coded:?}, and players are told {told:?}");
            let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
            wrong.get_or_insert(detail);
        }
    }
}

impl HostTransport for Watch {
    fn begin(&mut self, frame: FrameId, timestamp: u32, told: Option<FrameId>, payloads: Payloads) {
        self.look(frame, told, &payloads);
        self.inner.begin(frame, timestamp, told, payloads);
    }

    fn extend(&mut self, frame: FrameId, payloads: &Payloads, repairs: Option<u32>) {
        self.inner.extend(frame, payloads, repairs);
    }

    fn arrived(&mut self, frame: FrameId) {
        self.inner.arrived(frame);
    }

    fn agreed(&self) -> Agreed {
        self.inner.agreed()
    }

    fn accepts(&self, now: Time, source: SocketAddr, to: SocketAddr, contents: &[u8]) -> bool {
        self.inner.accepts(now, source, to, contents)
    }

    fn receive(&mut self, now: Time, source: SocketAddr, to: SocketAddr, data: &[u8]) -> bool {
        self.inner.receive(now, source, to, data)
    }

    fn timeout(&mut self, now: Time) {
        self.inner.timeout(now);
    }

    fn deadline(&self) -> Time {
        self.inner.deadline()
    }

    fn add_candidate(&mut self, line: &str) -> Result<(), OfferError> {
        self.inner.add_candidate(line)
    }

    fn send(&mut self, now: Time, packets: &[Outgoing], left: &mut Vec<Left>) {
        self.inner.send(now, packets, left);
    }

    fn send_sound(&mut self, now: Time, timestamp: u32, frame: &[u8], redundancy: usize) -> usize {
        self.inner.send_sound(now, timestamp, frame, redundancy)
    }

    fn frame_at(&self, timestamp: u32) -> Option<FrameId> {
        self.inner.frame_at(timestamp)
    }

    fn write(&mut self, channel: Channel, data: &[u8]) -> bool {
        self.inner.write(channel, data)
    }

    fn is_undelivered(&mut self, channel: Channel) -> bool {
        self.inner.is_undelivered(channel)
    }

    fn close(&mut self) {
        self.inner.close();
    }

    fn poll_datagram(&mut self) -> Option<Datagram> {
        self.inner.poll_datagram()
    }

    fn poll_event(&mut self) -> Option<PeerEvent> {
        self.inner.poll_event()
    }
}
