use proptest::prelude::*;

use super::*;

fn codec() -> impl Strategy<Value = Codec> {
    prop::sample::select(Codec::ALL.to_vec())
}

fn answer() -> impl Strategy<Value = Answer> {
    let size = (8..=4_096_u32, 8..=4_096_u32);
    let size = size.prop_map(|(width, height)| Size::new(width * 2, height * 2).unwrap());
    let colours = any::<(bool, bool)>().prop_map(|(is_old, is_full_range)| Colours {
        matrix: if is_old { Matrix::Bt601 } else { Matrix::Bt709 },
        is_full_range,
    });
    let words = "[a-z]{1,9}( [a-zé]{1,9}){0,9}";
    prop_oneof![
        prop::sample::subsequence(Codec::ALL.to_vec(), 0..=3)
            .prop_map(|codecs| Answer::Ready { codecs }),
        words.prop_map(|reason| Answer::Failed { reason }),
        (any::<u64>(), size, colours, any::<bool>()).prop_map(
            |(number, size, colours, is_damaged)| Answer::Picture {
                number,
                size,
                colours,
                is_damaged,
            }
        ),
        any::<u64>().prop_map(|number| Answer::Nothing { number }),
        (any::<u64>(), words).prop_map(|(number, reason)| Answer::Refused { number, reason }),
    ]
}

proptest! {
    #[test]
    fn an_answer_is_read_as_it_was_written(answer in answer()) {
        prop_assert_eq!(Answer::parse(&answer.bytes()), Ok(answer));
    }

    /// Whatever is read as an answer is one in every bit, and its picture fits into the memory.
    #[test]
    fn bytes_are_an_answer_or_refused(
        mut bytes in prop::collection::vec(any::<u8>(), ANSWER),
        kind in 0..8_u8,
        zeros in prop::sample::select(vec![0, 2, 12, TEXT, ANSWER]),
    ) {
        bytes[0] = kind;
        // Random bytes alone are hardly ever an answer.
        bytes[1] &= 7;
        for byte in bytes.iter_mut().skip(2).take(zeros) {
            *byte = 0;
        }
        if let Ok(answer) = Answer::parse(&bytes) {
            if let Answer::Picture { size, .. } = answer {
                let length = size.luma_len() + 2 * size.chroma_len();
                prop_assert!(length <= crate::memory::LARGEST_PICTURE);
            }
            let again = answer.bytes();
            prop_assert_eq!(&again[..TEXT], &bytes[..TEXT]);
        }
    }

    #[test]
    fn one_answer_of_another_length_is_none(length in 0..2 * ANSWER) {
        prop_assume!(length != ANSWER);
        prop_assert_eq!(Answer::parse(&vec![4; length]), Err(BadAnswer::Length(length)));
    }

    #[test]
    fn a_request_is_read_as_it_was_written(
        codec in codec(),
        number in any::<u64>(),
        from in any::<u64>(),
        length in 0..=1_u32 << 28,
    ) {
        for request in [
            Request::Slices { number, from, length },
            Request::Frame { number, codec, length },
        ] {
            prop_assert_eq!(Request::parse(&request.bytes()), Some(request));
            prop_assert_eq!(request.length(), length as usize);
        }
    }
}

#[test]
fn what_no_decoder_answers_is_refused() {
    let picture = |width: u32, height: u32, bits: u8| {
        let mut bytes = Answer::Nothing { number: 9 }.bytes();
        bytes[0] = kind::PICTURE;
        bytes[1] = bits;
        bytes[4..8].copy_from_slice(&width.to_le_bytes());
        bytes[8..12].copy_from_slice(&height.to_le_bytes());
        Answer::parse(&bytes)
    };
    assert!(picture(8_192, 8_192, 7).is_ok());
    for (width, height) in [(8_194, 16), (16, u32::MAX), (0, 0), (17, 16), (1 << 31, 2)] {
        let refused = picture(width, height, 0);
        assert!(matches!(refused, Err(BadAnswer::Size(_))), "{refused:?}");
    }
    assert_eq!(picture(640, 480, 8), Err(BadAnswer::Meaningless));
    let mut bytes = Answer::Nothing { number: 9 }.bytes();
    bytes[0] = 6;
    assert_eq!(Answer::parse(&bytes), Err(BadAnswer::Kind(6)));
    for place in [1, 2, 3, 4, 11, 12, 15, TEXT, ANSWER - 1] {
        let mut bytes = Answer::Nothing { number: 9 }.bytes();
        bytes[place] = 1;
        assert_eq!(
            Answer::parse(&bytes),
            Err(BadAnswer::Meaningless),
            "{place}"
        );
    }
}

/// Text comes from a process that may be hostile, and goes to a terminal.
#[test]
fn text_is_one_line_without_control_characters() {
    let reason = "a\u{1b}[31m\nb\u{7f}".to_owned();
    let mut bytes = Answer::Refused { number: 1, reason }.bytes();
    bytes[TEXT + 20] = 0xff;
    let Ok(Answer::Refused { reason, .. }) = Answer::parse(&bytes) else {
        panic!("it is an answer");
    };
    assert_eq!(reason, "a [31m b ");
    let reason = "é".repeat(200);
    let Ok(Answer::Failed { reason }) = Answer::parse(&Answer::Failed { reason }.bytes()) else {
        panic!("it is an answer");
    };
    assert_eq!(reason, "é".repeat((ANSWER - TEXT) / 2));
}
