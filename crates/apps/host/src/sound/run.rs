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

use super::{Shared, Strike};
use mimosa_system::clock::{Clock, now};

/// Time between looks for listeners while there are none.
const IDLE: Duration = Duration::from_millis(100);
/// Lateness from which tones are left out.
const LATE: TimeDelta = TimeDelta::from_millis(200);

/// The source of sound. A recording ends before its server does.
pub(super) enum Origin {
    Recording(Recording, Option<PrivateSound>),
    Tones(Receiver<Strike>),
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
    pub(super) fn run(mut self, origin: Origin, say: &impl Fn(SoundFrame)) {
        priority::raise();
        let result = match origin {
            Origin::Recording(recording, _server) => self.record(recording, say),
            Origin::Tones(strikes) => self.play(&strikes, say),
        };
        if let Err(error) = result
            && !self.shared.is_stopped()
        {
            tracing::error!(%error, "the sound has ended");
        }
    }

    fn record(
        &mut self,
        mut recording: Recording,
        say: &impl Fn(SoundFrame),
    ) -> Result<(), AudioError> {
        let mut timeline = Timeline::new();
        while !self.shared.is_stopped() {
            let (block, arrived) = recording.read()?;
            let stamp = timeline.block(self.clock.at(arrived));
            if self.shared.is_heard() {
                say(self.code(stamp, &block)?);
            }
        }
        Ok(())
    }

    /// Makes blocks of tones, each when its last sample is due.
    fn play(
        &mut self,
        strikes: &Receiver<Strike>,
        say: &impl Fn(SoundFrame),
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
            say(self.code(stamp, &block)?);
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
