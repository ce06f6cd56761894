//! The network's thread: all sessions, with one timer, on one port.

mod admission;
mod advertised;
mod forwards;
mod interfaces;
mod message;
mod reach;
mod relay;
mod running;
mod sockets;
mod streams;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;

use mimosa_protocol::control::Role;
use mimosa_protocol::info::{Info, StreamInfo};
use mimosa_session::host::{Captured, LineGate, SoundFrame};
use mimosa_settings::Settings;
use mimosa_stream::ProtectionKind;
use mimosa_system::{Inbox, Mailbox};
use mimosa_transport::Addresses;
use mimosa_units::{Time, TimeDelta};
use mimosa_video::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use self::admission::unless_panicked;
pub(crate) use self::advertised::Watch as AdvertisedWatch;
pub(crate) use self::forwards::{Forwards, Outside};
pub(crate) use self::interfaces::watch as watch_interfaces;
pub(crate) use self::message::{Answer, Offer, SessionId, SessionNumber, ToNetwork, Within};
use self::relay::Relay;
pub(crate) use self::relay::credentials as relay_credentials;
use self::running::Running;
use self::sockets::Received;
pub(crate) use self::sockets::{Sockets, is_absent};
pub(crate) use self::streams::Framed;
use crate::controllers::Controllers;
use crate::encoding::{EncoderChoices, FromEncoder};
use crate::error::HostError;
use crate::metrics::Metrics;
use crate::sound::{FromSound, Sound, shared_loss};
use crate::source::{FromSource, Source};
use mimosa_system::clock::Clock;

/// Most calls that take datagrams from one socket before timers are handled again.
const MOST_AT_ONCE: usize = 64;
/// Longest sleep of the thread.
const LONGEST_SLEEP: TimeDelta = TimeDelta::from_millis(1_000);

/// What ended a sleep.
struct Ready {
    messages: bool,
    /// Indices of the sockets with datagrams.
    sockets: Vec<usize>,
    /// Indices of the streams that have something, or have room again.
    streams: Vec<usize>,
}

/// The state of the network's thread.
pub(crate) struct Network {
    settings: Arc<Settings>,
    encoders: EncoderChoices,
    controllers: Controllers,
    clock: Clock,
    sockets: Sockets,
    /// Where others reach the host besides the addresses of its sockets.
    advertised: Addresses,
    /// The port at which sessions' datagrams come by TCP, if they can.
    stream_port: Option<u16>,
    // Fields are dropped in this order: a game ends before the sound server into which it plays.
    source: Source,
    sound: Option<Sound>,
    inbox: Inbox<ToNetwork>,
    mailbox: Mailbox<ToNetwork>,
    metrics: Arc<Metrics>,
    sessions: BTreeMap<SessionNumber, Running>,
    next_number: u64,
    line_gate: LineGate,
    /// Threads that write recordings and pictures; the host waits for them at its end.
    writers: Vec<JoinHandle<()>>,
    /// The newest picture, for sessions that begin while the picture does not change.
    newest: Option<Arc<Captured>>,
    /// Why no pictures come at present; `None` while they come.
    waiting_for: Option<String>,
    /// Whether there is no sound for now that sessions expect.
    is_sound_away: bool,
    /// How the host ends, once it does: from then on no session begins, and it runs until the last
    /// one has ended.
    end: Option<Result<(), HostError>>,
}

impl Network {
    /// A network without sessions.
    pub(crate) fn new(
        settings: Arc<Settings>,
        (encoders, controllers): (EncoderChoices, Controllers),
        clock: Clock,
        (mut sockets, stream_port): (Sockets, Option<u16>),
        (source, sound): (Source, Option<Sound>),
        (mailbox, inbox): (Mailbox<ToNetwork>, Inbox<ToNetwork>),
        metrics: Arc<Metrics>,
    ) -> Self {
        sockets.relay = settings.relay.as_ref().map(Relay::new);
        Self {
            settings,
            encoders,
            controllers,
            clock,
            sockets,
            advertised: Addresses::default(),
            stream_port,
            source,
            sound,
            inbox,
            mailbox,
            metrics,
            sessions: BTreeMap::new(),
            next_number: 0,
            line_gate: LineGate::default(),
            writers: Vec::new(),
            newest: None,
            waiting_for: None,
            is_sound_away: false,
            end: None,
        }
    }

