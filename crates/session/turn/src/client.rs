//! A client with one allocation (RFC 8656, sections 7 to 12).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

use mimosa_units::{Time, TimeDelta};

use crate::auth::{Credentials, Signing};
use crate::channels::Channels;
use crate::event::{Carried, Event, Trouble};
use crate::hash::sha1;
use crate::stun::{Attribute, Class, Message, Method, TransactionId, Writer};
use crate::transaction::{Asked, Transaction};

/// Most addresses that may send to the relayed address. Our choice: eight for each of sixteen sessions.
pub const MOST_PERMISSIONS: usize = 128;
/// How often an allocation is refreshed (RFC 8445, section 11, Tr), which also keeps the router's mapping.
const REFRESHED: TimeDelta = TimeDelta::from_millis(15_000);
/// The lifetime to ask for, in seconds: the default of RFC 8656, section 3.2. A host that has died holds its address
/// no longer.
const LIFETIME: u32 = 600;
/// When a permission is asked for again, a minute before its end (RFC 8656, section 9: it lasts for 300 s).
const PERMISSION_RENEWED: TimeDelta = TimeDelta::from_millis(240_000);
/// When what the relay did not grant is asked for again. Our choice: a relay's configuration is changed by people.
const AGAIN_LATER: TimeDelta = TimeDelta::from_millis(60_000);
/// When a relay that did not answer is asked again, after 39.5 s in which it was asked seven times. Our choice.
const AGAIN_SOON: TimeDelta = TimeDelta::from_millis(5_000);
/// Most demands in a row to sign a request otherwise: the realm at first, and a nonce that has become stale twice.
/// Our choice.
const MOST_DEMANDS: u32 = 3;
/// The protocol of a relayed address, UDP (RFC 8656, section 18.8).
const UDP: [u8; 4] = [17, 0, 0, 0];

#[derive(Debug)]
enum State {
    /// There is no allocation, and the next one is due.
    Idle(Time),
    /// The relay was asked for an address.
    Asking(Credentials),
    /// There is an allocation.
    Allocated(Allocation),
}

#[derive(Debug)]
struct Allocation {
    credentials: Credentials,
    relayed: SocketAddr,
    /// When the relay forgets it.
    ends: Time,
    /// When to refresh it; [`Time::MAX`] while a request waits.
    refresh: Time,
    channels: Channels,
}

/// A client of TURN with at most one allocation.
///
/// Each method that changes it takes the time. Afterwards [`Client::poll_datagram`] and [`Client::poll_event`] return
/// the results. [`Client::timeout`] is due at [`Client::deadline`].
#[derive(Debug)]
pub struct Client {
    /// What the names of requests are made of.
    seed: u128,
    requests: u64,
    state: State,
    signing: Option<Signing>,
    transactions: BTreeMap<TransactionId, Transaction>,
    /// The addresses that may send, and when each is asked for; [`Time::MAX`] while a request waits.
    permissions: BTreeMap<IpAddr, Time>,
    datagrams: VecDeque<Vec<u8>>,
    events: VecDeque<Event>,
}

impl Client {
    /// A client without an allocation. `seed` is random: whoever can guess it can forge answers.
    #[must_use]
    pub const fn new(seed: u128) -> Self {
        Self {
            seed,
            requests: 0,
            state: State::Idle(Time::ZERO),
            signing: None,
            transactions: BTreeMap::new(),
            permissions: BTreeMap::new(),
            datagrams: VecDeque::new(),
            events: VecDeque::new(),
        }
    }

    /// Whether to call [`Self::begin`].
    #[must_use]
    pub fn is_due(&self, now: Time) -> bool {
        matches!(self.state, State::Idle(from) if from <= now)
    }

    /// The address at which peers reach the client, if there is one.
    #[must_use]
    pub const fn relayed(&self) -> Option<SocketAddr> {
        match &self.state {
            State::Allocated(allocation) => Some(allocation.relayed),
            State::Idle(_) | State::Asking(_) => None,
        }
    }

    /// Asks for an address, in the place of any that there is.
    pub fn begin(&mut self, now: Time, credentials: Credentials) {
        self.forget();
        self.state = State::Asking(credentials);
        self.ask(now, Asked::Address, 0);
    }

