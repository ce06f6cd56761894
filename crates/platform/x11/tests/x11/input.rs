//! Actions arrive as events.

use mimosa_facts::{Action, Button, Gamepad, TouchPhase};
use mimosa_video::Size;
use mimosa_x11::{Display, Injector, InputError, PrivateServer, Target};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{ConfigureWindowAux, ConnectionExt as _};
use x11rb::wrapper::ConnectionExt as _;

use crate::desk::{Desk, size, start};

/// An event, reduced to its main field.
#[derive(Debug, PartialEq)]
enum ReceivedEvent {
    Key(u8, bool),
    Button(u8, bool),
    /// The pointer's place in the window.
    Motion(i16, i16),
}

fn got(event: &Event) -> Option<ReceivedEvent> {
    Some(match event {
        Event::KeyPress(key) => ReceivedEvent::Key(key.detail, true),
        Event::KeyRelease(key) => ReceivedEvent::Key(key.detail, false),
        Event::ButtonPress(button) => ReceivedEvent::Button(button.detail, true),
        Event::ButtonRelease(button) => ReceivedEvent::Button(button.detail, false),
        Event::MotionNotify(motion) => ReceivedEvent::Motion(motion.event_x, motion.event_y),
        _ => return None,
    })
}

fn key(code: u16, pressed: bool) -> Action {
    Action::Key { code, pressed }
}

struct Play {
    desk: Desk,
    injector: Injector,
    size: Size,
    server: PrivateServer,
}

impl Play {
    /// A window that covers a screen of 320 by 240 and is played.
    fn start() -> Self {
        let size = size(320, 240);
        let server = start(size);
        let desk = Desk::new(&server);
        desk.window("played", (0, 0), (320, 240));
        let injector = Injector::open(Display::Private(&server), &Target::Screen).unwrap();
        Self {
            desk,
            injector,
            size,
            server,
        }
    }

    fn apply(&mut self, actions: &[Action]) {
        for &action in actions {
            self.injector.apply(action, self.size).unwrap();
        }
    }

    /// Waits for as many events as are expected.
    fn expect(&self, expected: &[ReceivedEvent]) {
        assert_eq!(self.desk.wait_for(expected.len(), got), expected);
    }
}

/// X's number of a key is Linux's plus eight, and the server gives it the letter of that
/// key.
#[test]
fn keys_are_those_of_linux() {
    let mut play = Play::start();
    play.apply(&[
        key(30, true),
        key(30, true),
        key(30, false),
        key(103, true),
        key(103, false),
    ]);
    let (a, up) = (38, 111);
    play.expect(&[
        ReceivedEvent::Key(a, true),
        ReceivedEvent::Key(a, false),
        ReceivedEvent::Key(up, true),
        ReceivedEvent::Key(up, false),
    ]);
    let meaning = |number| {
        let mapping = play.desk.connection.get_keyboard_mapping(number, 1);
        mapping.unwrap().reply().unwrap().keysyms[0]
    };
    let upwards = 0xff52;
    assert_eq!((meaning(a), meaning(up)), (u32::from(b'a'), upwards));
    play.apply(&[
        key(0, true),
        key(248, true),
        key(65_535, true),
        key(2, true),
    ]);
    play.expect(&[ReceivedEvent::Key(10, true)]);
}

#[test]
fn the_pointer_moves_as_far_as_the_player_moved_it() {
    let mut play = Play::start();
    play.apply(&[
        Action::Position { x: 0, y: 0 },
        Action::Position {
            x: 65_535,
            y: 65_535,
        },
    ]);
    play.expect(&[ReceivedEvent::Motion(0, 0), ReceivedEvent::Motion(319, 239)]);
    play.apply(&[
        Action::Position { x: 0, y: 0 },
        Action::Move {
            right: 100 * 16,
            down: 200 * 16 + 8,
        },
        Action::Move { right: 7, down: 8 },
        Action::Move {
            right: -3 * 16,
            down: 0,
        },
    ]);
    play.expect(&[
        ReceivedEvent::Motion(0, 0),
        ReceivedEvent::Motion(100, 200),
        ReceivedEvent::Motion(100, 201),
        ReceivedEvent::Motion(98, 201),
    ]);
}

