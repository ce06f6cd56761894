//! The datagrams of a plain connection.
//!
//! A datagram begins with its [`Kind`] and the connection's number. In an RTP packet, header fields
//! follow, padded to the size of WebRTC's headers, so that both load a link equally.

use mimosa_facts::TransportSequence;
use mimosa_rtp::dependency::{Dependency, Reference};
use mimosa_rtp::transport_cc::TransportExtension;

use crate::ends::{Carries, Incoming};

/// Bytes of a datagram of video before its payload: [`OVERHEAD`](crate::OVERHEAD) without the
/// headers of IPv4 and UDP.
const VIDEO_HEADER: usize = 48;
/// Bytes of a datagram of sound before its payload:
/// [`SOUND_OVERHEAD`](crate::SOUND_OVERHEAD) without the headers of IPv4 and UDP.
const SOUND_HEADER: usize = 28;
/// Bytes of a datagram's kind and the connection's number.
const START: usize = 9;

/// What a datagram is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// A greeting, which shows that its sender is there.
    Hello = 1,
    /// An RTP packet.
    Rtp = 2,
    /// An RTCP compound packet.
    Rtcp = 3,
    /// A request for a keyframe.
    Keyframe = 4,
    /// A message on a channel.
    Message = 5,
    /// An acknowledgement of a channel's messages.
    Acknowledgement = 6,
    /// The connection is over.
    Bye = 7,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Hello,
        Self::Rtp,
        Self::Rtcp,
        Self::Keyframe,
        Self::Message,
        Self::Acknowledgement,
        Self::Bye,
    ];
}

/// Begins a datagram, with room for `capacity` bytes after its start.
pub(super) fn begin(kind: Kind, id: u64, capacity: usize) -> Vec<u8> {
    let mut datagram = Vec::with_capacity(START + capacity);
    datagram.push(kind as u8);
    datagram.extend(id.to_be_bytes());
    datagram
}

/// Splits a datagram of this connection into its kind and the rest; `None` for any other datagram.
pub(super) fn parse(id: u64, datagram: &[u8]) -> Option<(Kind, &[u8])> {
    let (&[kind, ref number @ ..], rest) = datagram.split_first_chunk::<START>()?;
    let kind = Kind::ALL.into_iter().find(|known| *known as u8 == kind)?;
    (*number == id.to_be_bytes()).then_some((kind, rest))
}

const fn carries_code(carries: Carries) -> u8 {
    match carries {
        Carries::Video => 0,
        Carries::Repeat => 1,
        Carries::Sound => 2,
        Carries::RedundantSound => 3,
    }
}

/// Writes an RTP packet as a datagram.
pub(super) fn write_rtp(id: u64, packet: &Incoming) -> Vec<u8> {
    let is_sound = matches!(packet.carries, Carries::Sound | Carries::RedundantSound);
    let header = if is_sound { SOUND_HEADER } else { VIDEO_HEADER };
    let mut out = begin(Kind::Rtp, id, header + packet.payload.len());
    let dependency = packet.dependency;
    let flags = carries_code(packet.carries)
        | u8::from(dependency.is_some()) << 2
        | u8::from(dependency.is_some_and(|place| place.is_first)) << 3
        | u8::from(dependency.is_some_and(|place| place.is_last)) << 4
        | u8::from(packet.transport.is_some()) << 5
        | u8::from(
            packet
                .transport
                .is_some_and(|number| number.request.is_some()),
        ) << 6;
    out.push(flags);
    out.extend(packet.sequence.to_be_bytes());
    out.extend(packet.timestamp.to_be_bytes());
    out.extend(packet.ssrc.to_be_bytes());
    if !is_sound {
        let number = packet.transport;
        out.extend(number.map_or(0, |number| number.sequence.0).to_be_bytes());
        let request = number.and_then(|number| number.request);
        out.extend(request.unwrap_or(0).to_be_bytes());
        let distance = dependency.map_or(0, |place| match place.reference {
            Reference::None => 0,
            Reference::Back(distance) => distance,
        });
        let frame = dependency.map_or(0, |place| place.frame_number);
        out.extend(frame.to_be_bytes());
        out.extend(distance.to_be_bytes());
    }
    out.resize(header, 0);
    out.extend(&packet.payload);
    out
}

