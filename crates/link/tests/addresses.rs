//! A link's addresses can be used as soon as it is there.
#![allow(clippy::unwrap_used, reason = "a test may")]

use std::net::{IpAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};

use mimosa_link::{LinkError, Sides};

/// Unless told not to, the kernel verifies an address of IPv6 first, when it finds the time,
/// and until then no socket can be bound to it. Mostly that is at once, but not while it is
/// busy with other namespaces: then about one try of fifty saw it.
const TRIES: usize = 150;

#[test]
fn addresses_can_be_used_at_once() {
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    for _ in 0..3 {
        std::thread::spawn(|| {
            while !IS_OVER.load(Ordering::Relaxed) {
                drop(Sides::connect(None, 1_500));
            }
        });
    }
    for number in 0..TRIES {
        let (sides, _devices) = match Sides::connect(None, 1_500) {
            Ok(connected) => connected,
            Err(error @ (LinkError::Rights(_) | LinkError::Tun(_))) => {
                assert!(std::env::var_os("CI").is_none(), "{error}");
                eprintln!("skipped: {error}");
                return;
            }
            Err(error) => panic!("{error}"),
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
