//! Pictures of a display, and the times at which they come.

use std::time::Duration;

use mimosa_x11::{Capture, CaptureError, Captured, Display, Target, TargetError};
use x11rb::protocol::randr::{ConnectionExt as _, Rotation};
use x11rb::protocol::xproto::{ConfigureWindowAux, ConnectionExt as _, StackMode};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use crate::desk::{BLACK, BLUE, Desk, Eye, GREEN, OpenServer, RED, WHITE, after, size, start};

#[test]
fn the_colours_of_the_screen_are_those_of_the_picture() {
    let server = start(size(320, 240));
    let desk = Desk::new(&server);
    let window = desk.window("colours", (100, 60), (64, 64));
    for (colour, place) in [
        (RED, (0, 0, 32, 32)),
        (GREEN, (32, 0, 32, 32)),
        (BLUE, (0, 32, 32, 32)),
        (WHITE, (32, 32, 32, 32)),
    ] {
        desk.fill(window, colour, place);
    }

    let mut eye = Eye::open(Display::Private(&server), &Target::Screen);
    assert_eq!(eye.capture.size(), size(320, 240));
    eye.capture.show_cursor(false);
    eye.look();
    eye.expect(BLACK, 98, 58);
    for (colour, x, y) in [
        (RED, 100, 60),
        (GREEN, 162, 60),
        (BLUE, 100, 122),
        (WHITE, 162, 122),
    ] {
        eye.expect(colour, x, y);
    }
    eye.expect(BLACK, 164, 124);

    let mut eye = Eye::open(Display::Private(&server), &Target::Window(window));
    assert_eq!(eye.capture.size(), size(64, 64));
    eye.capture.show_cursor(false);
    eye.look();
    for (colour, x, y) in [
        (RED, 30, 30),
        (GREEN, 32, 30),
        (BLUE, 30, 32),
        (WHITE, 62, 62),
    ] {
        eye.expect(colour, x, y);
    }
}

#[test]
fn a_picture_comes_when_something_was_drawn() {
    let server = start(size(320, 240));
    let desk = Desk::new(&server);
    let window = desk.window("drawn", (0, 0), (320, 240));
    for target in [Target::Screen, Target::Window(window)] {
        desk.fill(window, BLACK, (0, 0, 320, 240));
        let mut eye = Eye::open(Display::Private(&server), &target);
        eye.settle();
        assert_eq!(eye.glance(), Captured::Nothing);

        let before = after(Duration::ZERO);
        for (colour, x) in [(RED, 0), (GREEN, 64), (BLUE, 128)] {
            desk.fill(window, colour, (x, 0, 64, 64));
        }
        let Captured::Picture { damaged } = eye.next().unwrap() else {
            panic!("no picture of what was drawn");
        };
        assert!((before..after(Duration::ZERO)).contains(&damaged));
        for (colour, x) in [(RED, 0), (GREEN, 64), (BLUE, 128)] {
            eye.expect(colour, x, 0);
        }
        assert_eq!(
            eye.glance(),
            Captured::Nothing,
            "three changes, one picture"
        );

        desk.fill(window, WHITE, (0, 0, 2, 2));
        eye.look();
        eye.expect(WHITE, 0, 0);
        eye.expect(RED, 2, 0);
    }
}

#[test]
fn a_window_that_changes_its_size_is_told() {
    let server = start(size(320, 240));
    let desk = Desk::new(&server);
    let window = desk.window("first", (0, 0), (64, 64));
    let mut eye = Eye::open(Display::Private(&server), &Target::Window(window));
    eye.settle();

    desk.configure(window, &ConfigureWindowAux::new().width(101).height(81));
    desk.fill(window, RED, (0, 0, 101, 81));
    assert_eq!(
        eye.next().unwrap(),
        Captured::Resized(size(100, 80)),
        "rounded down"
    );
    assert_eq!(eye.picture.size(), size(64, 64), "left as it was");
    eye.look();
    assert_eq!(eye.picture.size(), size(100, 80));
    eye.expect(RED, 98, 78);

    // Only the part on the screen can be seen: 70 of 100 columns.
    desk.fill(window, GREEN, (98, 0, 3, 81));
    desk.configure(window, &ConfigureWindowAux::new().x(-31));
    eye.settle();
    assert_eq!(eye.capture.size(), size(70, 80));
    eye.expect(GREEN, 68, 0);
    desk.configure(window, &ConfigureWindowAux::new().x(300));
    eye.settle();
    assert_eq!(eye.capture.size(), size(20, 80));
    desk.configure(window, &ConfigureWindowAux::new().x(310));
    let result = eye.next();
    assert!(matches!(result, Err(CaptureError::Size(_))), "{result:?}");
}

