//! The event loop: a source of pictures and sound, its sessions, and their persons.
//!
//! Each part says when it next has something to do; the earliest goes first. Parts that act at
//! the same instant act in the order of their numbers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mimosa_facts::Codec;
use mimosa_protocol::control::{FeedbackKind, NoticeCode, Role};
use mimosa_session::host::{Captured, Inputs, SoundFrame};
use mimosa_stream::Code;
use mimosa_transport::plain::{self, Terms};
use mimosa_transport::{Agreed, Caller, HostTransport, Peer, ViewerTransport};
use mimosa_units::{Rate, Time, TimeDelta};
use mimosa_video::{Picture, Size};

use crate::codecs::{Codecs, draw};
use crate::fault::{Fault, FaultKind};
use crate::host::{Broken, HostSide};
use crate::person::{Person, Viewer};
use crate::plan::{Plan, TransportKind};
use crate::rules::{ENDS_WITHIN, MOST_AT_ONCE, MOST_REMEMBERED, PICTURES_WITHIN, Rule, Violation};
use crate::summary::Summary;

/// Time between blocks of sound.
const BLOCK: TimeDelta = TimeDelta::from_millis(10);
/// Bytes of a block of sound, which make 96 kbit/s.
const SOUND_BYTES: usize = 120;
/// Time between checks of the rules that always hold.
const LOOK_EVERY: TimeDelta = TimeDelta::from_millis(100);
/// Time after the end of a network fault in which rules allow for it.
const FORGIVEN: TimeDelta = TimeDelta::from_millis(2_500);

/// Share of datagrams to a person whose loss keeps SCTP's timeout growing: every message of
/// five datagrams then has a lost one in a quarter of its attempts. Chosen.
const MUCH_LOST: f64 = 0.05;

/// Plays a plan to its end, with models of an encoder and a decoder.
///
/// # Errors
///
/// The first [`Violation`] of a rule.
pub fn run(plan: &Plan) -> Result<Summary, Violation> {
    run_with(plan, None)
}

/// Plays a plan to its end, with real encoders and decoders if there are `codecs`.
///
/// # Errors
///
/// The first [`Violation`] of a rule.
pub fn run_with(plan: &Plan, codecs: Option<Codecs>) -> Result<Summary, Violation> {
    let mut world = World::new(plan, codecs);
    let result = world.run();
    let (seed, at) = (plan.seed, world.now);
    result.map_err(|(rule, detail)| Violation {
        seed,
        at,
        rule,
        detail,
    })?;
    Ok(world.summary)
}

struct World<'a> {
    plan: &'a Plan,
    codecs: Option<Codecs>,
    /// Pictures so far.
    pictures: u64,
    now: Time,
    persons: Vec<Person>,
    /// When each person has something to do next.
    due: Vec<Time>,
    size: Size,
    newest: Option<Arc<Captured>>,
    next_picture: Time,
    next_sound: Time,
    next_look: Time,
    sample: u64,
    /// Index of the next fault that has not begun, and the faults that are acting.
    next_fault: usize,
    running: Vec<Fault>,
    /// Number of sessions begun.
    sessions: u64,
    /// When persons return, by their number.
    again: Vec<(Time, usize)>,
    summary: Summary,
    at_once: u32,
}

impl<'a> World<'a> {
    fn new(plan: &'a Plan, codecs: Option<Codecs>) -> Self {
        let persons = (0..plan.persons.len()).filter_map(|number| Person::new(plan, number));
        let start = Time::from_millis(10);
        Self {
            plan,
            codecs,
            pictures: 0,
            now: Time::ZERO,
            persons: persons.collect(),
            due: Vec::new(),
            size: plan.size,
            newest: None,
            next_picture: start,
            next_sound: if plan.has_sound { start } else { Time::MAX },
            next_look: start,
            sample: 0,
            next_fault: 0,
            running: Vec::new(),
            sessions: 0,
            again: Vec::new(),
            summary: Summary {
                runs: 1,
                time: plan.duration,
                ..Summary::default()
            },
            at_once: 0,
        }
    }

    fn run(&mut self) -> Result<(), Broken> {
        for number in 0..self.persons.len() {
            self.connect(number);
        }
        self.refresh();
        let end = Time::ZERO + self.plan.duration;
        loop {
            let next = self.next();
            if next >= end {
                break;
            }
            if next > self.now {
                self.at_once = 0;
            }
            self.at_once += 1;
            if self.at_once > MOST_AT_ONCE {
                return Err((Rule::Progress, format!("stuck at {next}")));
            }
            self.now = self.now.max(next);
            self.step()?;
        }
        self.now = end;
        self.finish()
    }

