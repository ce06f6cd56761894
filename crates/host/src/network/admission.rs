//! Who gets a session, and how one begins.

use std::path::Path;

use mimosa_control::Limits;
use mimosa_pace::{Bounds, Policy};
use mimosa_session::{
    EcnConfig, EcnUse, Protection, RepairConfig, RetransmissionDeadline, Sender, SenderConfig,
};
use mimosa_settings::ProtectionKind;
use mimosa_units::{Rate, TimeDelta};
use mimosa_video::{Codec, Size};
use mimosa_webrtc::{LARGEST_PAYLOAD, OVERHEAD, OfferError, Peer};
use mimosa_wire::control::{BitsPerSecond, FeedbackKind, Hello, Role};
use mimosa_wire::problem::{ErrorCode, Problem};

use super::{Answer, Network, Offer, Running, SessionId, SessionNumber, ToNetwork};
use crate::encode::EncoderThread;
use crate::error::HostError;
use crate::pictures::PictureKeeper;
use crate::random::{bits_128, random_u32};
use crate::recording::{self, Recorder};
use crate::session::{Profile, Session};
use crate::sound::{beside, rate_on_the_wire};

impl Network {
    /// Answers an offer, or says why not.
    pub(super) fn offer(&mut self, offer: &Offer) -> Result<Answer, Problem> {
        if let Some(earlier) = &offer.replaces {
            // It may have ended by itself.
            let _ = self.delete(earlier);
        }
        if offer.role == Role::Player {
            self.drop_unconnected_player();
        }
        self.admit(offer.role)?;
        let now = self.clock.now();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the low 16 bits of a random number"
        )]
        let first_sequence = random_u32() as u16 >> 1;
        let (peer, text) = Peer::answer(
            &offer.text,
            &self.coders.codecs(),
            offer.feedback,
            &self.sockets.addresses(),
            first_sequence,
            self.sound.is_some(),
            self.clock.instant(now),
        )
        .map_err(|error| Problem::new(code(&error), error.to_string()))?;

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
            .and_then(|folder| self.keep_pictures(folder, peer.codec(), size, frames_per_second));
        let mailbox = self.mailbox.clone();
        let encoder = EncoderThread::start(
            self.coders.of(peer.codec()).settings,
            frames_per_second,
            size,
            self.clock,
            keeper,
            move |encoded| {
                mailbox.send(ToNetwork::Encoded(number, encoded));
            },
        )
        .map_err(|error| internal(&error))?;
        let sender = self.sender(&peer).map_err(|error| internal(&error))?;
        let id = SessionId(format!("{:032x}", bits_128()));
        let hello = self.hello(offer.role, size, frames_per_second, encoder.name(), &peer);
        let alone = self.settings.record.as_deref();
        let places = [
            alone.map(|folder| (folder, name.as_str())),
            pictures.as_deref().map(|folder| (folder, "session")),
        ];
        let recorders = self.recorders(places, number, &hello);
        tracing::info!(
            session = number.0,
            role = offer.role.name(),
            feedback = peer.feedback().name(),
            sound = peer.has_sound(),
            codec = peer.codec().name(),
            "begun"
        );
        let profile = Profile {
            role: offer.role,
            interval: TimeDelta::from_secs(1.0) / frames_per_second,
            adapts_detail: self.settings.encoder.adapts_detail,
            hello,
        };
        let mut session = Session::new(
            profile,
            self.clock,
            now,
            peer,
            sender,
            [random_u32(), random_u32()],
        );
        if self.waiting_for.is_some() {
            session.waits(self.waiting_for.as_deref());
        }
        let running = Running {
            session,
            id: id.clone(),
            encoder,
            recorders,
            address: None,
        };
        self.sessions.insert(number, running);
        self.settle(number);
        self.count();
        Ok(Answer { text, id })
    }

    /// Most frames in a second for somebody in this role.
    fn frames_per_second(&self, role: Role) -> u32 {
        let most = self.settings.frames_per_second;
        match role {
            Role::Player => most,
            Role::Viewer => most.min(self.settings.viewer_frames_per_second),
        }
    }

    /// Begins to keep a session's pictures.
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

    /// Begins the recordings of a session: in which folders, under which names.
    fn recorders(
        &self,
        places: [Option<(&Path, &str)>; 2],
        number: SessionNumber,
        hello: &Hello,
    ) -> Vec<Recorder> {
        let begin = |(folder, name): (&Path, &str)| {
            Recorder::begin(folder, name, number, hello, self.clock)
                .inspect_err(|error| tracing::error!(%error, "this session is not recorded"))
                .ok()
        };
        places.into_iter().flatten().filter_map(begin).collect()
    }

    /// What a page is told first.
    fn hello(&self, role: Role, size: Size, fps: u32, encoder: &str, peer: &Peer) -> Hello {
        let controller = &self.settings.controller;
        Hello {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            role,
            source: self.source.name().to_owned(),
            width: size.width(),
            height: size.height(),
            fps,
            encoder: encoder.to_owned(),
            codec: peer.codec().name().to_owned(),
            controller: controller.name.clone(),
            feedback: peer.feedback(),
            max_bitrate: BitsPerSecond(controller.limits.max()),
            // These run: they are told when the page is there.
            picture_clock: None,
            sound_clock: None,
            clipboard: role == Role::Player && self.source.has_clipboard(),
        }
    }

    /// An answer may be lost on its way to the page, which then asks anew: what
    /// never connected does not keep it out.
    fn drop_unconnected_player(&mut self) {
        let idle = |running: &Running| {
            running.session.role() == Role::Player && !running.session.is_connected()
        };
        let found = self.sessions.iter().find(|(_, running)| idle(running));
        if let Some(number) = found.map(|(number, _)| *number) {
            self.remove(number, "never connected");
        }
    }

    /// Whether there is room for one more in this role.
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

    /// Controller and pacer of a new session. What is allowed in all is for the sound as
    /// well, which takes its part whatever the controller thinks.
    fn sender(&self, peer: &Peer) -> Result<Sender, HostError> {
        let controller = &self.settings.controller;
        let sound = if peer.has_sound() {
            rate_on_the_wire(self.settings.sound.bitrate, peer.takes_redundancy())
        } else {
            Rate::ZERO
        };
        let limits = match peer.feedback() {
            FeedbackKind::CongestionControl | FeedbackKind::OnRequest | FeedbackKind::Periodic => {
                let most = beside(controller.limits.max(), sound);
                let least = controller.limits.min().min(most);
                Limits::new(least, controller.limits.start(), most)
            }
            // Nothing is known of the network: one rate, and that a low one.
            FeedbackKind::None => {
                let rate = beside(controller.blind_rate, sound);
                Limits::new(rate, rate, rate)
            }
        };
        let deadline = match self.settings.retransmission_deadline {
            _ if !peer.has_retransmissions() => RetransmissionDeadline::Age(TimeDelta::ZERO),
            Some(deadline) => RetransmissionDeadline::Age(deadline),
            None => RetransmissionDeadline::Chain,
        };
        let config = SenderConfig {
            policy: Policy::from_name(&controller.pacer)?,
            bounds: Bounds {
                longest_wait: self.settings.presentation_deadline,
                smallest_packet: OVERHEAD,
                shortest_gap: self.settings.shortest_gap,
                ..Bounds::default()
            },
            retransmission_deadline: deadline,
            protection: self.protection(peer),
            ecn: ecn(peer.feedback(), &controller.name),
            ..SenderConfig::default()
        };
        let params = toml::Value::Table(controller.params.clone());
        let controller = mimosa_cc::build(&controller.name, params, limits)?;
        Ok(Sender::new(config, controller))
    }

    /// How a new session's frames are kept whole.
    fn protection(&self, peer: &Peer) -> Protection {
        let Some(code) = peer.repairs() else {
            return Protection::Retransmission;
        };
        let repairs = RepairConfig {
            deadline: self.settings.repair_deadline,
            largest_packet: LARGEST_PAYLOAD + OVERHEAD,
            code,
            ..RepairConfig::default()
        };
        match self.settings.protection {
            ProtectionKind::Retransmission => Protection::Retransmission,
            ProtectionKind::Fec => Protection::Fec(repairs),
            ProtectionKind::Joint => Protection::Joint(repairs),
        }
    }

    /// Adds candidates to a session.
    pub(super) fn candidates(&mut self, id: &SessionId, lines: &[String]) -> Result<(), Problem> {
        let number = self.named(id)?;
        self.with(number, |running, _| {
            for line in lines {
                running
                    .session
                    .add_candidate(line)
                    .map_err(|error| Problem::new(ErrorCode::BadRequest, error.to_string()))?;
            }
            Ok(())
        })
        .unwrap_or(Ok(()))
    }

    /// Ends a session.
    pub(super) fn delete(&mut self, id: &SessionId) -> Result<(), Problem> {
        let number = self.named(id)?;
        self.remove(number, "left");
        Ok(())
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

/// Packets are marked for those who answer marks, where the reports tell of them.
fn ecn(feedback: FeedbackKind, controller: &str) -> EcnUse {
    let answers = mimosa_cc::needs::needs(controller).is_some_and(|needs| needs.uses_ecn);
    if feedback == FeedbackKind::CongestionControl && answers {
        EcnUse::Auto(EcnConfig::default())
    } else {
        EcnUse::default()
    }
}

const fn code(error: &OfferError) -> ErrorCode {
    match error {
        OfferError::NoCodec { .. } => ErrorCode::NoCodec,
        OfferError::TooLong { .. } => ErrorCode::TooLarge,
        _ => ErrorCode::BadOffer,
    }
}