#[test]
fn a_screen_that_changes_its_size_is_told() {
    let server = start(size(640, 480));
    let desk = Desk::new(&server);
    let mut eye = Eye::open(Display::Private(&server), &Target::Screen);
    eye.settle();
    // No window may extend beyond the new size.
    let root = desk.screen.root;
    let connection = &desk.connection;
    let shown = connection.randr_get_screen_resources(root).unwrap();
    for monitor in shown.reply().unwrap().crtcs {
        let rotation = Rotation::ROTATE0;
        let request = connection.randr_set_crtc_config(monitor, 0, 0, 0, 0, 0, rotation, &[]);
        request.unwrap().reply().unwrap();
    }
    let request = connection.randr_set_screen_size(root, 320, 240, 80, 60);
    request.unwrap().check().unwrap();
    assert_eq!(eye.next().unwrap(), Captured::Resized(size(320, 240)));
    eye.look();
    assert_eq!(eye.picture.size(), size(320, 240));
}

#[test]
fn a_window_that_goes_is_told() {
    let server = start(size(320, 240));
    let desk = Desk::new(&server);
    let window = desk.window("short", (0, 0), (64, 64));
    let mut eye = Eye::open(Display::Private(&server), &Target::Window(window));
    eye.settle();
    desk.connection.unmap_window(window).unwrap();
    desk.connection.sync().unwrap();
    let result = eye.next();
    assert!(matches!(result, Err(CaptureError::Hidden)), "{result:?}");
    assert_eq!(eye.glance(), Captured::Nothing, "told once");
    desk.connection.map_window(window).unwrap();
    desk.connection.sync().unwrap();
    eye.look();

    desk.destroy(window);
    for _ in 0..2 {
        let result = eye.next();
        assert!(matches!(result, Err(CaptureError::Gone)), "{result:?}");
    }
    let result = Capture::open(Display::Private(&server), &Target::Window(window));
    let error = result.unwrap_err();
    assert!(
        matches!(error, CaptureError::Target(TargetError::NoWindow { .. })),
        "{error}"
    );
}

#[test]
fn a_server_that_ends_is_told() {
    let server = start(size(320, 240));
    let mut eye = Eye::open(Display::Private(&server), &Target::Screen);
    eye.settle();
    server.stop();
    let result = eye.next();
    assert!(
        matches!(result, Err(CaptureError::Display(_))),
        "{result:?}"
    );
}

#[test]
fn the_largest_window_of_a_title_is_found() {
    let server = start(size(320, 240));
    let desk = Desk::new(&server);
    let display = Display::Private(&server);
    let title = Target::Title("Doom".to_owned());
    let error = Capture::open(display, &title).unwrap_err();
    assert!(error.to_string().contains("contains `Doom`"), "{error}");

    desk.window("Doom's launcher", (0, 0), (40, 30));
    let game = desk.window("Freedoom", (0, 0), (80, 60));
    desk.window("The Doom of others", (0, 0), (100, 80));
    desk.window("large", (0, 0), (200, 100));
    desk.configure(
        game,
        &ConfigureWindowAux::new().stack_mode(StackMode::BELOW),
    );
    let found = |title: &str| {
        let target = Target::Title(title.to_owned());
        Capture::open(display, &target).unwrap().size()
    };
    assert_eq!(found("Doom"), size(100, 80));
    assert_eq!(found("doom"), size(80, 60));
    assert_eq!(found("Doom's"), size(40, 30));
}

#[test]
fn without_shared_memory_pictures_come_through_the_connection() {
    let server = OpenServer::start(&["-screen", "0", "320x240x24", "-extension", "MIT-SHM"]);
    let (connection, _) = RustConnection::connect(Some(&server.display)).unwrap();
    let desk = Desk::with(connection);
    let window = desk.window("sent", (10, 10), (64, 64));
    desk.fill(window, RED, (0, 0, 64, 64));
    let mut eye = Eye::open(Display::Named(Some(&server.display)), &Target::Screen);
    eye.look();
    eye.expect(RED, 12, 12);
    eye.settle();
    desk.fill(window, BLUE, (0, 0, 64, 64));
    eye.look();
    eye.expect(BLUE, 12, 12);
}

#[test]
fn a_screen_of_other_colours_is_refused() {
    let server = OpenServer::start(&["-screen", "0", "320x240x16"]);
    let display = Display::Named(Some(&server.display));
    let error = Capture::open(display, &Target::Screen).unwrap_err();
    assert!(error.to_string().contains("a depth of 16"), "{error}");
}