    /// Lets these addresses send to the relayed one, and no others. Beyond [`MOST_PERMISSIONS`], addresses are left out.
    pub fn permit(&mut self, now: Time, peers: &BTreeSet<IpAddr>) {
        self.permissions.retain(|peer, _| peers.contains(peer));
        for &peer in peers {
            if self.permissions.len() < MOST_PERMISSIONS {
                self.permissions.entry(peer).or_insert(now);
            }
        }
        self.timeout(now);
    }

    /// Puts data for a peer into the form in which the relay passes them on; `None` if there is no relayed address, or
    /// if the peer's may not send there.
    #[must_use]
    pub fn wrap(&mut self, now: Time, peer: SocketAddr, data: &[u8]) -> Option<Vec<u8>> {
        if !self.permissions.contains_key(&peer.ip()) {
            return None;
        }
        let State::Allocated(allocation) = &mut self.state else {
            return None;
        };
        if let Some(wrapped) = allocation.channels.wrap(now, peer, data) {
            return Some(wrapped);
        }
        allocation.channels.want(now, peer);
        let id = self.name();
        let mut writer = Writer::new(Class::Indication, Method::Send, id);
        writer.put_address(Attribute::XorPeerAddress, peer);
        writer.put(Attribute::Data, data);
        Some(writer.done())
    }

    /// Takes a datagram from the relay's address. Returns data in it that a peer has sent who may.
    pub fn receive(&mut self, now: Time, datagram: &[u8]) -> Option<Carried> {
        // RFC 8656, section 12: the first two bits are 00 in STUN, and the first four 0100 in channel data.
        if let Some(0x40..=0x4f) = datagram.first() {
            let State::Allocated(allocation) = &self.state else {
                return None;
            };
            let (peer, data) = allocation.channels.unwrap(datagram)?;
            return self.from(peer, data);
        }
        let message = Message::read(datagram).filter(|message| !message.is_strange())?;
        match message.class {
            Class::Indication if message.method == Method::Data => {
                self.relayed()?;
                let peer = message.address(Attribute::XorPeerAddress)?;
                self.from(peer, message.place(Attribute::Data)?)
            }
            Class::Success | Class::Error => {
                self.answer(now, &message);
                None
            }
            Class::Request | Class::Indication => None,
        }
    }

    /// Lets time pass until `now`.
    pub fn timeout(&mut self, now: Time) {
        let due = self.transactions.iter_mut();
        let due = due.filter(|(_, transaction)| transaction.next() <= now);
        let mut silent = Vec::new();
        for (id, transaction) in due {
            if transaction.again(now) {
                self.datagrams.push_back(transaction.message.clone());
            } else {
                silent.push(*id);
            }
        }
        for id in silent {
            if let Some(transaction) = self.transactions.remove(&id) {
                self.unanswered(now, transaction.asked);
            }
        }
        self.renew(now);
    }

    /// When to call [`Self::timeout`], or [`Self::begin`].
    #[must_use]
    pub fn deadline(&self) -> Time {
        let own = match &self.state {
            State::Idle(from) => return *from,
            State::Asking(_) => Time::MAX,
            State::Allocated(allocation) => {
                let permissions = self.permissions.iter();
                let permissions = permissions
                    .filter(|(peer, _)| peer.is_ipv4() == allocation.relayed.is_ipv4())
                    .map(|(_, due)| *due);
                permissions
                    .fold(allocation.refresh.min(allocation.ends), Time::min)
                    .min(allocation.channels.deadline())
            }
        };
        let waiting = self.transactions.values();
        waiting.map(Transaction::next).fold(own, Time::min)
    }

    /// Gives the relayed address up. The relay is told once.
    pub fn close(&mut self) {
        if let (State::Allocated(allocation), Some(signing)) = (&self.state, &self.signing) {
            let credentials = allocation.credentials.clone();
            let signing = signing.clone();
            let mut writer = Writer::new(Class::Request, Method::Refresh, self.name());
            writer.put(Attribute::Lifetime, &0_u32.to_be_bytes());
            signing.sign(&mut writer, &credentials);
            self.datagrams.push_back(writer.done());
        }
        self.forget();
        self.state = State::Idle(Time::MAX);
    }

    /// Takes the next datagram for the relay.
    pub fn poll_datagram(&mut self) -> Option<Vec<u8>> {
        self.datagrams.pop_front()
    }

    /// Takes the next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Data of a peer who may send.
    fn from(&self, peer: SocketAddr, data: Range<usize>) -> Option<Carried> {
        let may = self.permissions.contains_key(&peer.ip());
        may.then_some(Carried { peer, data })
    }

