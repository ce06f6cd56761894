//! Checks the rules that no single part can check by itself.

use std::sync::atomic::Ordering;

use mimosa_protocol::control::Role;
use mimosa_units::{Time, TimeDelta};

use super::World;
use crate::fault::FaultKind;
use crate::host::{Broken, HostSide};
use crate::person::{Person, Viewer};
use crate::plan::TransportKind;
use crate::rules::{BEGINS_WITHIN, ENDS_WITHIN, MOST_REMEMBERED, PICTURES_WITHIN, Rule};

/// Time after the end of a network fault in which rules allow for it.
const FORGIVEN: TimeDelta = TimeDelta::from_millis(2_500);
/// Share of datagrams to a person whose loss shows that a controller does not respond to losses:
/// twice the share from which GCC lowers its rate. Chosen.
const FLOODED: f64 = 0.2;
/// Share of datagrams to a person whose loss keeps SCTP's timeout growing: every message of
/// five datagrams then has a lost one in a quarter of its attempts. Chosen.
const MUCH_LOST: f64 = 0.05;

/// SCTP's least timeout (RFC 9260, section 16), after which a message is sent again.
const FIRST_TIMEOUT: TimeDelta = TimeDelta::from_millis(1_000);

impl World<'_> {
    /// Checks the rules that hold at any time.
    pub(super) fn look(&mut self) -> Result<(), Broken> {
        let now = self.now;
        for number in 0..self.persons.len() {
            let is_troubled = self.is_troubled(number);
            let person = &mut self.persons[number];
            for (name, way) in [("there", &person.there), ("back", &person.back)] {
                let counts = way.counts();
                let seen = counts.arrived + counts.dropped + counts.lost + way.inside();
                if counts.sent + counts.copied != seen {
                    return Err((Rule::Conservation, format!("{name}: {counts:?}")));
                }
            }
            let host = person.host.as_mut();
            if let Some(host) = host.filter(|host| host.ended.is_none()) {
                let held = host.session.held();
                if held > MOST_REMEMBERED {
                    return Err((Rule::Memory, format!("the host remembers {held} items")));
                }
                if is_troubled {
                    host.forgive_keyframe();
                }
            }
            if is_troubled {
                person.troubled = person.there.counts();
                person.told = person.viewer.as_ref().and_then(|viewer| viewer.statistics);
            }
            if let Some(viewer) = person.viewer.as_ref().filter(|v| v.ended.is_none()) {
                let held = viewer.session.held() + viewer.decoder.waiting();
                if held > MOST_REMEMBERED {
                    return Err((Rule::Memory, format!("a player remembers {held} items")));
                }
            }
            let _ = now;
        }
        Ok(())
    }

    /// Whether a fault affects a person, or did a short time ago.
    fn is_troubled(&self, number: usize) -> bool {
        let now = self.now;
        self.plan.faults.iter().any(|fault| {
            fault.person == number && fault.at <= now && now.since(fault.ends()) < FORGIVEN
        })
    }

    /// Whether a person could be told something at `at` and in the time in which a host says why a
    /// session ends: no fault was near that loses messages, or makes the host overload the link.
    fn is_calm(&self, number: usize, at: Time) -> bool {
        !self.plan.faults.iter().any(|fault| {
            let hinders = match fault.kind {
                FaultKind::Loss
                | FaultKind::Burst
                | FaultKind::Outage
                | FaultKind::Rebinding
                | FaultKind::Stall
                | FaultKind::Close
                | FaultKind::Reload
                | FaultKind::FeedbackPause
                | FaultKind::LineTest
                | FaultKind::Lie => true,
                FaultKind::Reordering
                | FaultKind::Duplication
                | FaultKind::RateChange
                | FaultKind::Dismissal
                | FaultKind::EncoderOverrun
                | FaultKind::EncoderFailure
                | FaultKind::Resize
                | FaultKind::ClockStep
                | FaultKind::SlowEncoder
                | FaultKind::SlowDecoder
                | FaultKind::Limit => false,
            };
            let is_near = fault.at < at + FORGIVEN && at < fault.ends() + FORGIVEN;
            fault.person == number && hinders && is_near
        })
    }

    /// Whether a person's link gets more than it carries for good: nothing slows down a session
    /// without reports, and some algorithms of the literature, such as Salsify's, do not respond to
    /// losses. Our own controller has no such excuse.
    fn is_overloaded(&self, host: &HostSide, person: &Person) -> bool {
        let since = person.there.counts().since(&person.troubled);
        let is_ours = self.plan.controller == "mimosa";
        host.may_overload(person.there.rate()) || (!is_ours && since.lost_share() > FLOODED)
    }

    /// Whether messages to a person were late already when the host ended the session at `at`. The
    /// reason for its end then waits behind them.
    fn is_late(&self, host: &HostSide, viewer: &Viewer, at: Time) -> bool {
        // SCTP sends the oldest message again before any other.
        let is_waiting = self.plan.transport == TransportKind::WebRtc
            && viewer
                .statistics
                .is_none_or(|told| at.since(told) > FIRST_TIMEOUT);
        let is_ours = self.plan.controller == "mimosa";
        is_waiting || (!is_ours && host.behind.is_some_and(|wait| wait > FIRST_TIMEOUT))
    }

    /// Time in which a person is told something new where no fault hinders it.
    fn told_within(&self, person: &Person) -> TimeDelta {
        let since = person.there.counts().since(&person.troubled);
        if self.plan.transport == TransportKind::Plain || since.lost_share() == 0.0 {
            return PICTURES_WITHIN;
        }
        // A message is lost, and lost again when it is sent again.
        PICTURES_WITHIN + FIRST_TIMEOUT + FIRST_TIMEOUT * 2
    }

    /// Whether messages to a person or from one may still be late. SCTP, which carries them in WebRTC,
    /// doubles its timeout with each loss (RFC 9260, section 6.3.3): after trouble it may wait
    /// for as long as the trouble lasted, and where a controller keeps losing packets, longer.
    fn may_wait_for_messages(&self, person: &Person, calm: TimeDelta) -> bool {
        if self.plan.transport == TransportKind::Plain {
            return false;
        }
        let since = person.there.counts().since(&person.troubled);
        let heard = person.told.unwrap_or(Time::ZERO);
        let trouble = self.plan.calm_from().since(heard);
        since.lost_share() > MUCH_LOST || calm < trouble + PICTURES_WITHIN
    }

    /// Looks at what must hold at the end.
    pub(super) fn finish(&mut self) -> Result<(), Broken> {
        let now = self.now;
        let calm = now.since(self.plan.calm_from());
        for (number, person) in self.persons.iter().enumerate() {
            for way in [&person.there, &person.back] {
                let counts = way.counts();
                self.summary.datagrams += counts.sent;
                self.summary.arrived += counts.arrived;
            }
            let (Some(host), Some(viewer)) = (&person.host, &person.viewer) else {
                continue;
            };
            match (&host.ended, &viewer.ended) {
                (None, None) => {
                    let age = now.since(viewer.began);
                    let is_overloaded = self.is_overloaded(host, person);
                    // Where the address changes during the handshake of DTLS, its few attempts may
                    // all be lost: the host gives up, and the player begins again.
                    let is_beginning = host.connected.is_none() && age < BEGINS_WITHIN;
                    let is_excused = is_overloaded || is_beginning;
                    if calm < PICTURES_WITHIN || age < PICTURES_WITHIN || is_excused {
                        continue;
                    }
                    let share = person.there.counts().since(&person.troubled).lost_share();
                    let losses = format!("{:.1} % of its datagrams were lost", share * 100.0);
                    let last = viewer.shown.map_or(TimeDelta::MAX, |at| now.since(at));
                    if last > PICTURES_WITHIN {
                        let detail = format!("person {number} has seen none for {last}; {losses}");
                        return Err((Rule::Pictures, detail));
                    }
                    let told = viewer.statistics.map_or(TimeDelta::MAX, |at| now.since(at));
                    let is_late = told > self.told_within(person);
                    if is_late && !self.may_wait_for_messages(person, calm) {
                        let detail = format!("person {number} was told none for {told}; {losses}");
                        return Err((Rule::Statistics, detail));
                    }
                }
                (Some(said), Some(heard)) => {
                    let is_overloaded = self.is_overloaded(host, person);
                    let is_calm = host.dismissed.is_some_and(|at| {
                        // A player that had left already hears nothing.
                        let is_there = viewer.over.is_some_and(|over| over >= at);
                        is_there && self.is_calm(number, at) && !self.is_late(host, viewer, at)
                    });
                    if is_calm && !is_overloaded && said != heard {
                        let detail = format!("the host said {said:?}, the player heard {heard:?}");
                        return Err((Rule::Told, detail));
                    }
                }
                (ended, _) => {
                    if calm > ENDS_WITHIN {
                        let detail = format!("person {number}, at the host: {ended:?}");
                        return Err((Rule::Ends, detail));
                    }
                }
            }
            let is_due = calm > PICTURES_WITHIN && !self.may_wait_for_messages(person, calm);
            keys(number, person.plan.role, host, viewer, is_due)?;
        }
        Ok(())
    }
}

/// Checks that each key that a player pressed or released reached the source, once and in order.
/// Only where `is_due` is set must all but the newest keys have come. Nothing holds for a player whose
/// lies have reached the channel of keys.
fn keys(
    number: usize,
    role: Role,
    host: &HostSide,
    viewer: &Viewer,
    is_due: bool,
) -> Result<(), Broken> {
    if role != Role::Player || viewer.orders.has_spoiled_keys.load(Ordering::Relaxed) {
        return Ok(());
    }
    let in_order = viewer.keys.starts_with(&host.keys);
    // The newest keys may be on their way.
    let late = viewer.keys.len() - host.keys.len().min(viewer.keys.len());
    let is_alive = host.ended.is_none() && viewer.ended.is_none();
    if !in_order || (is_alive && is_due && late > 12) {
        let same = viewer.keys.iter().zip(&host.keys);
        let same = same.take_while(|(pressed, heard)| pressed == heard).count();
        let detail = format!(
            "person {number} pressed {}, the source heard of {}, the first {same} of them in order",
            viewer.keys.len(),
            host.keys.len()
        );
        return Err((Rule::Actions, detail));
    }
    Ok(())
}
