//! A cause of trouble with its evidence, and the sentence that says both to a player.

use mimosa_units::{Rate, TimeDelta};

/// What troubles a stream, with the evidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cause {
    /// Encoding a frame takes longer than there is until the next.
    EncoderSlow {
        /// Median time of encoding.
        takes: TimeDelta,
        /// Time between frames.
        interval: TimeDelta,
    },
    /// Pictures wait for an encoder that is fast enough.
    HostBusy {
        /// Median time from the capture to the encoder.
        waits: TimeDelta,
    },
    /// Packets leave later than they should.
    SenderLate {
        /// Median time from when a frame's last packet should have left to when it did.
        late: TimeDelta,
    },
    /// Decoding a frame takes longer than there is until the next.
    DecoderSlow {
        /// Median time of decoding.
        takes: TimeDelta,
        /// Time between frames.
        interval: TimeDelta,
    },
    /// Pictures are shown long after they are decoded.
    ScreenLate {
        /// Median time from decoding to the screen.
        waits: TimeDelta,
    },
    /// Nothing arrived for long.
    Outage {
        /// How long nothing arrived that had been sent.
        lasted: TimeDelta,
    },
    /// Nothing arrived for a moment, and then what had been sent meanwhile.
    Pause {
        /// How long nothing arrived that had been sent.
        lasted: TimeDelta,
    },
    /// Packets are lost although no queue is there.
    Loss {
        /// Share of packets lost, from 0 to 1.
        share: f64,
    },
    /// The line serves more slowly than it did.
    LineSlower {
        /// The link's rate.
        now: Rate,
        /// The link's highest rate in the last half a minute.
        before: Rate,
    },
    /// Other traffic takes part of the line.
    Shared {
        /// Share of the line that others have, from 0 to 1.
        others: f64,
    },
    /// What goes back from the player waits.
    WayBackBusy {
        /// Median time that reports need above the least.
        late: TimeDelta,
    },
    /// The source makes fewer pictures than there could be.
    GameSlow {
        /// Pictures a second.
        makes: f64,
        /// Pictures a second that there could be.
        of: f64,
    },
    /// The host is far away.
    Far {
        /// The shortest time from departures to reports.
        round_trip: TimeDelta,
    },
}

/// How much a cause matters.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Good to know; the game is playable.
    Note,
    /// The player feels it.
    Trouble,
    /// The game is hardly playable.
    Serious,
}

impl Severity {
    /// The severity's name in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Trouble => "trouble",
            Self::Serious => "serious",
        }
    }
}

/// A sentence about a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sentence {
    /// What troubles the stream.
    pub cause: Cause,
    /// How much.
    pub severity: Severity,
}

impl Cause {
    /// The cause's name in messages.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::EncoderSlow { .. } => "encoder-slow",
            Self::HostBusy { .. } => "host-busy",
            Self::SenderLate { .. } => "sender-late",
            Self::DecoderSlow { .. } => "decoder-slow",
            Self::ScreenLate { .. } => "screen-late",
            Self::Outage { .. } => "outage",
            Self::Pause { .. } => "pause",
            Self::Loss { .. } => "loss",
            Self::LineSlower { .. } => "line-slower",
            Self::Shared { .. } => "shared",
            Self::WayBackBusy { .. } => "way-back-busy",
            Self::GameSlow { .. } => "game-slow",
            Self::Far { .. } => "far",
        }
    }

    /// The cause in a plain sentence with its evidence.
    #[must_use]
    pub fn in_words(&self) -> String {
        let millis = |span: TimeDelta| format!("{:.0} ms", span.as_millis());
        match *self {
            Self::EncoderSlow { takes, interval } => format!(
                "The host has no time to encode: a frame takes {}, and there are {} for each.",
                millis(takes),
                millis(interval)
            ),
            Self::HostBusy { waits } => format!(
                "The host's computer is busy: a picture waits {} before it is encoded.",
                millis(waits)
            ),
            Self::SenderLate { late } => format!(
                "The host's computer is busy: packets leave {} late.",
                millis(late)
            ),
            Self::DecoderSlow { takes, interval } => format!(
                "This computer decodes too slowly: a frame takes {}, and there are {} for each.",
                millis(takes),
                millis(interval)
            ),
            Self::ScreenLate { waits } => format!(
                "This computer is busy: a decoded picture waits {} for the screen.",
                millis(waits)
            ),
            Self::Outage { lasted } => {
                format!(
                    "Nothing came through your line for {:.1} s.",
                    lasted.as_secs()
                )
            }
            Self::Pause { lasted } => {
                format!("Your line paused for {}, as Wi-Fi does.", millis(lasted))
            }
            Self::Loss { share } => format!(
                "Your line loses {:.1} % of packets, although it is not full.",
                share * 100.0
            ),
            Self::LineSlower { now, before } => format!(
                "Your line has become slower: {:.0} Mbit/s, and {:.0} before.",
                now.as_mbps(),
                before.as_mbps()
            ),
            Self::Shared { others } => format!(
                "Something else on your line takes {:.0} % of it, such as a download.",
                others * 100.0
            ),
            Self::WayBackBusy { late } => format!(
                "Something uploads on your line: what you press comes {} late.",
                millis(late)
            ),
            Self::GameSlow { makes, of } => {
                format!("The game makes {makes:.0} pictures a second of {of:.0}.")
            }
            Self::Far { round_trip } => format!(
                "The host is far away: {} there and back.",
                millis(round_trip)
            ),
        }
    }

    /// How much the cause matters.
    #[must_use]
    pub fn severity(&self) -> Severity {
        const LONG: TimeDelta = TimeDelta::from_millis(250);
        const MUCH: f64 = 0.05;
        match *self {
            Self::GameSlow { .. } | Self::Far { .. } => Severity::Note,
            Self::Outage { .. } => Severity::Serious,
            Self::Pause { lasted } if lasted >= LONG => Severity::Serious,
            Self::Loss { share } if share >= MUCH => Severity::Serious,
            _ => Severity::Trouble,
        }
    }

    /// Place of the cause in the order in which causes are looked for.
    pub(crate) const fn place(&self) -> u8 {
        match self {
            Self::EncoderSlow { .. } => 1,
            Self::HostBusy { .. } => 2,
            Self::SenderLate { .. } => 3,
            Self::DecoderSlow { .. } => 4,
            Self::ScreenLate { .. } => 5,
            Self::Outage { .. } | Self::Pause { .. } => 6,
            Self::Loss { .. } => 7,
            Self::LineSlower { .. } => 8,
            Self::Shared { .. } => 9,
            Self::WayBackBusy { .. } => 10,
            Self::GameSlow { .. } => 11,
            Self::Far { .. } => 12,
        }
    }
}
