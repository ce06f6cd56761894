//! Which frames and slices the assembler hands out, and in what order, when packets are lost, wrap or are hostile.

use super::*;

/// The packets of a frame whose RTP numbers begin with `sequence`.
fn frame(number: u16, back: u16, sequence: u16, packets: u16) -> Vec<Piece> {
    let piece = |place| Piece {
        sequence: MediaSequence(sequence).plus(place),
        timestamp: u32::from(number) * 1_500,
        dependency: Dependency {
            is_first: place == 0,
            is_last: place + 1 == packets,
            frame_number: number,
            reference: match back {
                0 => Reference::None,
                back => Reference::Back(back),
            },
        },
        at: PeerTime::from_nanos(i64::from(number) * 1_000 + i64::from(place)),
        payload: vec![0x41, u8::try_from(number % 256).unwrap(), 9],
    };
    (0..packets).map(piece).collect()
}

fn numbers(assembler: &mut Assembler, pieces: impl IntoIterator<Item = Piece>) -> Vec<u16> {
    let whole = pieces
        .into_iter()
        .flat_map(|piece| assembler.packet(piece))
        .collect::<Vec<_>>();
    let low = |number: u64| u16::try_from(number % 65_536).unwrap();
    whole.iter().map(|whole| low(whole.number)).collect()
}

#[test]
fn frames_come_whole_and_once_across_the_wrap() {
    let mut assembler = Assembler::new(Codec::H264);
    let mut sequence = 65_530_u16;
    let mut back = 0;
    for number in [65_534, 65_535, 0, 1] {
        let mut pieces = frame(number, back, sequence, 5);
        // The packets come in any order, and one of them twice.
        pieces.swap(0, 3);
        pieces.push(pieces[1].clone());
        let before = &pieces[..4];
        assert!(numbers(&mut assembler, before.to_vec()).is_empty());
        let whole = assembler.packet(pieces[4].clone());
        assert_eq!(whole.len(), 1);
        assert_eq!((whole[0].packets, whole[0].is_keyframe), (5, back == 0));
        assert_eq!(
            whole[0].last - whole[0].first,
            mimosa_units::TimeDelta::from_nanos(4)
        );
        assert_eq!(whole[0].access_unit.len(), 5 * 7);
        assert!(numbers(&mut assembler, [pieces[5].clone()]).is_empty());
        sequence = sequence.wrapping_add(5);
        back = 1;
    }
    let counts = assembler.counts();
    assert_eq!((counts.whole, counts.passed, counts.useless), (4, 0, 4));
}

/// A frame of three slices in packets of 100 bytes at most.
fn sliced(number: u16, back: u16, sequence: u16) -> (Vec<Piece>, Vec<u8>) {
    let unit = |size| [&[0, 0, 0, 1, 0x41][..], &vec![7; size]].concat();
    let access_unit = [unit(250), unit(60), unit(130)].concat();
    let packetiser = mimosa_rtp::h264::Packetiser::new(mimosa_units::Bytes::new(100));
    let payloads = packetiser.packetise(&access_unit);
    let count = u16::try_from(payloads.len()).unwrap();
    let mut pieces = frame(number, back, sequence, count);
    for (piece, payload) in pieces.iter_mut().zip(payloads.iter()) {
        piece.payload = payload.to_vec();
    }
    (pieces, access_unit)
}

#[test]
fn slices_come_out_in_order_as_soon_as_they_are_there() {
    let mut assembler = Assembler::new(Codec::H264);
    let (pieces, access_unit) = sliced(10, 0, 0);
    assert_eq!(pieces.len(), 6, "three, one and two packets");
    let mut handed = Vec::new();
    let mut after = Vec::new();
    // The last packet of the first slice comes after the second slice.
    for place in [0, 1, 3, 2, 4] {
        assert!(assembler.packet(pieces[place].clone()).is_empty());
        let slices = assembler.slices();
        if let Some(slices) = &slices {
            assert_eq!((slices.number % 65_536, slices.from), (10, handed.len()));
            handed.extend(&slices.units);
        }
        after.push(handed.len());
    }
    assert_eq!(after, [0, 0, 0, 255 + 65, 255 + 65]);
    let whole = assembler.packet(pieces[5].clone());
    assert_eq!(whole[0].access_unit, access_unit);
    assert!(access_unit.starts_with(&handed));
    assert_eq!(assembler.slices(), None);
}

