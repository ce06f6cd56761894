//! Begins and ends the faults of a plan.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use mimosa_protocol::control::NoticeCode;
use mimosa_units::{Rate, TimeDelta};

use super::World;
use crate::fault::{Fault, FaultKind};
use crate::liar::Orders;
use crate::person::Person;
use crate::plan::TransportKind;

/// Why a session ends whose player leaves.
const LEFT: &str = "left";
/// Bytes of the text that a game copies just before it ends, so that messages wait before the one
/// that says why: three times SCTP's initial window (RFC 9260, section 7.2.1, 4380 bytes).
const COPIED: usize = 13_000;
/// The reason that a host gives when it ends a session.
const DISMISSED: &str = "the game has ended";

impl World<'_> {
    /// Begins and ends faults.
    pub(super) fn faults(&mut self) {
        let now = self.now;
        while let Some(fault) = self
            .plan
            .faults
            .get(self.next_fault)
            .filter(|f| f.at <= now)
        {
            self.next_fault += 1;
            let fault = *fault;
            self.begin(fault);
            if fault.lasts > TimeDelta::ZERO && fault.kind != FaultKind::ClockStep {
                self.running.push(fault);
            }
        }
        let is_over = |fault: &Fault| fault.ends() <= now;
        while let Some(place) = self.running.iter().position(is_over) {
            let fault = self.running.remove(place);
            self.end(&fault);
        }
    }

    fn begin(&mut self, fault: Fault) {
        let now = self.now;
        let sessions = self.sessions;
        let Some(person) = self.persons.get_mut(fault.person) else {
            return;
        };
        match fault.kind {
            FaultKind::Loss => person.there.set_loss(fault.strength * 0.4),
            FaultKind::Burst | FaultKind::Outage => {
                person.there.set_out(true);
                person.back.set_out(true);
            }
            FaultKind::Reordering => person.there.set_reordering(fault.strength),
            FaultKind::Duplication => {
                person.there.set_copies(fault.strength);
                person.back.set_copies(fault.strength);
            }
            FaultKind::Rebinding => {
                let port = 20_000 + u16::try_from(sessions % 1_000).unwrap_or(0) + 1;
                let port = port + person.outside.port() % 1_000;
                person.outside = SocketAddr::new(person.outside.ip(), port);
                person.rebound = true;
            }
            FaultKind::RateChange => {
                let least = Rate::from_kbps(900);
                person.there.set_rate(now, fault.rate.max(least));
                self.summary.witness("rate-change");
            }
            FaultKind::FeedbackPause => orders(person, |orders| &orders.is_silent, true),
            FaultKind::Lie => orders(person, |orders| &orders.lies, true),
            FaultKind::Stall => {
                person.stalled = Some(fault.ends());
                self.summary.witness("stall");
            }
            FaultKind::Close => self.close(fault.person, "close"),
            FaultKind::Reload => {
                self.close(fault.person, "reload");
                let at = now + TimeDelta::from_secs(fault.strength);
                self.again.push((at, fault.person));
            }
            FaultKind::Dismissal => {
                if let Some(host) = &mut person.host
                    && host.session.is_connected()
                {
                    // A plain connection sends a message of any length as one datagram.
                    if self.plan.transport == TransportKind::WebRtc {
                        host.session.copied(&"copied ".repeat(COPIED / 7));
                    }
                    host.session.leave(now, DISMISSED);
                    host.dismissed = Some(now);
                    self.summary.witness("dismissal");
                }
            }
            FaultKind::EncoderOverrun => {
                if let Some(host) = &mut person.host {
                    host.encoder.overrun = fault.strength;
                }
            }
            FaultKind::SlowEncoder => {
                if let Some(host) = &mut person.host {
                    host.encoder.slow = fault.strength;
                }
            }
            FaultKind::SlowDecoder => {
                if let Some(viewer) = &mut person.viewer {
                    viewer.decoder.slow = fault.strength;
                }
            }
            FaultKind::EncoderFailure => {
                if let Some(host) = &mut person.host {
                    host.encoder.is_broken = true;
                }
            }
            FaultKind::Resize => {
                if self.size != fault.size {
                    self.summary.witness("resize");
                }
                self.size = fault.size;
            }
            FaultKind::LineTest => {
                if let Some(viewer) = &mut person.viewer
                    && viewer.session.test_line()
                {
                    self.summary.witness("line-test");
                }
            }
            FaultKind::Limit => {
                if let Some(viewer) = &mut person.viewer
                    && viewer.session.limit(Some(fault.rate))
                {
                    self.summary.witness("limit");
                }
            }
            FaultKind::ClockStep => {
                person.ahead += fault.lasts;
                self.summary.witness("clock-step");
            }
        }
    }

    fn end(&mut self, fault: &Fault) {
        let acts = |running: &Fault| running.kind == fault.kind && running.person == fault.person;
        if self.running.iter().any(acts) {
            return;
        }
        let is_out = self.running.iter().any(|running| {
            running.person == fault.person
                && matches!(running.kind, FaultKind::Burst | FaultKind::Outage)
        });
        let Some(person) = self.persons.get_mut(fault.person) else {
            return;
        };
        match fault.kind {
            FaultKind::Loss => {
                person.there.end_loss();
                self.summary.witness("loss");
            }
            FaultKind::Burst | FaultKind::Outage => {
                person.there.set_out(is_out);
                person.back.set_out(is_out);
                self.summary.witness(fault.kind.name());
            }
            FaultKind::Reordering => {
                person.there.set_reordering(0.0);
                if person.there.counts().overtaken > 0 {
                    self.summary.witness("reordering");
                }
            }
            FaultKind::Duplication => {
                person.there.set_copies(0.0);
                person.back.set_copies(0.0);
                if person.there.counts().copied + person.back.counts().copied > 0 {
                    self.summary.witness("duplication");
                }
            }
            FaultKind::FeedbackPause => {
                orders(person, |orders| &orders.is_silent, false);
                if person.lied() > 0 {
                    self.summary.witness("feedback-pause");
                }
            }
            FaultKind::Lie => {
                orders(person, |orders| &orders.lies, false);
                if person.lied() > 0 {
                    self.summary.witness("lie");
                }
            }
            FaultKind::EncoderOverrun => {
                if let Some(host) = &mut person.host {
                    host.encoder.overrun = 1.0;
                }
            }
            FaultKind::SlowEncoder => {
                if let Some(host) = &mut person.host {
                    host.encoder.slow = 1.0;
                }
            }
            FaultKind::SlowDecoder => {
                if let Some(viewer) = &mut person.viewer {
                    viewer.decoder.slow = 1.0;
                }
            }
            FaultKind::Limit => {
                if let Some(viewer) = &mut person.viewer {
                    viewer.session.limit(None);
                }
            }
            _ => {}
        }
    }

    /// Lets a person leave, and in every second session say so.
    fn close(&mut self, number: usize, kind: &'static str) {
        self.summary.witness(kind);
        let (now, is_polite) = (self.now, self.sessions.is_multiple_of(2));
        let Some(person) = self.persons.get_mut(number) else {
            return;
        };
        if kind == "reload" {
            // The page names its former session, and the host ends that one.
            if let Some(host) = &mut person.host {
                host.session.notice(NoticeCode::Ended, LEFT.to_owned());
                host.session.close(LEFT);
            }
        }
        if let Some(viewer) = &mut person.viewer {
            if is_polite {
                viewer.session.close();
            }
            viewer.ended.get_or_insert_with(|| LEFT.to_owned());
        }
        // The last messages of both ends still leave.
        let _ = person.settle(now, &mut self.summary);
    }
}

/// Gives an order to a person's transport.
fn orders(person: &Person, which: impl Fn(&Orders) -> &AtomicBool, is_on: bool) {
    if let Some(viewer) = &person.viewer {
        which(&viewer.orders).store(is_on, Ordering::Relaxed);
    }
}
