//! A client in virtual time, with a relay that answers as RFC 8656 says.

use proptest::prelude::*;

use super::*;

const SECRET: &str = "north";
const REALM: &[u8] = b"example.org";

fn credentials() -> Credentials {
    Credentials::until(SECRET, 1_700_000_000)
}

fn relayed() -> SocketAddr {
    "198.51.100.1:50000".parse().unwrap()
}

fn peer() -> SocketAddr {
    "192.0.2.7:4000".parse().unwrap()
}

/// A relay. It keeps what it was asked, and answers unless it is silent.
struct Relay {
    nonce: &'static [u8],
    secret: &'static str,
    has_allocation: bool,
    is_silent: bool,
    /// Refuses permissions with this number.
    forbids: Option<u16>,
    /// Seconds for which it gives an address.
    lifetime: u32,
    asked: Vec<(Method, u64)>,
}

impl Relay {
    fn new() -> Self {
        Self {
            nonce: b"first",
            secret: SECRET,
            has_allocation: false,
            is_silent: false,
            forbids: None,
            lifetime: 600,
            asked: Vec::new(),
        }
    }

    fn answer(&mut self, now: Time, datagram: &[u8]) -> Option<Vec<u8>> {
        let request = Message::read(datagram).unwrap();
        if request.class != Class::Request {
            return None;
        }
        self.asked
            .push((request.method, now.as_nanos() / 1_000_000));
        if self.is_silent {
            return None;
        }
        let key = Credentials::until(self.secret, 1_700_000_000).key(REALM);
        let error = |code: u16| {
            let mut writer = Writer::new(Class::Error, request.method, request.id);
            let [hundreds, rest] = [code / 100, code % 100].map(|part| u8::try_from(part).unwrap());
            writer.put(
                Attribute::ErrorCode,
                &[&[0, 0, hundreds, rest][..], b"No"].concat(),
            );
            writer
        };
        let demand = |code: u16| {
            let mut writer = error(code);
            writer.put(Attribute::Realm, REALM);
            writer.put(Attribute::Nonce, self.nonce);
            Some(writer.done())
        };
        match request.find(Attribute::Nonce) {
            None => return demand(401),
            Some(nonce) if nonce != self.nonce => return demand(438),
            Some(_) if !request.is_signed(&key) => return demand(401),
            Some(_) => {}
        }
        let refusal = match request.method {
            Method::Allocate if self.has_allocation => Some(437),
            Method::Allocate => None,
            _ if !self.has_allocation => Some(437),
            Method::CreatePermission => self.forbids,
            _ => None,
        };
        let mut writer = match refusal {
            Some(code) => error(code),
            None => Writer::new(Class::Success, request.method, request.id),
        };
        if refusal.is_none() && request.method == Method::Allocate {
            self.has_allocation = true;
            writer.put_address(Attribute::XorRelayedAddress, relayed());
        }
        writer.put(Attribute::Lifetime, &self.lifetime.to_be_bytes());
        writer.sign(&key);
        Some(writer.done())
    }

    /// What the client and the relay say to each other until `until`, with the client's events.
    fn run(&mut self, client: &mut Client, now: &mut Time, until: Time) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            while let Some(datagram) = client.poll_datagram() {
                if let Some(answer) = self.answer(*now, &datagram) {
                    assert_eq!(client.receive(*now, &answer), None);
                }
            }
            events.extend(std::iter::from_fn(|| client.poll_event()));
            let next = client.deadline();
            if next > until || client.is_due(*now) {
                *now = until;
                return events;
            }
            *now = (*now).max(next);
            client.timeout(*now);
        }
    }

    fn count(&self, method: Method) -> usize {
        let all = self.asked.iter();
        all.filter(|(asked, _)| *asked == method).count()
    }
}

