//! The kernel's structures as bytes, and the numbers of `linux/uinput.h`, `linux/input.h`
//! and `linux/input-event-codes.h` that this crate uses.
//!
//! The layout is that of 64-bit Linux, where `long` and pointers have eight bytes and are
//! aligned to eight. All sizes and places are worked out by hand from the headers:
//!
//! | structure | bytes | fields, with their places |
//! | --- | --- | --- |
//! | `input_event` | 24 | time 0 (two `long`), type 16, code 18, value 20 |
//! | `uinput_setup` | 92 | bus 0, vendor 2, product 4, version 6, name 8 (80), effects 88 |
//! | `uinput_abs_setup` | 28 | code 0, a gap of 2, value 4, minimum 8, maximum 12, fuzz 16, flat 20, resolution 24 |
//! | `ff_effect` | 48 | type 0, id 2, direction 4, trigger 6 (2 x 2), length 10, delay 12, a gap of 2, union 16 (32, as `ff_periodic_effect` ends with a pointer) |
//! | `uinput_ff_upload` | 104 | request 0, answer 4, effect 8, old effect 56 |
//! | `uinput_ff_erase` | 12 | request 0, answer 4, effect 8 |

/// Whether the layout above holds, and ioctls are numbered as [`Request::code`] does.
pub const IS_KNOWN: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// The bytes of an `input_event`.
pub const EVENT: usize = 24;
/// The bytes of a `uinput_ff_upload`.
pub const UPLOAD: usize = 104;
/// The bytes of a `uinput_ff_erase`.
pub const ERASE: usize = 12;

/// `EV_SYN`: ends the events of one moment.
pub const EV_SYN: u16 = 0x00;
/// `EV_KEY`.
pub const EV_KEY: u16 = 0x01;
/// `EV_ABS`.
pub const EV_ABS: u16 = 0x03;
/// `EV_FF`: an effect is played; its code is the effect's number.
pub const EV_FF: u16 = 0x15;
/// `EV_UINPUT`: a program waits for an answer.
pub const EV_UINPUT: u16 = 0x0101;
/// The code of `EV_UINPUT` for an effect that is to be stored.
pub const UI_FF_UPLOAD: u16 = 1;
/// The code of `EV_UINPUT` for an effect that is to be removed.
pub const UI_FF_ERASE: u16 = 2;
/// `FF_RUMBLE`: two motors of different weight.
pub const FF_RUMBLE: u16 = 0x50;

/// `BUS_USB`.
const BUS_USB: u16 = 0x03;
/// Microsoft's number as a vendor of USB devices.
const VENDOR: u16 = 0x045e;
/// The product number of the wired controller of the Xbox 360.
const PRODUCT: u16 = 0x028e;
/// The version that the wired controller of the Xbox 360 states.
const VERSION: u16 = 0x0110;
/// The name that Linux' driver `xpad` gives the controller.
const NAME: &[u8] = b"Microsoft X-Box 360 pad";
/// The number of effects that can be stored at once, as many as `xpad` has room for.
pub const EFFECTS: u32 = 16;

/// A request to the kernel.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Request {
    /// `UI_DEV_CREATE`.
    Create,
    /// `UI_DEV_DESTROY`.
    Destroy,
    /// `UI_DEV_SETUP`, with a `uinput_setup`.
    Setup,
    /// `UI_ABS_SETUP`, with a `uinput_abs_setup`.
    AxisSetup,
    /// `UI_SET_EVBIT`, with a type of events.
    EventBit,
    /// `UI_SET_KEYBIT`, with a button.
    KeyBit,
    /// `UI_SET_FFBIT`, with a kind of effects.
    EffectBit,
    /// `UI_BEGIN_FF_UPLOAD`, with a `uinput_ff_upload` that is filled in.
    BeginUpload,
    /// `UI_END_FF_UPLOAD`, with the filled-in `uinput_ff_upload` and the answer.
    EndUpload,
    /// `UI_BEGIN_FF_ERASE`, with a `uinput_ff_erase` that is filled in.
    BeginErase,
    /// `UI_END_FF_ERASE`, with the filled-in `uinput_ff_erase` and the answer.
    EndErase,
}

/// The argument of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Argument {
    /// The request has no argument.
    None,
    /// The argument is a number.
    Number,
    /// The argument is this many bytes that the kernel reads, and writes where it answers.
    Bytes(usize),
}

impl Request {
    /// The argument of this request.
    #[must_use]
    pub const fn argument(self) -> Argument {
        match self {
            Self::Create | Self::Destroy => Argument::None,
            Self::EventBit | Self::KeyBit | Self::EffectBit => Argument::Number,
            Self::Setup => Argument::Bytes(92),
            Self::AxisSetup => Argument::Bytes(28),
            Self::BeginUpload | Self::EndUpload => Argument::Bytes(UPLOAD),
            Self::BeginErase | Self::EndErase => Argument::Bytes(ERASE),
        }
    }

