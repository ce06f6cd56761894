//! What the tests of the media have in common.

use mimosa_units::Time;

use super::Port;
use crate::channel::Channel;
use crate::link::Served;
use crate::packet::TestPacket;
use crate::queue::{DropTailConfig, Limit, QueueConfig};

/// A queue that takes every packet.
pub(super) fn unlimited() -> QueueConfig {
    QueueConfig::DropTail(DropTailConfig {
        limit: Limit::Unlimited,
    })
}

/// Takes what passes a medium until `until`, inclusive, and appends it to `passed`.
fn run(
    medium: &mut Channel<TestPacket>,
    until: Time,
    passed: &mut Vec<(Port, Served<TestPacket>)>,
    dropped: &mut Vec<TestPacket>,
) {
    while medium.deadline() <= until {
        let now = medium.deadline();
        while let Some(one) = medium.poll(now, dropped) {
            assert_eq!(one.1.finished, now);
            passed.push(one);
        }
    }
}

/// What passes a medium that gets these packets by `until`, in the order in which it passes, and
/// what is dropped. The packets are numbered from zero on. Each packet has passed, was dropped, or
/// is inside.
pub(super) fn served_and_dropped(
    medium: &mut Channel<TestPacket>,
    packets: &[(Time, Port, u64)],
    until: Time,
) -> (Vec<(Port, Served<TestPacket>)>, Vec<TestPacket>) {
    let (mut passed, mut dropped) = (Vec::new(), Vec::new());
    for (number, (at, port, size)) in (0..).zip(packets) {
        run(medium, *at, &mut passed, &mut dropped);
        let packet = TestPacket {
            number,
            ..TestPacket::sized(*size)
        };
        medium.offer(*at, *port, packet, &mut dropped);
    }
    run(medium, until, &mut passed, &mut dropped);
    assert_eq!(
        passed.len() + dropped.len() + medium.packets(),
        packets.len()
    );
    (passed, dropped)
}

/// What passes a medium that drops nothing; see [`served_and_dropped`].
pub(super) fn served(
    medium: &mut Channel<TestPacket>,
    packets: &[(Time, Port, u64)],
    until: Time,
) -> Vec<(Port, Served<TestPacket>)> {
    let (passed, dropped) = served_and_dropped(medium, packets, until);
    assert!(dropped.is_empty(), "{dropped:?}");
    passed
}
