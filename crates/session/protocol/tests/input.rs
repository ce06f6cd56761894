//! Input messages, and the actions that they mean.

use mimosa_facts::{Action, Button, Gamepad, TouchPhase};
use mimosa_protocol::PageTime;
use mimosa_protocol::input::{InputError, Message, Place, Pointer, Sum, Tracker};
use proptest::prelude::*;

fn pointer(sequence: u32, place: Option<(u16, u16)>, right: i32, wheel: i32) -> Message {
    Message::Pointer(Pointer {
        place: place.map(|(x, y)| Place { x, y }),
        sequence,
        movement: Sum { right, down: 0 },
        wheel: Sum {
            right: 0,
            down: wheel,
        },
        time: None,
    })
}

fn gamepad(sequence: u32, index: u8, buttons: u32) -> Message {
    Message::Gamepad {
        sequence,
        gamepad: Gamepad {
            index,
            is_present: true,
            buttons,
            ..Gamepad::default()
        },
        time: None,
    }
}

fn key(pressed: bool) -> Message {
    Message::Key {
        code: 30,
        pressed,
        time: None,
    }
}

fn touch(phase: TouchPhase, millis: f64) -> Message {
    Message::Touch {
        finger: 3,
        phase,
        place: Place { x: 1, y: 2 },
        time: PageTime::from_millis(millis),
    }
}

fn moved(right: i32) -> Action {
    Action::Move { right, down: 0 }
}

#[test]
fn a_message_is_laid_out_as_the_document_says() {
    let time = PageTime::from_millis(1.0);
    let one = 1.0_f64.to_le_bytes();
    let message = Message::Pointer(Pointer {
        place: Some(Place {
            x: 0x0201,
            y: 0x0403,
        }),
        sequence: 5,
        movement: Sum { right: 6, down: -7 },
        wheel: Sum { right: 8, down: 9 },
        time,
    });
    let head = [
        1, 1, 1, 2, 3, 4, 5, 0, 0, 0, 6, 0, 0, 0, 0xf9, 0xff, 0xff, 0xff, 8, 0, 0, 0, 9, 0, 0, 0,
    ];
    assert_eq!(message.to_bytes(), [&head[..], &one].concat());
    let message = Message::Gamepad {
        sequence: 1,
        gamepad: Gamepad {
            index: 15,
            is_present: false,
            buttons: 2,
            axes: [3, -1, 5, 6],
            triggers: [7, 8],
        },
        time,
    };
    let head = [
        2, 0x8f, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0xff, 0xff, 5, 0, 6, 0, 7, 8,
    ];
    assert_eq!(message.to_bytes(), [&head[..], &one].concat());
    let (button, pressed) = (Button::Forward, true);
    for (message, head) in [
        (
            Message::Key {
                code: 0x0102,
                pressed,
                time,
            },
            &[16, 1, 2, 1][..],
        ),
        (
            Message::Button {
                button,
                pressed,
                time,
            },
            &[17, 1, 4, 0],
        ),
        (Message::ReleaseAll { time }, &[18, 0, 0, 0]),
        (touch(TouchPhase::Cancel, 1.0), &[19, 3, 3, 0, 1, 0, 2, 0]),
        (
            Message::Character {
                character: '\u{1f600}',
                time,
            },
            &[20, 0, 0, 0, 0, 0xf6, 1, 0],
        ),
    ] {
        assert_eq!(message.to_bytes(), [head, &one].concat());
    }
}

#[test]
fn a_wrong_message_is_named_with_what_it_should_be() {
    let error = |bytes: &[u8]| Message::parse(bytes).unwrap_err();
    assert_eq!(error(&[]), InputError::Empty);
    let (kind, length) = (3, 12);
    assert_eq!(error(&[3; 12]), InputError::UnknownKind { kind, length });
    for (kind, expected) in [
        (1, 34),
        (2, 28),
        (16, 12),
        (17, 12),
        (18, 12),
        (19, 16),
        (20, 16),
    ] {
        for length in [1, expected - 1, expected + 1] {
            let mut bytes = vec![0; length];
            bytes[0] = kind;
            let wrong = InputError::Length {
                kind,
                length,
                expected,
            };
            assert_eq!(error(&bytes), wrong);
        }
    }
    for (kind, at, value, length) in [
        (2, 1, 16, 28),
        (16, 1, 2, 12),
        (17, 1, 2, 12),
        (17, 2, 5, 12),
        (19, 1, 4, 16),
        (20, 4, 9, 16),
    ] {
        let mut bytes = vec![0; length];
        (bytes[0], bytes[at]) = (kind, value);
        let text = error(&bytes).to_string();
        let start = format!("byte {at} of a message of kind {kind} is {value}; ");
        assert!(text.starts_with(&start), "{text}");
    }
}

