//! One person: the viewer's end of a session, its decoder, its clock, and the network to and from
//! the host.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mimosa_facts::Action;
use mimosa_protocol::control::Role;
use mimosa_session::viewer::{Effect, Play, Seen, Session, SessionConfig};
use mimosa_transport::{Datagram, ViewerTransport, plain};
use mimosa_units::{Time, TimeDelta};

use crate::codecs::Codecs;
use crate::decoder::{Decoded, Decoder};
use crate::host::{Broken, HostSide};
use crate::liar::{Liar, Orders};
use crate::plan::{PersonPlan, Plan, TransportKind};
use crate::rules::{KEYFRAMES_APART, Rule};
use crate::summary::Summary;
use crate::way::{Arrived, Counts, Way};

/// Time between a player's key presses and releases.
const KEY_EVERY: TimeDelta = TimeDelta::from_millis(130);
/// Duration of the sound that a loudspeaker wants at a time.
const BLOCK: TimeDelta = TimeDelta::from_millis(10);

/// The viewer's end of a session, with its decoder.
pub(crate) struct Viewer {
    pub(crate) session: Session,
    pub(crate) decoder: Decoder,
    pub(crate) orders: Arc<Orders>,
    /// Why the session ended, once it has.
    pub(crate) ended: Option<String>,
    /// When the session ended.
    pub(crate) over: Option<Time>,
    is_connected: bool,
    next_key: Time,
    next_block: Time,
    has_sound: bool,
    /// Keys that the player pressed and released.
    pub(crate) keys: Vec<(u16, bool)>,
    newest_wish: Option<Time>,
    wishes: u64,
    /// When a frame was last displayed.
    pub(crate) shown: Option<Time>,
    pub(crate) statistics: Option<Time>,
    pub(crate) began: Time,
}

/// A person, with both ends of the session.
pub(crate) struct Person {
    pub(crate) plan: PersonPlan,
    pub(crate) there: Way,
    pub(crate) back: Way,
    /// Address of the person's program, behind the NAT.
    own: SocketAddr,
    /// Address of the person that the host sees.
    pub(crate) outside: SocketAddr,
    host_address: SocketAddr,
    pub(crate) host: Option<HostSide>,
    pub(crate) viewer: Option<Viewer>,
    transport: TransportKind,
    /// How far the person's clock is ahead of the host's; negative if behind.
    pub(crate) ahead: TimeDelta,
    /// Until when the person's program is stalled; `None` while it runs.
    pub(crate) stalled: Option<Time>,
    /// The person's address has changed, and nothing has come from the new one yet.
    pub(crate) rebound: bool,
    /// What had become of datagrams to the person when the last trouble ended.
    pub(crate) troubled: Counts,
    /// When the player had last been told statistics when the last trouble ended.
    pub(crate) told: Option<Time>,
}

impl Viewer {
    /// A session over a connection to which the host has agreed.
    pub(crate) fn new(
        transport: Box<dyn ViewerTransport>,
        (plan, codecs): (&Plan, Option<Codecs>),
        seed: u64,
        now: Time,
        local: Time,
    ) -> Self {
        let orders = Arc::<Orders>::default();
        let transport = Box::new(Liar::new(transport, Arc::clone(&orders), seed));
        let config = SessionConfig {
            decoder: "model".to_owned(),
            ..SessionConfig::default()
        };
        Self {
            session: Session::new(config, transport, local),
            decoder: Decoder::new(codecs.and_then(|codecs| (codecs.decoder)().ok())),
            orders,
            ended: None,
            over: None,
            is_connected: false,
            next_key: now + KEY_EVERY,
            next_block: now + BLOCK,
            has_sound: plan.has_sound,
            keys: Vec::new(),
            newest_wish: None,
            wishes: 0,
            shown: None,
            statistics: None,
            began: now,
        }
    }

    /// Whether media can flow.
    pub(crate) const fn is_connected(&self) -> bool {
        self.is_connected && self.ended.is_none()
    }
}

