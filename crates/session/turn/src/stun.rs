//! Messages of STUN (RFC 8489, sections 5 and 14), with what TURN adds to them (RFC 8656, sections 17 and 18).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use mimosa_protocol::proof::is_same;

use crate::hash::mac;

/// Bytes of a message's header (RFC 8489, section 5).
const HEADER: usize = 20;
/// The bytes that every message has in its header (RFC 8489, section 5).
const COOKIE: [u8; 4] = [0x21, 0x12, 0xa4, 0x42];
/// Bytes of the attribute `MESSAGE-INTEGRITY` with its header (RFC 8489, section 14.5).
const INTEGRITY: usize = 24;
/// Attributes below this are not to be ignored by whoever does not know them (RFC 8489, section 14).
const OPTIONAL: u16 = 0x8000;
/// Longest text of an error that is kept: it is for the log. RFC 8489, section 14.8, permits 763 bytes.
const LONGEST_REASON: usize = 120;

/// The name of a request, which its answer repeats.
pub type TransactionId = [u8; 12];

/// The class of a message (RFC 8489, section 5).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Class {
    /// A request, which is answered.
    Request,
    /// A message that is not answered.
    Indication,
    /// The answer that a request has succeeded.
    Success,
    /// The answer that a request has failed.
    Error,
}

impl Class {
    const fn bits(self) -> u16 {
        match self {
            Self::Request => 0x0000,
            Self::Indication => 0x0010,
            Self::Success => 0x0100,
            Self::Error => 0x0110,
        }
    }
}

/// A method (RFC 8489, section 18.2; RFC 8656, section 17).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Method {
    /// Asks for a relayed address.
    Allocate,
    /// Keeps a relayed address, or gives it up.
    Refresh,
    /// Has the relay send data to a peer.
    Send,
    /// Data that a peer has sent to the relayed address.
    Data,
    /// Lets an address send to the relayed address.
    CreatePermission,
    /// Gives a peer a number, with which data need a header of four bytes.
    ChannelBind,
}

impl Method {
    const ALL: [Self; 6] = [
        Self::Allocate,
        Self::Refresh,
        Self::Send,
        Self::Data,
        Self::CreatePermission,
        Self::ChannelBind,
    ];

    /// All numbers are below 16, so that the bits of the class (RFC 8489, section 5) are not between theirs.
    const fn number(self) -> u16 {
        match self {
            Self::Allocate => 0x003,
            Self::Refresh => 0x004,
            Self::Send => 0x006,
            Self::Data => 0x007,
            Self::CreatePermission => 0x008,
            Self::ChannelBind => 0x009,
        }
    }
}

/// An attribute (RFC 8489, section 18.3; RFC 8656, section 18).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(missing_docs, reason = "the names are those of the RFCs")]
pub enum Attribute {
    Username = 0x0006,
    MessageIntegrity = 0x0008,
    ErrorCode = 0x0009,
    UnknownAttributes = 0x000a,
    ChannelNumber = 0x000c,
    Lifetime = 0x000d,
    XorPeerAddress = 0x0012,
    Data = 0x0013,
    Realm = 0x0014,
    Nonce = 0x0015,
    XorRelayedAddress = 0x0016,
    RequestedTransport = 0x0019,
    MessageIntegritySha256 = 0x001c,
    PasswordAlgorithm = 0x001d,
    XorMappedAddress = 0x0020,
}

/// The attributes that a relay may send although the client does not use them, or not in every message: an answer with
/// any other that is not optional is ignored (RFC 8489, section 6.3.3).
const KNOWN: [Attribute; 15] = [
    Attribute::Username,
    Attribute::MessageIntegrity,
    Attribute::ErrorCode,
    Attribute::UnknownAttributes,
    Attribute::ChannelNumber,
    Attribute::Lifetime,
    Attribute::XorPeerAddress,
    Attribute::Data,
    Attribute::Realm,
    Attribute::Nonce,
    Attribute::XorRelayedAddress,
    Attribute::RequestedTransport,
    Attribute::MessageIntegritySha256,
    Attribute::PasswordAlgorithm,
    Attribute::XorMappedAddress,
];

/// A message that has been received.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The message's class.
    pub class: Class,
    /// The message's method.
    pub method: Method,
    /// The name of the request.
    pub id: TransactionId,
    whole: &'a [u8],
}

