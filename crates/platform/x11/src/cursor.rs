//! The pointer's image, which the X server leaves out of its images.

use x11rb::protocol::xfixes::GetCursorImageReply;

use crate::image::PIXEL;
use crate::target::Area;

/// The image of the pointer and its place.
#[derive(Debug, Default)]
pub(crate) struct Cursor {
    /// The colours with alpha, red, green and blue from the highest byte to the lowest,
    /// multiplied by alpha.
    pixels: Vec<u32>,
    width: usize,
    /// The point of the image that is at the pointer's place.
    hot: (i32, i32),
    /// The pointer's place on the screen.
    place: (i32, i32),
}

impl Cursor {
    /// A cursor from the server's answer.
    pub(crate) fn new(reply: GetCursorImageReply) -> Self {
        Self {
            pixels: reply.cursor_image,
            width: usize::from(reply.width),
            hot: (i32::from(reply.xhot), i32::from(reply.yhot)),
            place: (i32::from(reply.x), i32::from(reply.y)),
        }
    }

    /// Moves the cursor to another place. Returns whether that shows in `area`.
    pub(crate) fn move_to(&mut self, place: (i16, i16), area: Area) -> bool {
        let showed = self.is_in(area);
        let before = std::mem::replace(&mut self.place, (place.0.into(), place.1.into()));
        before != self.place && (showed || self.is_in(area))
    }

    /// Whether any pixel of the image is visible.
    pub(crate) fn is_visible(&self) -> bool {
        self.pixels.iter().any(|pixel| pixel >> 24 != 0)
    }

    /// Draws the cursor into `image`, which shows `area`.
    pub(crate) fn draw(&self, image: &mut [u8], area: Area) {
        let (left, top) = self.corner(area);
        let stride = area.size.width() as usize * PIXEL;
        for (row, pixels) in (top..).zip(self.rows()) {
            let Some(row) = inside(row, area.size.height()) else {
                continue;
            };
            for (column, &pixel) in (left..).zip(pixels) {
                let Some(column) = inside(column, area.size.width()) else {
                    continue;
                };
                let at = row * stride + column * PIXEL;
                if let Some(under) = image.get_mut(at..at + PIXEL) {
                    blend(pixel, under);
                }
            }
        }
    }

    fn rows(&self) -> std::slice::Chunks<'_, u32> {
        self.pixels.chunks(self.width.max(1))
    }

    /// The place of the image's upper left corner in `area`.
    fn corner(&self, area: Area) -> (i32, i32) {
        (
            self.place.0 - self.hot.0 - area.x,
            self.place.1 - self.hot.1 - area.y,
        )
    }

    fn is_in(&self, area: Area) -> bool {
        let overlaps = |from: i32, length: usize, side: u32| {
            let side = i64::from(side);
            let end = i64::from(from) + i64::try_from(length).unwrap_or(side);
            i64::from(from) < side && end > 0
        };
        let (left, top) = self.corner(area);
        overlaps(left, self.width, area.size.width())
            && overlaps(top, self.rows().len(), area.size.height())
    }
}

/// Converts `place` to an index, if it is within a side of this length.
fn inside(place: i32, side: u32) -> Option<usize> {
    let place = u32::try_from(place).ok().filter(|&place| place < side)?;
    usize::try_from(place).ok()
}

/// Mixes a pixel over the blue, green and red bytes under it.
fn blend(pixel: u32, under: &mut [u8]) {
    let [blue, green, red, alpha] = pixel.to_le_bytes();
    let rest = 255 - u16::from(alpha);
    for (under, over) in under.iter_mut().zip([blue, green, red]) {
        let shines_through = (u16::from(*under) * rest + 127) / 255;
        *under = over.saturating_add(u8::try_from(shines_through).unwrap_or(u8::MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mimosa_video::Size;

    fn area(x: i32, y: i32) -> Area {
        let size = Size::new(16, 16).unwrap();
        Area {
            left: 0,
            top: 0,
            x,
            y,
            size,
        }
    }

    fn square(pixel: u32) -> Cursor {
        Cursor {
            pixels: vec![pixel; 9],
            width: 3,
            hot: (1, 1),
            place: (100, 50),
        }
    }

    #[test]
    fn the_hot_point_is_at_the_place() {
        let mut image = vec![0; 16 * 16 * PIXEL];
        square(0xff10_2030).draw(&mut image, area(96, 48));
        let drawn: Vec<_> = (0..256)
            .filter(|pixel| image[pixel * PIXEL] != 0)
            .map(|pixel| (pixel % 16, pixel / 16))
            .collect();
        assert_eq!((drawn[0], drawn[8], drawn.len()), ((3, 1), (5, 3), 9));
        let at = (16 + 3) * PIXEL;
        assert_eq!(image[at..at + 3], [0x30, 0x20, 0x10]);
    }

    #[test]
    fn half_of_the_ground_shines_through() {
        let mut under = [100, 200, 50, 9];
        blend(0x8040_0000, &mut under);
        assert_eq!(under, [50, 100, 0x40 + 25, 9]);
        blend(0, &mut under);
        assert_eq!(under, [50, 100, 0x40 + 25, 9]);
    }

    #[test]
    fn what_is_outside_is_not_drawn() {
        for (x, y) in [(101, 51), (85, 35), (98, 60), (2000, -2000)] {
            let mut image = vec![0; 16 * 16 * PIXEL];
            square(0xffff_ffff).draw(&mut image, area(x, y));
            let drawn = image.iter().any(|&byte| byte != 0);
            assert_eq!(drawn, square(1).is_in(area(x, y)), "{x} {y}");
        }
    }

    #[test]
    fn only_movement_that_shows_counts() {
        let mut cursor = square(0xffff_ffff);
        assert!(!cursor.move_to((100, 50), area(96, 48)), "no movement");
        assert!(cursor.move_to((101, 50), area(96, 48)));
        assert!(cursor.move_to((500, 500), area(96, 48)), "out of the area");
        assert!(!cursor.move_to((501, 500), area(96, 48)), "outside");
        assert!(!square(0x00ff_ffff).is_visible());
        assert!(!Cursor::default().is_visible());
    }
}
