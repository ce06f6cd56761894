//! The host's side of one session: the session, its encoder, and what the rules check there.

use std::net::SocketAddr;
use std::sync::PoisonError;

use mimosa_facts::{Action, FrameEnd, FrameId, Limits, SessionEvent, SessionFrame};
use mimosa_protocol::control::{BitsPerSecond, FeedbackKind, Hello, Role};
use mimosa_session::host::{Effect, Profile, SendingConfig, Session};
use mimosa_stream::pace::Policy;
use mimosa_transport::HostTransport;
use mimosa_units::{Rate, Time, TimeDelta};
use mimosa_video::Recovery;

use crate::codecs::Codecs;
use crate::encoder::Encoder;
use crate::plan::Plan;
use crate::rules::{KEYFRAME_UNDERWAY, KEYFRAME_WITHIN, Rule};
use crate::summary::Summary;
use crate::watch::{Watch, Wrong};

/// Least, initial and greatest bitrate of a session, in kbit/s.
const RATES: [u64; 3] = [300, 3_000, 25_000];

/// Rate at which a session sends whose player reports nothing.
const BLIND: Rate = Rate::from_kbps(2_000);

/// A broken rule, with what was observed.
pub(crate) type Broken = (Rule, String);

/// The host's side of one session.
pub(crate) struct HostSide {
    pub(crate) session: Session,
    pub(crate) encoder: Encoder,
    role: Role,
    limits: Limits,
    /// Why the session ended, once it has.
    pub(crate) ended: Option<String>,
    /// When the host ended the session, or its encoder failed.
    pub(crate) dismissed: Option<Time>,
    /// How long the queue to the player was then.
    pub(crate) behind: Option<TimeDelta>,
    /// When a request for a keyframe came, until one is coded.
    wanted: Option<Time>,
    /// When a keyframe was last coded.
    keyframe: Option<Time>,
    /// Whether there is a reason for a keyframe: the session's first frame, and from the first
    /// wish on everything that is lost, since such a player may not bear gaps.
    pub(crate) has_reason: bool,
    /// Whether the encoder has been asked for the first frame.
    has_begun: bool,
    /// A reference that players were told wrongly.
    wrong: Wrong,
    /// Frames whose encoder exceeded its budget.
    over: Vec<FrameId>,
    newest_life: Option<FrameId>,
    /// Keys that the player pressed and released, as they reached the source.
    pub(crate) keys: Vec<(u16, bool)>,
    pub(crate) connected: Option<Time>,
    /// Whether the session sends at [`BLIND`] because the player reports nothing.
    is_blind: bool,
}

/// How a session's sender is configured.
fn sending(plan: &Plan) -> SendingConfig {
    let [least, start, most] = RATES.map(Rate::from_kbps);
    let needs = mimosa_cc::needs::needs(plan.controller);
    SendingConfig {
        limits: Limits::new(least, start, most),
        blind_rate: BLIND,
        sound: Rate::from_kbps(96),
        policy: Policy::Controller,
        presentation_deadline: TimeDelta::from_millis(100),
        shortest_gap: TimeDelta::ZERO,
        retransmission_deadline: None,
        protection: plan.protection,
        repair_deadline: TimeDelta::from_millis(50),
        carry: mimosa_stream::USUAL_CARRY,
        answers_marks: needs.is_some_and(|needs| needs.uses_ecn),
    }
}

