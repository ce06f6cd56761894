//! Tests of keys and pointer.

use super::*;
use crate::pointer::area;

/// A picture of 100 by 50 in a window of 100 by 100.
fn places() -> Places {
    Places {
        picture: Area {
            x: 0.0,
            y: 25.0,
            width: 100.0,
            height: 50.0,
        },
        window: (100.0, 100.0),
    }
}

fn all(input: &mut Input, happened: &[RawEvent]) -> InputResults {
    let mut out = InputResults::default();
    for happened in happened {
        input.handle(happened, places(), &mut out);
    }
    out
}

fn actions(input: &mut Input, happened: &[RawEvent]) -> Vec<Action> {
    let out = all(input, happened);
    assert_eq!(out.wishes, []);
    let action = |event: &WindowEvent| match event {
        WindowEvent::Act(action) => *action,
        other => panic!("{other:?}"),
    };
    out.events.iter().map(action).collect()
}

fn key(scancode: Scancode, pressed: bool) -> RawEvent {
    RawEvent::Key {
        scancode: scancode.0,
        pressed,
        is_repeat: false,
        modifiers: Modifiers::default(),
    }
}

fn with_all(scancode: Scancode) -> RawEvent {
    RawEvent::Key {
        scancode: scancode.0,
        pressed: true,
        is_repeat: false,
        modifiers: Modifiers {
            control: true,
            alt: true,
            shift: true,
        },
    }
}

fn click(x: f32, y: f32) -> [RawEvent; 2] {
    [true, false].map(|pressed| RawEvent::Button {
        number: 1,
        pressed,
        x,
        y,
    })
}

fn moved(x: f32, y: f32, right: f32, down: f32) -> RawEvent {
    RawEvent::Motion { x, y, right, down }
}

const fn told(code: u16, pressed: bool) -> Action {
    Action::Key { code, pressed }
}

#[test]
fn a_key_is_told_once_down_and_once_up() {
    let input = &mut Input::new(false);
    let repeat = RawEvent::Key {
        scancode: Scancode::A.0,
        pressed: true,
        is_repeat: true,
        modifiers: Modifiers::default(),
    };
    let happened = [
        key(Scancode::A, true),
        repeat,
        key(Scancode::A, true),
        key(Scancode::A, false),
        key(Scancode::A, false),
        key(Scancode::UNKNOWN, true),
    ];
    assert_eq!(actions(input, &happened), [told(30, true), told(30, false)]);
}

#[test]
fn without_the_focus_nothing_stays_down() {
    let input = &mut Input::new(false);
    let [down, up] = click(50.0, 50.0);
    let happened = [key(Scancode::A, true), down, RawEvent::FocusLost];
    let last = actions(input, &happened).pop();
    assert_eq!(last, Some(Action::ReleaseAll));
    assert_eq!(actions(input, &[key(Scancode::A, false), up]), []);
}

#[test]
fn the_clients_own_keys_do_not_reach_the_game() {
    let input = &mut Input::new(false);
    let enter = RawEvent::Key {
        scancode: Scancode::RETURN.0,
        pressed: true,
        is_repeat: false,
        modifiers: Modifiers {
            alt: true,
            ..Modifiers::default()
        },
    };
    for happened in [key(Scancode::F11, true), enter, with_all(Scancode::X)] {
        let out = all(input, &[happened]);
        assert_eq!(out.wishes, [WindowRequest::ToggleFullscreen]);
        assert_eq!(out.events, []);
    }
    assert_eq!(actions(input, &[with_all(Scancode::J)]), []);
    let statistics = all(input, &[with_all(Scancode::S)]).events;
    assert_eq!(statistics, [WindowEvent::ToggleStatistics]);
    let quit = all(input, &[with_all(Scancode::Q)]).events;
    assert_eq!(quit, [WindowEvent::Quit]);
    // The three modifiers themselves, and Return alone, go to the game.
    let happened = [
        with_all(Scancode::LSHIFT),
        key(Scancode::LSHIFT, false),
        key(Scancode::RETURN, true),
    ];
    assert_eq!(
        actions(input, &happened),
        [told(42, true), told(42, false), told(28, true)]
    );
}

#[test]
fn the_player_takes_keys_and_pointer_back_and_gives_them_again() {
    let input = &mut Input::new(false);
    actions(input, &[key(Scancode::A, true)]);
    let out = all(input, &[with_all(Scancode::Z)]);
    assert_eq!(out.events, [WindowEvent::Act(Action::ReleaseAll)]);
    assert_eq!(
        out.wishes,
        [WindowRequest::Lock(false), WindowRequest::Cursor(true)]
    );
    assert!(!input.is_taken());
    let [beside, beside_up] = click(50.0, 10.0);
    let nothing = [
        key(Scancode::A, true),
        moved(50.0, 50.0, 1.0, 1.0),
        RawEvent::Wheel {
            right: 0.0,
            up: 1.0,
        },
        beside,
        beside_up,
    ];
    assert_eq!(actions(input, &nothing), []);
    // The click that gives keys and pointer to the game is not for the game.
    let out = all(input, &click(50.0, 50.0));
    assert_eq!(
        (out.events, out.wishes),
        (vec![], vec![WindowRequest::Cursor(false)])
    );
    let clicked = actions(input, &click(0.0, 25.0));
    assert_eq!(clicked.len(), 4, "{clicked:?}");
}

