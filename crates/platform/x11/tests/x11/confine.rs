//! A window that is shared is a fence for what is played on it.

use mimosa_facts::{Action, Button};
use mimosa_x11::{Display, Injector, PrivateServer, Target};
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ConfigureWindowAux, ConnectionExt as _, InputFocus, StackMode,
    Window,
};
use x11rb::wrapper::ConnectionExt as _;

use crate::desk::{Desk, size, start};

/// The window that is shared, and another one beside it, each of a program of its own.
struct Stage {
    ours: Desk,
    theirs: Desk,
    shared: Window,
    other: Window,
    injector: Injector,
    _server: PrivateServer,
}

/// A press or a release that a program got: a key's or a button's number.
type Got = (u8, bool);

fn got(event: &Event) -> Option<Got> {
    match event {
        Event::KeyPress(key) => Some((key.detail, true)),
        Event::KeyRelease(key) => Some((key.detail, false)),
        Event::ButtonPress(button) => Some((button.detail, true)),
        Event::ButtonRelease(button) => Some((button.detail, false)),
        _ => None,
    }
}

fn key(code: u16, pressed: bool) -> Action {
    Action::Key { code, pressed }
}

impl Stage {
    /// On a screen of 320 by 240, the shared window is at 100, 50 and has 64 by 32 pixels.
    fn start() -> Self {
        let server = start(size(320, 240));
        let (ours, theirs) = (Desk::new(&server), Desk::new(&server));
        let shared = ours.window("shared", (100, 50), (64, 32));
        let other = theirs.window("other", (0, 100), (90, 90));
        let injector = Injector::open(Display::Private(&server), &Target::Window(shared)).unwrap();
        Self {
            ours,
            theirs,
            shared,
            other,
            injector,
            _server: server,
        }
    }

    fn apply(&mut self, actions: &[Action]) {
        for &action in actions {
            self.injector.apply(action, size(64, 32)).unwrap();
        }
    }

    /// What both programs have got, the shared one's first. The server takes turns between its clients, so
    /// that what the injector asked for is done within a few turns.
    fn got(&self) -> [Vec<Got>; 2] {
        for _ in 0..10 {
            self.ours.connection.sync().unwrap();
            self.theirs.connection.sync().unwrap();
        }
        [&self.ours, &self.theirs].map(|desk| desk.events().iter().filter_map(got).collect())
    }

    fn focus(&self, window: Window) {
        let desk = &self.theirs.connection;
        desk.set_input_focus(InputFocus::POINTER_ROOT, window, x11rb::CURRENT_TIME)
            .unwrap();
        desk.sync().unwrap();
    }

    /// The pointer's place on the screen.
    fn pointer(&self) -> (i16, i16) {
        let place = self.ours.connection.query_pointer(self.shared).unwrap();
        let place = place.reply().unwrap();
        (place.root_x, place.root_y)
    }

    fn warp(&self, x: i16, y: i16) {
        let (connection, root) = (&self.ours.connection, self.ours.screen.root);
        connection
            .warp_pointer(x11rb::NONE, root, 0, 0, 0, 0, x, y)
            .unwrap();
        connection.sync().unwrap();
    }
}

/// X's number of the key with Linux's 30, which has the letter A.
const A: u8 = 38;

#[test]
fn keys_are_pressed_while_the_window_has_the_focus() {
    let mut all = Stage::start();
    let tap = [key(30, true), key(30, false)];
    all.apply(&tap);
    assert_eq!(all.got(), [vec![(A, true), (A, false)], vec![]]);
    all.focus(all.other);
    all.apply(&tap);
    all.apply(&[Action::Character('x')]);
    assert_eq!(all.got(), [vec![], vec![]]);
    // What went down in the window goes up wherever the focus is.
    all.focus(all.shared);
    all.apply(&tap[..1]);
    assert_eq!(all.got(), [vec![(A, true)], vec![]]);
    all.focus(all.other);
    all.apply(&tap[1..]);
    assert_eq!(all.got(), [vec![], vec![(A, false)]]);
    // The focus that follows the pointer does so here as well.
    all.focus(u32::from(InputFocus::POINTER_ROOT));
    all.warp(10, 110);
    all.apply(&tap);
    assert_eq!(all.got(), [vec![], vec![]]);
    all.warp(110, 60);
    all.apply(&tap);
    assert_eq!(all.got(), [vec![(A, true), (A, false)], vec![]]);
}

