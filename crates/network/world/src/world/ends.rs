//! Both ends of a session's connection.

use mimosa_facts::Codec;
use mimosa_protocol::control::FeedbackKind;
use mimosa_stream::Code;
use mimosa_transport::plain::{self, Terms};
use mimosa_transport::{Agreed, Call, HostTransport, Peer, Start, StreamNumbers, ViewerTransport};
use mimosa_units::Time;

use crate::person::Person;
use crate::plan::Plan;

/// SSRC from which a viewer reports, and the number from which those of a host's streams follow.
const VIEWER: u32 = 0x5649_4557;
const HOST: u32 = 0x484f_5354;

pub(super) type Ends = (Box<dyn HostTransport>, Box<dyn ViewerTransport>);

/// Both ends of a plain connection.
pub(super) fn plain_ends(plan: &Plan, person: &Person, id: u64, [now, local]: [Time; 2]) -> Ends {
    let [host, viewer] = person.addresses();
    let feedback = person.plan.feedback;
    let terms = Terms {
        agreed: Agreed {
            codec: Codec::H264,
            feedback,
            bears_gaps: true,
            takes_parts: true,
            has_retransmissions: plan.has_repairs,
            repairs: plan.has_repairs.then_some(Code::ReedSolomon),
            has_sound: plan.has_sound,
            takes_redundancy: true,
        },
        id,
        #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
        first_sequence: (id as u16) >> 1,
        host,
        viewer,
    };
    let host = plain::Host::new(&terms, now);
    let viewer = plain::Viewer::new(&terms, local);
    (Box::new(host), Box::new(viewer))
}

/// Both ends of a WebRTC connection, whose offer and answer pass at once.
pub(super) fn webrtc_ends(plan: &Plan, person: &Person, [now, local]: [Time; 2]) -> Option<Ends> {
    let [host, viewer] = person.addresses();
    let codecs = [Codec::H264];
    let (call, offer) = Call::offer(
        &[viewer],
        &codecs,
        plan.has_sound,
        VIEWER,
        Start::repeatable(local),
    )
    .ok()?;
    let wanted = match person.plan.feedback {
        // `None` accepts what the caller offers.
        FeedbackKind::CongestionControl => None,
        other => Some(other),
    };
    let numbers = StreamNumbers::new(7, HOST);
    let (peer, answer) = Peer::answer(
        &offer,
        &codecs,
        wanted,
        &[host],
        numbers,
        plan.has_sound,
        Start::repeatable(now),
    )
    .ok()?;
    let caller = call.accept(&answer).ok()?;
    Some((Box::new(peer), Box::new(caller)))
}
