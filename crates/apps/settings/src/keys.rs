//! The table of all keys.

use crate::key::{Key, Shape};

/// Declares each key with its comment, shape, place in the file, default as a flag takes it,
/// placeholder, and what the value must be.
macro_rules! keys {
    ($($group:literal { $(
        #[doc = $comment:literal]
        $constant:ident: $shape:ident $path:literal $(as $name:literal)? = $default:literal,
            $placeholder:literal, $must:literal;
    )* })*) => {
        $($(
            #[doc = $comment]
            pub static $constant: Key = Key {
                path: $path,
                name: keys!(@name $path $($name)?),
                shape: Shape::$shape,
                default: $default,
                placeholder: $placeholder,
                must: $must,
                comment: $comment.trim_ascii(),
                group: $group,
            };
        )*)*

        /// All keys, in the order of the file.
        pub static KEYS: &[&Key] = &[$($(&$constant,)*)*];
    };
    // The place in the file is the key's name, unless another place is given.
    (@name $path:literal) => { $path };
    (@name $path:literal $name:literal) => { $name };
}

keys! {
    "Network" {
        /// Addresses that both ports are bound to; `0.0.0.0` and `::` stand for all.
        BIND: List "bind" = "127.0.0.1,::1",
            "ADDRESS", "a list of different IP addresses, e.g. `127.0.0.1`, and not empty";
        /// TCP port of page, signalling and metrics; 0 for a free one.
        HTTP_PORT: Number "http_port" = "8080",
            "PORT", "a whole number from 0 to 65535";
        /// UDP port of video, input and feedback; 0 for a free one.
        UDP_PORT: Number "udp_port" = "8081",
            "PORT", "a whole number from 0 to 65535";
        /// Addresses and names from which a router or a container engine forwards.
        ADVERTISE: List "advertise" = "",
            "PLACE", "a list of addresses and names that others reach, each perhaps with a UDP port, e.g. `203.0.113.7` or `play.example.org:4000`, at most 16";
        /// Announce the host in its network, beyond loopback: `on` or `off`.
        ANNOUNCE: Text "announce" = "on",
            "SWITCH", "`on` or `off`";
        /// Have the router forward both ports (PCP, NAT-PMP, UPnP): `on` or `off`.
        FORWARD_PORTS: Text "forward_ports" = "off",
            "SWITCH", "`on` or `off`";
        /// HTTPS on the HTTP port: `auto`, beyond loopback; `on`, everywhere; or `off`.
        TLS: Text "tls" = "auto",
            "SWITCH", "`auto`, `on` or `off`";
        /// Certificates, PEM, the host's own first; without them it makes one itself.
        TLS_CERTIFICATE: Text "tls_certificate" = "",
            "FILE", "the path of a file";
        /// The private key of the first of these certificates, PEM.
        TLS_KEY: Text "tls_key" = "",
            "FILE", "the path of a file";
        /// Names for which an authority gives a certificate (ACME); `acme_terms` too.
        ACME: List "acme" = "",
            "NAME", "a list of names of the DNS, e.g. `den.example.org`, at most 16";
        /// Agree to the terms of service of the authority of `acme`: `on` or `off`.
        ACME_TERMS: Text "acme_terms" = "off",
            "SWITCH", "`on` or `off`";
        /// The authority's directory, by default that of Let's Encrypt.
        ACME_DIRECTORY: Text "acme_directory" = "https://acme-v02.api.letsencrypt.org/directory",
            "URL", "a URL that begins with `https://`";
        /// The mail address to which the authority may write.
        ACME_CONTACT: Text "acme_contact" = "",
            "ADDRESS", "a mail address, e.g. `me@example.org`";
        /// Certificates, PEM, by which a directory of your own is trusted.
        ACME_ROOT: Text "acme_root" = "",
            "FILE", "the path of a file";
        /// Whom to ask daily for the newest version, which is told and not fetched.
        UPDATES: Text "updates" = "",
            "URL", "a URL that begins with `https://`";
    }
    "Access" {
        /// Other sites whose pages may begin sessions, e.g. `https://example.org`.
        ALLOWED_ORIGINS: List "allowed_origins" = "",
            "ORIGIN", "a list of origins in lower case and without a path, e.g. `https://example.org`";
        /// What a player must know: made up, or `off` to ask nobody (on loopback only).
        TOKEN: Secret "token" = "",
            "TOKEN", "16 to 256 letters, digits, `-` and `_`, or `off`";
        /// What somebody who may only watch must know: made up when not set.
        VIEW_TOKEN: Secret "view_token" = "",
            "TOKEN", "16 to 256 letters, digits, `-` and `_`";
        /// What a device may do that pairs by a PIN: `play` or `view`; `off`: none pairs.
        PAIR: Text "pair" = "play",
            "WHAT", "`play`, `view` or `off`";
        /// How many may watch beside the player.
        VIEWERS: Number "viewers" = "4",
            "NUMBER", "a whole number from 0 to 100";
    }
    "Pictures" {
        /// Where pictures come from: `demo`, the built-in scene, or `x11`, an X display.
        SOURCE: Text "source" = "demo",
            "SOURCE", "`demo` or `x11`";
        /// The X display, e.g. `:0`; without it, the one in `$DISPLAY`.
        DISPLAY: Text "display" = "",
            "DISPLAY", "the name of an X display, e.g. `:0`";
        /// The X window with this number, not the whole display, e.g. `0x1a00003`.
        WINDOW: Number "window" = "",
            "WINDOW", "the number of a window as xwininfo shows it, e.g. 0x1a00003";
        /// The largest X window whose title has this in it.
        TITLE: Text "title" = "",
            "TEXT", "a part of a window's title";
        /// A command for the shell, run in a private X server; wins over `source`.
        LAUNCH: Text "launch" = "",
            "COMMAND", "a command for the shell";
        /// Size of the scene's picture and of the private X server.
        SIZE: Text "size" = "1280x720",
            "WIDTHxHEIGHT", "WIDTHxHEIGHT, both even, from 16x16 to 8192x8192, e.g. `1280x720`";
        /// Most frames in a second.
        FRAMES_PER_SECOND: Number "frames_per_second" = "60",
            "NUMBER", "a whole number from 1 to 240";
        /// Most frames in a second for each of those who watch.
        VIEWER_FRAMES_PER_SECOND: Number "viewer_frames_per_second" = "30",
            "NUMBER", "a whole number from 1 to 240";
    }
    "Delivery" {
        /// What is lost is sent again, made good by repair packets, or both as needed.
        PROTECTION: Text "protection" = "joint",
            "NAME", "`retransmission`, `fec` or `joint`";
        /// When a frame has to be whole: repair packets where sending again is later.
        REPAIR_DEADLINE: Text "repair_deadline" = "50ms",
            "TIME", "a duration with its unit from 1ms to 10s, e.g. `50ms`";
        /// How old a frame is still sent again; `auto`: as long as that is sooner.
        RETRANSMISSION_DEADLINE: Text "retransmission_deadline" = "auto",
            "TIME", "`auto` or a duration with its unit from 0s to 2s, e.g. `100ms`";
        /// A frame that would come later than this is not waited for.
        PRESENTATION_DEADLINE: Text "presentation_deadline" = "100ms",
            "TIME", "a duration with its unit from 1ms to 10s, e.g. `100ms`";
        /// Packets closer together than this leave in groups of two to twelve.
        SHORTEST_GAP: Text "shortest_gap" = "500us",
            "TIME", "a duration with its unit from 0s to 10ms, e.g. `500us`";
    }
    "Records" {
        /// Folder for recordings of sessions.
        RECORD: Text "record" = "",
            "FOLDER", "the path of a folder";
        /// Folder for pictures before encoding, 83 MB a second, with the coded stream.
        RECORD_PICTURES: Text "record_pictures" = "",
            "FOLDER", "the path of a folder";
        /// Most frames of a session that `record_pictures` keeps, from its beginning.
        RECORD_PICTURES_LIMIT: Number "record_pictures_limit" = "600",
            "FRAMES", "a whole number from 1 to 1000000";
        /// What is logged, e.g. `debug`, or `warn,mimosa_host=debug` for each module.
        LOG: Text "log" = "info",
            "FILTER", "a filter, e.g. `info` or `warn,mimosa_host=debug`";
        /// How it is logged: `text`, lines for people, or `json`, an object each.
        LOG_FORMAT: Text "log_format" = "text",
            "FORMAT", "`text` or `json`";
    }
    "Input" {
        /// Gamepads are `auto`: devices of the kernel (`uinput`) or `keys`; or `off`.
        GAMEPADS: Text "input.gamepads" as "gamepads" = "auto",
            "NAME", "`auto`, `uinput`, `keys` or `off`";
        /// What is copied on one side can be pasted on the other: `on` or `off`.
        CLIPBOARD: Text "input.clipboard" as "clipboard" = "off",
            "SWITCH", "`on` or `off`";
    }
    "Encoder" {
        /// What codes the frames: `auto`, the best that works here, or one by its name.
        ENCODER: Text "encoder.name" as "encoder" = "auto",
            "NAME", "`auto` or the name of an encoder";
        /// The element of GStreamer that codes; without it the first hardware that works.
        ENCODER_ELEMENT: Text "encoder.element" as "encoder_element" = "",
            "NAME", "the name of an element, up to 31 letters and digits, e.g. `vah264enc`";
        /// Work for a frame: `c0`, `c0+`, `c1`, `c2`; `adaptive`: more for large ones.
        ENCODER_COMPLEXITY: Text "encoder.complexity" as "encoder_complexity" = "c0",
            "LEVEL", "`c0`, `c0+`, `c1`, `c2` or `adaptive`";
        /// Sizes differ as far as a buffer of so many frames evens out; 1: not.
        ENCODER_BUFFER_FRAMES: Number "encoder.buffer_frames" as "encoder_buffer_frames" = "1",
            "NUMBER", "a whole number from 1 to 60";
        /// How sizes are foretold: `motion`, after a search for it; `difference`.
        SIZE_PREDICTION: Text "encoder.size_prediction" as "size_prediction" = "motion",
            "NAME", "`motion` or `difference`";
        /// With too few bits: `adaptive`, fewer pixels, then frames, or `full`.
        DETAIL: Text "encoder.detail" as "detail" = "adaptive",
            "NAME", "`adaptive` or `full`";
        /// On a busy machine: `adaptive`, less work for each frame, or `off`.
        RELIEF: Text "encoder.relief" as "relief" = "adaptive",
            "NAME", "`adaptive` or `off`";
        /// `cabac`, the smaller; `cavlc`, the faster; `adaptive`, by the bitrate.
        ENTROPY_CODING: Text "encoder.entropy_coding" as "entropy_coding" = "adaptive",
            "NAME", "`adaptive`, `cabac` or `cavlc`";
        /// Lowest quantiser: a picture as good as that takes no more bits.
        FINEST_QUANTISER: Number "encoder.finest_quantiser" as "finest_quantiser" = "17",
            "NUMBER", "a whole number from 1 to 51";
        /// `carried`: a frame may have what earlier ones left; `strict`: not.
        FRAME_SIZES: Text "encoder.frame_sizes" as "frame_sizes" = "carried",
            "NAME", "`carried` or `strict`";
        /// Most slices of a frame that leave one by one while it is coded.
        ENCODER_PARTS: Number "encoder.parts" as "encoder_parts" = "8",
            "NUMBER", "a whole number from 1 to 16";
        /// Slices coded side by side, each by a thread of its own.
        ENCODER_THREADS: Number "encoder.threads" as "encoder_threads" = "1",
            "NUMBER", "a whole number from 1 to 16";
    }
    "Sound" {
        /// `auto`, the demo's tones or what the launched game plays, or `off`.
        SOUND: Text "sound.play" as "sound" = "auto",
            "SOUND", "`auto` or `off`";
        /// Record this PulseAudio or PipeWire sink, one of the user's, instead.
        SOUND_SINK: Text "sound.sink" as "sound_sink" = "",
            "SINK", "the name of a sink as `pactl list short sinks` shows it";
        /// Bitrate of the sound, without what is around it on the wire.
        SOUND_BITRATE: Text "sound.bitrate" as "sound_bitrate" = "64kbit/s",
            "RATE", "a rate with its unit from 16kbit/s to 256kbit/s, e.g. `64kbit/s`";
    }
    "Relay" {
        /// A relay (TURN) for players whom nothing else reaches, by one to four ways.
        RELAY: List "relay.urls" as "relay" = "",
            "URL", "a list of at most four URLs of a relay, e.g. `turn:relay.example.org:3478?transport=udp`, with `transport=tcp`, or with `turns:` for TLS";
        /// What the relay and this host know: `static-auth-secret` of coturn.
        RELAY_SECRET: Secret "relay.secret" as "relay_secret" = "",
            "SECRET", "16 to 256 printable characters without spaces";
    }
    "Bitrate" {
        /// The algorithm by which the bitrate follows the network.
        CONTROLLER: Text "controller.name" as "controller" = "mimosa",
            "NAME", "the name of a controller";
        /// How packets leave: as the controller wishes, or by a rule in its place.
        PACER: Text "controller.pacer" as "pacer" = "controller",
            "NAME", "the name of a pacer";
        /// The lowest bitrate.
        MIN_BITRATE: Text "controller.min_bitrate" as "min_bitrate" = "500kbit/s",
            "RATE", "a rate above zero with its unit, e.g. `500kbit/s`";
        /// The first bitrate.
        START_BITRATE: Text "controller.start_bitrate" as "start_bitrate" = "5Mbit/s",
            "RATE", "a rate above zero with its unit, e.g. `5Mbit/s`";
        /// The highest bitrate.
        MAX_BITRATE: Text "controller.max_bitrate" as "max_bitrate" = "50Mbit/s",
            "RATE", "a rate above zero with its unit, e.g. `50Mbit/s`";
        /// The highest bitrate for each of those who watch.
        VIEWER_MAX_BITRATE: Text "controller.viewer_max_bitrate" as "viewer_max_bitrate" = "10Mbit/s",
            "RATE", "a rate above zero with its unit, e.g. `10Mbit/s`";
        /// Bitrate for somebody who watches with a player that reports nothing.
        BLIND_RATE: Text "controller.blind_rate" as "blind_rate" = "2Mbit/s",
            "RATE", "a rate above zero with its unit, e.g. `2Mbit/s`";
        /// The algorithm's parameters, as in a scenario's `[flow.params]`.
        PARAMS: Table "controller.params" as "params" = "",
            "PARAMS", "a table, e.g. `{ alpha = 0.85 }`";
    }
}
