//! Another controller decides for a while, as a test of the line does before the stream goes on.

use mimosa_facts::{Controller, Decision, Event, PacketKind, PacketReport, Sequence};
use mimosa_units::{Bytes, Time};

use super::Sender;

/// The stream's own controller, which learns what becomes of frames and does not decide.
#[derive(Debug)]
pub(super) struct Aside {
    controller: Box<dyn Controller>,
    /// Number of the first packet of the time in which the other one decides.
    from: Sequence,
}

impl Aside {
    pub(super) fn decision(&self) -> &Decision {
        self.controller.decision()
    }

    /// Tells the controller of an event, unless it is about probes of the other one: a frame whose fate
    /// it never learned would be overdue for good.
    pub(super) fn tell(&mut self, now: Time, event: Event<'_>) {
        let from = self.from;
        let is_its = |kind, sequence: Sequence| kind != PacketKind::Probe || sequence < from;
        match event {
            Event::PacketSent(packet) if is_its(packet.kind, packet.sequence) => {
                self.controller.handle(now, event);
            }
            Event::Feedback { reports, in_flight } => {
                let its =
                    |report: &&PacketReport| is_its(report.packet.kind, report.packet.sequence);
                let reports: Vec<_> = reports.iter().filter(its).copied().collect();
                if !reports.is_empty() {
                    let reports = &reports;
                    let event = Event::Feedback { reports, in_flight };
                    self.controller.handle(now, event);
                }
            }
            Event::FrameBegun { .. }
            | Event::FrameEncoded { .. }
            | Event::FrameGivenUp { .. }
            | Event::FrameDecoded { .. }
            | Event::Unknown { .. } => {
                self.controller.handle(now, event);
            }
            _ => {}
        }
    }
}

impl Sender {
    /// Lets another controller decide from `now` on, until [`Sender::resume`]. The present one learns
    /// what becomes of its frames meanwhile. Nothing happens if another one decides already.
    pub fn interrupt(&mut self, now: Time, other: Box<dyn Controller>) {
        if self.aside.is_none() {
            let from = self.history.next();
            let controller = std::mem::replace(&mut self.controller, other);
            self.aside = Some(Aside { controller, from });
            self.adopt(now);
        }
    }

    /// Lets the stream's own controller decide again.
    pub fn resume(&mut self, now: Time) {
        if let Some(aside) = self.aside.take() {
            self.controller = aside.controller;
            self.adopt(now);
        }
    }

    /// Applies the decision of a controller that has just taken its place, except for probes, which may
    /// have been sent.
    fn adopt(&mut self, now: Time) {
        let decision = *self.controller.decision();
        if let Some(probe) = &decision.probe {
            self.pacer.pass_over(probe);
        }
        self.window = decision.window.unwrap_or(Bytes::MAX);
        self.pace(now, &decision);
        self.timer = self.controller.deadline();
        self.refresh();
    }
}