impl<'a> Message<'a> {
    /// Reads a message; `None` if a datagram is none, or has a method that no client of TURN gets.
    #[must_use]
    pub fn read(datagram: &'a [u8]) -> Option<Self> {
        let (header, rest) = datagram.split_first_chunk::<HEADER>()?;
        let kind = u16::from_be_bytes([header[0], header[1]]);
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        if header[4..8] != COOKIE || length != rest.len() {
            return None;
        }
        let class = match kind & 0x0110 {
            0x0000 => Class::Request,
            0x0010 => Class::Indication,
            0x0100 => Class::Success,
            _ => Class::Error,
        };
        // The two highest bits of a message of STUN are zero, and other bits of no method of ours.
        let number = kind & !0x0110;
        let method = Method::ALL
            .into_iter()
            .find(|method| method.number() == number)?;
        let mut id = [0; 12];
        id.copy_from_slice(&header[8..]);
        let message = Self {
            class,
            method,
            id,
            whole: datagram,
        };
        // All attributes are whole.
        let mut attributes = message.attributes();
        attributes.by_ref().for_each(drop);
        attributes.rest.is_empty().then_some(message)
    }

    fn attributes(&self) -> Attributes<'a> {
        Attributes {
            rest: self.whole.get(HEADER..).unwrap_or_default(),
            at: HEADER,
        }
    }

    /// The value of the first attribute of this kind.
    #[must_use]
    pub fn find(&self, attribute: Attribute) -> Option<&'a [u8]> {
        let kind = attribute as u16;
        let mut all = self.attributes();
        let found = all.find(|found| found.kind == kind)?;
        Some(found.value)
    }

    /// Where in the datagram the value of the first attribute of this kind is.
    #[must_use]
    pub fn place(&self, attribute: Attribute) -> Option<std::ops::Range<usize>> {
        let kind = attribute as u16;
        let mut all = self.attributes();
        let found = all.find(|found| found.kind == kind)?;
        Some(found.at..found.at + found.value.len())
    }

    /// Whether there is an attribute that must not be ignored, and is not known.
    #[must_use]
    pub fn is_strange(&self) -> bool {
        let is_known = |kind| KNOWN.iter().any(|known| *known as u16 == kind);
        self.attributes()
            .any(|found| found.kind < OPTIONAL && !is_known(found.kind))
    }

    /// Whether the message is signed with this key (RFC 8489, section 14.5). What stands behind the signature is not.
    #[must_use]
    pub fn is_signed(&self, key: &[u8]) -> bool {
        let kind = Attribute::MessageIntegrity as u16;
        let mut all = self.attributes();
        let Some(found) = all.find(|found| found.kind == kind) else {
            return false;
        };
        let begin = found.at - 4;
        let Some(length) = length(begin + INTEGRITY) else {
            return false;
        };
        let parts = [&self.whole[..2], &length, &self.whole[4..begin]];
        is_same(found.value, &mac(key, &parts))
    }

    /// The address in an attribute whose value is one (RFC 8489, section 14.2).
    #[must_use]
    pub fn address(&self, attribute: Attribute) -> Option<SocketAddr> {
        let value = self.find(attribute)?;
        let (head, address) = value.split_first_chunk::<4>()?;
        let port = u16::from_be_bytes([head[2] ^ COOKIE[0], head[3] ^ COOKIE[1]]);
        let mask = mask(&self.id);
        let ip = match head[1] {
            1 => {
                let bytes: [u8; 4] = address.try_into().ok()?;
                IpAddr::V4(Ipv4Addr::from(crossed(bytes, &mask)))
            }
            2 => {
                let bytes: [u8; 16] = address.try_into().ok()?;
                IpAddr::V6(Ipv6Addr::from(crossed(bytes, &mask)))
            }
            _ => return None,
        };
        Some(SocketAddr::new(ip, port))
    }

    /// A number of 32 bits in an attribute.
    #[must_use]
    pub fn number(&self, attribute: Attribute) -> Option<u32> {
        let value = self.find(attribute)?;
        Some(u32::from_be_bytes(value.try_into().ok()?))
    }

    /// The number and the words of an error (RFC 8489, section 14.8).
    #[must_use]
    pub fn error(&self) -> Option<(u16, String)> {
        let value = self.find(Attribute::ErrorCode)?;
        let (head, reason) = value.split_first_chunk::<4>()?;
        let code = u16::from(head[2] & 7) * 100 + u16::from(head[3] % 100);
        let reason = String::from_utf8_lossy(reason);
        let is_kept = |c: &char| !c.is_control();
        let reason = reason.chars().filter(is_kept).take(LONGEST_REASON);
        Some((code, reason.collect()))
    }
}