    /// When something happens next.
    fn next(&self) -> Time {
        let persons = self.due.iter().copied();
        let fault = self.plan.faults.get(self.next_fault);
        let ends = self.running.iter().map(Fault::ends);
        let again = self.again.iter().map(|(at, _)| *at);
        persons
            .chain(fault.map(|fault| fault.at))
            .chain(ends)
            .chain(again)
            .fold(Time::MAX, Time::min)
            .min(self.next_picture)
            .min(self.next_sound)
            .min(self.next_look)
    }

    /// Whether a fault, a picture, a block of sound or a returning person comes by `now`, after
    /// which any person may have something else to do.
    fn changes(&self, now: Time) -> bool {
        let fault = self.plan.faults.get(self.next_fault);
        fault.is_some_and(|fault| fault.at <= now)
            || self.running.iter().any(|fault| fault.ends() <= now)
            || self.again.iter().any(|(at, _)| *at <= now)
            || self.next_picture.min(self.next_sound) <= now
    }

    /// Asks every person again when there is something to do.
    fn refresh(&mut self) {
        self.due.clear();
        self.due.extend(self.persons.iter().map(Person::deadline));
    }

    fn step(&mut self) -> Result<(), Broken> {
        let now = self.now;
        let has_changed = self.changes(now);
        self.faults();
        if let Some(place) = self.again.iter().position(|(at, _)| *at <= now) {
            let (_, number) = self.again.remove(place);
            self.connect(number);
        }
        if self.next_picture <= now {
            self.next_picture = now + self.plan.interval;
            self.picture()?;
        }
        if self.next_sound <= now {
            self.next_sound = now + BLOCK;
            self.sound()?;
        }
        if has_changed {
            self.refresh();
        }
        for number in 0..self.persons.len() {
            if self.due[number] <= now {
                let has_connected = self.persons[number].step(now, &mut self.summary)?;
                if has_connected {
                    self.show_newest(number)?;
                }
                self.due[number] = self.persons[number].deadline();
            }
        }
        if self.next_look <= now {
            self.next_look = now + LOOK_EVERY;
            self.look()?;
        }
        Ok(())
    }

    /// The source has a new picture for all sessions.
    fn picture(&mut self) -> Result<(), Broken> {
        let mut picture = Picture::new(self.size);
        if self.codecs.is_some() {
            draw(&mut picture, self.pictures);
        }
        self.pictures += 1;
        let picture = Arc::new(Captured {
            picture,
            at: self.now,
            inputs: Inputs::default(),
        });
        for number in 0..self.persons.len() {
            let now = self.now;
            let person = &mut self.persons[number];
            if let Some(host) = person.host.as_mut().filter(|host| host.ended.is_none()) {
                host.session.picture(now, &picture);
                person.settle(now, &mut self.summary)?;
            }
        }
        self.newest = Some(picture);
        Ok(())
    }

    /// Gives the newest picture to a session that has just connected.
    fn show_newest(&mut self, number: usize) -> Result<(), Broken> {
        let (now, person) = (self.now, &mut self.persons[number]);
        if let (Some(host), Some(picture)) = (&mut person.host, &self.newest) {
            host.session.picture(now, picture);
            person.settle(now, &mut self.summary)?;
        }
        Ok(())
    }

    /// The source has a block of sound for all sessions.
    fn sound(&mut self) -> Result<(), Broken> {
        let frame = SoundFrame {
            sample: self.sample,
            captured: self.now,
            data: vec![7; SOUND_BYTES],
        };
        self.sample += 480;
        let now = self.now;
        for person in &mut self.persons {
            let Some(host) = person.host.as_mut().filter(|host| host.ended.is_none()) else {
                continue;
            };
            let hears = host.session.hears();
            host.session.sound(now, &frame);
            let before = person.there.counts().sent;
            person.settle(now, &mut self.summary)?;
            if hears {
                self.summary.sound += 1;
                if person.there.counts().sent == before {
                    return Err((Rule::Sound, "a block did not leave at once".to_owned()));
                }
            }
        }
        Ok(())
    }

