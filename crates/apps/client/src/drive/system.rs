//! The system's loudspeaker, which is asked to take larger blocks if small ones do not suffice.

use std::thread::JoinHandle;

use mimosa_facts::sound::{BLOCK, CHANNELS, RATE};
use mimosa_units::{Time, TimeDelta};
use mimosa_window::{Speaker, WindowError};

use super::network::Loudspeaker;

/// Samples of each channel that the system is asked to take at a time, at first and at most: 10 and
/// 80 ms. Some systems silently leave out sound that does not come in time.
const FIRST: u32 = 480;
const MOST: u32 = 3_840;
/// Number of troubles, and the time in which they have to occur, after which the blocks become
/// larger. Our choice.
const TROUBLES: usize = 3;
const TROUBLES_WITHIN: TimeDelta = TimeDelta::from_millis(10_000);

/// The system's loudspeaker. Without one there is no sound, which is logged.
pub(super) fn loudspeaker() -> Option<Box<dyn Loudspeaker>> {
    match open(FIRST) {
        Ok(speaker) => Some(Box::new(System {
            state: State::Open(speaker),
            is_fresh: true,
            lumps: Lumps::default(),
        })),
        Err(error) => {
            tracing::warn!(%error, "playing without sound");
            None
        }
    }
}

fn open(at_once: u32) -> Result<Speaker, WindowError> {
    let channels = u8::try_from(CHANNELS).unwrap_or(2);
    let speaker = Speaker::open(RATE, channels, at_once)?;
    tracing::debug!(at_once = ?speaker.at_once(), "the system's loudspeaker");
    Ok(speaker)
}

struct System {
    state: State,
    /// Whether nothing has been played since the loudspeaker was opened.
    is_fresh: bool,
    lumps: Lumps,
}

enum State {
    Open(Speaker),
    /// The loudspeaker is being opened in a thread, because that takes long.
    Opening(JoinHandle<Option<Speaker>>),
    /// The loudspeaker could not be opened again.
    Gone,
}

impl System {
    fn reopen(&mut self, at_once: u32) {
        let old = std::mem::replace(&mut self.state, State::Gone);
        let opening = move || {
            // The system has one device for all streams, with the block size of the first.
            drop(old);
            let opened = open(at_once);
            opened
                .inspect_err(|error| tracing::warn!(%error, "the loudspeaker is gone"))
                .ok()
        };
        let thread = std::thread::Builder::new().name("loudspeaker".to_owned());
        if let Ok(thread) = thread.spawn(opening) {
            self.state = State::Opening(thread);
            self.is_fresh = true;
        }
    }

    fn look(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Gone);
        self.state = match state {
            State::Opening(thread) if thread.is_finished() => match thread.join() {
                Ok(Some(speaker)) => State::Open(speaker),
                _ => State::Gone,
            },
            other => other,
        };
    }
}

impl Loudspeaker for System {
    /// Twice the system's block and one of ours: the one being played and the one taken next, and
    /// more because some systems take twice in a row.
    fn ahead(&self) -> TimeDelta {
        match &self.state {
            State::Open(speaker) => (speaker.at_once() + BLOCK) * 2,
            State::Opening(_) | State::Gone => TimeDelta::ZERO,
        }
    }

    /// Sound that the system has taken counts as not yet played.
    fn queued(&mut self, _now: Time) -> TimeDelta {
        self.look();
        match &self.state {
            State::Open(speaker) => speaker.queued() + speaker.at_once(),
            State::Opening(_) | State::Gone => TimeDelta::ZERO,
        }
    }

    fn play(&mut self, _now: Time, samples: &[i16]) -> TimeDelta {
        let State::Open(speaker) = &mut self.state else {
            return TimeDelta::ZERO;
        };
        speaker.queue(samples);
        let silence = speaker.take_silence();
        if std::mem::take(&mut self.is_fresh) {
            return TimeDelta::ZERO;
        }
        silence
    }

    fn troubled(&mut self, now: Time) {
        if matches!(self.state, State::Open(_))
            && let Some(at_once) = self.lumps.troubled(now)
        {
            self.reopen(at_once);
        }
    }
}

/// How much sound the system is asked to take at a time.
#[derive(Debug)]
struct Lumps {
    at_once: u32,
    troubles: Vec<Time>,
}

impl Default for Lumps {
    fn default() -> Self {
        Self {
            at_once: FIRST,
            troubles: Vec::new(),
        }
    }
}

impl Lumps {
    /// Notes a trouble. Returns the new block size, if it changes.
    fn troubled(&mut self, now: Time) -> Option<u32> {
        self.troubles
            .retain(|trouble| now.since(*trouble) < TROUBLES_WITHIN);
        self.troubles.push(now);
        if self.troubles.len() < TROUBLES || self.at_once >= MOST {
            return None;
        }
        self.troubles.clear();
        self.at_once = (self.at_once * 2).min(MOST);
        Some(self.at_once)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loudspeaker_in_trouble_takes_more_at_a_time() {
        let mut lumps = Lumps::default();
        let at = Time::from_secs;
        // Rare troubles are no reason for a change.
        for second in [0, 4, 11, 15, 22] {
            assert_eq!(lumps.troubled(at(second)), None);
        }
        assert_eq!(lumps.troubled(at(24)), Some(960));
        // Earlier troubles were those of a smaller block size.
        assert_eq!(lumps.troubled(at(25)), None);
        assert_eq!(lumps.troubled(at(26)), None);
        assert_eq!(lumps.troubled(at(27)), Some(1_920));
        let more = (30..60).filter_map(|second| lumps.troubled(at(second)));
        assert_eq!(more.collect::<Vec<_>>(), [3_840]);
    }
}