#[test]
fn buttons_are_pressed_over_what_is_seen_of_the_window() {
    let mut all = Stage::start();
    let left = |pressed| Action::Button {
        button: Button::Left,
        pressed,
    };
    let click = [Action::Position { x: 0, y: 0 }, left(true), left(false)];
    all.apply(&click);
    assert_eq!(all.got(), [vec![(1, true), (1, false)], vec![]]);
    // Somebody at the display has moved the pointer to another window.
    all.warp(10, 110);
    all.apply(&[
        left(true),
        left(false),
        Action::Wheel {
            right: 0,
            down: 120,
        },
    ]);
    assert_eq!(all.got(), [vec![], vec![]]);
    // The other window covers the shared one.
    let above = ConfigureWindowAux::new()
        .x(90)
        .y(40)
        .stack_mode(StackMode::ABOVE);
    all.theirs.configure(all.other, &above);
    all.apply(&click);
    assert_eq!(all.got(), [vec![], vec![]]);
}

#[test]
fn a_menu_of_the_window_s_program_is_part_of_it_and_another_s_is_not() {
    let mut all = Stage::start();
    let press = Action::Button {
        button: Button::Left,
        pressed: true,
    };
    let menu = |desk: &Desk| {
        let window = desk.window("menu", (100, 50), (32, 32));
        let values = ChangeWindowAttributesAux::new().override_redirect(1);
        desk.connection
            .change_window_attributes(window, &values)
            .unwrap();
        desk.connection.sync().unwrap();
        window
    };
    let over = Action::Position { x: 0, y: 0 };
    let window = menu(&all.ours);
    all.apply(&[over, press, Action::ReleaseAll]);
    assert_eq!(all.got(), [vec![(1, true), (1, false)], vec![]]);
    all.ours.destroy(window);
    let window = menu(&all.theirs);
    all.apply(&[over, press, Action::ReleaseAll]);
    assert_eq!(all.got(), [vec![], vec![]]);
    all.theirs.destroy(window);
    // Another window of the same program is not what was shared.
    all.ours.window("larger", (100, 50), (200, 150));
    all.apply(&[over, press, Action::ReleaseAll]);
    assert_eq!(all.got(), [vec![], vec![]]);
}

#[test]
fn a_movement_that_leaves_the_window_is_taken_back() {
    let mut all = Stage::start();
    let by = |right: i32, down: i32| Action::Move {
        right: right * 16,
        down: down * 16,
    };
    all.apply(&[Action::Position { x: 0, y: 0 }, by(10, 5)]);
    assert_eq!(all.pointer(), (110, 55));
    all.apply(&[by(500, 500)]);
    assert_eq!(all.pointer(), (163, 81));
    all.apply(&[by(-500, -500)]);
    assert_eq!(all.pointer(), (100, 50));
    all.warp(10, 110);
    all.apply(&[by(1, 1)]);
    assert_eq!(all.pointer(), (100, 81));
}

#[test]
fn keys_that_call_a_desktop_are_left_out_of_a_window_alone() {
    let alt_tab = [key(56, true), key(15, true), key(15, false), key(56, false)];
    let mut all = Stage::start();
    all.apply(&[key(125, true), key(125, false)]);
    all.apply(&alt_tab);
    assert_eq!(all.got(), [vec![(64, true), (64, false)], vec![]]);
}
