//! The recent frames of a flow, as a controller remembers them.

use std::collections::VecDeque;

use mimosa_facts::FrameId;

/// Most frames remembered: two seconds at 240 frames a second. A frame that was not acknowledged in
/// that time says nothing about the present.
const REMEMBERED: usize = 480;

/// A record of what is known about one frame.
pub(crate) trait Remembered {
    /// Number of the frame.
    fn id(&self) -> FrameId;

    /// Whether the frame is still on its way to the receiver.
    fn is_open(&self) -> bool;
}

/// The recent frames in order, oldest first.
#[derive(Debug)]
pub(crate) struct FrameRing<F> {
    pub(crate) ring: VecDeque<F>,
    /// Every frame before this index of `ring` is no longer on its way.
    open: usize,
}

impl<F> Default for FrameRing<F> {
    fn default() -> Self {
        Self {
            ring: VecDeque::new(),
            open: 0,
        }
    }
}

impl<F: Remembered> FrameRing<F> {
    /// Adds a frame. A frame whose number is not above those of all others is ignored.
    pub(crate) fn push(&mut self, frame: F) {
        if self.ring.back().is_some_and(|last| last.id() >= frame.id()) {
            return;
        }
        if self.ring.len() == REMEMBERED {
            self.ring.pop_front();
            self.open = self.open.saturating_sub(1);
        }
        self.ring.push_back(frame);
    }

    pub(crate) fn get_mut(&mut self, id: FrameId) -> Option<&mut F> {
        let first = self.ring.front()?.id();
        let guess = usize::try_from(id.0.checked_sub(first.0)?).ok()?;
        let index = match self.ring.get(guess) {
            Some(frame) if frame.id() == id => guess,
            _ => self.ring.binary_search_by_key(&id, F::id).ok()?,
        };
        self.ring.get_mut(index)
    }

    /// The remembered frames from `first` to `last`, both included, newest first.
    pub(crate) fn among(&mut self, first: FrameId, last: FrameId) -> impl Iterator<Item = &mut F> {
        let frames = self.ring.iter_mut().rev();
        frames
            .skip_while(move |each| each.id() > last)
            .take_while(move |each| each.id() >= first)
    }

    /// The oldest frame that is still on its way, the *next to be received* one; `None` if there is
    /// none.
    pub(crate) fn oldest_open(&mut self) -> Option<&F> {
        while self.ring.get(self.open).is_some_and(|each| !each.is_open()) {
            self.open += 1;
        }
        self.ring.get(self.open)
    }
}