#[test]
fn buttons_the_wheel_and_a_finger_are_buttons() {
    let mut play = Play::start();
    let all = [
        (Button::Left, 1),
        (Button::Middle, 2),
        (Button::Right, 3),
        (Button::Back, 8),
        (Button::Forward, 9),
    ];
    for (button, number) in all {
        let action = |pressed| Action::Button { button, pressed };
        play.apply(&[action(true), action(false)]);
        play.expect(&[
            ReceivedEvent::Button(number, true),
            ReceivedEvent::Button(number, false),
        ]);
    }
    let wheel = |right, down| Action::Wheel { right, down };
    play.apply(&[
        wheel(0, 60),
        wheel(0, 60),
        wheel(0, -120),
        wheel(-120, 0),
        wheel(120, 0),
    ]);
    let clicks = [5, 4, 6, 7].map(|number| {
        [
            ReceivedEvent::Button(number, true),
            ReceivedEvent::Button(number, false),
        ]
    });
    play.expect(clicks.as_flattened());
    let touch = |phase| Action::Touch {
        finger: 9,
        phase,
        x: 0,
        y: 65_535,
    };
    play.apply(&[touch(TouchPhase::Begin), touch(TouchPhase::Cancel)]);
    play.expect(&[
        ReceivedEvent::Motion(0, 239),
        ReceivedEvent::Button(1, true),
        ReceivedEvent::Button(1, false),
    ]);
}

#[test]
fn a_gamepad_presses_keys() {
    let mut play = Play::start();
    let pad = |buttons, x| {
        let axes = [x, 0, 0, 0];
        Action::Gamepad(Gamepad {
            is_present: true,
            buttons,
            axes,
            ..Gamepad::default()
        })
    };
    play.apply(&[pad(1, 0), pad(1, 30_000), pad(0, 14_000), pad(0, 0)]);
    let (control, right) = (37, 40);
    play.expect(&[
        ReceivedEvent::Key(control, true),
        ReceivedEvent::Key(right, true),
        ReceivedEvent::Key(control, false),
        ReceivedEvent::Key(right, false),
    ]);
}

#[test]
fn everything_is_released_on_demand_and_at_the_end() {
    let mut play = Play::start();
    let button = Action::Button {
        button: Button::Right,
        pressed: true,
    };
    let pressed = [ReceivedEvent::Key(38, true), ReceivedEvent::Button(3, true)];
    let released = [
        ReceivedEvent::Key(38, false),
        ReceivedEvent::Button(3, false),
    ];
    play.apply(&[key(30, true), button]);
    play.expect(&pressed);
    play.apply(&[Action::ReleaseAll, Action::ReleaseAll]);
    play.expect(&released);
    play.apply(&[key(30, true), button]);
    play.expect(&pressed);
    drop(play.injector);
    assert_eq!(play.desk.wait_for(2, got), released);
    drop(play.server);
}

#[test]
fn keys_go_to_the_largest_window_that_is_there() {
    let mut play = Play::start();
    let focus = |play: &Play| {
        let focus = play.desk.connection.get_input_focus();
        focus.unwrap().reply().unwrap().focus
    };
    let small = play.desk.window("small", (0, 0), (32, 32));
    play.apply(&[key(30, true), key(30, false)]);
    assert_ne!(focus(&play), small);
    let covering = play.desk.window("covering", (0, 0), (320, 240));
    play.injector.follow_focus().unwrap();
    assert_eq!(focus(&play), covering);
    let values = ConfigureWindowAux::new().width(16).height(16);
    play.desk.configure(covering, &values);
    play.injector.follow_focus().unwrap();
    let first = focus(&play);
    assert!(![small, covering].contains(&first));
    play.desk.destroy(first);
    play.injector.follow_focus().unwrap();
    assert_eq!(focus(&play), small);
}

#[test]
fn a_window_is_played_where_it_is() {
    let server = start(size(320, 240));
    let desk = Desk::new(&server);
    let window = desk.window("played", (100, 50), (64, 32));
    desk.window("larger", (200, 100), (90, 90));
    let mut injector = Injector::open(Display::Private(&server), &Target::Window(window)).unwrap();
    let focus = desk.connection.get_input_focus().unwrap().reply().unwrap();
    assert_eq!(focus.focus, window);
    let end = Action::Position {
        x: 65_535,
        y: 65_535,
    };
    injector.apply(end, size(64, 32)).unwrap();
    assert_eq!(desk.wait_for(1, got), [ReceivedEvent::Motion(63, 31)]);
    desk.configure(window, &ConfigureWindowAux::new().x(-20).y(0));
    injector
        .apply(Action::Position { x: 0, y: 0 }, size(44, 32))
        .unwrap();
    assert_eq!(desk.wait_for(1, got), [ReceivedEvent::Motion(20, 0)]);

    desk.connection.destroy_window(window).unwrap();
    desk.connection.sync().unwrap();
    let result = injector.apply(end, size(44, 32));
    assert!(matches!(result, Err(InputError::Gone)), "{result:?}");
}