    /// Runs until the host stops or the source ends.
    ///
    /// # Errors
    ///
    /// [`HostError::SourceEnded`] if the source failed.
    pub(crate) fn run(mut self) -> Result<(), HostError> {
        if matches!(
            self.settings.protection,
            ProtectionKind::Fec | ProtectionKind::Joint
        ) {
            // Computes the tables in advance, so that no frame has to wait for them.
            mimosa_stream::prepare_repairs();
        }
        mimosa_memory::return_large_blocks();
        let mut buffer = vec![0; mimosa_system::udp::LARGEST];
        let mut is_woken = true;
        loop {
            if is_woken {
                self.inbox.clear();
            }
            while let Some(message) = self.inbox.take() {
                self.message(message);
            }
            let now = self.clock.now();
            self.sockets.streams.expire(now);
            self.tend_relay();
            self.each(|running, now, viewers| {
                if running.session.deadline() <= now {
                    running.session.advance(now);
                }
                running.session.tell_statistics(now, viewers);
            });
            if self.sessions.is_empty()
                && let Some(end) = self.end.take()
            {
                for writer in self.writers {
                    // A panic of the thread was logged there.
                    let _ = writer.join();
                }
                if let Some(relay) = self.sockets.relay {
                    relay.close();
                }
                return end;
            }
            let until = self.deadline(now);
            // After `deadline`, which publishes when encoders' parts are taken: an encoder that still saw the time before
            // that has left its part by now.
            let ready = self.wait(if self.inbox.is_empty() { until } else { now });
            is_woken = ready.messages;
            for index in ready.sockets {
                self.receive(index, &mut buffer);
            }
            for index in ready.streams {
                self.receive_framed(index, &mut buffer);
            }
            self.sockets.streams.forget_closed();
        }
    }

    /// Ends the host with `end`, once every session knows why or has had its time.
    fn stop(&mut self, end: Result<(), HostError>, reason: &str) {
        self.end.get_or_insert(end);
        self.each(|running, now, _| running.session.leave(now, reason));
    }

    /// Ends the sessions of devices that are none of these any more.
    fn keep_only(&mut self, devices: &[String]) {
        self.each(|running, now, _| {
            let is_gone = |device: &String| !devices.contains(device);
            if running.device.as_ref().is_some_and(is_gone) {
                running
                    .session
                    .leave(now, "the host's owner has revoked this device");
            }
        });
    }

