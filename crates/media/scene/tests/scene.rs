//! The scene as a driver uses it.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_facts::{Action, Button, Gamepad, TouchPhase};
use mimosa_scene::{Scene, marker};
use mimosa_units::TimeDelta;
use mimosa_video::{Picture, Plane, Size};

const STEP: TimeDelta = TimeDelta::from_micros(16_667);

fn size(width: u32, height: u32) -> Size {
    Size::new(width, height).unwrap()
}

fn drawn(scene: &mut Scene, size: Size) -> Picture {
    let mut picture = Picture::new(size);
    scene.draw(STEP, &mut picture);
    picture
}

/// A generator of random numbers for this test: Knuth's constants, the high bits.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(self.0 >> 32).unwrap()
    }

    fn below(&mut self, count: u32) -> u32 {
        self.next() % count
    }

    fn short(&mut self) -> u16 {
        u16::try_from(self.next() >> 16).unwrap()
    }

    /// A random number, often one at an end of the range.
    fn any(&mut self) -> i32 {
        match self.below(4) {
            0 => i32::MIN,
            1 => i32::MAX,
            2 => self.next().cast_signed() >> 20,
            _ => self.next().cast_signed(),
        }
    }

    fn action(&mut self) -> Action {
        let pressed = self.below(2) == 0;
        let (x, y) = (self.short(), self.short());
        let (right, down) = (self.any(), self.any());
        match self.below(9) {
            0 => Action::Move { right, down },
            1 => Action::Position { x, y },
            2 => Action::Wheel { right, down },
            3 => Action::Key {
                code: self.short() % 120,
                pressed,
            },
            4 => Action::Key { code: x, pressed },
            5 => Action::Button {
                button: [
                    Button::Left,
                    Button::Middle,
                    Button::Right,
                    Button::Back,
                    Button::Forward,
                ][self.below(5) as usize],
                pressed,
            },
            6 => Action::Touch {
                finger: [0, 1, u16::MAX][self.below(3) as usize],
                phase: [
                    TouchPhase::Begin,
                    TouchPhase::Move,
                    TouchPhase::End,
                    TouchPhase::Cancel,
                ][self.below(4) as usize],
                x,
                y,
            },
            7 => Action::Gamepad(Gamepad {
                index: u8::try_from(self.below(20)).unwrap(),
                is_present: pressed,
                buttons: self.next(),
                axes: [i16::MIN, i16::MAX, 0, x.cast_signed()],
                triggers: [255, 0],
            }),
            _ => Action::ReleaseAll,
        }
    }
}

/// One action of every kind, by name.
fn kinds() -> Vec<(&'static str, Action)> {
    let key = |code| Action::Key {
        code,
        pressed: true,
    };
    let button = |button| Action::Button {
        button,
        pressed: true,
    };
    let touch = |phase| Action::Touch {
        finger: 4,
        phase,
        x: 20_000,
        y: 20_000,
    };
    let pad = Gamepad {
        is_present: true,
        ..Gamepad::default()
    };
    let mut kinds = vec![
        (
            "move",
            Action::Move {
                right: 80,
                down: -160,
            },
        ),
        ("no move", Action::Move { right: 0, down: 0 }),
        (
            "position",
            Action::Position {
                x: 40_000,
                y: 9_000,
            },
        ),
        (
            "wheel up",
            Action::Wheel {
                right: 0,
                down: -120,
            },
        ),
        (
            "wheel right",
            Action::Wheel {
                right: 120,
                down: 0,
            },
        ),
        (
            "release",
            Action::Key {
                code: 17,
                pressed: false,
            },
        ),
        ("left", button(Button::Left)),
        ("middle", button(Button::Middle)),
        ("right", button(Button::Right)),
        ("back", button(Button::Back)),
        ("forward", button(Button::Forward)),
        ("touch", touch(TouchPhase::Begin)),
        ("finger", touch(TouchPhase::Move)),
        ("lifted", touch(TouchPhase::End)),
        ("cancelled", touch(TouchPhase::Cancel)),
        ("plugged in", Action::Gamepad(pad)),
        ("pad fires", Action::Gamepad(Gamepad { buttons: 1, ..pad })),
        (
            "stick",
            Action::Gamepad(Gamepad {
                axes: [0, 32_767, 0, 0],
                ..pad
            }),
        ),
    ];
    for code in [17, 30, 31, 32, 103, 105, 106, 108, 57, 1, 65_535] {
        kinds.push(("key", key(code)));
    }
    kinds
}

/// The mean difference of two pictures' brightness outside the marker.
fn difference(a: &Picture, b: &Picture) -> f64 {
    let (width, height) = marker::extent(a.size()).unwrap_or((0, 0));
    let stride = a.stride(Plane::Y);
    let [a, b] = [a, b].map(|picture| picture.plane(Plane::Y));
    let mut sum = 0;
    for (at, (a, b)) in a.iter().zip(b).enumerate() {
        if at % stride >= width || at / stride >= height {
            sum += u64::from(a.abs_diff(*b));
        }
    }
    sum as f64 / a.len() as f64
}

#[test]
fn the_same_actions_give_the_same_pictures() {
    let size = size(320, 180);
    let play = |seed| {
        let (mut scene, mut draws) = (Scene::new(size, seed), Draws(9));
        let mut pictures = Vec::new();
        for number in 0..90 {
            if number % 3 == 0 {
                scene.act(draws.action());
            }
            pictures.push(drawn(&mut scene, size));
        }
        pictures
    };
    assert!(play(5) == play(5));
    assert!(play(5) != play(6));
}

