//! Checks that a link's addresses can be used as soon as the link is there.
#![allow(clippy::unwrap_used, reason = "a test may")]

mod rights;

use std::net::{IpAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};

use mimosa_link::Sides;

/// Number of tries. Without a flag, the kernel verifies an IPv6 address when it finds the time, and
/// until then no socket can be bound to it. The check is usually quick, but not while the kernel is
/// busy with other namespaces: about one try in fifty then failed.
const TRIES: usize = 150;
const MTU: u16 = 1_500;

#[test]
fn addresses_can_be_used_at_once() {
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    for _ in 0..3 {
        std::thread::spawn(|| {
            while !IS_OVER.load(Ordering::Relaxed) {
                drop(Sides::connect(None, MTU));
            }
        });
    }
    for number in 0..TRIES {
        let Some((sides, _devices)) = rights::connect(MTU) else {
            return;
        };
        for side in [&sides.sender, &sides.receiver] {
            let addresses = side.addresses;
            let own: [IpAddr; 2] = [addresses.own.into(), addresses.own_v6.into()];
            for address in own {
                let bound = side
                    .namespace
                    .within(|| UdpSocket::bind((address, 0)))
                    .unwrap();
                assert!(bound.is_ok(), "try {number}: {address}: {bound:?}");
            }
        }
    }
    IS_OVER.store(true, Ordering::Relaxed);
}
