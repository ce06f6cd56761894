//! Reuses the memory of pictures.

use std::sync::Arc;

use mimosa_units::Time;
use mimosa_video::{Picture, Size};

use mimosa_session::host::{Captured, Inputs};

/// Pictures that were handed out, which may still be in use.
#[derive(Debug)]
pub(super) struct Pool {
    pictures: Vec<Arc<Captured>>,
}

impl Pool {
    /// An empty pool.
    pub(super) const fn new() -> Self {
        Self {
            pictures: Vec::new(),
        }
    }

    /// A picture of this size that nobody uses, with arbitrary content.
    pub(super) fn take(&mut self, size: Size) -> Captured {
        self.pictures
            .retain(|picture| picture.picture.size() == size);
        let free = self
            .pictures
            .iter()
            .position(|picture| Arc::strong_count(picture) == 1);
        free.and_then(|index| Arc::into_inner(self.pictures.swap_remove(index)))
            .unwrap_or_else(|| Captured {
                picture: Picture::new(size),
                at: Time::ZERO,
                inputs: Inputs::default(),
            })
    }

    /// Shares a picture, and keeps it for reuse.
    pub(super) fn publish(&mut self, picture: Captured) -> Arc<Captured> {
        let picture = Arc::new(picture);
        self.pictures.push(Arc::clone(&picture));
        picture
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_comes_back_when_nobody_reads_it() {
        let size = Size::new(32, 32).unwrap();
        let mut pool = Pool::new();
        let mut first = pool.take(size);
        first.inputs.count = 7;
        let read = pool.publish(first);
        assert_eq!(pool.take(size).inputs.count, 0, "the first is being read");
        drop(read);
        assert_eq!(pool.take(size).inputs.count, 7);
        assert_eq!(pool.take(size).inputs.count, 0, "and is out now");
    }
}