impl Person {
    pub(crate) fn new(plan: &Plan, number: usize) -> Option<Self> {
        let person = plan.persons.get(number)?.clone();
        let seed = plan.seed.wrapping_add(number as u64);
        let last = u8::try_from(number).ok()?;
        let own = SocketAddr::from(([10, 0, 1, last], 5_000));
        Some(Self {
            there: Way::new(
                &person,
                plan.transport,
                seed,
                &format!("person {number} there"),
            ),
            back: Way::new(
                &person,
                plan.transport,
                seed,
                &format!("person {number} back"),
            ),
            transport: plan.transport,
            ahead: person.clock_ahead,
            plan: person,
            own,
            outside: own,
            host_address: SocketAddr::from(([10, 0, 0, 1], 4_000)),
            host: None,
            viewer: None,
            stalled: None,
            rebound: false,
            troubled: Counts::default(),
            told: None,
        })
    }

    pub(crate) const fn addresses(&self) -> [SocketAddr; 2] {
        [self.host_address, self.own]
    }

    /// The time on the person's clock when it is `now` on the host's.
    pub(crate) fn local(&self, now: Time) -> Time {
        now + self.ahead
    }

    /// When to call [`Person::step`].
    pub(crate) fn deadline(&self) -> Time {
        let ways = self.there.deadline().min(self.back.deadline());
        let host = self.host.as_ref().map_or(Time::MAX, HostSide::deadline);
        ways.min(host).min(self.viewer_deadline())
    }

    fn viewer_deadline(&self) -> Time {
        let Some(viewer) = self.viewer.as_ref().filter(|viewer| viewer.ended.is_none()) else {
            return Time::MAX;
        };
        let local = viewer.session.deadline();
        let session = if local == Time::MAX {
            Time::MAX
        } else {
            Time::ZERO + local.since(Time::ZERO + self.ahead).max(TimeDelta::ZERO)
        };
        let mut next = session.min(viewer.decoder.deadline()).min(viewer.next_key);
        if viewer.has_sound {
            next = next.min(viewer.next_block);
        }
        // A stalled program does nothing until it continues.
        self.stalled.map_or(next, |until| next.max(until))
    }

    /// Does all that is due by `now`. Returns whether the host's end has connected.
    pub(crate) fn step(&mut self, now: Time, summary: &mut Summary) -> Result<bool, Broken> {
        while let Some(arrived) = self.there.poll(now) {
            self.reach_viewer(now, &arrived);
        }
        while let Some(arrived) = self.back.poll(now) {
            self.reach_host(now, &arrived, summary);
        }
        if self.stalled.is_some_and(|until| until <= now) {
            self.stalled = None;
        }
        if self.stalled.is_none() {
            self.view(now, summary)?;
        }
        if let Some(host) = &mut self.host {
            host.advance(now, summary)?;
        }
        self.settle(now, summary)
    }

    fn reach_viewer(&mut self, now: Time, arrived: &Arrived) {
        if arrived.datagram.destination != self.outside {
            // The NAT has forgotten this address.
            return;
        }
        // Datagrams that come while the program is stalled are lost, as by a full socket.
        if self.stalled.is_some() {
            return;
        }
        let local = self.local(now);
        let way = [arrived.datagram.source, self.own];
        if let Some(viewer) = self.viewer.as_mut().filter(|viewer| viewer.ended.is_none()) {
            let contents = &arrived.datagram.contents;
            viewer
                .session
                .receive(local, local, arrived.ecn, way, contents);
        }
    }

    fn reach_host(&mut self, now: Time, arrived: &Arrived, summary: &mut Summary) {
        let Some(host) = &mut self.host else {
            return;
        };
        let datagram = &arrived.datagram;
        if self.rebound && datagram.source == self.outside {
            summary.witness("rebinding");
            self.rebound = false;
        }
        host.receive(
            now,
            datagram.source,
            datagram.destination,
            &datagram.contents,
        );
        // Other transports encrypt requests for keyframes.
        let is_plain = self.transport == TransportKind::Plain;
        if !is_plain {
            host.has_reason = true;
        } else if datagram.contents.first() == Some(&plain::KEYFRAME) {
            summary.keyframes_wanted += 1;
            host.keyframe_wanted(now);
        }
    }