#[test]
fn every_kind_of_action_shows_in_the_next_picture() {
    let size = size(320, 180);
    for (name, action) in kinds() {
        let mut with = Scene::new(size, 11);
        let mut without = Scene::new(size, 11);
        // The ship is taken over first, or the end of its own flight would show.
        for scene in [&mut with, &mut without] {
            scene.act(Action::Position {
                x: 20_000,
                y: 30_000,
            });
            for _ in 0..30 {
                scene.draw(STEP, &mut Picture::new(size));
            }
        }
        with.act(action);
        let (with_it, without_it) = (drawn(&mut with, size), drawn(&mut without, size));
        let changed = difference(&with_it, &without_it);
        assert!(changed > 0.05, "{name}, {action:?}: {changed}");
        let [with_it, without_it] = [with_it, without_it].map(|one| marker::read(&one).unwrap());
        assert_eq!((with_it.actions, without_it.actions), (2, 1), "{name}");
        assert_eq!((with_it.pictures, without_it.pictures), (31, 31), "{name}");
        assert_eq!((with.actions(), without.actions()), (2, 1), "{name}");
    }
}

#[test]
fn letting_go_stops_the_ship_and_is_no_action() {
    let size = size(320, 180);
    let play = |lets_go: bool| {
        let mut scene = Scene::new(size, 3);
        scene.act(Action::Key {
            code: 17,
            pressed: true,
        });
        drawn(&mut scene, size);
        if lets_go {
            scene.act(Action::ReleaseAll);
        }
        let picture = drawn(&mut scene, size);
        assert_eq!(scene.actions(), 1);
        picture
    };
    assert!(difference(&play(true), &play(false)) > 0.01);
}

#[test]
fn pictures_move_by_themselves_and_have_texture() {
    let size = size(640, 360);
    let mut scene = Scene::new(size, 2);
    let mut before = drawn(&mut scene, size);
    for number in 0..60 {
        let picture = drawn(&mut scene, size);
        let changed = difference(&picture, &before);
        assert!((1.0..60.0).contains(&changed), "{number}: {changed}");
        before = picture;
    }
    let rows = before.plane(Plane::Y).chunks_exact(640);
    let texture: u64 = rows
        .flat_map(|row| row.windows(2))
        .map(|pair| u64::from(pair[0].abs_diff(pair[1])))
        .sum();
    let texture = texture as f64 / size.luma_len() as f64;
    assert!((2.0..20.0).contains(&texture), "{texture}");
    let range = [Plane::Y, Plane::U, Plane::V].map(|plane| {
        let samples = before.plane(plane).iter();
        (*samples.clone().min().unwrap(), *samples.max().unwrap())
    });
    for ((low, high), most) in range.into_iter().zip([235, 240, 240]) {
        assert!(low >= 16 && high <= most && high - low > 40, "{range:?}");
    }
}

#[test]
fn cuts_come_every_8_to_16_seconds() {
    let size = size(320, 180);
    let mut scene = Scene::new(size, 8);
    let mut before = drawn(&mut scene, size);
    let mut cuts = Vec::new();
    for number in 2..=60 * 50 {
        let picture = drawn(&mut scene, size);
        if difference(&picture, &before) > 20.0 {
            cuts.push(number);
            let [a, b] = [&picture, &before].map(|picture| picture.plane(Plane::Y).iter());
            let changed = a.zip(b).filter(|(a, b)| a.abs_diff(**b) > 8).count();
            let part = changed as f64 / size.luma_len() as f64;
            assert!(part > 0.6, "cut at {number} changed {part}");
        }
        before = picture;
    }
    assert!((3..=6).contains(&cuts.len()), "{cuts:?}");
    let gaps = cuts.iter().zip([0].iter().chain(&cuts));
    for (cut, last) in gaps {
        let seconds = f64::from(cut - last) / 60.0;
        assert!((7.9..16.1).contains(&seconds), "{cuts:?}");
    }
}

#[test]
fn no_action_step_or_size_makes_it_panic() {
    let sizes = [
        (16, 16),
        (16, 400),
        (400, 16),
        (18, 34),
        (290, 24),
        (642, 358),
        (360, 640),
        (1920, 1080),
    ];
    for (width, height) in sizes {
        let size = size(width, height);
        let (mut scene, mut draws) = (Scene::new(size, u64::MAX), Draws(u64::from(width)));
        let mut picture = Picture::new(size);
        for number in 0..150_u32 {
            for _ in 0..draws.below(4) {
                scene.act(draws.action());
            }
            let step = match number % 30 {
                7 => TimeDelta::MAX,
                17 => TimeDelta::from_nanos(i64::MIN),
                27 => TimeDelta::ZERO,
                _ => STEP,
            };
            scene.draw(step, &mut picture);
        }
        let counted = u16::try_from(scene.actions() & 0xffff).unwrap();
        let read = marker::read(&picture);
        assert_eq!(read.is_some(), marker::extent(size).is_some(), "{size}");
        if let Some(marker) = read {
            assert_eq!((marker.actions, marker.pictures), (counted, 150), "{size}");
        }
    }
}

#[test]
fn a_picture_of_another_size_is_replaced() {
    let mut picture = Picture::new(size(64, 64));
    Scene::new(size(320, 180), 1).draw(STEP, &mut picture);
    assert_eq!(picture.size(), size(320, 180));
}
