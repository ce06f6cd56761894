//! The settings of a host.

use std::net::IpAddr;
use std::path::PathBuf;

use mimosa_facts::{Complexity, EntropyCoding, Limits};
use mimosa_protocol::pairing::Allowed;
use mimosa_stream::{ProtectionKind, USUAL_CARRY};
use mimosa_units::{Rate, TimeDelta};
use mimosa_video::Size;

use crate::advertised::Advertised;
use crate::element::ElementName;
use crate::relay::RelaySettings;

/// All settings of a host.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Addresses to which both ports are bound.
    pub bind: Vec<IpAddr>,
    /// TCP port of page, signalling and metrics; zero for any free port.
    pub http_port: u16,
    /// UDP port of everything else; zero for any free port.
    pub udp_port: u16,
    /// Places beside these addresses at which others reach the host; at most 16.
    pub advertise: Vec<Advertised>,
    /// Whether a host beyond loopback is announced in its network.
    pub announces: bool,
    /// Whether the router of the host's network is asked to forward both ports.
    pub forwards_ports: bool,
    /// Which connections are encrypted, and with which certificate.
    pub tls: TlsSettings,
    /// Other sites whose pages may begin sessions, e.g. `https://example.org`.
    pub allowed_origins: Vec<String>,
    /// Whether everybody may play who can reach the host, which only programs on its own machine
    /// can: all addresses in `bind` are loopback ones.
    pub is_open: bool,
    /// Token that a player has to know. `None`: the host makes one unless it is open.
    pub token: Option<Token>,
    /// Token that a viewer has to know. `None`: the host makes one unless it is open.
    pub view_token: Option<Token>,
    /// What devices may do that pair with a PIN; `None`: devices cannot pair.
    pub pair: Option<Allowed>,
    /// Most viewers beside the player.
    pub viewers: Limit,
    /// The source of pictures.
    pub source: SourceSettings,
    /// Size of the demo's pictures, and of a private X server's screen.
    pub size: Size,
    /// Highest frame rate, in frames a second.
    pub frames_per_second: u32,
    /// Highest frame rate for viewers, in frames a second.
    pub viewer_frames_per_second: u32,
    /// How frames are coded.
    pub encoder: EncoderSettings,
    /// What sound is sent.
    pub sound: SoundSettings,
    /// Which input devices the player has beside keys and pointer.
    pub input: InputSettings,
    /// The relay by which host and players reach each other where nothing else does, if there is one.
    pub relay: Option<RelaySettings>,
    /// URL of a document with the newest version; `None`: nobody is asked.
    pub updates: Option<String>,
    /// How the bitrate adapts to the network.
    pub controller: ControllerSettings,
    /// Age of a frame from which its packets are no longer sent again. `None`: they are sent again
    /// as long as that is sooner than a frame without a reference to it.
    pub retransmission_deadline: Option<TimeDelta>,
    /// How frames are protected against loss.
    pub protection: ProtectionKind,
    /// Time from its hand-over within which a frame has to be whole.
    pub repair_deadline: TimeDelta,
    /// Delay from which a frame is no longer waited for.
    pub presentation_deadline: TimeDelta,
    /// Packets with gaps shorter than this leave in groups of two to twelve.
    pub shortest_gap: TimeDelta,
    /// Folder for recordings of sessions.
    pub record: Option<PathBuf>,
    /// Folder for pictures before encoding, with the coded stream.
    pub record_pictures: Option<PathBuf>,
    /// Most frames of a session whose pictures are recorded.
    pub record_pictures_limit: u32,
    /// Filter for the log, in the form of `tracing`, e.g. `info,mimosa=debug`.
    pub log: String,
    /// Format of the log.
    pub log_format: LogFormat,
}

/// HTTPS: on which addresses, and with which certificate.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TlsSettings {
    /// Which connections are encrypted.
    pub mode: TlsMode,
    /// The certificate and its key; `None`: the host makes its own.
    pub files: Option<TlsFiles>,
    /// Names for which an authority gives a certificate beside the host's own.
    pub acme: Option<AcmeSettings>,
}

/// How an authority gives a certificate (RFC 8555). Its terms of service are agreed to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AcmeSettings {
    /// The names of the DNS, in lower case; at least one and at most 16.
    pub names: Vec<String>,
    /// URL of the authority's directory.
    pub directory: String,
    /// The mail address to which the authority may write.
    pub contact: Option<String>,
    /// Path of the certificates by which the directory is trusted; `None`: those of the system.
    pub root: Option<PathBuf>,
}

/// Which connections are encrypted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum TlsMode {
    /// All but those from this machine itself.
    #[default]
    Auto,
    /// All.
    On,
    /// None.
    Off,
}

/// Files in PEM.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TlsFiles {
    /// Path of the certificates: the host's own, then those of its issuers.
    pub certificate: PathBuf,
    /// Path of the private key.
    pub key: PathBuf,
}

/// A number of sessions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limit(pub u32);

/// A secret of at least 16 characters that are allowed in a URL. `Debug` does not print it.
#[derive(Clone, Eq, PartialEq)]
pub struct Token(String);

impl Token {
    /// The token in `text`; `None` unless it has 16 to 256 letters, digits, `-` and `_`.
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

    /// The secret itself, for the URL that is printed, and for comparisons.
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

/// The source of pictures.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum SourceSettings {
    /// The built-in scene.
    Demo,
    /// An X display that exists already.
    X11 {
        /// Name of the display, e.g. `:0`; `None` for the one in `DISPLAY`.
        display: Option<String>,
        /// What to capture of the display.
        target: Target,
    },
    /// A command that is run in a private X server.
    Launch {
        /// The command, for a shell.
        command: String,
    },
}