    /// The request's number for `ioctl` (`asm-generic/ioctl.h`): two bits say that the
    /// kernel reads (1), writes (2) or does both, 14 hold the size, 8 the letter `U`, and 8
    /// the number among uinput's requests.
    #[must_use]
    pub const fn code(self) -> u32 {
        let (direction, number) = match self {
            Self::Create => (0, 1),
            Self::Destroy => (0, 2),
            Self::Setup => (1, 3),
            Self::AxisSetup => (1, 4),
            Self::EventBit => (1, 100),
            Self::KeyBit => (1, 101),
            Self::EffectBit => (1, 107),
            Self::BeginUpload => (3, 200),
            Self::EndUpload => (1, 201),
            Self::BeginErase => (3, 202),
            Self::EndErase => (1, 203),
        };
        let size = match self.argument() {
            Argument::None => 0,
            // The headers declare these with an `int`, but it is passed by value, without a
            // pointer.
            Argument::Number => 4,
            #[expect(clippy::cast_possible_truncation, reason = "at most 104")]
            Argument::Bytes(size) => size as u32,
        };
        direction << 30 | size << 16 | (b'U' as u32) << 8 | number
    }
}

/// An `input_event`. The kernel sets the time of the events that it gets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Event {
    /// `EV_…`.
    pub kind: u16,
    /// The code of the key, axis or effect.
    pub code: u16,
    /// The value of the key, axis or effect.
    pub value: i32,
}

impl Event {
    /// The event as the kernel's structure.
    #[must_use]
    pub fn to_bytes(self) -> [u8; EVENT] {
        let mut bytes = [0; EVENT];
        put(&mut bytes, 16, self.kind.to_ne_bytes());
        put(&mut bytes, 18, self.code.to_ne_bytes());
        put(&mut bytes, 20, self.value.to_ne_bytes());
        bytes
    }

    /// Reads an event from the kernel's structure.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; EVENT]) -> Self {
        Self {
            kind: u16::from_ne_bytes(get(bytes, 16)),
            code: u16::from_ne_bytes(get(bytes, 18)),
            value: i32::from_ne_bytes(get(bytes, 20)),
        }
    }
}

/// A `uinput_setup`: the identity of the gamepad.
#[must_use]
pub fn setup() -> [u8; 92] {
    let mut bytes = [0; 92];
    for (at, value) in [(0, BUS_USB), (2, VENDOR), (4, PRODUCT), (6, VERSION)] {
        put(&mut bytes, at, value.to_ne_bytes());
    }
    bytes[8..8 + NAME.len()].copy_from_slice(NAME);
    put(&mut bytes, 88, EFFECTS.to_ne_bytes());
    bytes
}

/// An axis and its range.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Axis {
    /// `ABS_…`.
    pub code: u16,
    /// The value at one end.
    pub least: i32,
    /// The value at the other end.
    pub most: i32,
    /// The size of changes that may be noise.
    pub fuzz: i32,
    /// The distance from the middle within which the axis is at rest.
    pub flat: i32,
}

impl Axis {
    /// The axis as a `uinput_abs_setup`.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 28] {
        let mut bytes = [0; 28];
        put(&mut bytes, 0, self.code.to_ne_bytes());
        for (at, value) in [
            (8, self.least),
            (12, self.most),
            (16, self.fuzz),
            (20, self.flat),
        ] {
            put(&mut bytes, at, value.to_ne_bytes());
        }
        bytes
    }
}

/// The fields of a `uinput_ff_upload` that this crate uses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Upload {
    /// `FF_…`.
    pub kind: u16,
    /// The effect's number from this request on.
    pub id: i16,
    /// The length in milliseconds; 0 if the effect runs until it is stopped.
    pub length: u16,
    /// The milliseconds until the effect begins.
    pub delay: u16,
    /// The strength of the heavy motor, if the effect is a rumble.
    pub strong: u16,
    /// The strength of the light motor, if the effect is a rumble.
    pub weak: u16,
}

impl Upload {
    /// Reads the fields from the kernel's structure.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; UPLOAD]) -> Self {
        let field = |at: usize| u16::from_ne_bytes(get(bytes, 8 + at));
        Self {
            kind: field(0),
            id: i16::from_ne_bytes(get(bytes, 8 + 2)),
            length: field(10),
            delay: field(12),
            strong: field(16),
            weak: field(18),
        }
    }
}