#[test]
fn slices_come_only_of_the_frame_that_is_decoded_next() {
    let mut assembler = Assembler::new(Codec::H264);
    let first = |assembler: &mut Assembler, number, back, sequence| {
        let (pieces, _) = sliced(number, back, sequence);
        for piece in pieces.into_iter().take(3) {
            assembler.packet(piece);
        }
        assembler.slices().map(|slices| slices.number % 65_536)
    };
    assert_eq!(numbers(&mut assembler, sliced(10, 0, 0).0), [10]);
    // The frame refers to one that is not there.
    assert_eq!(first(&mut assembler, 12, 1, 12), None);
    // Its reference is there, but an older frame may still become whole.
    assert_eq!(first(&mut assembler, 13, 3, 18), None);
    assert_eq!(first(&mut assembler, 11, 1, 6), Some(11));
    // A newer one passes it.
    let rest = sliced(13, 3, 18).0.split_off(3);
    assert_eq!(numbers(&mut assembler, rest), [13]);
    assert_eq!(assembler.slices(), None);
}

#[test]
fn a_frame_waits_for_what_it_refers_to() {
    let mut assembler = Assembler::new(Codec::H264);
    assert_eq!(numbers(&mut assembler, frame(10, 0, 0, 2)), [10]);
    let mut late = frame(11, 1, 2, 3);
    let missing = late.remove(1);
    assert!(numbers(&mut assembler, late).is_empty());
    assert!(numbers(&mut assembler, frame(12, 1, 5, 1)).is_empty());
    assert!(numbers(&mut assembler, frame(13, 1, 6, 1)).is_empty());
    assert_eq!(numbers(&mut assembler, [missing]), [11, 12, 13]);
}

#[test]
fn what_does_without_a_lost_frame_goes_on_at_once() {
    let mut assembler = Assembler::new(Codec::H264);
    assert_eq!(numbers(&mut assembler, frame(10, 0, 0, 2)), [10]);
    let mut lost = frame(11, 1, 2, 3);
    let missing = lost.remove(1);
    assert!(numbers(&mut assembler, lost).is_empty());
    assert!(numbers(&mut assembler, frame(12, 1, 5, 1)).is_empty());
    assert_eq!(numbers(&mut assembler, frame(13, 3, 6, 1)), [13]);
    // The packet comes too late: a newer frame was decoded without its frame.
    assert!(numbers(&mut assembler, [missing]).is_empty());
    assert_eq!(numbers(&mut assembler, frame(14, 1, 7, 1)), [14]);
    let counts = assembler.counts();
    assert_eq!((counts.whole, counts.passed, counts.useless), (3, 2, 1));
}

#[test]
fn a_keyframe_begins_anew() {
    let mut assembler = Assembler::new(Codec::H264);
    assert!(
        numbers(&mut assembler, frame(9, 1, 0, 1)).is_empty(),
        "refers to nothing"
    );
    assert_eq!(numbers(&mut assembler, frame(12, 0, 4, 1)), [12]);
    assert_eq!(assembler.counts().passed, 1);
    assert_eq!(numbers(&mut assembler, frame(13, 1, 5, 1)), [13]);
}