/// What to capture of an X display.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target {
    /// The whole screen.
    Screen,
    /// The window with this number.
    Window(u32),
    /// The largest window whose title contains this text.
    Title(String),
}

/// How much work goes into each frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Work {
    /// Every frame gets this complexity level.
    Always(Complexity),
    /// A higher level for frames that would be late because of their size.
    Adaptive,
}

/// How a frame's size is predicted from its picture.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SizePrediction {
    /// The size is predicted from the difference that a motion search leaves.
    Motion,
    /// The size is predicted from the difference in place.
    Difference,
}

/// How frames are coded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncoderSettings {
    /// The encoder.
    pub name: EncoderName,
    /// The GStreamer element that encodes; if empty, the first for hardware that works.
    pub element: ElementName,
    /// How much work goes into each frame.
    pub work: Work,
    /// Number of frames over whose budgets the sizes of frames may vary; 1 means that each frame
    /// has its own budget.
    pub buffer_frames: u32,
    /// How frames' sizes are predicted, where they may vary.
    pub size_prediction: SizePrediction,
    /// Whether pixels or frames are reduced when the bitrate is too low for them.
    pub adapts_detail: bool,
    /// Whether there is less to do for each frame when a processor cannot keep up.
    pub relieves: bool,
    /// How H.264's decisions become bits, where the encoder has a choice; `None` for what suits the bitrate.
    pub entropy: Option<EntropyCoding>,
    /// The lowest quantiser, from 1 to 51: a finer picture would look the same and take more bits.
    pub finest_quantiser: u8,
    /// Number of slices of a frame, each of which is encoded by its own thread.
    pub threads: u32,
    /// Whether a frame may have what earlier frames left of their budgets.
    pub sizes: FrameSizes,
    /// The most parts in which a frame leaves the encoder while it works on the rest, from 1 to 16.
    pub parts: u8,
}

impl EncoderSettings {
    /// The most parts in which frames leave the encoder: what has left cannot be encoded again, so that
    /// strict sizes have one part, and the slices of several threads are done together.
    #[must_use]
    pub const fn most_parts(&self) -> u8 {
        match self.sizes {
            FrameSizes::Carried if self.threads == 1 => self.parts,
            FrameSizes::Carried | FrameSizes::Strict => 1,
        }
    }
}

/// How frames keep to their budgets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum FrameSizes {
    /// A frame may have what earlier frames left of their budgets, up to a quarter of its own.
    #[default]
    Carried,
    /// No frame may have more than its budget.
    Strict,
}

impl FrameSizes {
    /// The most that a frame may have beyond its budget, in budgets.
    #[must_use]
    pub const fn carry(self) -> f64 {
        match self {
            Self::Carried => USUAL_CARRY,
            Self::Strict => 0.0,
        }
    }
}

/// An encoder.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum EncoderName {
    /// The best encoder that works on this machine.
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
    /// All encoders.
    pub const ALL: [Self; 5] = [
        Self::Auto,
        Self::X264,
        Self::OpenH264,
        Self::SvtAv1,
        Self::GStreamer,
    ];

    /// The encoder's name in settings.
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

/// What sound is sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SoundSettings {
    /// Whether sound is sent, if the source has any.
    pub is_on: bool,
    /// A sink of the user to record instead.
    pub sink: Option<String>,
    /// Bitrate of the coded sound.
    pub bitrate: Rate,
}

/// Which input devices the player has beside keys and pointer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InputSettings {
    /// How gamepads reach the game.
    pub gamepads: GamepadSettings,
    /// Whether text copied on one side can be pasted on the other.
    pub clipboard: bool,
}

/// How a player's gamepads reach the game.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum GamepadSettings {
    /// As kernel devices where the system permits, and as keys otherwise.
    #[default]
    Auto,
    /// As kernel devices, made through `/dev/uinput`.
    Uinput,
    /// As the keys that their buttons stand for.
    Keys,
    /// Gamepads are ignored.
    Off,
}

impl GamepadSettings {
    /// All ways.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Uinput, Self::Keys, Self::Off];

    /// The way's name in settings.
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

/// How the bitrate adapts to the network.
#[derive(Clone, Debug, PartialEq)]
pub struct ControllerSettings {
    /// Name of the controller.
    pub name: String,
    /// Parameters of the controller, as in a scenario's `[flow.params]`.
    pub params: toml::Table,
    /// Name of the pacing policy; `controller` keeps the controller's own pacing.
    pub pacer: String,
    /// Least, initial and greatest bitrate of the player's session.
    pub limits: Limits,
    /// Greatest bitrate of each viewer's session.
    pub viewer_max: Rate,
    /// Bitrate for a viewer whose player sends no reports.
    pub blind_rate: Rate,
}

impl ControllerSettings {
    /// Least, initial and greatest bitrate of a viewer's session.
    #[must_use]
    pub fn viewer_limits(&self) -> Limits {
        let bounded = |rate: Rate| rate.min(self.viewer_max);
        let limits = self.limits;
        let [min, start, max] = [limits.min(), limits.start(), limits.max()].map(bounded);
        Limits::new(min, start, max)
    }
}

/// The format of the log.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum LogFormat {
    /// Lines of text.
    #[default]
    Text,
    /// A JSON object on each line.
    Json,
}