/// An attribute with the place of its value in the message.
struct Found<'a> {
    kind: u16,
    value: &'a [u8],
    at: usize,
}

struct Attributes<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Attributes<'a> {
    type Item = Found<'a>;

    fn next(&mut self) -> Option<Found<'a>> {
        let (head, rest) = self.rest.split_first_chunk::<4>()?;
        let kind = u16::from_be_bytes([head[0], head[1]]);
        let length = usize::from(u16::from_be_bytes([head[2], head[3]]));
        let value = rest.get(..length)?;
        let rest = rest.get(length.next_multiple_of(4)..)?;
        let at = self.at + 4;
        self.at = at + length.next_multiple_of(4);
        self.rest = rest;
        Some(Found { kind, value, at })
    }
}

/// A message in the making.
#[derive(Debug)]
pub struct Writer {
    bytes: Vec<u8>,
    id: TransactionId,
}

impl Writer {
    /// A message without attributes.
    #[must_use]
    pub fn new(class: Class, method: Method, id: TransactionId) -> Self {
        let mut bytes = Vec::with_capacity(160);
        bytes.extend((method.number() | class.bits()).to_be_bytes());
        bytes.extend([0, 0]);
        bytes.extend(COOKIE);
        bytes.extend(id);
        Self { bytes, id }
    }

    /// Adds an attribute. One that would make the message longer than a message can be is left out.
    pub fn put(&mut self, attribute: Attribute, value: &[u8]) {
        let end = self.bytes.len() + 4 + value.len().next_multiple_of(4);
        let (Ok(size), Some(length)) = (u16::try_from(value.len()), length(end)) else {
            return;
        };
        self.bytes.extend((attribute as u16).to_be_bytes());
        self.bytes.extend(size.to_be_bytes());
        self.bytes.extend(value);
        self.bytes.resize(end, 0);
        self.bytes[2..4].copy_from_slice(&length);
    }

    /// Adds an attribute whose value is an address (RFC 8489, section 14.2).
    pub fn put_address(&mut self, attribute: Attribute, address: SocketAddr) {
        let port = address.port().to_be_bytes();
        let port = [port[0] ^ COOKIE[0], port[1] ^ COOKIE[1]];
        let mask = mask(&self.id);
        let mut value = match address.ip() {
            IpAddr::V4(v4) => [&[0, 1, 0, 0][..], &crossed(v4.octets(), &mask)].concat(),
            IpAddr::V6(v6) => [&[0, 2, 0, 0][..], &crossed(v6.octets(), &mask)].concat(),
        };
        value[2..4].copy_from_slice(&port);
        self.put(attribute, &value);
    }

    /// Signs what the message has so far.
    pub fn sign(&mut self, key: &[u8]) {
        if let Some(length) = length(self.bytes.len() + INTEGRITY) {
            let code = mac(key, &[&self.bytes[..2], &length, &self.bytes[4..]]);
            self.put(Attribute::MessageIntegrity, &code);
        }
    }

    /// The message's bytes.
    #[must_use]
    pub fn done(self) -> Vec<u8> {
        self.bytes
    }
}

/// The field for the length of a message of so many bytes.
fn length(bytes: usize) -> Option<[u8; 2]> {
    let length = u16::try_from(bytes.checked_sub(HEADER)?).ok()?;
    Some(length.to_be_bytes())
}

/// The bytes with which addresses are combined, so that no router on the way rewrites them.
fn mask(id: &TransactionId) -> [u8; 16] {
    let mut mask = [0; 16];
    mask[..4].copy_from_slice(&COOKIE);
    mask[4..].copy_from_slice(id);
    mask
}

