//! Streams against other ends that are slow, silent or hostile, over loopback.

use std::net::{Ipv4Addr, TcpListener};

use mimosa_units::Ecn;

use super::*;
use crate::http::places::Places;

/// A stream, and its other end.
fn connected(streams: &mut Streams) -> TcpStream {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let other = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (tcp, from) = listener.accept().unwrap();
    tcp.set_nonblocking(true).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .unwrap();
    let place = Places::default().take(from.ip()).unwrap();
    let framed = runtime.block_on(async {
        let stream = tokio::net::TcpStream::from_std(tcp).unwrap();
        Framed::new(stream, place).unwrap()
    });
    streams.add(framed, Time::ZERO);
    other
}

fn datagram(other: &TcpStream, contents: Vec<u8>) -> Datagram {
    Datagram {
        source: other.peer_addr().unwrap(),
        destination: other.local_addr().unwrap(),
        ecn: Ecn::NotEct,
        contents,
    }
}

/// What the stream brings, once it brings anything.
fn receive(streams: &mut Streams, now: Time) -> Arrived {
    let mut buffer = [0; 2_000];
    loop {
        let arrived = streams.receive(0, now, &mut buffer).unwrap();
        if !arrived.datagrams.is_empty() || streams.0[0].is_closed {
            return arrived;
        }
        std::thread::yield_now();
    }
}

#[test]
fn datagrams_go_both_ways() {
    let mut streams = Streams::default();
    let mut other = connected(&mut streams);
    other.write_all(&[0, 2, 7, 8, 0, 1]).unwrap();
    let arrived = receive(&mut streams, Time::ZERO);
    assert_eq!(arrived.datagrams, [[7, 8]]);
    assert_eq!(arrived.from, other.local_addr().unwrap());
    assert_eq!(arrived.local, other.peer_addr().unwrap());
    other.write_all(&[9]).unwrap();
    assert_eq!(receive(&mut streams, Time::ZERO).datagrams, [[9]]);
    assert!(streams.send(&datagram(&other, vec![5; 3])));
    let mut read = [0; 5];
    other.read_exact(&mut read).unwrap();
    assert_eq!(read, [0, 3, 5, 5, 5]);
    let elsewhere = Datagram {
        destination: ([127, 0, 0, 9], 9).into(),
        ..datagram(&other, vec![1])
    };
    assert!(!streams.send(&elsewhere), "no stream leads there");
}

/// Whoever reads nothing makes the host hold the rest of one datagram, and gets whole ones afterwards.
#[test]
fn what_has_no_room_is_dropped() {
    let mut streams = Streams::default();
    let mut other = connected(&mut streams);
    let (mut sent, mut dropped) = (Vec::new(), 0);
    for number in 0..20_000_u32 {
        let contents: Vec<_> = number.to_be_bytes().repeat(300);
        if streams.send(&datagram(&other, contents)) {
            sent.push(number);
        } else {
            dropped += 1;
        }
        assert!(streams.0[0].rest.len() <= 1_202);
    }
    assert!(
        sent.len() > 50 && dropped > 1_000,
        "{} {dropped}",
        sent.len()
    );
    let reader = std::thread::spawn(move || {
        let mut all = Vec::new();
        other.read_to_end(&mut all).unwrap();
        all
    });
    while !streams.0[0].flush() {
        std::thread::yield_now();
    }
    streams.close(0);
    streams.forget_closed();
    let all = reader.join().unwrap();
    let found: Vec<_> = all
        .chunks(1_202)
        .map(|frame| {
            assert_eq!((frame.len(), &frame[..2]), (1_202, &[4, 176][..]));
            u32::from_be_bytes(frame[2..6].try_into().unwrap())
        })
        .collect();
    assert_eq!(found, sent);
}

#[test]
fn silence_and_nonsense_end_a_stream() {
    let within = |span: TimeDelta| Time::ZERO + span - TimeDelta::from_millis(1);
    let mut streams = Streams::default();
    let mut other = connected(&mut streams);
    streams.expire(within(FIRST_WITHIN));
    assert_eq!(streams.0.len(), 1);
    // Bytes that are no whole datagram give no more time.
    other.write_all(&[0, 9, 1]).unwrap();
    let mut buffer = [0; 100];
    while streams.0[0].frames.held() < 3 {
        streams.receive(0, within(FIRST_WITHIN), &mut buffer);
    }
    streams.expire(Time::ZERO + FIRST_WITHIN);
    assert!(streams.0.is_empty());

    let _other = connected(&mut streams);
    streams.own(0, SessionNumber(4), Time::ZERO);
    streams.expire(within(SILENT_FOR));
    assert_eq!(streams.0.len(), 1, "its session may be silent for a while");
    streams.close_of(SessionNumber(3));
    streams.forget_closed();
    assert_eq!(streams.0.len(), 1, "another session has ended");
    streams.close_of(SessionNumber(4));
    streams.forget_closed();
    assert!(streams.0.is_empty());

    let mut other = connected(&mut streams);
    other.write_all(&[255, 255, 0]).unwrap();
    assert!(receive(&mut streams, Time::ZERO).datagrams.is_empty());
    streams.forget_closed();
    assert!(streams.0.is_empty(), "no datagram is that long");
}