/// An empty `uinput_ff_upload` or `uinput_ff_erase` for the request with this number.
#[must_use]
pub fn request<const SIZE: usize>(number: i32) -> [u8; SIZE] {
    let mut bytes = [0; SIZE];
    put(&mut bytes, 0, number.to_ne_bytes());
    bytes
}

/// Writes the answer into a `uinput_ff_upload` or `uinput_ff_erase`: 0, or an error as a
/// number below zero.
pub fn answer(bytes: &mut [u8], answer: i32) {
    put(bytes, 4, answer.to_ne_bytes());
}

/// The number of the effect that a `uinput_ff_erase` removes.
#[must_use]
pub fn erased(bytes: &[u8; ERASE]) -> u32 {
    u32::from_ne_bytes(get(bytes, 8))
}

/// The bytes from `at` on; all places in this file are within their structures.
fn get<const SIZE: usize>(bytes: &[u8], at: usize) -> [u8; SIZE] {
    let mut field = [0; SIZE];
    field.copy_from_slice(&bytes[at..at + SIZE]);
    field
}

fn put<const SIZE: usize>(bytes: &mut [u8], at: usize, field: [u8; SIZE]) {
    bytes[at..at + SIZE].copy_from_slice(&field);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are what a C compiler makes of the macros on `x86_64`.
    #[test]
    fn requests_have_the_numbers_of_the_headers() {
        for (request, code) in [
            (Request::Create, 0x5501),
            (Request::Destroy, 0x5502),
            (Request::Setup, 0x405c_5503),
            (Request::AxisSetup, 0x401c_5504),
            (Request::EventBit, 0x4004_5564),
            (Request::KeyBit, 0x4004_5565),
            (Request::EffectBit, 0x4004_556b),
            (Request::BeginUpload, 0xc068_55c8),
            (Request::EndUpload, 0x4068_55c9),
            (Request::BeginErase, 0xc00c_55ca),
            (Request::EndErase, 0x400c_55cb),
        ] {
            assert_eq!(request.code(), code, "{request:?}: {:#x}", request.code());
        }
    }

    #[test]
    fn an_event_is_an_input_event() {
        let event = Event {
            kind: 0x0102,
            code: 0x0304,
            value: -2,
        };
        let bytes = event.to_bytes();
        assert_eq!(bytes[..16], [0; 16]);
        let fields = [
            0x0102_u16.to_ne_bytes(),
            0x0304_u16.to_ne_bytes(),
            [0xfe, 0xff],
            [0xff, 0xff],
        ];
        if cfg!(target_endian = "little") {
            assert_eq!(bytes[16..], fields.concat());
        }
        assert_eq!(Event::from_bytes(&bytes), event);
    }

    #[test]
    fn the_gamepad_is_one_that_games_know() {
        let bytes = setup();
        let fields = [3_u16, 0x045e, 0x028e, 0x0110].map(u16::to_ne_bytes);
        assert_eq!(bytes[..8], fields.concat());
        assert_eq!(&bytes[8..32], b"Microsoft X-Box 360 pad\0");
        assert!(bytes[32..88].iter().all(|&byte| byte == 0));
        assert_eq!(bytes[88..], 16_u32.to_ne_bytes());
    }

    #[test]
    fn an_axis_is_a_uinput_abs_setup() {
        let axis = Axis {
            code: 5,
            least: -7,
            most: 8,
            fuzz: 9,
            flat: 10,
        };
        let numbers = [0, -7, 8, 9, 10, 0].map(i32::to_ne_bytes);
        let bytes = axis.to_bytes();
        assert_eq!(bytes[..2], 5_u16.to_ne_bytes());
        assert_eq!(bytes[2..4], [0, 0]);
        assert_eq!(bytes[4..], numbers.concat());
    }

    #[test]
    fn an_effect_is_read_from_its_place() {
        let mut bytes = request::<UPLOAD>(77);
        assert_eq!(bytes[..4], 77_i32.to_ne_bytes());
        for (at, value) in [
            (8, FF_RUMBLE),
            (10, 3),
            (18, 250),
            (20, 40),
            (24, 0xffff),
            (26, 0x8000),
        ] {
            put(&mut bytes, at, u16::to_ne_bytes(value));
        }
        let upload = Upload {
            kind: FF_RUMBLE,
            id: 3,
            length: 250,
            delay: 40,
            strong: 0xffff,
            weak: 0x8000,
        };
        assert_eq!(Upload::from_bytes(&bytes), upload);
        answer(&mut bytes, -22);
        assert_eq!(bytes[4..8], (-22_i32).to_ne_bytes());
        let mut bytes = request::<ERASE>(1);
        put(&mut bytes, 8, 9_u32.to_ne_bytes());
        assert_eq!(erased(&bytes), 9);
    }
}
