//! Colours as the X server stores them.

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ImageOrder, Screen, VisualClass, Visualid, Visualtype};
use x11rb::rust_connection::RustConnection;

/// Checks whether the images of a window of `visual` have the supported format; names their
/// format if not.
pub(crate) fn check_format(
    connection: &RustConnection,
    screen: &Screen,
    visual: Visualid,
) -> Result<(), String> {
    let setup = connection.setup();
    let found = screen.allowed_depths.iter().find_map(|depth| {
        let visual = depth
            .visuals
            .iter()
            .find(|known| known.visual_id == visual)?;
        Some((depth.depth, visual))
    });
    let Some((depth, visual)) = found else {
        return Err(format!("an unknown visual, {visual:#x}"));
    };
    let bits = setup
        .pixmap_formats
        .iter()
        .find(|format| format.depth == depth)
        .map_or(0, |format| format.bits_per_pixel);
    is_readable(depth, bits, setup.image_byte_order, visual)
}

fn is_readable(depth: u8, bits: u8, order: ImageOrder, visual: &Visualtype) -> Result<(), String> {
    let masks = (visual.red_mask, visual.green_mask, visual.blue_mask);
    // SDL's windows are of `DIRECT_COLOR`, where a table may change the colours; normally
    // it does not.
    let classes = [VisualClass::TRUE_COLOR, VisualClass::DIRECT_COLOR];
    if !classes.contains(&visual.class) {
        Err(format!("colours of the class {:?}", visual.class))
    } else if !matches!(depth, 24 | 32) || bits != 32 {
        Err(format!("a depth of {depth}, in {bits} bits a pixel"))
    } else if order != ImageOrder::LSB_FIRST || masks != (0xff_0000, 0xff00, 0xff) {
        Err(format!("colours in the order {order:?} {masks:x?}"))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VISUAL: Visualtype = Visualtype {
        visual_id: 33,
        class: VisualClass::TRUE_COLOR,
        bits_per_rgb_value: 8,
        colormap_entries: 256,
        red_mask: 0xff_0000,
        green_mask: 0xff00,
        blue_mask: 0xff,
    };

    #[test]
    fn other_formats_are_named() {
        let read = |depth, bits, visual: &Visualtype| {
            is_readable(depth, bits, ImageOrder::LSB_FIRST, visual)
        };
        assert_eq!(read(24, 32, &VISUAL), Ok(()));
        assert_eq!(read(32, 32, &VISUAL), Ok(()));
        assert!(read(16, 16, &VISUAL).unwrap_err().contains("a depth of 16"));
        assert!(read(24, 24, &VISUAL).unwrap_err().contains("24 bits"));
        let swapped = Visualtype {
            red_mask: 0xff,
            blue_mask: 0xff_0000,
            ..VISUAL
        };
        assert!(read(24, 32, &swapped).unwrap_err().contains("order"));
        let grey = Visualtype {
            class: VisualClass::STATIC_GRAY,
            ..VISUAL
        };
        assert!(read(24, 32, &grey).unwrap_err().contains("class"));
        let order = ImageOrder::MSB_FIRST;
        assert!(
            is_readable(24, 32, order, &VISUAL)
                .unwrap_err()
                .contains("order")
        );
    }
}
