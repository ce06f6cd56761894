//! Pictures out of another process's memory, in buffers that are used again.

use std::sync::{Arc, Mutex, PoisonError};

use mimosa_video::{Colours, Samples, Size, TooFewSamples, View};

use crate::memory::Memory;

/// The most buffers that wait for a picture: one more than a window holds while the next is decoded.
const MOST_WAITING: usize = 3;

/// A decoded picture, copied out of the memory that it was decoded into.
pub struct CopiedPicture {
    size: Size,
    colours: Colours,
    is_damaged: bool,
    samples: Vec<u8>,
    buffers: Buffers,
}

/// Buffers of pictures that nobody has any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffers(Arc<Mutex<Vec<Vec<u8>>>>);

impl Buffers {
    /// Copies a picture of this size, planes and rows without gaps, out of `memory`; `None` if it is too
    /// large.
    pub(crate) fn copy(
        &self,
        memory: &Memory,
        (size, colours): (Size, Colours),
        is_damaged: bool,
    ) -> Option<CopiedPicture> {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut samples = waiting.unwrap_or_default();
        samples.resize(size.luma_len() + 2 * size.chroma_len(), 0);
        let is_whole = memory.read(&mut samples);
        is_whole.then(|| CopiedPicture {
            size,
            colours,
            is_damaged,
            samples,
            buffers: self.clone(),
        })
    }
}

impl CopiedPicture {
    /// The size of this picture.
    #[must_use]
    pub const fn size(&self) -> Size {
        self.size
    }

    /// Whether something in this picture's frame was missing or wrong, and was filled in.
    #[must_use]
    pub const fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// The picture.
    ///
    /// # Panics
    ///
    /// Never: the samples were copied for this size.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the samples were copied for this size")]
    pub fn view(&self) -> View<'_> {
        self.planes().expect("samples for its size")
    }

    fn planes(&self) -> Result<View<'_>, TooFewSamples> {
        let (luma, chroma) = (self.size.luma_len(), self.size.chroma_len());
        let width = self.size.width() as usize;
        let samples = |from: usize, to: usize, stride| Samples {
            data: self.samples.get(from..to).unwrap_or_default(),
            stride,
        };
        let planes = [
            samples(0, luma, width),
            samples(luma, luma + chroma, width / 2),
            samples(luma + chroma, luma + 2 * chroma, width / 2),
        ];
        View::new(self.size, planes, self.colours)
    }
}

impl std::fmt::Debug for CopiedPicture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            size, is_damaged, ..
        } = self;
        write!(f, "CopiedPicture({size}, damaged: {is_damaged})")
    }
}

impl Drop for CopiedPicture {
    fn drop(&mut self) {
        let waiting = self.buffers.0.lock();
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MOST_WAITING {
            waiting.push(std::mem::take(&mut self.samples));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mimosa_video::Plane;
    use rustix::io::pwrite;

    #[test]
    fn planes_are_where_they_were_written_and_buffers_are_used_again() {
        let memory = Memory::new(600).unwrap();
        let written: Vec<u8> = (0..600_u16).map(|at| at.to_le_bytes()[0]).collect();
        pwrite(memory.file(), &written, 0).unwrap();
        let buffers = Buffers::default();
        let size = Size::new(20, 16).unwrap();
        let picture = buffers.copy(&memory, (size, Colours::default()), true);
        let picture = picture.unwrap();
        let first = |plane| picture.view().rows(plane).next().unwrap().to_vec();
        assert_eq!(first(Plane::Y), written[..20]);
        assert_eq!(first(Plane::U), written[320..330]);
        assert_eq!(first(Plane::V), written[400..410]);
        assert!(picture.is_damaged());
        let place = picture.samples.as_ptr();
        drop(picture);
        // A smaller picture in the same buffer has no bytes of the larger one.
        let size = Size::SMALLEST;
        let smaller = buffers.copy(&memory, (size, Colours::default()), false);
        let smaller = smaller.unwrap();
        assert_eq!(smaller.samples.as_ptr(), place);
        let last = smaller.view().rows(Plane::V).last().unwrap().to_vec();
        assert_eq!(last, written[376..384]);
        assert_eq!(buffers.0.lock().unwrap().len(), 0);
    }
}
