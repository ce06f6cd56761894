//! Characters reach programs that read text.

use std::fs;

use mimosa_facts::Action;
use mimosa_x11::{Display, Game, Injector, PrivateServer, Target};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::ConnectionExt as _;

use crate::desk::{Desk, size, start, wait_until};

/// More characters than there are free keys, some of them twice.
fn text() -> String {
    let greek = ('\u{3b1}'..='\u{3c9}').collect::<String>();
    format!("aa\u{e9}A\u{e9}\u{20ac}\u{1f600}{greek}\u{e9}")
}

/// A server, a window on it, and an injector.
fn text_field() -> (PrivateServer, Desk, Injector) {
    let server = start(size(320, 240));
    let desk = Desk::new(&server);
    desk.window("a text field", (0, 0), (320, 240));
    let injector = Injector::open(Display::Private(&server), &Target::Screen).unwrap();
    (server, desk, injector)
}

/// The meaning of each key is looked up when the key is received, as programs do.
#[test]
fn characters_arrive_in_their_order() {
    let (_server, desk, mut injector) = text_field();
    let size = size(320, 240);
    let free = free_keys(&desk);
    let mut read = String::new();
    for character in text().chars() {
        injector.apply(Action::Character(character), size).unwrap();
        read.extend(desk.wait_for(1, |event| match event {
            Event::KeyPress(key) => Some(meaning(&desk, key.detail)),
            _ => None,
        }));
    }
    assert_eq!(read, text());
    assert!(free_keys(&desk) < free, "keys have a meaning now");
    drop(injector);
    assert_eq!(free_keys(&desk), free, "and none afterwards");
}

/// One notice is not enough for a program that is asking for an earlier change.
#[test]
fn programs_hear_of_a_change_twice_before_the_key() {
    let (_server, desk, mut injector) = text_field();
    let size = size(320, 240);
    let told = |event: &Event| matches!(event, Event::MappingNotify(_));
    let mut told_before_the_key = |character| {
        let action = Action::Character(character);
        injector.apply(action, size).unwrap();
        let mut events = Vec::new();
        wait_until("a key", || {
            events.extend(desk.events());
            matches!(events.last(), Some(Event::KeyRelease(_)))
        });
        let before = |event: &&Event| !matches!(event, Event::KeyPress(_));
        events
            .iter()
            .take_while(before)
            .filter(|event| told(event))
            .count()
    };
    // With the first of all, the server reports another keyboard, too.
    told_before_the_key('\u{e9}');
    assert_eq!(told_before_the_key('\u{e9}'), 0, "the key means it already");
    let for_two = told_before_the_key('\u{e8}');
    let key = desk.connection.setup().max_keycode;
    let change = desk.connection.change_keyboard_mapping(1, key, 1, &[0]);
    change.unwrap().check().unwrap();
    let for_one = desk.events().iter().filter(|event| told(event)).count();
    assert_eq!(for_two, 2 * for_one);
}

/// `xev` prints what the X library makes of a key, which is what every text field gets.
#[test]
fn a_program_of_the_x_library_reads_them() {
    let size = size(320, 240);
    let server = start(size);
    let file = server.authority().with_file_name("read");
    let command = format!(
        "LC_ALL=C.UTF-8 exec xev -event keyboard -event focus >{}",
        file.display()
    );
    let mut program =
        Game::launch(&command, &server, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut injector = Injector::open(Display::Private(&server), &Target::Screen).unwrap();
    let printed = || fs::read_to_string(&file).unwrap();
    wait_until("the program's window", || {
        program.check().unwrap();
        injector.follow_focus().unwrap();
        printed().contains("FocusIn")
    });
    let key = |pressed| Action::Key { code: 30, pressed };
    let written = [
        Action::Character('\u{e9}'),
        key(true),
        key(false),
        Action::Character('\u{20ac}'),
        Action::Character('z'),
    ];
    for action in written {
        injector.apply(action, size).unwrap();
    }
    let read = || -> Vec<String> {
        let printed = printed();
        let presses = printed.split("KeyPress event").skip(1);
        let read = presses.filter_map(|press| {
            let (_, text) = press.split_once("XmbLookupString gives")?;
            let (_, text) = text.split_once('"')?;
            Some(text.split_once('"')?.0.to_owned())
        });
        read.collect()
    };
    wait_until("all characters", || read().len() >= 4);
    assert_eq!(read(), ["\u{e9}", "a", "\u{20ac}", "z"]);
}

fn meanings(desk: &Desk, key: u8, count: u8) -> Vec<u32> {
    let mapping = desk.connection.get_keyboard_mapping(key, count);
    mapping.unwrap().reply().unwrap().keysyms
}

fn meaning(desk: &Desk, key: u8) -> char {
    match meanings(desk, key, 1)[0] {
        latin @ 0..=0xff => char::from_u32(latin).unwrap(),
        other => char::from_u32(other - 0x0100_0000).unwrap(),
    }
}

fn free_keys(desk: &Desk) -> usize {
    let setup = desk.connection.setup();
    let keys = setup.min_keycode..=setup.max_keycode;
    let is_free = |key: &u8| meanings(desk, *key, 1).iter().all(|meaning| *meaning == 0);
    keys.filter(is_free).count()
}