fn crossed<const N: usize>(mut bytes: [u8; N], mask: &[u8; 16]) -> [u8; N] {
    for (byte, with) in bytes.iter_mut().zip(mask) {
        *byte ^= with;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::auth::Credentials;

    /// RFC 5769, section 2.4: a request with long-term credentials. Its method is Binding, which no client of TURN
    /// gets; the signature is what counts.
    const SIGNED: &[u8] = b"\x00\x01\x00\x60\x21\x12\xa4\x42\x78\xad\x34\x33\xc6\xad\x72\xc0\x29\xda\x41\x2e\
        \x00\x06\x00\x12\xe3\x83\x9e\xe3\x83\x88\xe3\x83\xaa\xe3\x83\x83\xe3\x82\xaf\xe3\x82\xb9\x00\x00\
        \x00\x15\x00\x1cf//499k954d6OL34oL9FSTvy64sA\x00\x14\x00\x0bexample.org\x00\
        \x00\x08\x00\x14\xf6\x70\x24\x65\x6d\xd6\x4a\x3e\x02\xb8\xe0\x71\x2e\x85\xc9\xa2\x8c\xa8\x96\x66";

    #[test]
    fn a_signature_is_that_of_the_rfc() {
        let message = Message {
            class: Class::Request,
            method: Method::Allocate,
            id: [0; 12],
            whole: SIGNED,
        };
        let name = message.find(Attribute::Username).unwrap();
        let credentials = Credentials::new(std::str::from_utf8(name).unwrap(), "TheMatrIX");
        let key = credentials.key(message.find(Attribute::Realm).unwrap());
        assert!(message.is_signed(&key));
        assert!(!message.is_signed(&Credentials::new("user", "TheMatrIX").key(b"example.org")));
        let mut changed = SIGNED.to_vec();
        changed[30] ^= 1;
        let whole = &changed;
        assert!(!Message { whole, ..message }.is_signed(&key));
    }

    fn any_address() -> impl Strategy<Value = SocketAddr> {
        let ip = prop_oneof![
            any::<[u8; 4]>().prop_map(IpAddr::from),
            any::<[u8; 16]>().prop_map(IpAddr::from),
        ];
        (ip, any::<u16>()).prop_map(|(ip, port)| SocketAddr::new(ip, port))
    }

    proptest! {
        #[test]
        fn anything_is_read_or_refused(datagram in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Some(message) = Message::read(&datagram) {
                let _ = (message.is_strange(), message.is_signed(b"key"), message.error());
                let _ = message.address(Attribute::XorPeerAddress);
            }
        }

        #[test]
        fn what_is_written_is_read(
            id in any::<[u8; 12]>(), address in any_address(), data in proptest::collection::vec(any::<u8>(), 0..50),
        ) {
            let mut writer = Writer::new(Class::Success, Method::ChannelBind, id);
            writer.put(Attribute::Data, &data);
            writer.put_address(Attribute::XorPeerAddress, address);
            writer.sign(b"key");
            let mut bytes = writer.done();
            let message = Message::read(&bytes).unwrap();
            prop_assert_eq!((message.class, message.method, message.id), (Class::Success, Method::ChannelBind, id));
            prop_assert_eq!(message.find(Attribute::Data), Some(&data[..]));
            prop_assert_eq!(&bytes[message.place(Attribute::Data).unwrap()], &data[..]);
            prop_assert_eq!(message.address(Attribute::XorPeerAddress), Some(address));
            prop_assert!(message.is_signed(b"key") && !message.is_signed(b"kex"));
            prop_assert!(!message.is_strange());
            // A message with more behind it is none, and neither is a shortened one.
            bytes.extend([0x80, 0, 0, 0]);
            prop_assert!(Message::read(&bytes).is_none());
            bytes.truncate(bytes.len() - 5);
            prop_assert!(Message::read(&bytes).is_none());
        }
    }

    #[test]
    fn what_must_not_be_ignored_makes_a_message_strange() {
        for (kind, is_strange) in [(0x0017_u16, true), (0x0017 | OPTIONAL, false)] {
            let mut bytes = Writer::new(Class::Success, Method::Allocate, [7; 12]).done();
            bytes.extend(kind.to_be_bytes());
            bytes.extend([0, 0]);
            bytes[3] = 4;
            assert_eq!(Message::read(&bytes).unwrap().is_strange(), is_strange);
        }
    }
}