    /// Does what the person and the program do by themselves.
    fn view(&mut self, now: Time, summary: &mut Summary) -> Result<(), Broken> {
        let local = self.local(now);
        let role = self.plan.role;
        let Some(viewer) = self.viewer.as_mut().filter(|viewer| viewer.ended.is_none()) else {
            return Ok(());
        };
        let host = self.host.as_ref();
        let coded = |timestamp| host.and_then(|host| host.encoder.digest(timestamp));
        while let Some((whole, decoded, is_newer)) = viewer.decoder.poll(now, coded) {
            match decoded {
                Decoded::Whole if is_newer => {
                    viewer.session.decoded();
                    viewer.shown = Some(now);
                    summary.shown += 1;
                    summary.happened(now, [whole.number, 0]);
                    let received = u64::try_from(whole.last.as_nanos()).unwrap_or(0);
                    let received = Time::from_nanos(received).min(local);
                    let decoding = local.since(received);
                    summary.slowest = summary.slowest.max(decoding);
                    viewer.session.seen(&Seen {
                        timestamp: whole.timestamp,
                        received,
                        decoding,
                        shown: local,
                    });
                }
                Decoded::Whole => {
                    let detail = format!("frame {} again or too late", whole.number);
                    return Err((Rule::Order, detail));
                }
                Decoded::Spoiled => {
                    let detail = format!("frame {} is not what was coded", whole.number);
                    return Err((Rule::Order, detail));
                }
                Decoded::WithoutReference { frame, reference } => {
                    let detail = format!("{frame:?} refers to {reference:?}");
                    return Err((Rule::References, detail));
                }
                Decoded::AnotherPicture => {
                    let detail = format!("frame {} gives another picture", whole.number);
                    return Err((Rule::References, detail));
                }
            }
        }
        if viewer.next_key <= now {
            viewer.next_key = now + KEY_EVERY;
            if viewer.is_connected() {
                let number = u16::try_from(viewer.keys.len() % 60).unwrap_or(0);
                let (code, pressed) = (30 + number / 2, number.is_multiple_of(2));
                let is_sent = viewer.session.act(local, Action::Key { code, pressed });
                // Those before the channel is open wait for it.
                if role == Role::Player && is_sent {
                    viewer.keys.push((code, pressed));
                }
            }
        }
        if viewer.has_sound && viewer.next_block <= now {
            viewer.next_block = now + BLOCK;
            viewer.session.look(local);
            let _: Play = viewer.session.play(local, local, BLOCK);
        }
        viewer.session.advance(local);
        Ok(())
    }

    /// Sends what both ends have to send, and carries out their effects. Returns whether the host's
    /// end has connected.
    pub(crate) fn settle(&mut self, now: Time, summary: &mut Summary) -> Result<bool, Broken> {
        let mut has_connected = false;
        if let Some(host) = &mut self.host {
            has_connected = host.settle(now, summary)?;
            if host.dismissed.is_some() {
                host.behind.get_or_insert_with(|| self.there.wait());
            }
            while let Some(datagram) = host.session.poll_datagram() {
                self.there.offer(now, datagram);
            }
        }
        let local = self.local(now);
        if let Some(viewer) = &mut self.viewer {
            while let Some(effect) = viewer.session.poll() {
                match effect {
                    Effect::Connected => viewer.is_connected = true,
                    Effect::Decode(whole) => viewer.decoder.push(now, whole),
                    Effect::Statistics(statistics) => {
                        viewer.statistics = Some(now);
                        if let Some(why) = statistics.why {
                            *summary.troubles.entry(why.cause).or_default() += 1;
                        }
                    }
                    Effect::Ended { reason, .. } => {
                        viewer.ended.get_or_insert(reason);
                        viewer.over.get_or_insert(now);
                        viewer.session.close();
                    }
                    Effect::Line(report) => summary.lines.push(report.rate.0),
                    // The model decodes a frame at once when it is whole.
                    Effect::Begin(_)
                    | Effect::Hello(_)
                    | Effect::Notice(_)
                    | Effect::Rumble(_)
                    | Effect::Copied(_) => {}
                }
            }
            let wishes = viewer.session.tally().keyframes_wanted;
            if wishes > viewer.wishes {
                viewer.wishes = wishes;
                let apart = viewer.newest_wish.map(|at| local.since(at));
                viewer.newest_wish = Some(local);
                if apart.is_some_and(|apart| apart < KEYFRAMES_APART) {
                    return Err((Rule::KeyframeAsked, format!("{apart:?} apart")));
                }
            }
            while let Some(datagram) = viewer.session.poll_datagram() {
                let source = self.outside;
                self.back.offer(now, Datagram { source, ..datagram });
            }
        }
        Ok(has_connected)
    }

    /// Number of reports and messages that the person's transport withheld or falsified.
    pub(crate) fn lied(&self) -> u64 {
        let viewer = self.viewer.as_ref();
        viewer.map_or(0, |viewer| viewer.orders.acted.load(Ordering::Relaxed))
    }
}
