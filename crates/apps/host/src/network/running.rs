//! The sessions that run: what each does is carried out, and a panic ends the one session that it is in.

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use mimosa_facts::{SessionEvent, SessionFrame};
use mimosa_protocol::proof::SessionGuard;
use mimosa_session::host::{Effect, Session};
use mimosa_units::Time;

use super::relay::Peers;
use super::{Network, SessionId, SessionNumber};
use crate::encoding::EncoderThread;
use crate::metrics::Metrics;
use crate::recording::Recorder;

/// Time after a session's end by which its threads have ended as well. Our choice: an encoder finishes a frame, and a
/// recorder writes a part of a file.
const WOUND_UP: Duration = Duration::from_secs(2);

/// The time at which the network's thread next takes a session's frames from its inbox without being woken. A part of a
/// frame that comes while packets of the frame wait for their turn leaves after them, so that the thread need not be woken
/// for it.
#[derive(Debug, Default)]
pub(super) struct NextLook(AtomicU64);

impl NextLook {
    /// Publishes the time; `None` if the thread has to be woken.
    fn set(&self, at: Option<Time>) {
        self.0
            .store(at.map_or(0, Time::as_nanos), Ordering::Relaxed);
    }

    /// Whether the time is after `now`.
    pub(super) fn is_after(&self, now: Time) -> bool {
        self.0.load(Ordering::Relaxed) > now.as_nanos()
    }
}

/// A session, with what the thread keeps for it.
pub(super) struct Running {
    pub(super) session: Session,
    pub(super) id: SessionId,
    /// Guards the session's further requests, if its offer was proven.
    pub(super) guard: Option<SessionGuard>,
    /// The identifier of the paired device whose session it is, if it is one's.
    pub(super) device: Option<String>,
    pub(super) encoder: EncoderThread,
    pub(super) next_look: Arc<NextLook>,
    pub(super) recorders: Vec<Recorder>,
    /// Where the session's newest datagram came from: a guess that avoids asking all sessions.
    pub(super) address: Option<SocketAddr>,
    /// The addresses that may send to the host's address at a relay, for this session.
    pub(super) peers: Peers,
}

impl Running {
    /// When something of the session is due. Publishes to the session's encoder when its parts are taken.
    pub(super) fn deadline(&self) -> Time {
        self.next_look.set(self.session.next_of_frames());
        self.session.deadline()
    }

    /// Reports a frame about which everything is known to metrics and recorders.
    fn told(&mut self, metrics: &Metrics, frame: &SessionFrame) {
        metrics.frame(frame);
        for recorder in &mut self.recorders {
            recorder.push(frame);
        }
    }
}

/// Gives what a session had of memory to the system, once its threads have ended too.
#[expect(clippy::disallowed_methods, reason = "a driver waits")]
fn return_memory() {
    let later = thread::Builder::new().name("memory".to_owned());
    // Without a thread, the memory stays until the next session's end.
    let _ = later.spawn(|| {
        thread::sleep(WOUND_UP);
        mimosa_memory::return_freed();
    });
}

impl Network {
    /// Calls `act` for each session, and carries out what follows. A panic in a session ends only
    /// that one.
    pub(super) fn each(&mut self, mut act: impl FnMut(&mut Running, Time, usize)) {
        let viewers = self.viewers();
        let numbers: Vec<_> = self.sessions.keys().copied().collect();
        for number in numbers {
            self.with(number, |running, now| act(running, now, viewers));
        }
    }

    /// Calls `act` for one session.
    pub(super) fn with<T>(
        &mut self,
        number: SessionNumber,
        act: impl FnOnce(&mut Running, Time) -> T,
    ) -> Option<T> {
        let now = self.clock.now();
        let running = self.sessions.get_mut(&number)?;
        let result = catch_unwind(AssertUnwindSafe(|| act(running, now)));
        let Ok(result) = result else {
            self.panicked(number);
            return None;
        };
        self.settle(number);
        Some(result)
    }

    /// Carries out what a session wants done. A session that panics ends.
    pub(super) fn settle(&mut self, number: SessionNumber) {
        let settled = catch_unwind(AssertUnwindSafe(|| self.carry_out(number)));
        if settled.is_err() {
            self.panicked(number);
        }
    }

    /// Sends a session's datagrams, and carries out its effects.
    fn carry_out(&mut self, number: SessionNumber) {
        let mut has_connected = false;
        let mut ended = None;
        while let Some(running) = self.sessions.get_mut(&number) {
            let datagrams = std::iter::from_fn(|| running.session.poll_datagram());
            let unsent = self.sockets.send(self.clock.now(), datagrams);
            self.metrics.unsent.inc_by(unsent);
            let effects = running.session.take_effects();
            if effects.is_empty() {
                break;
            }
            for effect in effects {
                match effect {
                    Effect::Encode(job) => {
                        if !running.encoder.encode(job) {
                            ended = Some("the encoder has died".to_owned());
                        }
                    }
                    Effect::Act(played) => self.source.act(played),
                    Effect::Copied(text) => self.source.offer(text),
                    Effect::Shift(by) => self.source.shift(by),
                    Effect::LineTestWanted => {
                        let now = self.clock.now();
                        if self.line_gate.opens(now) {
                            running.session.test_line(now);
                        } else {
                            let reason = "a line was tested a moment ago: ask again in 10 s";
                            running.session.line_not_tested(reason);
                        }
                    }
                    Effect::Happened(SessionEvent::Connected) => {
                        has_connected = true;
                        tracing::info!(session = number.0, "connected");
                        if let Some(picture) = &self.newest {
                            running.session.picture(self.clock.now(), picture);
                        }
                    }
                    Effect::Happened(SessionEvent::Frame(frame)) => {
                        running.told(&self.metrics, &frame);
                    }
                    Effect::Happened(SessionEvent::DecoderStopped) => {
                        self.metrics.undecoded.inc();
                    }
                    Effect::Happened(SessionEvent::Ended { reason }) => ended = Some(reason),
                }
            }
        }
        if let Some(reason) = ended {
            self.remove(number, &reason);
        } else if has_connected {
            self.count();
        }
    }

    /// Ends a session that has panicked.
    pub(super) fn panicked(&mut self, number: SessionNumber) {
        tracing::error!(session = number.0, "a session has panicked, and is ended");
        self.remove(number, "an error inside the host");
    }

    /// Ends a session, and does what it still wants done.
    pub(super) fn remove(&mut self, number: SessionNumber, reason: &str) {
        let Some(mut running) = self.sessions.remove(&number) else {
            return;
        };
        tracing::info!(
            session = number.0,
            role = running.session.role().name(),
            reason,
            "ended"
        );
        // What the session says at its end, and a panic then as well, affects no other.
        let closing = AssertUnwindSafe(|| {
            running.session.close(reason);
            let datagrams = std::iter::from_fn(|| running.session.poll_datagram());
            self.sockets.send(self.clock.now(), datagrams);
            for effect in running.session.take_effects() {
                match effect {
                    Effect::Act(played) => self.source.act(played),
                    Effect::Happened(SessionEvent::Frame(frame)) => {
                        running.told(&self.metrics, &frame);
                    }
                    _ => {}
                }
            }
        });
        if catch_unwind(closing).is_err() {
            tracing::error!(session = number.0, "a session has panicked at its end");
        }
        self.sockets.streams.close_of(number);
        self.permit();
        self.count();
        return_memory();
    }
}