/// A client that has its address, with its relay and the time.
fn allocated() -> (Relay, Client, Time) {
    let (mut relay, mut client, mut now) = (Relay::new(), Client::new(1), Time::ZERO);
    assert!(client.is_due(now) && client.relayed().is_none());
    client.begin(now, credentials());
    let events = relay.run(&mut client, &mut now, Time::from_millis(1));
    assert_eq!(events, [Event::Allocated(relayed())]);
    assert_eq!(relay.count(Method::Allocate), 2, "unsigned, then signed");
    assert_eq!(client.relayed(), Some(relayed()));
    (relay, client, now)
}

fn permit(client: &mut Client, now: Time) {
    client.permit(now, &BTreeSet::from([peer().ip()]));
}

#[test]
fn an_allocation_is_kept_and_permissions_are_renewed() {
    let (mut relay, mut client, mut now) = allocated();
    permit(&mut client, now);
    let events = relay.run(&mut client, &mut now, Time::from_secs(3_600));
    assert_eq!(events, []);
    assert_eq!(relay.count(Method::Refresh), 240, "every 15 s");
    assert_eq!(relay.count(Method::CreatePermission), 15, "every 240 s");
    // What is not wanted any more runs out.
    client.permit(now, &BTreeSet::new());
    relay.run(&mut client, &mut now, Time::from_secs(4_000));
    assert_eq!(relay.count(Method::CreatePermission), 15);
}

#[test]
fn a_stale_nonce_is_replaced() {
    let (mut relay, mut client, mut now) = allocated();
    relay.nonce = b"second";
    let events = relay.run(&mut client, &mut now, Time::from_secs(20));
    assert_eq!(events, []);
    assert_eq!(relay.count(Method::Refresh), 2, "with each nonce");
}

#[test]
fn a_request_is_repeated_and_a_silent_relay_is_asked_again() {
    let (mut relay, mut client, mut now) = (Relay::new(), Client::new(1), Time::ZERO);
    relay.is_silent = true;
    client.begin(now, credentials());
    let events = relay.run(&mut client, &mut now, Time::from_secs(60));
    assert_eq!(events, [Event::Failed(Trouble::Unanswered)]);
    let times: Vec<_> = relay.asked.iter().map(|(_, time)| *time).collect();
    assert_eq!(times, [0, 500, 1_500, 3_500, 7_500, 15_500, 31_500]);
    assert!(!client.is_due(Time::from_millis(44_400)) && client.is_due(Time::from_millis(44_500)));
}

#[test]
fn a_relay_that_was_started_again_gives_another_address() {
    let (mut relay, mut client, mut now) = allocated();
    relay.has_allocation = false;
    relay.nonce = b"other";
    let events = relay.run(&mut client, &mut now, Time::from_secs(16));
    assert_eq!(events, [Event::Failed(Trouble::Forgotten)]);
    assert!(client.is_due(now) && client.relayed().is_none());
    client.begin(now, credentials());
    let events = relay.run(&mut client, &mut now, Time::from_secs(17));
    assert_eq!(events, [Event::Allocated(relayed())]);
}

#[test]
fn an_allocation_ends_where_the_relay_is_gone() {
    let (mut relay, mut client, mut now) = allocated();
    relay.is_silent = true;
    let events = relay.run(&mut client, &mut now, Time::from_secs(100));
    assert_eq!(events, [Event::Failed(Trouble::Unanswered)]);
    assert_eq!(client.relayed(), None);
}

#[test]
fn an_address_that_is_given_for_a_short_time_is_kept_and_ends_in_time() {
    let (mut relay, mut client, mut now) = (Relay::new(), Client::new(1), Time::ZERO);
    relay.lifetime = 10;
    client.begin(now, credentials());
    let events = relay.run(&mut client, &mut now, Time::from_secs(52));
    assert_eq!(events, [Event::Allocated(relayed())]);
    assert_eq!(relay.count(Method::Refresh), 10, "every 5 s");
    relay.is_silent = true;
    assert_eq!(relay.run(&mut client, &mut now, Time::from_secs(59)), []);
    let events = relay.run(&mut client, &mut now, Time::from_secs(60));
    assert_eq!(events, [Event::Failed(Trouble::Expired)]);
}

