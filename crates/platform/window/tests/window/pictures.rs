//! Pictures arrive on the screen.

use mimosa_video::Plane;
use mimosa_x11::{Display, PrivateServer, Target};

use crate::desk::{BLACK, BLUE, Eye, GREEN, RED, WHITE, size, start, wait_until};
use crate::program::{Program, environment};

/// A place and its expected colour.
type ExpectedColour = (usize, usize, (u32, [u8; 3]));

fn eye(server: &PrivateServer) -> Eye {
    Eye::open(Display::Private(server), &Target::Screen)
}

fn samples(eye: &Eye, x: usize, y: usize) -> [u8; 3] {
    [Plane::Y, Plane::U, Plane::V].map(|plane| {
        let step = if plane == Plane::Y { 1 } else { 2 };
        eye.picture.plane(plane)[y / step * eye.picture.stride(plane) + x / step]
    })
}

/// Waits until the screen has these colours, each within 2 of 255.
fn expect(eye: &mut Eye, spots: &[ExpectedColour]) {
    let mut before = Vec::new();
    wait_until(&format!("{spots:?}"), || {
        eye.glance();
        let seen: Vec<_> = spots.iter().map(|(x, y, _)| samples(eye, *x, *y)).collect();
        let fits = |(seen, (_, _, (_, colour))): (&[u8; 3], &ExpectedColour)| {
            seen.iter().zip(colour).all(|(a, b)| a.abs_diff(*b) <= 2)
        };
        let fit = seen.iter().zip(spots).all(fits);
        if seen != before {
            eprintln!("{seen:?}");
            before = seen;
        }
        fit
    });
}

/// Colours are right with the processor as renderer, and with this machine's default one.
#[test]
fn a_picture_has_its_colours_whatever_its_matrix() {
    for renderer in ["software", ""] {
        let server = start(size(640, 400));
        let mut all = Vec::from(environment(&server));
        all.push(("SDL_RENDER_DRIVER", renderer.into()));
        let program = Program::spawn("640x400", all);
        assert_eq!(program.next(), "open");
        has_its_colours(program, &mut eye(&server));
    }
}

fn has_its_colours(mut program: Program, eye: &mut Eye) {
    let spots = [
        (4, 4, RED),
        (634, 4, GREEN),
        (4, 394, BLUE),
        (634, 394, WHITE),
    ];
    program.order("show 640x400 bt709");
    expect(eye, &spots);
    program.order("show 640x200 bt709");
    expect(eye, &[(4, 4, BLACK)]);
    program.order("show 640x400 bt601");
    expect(eye, &spots);
}

#[test]
fn a_picture_of_another_shape_lies_in_the_middle_and_black_beside_it() {
    let server = start(size(640, 400));
    let mut program = Program::open(&server, "640x400");
    let mut eye = eye(&server);
    // The picture is enlarged by three and a third, with smooth edges between the quarters.
    program.order("show 192x60 bt709");
    let above_and_below = [
        (4, 96, BLACK),
        (4, 104, RED),
        (634, 104, GREEN),
        (4, 294, BLUE),
        (634, 294, WHITE),
        (634, 304, BLACK),
    ];
    expect(&mut eye, &above_and_below);
    // The picture is made smaller, by half.
    program.order("show 400x800 bt709");
    let at_both_sides = [
        (214, 4, BLACK),
        (224, 4, RED),
        (416, 4, GREEN),
        (224, 394, BLUE),
        (416, 394, WHITE),
        (424, 394, BLACK),
    ];
    expect(&mut eye, &at_both_sides);
}

#[test]
fn text_is_written_over_the_picture_and_goes_again() {
    let server = start(size(640, 720));
    let mut program = Program::open(&server, "640x720");
    let mut eye = eye(&server);
    // Letters have 16 pixels, in a box from 12 to 12 + 2 * 12 + 16 * 4, and 22 a line.
    program.order("show 640x720 bt709 HHHH HH");
    expect(&mut eye, &[(4, 4, RED), (102, 30, RED), (30, 82, RED)]);
    let dark = samples(&eye, 14, 14);
    assert!(dark[0] < 40, "{dark:?} in the box");
    let row = |from: usize, to: usize| {
        let white = (from..to).filter(|x| samples(&eye, *x, 30)[0] > 200);
        white.count()
    };
    let (text, after) = (row(24, 88), row(88, 100));
    assert!(text >= 12 && after == 0, "{text} and {after} white pixels");
    program.order("show 640x720 bt709");
    expect(&mut eye, &[(14, 14, RED), (30, 30, RED)]);
}

/// The last picture is drawn again in the window's new size.
#[test]
fn a_window_that_changes_shows_the_picture_again() {
    let server = start(size(640, 400));
    let mut program = Program::open(&server, "640x400");
    let mut eye = eye(&server);
    program.order("show 640x400 bt709");
    expect(&mut eye, &[(634, 394, WHITE)]);
    crate::window::resize(&server, 320, 200);
    program.until_event(&mimosa_window::WindowEvent::Resized {
        width: 320,
        height: 200,
    });
    // The pointer is at the lower right corner, and its cursor is in the capture.
    let spots = [
        (4, 4, RED),
        (314, 4, GREEN),
        (4, 194, BLUE),
        (280, 160, WHITE),
    ];
    expect(&mut eye, &spots);
    assert_eq!(program.ask("state"), "(320, 200) locked false played true");
}

/// Xvfb has no display, and counts refreshes by its own timer, 60 a second, of which it leaves some out where the
/// machine is busy. A watch that is over leaves nothing behind for the next.
#[test]
fn an_x_server_tells_of_refreshes_whether_anything_is_drawn_or_not() {
    let server = start(size(320, 240));
    let mut program = Program::open(&server, "320x240");
    for _ in 0..2 {
        let told = program.ask("refreshes");
        let (count, micros) = told.split_once(' ').unwrap();
        let (count, micros): (u32, f64) = (count.parse().unwrap(), micros.parse().unwrap());
        let interval = micros / f64::from(count - 1);
        assert!((30..=62).contains(&count), "{told}");
        assert!((16_000.0..33_400.0).contains(&interval), "{told}");
    }
}
