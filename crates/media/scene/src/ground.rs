//! The ground in perspective, and the stalks in front of the camera.

use crate::colour::Colour;
use crate::landscape::Geometry;
use crate::layer::Layer;
use crate::noise::Noise;
use crate::number::{between, even, index, signed, sine, smooth, whole};
use crate::palette::Palette;
use crate::random::Random;
use crate::sheet::Sheet;
use crate::sprite::Sprite;

/// The scale of things at the horizon relative to the lower edge: there the ground passes
/// as fast as the nearest hills.
const FAR: f32 = 0.3;

/// Paints the layer of the ground, from the horizon down.
///
/// Each row repeats after its own number of pixels: the farther away the row, the fewer.
/// When all rows move by the same part of their periods, they keep to the perspective.
pub(crate) fn layer(geometry: &Geometry, palette: &Palette, random: &mut Random) -> Layer {
    let rows = index(geometry.height) - geometry.horizon + 2 * geometry.slack;
    let near = |row: usize| between(FAR, 1.0, row as f32 / rows as f32);
    let mut sheet = Sheet { rows: Vec::new() };
    let coarse = geometry.period as f32 / (190.0 * geometry.unit);
    let soil = Noise::new(random, coarse, 7);
    // Waves are flatter than patches of soil.
    let depth = if palette.is_water { 24.0 } else { 7.0 };
    for row in 0..rows {
        let near = near(row);
        let mut values = vec![0.0; even(geometry.period as f32 * near)];
        soil.row(depth / near, &mut values);
        // The vanishing point is in the middle of the picture.
        let middle = index(geometry.width / 2.0) % values.len();
        values.rotate_right(middle);
        let length = values.len() as f32;
        let dot = |(x, &value): (usize, &f32)| {
            if palette.is_water {
                let glint = smooth(0.54, 0.76, value) * between(0.6, 0.4, near);
                return palette.floor[2].texel(glint);
            }
            let [dark, light, _] = palette.floor;
            let across = (x as f32 - middle as f32) / length;
            let furrow = 0.16 * sine(across * 24.0 + value * 0.6);
            let colour = dark.mix(light, 0.5 + (value - 0.5) * 2.4 + furrow);
            let haze = smooth(0.55, FAR, near) * 0.6;
            colour.mix(palette.haze, haze).texel(1.0)
        };
        sheet
            .rows
            .push(values.iter().enumerate().map(dot).collect());
    }
    if !palette.is_water {
        strew(&mut sheet, geometry, palette.floor[2], random);
    }
    Layer::new(&sheet)
}

/// Strews flowers, or pebbles, over the ground.
fn strew(sheet: &mut Sheet, geometry: &Geometry, colour: Colour, random: &mut Random) {
    let rows = sheet.rows.len();
    for _ in 0..900 {
        let part = random.uniform();
        let row = index(rows as f32 * (1.0 - (1.0 - part * part) * 0.97)).min(rows - 1);
        let across = random.uniform();
        let near = sheet.rows[row].len() as f32 / geometry.period as f32;
        let radius = near * near * random.between(2.0, 7.0) * geometry.unit;
        let tone = random.between(-60.0, 10.0);
        let flat = radius * 0.45;
        for y in whole(row as f32 - flat)..=whole(row as f32 + flat) {
            let Some(length) = usize::try_from(y).ok().and_then(|y| sheet.rows.get(y)) else {
                continue;
            };
            let off = (y as f32 - row as f32) / flat.max(0.5);
            let half = radius * (1.0 - off * off).max(0.0).sqrt();
            let x = across * length.len() as f32 + geometry.width / 2.0;
            sheet.span(y, x - half, x + half, colour.lit(tone - 30.0 * off));
        }
    }
}

/// Paints the layer of stalks that pass in front, some with blossoms.
pub(crate) fn stalks(geometry: &Geometry, palette: &Palette, random: &mut Random) -> Layer {
    let unit = geometry.unit;
    let rows = even(geometry.height * 0.23);
    let mut sheet = Sheet::new(geometry.period, rows);
    let blossoms: Vec<Sprite> = (0..3_u8)
        .map(|size| Sprite::blossom(random, (6.0 + 3.0 * f32::from(size)) * unit))
        .map(|blossom| {
            blossom.shaded(
                Colour::rgb(0x5c_2c10),
                if palette.is_water { 0.4 } else { 0.1 },
            )
        })
        .collect();
    let mut density = vec![0.0; geometry.period];
    Noise::new(random, 5.0, 2).row(0.5, &mut density);
    for number in 0..420 {
        let x = random.uniform() * geometry.period as f32;
        let thick = smooth(0.4, 0.7, density[index(x) % geometry.period]);
        let tall = between(0.2, 0.95, thick * random.uniform()) * rows as f32;
        let lean = random.between(-0.35, 0.45) * tall;
        let half = random.between(1.6, 4.2) * unit * between(0.6, 1.0, thick);
        let [dark, light] = palette.front;
        let colour = dark.mix(light, random.uniform() * number as f32 / 420.0);
        for up in 0..index(tall) {
            let part = up as f32 / tall;
            let middle = x + lean * part * part;
            let half = half * (1.0 - part).max(0.12) + 0.2;
            let y = signed(rows) - 1 - signed(up);
            let colour = colour.lit(24.0 * part);
            sheet.span(y, middle - half, middle, colour.lit(14.0));
            sheet.span(y, middle, middle + half, colour);
        }
        if number > 250 && thick > 0.3 && random.uniform() < 0.22 {
            for _ in 0..6 {
                let spread = 15.0 * unit;
                let tip = x + lean + random.between(-spread, spread);
                let top = rows as f32 - tall + random.between(-spread, spread);
                let blossom = &blossoms[random.below(blossoms.len())];
                sheet.sprite(blossom, (whole(tip), whole(top.max(spread))));
            }
        }
    }
    Layer::new(&sheet)
}
