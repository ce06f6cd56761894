//! The window beside other windows.

use mimosa_window::WindowEvent;
use mimosa_x11::PrivateServer;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, EventMask, Window,
};
use x11rb::wrapper::ConnectionExt as _;

use crate::desk::{Desk, size, start};
use crate::program::{Program, environment};

/// The window of the program, the largest on the screen.
fn find(desk: &Desk) -> Window {
    let tree = desk.connection.query_tree(desk.screen.root).unwrap();
    let windows = tree.reply().unwrap().children.into_iter();
    let area = |window: &Window| {
        let shape = desk.connection.get_geometry(*window).unwrap().reply();
        shape.map_or(0, |shape| u32::from(shape.width) * u32::from(shape.height))
    };
    windows.max_by_key(area).unwrap()
}

pub(crate) fn resize(server: &PrivateServer, width: u32, height: u32) {
    let desk = Desk::new(server);
    let values = ConfigureWindowAux::new().width(width).height(height);
    desk.configure(find(&desk), &values);
}

#[test]
fn closing_the_window_is_told() {
    let server = start(size(320, 240));
    let program = Program::open(&server, "320x240");
    let desk = Desk::new(&server);
    let atom = |name: &str| {
        let reply = desk.connection.intern_atom(false, name.as_bytes());
        reply.unwrap().reply().unwrap().atom
    };
    let data = [atom("WM_DELETE_WINDOW"), 0, 0, 0, 0];
    let window = find(&desk);
    let message = ClientMessageEvent::new(32, window, atom("WM_PROTOCOLS"), data);
    desk.connection
        .send_event(false, window, EventMask::NO_EVENT, message)
        .unwrap();
    desk.connection.sync().unwrap();
    program.until_event(&WindowEvent::Quit);
}

#[test]
fn text_on_the_clipboard_is_told_to_others_who_share_it() {
    let server = start(size(320, 240));
    let mut first = Program::open(&server, "320x240 shares");
    let mut second = Program::open(&server, "160x120 shares");
    let mut third = Program::open(&server, "96x96");
    second.order("clipboard héllo");
    first.until_event(&WindowEvent::Clipboard("héllo".to_owned()));
    first.order("clipboard again");
    let told = second.until_event(&WindowEvent::Clipboard("again".to_owned()));
    let own = told.iter().any(|line| line.contains("héllo"));
    assert!(!own, "{told:?}");
    let told = third.order("lock off");
    let any = told.iter().any(|line| line.contains("Clipboard"));
    assert!(!any, "{told:?}");
}

#[test]
fn without_a_display_it_says_what_to_do() {
    let nowhere = [("DISPLAY", ":4095".into()), ("XAUTHORITY", "/".into())];
    let told = Program::spawn("320x240", nowhere).next();
    assert!(told.contains("DISPLAY=:0"), "{told}");
}

#[test]
fn a_program_has_one_window() {
    let server = start(size(320, 240));
    let mut program = Program::spawn("320x240", environment(&server));
    assert_eq!(program.next(), "open");
    let told = program.ask("second");
    assert!(told.contains("has a window already"), "{told}");
}

/// Several windows at once would take the X server's focus from each other.
#[test]
fn the_focus_is_lost_with_everything_that_is_down() {
    use mimosa_facts::Action;
    use mimosa_x11::{Display, Injector, Target};
    let server = start(size(320, 240));
    let program = Program::open(&server, "320x240");
    let desk = Desk::new(&server);
    let mut injector = Injector::open(Display::Private(&server), &Target::Screen).unwrap();
    let key = Action::Key {
        code: 30,
        pressed: true,
    };
    injector.apply(key, size(320, 240)).unwrap();
    program.until_event(&WindowEvent::Act(key));
    let other = desk.window("other", (0, 0), (16, 16));
    desk.connection
        .set_input_focus(
            x11rb::protocol::xproto::InputFocus::NONE,
            other,
            x11rb::CURRENT_TIME,
        )
        .unwrap();
    desk.connection.flush().unwrap();
    program.until_event(&WindowEvent::Act(Action::ReleaseAll));
}
