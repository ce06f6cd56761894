//! Admits and begins sessions.

use std::path::Path;
use std::sync::Arc;

use mimosa_facts::{Codec, Limits};
use mimosa_protocol::control::{BitsPerSecond, Hello, Role};
use mimosa_protocol::problem::{ErrorCode, Problem};
use mimosa_protocol::proof::{Request, SessionGuard};
use mimosa_session::host::{Profile, SendingConfig, Session};
use mimosa_stream::Sender;
use mimosa_stream::pace::Policy;
use mimosa_system::random::{bits_32, bits_128};
use mimosa_transport::{Agreed, HostTransport, OfferError, Peer, StreamNumbers, advertise};
use mimosa_units::{Time, TimeDelta};
use mimosa_video::Size;

use super::relay::Peers;
use super::running::NextLook;
use super::{Answer, Network, Offer, Running, SessionId, SessionNumber, ToNetwork, Within};
use crate::controllers::shown;
use crate::encoding::{EncoderThread, FromEncoder};
use crate::error::HostError;
use crate::recording::PictureKeeper;
use crate::recording::{self, Recorder};

impl Network {
    /// Answers an offer, or refuses it.
    pub(super) fn offer(&mut self, offer: &Offer) -> Result<Answer, Problem> {
        if self.end.is_some() {
            let message = "the host is stopping".to_owned();
            return Err(Problem::new(ErrorCode::HostFull, message));
        }
        if let Some(earlier) = &offer.replaces {
            self.replace(earlier, offer.may_play);
        }
        if self.admit(offer.role).is_err() {
            self.drop_unconnected(offer.role);
        }
        self.admit(offer.role)?;
        let now = self.clock.now();
        let (peer, text) = self.peer(offer, now)?;

        let agreed = peer.agreed();
        let number = SessionNumber(self.next_number);
        self.next_number += 1;
        let internal = |error: &dyn std::fmt::Display| {
            tracing::error!(%error, "a session cannot begin");
            Problem::new(
                ErrorCode::HostFull,
                format!("the host cannot start it: {error}"),
            )
        };
        let frames_per_second = self.frames_per_second(offer.role);
        let size = self.size();
        let name = recording::name(number);
        let pictures = self
            .settings
            .record_pictures
            .as_ref()
            .map(|folder| folder.join(&name));
        let keeper = pictures
            .as_deref()
            .and_then(|folder| self.keep_pictures(folder, agreed.codec, size, frames_per_second));
        let next_look = Arc::new(NextLook::default());
        let choice = self.encoders.of(agreed.codec);
        let encoder_name = choice.name.clone();
        let encoding = choice.for_viewer(agreed.takes_parts);
        let encoder = EncoderThread::start(
            encoding,
            frames_per_second,
            (choice.codec, size),
            self.clock,
            keeper,
            self.taker(number, Arc::clone(&next_look)),
        )
        .map_err(|error| internal(&error))?;
        let sender = self
            .sender(offer.role, agreed)
            .map_err(|error| internal(&error))?;
        let id = SessionId(format!("{:032x}", bits_128()));
        let hello = self.hello(offer.role, size, frames_per_second, encoder_name, agreed);
        let alone = self.settings.record.clone();
        let places = [
            alone.as_deref().map(|folder| (folder, name.as_str())),
            pictures.as_deref().map(|folder| (folder, "session")),
        ];
        let recorders = self.recorders(places, number, &hello);
        tracing::info!(
            session = number.0,
            role = offer.role.name(),
            feedback = agreed.feedback.name(),
            sound = agreed.has_sound,
            codec = agreed.codec.name(),
            "begun"
        );
        let profile = Profile {
            role: offer.role,
            interval: TimeDelta::from_secs(1.0) / frames_per_second,
            adapts_detail: self.settings.encoder.adapts_detail,
            relieves: self.settings.encoder.relieves,
            parts: encoding.parts,
            entropy: encoding.entropy,
            hello,
        };
        let mut session =
            Session::new(profile, now, Box::new(peer), sender, [bits_32(), bits_32()]);
        if self.waiting_for.is_some() {
            session.waits(self.waiting_for.as_deref());
        }
        session.sound_is_away(self.is_sound_away);
        let running = Running {
            session,
            id: id.clone(),
            guard: offer.secret.clone().map(SessionGuard::new),
            device: offer.device.clone(),
            encoder,
            next_look,
            recorders,
            address: None,
            peers: Peers::of(offer),
        };
        self.sessions.insert(number, running);
        self.permit();
        self.settle(number);
        self.count();
        Ok(Answer { text, id })
    }