#[test]
fn a_wrong_secret_is_told_and_not_tried_all_the_time() {
    let (mut relay, mut client, mut now) = (Relay::new(), Client::new(1), Time::ZERO);
    relay.secret = "south";
    client.begin(now, credentials());
    let events = relay.run(&mut client, &mut now, Time::from_secs(30));
    let [Event::Failed(trouble)] = &events[..] else {
        panic!("{events:?}");
    };
    assert!(trouble.to_string().contains("relay.secret"), "{trouble}");
    assert_eq!(relay.asked.len(), 2);
    assert!(!client.is_due(Time::from_secs(59)) && client.is_due(Time::from_secs(61)));
}

#[test]
fn data_go_by_indication_and_then_by_channel() {
    let (mut relay, mut client, mut now) = allocated();
    assert_eq!(client.wrap(now, peer(), b"data"), None, "not permitted");
    permit(&mut client, now);
    let wrapped = client.wrap(now, peer(), b"data").unwrap();
    let sent = Message::read(&wrapped).unwrap();
    assert_eq!((sent.class, sent.method), (Class::Indication, Method::Send));
    assert_eq!(sent.address(Attribute::XorPeerAddress), Some(peer()));
    assert_eq!(sent.find(Attribute::Data), Some(&b"data"[..]));
    client.timeout(now);
    let until = now + TimeDelta::from_millis(1);
    assert_eq!(relay.run(&mut client, &mut now, until), []);
    assert_eq!(relay.count(Method::ChannelBind), 1);
    let wrapped = client.wrap(now, peer(), b"data").unwrap();
    assert_eq!(wrapped, b"\x40\x00\x00\x04data");
    let data = 4..8;
    let carried = Carried { peer: peer(), data };
    assert_eq!(client.receive(now, &wrapped), Some(carried.clone()));
    // The channel is renewed as long as the peer may send.
    relay.run(&mut client, &mut now, Time::from_secs(1_000));
    assert_eq!(client.receive(now, &wrapped), Some(carried));
    assert_eq!(client.wrap(now, peer(), b"data"), Some(wrapped.clone()));
    client.permit(now, &BTreeSet::new());
    assert_eq!(client.receive(now, &wrapped), None);
}

#[test]
fn only_who_may_is_heard() {
    let (_, mut client, now) = allocated();
    permit(&mut client, now);
    let data = |from: SocketAddr| {
        let mut writer = Writer::new(Class::Indication, Method::Data, [1; 12]);
        writer.put_address(Attribute::XorPeerAddress, from);
        writer.put(Attribute::Data, b"data");
        writer.done()
    };
    let datagram = data(peer());
    let carried = client.receive(now, &datagram).unwrap();
    assert_eq!(carried.peer, peer());
    assert_eq!(&datagram[carried.data], b"data");
    let stranger = SocketAddr::from(([192, 0, 2, 8], 4_000));
    assert_eq!(client.receive(now, &data(stranger)), None);
}

#[test]
fn what_is_forbidden_is_told_and_the_number_of_permissions_is_bounded() {
    let (mut relay, mut client, mut now) = allocated();
    relay.forbids = Some(403);
    permit(&mut client, now);
    let until = now + TimeDelta::from_millis(1);
    let events = relay.run(&mut client, &mut now, until);
    let forbidden = Event::Forbidden {
        peer: peer().ip(),
        code: 403,
    };
    assert_eq!(events, [forbidden]);
    let many = (0..1_000_u32).map(|number| IpAddr::V4(number.into()));
    client.permit(now, &many.collect());
    relay.run(&mut client, &mut now, until);
    assert_eq!(relay.count(Method::CreatePermission), 1 + MOST_PERMISSIONS);
    // A peer without the family of the relayed address cannot send there.
    client.permit(now, &BTreeSet::from(["2001:db8::1".parse().unwrap()]));
    relay.run(&mut client, &mut now, until);
    assert_eq!(relay.count(Method::CreatePermission), 1 + MOST_PERMISSIONS);
}