impl HostSide {
    /// A session whose offer has been answered; `None` if its controller cannot be made.
    pub(crate) fn new(
        (plan, codecs): (&Plan, Option<Codecs>),
        role: Role,
        number: u64,
        transport: Box<dyn HostTransport>,
        now: Time,
    ) -> Option<Self> {
        let wrong = Wrong::default();
        let transport: Box<dyn HostTransport> = match codecs {
            None => Box::new(Watch::new(transport, Wrong::clone(&wrong))),
            Some(_) => transport,
        };
        let agreed = transport.agreed();
        let sending = sending(plan);
        let limits = sending.limits(agreed);
        let params = toml::Value::Table(toml::Table::new());
        let name = mimosa_session::host::controller(agreed, plan.controller);
        let controller = mimosa_cc::build(name, params, limits).ok()?;
        let sender = sending.sender(agreed, controller);
        let hello = Hello {
            version: "0".to_owned(),
            role,
            source: "world".to_owned(),
            width: plan.size.width(),
            height: plan.size.height(),
            fps: 60,
            encoder: "model".to_owned(),
            codec: agreed.codec.name().to_owned(),
            controller: name.to_owned(),
            feedback: agreed.feedback,
            max_bitrate: BitsPerSecond(limits.max()),
            picture_clock: None,
            sound_clock: None,
            clipboard: role == Role::Player,
        };
        let profile = Profile {
            role,
            interval: plan.interval,
            adapts_detail: plan.adapts_detail,
            relieves: true,
            parts: plan.parts,
            entropy: None,
            hello,
        };
        #[expect(clippy::cast_possible_truncation, reason = "any number does")]
        let offsets = [number as u32 ^ 0x9e37_79b9, !(number as u32)];
        Some(Self {
            session: Session::new(profile, now, transport, sender, offsets),
            encoder: Encoder::new(plan.seed ^ number, "encoder", codecs),
            role,
            limits,
            ended: None,
            dismissed: None,
            behind: None,
            wanted: None,
            keyframe: None,
            has_reason: false,
            has_begun: false,
            wrong,
            over: Vec::new(),
            newest_life: None,
            keys: Vec::new(),
            connected: None,
            is_blind: agreed.feedback == FeedbackKind::None,
        })
    }

    /// Whether the session may send more than a link of this rate carries: nothing slows down a
    /// session without reports. Keyframes and sound come on top of its rate, up to a half.
    pub(crate) fn may_overload(&self, link: Rate) -> bool {
        self.is_blind && link < BLIND.scale(1.5)
    }

    /// When to call [`HostSide::advance`].
    pub(crate) fn deadline(&self) -> Time {
        if self.ended.is_some() {
            return Time::MAX;
        }
        let wanted = self.wanted.map_or(Time::MAX, |at| at + KEYFRAME_WITHIN);
        let session = self.session.deadline();
        session.min(self.encoder.deadline()).min(wanted)
    }

    /// Takes a datagram that arrives.
    pub(crate) fn receive(&mut self, now: Time, from: SocketAddr, to: SocketAddr, data: &[u8]) {
        if self.ended.is_none() && self.session.accepts(now, from, to, data) {
            self.session.receive(now, from, to, data);
        }
    }

    /// Notes that a request for a keyframe arrives with the next datagram.
    pub(crate) fn keyframe_wanted(&mut self, now: Time) {
        self.has_reason = true;
        // One that was coded just before may be under way.
        let is_underway = self
            .keyframe
            .is_some_and(|at| now.since(at) <= KEYFRAME_UNDERWAY);
        if self.ended.is_none() && self.session.is_connected() && !is_underway {
            self.wanted.get_or_insert(now);
        }
    }

    /// Drops the request for a keyframe, because a network fault may delay its answer.
    pub(crate) fn forgive_keyframe(&mut self) {
        self.wanted = None;
    }

    /// Lets time pass until `now`, for the session and its encoder.
    pub(crate) fn advance(&mut self, now: Time, summary: &mut Summary) -> Result<(), Broken> {
        if self.ended.is_some() {
            return Ok(());
        }
        while let Some(part) = self.encoder.poll_part(now) {
            if !part.is_last {
                summary.witness("frame-in-parts");
            }
            self.session.coded_part(now, part);
        }
        if let Some((encoded, kept)) = self.encoder.poll(now) {
            if !kept {
                self.over.push(encoded.frame);
                if self.encoder.overrun > 1.0 {
                    summary.witness("encoder-overrun");
                }
            }
            if let Ok(coded) = &encoded.result {
                summary.coded += 1;
                summary.bytes += coded.length as u64;
                summary.happened(now, [encoded.frame.0, coded.length as u64]);
                if coded.is_keyframe {
                    summary.keyframes += 1;
                    self.keyframe = Some(now);
                    self.wanted = None;
                }
            } else {
                summary.witness("encoder-failure");
                self.dismissed.get_or_insert(now);
            }
            self.session.encoded(now, encoded);
            let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(detail) = wrong.take() {
                return Err((Rule::References, detail));
            }
        }
        if self.session.deadline() <= now {
            self.session.advance(now);
        }
        self.session.tell_statistics(now, 0);
        if self
            .wanted
            .is_some_and(|at| now.since(at) >= KEYFRAME_WITHIN)
        {
            let detail = format!(
                "wanted since {:?}, coded last {:?}",
                self.wanted, self.keyframe
            );
            return Err((Rule::KeyframeAnswered, detail));
        }
        Ok(())
    }