    /// Hands what comes out of a session's encoder to this thread, and wakes it unless it looks by itself in time.
    fn taker(
        &self,
        number: SessionNumber,
        next_look: Arc<NextLook>,
    ) -> impl Fn(FromEncoder) + use<> {
        let (mailbox, clock) = (self.mailbox.clone(), self.clock);
        move |encoded| {
            let is_part = matches!(encoded, FromEncoder::Part(_));
            mailbox.leave(ToNetwork::Encoded(number, encoded));
            if !(is_part && next_look.is_after(clock.now())) {
                mailbox.wake();
            }
        }
    }

    /// The peer that makes this offer, and the text of the answer.
    fn peer(&self, offer: &Offer, now: Time) -> Result<(Peer, String), Problem> {
        let numbers = StreamNumbers::drawn([bits_32(), bits_32()]);
        let (mut peer, text) = Peer::answer(
            &offer.text,
            &self.encoders.codecs(),
            offer.feedback,
            &self.sockets.addresses(),
            numbers,
            self.sound.is_some(),
            now,
        )
        .map_err(|error| Problem::new(code(&error), error.to_string()))?;
        peer.set_addresses(&self.addresses());
        Ok((peer, advertise(&text, &self.told())))
    }

    /// Highest frame rate of a session in this role, in frames a second.
    fn frames_per_second(&self, role: Role) -> u32 {
        let most = self.settings.frames_per_second;
        match role {
            Role::Player => most,
            Role::Viewer => most.min(self.settings.viewer_frames_per_second),
        }
    }

    /// Begins to record a session's pictures.
    fn keep_pictures(
        &mut self,
        folder: &Path,
        codec: Codec,
        size: Size,
        frames_per_second: u32,
    ) -> Option<PictureKeeper> {
        let most = self.settings.record_pictures_limit;
        let (keeper, thread) = PictureKeeper::begin(folder, codec, size, frames_per_second, most)
            .inspect_err(|error| tracing::error!(%error, "no pictures are kept"))
            .ok()?;
        self.writers.push(thread);
        Some(keeper)
    }

    /// Begins the recordings of a session, in folders and under names.
    fn recorders(
        &mut self,
        places: [Option<(&Path, &str)>; 2],
        number: SessionNumber,
        hello: &Hello,
    ) -> Vec<Recorder> {
        let begin = |(folder, name): (&Path, &str)| {
            Recorder::begin(folder, name, number, hello, self.clock)
                .inspect_err(|error| tracing::error!(%error, "this session is not recorded"))
                .ok()
        };
        let places = places.into_iter().flatten();
        let (recorders, threads): (_, Vec<_>) = places.filter_map(begin).unzip();
        self.writers.retain(|writer| !writer.is_finished());
        self.writers.extend(threads);
        recorders
    }

    /// The first message to a page.
    pub(super) fn hello(
        &self,
        role: Role,
        size: Size,
        fps: u32,
        encoder: String,
        agreed: Agreed,
    ) -> Hello {
        let controller = &self.settings.controller;
        Hello {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            role,
            source: self.source.name().to_owned(),
            width: size.width(),
            height: size.height(),
            fps,
            encoder,
            codec: agreed.codec.name().to_owned(),
            controller: shown(mimosa_session::host::controller(agreed, &controller.name))
                .to_owned(),
            feedback: agreed.feedback,
            max_bitrate: BitsPerSecond(self.limits(role).max()),
            // The clocks follow when the page is connected.
            picture_clock: None,
            sound_clock: None,
            clipboard: role == Role::Player && self.source.has_clipboard(),
        }
    }

    /// Drops the oldest session in this role that never connected. An answer may be lost on its
    /// way, after which the page makes another offer, and its first session must not keep it out.
    fn drop_unconnected(&mut self, role: Role) {
        let idle =
            |running: &Running| running.session.role() == role && !running.session.is_connected();
        let found = self.sessions.iter().find(|(_, running)| idle(running));
        if let Some(number) = found.map(|(number, _)| *number) {
            self.remove(number, "never connected");
        }
    }

    /// Checks that there is room for one more session in this role.
    fn admit(&self, role: Role) -> Result<(), Problem> {
        let limit = self.settings.viewers.0 as usize;
        match role {
            Role::Player if self.count_of(Role::Player) > 0 => Err(Problem::new(
                ErrorCode::PlayerPresent,
                "somebody else is playing; you can watch, or try again when they have left"
                    .to_owned(),
            )),
            Role::Viewer if self.viewers() >= limit => Err(Problem::new(
                ErrorCode::HostFull,
                format!("{limit} are watching, and no more may; try again later"),
            )),
            _ => Ok(()),
        }
    }

