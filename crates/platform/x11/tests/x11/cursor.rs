//! The pointer in the picture.

use mimosa_facts::Action;
use mimosa_x11::{Captured, Display, Injector, Target};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ConnectionExt as _, CreateGCAux, Rectangle, Window,
};
use x11rb::wrapper::ConnectionExt as _;

use crate::desk::{BLACK, Desk, Eye, GREEN, RED, size, start};

/// Sets a square of 16 pixels as the cursor, with its hot spot in the middle.
fn set_cursor(desk: &Desk, window: Window, colour: (u16, u16, u16)) {
    let connection = &desk.connection;
    let [pixmap, context, cursor] = [0; 3].map(|_| connection.generate_id().unwrap());
    connection.create_pixmap(1, pixmap, window, 16, 16).unwrap();
    let values = CreateGCAux::new().foreground(1);
    connection.create_gc(context, pixmap, &values).unwrap();
    let all = Rectangle {
        x: 0,
        y: 0,
        width: 16,
        height: 16,
    };
    connection
        .poly_fill_rectangle(pixmap, context, &[all])
        .unwrap();
    let (red, green, blue) = colour;
    connection
        .create_cursor(cursor, pixmap, pixmap, red, green, blue, 0, 0, 0, 8, 8)
        .unwrap();
    let values = ChangeWindowAttributesAux::new().cursor(cursor);
    connection
        .change_window_attributes(window, &values)
        .unwrap();
    connection.sync().unwrap();
}

/// The place of this pixel in a picture of 320 by 240.
fn position(x: u32, y: u32) -> Action {
    let part = |pixel: u32, side: u32| u16::try_from(pixel * 65_535 / (side - 1)).unwrap();
    Action::Position {
        x: part(x, 320),
        y: part(y, 240),
    }
}

#[test]
fn the_pointer_is_drawn_and_its_movement_is_a_change() {
    let server = start(size(320, 240));
    let desk = Desk::new(&server);
    let window = desk.window("pointer", (0, 0), (320, 240));
    let display = Display::Private(&server);
    let mut injector = Injector::open(display, &Target::Screen).unwrap();
    let mut point = |x, y| injector.apply(position(x, y), size(320, 240)).unwrap();

    point(100, 100);
    set_cursor(&desk, window, (!0, 0, 0));
    let mut eye = Eye::open(display, &Target::Screen);
    eye.settle();
    for (colour, x, y) in [
        (RED, 94, 94),
        (RED, 104, 104),
        (BLACK, 88, 100),
        (BLACK, 110, 100),
    ] {
        eye.expect(colour, x, y);
    }

    point(200, 120);
    eye.look();
    eye.settle();
    eye.expect(RED, 200, 120);
    eye.expect(BLACK, 100, 100);

    set_cursor(&desk, window, (0, !0, 0));
    eye.look();
    eye.settle();
    eye.expect(GREEN, 200, 120);

    eye.capture.show_cursor(false);
    eye.look();
    eye.expect(BLACK, 200, 120);
    eye.settle();
    point(10, 10);
    assert_eq!(eye.glance(), Captured::Nothing);
    eye.capture.show_cursor(true);
    eye.settle();
    eye.expect(GREEN, 10, 10);
}

#[test]
fn in_a_window_the_pointer_is_where_it_is_on_the_screen() {
    let server = start(size(320, 240));
    let desk = Desk::new(&server);
    let window = desk.window("pointer", (50, 30), (64, 64));
    set_cursor(&desk, window, (!0, 0, 0));
    let display = Display::Private(&server);
    let mut injector = Injector::open(display, &Target::Screen).unwrap();
    injector.apply(position(70, 50), size(320, 240)).unwrap();
    let mut eye = Eye::open(display, &Target::Window(window));
    eye.settle();
    eye.expect(RED, 20, 20);
    eye.expect(BLACK, 40, 40);

    injector.apply(position(300, 200), size(320, 240)).unwrap();
    eye.look();
    eye.expect(BLACK, 20, 20);
    injector.apply(position(300, 210), size(320, 240)).unwrap();
    eye.settle();
    assert_eq!(eye.glance(), Captured::Nothing, "it moves elsewhere");
}