/// Reads what [`write_rtp`] wrote after the datagram's kind and number.
pub(super) fn read_rtp(rest: &[u8]) -> Option<Incoming> {
    let (&[flags, s0, s1, t0, t1, t2, t3, c0, c1, c2, c3], fields) = rest.split_first_chunk()?;
    let carries = match flags & 3 {
        0 => Carries::Video,
        1 => Carries::Repeat,
        2 => Carries::Sound,
        _ => Carries::RedundantSound,
    };
    let is_sound = matches!(carries, Carries::Sound | Carries::RedundantSound);
    let header = if is_sound { SOUND_HEADER } else { VIDEO_HEADER };
    let payload = rest.get(header - START..)?.to_vec();
    let (dependency, transport) = if is_sound {
        (None, None)
    } else {
        let &[n0, n1, r0, r1, f0, f1, d0, d1] = fields.first_chunk()?;
        let dependency = (flags & 4 != 0).then(|| Dependency {
            is_first: flags & 8 != 0,
            is_last: flags & 16 != 0,
            frame_number: u16::from_be_bytes([f0, f1]),
            reference: match u16::from_be_bytes([d0, d1]) {
                0 => Reference::None,
                distance => Reference::Back(distance),
            },
        });
        let transport = (flags & 32 != 0).then(|| TransportExtension {
            sequence: TransportSequence(u16::from_be_bytes([n0, n1])),
            request: (flags & 64 != 0).then(|| u16::from_be_bytes([r0, r1])),
        });
        (dependency, transport)
    };
    Some(Incoming {
        carries,
        ssrc: u32::from_be_bytes([c0, c1, c2, c3]),
        sequence: u16::from_be_bytes([s0, s1]),
        timestamp: u32::from_be_bytes([t0, t1, t2, t3]),
        dependency,
        transport,
        payload,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::OVERHEAD;
    use crate::sound::SOUND_OVERHEAD;

    /// Bytes of the IPv4 and UDP headers.
    const BELOW: u64 = 28;

    fn video(payload: usize) -> Incoming {
        Incoming {
            carries: Carries::Video,
            ssrc: 7,
            sequence: 65_535,
            timestamp: u32::MAX,
            dependency: Some(Dependency {
                is_first: true,
                is_last: false,
                frame_number: 9,
                reference: Reference::Back(3),
            }),
            transport: Some(TransportExtension {
                sequence: TransportSequence(65_534),
                request: Some(12),
            }),
            payload: vec![5; payload],
        }
    }

    #[test]
    fn packets_come_back_as_they_went_and_are_as_large_as_with_webrtc() {
        let sound = Incoming {
            carries: Carries::RedundantSound,
            dependency: None,
            transport: None,
            ..video(80)
        };
        let probe = Incoming {
            carries: Carries::Repeat,
            dependency: None,
            ..video(0)
        };
        for (packet, overhead) in [
            (video(1_140), OVERHEAD),
            (probe, OVERHEAD),
            (sound, SOUND_OVERHEAD),
        ] {
            let datagram = write_rtp(77, &packet);
            let length = datagram.len() - packet.payload.len();
            let size = datagram.len() as u64 + BELOW;
            assert_eq!(size, overhead.get() + packet.payload.len() as u64);
            let (kind, rest) = parse(77, &datagram).unwrap();
            assert_eq!((kind, read_rtp(rest)), (Kind::Rtp, Some(packet)));
            assert_eq!(parse(78, &datagram), None, "another connection's");
            for length in 0..length {
                let cut = parse(77, &datagram[..length]).and_then(|(_, rest)| read_rtp(rest));
                assert_eq!(cut, None, "{length}");
            }
        }
    }
}