#[test]
fn what_never_becomes_whole_is_forgotten() {
    let mut assembler = Assembler::new(Codec::H264);
    for number in 0..2_000_u16 {
        let pieces = frame(number, 1, number * 2, 2);
        assert!(numbers(&mut assembler, pieces.into_iter().take(1)).is_empty());
    }
    assert!(assembler.open.len() as u64 <= MOST_OPEN + 1);
    let mut piece = frame(5_000, 0, 9_000, 1);
    piece[0].payload = Vec::new();
    assert!(numbers(&mut assembler, piece).is_empty());
    assert_eq!(assembler.counts().malformed, 1);
}

#[test]
fn a_hosts_numbers_that_fall_and_packets_without_end_do_not_fill_the_memory() {
    let mut assembler = Assembler::new(Codec::H264);
    for number in (0..20_000_u16).rev() {
        let pieces = frame(number, 1, number * 2, 2);
        assert!(numbers(&mut assembler, pieces.into_iter().take(1)).is_empty());
        assert!(assembler.open.len() as u64 <= MOST_OPEN, "frame {number}");
    }
    let mut assembler = Assembler::new(Codec::H264);
    for number in 0..MOST_OPEN {
        let number = u16::try_from(number).unwrap();
        let mut pieces = frame(number, 1, number * 200, 200);
        pieces.pop();
        for mut piece in pieces {
            piece.payload = vec![0x41; 1_200];
            assert!(assembler.packet(piece).is_empty());
        }
        let held: usize = assembler.open.values().map(|open| open.bytes).sum();
        assert!(held <= MOST_HELD, "{held} bytes at frame {number}");
    }
    assert!(assembler.open.len() > 30, "what may be kept is kept");
    // Repair packets that are short at first, and long when they come again.
    let mut assembler = Assembler::new(Codec::H264);
    for number in 0..MOST_OPEN {
        let number = u16::try_from(number).unwrap();
        let media = frame(number, 1, number * 200, 100);
        for length in [1, 1_200] {
            for mut piece in repairs(&media, 99) {
                piece.coded = vec![7; length];
                assert!(assembler.repair(piece).is_empty());
            }
        }
        let kept = |open: &Open| {
            let block = open.block.as_ref().unwrap();
            block.repairs.values().map(Vec::len).sum::<usize>()
        };
        let held: usize = assembler.open.values().map(kept).sum();
        assert!(held <= MOST_HELD, "{held} bytes at frame {number}");
    }
}

/// Repair packets of a frame, coded as the host's store codes them.
fn repairs(media: &[Piece], count: usize) -> Vec<RepairPiece> {
    let payloads: Vec<_> = media.iter().map(|piece| &piece.payload[..]).collect();
    let coded = mimosa_fec::encode(&payloads, count).unwrap();
    let piece = |(number, coded)| RepairPiece {
        before: media[0].sequence.minus(1),
        timestamp: media[0].timestamp,
        frame_number: media[0].dependency.frame_number,
        reference: media[0].dependency.reference,
        media: u8::try_from(media.len()).unwrap(),
        place: u8::try_from(media.len() + number).unwrap(),
        at: PeerTime::from_nanos(77),
        coded,
    };
    coded.into_iter().enumerate().map(piece).collect()
}

#[test]
fn any_packets_enough_make_a_frame_whole() {
    let whole = |keep: &[usize]| {
        let mut assembler = Assembler::new(Codec::H264);
        assert_eq!(numbers(&mut assembler, frame(10, 0, 65_530, 2)), [10]);
        let media = frame(11, 1, 65_532, 5);
        let repair = repairs(&media, 3);
        let mut given = Vec::new();
        for &place in keep {
            given.extend(match media.get(place) {
                Some(piece) => assembler.packet(piece.clone()),
                None => assembler.repair(repair[place - 5].clone()),
            });
        }
        assert_eq!(assembler.counts().malformed, 0);
        (given, assembler.counts().repaired)
    };
    let (plain, repaired) = whole(&[0, 1, 2, 3, 4]);
    assert_eq!(repaired, 0);
    for keep in [
        [0, 1, 3, 4, 7],
        [5, 0, 2, 6, 7],
        [7, 1, 2, 3, 4],
        [5, 6, 7, 1, 3],
    ] {
        let (given, repaired) = whole(&keep);
        assert_eq!(given.len(), 1, "{keep:?}");
        assert_eq!(given[0].access_unit, plain[0].access_unit);
        assert_eq!(
            repaired,
            keep.iter().filter(|place| **place > 4).count() as u64
        );
    }
    // One packet less is not enough.
    assert!(whole(&[0, 1, 3, 7]).0.is_empty());
}

