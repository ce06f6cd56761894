//! What a host needs to know, whoever told it.

use std::net::IpAddr;
use std::path::PathBuf;

use mimosa_facts::{Complexity, Limits};
use mimosa_stream::ProtectionKind;
use mimosa_units::{Rate, TimeDelta};
use mimosa_video::Size;

use crate::element::ElementName;

/// Everything a host is told.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Addresses that both ports are bound to.
    pub bind: Vec<IpAddr>,
    /// TCP port of page, signalling and metrics; zero for a free one.
    pub http_port: u16,
    /// UDP port of everything else; zero for a free one.
    pub udp_port: u16,
    /// Other sites whose pages may begin sessions, as `https://example.org`.
    pub allowed_origins: Vec<String>,
    /// What a player must show. `None`: made up when it is needed, which is when
    /// an address is not a loopback one.
    pub token: Option<Token>,
    /// What somebody who may only watch must show; likewise.
    pub view_token: Option<Token>,
    /// How many may watch beside the player.
    pub viewers: Limit,
    /// Where pictures come from.
    pub source: SourceSettings,
    /// Size of the demonstration's picture and of a private X server.
    pub size: Size,
    /// Most frames in a second.
    pub frames_per_second: u32,
    /// Most frames in a second for each of those who watch.
    pub viewer_frames_per_second: u32,
    /// How frames are coded.
    pub encoder: EncoderSettings,
    /// What is heard.
    pub sound: SoundSettings,
    /// What the player has beside keys and pointer.
    pub input: InputSettings,
    /// How the bitrate follows the network.
    pub controller: ControllerSettings,
    /// A lost packet is sent again while its frame is younger than this; `None`: as long as
    /// that is sooner than a frame that does without it.
    pub retransmission_deadline: Option<TimeDelta>,
    /// How frames are kept whole though packets are lost.
    pub protection: ProtectionKind,
    /// When they have to be, from their hand-over on.
    pub repair_deadline: TimeDelta,
    /// A frame that would come later than this is not waited for.
    pub presentation_deadline: TimeDelta,
    /// Packets closer together than this leave in groups of two to four.
    pub shortest_gap: TimeDelta,
    /// Folder for recordings of sessions.
    pub record: Option<PathBuf>,
    /// Folder for pictures before encoding, with what became of them.
    pub record_pictures: Option<PathBuf>,
    /// Most frames of a session of which pictures are kept.
    pub record_pictures_limit: u32,
    /// What is logged: a filter as `tracing` has it, e.g. `info,mimosa=debug`.
    pub log: String,
    /// How it is logged.
    pub log_format: LogFormat,
}

/// A number of sessions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limit(pub u32);

/// A secret of at least 16 characters that fit into a URL. Never printed by
/// `Debug`.
#[derive(Clone, Eq, PartialEq)]
pub struct Token(String);

impl Token {
    /// A token, unless it is shorter than 16 characters or has others than
    /// letters, digits, `-` and `_`.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        (text.len() >= 16 && text.len() <= 256 && text.chars().all(fits))
            .then(|| Self(text.to_owned()))
    }

    /// A token of these bits, in hexadecimal.
    #[must_use]
    pub fn from_bits(bits: u128) -> Self {
        Self(format!("{bits:032x}"))
    }

    /// The secret itself: for the URL that is printed, and for comparison.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Where pictures come from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SourceSettings {
    /// The built-in scene.
    Demo,
    /// An X display that runs already; `None` for the one in `DISPLAY`.
    X11 {
        /// Its name, e.g. `:0`.
        display: Option<String>,
        /// What of it.
        target: Target,
    },
    /// A command, run in a private X server.
    Launch {
        /// For the shell.
        command: String,
    },
}

/// What of an X display.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target {
    /// All of it.
    Screen,
    /// The window with this number.
    Window(u32),
    /// The largest window whose title has this in it.
    Title(String),
}

/// How much work goes into frames.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Work {
    /// As much into each.
    Always(Complexity),
    /// More into those that would be late for their size.
    Adaptive,
}

/// How the size of a frame is predicted from its picture.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SizePrediction {
    /// By what is new of it after a search for motion.
    Motion,
    /// By what differs in place.
    Difference,
}

/// How frames are coded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncoderSettings {
    /// What codes them.
    pub name: EncoderName,
    /// Which element GStreamer codes with; none: the first of hardware that works.
    pub element: ElementName,
    /// How much work goes into each frame.
    pub work: Work,
    /// How many frames' budgets the sizes of frames are evened out over; one: each has
    /// its own.
    pub buffer_frames: u32,
    /// How sizes are predicted where they differ.
    pub size_prediction: SizePrediction,
    /// Whether a stream has fewer pixels or frames when it has too few bits for them.
    pub adapts_detail: bool,
    /// The lowest quantiser in use: a picture that is as good takes no more bits.
    pub finest_quantiser: u8,
    /// Slices coded side by side, each by a thread of its own.
    pub threads: u32,
}

/// What codes frames.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum EncoderName {
    /// The best that works here.
    #[default]
    Auto,
    /// libx264.
    X264,
    /// OpenH264.
    OpenH264,
    /// SVT-AV1.
    SvtAv1,
    /// An element of GStreamer.
    GStreamer,
}

impl EncoderName {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Auto,
        Self::X264,
        Self::OpenH264,
        Self::SvtAv1,
        Self::GStreamer,
    ];

    /// As it is written in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::X264 => "x264",
            Self::OpenH264 => "openh264",
            Self::SvtAv1 => "svt-av1",
            Self::GStreamer => "gstreamer",
        }
    }
}

/// What is heard.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SoundSettings {
    /// There is sound where there is something to hear.
    pub is_on: bool,
    /// A sink of the user's that is recorded.
    pub sink: Option<String>,
    /// The bitrate of Opus.
    pub bitrate: Rate,
}

/// What the player has beside keys and pointer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InputSettings {
    /// What becomes of gamepads.
    pub gamepads: GamepadSettings,
    /// What is copied on one side can be pasted on the other.
    pub clipboard: bool,
}

/// What a player's gamepads are to the game.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum GamepadSettings {
    /// Devices where the kernel lets us make them, and otherwise keys.
    #[default]
    Auto,
    /// Devices of the kernel, made through `/dev/uinput`.
    Uinput,
    /// Keys that they press.
    Keys,
    /// Nothing.
    Off,
}

impl GamepadSettings {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Uinput, Self::Keys, Self::Off];

    /// As it is written in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Uinput => "uinput",
            Self::Keys => "keys",
            Self::Off => "off",
        }
    }
}

/// How the bitrate follows the network.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerSettings {
    /// Name of the controller.
    pub name: String,
    /// Its parameters, as in a scenario's `[flow.params]`.
    pub params: toml::Table,
    /// Name of the pacer, `controller` for the controller's own wish.
    pub pacer: String,
    /// Bounds of the bitrate, and where it begins.
    pub limits: Limits,
    /// Bitrate for a viewer whose player reports nothing.
    pub blind_rate: Rate,
}

/// How the log is written.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// An object for each line.
    Json,
}
