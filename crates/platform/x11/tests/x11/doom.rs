//! A real game is captured and played.

use std::time::{Duration, Instant};

use mimosa_facts::Action;
use mimosa_video::Plane;
use mimosa_x11::{Captured, Display, Game, Injector, Target, dsda_doom_command};

use crate::desk::{Eye, after, size, start, wait_until};

const ESCAPE: u16 = 1;

/// Captures for some time. Returns the number of pictures, and the median number of
/// milliseconds from the notice of a change to its picture.
fn watch(eye: &mut Eye, time: Duration) -> (usize, f64) {
    let end = after(time);
    let mut ages: Vec<f64> = Vec::new();
    while after(Duration::ZERO) < end {
        if let Captured::Picture { damaged } = eye.capture.next(end, &mut eye.picture).unwrap() {
            let ready: Instant = after(Duration::ZERO);
            ages.push((ready - damaged).as_secs_f64() * 1e3);
        }
    }
    ages.sort_by(f64::total_cmp);
    let middle = ages.get(ages.len() / 2).copied().unwrap_or_default();
    (ages.len(), middle)
}

/// The number of pixels that differ clearly in brightness.
fn difference(one: &[u8], other: &[u8]) -> usize {
    let pairs = one.iter().zip(other);
    pairs
        .filter(|(one, other)| one.abs_diff(**other) > 16)
        .count()
}

#[test]
fn doom_is_captured_and_played() {
    let size = size(1280, 720);
    let server = start(size);
    let display = Display::Private(&server);
    let command = format!("{} -warp 1 1", dsda_doom_command(size));
    let mut game = Game::launch(&command, &server, &[]).unwrap_or_else(|error| panic!("{error}"));
    let mut injector = Injector::open(display, &Target::Screen).unwrap();
    let mut eye = Eye::open(display, &Target::Screen);
    let lit = |eye: &Eye| {
        eye.picture
            .plane(Plane::Y)
            .iter()
            .filter(|&&y| y > 32)
            .count()
    };
    wait_until("the game's first picture", || {
        game.check().unwrap();
        eye.glance();
        lit(&eye) > 200_000
    });
    // The level melts onto the screen.
    watch(&mut eye, Duration::from_millis(1500));
    let found = mimosa_x11::Capture::open(display, &Target::Title("dsda-doom".to_owned()));
    assert_eq!(found.unwrap().size(), size);

    let seconds = 3.0;
    let (pictures, age) = watch(&mut eye, Duration::from_secs_f64(seconds));
    println!(
        "{:.1} pictures a second, {age:.2} ms each",
        pictures as f64 / seconds
    );
    assert!(pictures > 1, "the picture does not change");

    // The menu stops the game and stays: the picture differs, then rests.
    let played = eye.picture.clone();
    for pressed in [true, false] {
        let escape = Action::Key {
            code: ESCAPE,
            pressed,
        };
        injector.apply(escape, size).unwrap();
    }
    wait_until("the menu", || {
        eye.glance();
        difference(played.plane(Plane::Y), eye.picture.plane(Plane::Y)) > 20_000
    });
    if let Some(file) = std::env::var_os("MIMOSA_PICTURE") {
        std::fs::write(file, eye.picture.planes().concat()).unwrap();
    }
    let stopping = after(Duration::ZERO);
    game.stop();
    println!("ended within {:?}", after(Duration::ZERO) - stopping);
}