#[test]
fn an_axis_has_equal_ends() {
    let mut bytes = gamepad(1, 0, 0).to_bytes();
    bytes[10..12].copy_from_slice(&i16::MIN.to_le_bytes());
    let Ok(Message::Gamepad { gamepad, .. }) = Message::parse(&bytes) else {
        panic!("no gamepad");
    };
    assert_eq!(gamepad.axes[0], -32767);
}

#[test]
fn totals_are_applied_by_their_difference() {
    let mut tracker = Tracker::new();
    let mut says = |sequence, right, wheel| tracker.apply(&pointer(sequence, None, right, wheel));
    assert_eq!(says(10, 500, -120), [], "where they stood before");
    assert_eq!(says(11, 516, -120), [moved(16)]);
    let wheel = Action::Wheel {
        right: 0,
        down: 240,
    };
    assert_eq!(says(14, 500, 120), [moved(-16), wheel], "two were lost");
    assert_eq!(says(13, 900, 0), [], "late");
    assert_eq!(says(14, 900, 0), [], "twice");
    assert_eq!(says(15, i32::MAX, 120), [moved(i32::MAX - 500)]);
    assert_eq!(says(16, i32::MIN, 120), [moved(1)], "wrapped");
}

#[test]
fn numbers_go_on_after_the_largest() {
    let mut tracker = Tracker::new();
    let mut says = |sequence, right| tracker.apply(&pointer(sequence, None, right, 0));
    assert_eq!(says(u32::MAX, 0), []);
    assert_eq!(says(0, 1), [moved(1)]);
    assert_eq!(says(u32::MAX, 2), []);
    assert_eq!(says(0x8000_0000, 2), [], "half a turn away is not newer");
    assert_eq!(says(0x7fff_ffff, 2), [moved(1)]);
}

#[test]
fn a_position_is_told_when_it_has_changed() {
    let mut tracker = Tracker::new();
    let mut says = |sequence, place, right| tracker.apply(&pointer(sequence, place, right, 0));
    let at = |x, y| Action::Position { x, y };
    assert_eq!(says(1, Some((3, 4)), 700), [at(3, 4)]);
    assert_eq!(says(2, Some((3, 4)), 700), []);
    assert_eq!(says(3, None, 700), []);
    assert_eq!(says(4, Some((3, 4)), 700), []);
    assert_eq!(says(5, None, 701), [moved(1)]);
    assert_eq!(
        says(6, Some((3, 4)), 701),
        [at(3, 4)],
        "the game's pointer has moved on"
    );
}

#[test]
fn each_gamepad_counts_for_itself() {
    let mut tracker = Tracker::new();
    let mut says = |sequence, index, buttons| tracker.apply(&gamepad(sequence, index, buttons));
    assert_eq!(says(9, 0, 1).len(), 1);
    assert_eq!(says(2, 1, 1).len(), 1);
    assert_eq!(says(8, 0, 2), [], "late");
    assert_eq!(says(10, 0, 1), [], "nothing new");
    assert_eq!(says(3, 1, 2).len(), 1);
}

#[test]
fn an_unplugged_gamepad_holds_nothing() {
    let mut tracker = Tracker::new();
    let _ = tracker.apply(&gamepad(1, 4, 0xff));
    let mut bytes = gamepad(2, 4, 0xff).to_bytes();
    bytes[1] |= 0x80;
    let gone = Gamepad {
        index: 4,
        ..Gamepad::default()
    };
    let message = Message::parse(&bytes).unwrap();
    assert_eq!(tracker.apply(&message), [Action::Gamepad(gone)]);
}

#[test]
fn a_key_goes_down_once_and_up_once() {
    let mut tracker = Tracker::new();
    let action = |pressed| Action::Key { code: 30, pressed };
    assert_eq!(tracker.apply(&key(true)), [action(true)]);
    assert_eq!(tracker.apply(&key(true)), []);
    assert_eq!(tracker.apply(&key(false)), [action(false)]);
    assert_eq!(tracker.apply(&key(false)), []);
}

#[test]
fn what_was_let_go_of_can_be_pressed_again() {
    let mut tracker = Tracker::new();
    let press = Message::Button {
        button: Button::Right,
        pressed: true,
        time: None,
    };
    assert_eq!(tracker.apply(&press).len(), 1);
    assert_eq!(tracker.apply(&press), []);
    let _ = tracker.apply(&key(true));
    let release = Message::ReleaseAll { time: None };
    assert_eq!(tracker.apply(&release), [Action::ReleaseAll]);
    assert_eq!(tracker.apply(&key(false)), [], "it is up");
    assert_eq!(tracker.apply(&key(true)).len(), 1);
    assert_eq!(tracker.apply(&press).len(), 1);
}

