//! A gamepad's state as events for the kernel.

use mimosa_facts::Gamepad;

use crate::layout::{Axis, EV_ABS, EV_KEY, EV_SYN, Event};

/// The buttons of the W3C standard mapping, by their numbers there, and their `BTN_…`
/// codes. Six are missing because they are axes: the two triggers, and the four of the
/// cross.
pub const BUTTONS: [(u32, u16); 11] = [
    (0, 0x130),  // south: A
    (1, 0x131),  // east: B
    (2, 0x133),  // west: X
    (3, 0x134),  // north: Y
    (4, 0x136),  // left shoulder
    (5, 0x137),  // right shoulder
    (8, 0x13a),  // select
    (9, 0x13b),  // start
    (16, 0x13c), // home
    (10, 0x13d), // left stick
    (11, 0x13e), // right stick
];

/// The axes, with the ranges that `xpad` states: left stick, left trigger, right stick,
/// right trigger, cross.
pub const AXES: [Axis; 8] = [
    stick(0),
    stick(1),
    trigger(2),
    stick(3),
    stick(4),
    trigger(5),
    cross(0x10),
    cross(0x11),
];

/// The numbers of the triggers and of the cross in the W3C standard mapping.
const LEFT_TRIGGER: u32 = 6;
const RIGHT_TRIGGER: u32 = 7;
const UP: u32 = 12;
const DOWN: u32 = 13;
const LEFT: u32 = 14;
const RIGHT: u32 = 15;

const fn stick(code: u16) -> Axis {
    Axis {
        code,
        least: -32_768,
        most: 32_767,
        fuzz: 16,
        flat: 128,
    }
}

const fn trigger(code: u16) -> Axis {
    Axis {
        code,
        least: 0,
        most: 255,
        fuzz: 0,
        flat: 0,
    }
}

const fn cross(code: u16) -> Axis {
    Axis {
        code,
        least: -1,
        most: 1,
        fuzz: 0,
        flat: 0,
    }
}

/// The events that lead from one state to another, followed by the event that ends them;
/// none when nothing has changed.
#[must_use]
pub fn events(before: &Gamepad, now: &Gamepad) -> Vec<Event> {
    let all = values(before).into_iter().zip(values(now));
    let mut events: Vec<_> = all
        .filter_map(|(before, now)| (before != now).then_some(now))
        .collect();
    if !events.is_empty() {
        events.push(Event {
            kind: EV_SYN,
            code: 0,
            value: 0,
        });
    }
    events
}

/// The events that describe a state in full, in one order for all states.
fn values(state: &Gamepad) -> Vec<Event> {
    let is_down = |button: u32| state.buttons >> button & 1 == 1;
    let buttons = BUTTONS.map(|(button, code)| Event {
        kind: EV_KEY,
        code,
        value: i32::from(is_down(button)),
    });
    let between = |low, high| i32::from(is_down(high)) - i32::from(is_down(low));
    // Triggers that know only up and down report it by the button.
    let pulled = |side: usize, button| match state.triggers[side] {
        0 if is_down(button) => 255,
        trigger => i32::from(trigger),
    };
    let [left_x, left_y, right_x, right_y] = state.axes.map(i32::from);
    let values = [
        left_x,
        left_y,
        pulled(0, LEFT_TRIGGER),
        right_x,
        right_y,
        pulled(1, RIGHT_TRIGGER),
        between(LEFT, RIGHT),
        between(UP, DOWN),
    ];
    let axes = AXES.iter().zip(values).map(|(axis, value)| Event {
        kind: EV_ABS,
        code: axis.code,
        value,
    });
    buttons.into_iter().chain(axes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: Gamepad = Gamepad {
        index: 0,
        is_present: true,
        buttons: 0,
        axes: [0; 4],
        triggers: [0; 2],
    };

    /// The events between two states, without the one that ends them.
    fn told(before: Gamepad, now: Gamepad) -> Vec<(u16, u16, i32)> {
        let mut events = events(&before, &now);
        let end = events.pop().map(|event| (event.kind, event.code));
        assert_eq!(end, Some((EV_SYN, 0)));
        let tell = |event: Event| (event.kind, event.code, event.value);
        events.into_iter().map(tell).collect()
    }

    #[test]
    fn only_what_changed_is_told() {
        assert_eq!(events(&REST, &REST), []);
        let south = Gamepad { buttons: 1, ..REST };
        assert_eq!(told(REST, south), [(EV_KEY, 0x130, 1)]);
        let both = Gamepad { buttons: 3, ..REST };
        assert_eq!(told(south, both), [(EV_KEY, 0x131, 1)]);
        let up = [(EV_KEY, 0x130, 0), (EV_KEY, 0x131, 0)];
        assert_eq!(told(both, REST), up);
    }

    #[test]
    fn each_button_has_its_own_code() {
        for (button, code) in [
            (0, 0x130),
            (1, 0x131),
            (2, 0x133),
            (3, 0x134),
            (4, 0x136),
            (5, 0x137),
            (8, 0x13a),
            (9, 0x13b),
            (10, 0x13d),
            (11, 0x13e),
            (16, 0x13c),
        ] {
            let buttons = 1 << button;
            let state = Gamepad { buttons, ..REST };
            assert_eq!(told(REST, state), [(EV_KEY, code, 1)], "button {button}");
        }
    }

    #[test]
    fn sticks_triggers_and_cross_are_axes() {
        let state = Gamepad {
            axes: [1, -2, 32_767, -32_767],
            triggers: [4, 255],
            buttons: 1 << UP | 1 << RIGHT,
            ..REST
        };
        let expected = [
            (EV_ABS, 0, 1),
            (EV_ABS, 1, -2),
            (EV_ABS, 2, 4),
            (EV_ABS, 3, 32_767),
            (EV_ABS, 4, -32_767),
            (EV_ABS, 5, 255),
            (EV_ABS, 0x10, 1),
            (EV_ABS, 0x11, -1),
        ];
        assert_eq!(told(REST, state), expected);
        let other = Gamepad {
            buttons: 1 << DOWN | 1 << LEFT,
            ..REST
        };
        assert_eq!(told(REST, other), [(EV_ABS, 0x10, -1), (EV_ABS, 0x11, 1)]);
        let against = Gamepad {
            buttons: 1 << DOWN | 1 << UP,
            ..REST
        };
        assert_eq!(events(&REST, &against), []);
    }

    #[test]
    fn a_trigger_without_a_way_is_all_in() {
        let pulled = Gamepad {
            buttons: 1 << 6,
            ..REST
        };
        assert_eq!(told(REST, pulled), [(EV_ABS, 2, 255)]);
        let half = Gamepad {
            buttons: 1 << 7,
            triggers: [0, 128],
            ..REST
        };
        assert_eq!(told(REST, half), [(EV_ABS, 5, 128)]);
    }
}