    /// The limits of the bitrate of a session in this role.
    fn limits(&self, role: Role) -> Limits {
        match role {
            Role::Player => self.settings.controller.limits,
            Role::Viewer => self.settings.controller.viewer_limits(),
        }
    }

    /// How a new session in this role sends.
    fn sending(&self, role: Role) -> Result<SendingConfig, HostError> {
        let settings = &self.settings;
        let controller = &settings.controller;
        let needs = mimosa_cc::needs::needs(&controller.name);
        Ok(SendingConfig {
            limits: self.limits(role),
            blind_rate: controller.blind_rate,
            sound: settings.sound.bitrate,
            policy: Policy::from_name(&controller.pacer)?,
            presentation_deadline: settings.presentation_deadline,
            shortest_gap: settings.shortest_gap,
            retransmission_deadline: settings.retransmission_deadline,
            protection: settings.protection,
            repair_deadline: settings.repair_deadline,
            carry: settings.encoder.sizes.carry(),
            answers_marks: needs.is_some_and(|needs| needs.uses_ecn),
        })
    }

    /// The sender of a new session, with its controller and its pacing policy.
    pub(super) fn sender(&self, role: Role, agreed: Agreed) -> Result<Sender, HostError> {
        let sending = self.sending(role)?;
        let controller = &self.settings.controller;
        let limits = sending.limits(agreed);
        let name = mimosa_session::host::controller(agreed, &controller.name);
        Ok(sending.sender(agreed, self.controllers.make(name, limits)?))
    }

    /// Adds candidates to a session.
    pub(super) fn candidates(&mut self, within: &Within, lines: &[String]) -> Result<(), Problem> {
        let number = self.allowed(within)?;
        let added = self.with(number, |running, _| {
            for line in lines {
                running
                    .session
                    .add_candidate(line)
                    .map_err(|error| Problem::new(ErrorCode::BadRequest, error.to_string()))?;
            }
            running.peers.add(lines.iter().map(String::as_str));
            Ok(())
        });
        self.permit();
        added.unwrap_or(Ok(()))
    }

    /// Ends a session.
    pub(super) fn delete(&mut self, within: &Within) -> Result<(), Problem> {
        let number = self.allowed(within)?;
        self.remove(number, "left");
        Ok(())
    }

    /// Ends the session in whose place another one comes, unless it is a player's and whoever makes
    /// the offer may only watch. It may have ended by itself.
    fn replace(&mut self, earlier: &SessionId, may_play: bool) {
        let Ok(number) = self.named(earlier) else {
            return;
        };
        let earlier = self.sessions.get(&number);
        if may_play || earlier.is_some_and(|running| running.session.role() == Role::Viewer) {
            self.remove(number, "left");
        }
    }

    /// The session that a request is for, if its sender may change it.
    fn allowed(&mut self, within: &Within) -> Result<SessionNumber, Problem> {
        let number = self.named(&within.id)?;
        let running = self.sessions.get_mut(&number);
        if let Some(guard) = running.and_then(|running| running.guard.as_mut()) {
            let request = Request {
                method: &within.method,
                target: &within.target,
                body: within.body.as_bytes(),
            };
            guard
                .check(within.shown.as_ref(), &request)
                .map_err(|error| Problem::new(ErrorCode::TokenWrong, error.to_string()))?;
        }
        Ok(number)
    }

    fn named(&self, id: &SessionId) -> Result<SessionNumber, Problem> {
        self.sessions
            .iter()
            .find(|(_, running)| running.id == *id)
            .map(|(number, _)| *number)
            .ok_or_else(|| {
                Problem::new(ErrorCode::NoSession, "there is no such session".to_owned())
            })
    }
}

/// The result of handling an offer. A panic refuses the offer and does not end the host.
pub(super) fn unless_panicked<T>(answered: std::thread::Result<T>) -> Result<T, Problem> {
    answered.map_err(|_| {
        tracing::error!("an offer has caused a panic, and is refused");
        let message = "the offer cannot be answered: an error inside the host".to_owned();
        Problem::new(ErrorCode::BadOffer, message)
    })
}

const fn code(error: &OfferError) -> ErrorCode {
    match error {
        OfferError::NoCodec { .. } => ErrorCode::NoCodec,
        OfferError::TooLong { .. } => ErrorCode::TooLarge,
        _ => ErrorCode::BadOffer,
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn an_offer_that_panics_is_refused() {
        let panicked = catch_unwind(|| -> u32 { panic!("an offer") });
        let problem = unless_panicked(panicked).unwrap_err();
        assert_eq!(problem.error, ErrorCode::BadOffer);
        assert_eq!(unless_panicked(catch_unwind(|| 1)), Ok(1));
    }
}