#[test]
fn a_finger_moves_while_it_is_down_and_forwards_in_time() {
    use TouchPhase::{Begin, Cancel, End, Move};
    let mut tracker = Tracker::new();
    let mut is_told = |phase, millis| tracker.apply(&touch(phase, millis)).len() == 1;
    assert!(!is_told(Move, 1.0), "before it came");
    assert!(is_told(Begin, 1.0));
    assert!(!is_told(Begin, 1.0));
    assert!(is_told(Move, 3.0));
    assert!(!is_told(Move, 2.0), "late");
    assert!(is_told(End, 4.0));
    assert!(!is_told(Move, 3.5), "after it left");
    assert!(!is_told(Cancel, 4.0));
    assert!(is_told(Begin, 5.0));
    assert!(!is_told(Move, 3.5), "of the touch before");
    assert!(is_told(Cancel, 6.0));
}

fn times() -> impl Strategy<Value = Option<PageTime>> {
    any::<f64>().prop_map(PageTime::from_millis)
}

fn places() -> impl Strategy<Value = Place> {
    any::<(u16, u16)>().prop_map(|(x, y)| Place { x, y })
}

fn sums() -> impl Strategy<Value = Sum> {
    any::<(i32, i32)>().prop_map(|(right, down)| Sum { right, down })
}

fn messages() -> impl Strategy<Value = Message> {
    let buttons = prop::sample::select(vec![
        Button::Left,
        Button::Middle,
        Button::Right,
        Button::Back,
        Button::Forward,
    ]);
    let phases = prop::sample::select(vec![
        TouchPhase::Begin,
        TouchPhase::Move,
        TouchPhase::End,
        TouchPhase::Cancel,
    ]);
    let gamepads = (
        0..16_u8,
        any::<(bool, u32, [u8; 2])>(),
        prop::array::uniform4(-32767..=32767_i16),
    );
    let gamepads = gamepads.prop_map(|(index, (is_present, buttons, triggers), axes)| Gamepad {
        index,
        is_present,
        buttons,
        axes,
        triggers,
    });
    let characters = any::<char>().prop_filter("no control", |character| !character.is_control());
    prop_oneof![
        (
            prop::option::of(places()),
            any::<u32>(),
            sums(),
            sums(),
            times()
        )
            .prop_map(|(place, sequence, movement, wheel, time)| Message::Pointer(
                Pointer {
                    place,
                    sequence,
                    movement,
                    wheel,
                    time
                }
            )),
        (any::<u32>(), gamepads, times()).prop_map(|(sequence, gamepad, time)| {
            Message::Gamepad {
                sequence,
                gamepad,
                time,
            }
        }),
        (any::<(u16, bool)>(), times()).prop_map(|((code, pressed), time)| Message::Key {
            code,
            pressed,
            time
        }),
        (buttons, any::<bool>(), times()).prop_map(|(button, pressed, time)| Message::Button {
            button,
            pressed,
            time
        }),
        times().prop_map(|time| Message::ReleaseAll { time }),
        (characters, times()).prop_map(|(character, time)| Message::Character { character, time }),
        (any::<u16>(), phases, places(), times()).prop_map(|(finger, phase, place, time)| {
            Message::Touch {
                finger,
                phase,
                place,
                time,
            }
        }),
    ]
}

proptest! {
    #[test]
    fn every_message_comes_back(message in messages()) {
        prop_assert_eq!(Message::parse(&message.to_bytes()), Ok(message));
    }

    /// However messages are lost and reordered, the movements add up to the newest total that came.
    #[test]
    fn lost_and_shuffled_messages_move_nothing_twice(
        first: u32,
        steps in prop::collection::vec(any::<i32>(), 1..20),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..40),
    ) {
        let mut total = 0_i32;
        let totals: Vec<i32> = steps
            .iter()
            .map(|step| {
                total = total.wrapping_add(*step);
                total
            })
            .collect();
        let mut tracker = Tracker::new();
        let _ = tracker.apply(&pointer(first, None, 0, 0));
        let (mut at, mut newest) = (0_i32, None);
        for index in order.iter().map(|index| index.index(totals.len())) {
            let sequence = first.wrapping_add(u32::try_from(index).unwrap() + 1);
            newest = newest.max(Some(index));
            for action in tracker.apply(&pointer(sequence, None, totals[index], 0)) {
                if let Action::Move { right, .. } = action {
                    at = at.wrapping_add(right);
                }
            }
        }
        prop_assert_eq!(Some(at), newest.map(|index| totals[index]));
    }
}