#[test]
fn a_frame_of_which_nothing_else_comes_is_whole_by_its_repair_packets() {
    let mut assembler = Assembler::new(Codec::H264);
    assert_eq!(numbers(&mut assembler, frame(10, 0, 0, 2)), [10]);
    let lost = frame(11, 1, 2, 1);
    let whole = assembler.repair(repairs(&lost, 1).remove(0));
    assert_eq!((whole.len(), whole[0].number % 65_536), (1, 11));
    assert_eq!(
        whole[0].last,
        PeerTime::from_nanos(77),
        "when it was repaired"
    );
    assert_eq!(numbers(&mut assembler, frame(12, 1, 3, 1)), [12]);
}

#[test]
fn repair_packets_that_contradict_each_other_spoil_nothing() {
    let mut assembler = Assembler::new(Codec::H264);
    assert_eq!(numbers(&mut assembler, frame(10, 0, 0, 2)), [10]);
    let media = frame(11, 1, 2, 4);
    let good = repairs(&media, 2);
    let mut other = good[1].clone();
    other.media = 3;
    assert!(assembler.repair(good[0].clone()).is_empty());
    assert!(assembler.repair(other).is_empty());
    assert_eq!(assembler.counts().useless, 1);
    // The coded bytes do not fit the other packets: the sum is not a packet.
    let mut broken = good[1].clone();
    broken.coded.truncate(3);
    assert!(assembler.repair(broken).is_empty());
    assert!(numbers(&mut assembler, media[..2].to_vec()).is_empty());
    assert_eq!(assembler.counts().malformed, 1);
    // The lost packets are sent again, and the frame becomes whole.
    assert_eq!(numbers(&mut assembler, media[2..].to_vec()), [11]);
}

/// Whatever packets and repair packets come, nothing panics, and memory is bounded.
#[test]
fn whatever_comes_is_borne() {
    let mut assembler = Assembler::new(Codec::H264);
    let mut state = 1_u64;
    let mut below = |limit: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let mut whole = 0;
    for step in 0..40_000_u64 {
        let frame_number = u16::try_from((step / 40 + below(6)) % 65_536).unwrap();
        let reference = match below(3) {
            0 => Reference::None,
            back => Reference::Back(u16::try_from(back).unwrap()),
        };
        let sequence = MediaSequence::of(step / 10 + below(8));
        let payload: Vec<u8> = (0..below(12))
            .map(|_| u8::try_from(below(256)).unwrap())
            .collect();
        let at = PeerTime::from_nanos(step.cast_signed());
        let given = if below(3) == 0 {
            assembler.repair(RepairPiece {
                before: sequence,
                timestamp: 0,
                frame_number,
                reference,
                media: u8::try_from(below(5)).unwrap(),
                place: u8::try_from(below(8)).unwrap(),
                at,
                coded: payload,
            })
        } else {
            let (is_first, is_last) = (below(2) == 0, below(2) == 0);
            assembler.packet(Piece {
                sequence,
                timestamp: 0,
                dependency: Dependency {
                    is_first,
                    is_last,
                    frame_number,
                    reference,
                },
                at,
                payload,
            })
        };
        whole += given.len();
    }
    assert!(whole > 100, "{whole}");
    assert!(assembler.open.len() as u64 <= MOST_OPEN + 1);
}