    fn message(&mut self, message: ToNetwork) {
        match message {
            ToNetwork::Source(FromSource::Picture(picture)) => {
                self.each(|running, now, _| running.session.picture(now, &picture));
                self.newest = Some(picture);
            }
            ToNetwork::Source(FromSource::Waiting(reason)) => {
                if let Some(reason) = &reason {
                    tracing::warn!(reason, "no pictures come");
                    self.metrics.waits.inc();
                } else {
                    tracing::info!("pictures come again");
                }
                self.each(|running, _, _| running.session.waits(reason.as_deref()));
                self.waiting_for = reason;
            }
            ToNetwork::Source(FromSource::Rumble(rumble)) => {
                self.each(|running, _, _| running.session.rumble(&rumble));
            }
            ToNetwork::Source(FromSource::Copied(text)) => {
                self.each(|running, _, _| running.session.copied(&text));
            }
            ToNetwork::Source(FromSource::Ended { message, error }) => {
                tracing::info!("{message}");
                let end = error.map_or(Ok(()), |error| Err(HostError::SourceEnded(error)));
                self.stop(end, &message);
            }
            ToNetwork::Sound(FromSound::Frame(frame)) => self.hear(&frame),
            ToNetwork::Sound(FromSound::Away(is_away)) => {
                self.each(|running, _, _| running.session.sound_is_away(is_away));
                self.is_sound_away = is_away;
            }
            ToNetwork::Encoded(number, FromEncoder::Part(part)) => {
                self.with(number, |running, now| running.session.coded_part(now, part));
            }
            ToNetwork::Encoded(number, FromEncoder::Frame(encoded)) => {
                self.metrics.encoded(&encoded);
                self.with(number, |running, now| running.session.encoded(now, encoded));
            }
            // The thread that asked may be gone.
            ToNetwork::Offer(offer, reply) => {
                let answered = catch_unwind(AssertUnwindSafe(|| self.offer(&offer)));
                let _ = reply.send(unless_panicked(answered).flatten());
            }
            ToNetwork::Devices(devices) => self.keep_only(&devices),
            ToNetwork::Advertised(addresses) => self.advertised = addresses,
            ToNetwork::Relay(addresses) => {
                if let Some(relay) = &mut self.sockets.relay {
                    relay.lead(&addresses);
                    self.permit();
                }
            }
            ToNetwork::Interfaces(addresses) => self.change_addresses(&addresses),
            ToNetwork::Framed(framed) => self.sockets.streams.add(framed, self.clock.now()),
            ToNetwork::Candidates(within, lines, reply) => {
                let _ = reply.send(self.candidates(&within, &lines));
            }
            ToNetwork::Delete(within, reply) => {
                let _ = reply.send(self.delete(&within));
            }
            ToNetwork::Info(reply) => {
                let _ = reply.send(self.info());
            }
            ToNetwork::List(reply) => {
                let _ = reply.send(self.list());
            }
            ToNetwork::End(number, reply) => {
                let ended = self.with(number, |running, now| {
                    let reason = "the host's owner has ended this session";
                    running.session.leave(now, reason);
                });
                let _ = reply.send(ended.is_some());
            }
            ToNetwork::Stop => self.stop(Ok(()), "the host has stopped"),
        }
    }

    /// Sends a block of sound to all sessions with sound, and adapts the coder to their loss.
    fn hear(&mut self, frame: &SoundFrame) {
        let (mut player, mut viewers) = (None, Vec::new());
        self.each(|running, now, _| {
            running.session.sound(now, frame);
            let loss = running.session.loss(now);
            match running.session.role() {
                _ if !running.session.hears() => {}
                Role::Player => player = player.or(loss),
                Role::Viewer => viewers.extend(loss),
            }
        });
        if let Some(sound) = &self.sound {
            sound.set_loss(shared_loss(player, viewers));
        }
    }

    /// When something is due. Publishes to the encoders when their parts are taken. A session that panics ends.
    fn deadline(&mut self, now: Time) -> Time {
        let relay = self.sockets.relay.as_ref().map(Relay::deadline);
        let mut until = (now + LONGEST_SLEEP).min(relay.unwrap_or(Time::MAX));
        let mut panicked = Vec::new();
        for (number, running) in &self.sessions {
            match catch_unwind(AssertUnwindSafe(|| running.deadline())) {
                Ok(deadline) => until = until.min(deadline),
                Err(_) => panicked.push(*number),
            }
        }
        for number in panicked {
            self.panicked(number);
        }
        until
    }