#[test]
fn the_place_of_a_click_is_told_before_it() {
    let input = &mut Input::new(false);
    let expected = [
        Action::Position { x: 65_535, y: 0 },
        Action::Button {
            button: Button::Left,
            pressed: true,
        },
        Action::Position { x: 65_535, y: 0 },
        Action::Button {
            button: Button::Left,
            pressed: false,
        },
    ];
    assert_eq!(actions(input, &click(99.0, 25.0)), expected);
    assert_eq!(actions(input, &click(99.0, 24.0)), [], "beside the picture");
    // The button is released beside the picture, after a press on it.
    let [down, _] = click(99.0, 25.0);
    let [_, up] = click(99.0, 0.0);
    assert_eq!(actions(input, &[down, up]), expected);
}

#[test]
fn a_click_locks_the_pointer_and_then_its_movement_counts() {
    let input = &mut Input::new(true);
    let out = all(input, &click(50.0, 50.0));
    assert_eq!(
        out.wishes,
        [WindowRequest::Cursor(false), WindowRequest::Lock(true)]
    );
    assert_eq!(out.events, []);
    input.is_locked = true;
    let happened = [
        moved(50.0, 50.0, 0.25, -1.0),
        moved(50.0, 50.0, 0.03125, 0.0),
        moved(50.0, 50.0, 0.03125, 0.0),
    ];
    let movement = Action::Move {
        right: 5,
        down: -16,
    };
    assert_eq!(actions(input, &happened), [movement]);
    let clicked = actions(input, &click(0.0, 0.0));
    assert_eq!(clicked.len(), 2, "without a place: {clicked:?}");
}

#[test]
fn movements_become_one_between_other_actions() {
    let input = &mut Input::new(false);
    let happened = [
        moved(0.0, 25.0, 0.0, 0.0),
        moved(99.0, 74.0, 0.0, 0.0),
        key(Scancode::A, true),
        moved(0.0, 25.0, 0.0, 0.0),
    ];
    let end = Action::Position {
        x: 65_535,
        y: 65_535,
    };
    let expected = [end, told(30, true), Action::Position { x: 0, y: 0 }];
    assert_eq!(actions(input, &happened), expected);
}

#[test]
fn the_wheel_counts_in_parts_of_a_notch() {
    let input = &mut Input::new(false);
    let turn = |right, up| RawEvent::Wheel { right, up };
    let happened = [
        turn(0.0, 1.0),
        turn(-0.5, 0.0),
        turn(0.004, 0.0),
        turn(0.005, 0.0),
    ];
    let wheel = |right, down| Action::Wheel { right, down };
    let expected = [wheel(0, -120), wheel(-60, 0), wheel(1, 0)];
    assert_eq!(actions(input, &happened), expected);
}

#[test]
fn fingers_are_told_apart_by_small_numbers() {
    let input = &mut Input::new(true);
    let finger = |id, phase, x, y| RawEvent::Finger { id, phase, x, y };
    let happened = [
        finger(900, FingerPhase::Down, 0.0, 0.25),
        finger(800, FingerPhase::Down, 0.5, 0.1),
        finger(700, FingerPhase::Down, 0.99, 0.74),
        finger(900, FingerPhase::Up, 0.0, 0.25),
        finger(700, FingerPhase::Moved, 0.0, 0.25),
        finger(600, FingerPhase::Down, 0.0, 0.25),
        finger(700, FingerPhase::Cancelled, 0.0, 0.25),
        finger(700, FingerPhase::Moved, 0.0, 0.25),
    ];
    let touch = |finger, phase, x, y| Action::Touch {
        finger,
        phase,
        x,
        y,
    };
    let expected = [
        touch(0, TouchPhase::Begin, 0, 0),
        touch(1, TouchPhase::Begin, 65_535, 65_535),
        touch(0, TouchPhase::End, 0, 0),
        touch(1, TouchPhase::Move, 0, 0),
        touch(0, TouchPhase::Begin, 0, 0),
        touch(1, TouchPhase::Cancel, 0, 0),
    ];
    assert_eq!(actions(input, &happened), expected);
}

#[test]
fn the_area_of_these_tests_is_that_of_such_a_picture() {
    let size = mimosa_video::Size::new(100, 50).unwrap();
    assert_eq!(area(size, (100.0, 100.0)), places().picture);
}