    /// Asks for what is due.
    fn renew(&mut self, now: Time) {
        let State::Allocated(allocation) = &mut self.state else {
            return;
        };
        if allocation.ends <= now {
            return self.fail(Trouble::Expired, now);
        }
        let mut asked = Vec::new();
        if allocation.refresh <= now {
            allocation.refresh = Time::MAX;
            asked.push(Asked::Keep);
        }
        for (&peer, due) in &mut self.permissions {
            // RFC 8656, section 10.2: a peer's address has the relayed one's family.
            if *due <= now && peer.is_ipv4() == allocation.relayed.is_ipv4() {
                *due = Time::MAX;
                asked.push(Asked::Permission(peer));
            }
        }
        let may = |peer: SocketAddr| self.permissions.contains_key(&peer.ip());
        let channels = allocation.channels.due(now, may);
        asked.extend(
            channels
                .into_iter()
                .map(|(number, peer)| Asked::Channel(number, peer)),
        );
        for asked in asked {
            self.ask(now, asked, 0);
        }
    }

    /// Sends a request. `demands` counts those to sign it otherwise.
    fn ask(&mut self, now: Time, asked: Asked, demands: u32) {
        let id = self.name();
        let method = match asked {
            Asked::Address => Method::Allocate,
            Asked::Keep => Method::Refresh,
            Asked::Permission(_) => Method::CreatePermission,
            Asked::Channel(..) => Method::ChannelBind,
        };
        let mut writer = Writer::new(Class::Request, method, id);
        match asked {
            Asked::Address => {
                writer.put(Attribute::RequestedTransport, &UDP);
                writer.put(Attribute::Lifetime, &LIFETIME.to_be_bytes());
            }
            Asked::Keep => writer.put(Attribute::Lifetime, &LIFETIME.to_be_bytes()),
            Asked::Permission(peer) => {
                writer.put_address(Attribute::XorPeerAddress, SocketAddr::new(peer, 0));
            }
            Asked::Channel(number, peer) => {
                let [high, low] = number.to_be_bytes();
                writer.put(Attribute::ChannelNumber, &[high, low, 0, 0]);
                writer.put_address(Attribute::XorPeerAddress, peer);
            }
        }
        let credentials = match &self.state {
            State::Idle(_) => return,
            State::Asking(credentials) => credentials,
            State::Allocated(allocation) => &allocation.credentials,
        };
        if let Some(signing) = &self.signing {
            signing.sign(&mut writer, credentials);
        }
        let is_signed = self.signing.is_some();
        let message = writer.done();
        self.datagrams.push_back(message.clone());
        let transaction = Transaction::new(now, asked, message, is_signed, demands);
        self.transactions.insert(id, transaction);
    }

    /// Takes the answer to a request.
    fn answer(&mut self, now: Time, message: &Message<'_>) {
        let Some(transaction) = self.transactions.get(&message.id) else {
            return;
        };
        let (asked, is_signed, demands) = (
            transaction.asked,
            transaction.is_signed,
            transaction.demands,
        );
        let error = match message.class {
            Class::Error => Some(message.error().unwrap_or_default()),
            _ => None,
        };
        // These say what to sign with, so that they come without a signature (RFC 8489, section 9.2.4).
        let is_demand = matches!(error, Some((401 | 438, _)));
        let signing = self.signing.as_ref();
        let is_authentic = signing.is_some_and(|signing| signing.has_signed(message));
        // What is refused before anything was signed cannot be signed either.
        let is_early = !is_signed && error.is_some();
        if !(is_authentic || is_demand || is_early) {
            return;
        }
        self.transactions.remove(&message.id);
        match error {
            None => self.granted(now, asked, message),
            Some((401, reason)) if is_signed => self.refused(now, asked, 401, reason),
            Some((code @ (401 | 438), reason)) => {
                let credentials = match &self.state {
                    State::Idle(_) => return,
                    State::Asking(credentials) => credentials,
                    State::Allocated(allocation) => &allocation.credentials,
                };
                let next = Signing::read(message, credentials, self.signing.as_ref());
                match next.filter(|_| demands < MOST_DEMANDS) {
                    Some(next) => {
                        self.signing = Some(next);
                        self.ask(now, asked, demands + 1);
                    }
                    None => self.refused(now, asked, code, reason),
                }
            }
            Some((code, reason)) => self.refused(now, asked, code, reason),
        }
    }