    /// Sleeps until `until`, or until something comes, and returns what came.
    fn wait(&self, until: Time) -> Ready {
        let rest = until.since(self.clock.now()).max(TimeDelta::ZERO);
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: rest.as_nanos().min(999_999_999),
        };
        let inbox = self.inbox.fd();
        let mut fds = vec![PollFd::from_borrowed_fd(inbox, PollFlags::IN)];
        let sockets = self.sockets.fds();
        fds.extend(sockets.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        let count = fds.len() - 1;
        fds.extend(self.sockets.streams.fds());
        // An interruption counts as a wake-up.
        let _ = poll(&mut fds, Some(&timeout));
        let has_come = |fd: &PollFd<'_>| !fd.revents().is_empty();
        let (sockets, streams) = fds[1..].split_at(count);
        let ready = |fds: &[PollFd<'_>]| {
            let fds = (0..).zip(fds);
            let ready = fds.filter(|(_, fd)| has_come(fd));
            ready.map(|(index, _)| index).collect()
        };
        Ready {
            messages: fds.first().is_some_and(has_come),
            sockets: ready(sockets),
            streams: ready(streams),
        }
    }

    /// Receives datagrams from a socket, and gives them to their sessions.
    fn receive(&mut self, index: usize, buffer: &mut [u8]) {
        for _ in 0..MOST_AT_ONCE {
            let Some(received) = self.sockets.receive(index, buffer) else {
                break;
            };
            let Received { local, datagrams } = received;
            for data in buffer[..datagrams.length].chunks(datagrams.stride) {
                let clock = self.clock;
                let way = (datagrams.from, local);
                let arrived = self.sockets.arrived(|| clock.now(), way, data);
                let Some(((from, local), data)) = arrived else {
                    continue;
                };
                match self.whose(from, local, data) {
                    Some(number) => {
                        self.with(number, |running, now| {
                            running.address = Some(from);
                            running.session.receive(now, from, local, data);
                        });
                    }
                    None => {
                        self.metrics.strays.inc();
                    }
                }
            }
        }
    }

    /// The session to which a datagram belongs.
    fn whose(&self, from: SocketAddr, to: SocketAddr, data: &[u8]) -> Option<SessionNumber> {
        let now = self.clock.now();
        let accepts = |running: &Running| {
            catch_unwind(AssertUnwindSafe(|| {
                running.session.accepts(now, from, to, data)
            }))
            .unwrap_or(false)
        };
        let guess = self
            .sessions
            .iter()
            .find(|(_, running)| running.address == Some(from) && accepts(running));
        guess
            .or_else(|| self.sessions.iter().find(|(_, running)| accepts(running)))
            .map(|(number, _)| *number)
    }

    fn viewers(&self) -> usize {
        self.count_of(Role::Viewer)
    }

    fn count_of(&self, role: Role) -> usize {
        let all = self.sessions.values();
        all.filter(|running| running.session.role() == role).count()
    }

    fn connected(&self) -> usize {
        let all = self.sessions.values();
        all.filter(|running| running.session.is_connected()).count()
    }

    /// Size of the newest picture, or of the source's at the start.
    fn size(&self) -> Size {
        let newest = self.newest.as_ref();
        newest.map_or(self.source.size(), |newest| newest.picture.size())
    }

    /// Tells the source, the sound and the metrics how many sessions there are.
    fn count(&mut self) {
        self.source.set_watchers(self.connected());
        if let Some(sound) = &self.sound {
            let all = self.sessions.values();
            sound.set_listeners(all.filter(|running| running.session.hears()).count());
        }
        self.metrics
            .sessions(self.count_of(Role::Player), self.viewers());
    }

    fn info(&self) -> Info {
        let size = self.size();
        Info {
            name: "mimosa".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            token_required: false,
            pairing: false,
            owner: false,
            relay: false,
            stream: Some(StreamInfo {
                source: self.source.name().to_owned(),
                width: size.width(),
                height: size.height(),
                fps: self.settings.frames_per_second,
                player_present: self.count_of(Role::Player) > 0,
                viewers: u32::try_from(self.viewers()).unwrap_or(u32::MAX),
                viewer_limit: self.settings.viewers.0,
            }),
        }
    }
}

#[cfg(test)]
mod tests;
