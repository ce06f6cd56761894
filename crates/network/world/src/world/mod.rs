//! The event loop: a source of pictures and sound, its sessions, and their persons.
//!
//! Each part says when it next has something to do; the earliest goes first. Parts that act at
//! the same instant act in the order of their numbers.

mod checks;
mod ends;
mod faults;

use std::sync::Arc;

use mimosa_session::host::{Captured, Inputs, SoundFrame};
use mimosa_units::{Time, TimeDelta};
use mimosa_video::{Picture, Size};

use self::ends::{plain_ends, webrtc_ends};
use crate::codecs::{Codecs, draw};
use crate::fault::Fault;
use crate::host::{Broken, HostSide};
use crate::person::{Person, Viewer};
use crate::plan::{Plan, TransportKind};
use crate::rules::{MOST_AT_ONCE, Rule, Violation};
use crate::summary::Summary;

/// Time between blocks of sound.
const BLOCK: TimeDelta = TimeDelta::from_millis(10);
/// Bytes of a block of sound, which make 96 kbit/s.
const SOUND_BYTES: usize = 120;
/// Time between checks of the rules that always hold.
const LOOK_EVERY: TimeDelta = TimeDelta::from_millis(100);

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
}