    /// The relay has done what it was asked for.
    fn granted(&mut self, now: Time, asked: Asked, message: &Message<'_>) {
        let lifetime = message.number(Attribute::Lifetime).unwrap_or(LIFETIME);
        let lasts = TimeDelta::from_millis(i64::from(lifetime) * 1_000);
        let (ends, refresh) = (now + lasts, now + REFRESHED.min(lasts.scale(0.5)));
        match (asked, &mut self.state) {
            (Asked::Address, State::Asking(credentials)) => {
                let relayed = message.address(Attribute::XorRelayedAddress);
                let Some(relayed) = relayed.filter(can_be_reached) else {
                    return self.fail(Trouble::Unreadable, now + AGAIN_LATER);
                };
                self.state = State::Allocated(Allocation {
                    credentials: credentials.clone(),
                    relayed,
                    ends,
                    refresh,
                    channels: Channels::default(),
                });
                self.permissions.values_mut().for_each(|due| *due = now);
                self.events.push_back(Event::Allocated(relayed));
                self.renew(now);
            }
            (Asked::Keep, State::Allocated(allocation)) => {
                allocation.ends = ends;
                allocation.refresh = refresh;
            }
            (Asked::Permission(peer), _) => self.later(peer, now + PERMISSION_RENEWED),
            (Asked::Channel(number, _), State::Allocated(allocation)) => {
                allocation.channels.bound(now, number);
            }
            _ => {}
        }
    }

    /// The relay refuses a request.
    fn refused(&mut self, now: Time, asked: Asked, code: u16, reason: String) {
        match (asked, &mut self.state) {
            // RFC 8656, section 19: there is no allocation. Where one is asked for, it is somebody else's.
            (Asked::Keep | Asked::Permission(_) | Asked::Channel(..), _) if code == 437 => {
                self.fail(Trouble::Forgotten, now);
            }
            (Asked::Address | Asked::Keep, _) => {
                // RFC 8656, section 19: 441 is credentials other than those of the allocation.
                let trouble = match code {
                    401 | 438 | 441 => Trouble::Credentials { code, reason },
                    _ => Trouble::Refused { code, reason },
                };
                self.fail(trouble, now + AGAIN_LATER);
            }
            (Asked::Permission(peer), _) => {
                self.later(peer, now + AGAIN_LATER);
                self.events.push_back(Event::Forbidden { peer, code });
            }
            (Asked::Channel(number, _), State::Allocated(allocation)) => {
                allocation.channels.refused(now, number);
            }
            (Asked::Channel(..), _) => {}
        }
    }

    /// The relay has not answered a request.
    fn unanswered(&mut self, now: Time, asked: Asked) {
        match (asked, &mut self.state) {
            (Asked::Address | Asked::Keep, _) => self.fail(Trouble::Unanswered, now + AGAIN_SOON),
            (Asked::Permission(peer), _) => self.later(peer, now + AGAIN_SOON),
            (Asked::Channel(number, _), State::Allocated(allocation)) => {
                allocation.channels.refused(now, number);
            }
            (Asked::Channel(..), _) => {}
        }
    }

    /// Asks for this permission again at `due`, if it is still wanted.
    fn later(&mut self, peer: IpAddr, due: Time) {
        if let Some(wanted) = self.permissions.get_mut(&peer) {
            *wanted = due;
        }
    }

    /// There is no allocation until `again` at least.
    fn fail(&mut self, trouble: Trouble, again: Time) {
        self.forget();
        self.state = State::Idle(again);
        self.events.push_back(Event::Failed(trouble));
    }

    fn forget(&mut self) {
        self.transactions.clear();
        self.signing = None;
    }

    /// A name for a message: 96 bits that nobody guesses who does not know the seed.
    fn name(&mut self) -> TransactionId {
        self.requests += 1;
        let drawn = [
            &self.seed.to_be_bytes()[..],
            &self.requests.to_be_bytes()[..],
        ];
        let mut name = [0; 12];
        name.copy_from_slice(&sha1(&drawn.concat())[..12]);
        name
    }
}

/// Whether an address can be one of a single machine's port.
fn can_be_reached(address: &SocketAddr) -> bool {
    let ip = address.ip();
    address.port() != 0 && !ip.is_unspecified() && !ip.is_multicast()
}

#[cfg(test)]
mod tests;