#[test]
fn an_answer_that_is_not_signed_or_not_asked_for_is_none() {
    let (mut client, now) = (Client::new(1), Time::ZERO);
    client.begin(now, credentials());
    let mut relay = Relay::new();
    let first = client.poll_datagram().unwrap();
    let demand = relay.answer(now, &first).unwrap();
    client.receive(now, &demand);
    let signed = client.poll_datagram().unwrap();
    let id = Message::read(&signed).unwrap().id;
    let forged = |id, key: Option<&[u8]>| {
        let mut writer = Writer::new(Class::Success, Method::Allocate, id);
        writer.put_address(Attribute::XorRelayedAddress, relayed());
        if let Some(key) = key {
            writer.sign(key);
        }
        writer.done()
    };
    let key = credentials().key(REALM);
    for answer in [
        forged(id, None),
        forged(id, Some(b"other")),
        forged([0; 12], Some(&key)),
    ] {
        client.receive(now, &answer);
        assert_eq!(client.relayed(), None);
    }
    // An error that is not signed ends nothing either.
    let mut error = Writer::new(Class::Error, Method::Allocate, id);
    error.put(Attribute::ErrorCode, &[0, 0, 4, 86]);
    client.receive(now, &error.done());
    assert_eq!(client.poll_event(), None);
    client.receive(now, &forged(id, Some(&key)));
    assert_eq!(client.relayed(), Some(relayed()));
}

#[test]
fn demands_without_end_end() {
    let (mut client, now) = (Client::new(1), Time::ZERO);
    client.begin(now, credentials());
    let mut asked = 0;
    while let Some(request) = client.poll_datagram() {
        asked += 1;
        let request = Message::read(&request).unwrap();
        let mut writer = Writer::new(Class::Error, request.method, request.id);
        writer.put(Attribute::ErrorCode, &[0, 0, 4, 38]);
        writer.put(Attribute::Realm, REALM);
        writer.put(Attribute::Nonce, &[asked]);
        client.receive(now, &writer.done());
    }
    assert_eq!(u32::from(asked), 1 + MOST_DEMANDS);
    assert!(matches!(client.poll_event(), Some(Event::Failed(_))));
}

#[test]
fn a_client_that_closes_gives_its_address_up() {
    let (mut relay, mut client, now) = allocated();
    client.close();
    let datagram = client.poll_datagram().unwrap();
    let message = Message::read(&datagram).unwrap();
    assert_eq!(message.method, Method::Refresh);
    assert_eq!(message.number(Attribute::Lifetime), Some(0));
    assert!(relay.answer(now, &datagram).is_some());
    assert!(!client.is_due(Time::from_secs(1_000_000)));
}

proptest! {
    #[test]
    fn whatever_comes_from_the_relay_is_taken_or_ignored(
        datagrams in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..80), 0..20),
        bits in any::<u16>(),
    ) {
        let (_, mut client, now) = allocated();
        permit(&mut client, now);
        for mut datagram in datagrams {
            // Half of them look like messages.
            if datagram.len() >= 20 && bits & 1 == 1 {
                let length = u16::try_from(datagram.len() - 20).unwrap();
                datagram[..2].copy_from_slice(&(bits & 0x0119).to_be_bytes());
                datagram[2..4].copy_from_slice(&length.to_be_bytes());
                datagram[4..8].copy_from_slice(&[0x21, 0x12, 0xa4, 0x42]);
            }
            if let Some(carried) = client.receive(now, &datagram) {
                prop_assert!(datagram.get(carried.data).is_some());
            }
        }
        prop_assert_eq!(client.relayed(), Some(relayed()));
    }
}