    /// Begins a session of a person.
    fn connect(&mut self, number: usize) {
        let (now, seed) = (self.now, self.plan.seed);
        let session = self.sessions;
        self.sessions += 1;
        self.summary.sessions += 1;
        let Some(person) = self.persons.get_mut(number) else {
            return;
        };
        let local = person.local(now);
        let id = seed.rotate_left(17) ^ (session + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let ends = match self.plan.transport {
            TransportKind::Plain => Some(plain_ends(self.plan, person, id, [now, local])),
            TransportKind::WebRtc => webrtc_ends(self.plan, person, [now, local]),
        };
        let Some((host, viewer)) = ends else {
            return;
        };
        person.host = HostSide::new(
            (self.plan, self.codecs),
            person.plan.role,
            session,
            host,
            now,
        );
        person.viewer = Some(Viewer::new(
            viewer,
            (self.plan, self.codecs),
            seed ^ session,
            now,
            local,
        ));
    }

    /// Begins and ends faults.
    fn faults(&mut self) {
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
            FaultKind::EncoderOverrun => {
                if let Some(host) = &mut person.host {
                    host.encoder.overrun = fault.strength;
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
                host.session.notice(NoticeCode::Ended, "left".to_owned());
                host.session.close("left");
            }
        }
        if let Some(viewer) = &mut person.viewer {
            if is_polite {
                viewer.session.close();
            }
            viewer.ended.get_or_insert_with(|| "left".to_owned());
        }
        // The last messages of both ends still leave.
        let _ = person.settle(now, &mut self.summary);
    }

    /// Checks the rules that hold at any time.
    fn look(&mut self) -> Result<(), Broken> {
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

    /// Whether messages to a person may still be late. SCTP, which carries them in WebRTC,
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
    fn finish(&mut self) -> Result<(), Broken> {
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
                    if calm < PICTURES_WITHIN || age < PICTURES_WITHIN {
                        continue;
                    }
                    let last = viewer.shown.map_or(TimeDelta::MAX, |at| now.since(at));
                    if last > PICTURES_WITHIN {
                        let detail = format!("person {number} has seen none for {last}");
                        return Err((Rule::Pictures, detail));
                    }
                    let told = viewer.statistics.map_or(TimeDelta::MAX, |at| now.since(at));
                    if told > PICTURES_WITHIN && !self.may_wait_for_messages(person, calm) {
                        let detail = format!("person {number} was told none for {told}");
                        return Err((Rule::Statistics, detail));
                    }
                }
                (Some(_), Some(_)) => {}
                (ended, _) => {
                    if calm > ENDS_WITHIN {
                        let detail = format!("person {number}, at the host: {ended:?}");
                        return Err((Rule::Ends, detail));
                    }
                }
            }
            keys(number, person.plan.role, host, viewer, calm)?;
        }
        Ok(())
    }
}

/// Checks that each key that a player pressed or released reached the source, once and in order.
fn keys(
    number: usize,
    role: Role,
    host: &HostSide,
    viewer: &Viewer,
    calm: TimeDelta,
) -> Result<(), Broken> {
    if role != Role::Player {
        return Ok(());
    }
    let in_order = viewer.keys.starts_with(&host.keys);
    // The newest keys may be on their way.
    let late = viewer.keys.len() - host.keys.len().min(viewer.keys.len());
    let is_alive = host.ended.is_none() && viewer.ended.is_none();
    if !in_order || (is_alive && calm > PICTURES_WITHIN && late > 12) {
        let detail = format!(
            "person {number} pressed {}, the source heard of {}, in order: {in_order}",
            viewer.keys.len(),
            host.keys.len()
        );
        return Err((Rule::Actions, detail));
    }
    Ok(())
}

/// Gives an order to a person's transport.
fn orders(
    person: &Person,
    which: impl Fn(&crate::liar::Orders) -> &std::sync::atomic::AtomicBool,
    is_on: bool,
) {
    if let Some(viewer) = &person.viewer {
        which(&viewer.orders).store(is_on, Ordering::Relaxed);
    }
}

type Ends = (Box<dyn HostTransport>, Box<dyn ViewerTransport>);

/// Both ends of a plain connection.
fn plain_ends(plan: &Plan, person: &Person, id: u64, [now, local]: [Time; 2]) -> Ends {
    let [host, viewer] = person.addresses();
    let feedback = person.plan.feedback;
    let terms = Terms {
        agreed: Agreed {
            codec: Codec::H264,
            feedback,
            bears_gaps: true,
            has_retransmissions: plan.has_repairs,
            repairs: plan.has_repairs.then_some(Code::ReedSolomon),
            has_sound: plan.has_sound,
            takes_redundancy: true,
        },
        id,
        #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
        first_sequence: (id as u16) >> 1,
        host,
        viewer,
    };
    let host = plain::Host::new(&terms, now);
    let viewer = plain::Viewer::new(&terms, local);
    (Box::new(host), Box::new(viewer))
}

/// Both ends of a WebRTC connection, whose offer and answer pass at once.
fn webrtc_ends(plan: &Plan, person: &Person, [now, local]: [Time; 2]) -> Option<Ends> {
    let [host, viewer] = person.addresses();
    let codecs = [Codec::H264];
    let (mut caller, offer) = Caller::offer(&[viewer], &codecs, plan.has_sound, local).ok()?;
    let wanted = match person.plan.feedback {
        // `None` accepts what the caller offers.
        FeedbackKind::CongestionControl => None,
        other => Some(other),
    };
    let (peer, answer) =
        Peer::answer(&offer, &codecs, wanted, &[host], 7, plan.has_sound, now).ok()?;
    caller.accept(&answer).ok()?;
    Some((Box::new(peer), Box::new(caller)))
}