    /// Carries out the session's effects. Returns whether it has connected.
    pub(crate) fn settle(&mut self, now: Time, summary: &mut Summary) -> Result<bool, Broken> {
        let mut has_connected = false;
        for effect in self.session.take_effects() {
            match effect {
                Effect::Encode(job) => {
                    let is_first = !std::mem::replace(&mut self.has_begun, true);
                    let is_keyframe = job.request.recovery == Recovery::Keyframe;
                    if is_keyframe && !is_first && !self.has_reason {
                        let detail = format!("{:?} is to be one", job.request.frame);
                        return Err((Rule::KeyframeNeeded, detail));
                    }
                    if self.ended.is_some() || !self.encoder.begin(now, job) {
                        let detail = format!("a second job; ended: {:?}", self.ended);
                        return Err((Rule::OneJob, detail));
                    }
                }
                Effect::Act(played) => {
                    if self.role != Role::Player {
                        return Err((Rule::Actions, format!("a viewer's {:?}", played.action)));
                    }
                    if let Action::Key { code, pressed } = played.action {
                        self.keys.push((code, pressed));
                        summary.actions += 1;
                    }
                }
                Effect::LineTestWanted => self.session.test_line(now),
                Effect::Copied(_) | Effect::Shift(_) => {}
                Effect::Happened(event) => match event {
                    SessionEvent::Connected => {
                        self.connected = Some(now);
                        has_connected = true;
                    }
                    SessionEvent::Frame(frame) => self.life(&frame)?,
                    SessionEvent::DecoderStopped => self.has_reason = true,
                    SessionEvent::Ended { reason } => {
                        self.ended.get_or_insert(reason);
                    }
                },
            }
        }
        if self.dismissed.is_some() && self.session.is_connected() {
            let detail = "the host has ended the session, and it goes on".to_owned();
            return Err((Rule::Ends, detail));
        }
        Ok(has_connected)
    }

    /// Checks the rules about a frame whose life is complete.
    fn life(&mut self, frame: &SessionFrame) -> Result<(), Broken> {
        let life = &frame.life;
        if self.newest_life.is_some_and(|newest| life.frame <= newest) {
            let detail = format!("{:?} after {:?}", life.frame, self.newest_life);
            return Err((Rule::Lives, detail));
        }
        self.newest_life = Some(life.frame);
        let target = life.decision.target;
        if target < self.limits.min() || target > self.limits.max() {
            let detail = format!("a target of {target} outside {:?}", self.limits);
            return Err((Rule::Limits, detail));
        }
        let grant = life.allowed;
        let is_over = self.over.contains(&life.frame);
        if !is_over && (life.size > grant || frame.coded > frame.budget) {
            let size = life.size;
            let detail = format!("{:?} of {size} for a grant of {grant}", life.frame);
            return Err((Rule::Budget, detail));
        }
        let is_ended_before = match life.end {
            Some(FrameEnd::Acknowledged(at)) => at < life.handed_over,
            Some(FrameEnd::GivenUp) | None => false,
        };
        if is_ended_before {
            let detail = format!("{:?} was acknowledged before it left", life.frame);
            return Err((Rule::Lives, detail));
        }
        Ok(())
    }
}
