//! Input at the X server comes out as actions.

use mimosa_facts::{Action, Button};
use mimosa_video::Size;
use mimosa_window::WindowEvent;
use mimosa_x11::{Display, Injector, PrivateServer, Target};

use crate::desk::{size, start};
use crate::program::Program;

struct Play {
    program: Program,
    injector: Injector,
    size: Size,
    _server: PrivateServer,
}

impl Play {
    /// A window that covers a screen of 640 by 400.
    fn start(role: &str) -> Self {
        let size = size(640, 400);
        let server = start(size);
        let program = Program::open(&server, format!("640x400 {role}").trim());
        let injector = Injector::open(Display::Private(&server), &Target::Screen).unwrap();
        Self {
            program,
            injector,
            size,
            _server: server,
        }
    }

    fn apply(&mut self, actions: &[Action]) {
        for &action in actions {
            self.injector.apply(action, self.size).unwrap();
        }
    }

    /// The events of everything done so far: up to a key that is pressed at this point.
    fn told(&mut self) -> Vec<String> {
        self.apply(&[key(MARKER, true), key(MARKER, false)]);
        let told = self
            .program
            .until_event(&WindowEvent::Act(key(MARKER, true)));
        self.program
            .until_event(&WindowEvent::Act(key(MARKER, false)));
        told
    }
}

/// Scroll Lock, which no test uses otherwise.
const MARKER: u16 = 70;

fn key(code: u16, pressed: bool) -> Action {
    Action::Key { code, pressed }
}

fn lines(actions: &[Action]) -> Vec<String> {
    let line = |action: &Action| format!("{:?}", WindowEvent::Act(*action));
    actions.iter().map(line).collect()
}

/// Every key of a keyboard with all keys that exist, but for F11, which is the client's,
/// for those to which this server's keyboard map gives another meaning: Zenkaku, Stop
/// and the keypad's comma, and for those that the injector keeps out: `SysRq` and power.
#[test]
fn each_key_is_told_by_its_number_in_linux() {
    let mut play = Play::start("");
    let usual = (1..=88).filter(|code| ![84, 85, 87, MARKER].contains(code));
    let more = [
        89, 90, 91, 92, 93, 94, 96, 97, 98, 100, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111,
        113, 114, 115, 117, 119, 122, 123, 124, 125, 126, 127, 129, 130, 131, 133, 134, 135, 136,
        137, 138, 156, 158, 159, 161, 163, 164, 165, 166, 167, 168, 172, 173, 179, 180, 183, 184,
        185, 186, 187, 188, 189, 190, 191, 192, 193, 194, 207, 208, 217, 226,
    ];
    play.told();
    let mut others = Vec::new();
    for code in usual.chain(more) {
        let actions = [key(code, true), key(code, false)];
        play.apply(&actions);
        let told = play.told();
        if told != lines(&actions) {
            others.push((code, told));
        }
    }
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn the_clients_own_keys_do_not_reach_the_game() {
    let mut play = Play::start("");
    play.told();
    let held = [29, 56, 42];
    let down = held.map(|code| key(code, true));
    let up = held.map(|code| key(code, false));
    play.apply(&down);
    play.apply(&[key(31, true), key(31, false)]);
    play.apply(&up);
    let statistics = format!("{:?}", WindowEvent::ToggleStatistics);
    let expected = [lines(&down), vec![statistics], lines(&up)].concat();
    assert_eq!(play.told(), expected);
    play.apply(&[key(87, true), key(87, false)]);
    assert_eq!(play.told(), Vec::<String>::new(), "F11");
}

#[test]
fn the_pointers_place_is_that_in_the_picture() {
    let mut play = Play::start("");
    // There are 100 rows above the picture and 100 below.
    play.program.order("show 640x200 bt709");
    let at = |column: u32, row: u32| {
        let part = |pixel: u32, side: u32| (pixel * 65_535).div_ceil(side - 1) as u16;
        Action::Position {
            x: part(column, 640),
            y: part(row, 400),
        }
    };
    let told = |x: u32, y: u32| {
        let part = |pixel: u32, last: u32| ((pixel * 65_535 + last / 2) / last) as u16;
        Action::Position {
            x: part(x, 639),
            y: part(y, 199),
        }
    };
    for ((column, row), expected) in [
        ((1, 100), told(1, 0)),
        ((0, 50), told(0, 0)),
        ((639, 299), told(639, 199)),
        ((600, 399), told(600, 199)),
        ((320, 200), told(320, 100)),
    ] {
        play.apply(&[at(column, row)]);
        play.program.until_event(&WindowEvent::Act(expected));
    }
    play.told();
    let button = |button, pressed| Action::Button { button, pressed };
    for one in [
        Button::Left,
        Button::Middle,
        Button::Right,
        Button::Back,
        Button::Forward,
    ] {
        play.apply(&[button(one, true), button(one, false)]);
        let place = told(320, 100);
        let expected = [place, button(one, true), place, button(one, false)];
        assert_eq!(play.told(), lines(&expected));
    }
    let wheel = |right, down| Action::Wheel { right, down };
    for turn in [wheel(0, 120), wheel(0, -120), wheel(120, 0), wheel(-120, 0)] {
        play.apply(&[turn]);
        assert_eq!(play.told(), lines(&[turn]));
    }
}

/// The X server reports movements as they come; only their sum is certain.
#[test]
fn a_click_locks_the_pointer_and_its_movement_is_told() {
    let mut play = Play::start("locks");
    play.program.order("show 640x400 bt709");
    let click = [true, false].map(|pressed| Action::Button {
        button: Button::Left,
        pressed,
    });
    play.apply(&click);
    let told = play.told().concat();
    assert!(!told.contains("Button"), "{told}");
    assert_eq!(
        play.program.ask("state"),
        "(640, 400) locked true played true"
    );
    let step = Action::Move {
        right: 16 * 30,
        down: -16 * 20,
    };
    // The movement is longer than the screen is wide.
    play.apply(&[step; 40]);
    let told = play.told();
    let (mut right, mut down) = (0, 0);
    for line in &told {
        let numbers: Vec<i32> = line
            .split(|letter: char| letter != '-' && !letter.is_ascii_digit())
            .filter_map(|number| number.parse().ok())
            .collect();
        assert!(line.contains("Move") && numbers.len() == 2, "{line}");
        (right, down) = (right + numbers[0], down + numbers[1]);
    }
    assert_eq!((right, down), (16 * 30 * 40, -16 * 20 * 40));
    play.apply(&click);
    assert_eq!(play.told(), lines(&click));
    // Ctrl+Alt+Shift+Z.
    let held = [29, 56, 42, 44];
    play.apply(&held.map(|code| key(code, true)));
    play.program
        .until_event(&WindowEvent::Act(Action::ReleaseAll));
    play.apply(&held.map(|code| key(code, false)));
    play.apply(&[key(30, true), key(30, false), step]);
    let told = play.program.order("lock off");
    assert_eq!(told, Vec::<String>::new());
    let state = play.program.ask("state");
    assert_eq!(state, "(640, 400) locked false played false");
}
