//! A client of TURN: whatever comes from the relay's address, in whatever order and at whatever time, is taken or
//! ignored, and what is passed on is a part of what came.
#![no_main]

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use mimosa_turn::stun::Message;
use mimosa_turn::{Client, Credentials, MOST_PERMISSIONS};
use mimosa_units::{Time, TimeDelta};

#[derive(Arbitrary, Debug)]
enum Step {
    /// The relay sends this.
    Receive(Vec<u8>),
    /// The relay sends this with the name of the newest request.
    Answer(Vec<u8>),
    /// These may send.
    Permit(Vec<u32>),
    /// The host sends to a peer.
    Send(u32, u16, Vec<u8>),
    /// Time passes, in milliseconds.
    Wait(u16),
    /// The host gives its address up.
    Close,
}

fuzz_target!(|steps: Vec<Step>| {
    let mut client = Client::new(1);
    let mut now = Time::ZERO;
    let mut id = [0; 12];
    for step in steps {
        if client.is_due(now) {
            client.begin(now, Credentials::until("secret", 1));
        }
        match step {
            Step::Receive(datagram) => receive(&mut client, now, &datagram),
            Step::Answer(mut datagram) => {
                let length = datagram.len().saturating_sub(20) as u16;
                if let Some(header) = datagram.first_chunk_mut::<20>() {
                    header[2..4].copy_from_slice(&length.to_be_bytes());
                    header[4..8].copy_from_slice(&[0x21, 0x12, 0xa4, 0x42]);
                    header[8..].copy_from_slice(&id);
                }
                receive(&mut client, now, &datagram);
            }
            Step::Permit(peers) => {
                let peers = peers
                    .into_iter()
                    .map(|peer| IpAddr::V4(Ipv4Addr::from(peer)));
                let peers: BTreeSet<_> = peers.collect();
                client.permit(now, &peers);
            }
            Step::Send(ip, port, data) => {
                let peer = SocketAddr::from((Ipv4Addr::from(ip), port));
                let wrapped = client.wrap(now, peer, &data);
                assert!(wrapped.is_none() || client.relayed().is_some());
            }
            Step::Wait(millis) => {
                now += TimeDelta::from_millis(i64::from(millis));
                client.timeout(now);
            }
            Step::Close => client.close(),
        }
        let mut sent = 0;
        while let Some(datagram) = client.poll_datagram() {
            sent += 1;
            id = Message::read(&datagram).expect("what is sent is STUN").id;
        }
        assert!(sent <= 2 * MOST_PERMISSIONS + 200, "{sent}");
        while client.poll_event().is_some() {}
    }
});

fn receive(client: &mut Client, now: Time, datagram: &[u8]) {
    if let Some(carried) = client.receive(now, datagram) {
        assert!(datagram.get(carried.data).is_some());
    }
}
