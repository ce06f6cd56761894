//! The thread that codes sound.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use mimosa_audio::{AudioError, OpusEncoder, PrivateSound, Recording, Stamp, Timeline, Tones};
use mimosa_facts::sound::{BLOCK, Block, FRAMES};
use mimosa_session::host::SoundFrame;
use mimosa_system::priority;
use mimosa_units::{Time, TimeDelta};

use super::{FromSound, Shared, Strike};
use mimosa_system::clock::{Clock, now};

/// Time between attempts to record again: a sound server that is started again, by the host or by the
/// user's session, is there within a second or two.
const RETRY_AFTER: TimeDelta = TimeDelta::from_millis(2_000);
/// Time between looks for listeners while there are none.
const IDLE: Duration = Duration::from_millis(100);
/// Lateness from which tones are left out.
const LATE: TimeDelta = TimeDelta::from_millis(200);

/// The source of sound.
pub(super) enum Origin {
    Recorded(Recorded),
    Tones(Receiver<Strike>),
}

/// Sound that a sink plays. The recording ends before its server does.
pub(super) struct Recorded {
    recording: Recording,
    /// The host's own server; `None`: the user's.
    server: Option<PrivateSound>,
    device: String,
}

impl Recorded {
    /// Records a sink of the user's server.
    ///
    /// # Errors
    ///
    /// As [`Recording::start`].
    pub(super) fn of_sink(sink: &str) -> Result<Self, AudioError> {
        let device = format!("{sink}.monitor");
        Ok(Self {
            recording: Recording::start(None, &device)?,
            server: None,
            device,
        })
    }

    /// Records what a server of the host's own plays.
    ///
    /// # Errors
    ///
    /// As [`Recording::start`].
    pub(super) fn of_server(server: PrivateSound) -> Result<Self, AudioError> {
        let device = server.monitor();
        Ok(Self {
            recording: Recording::start(Some(&server.address()), &device)?,
            server: Some(server),
            device,
        })
    }

    /// Starts the host's own server again if it has ended, and then the recording.
    fn start_again(&mut self) -> Result<(), AudioError> {
        let mut address = None;
        if let Some(server) = &mut self.server {
            if !server.runs() {
                server.start_again()?;
            }
            address = Some(server.address());
        }
        self.recording = Recording::start(address.as_deref(), &self.device)?;
        Ok(())
    }
}

/// The state of the thread.
pub(super) struct Runner {
    clock: Clock,
    shared: Arc<Shared>,
    coder: OpusEncoder,
}

impl Runner {
    pub(super) const fn new(clock: Clock, shared: Arc<Shared>, coder: OpusEncoder) -> Self {
        Self {
            clock,
            shared,
            coder,
        }
    }

    /// Runs until the host stops or the sound ends.
    pub(super) fn run(mut self, origin: Origin, say: &impl Fn(FromSound)) {
        priority::raise();
        let result = match origin {
            Origin::Recorded(recorded) => self.record(recorded, say),
            Origin::Tones(strikes) => self.play(&strikes, say),
        };
        if let Err(error) = result
            && !self.shared.is_stopped()
        {
            tracing::error!(%error, "the sound has ended");
        }
    }

    /// Codes what is recorded. A recording that ends, as when its server has died, is begun again.
    fn record(
        &mut self,
        mut recorded: Recorded,
        say: &impl Fn(FromSound),
    ) -> Result<(), AudioError> {
        let mut timeline = Timeline::new();
        let mut is_away = false;
        while !self.shared.is_stopped() {
            match recorded.recording.read() {
                Ok((block, arrived)) => {
                    if std::mem::take(&mut is_away) {
                        tracing::info!("the sound is back");
                        say(FromSound::Away(false));
                    }
                    let stamp = timeline.block(self.clock.at(arrived));
                    if self.shared.is_heard() {
                        say(FromSound::Frame(self.code(stamp, &block)?));
                    }
                }
                Err(error) if !self.shared.is_stopped() => {
                    if !std::mem::replace(&mut is_away, true) {
                        tracing::error!(%error, "the sound is away: it is recorded again once it is back");
                        say(FromSound::Away(true));
                    }
                    self.sleep_until(self.clock.now() + RETRY_AFTER);
                    if let Err(error) = recorded.start_again() {
                        tracing::debug!(%error, "the sound is still away");
                    }
                }
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Makes blocks of tones, each when its last sample is due.
    fn play(
        &mut self,
        strikes: &Receiver<Strike>,
        say: &impl Fn(FromSound),
    ) -> Result<(), AudioError> {
        let zero = self.clock.now();
        let mut tones = Tones::new();
        let mut number = 0_u32;
        while !self.shared.is_stopped() {
            for strike in strikes.try_iter() {
                tones.strike(strike.at, strike.tone);
            }
            let begin = zero + BLOCK * number;
            let end = begin + BLOCK;
            if !self.shared.is_heard() {
                std::thread::park_timeout(IDLE);
                number = self.number(zero);
                continue;
            }
            if !self.sleep_until(end) {
                break;
            }
            if self.clock.now() > end + LATE {
                number = self.number(zero);
                continue;
            }
            for strike in strikes.try_iter() {
                tones.strike(strike.at, strike.tone);
            }
            let block = tones.block(begin);
            let stamp = Stamp {
                sample: u64::from(number) * FRAMES as u64,
                captured: begin,
            };
            say(FromSound::Frame(self.code(stamp, &block)?));
            number += 1;
        }
        Ok(())
    }

    /// Number of the block at the present time.
    fn number(&self, zero: Time) -> u32 {
        let blocks = self.clock.now().since(zero).as_nanos() / BLOCK.as_nanos();
        u32::try_from(blocks).unwrap_or(u32::MAX)
    }

    /// Sleeps until `time`; `false` if the host stops before.
    fn sleep_until(&self, time: Time) -> bool {
        while !self.shared.is_stopped() {
            let rest = self.clock.instant(time).saturating_duration_since(now());
            if rest.is_zero() {
                return true;
            }
            std::thread::park_timeout(rest);
        }
        false
    }

    fn code(&mut self, stamp: Stamp, block: &Block) -> Result<SoundFrame, AudioError> {
        self.coder
            .set_loss(self.shared.loss.load(Ordering::Relaxed))?;
        Ok(SoundFrame {
            sample: stamp.sample,
            captured: stamp.captured,
            data: self.coder.encode(block)?,
        })
    }
}
