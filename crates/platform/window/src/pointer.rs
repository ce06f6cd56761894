//! The place of the picture in the window, and of the pointer in the picture.

use mimosa_video::Size;

/// The last place in a picture, from its left or its top.
const END: f32 = 65_535.0;

/// A part of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Area {
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
}

/// The largest area with a picture's aspect ratio in the middle of a window of so many
/// columns and rows; its edges lie between pixels.
pub(crate) fn area(picture: Size, (width, height): (f32, f32)) -> Area {
    let (columns, rows) = (picture.width() as f32, picture.height() as f32);
    let scale = (width / columns).min(height / rows);
    let (inner_width, inner_height) = ((columns * scale).round(), (rows * scale).round());
    Area {
        x: ((width - inner_width) / 2.0).floor(),
        y: ((height - inner_height) / 2.0).floor(),
        width: inner_width,
        height: inner_height,
    }
}

impl Area {
    /// A point's place in the picture, limited to its edges: the middle of the first pixel
    /// is 0, that of the last 65535.
    pub(crate) fn place(self, x: f32, y: f32) -> (u16, u16) {
        let part = |offset: f32, length: f32| {
            let part = (offset / (length - 1.0).max(1.0)).clamp(0.0, 1.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "0 to 65535"
            )]
            let place = (part * END).round() as u16;
            place
        };
        (part(x - self.x, self.width), part(y - self.y, self.height))
    }

    /// Whether a point is on the picture.
    pub(crate) fn holds(self, x: f32, y: f32) -> bool {
        (self.x..self.x + self.width).contains(&x) && (self.y..self.y + self.height).contains(&y)
    }
}

/// A counter in whole units that keeps the remainder.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Remainder(f32);

impl Remainder {
    /// Adds `more` and takes out the whole units.
    pub(crate) fn add(&mut self, more: f32) -> i32 {
        let sum = self.0 + more;
        let whole = sum.trunc();
        let rest = sum - whole;
        self.0 = if rest.is_finite() { rest } else { 0.0 };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a cast from floating point keeps to the range"
        )]
        let units = whole as i32;
        units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(text: &str) -> Size {
        text.parse().unwrap()
    }

    #[test]
    fn bars_are_where_the_shape_is_another() {
        let cases = [
            ((1280.0, 720.0), (0.0, 0.0, 1280.0, 720.0)),
            ((1280.0, 800.0), (0.0, 40.0, 1280.0, 720.0)),
            ((2000.0, 720.0), (360.0, 0.0, 1280.0, 720.0)),
            ((640.0, 480.0), (0.0, 60.0, 640.0, 360.0)),
            ((2560.0, 1440.0), (0.0, 0.0, 2560.0, 1440.0)),
        ];
        for (window, (x, y, width, height)) in cases {
            let expected = Area {
                x,
                y,
                width,
                height,
            };
            assert_eq!(area(size("1280x720"), window), expected, "{window:?}");
        }
    }

    #[test]
    fn every_pixel_can_be_reached_and_bars_are_its_edges() {
        let area = area(size("1280x720"), (1280.0, 800.0));
        assert_eq!(area.place(0.0, 40.0), (0, 0));
        assert_eq!(area.place(1279.0, 759.0), (65_535, 65_535));
        assert_eq!(area.place(-5.0, 0.0), (0, 0));
        assert_eq!(area.place(5000.0, 799.0), (65_535, 65_535));
        // The computation is the one by which a host turns a place into a pixel again.
        for column in 0..1280 {
            let (x, _) = area.place(column as f32, 100.0);
            assert_eq!((u32::from(x) * 1279 + 32_767) / 65_535, column);
        }
        assert!(area.holds(0.0, 40.0) && area.holds(1279.0, 759.0));
        assert!(!area.holds(5.0, 39.0) && !area.holds(5.0, 760.0) && !area.holds(1280.0, 99.0));
    }

    #[test]
    fn a_window_without_extent_is_no_trouble() {
        let area = area(size("1280x720"), (0.0, 0.0));
        assert_eq!(area.place(0.0, 0.0), (0, 0));
        assert!(!area.holds(0.0, 0.0));
    }

    #[test]
    fn parts_add_up() {
        let mut rest = Remainder::default();
        let units: Vec<i32> = [0.25, 0.5, 0.25, -0.75, -0.75, 100.5]
            .into_iter()
            .map(|more| rest.add(more))
            .collect();
        assert_eq!(units, [0, 0, 1, 0, -1, 100]);
        assert_eq!(Remainder::default().add(f32::NAN), 0);
        assert_eq!(Remainder::default().add(1e30), i32::MAX);
    }
}
