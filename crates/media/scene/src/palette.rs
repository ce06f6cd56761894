//! The colours and shapes of the landscapes.

use crate::colour::Colour;

/// The look of one landscape.
pub(crate) struct Palette {
    /// The colours of the sky from the top to the horizon.
    pub(crate) sky: [Colour; 4],
    /// The colours of clouds: where the light falls, and where it does not.
    pub(crate) clouds: [Colour; 2],
    /// The share of the sky that clouds cover, 0 to 1.
    pub(crate) cloudiness: f32,
    /// The colour of the sun or moon.
    pub(crate) sun: Colour,
    /// The place of the sun, in parts of the picture's width and height.
    pub(crate) sun_at: (f32, f32),
    /// The radius of the sun, in parts of the picture's height.
    pub(crate) sun_radius: f32,
    /// Whether there are stars and northern lights.
    pub(crate) is_night: bool,
    /// The colour of the air between near and far.
    pub(crate) haze: Colour,
    /// The colours of the ranges from far to near: dark and light.
    pub(crate) ranges: [[Colour; 2]; 3],
    /// The colour of the snow on the peaks, if there is any.
    pub(crate) snow: Option<Colour>,
    /// Whether there are cliffs and flat tops instead of peaks, and no trees.
    pub(crate) is_desert: bool,
    /// The colours of the ground: dark, light, and the things strewn on it.
    pub(crate) floor: [Colour; 3],
    /// Whether the ground is water.
    pub(crate) is_water: bool,
    /// The colours of the stalks that pass in front: dark and light.
    pub(crate) front: [Colour; 2],
}

const fn pair(dark: u32, light: u32) -> [Colour; 2] {
    [Colour::rgb(dark), Colour::rgb(light)]
}

const fn triple(dark: u32, light: u32, spark: u32) -> [Colour; 3] {
    [Colour::rgb(dark), Colour::rgb(light), Colour::rgb(spark)]
}

const fn four([a, b, c, d]: [u32; 4]) -> [Colour; 4] {
    [
        Colour::rgb(a),
        Colour::rgb(b),
        Colour::rgb(c),
        Colour::rgb(d),
    ]
}

/// Every landscape.
pub(crate) const PALETTES: [Palette; 4] = [DUSK, DAY, NIGHT, DESERT];

const DUSK: Palette = Palette {
    sky: four([0x1e_1a4a, 0x6a_2f80, 0xe8_5f78, 0xff_b978]),
    clouds: pair(0x5c_2a6e, 0xff_a288),
    cloudiness: 0.7,
    sun: Colour::rgb(0xff_f2c0),
    sun_at: (0.62, 0.37),
    sun_radius: 0.085,
    is_night: false,
    haze: Colour::rgb(0xf0_8c80),
    ranges: [
        pair(0x5a_3878, 0xb4_6a98),
        pair(0x2e_2258, 0x7c_4884),
        pair(0x12_0e28, 0x3c_2656),
    ],
    snow: None,
    is_desert: false,
    floor: triple(0x3a_2058, 0xc8_6a80, 0xff_d2a0),
    is_water: true,
    front: pair(0x08_0614, 0x2a_1c40),
};

const DAY: Palette = Palette {
    sky: four([0x1f_62b8, 0x46_96e0, 0x98_d0f0, 0xf6_f0d4]),
    clouds: pair(0x9a_b6d4, 0xff_ffff),
    cloudiness: 0.8,
    sun: Colour::rgb(0xff_fde4),
    sun_at: (0.3, 0.2),
    sun_radius: 0.06,
    is_night: false,
    haze: Colour::rgb(0xc4_dfe8),
    ranges: [
        pair(0x4a_7098, 0xb4_cad8),
        pair(0x2a_5a50, 0x86_b078),
        pair(0x12_3c22, 0x56_9838),
    ],
    snow: Some(Colour::rgb(0xff_ffff)),
    is_desert: false,
    floor: triple(0x2c_6a20, 0x9a_c43c, 0xff_de30),
    is_water: false,
    front: pair(0x0c_3014, 0x4c_8c2c),
};

const NIGHT: Palette = Palette {
    sky: four([0x05_0a20, 0x0c_1d46, 0x1a_3e70, 0x3c_7490]),
    clouds: pair(0x12_2a4c, 0x50_e8b4),
    cloudiness: 0.35,
    sun: Colour::rgb(0xf6_f8ff),
    sun_at: (0.74, 0.2),
    sun_radius: 0.05,
    is_night: true,
    haze: Colour::rgb(0x30_5a80),
    ranges: [
        pair(0x18_2c54, 0x70_92c0),
        pair(0x0e_1e3c, 0x40_6494),
        pair(0x05_0c1a, 0x1a_3248),
    ],
    snow: Some(Colour::rgb(0xcc_e0f8)),
    is_desert: false,
    floor: triple(0x08_1a34, 0x3a_7898, 0xb0_e8f0),
    is_water: true,
    front: pair(0x02_060e, 0x10_2238),
};

const DESERT: Palette = Palette {
    sky: four([0x16_4a62, 0x4c_9a98, 0xf0_c478, 0xfc_e8b0]),
    clouds: pair(0xb8_8a70, 0xff_f0d0),
    cloudiness: 0.4,
    sun: Colour::rgb(0xff_ffee),
    sun_at: (0.5, 0.4),
    sun_radius: 0.07,
    is_night: false,
    haze: Colour::rgb(0xf0_c890),
    ranges: [
        pair(0x80_4c50, 0xd8_a080),
        pair(0x6e_2a20, 0xd4_7444),
        pair(0x40_1612, 0xa0_4a2a),
    ],
    snow: None,
    is_desert: true,
    floor: triple(0x8a_4420, 0xf0_b464, 0xff_f2c8),
    is_water: false,
    front: pair(0x24_0c0a, 0x6e_2e1a),
};
