//! The payloads of one frame.

use mimosa_units::Bytes;

/// The RTP payloads of one frame, in the order in which they are sent. They share one
/// buffer.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Payloads {
    bytes: Vec<u8>,
    /// Offset in `bytes` at which each payload ends.
    ends: Vec<usize>,
}

impl Payloads {
    pub(crate) fn with_capacity(bytes: usize, payloads: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            ends: Vec::with_capacity(payloads),
        }
    }

    /// Appends to the payload that [`Self::end`] ends.
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn end(&mut self) {
        self.ends.push(self.bytes.len());
    }

    /// Appends the payloads of the frame's next part.
    pub fn append(&mut self, part: &Self) {
        let before = self.bytes.len();
        self.bytes.extend_from_slice(&part.bytes);
        self.ends.extend(part.ends.iter().map(|end| before + end));
    }

    /// The payloads with these places, as a part of the frame.
    #[must_use]
    pub fn part(&self, places: std::ops::Range<usize>) -> Self {
        let mut part = Self::default();
        for payload in places.filter_map(|place| self.get(place)) {
            part.extend(payload);
            part.end();
        }
        part
    }

    /// The number of payloads.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no payloads: the frame had nothing to send.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The payload at this place, counted from zero.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)?;
        let start = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.bytes.get(start..end)
    }

    /// The payloads in order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        (0..self.len()).map(|index| self.get(index).unwrap_or_default())
    }

    /// The size of each payload, in order.
    #[must_use]
    pub fn sizes(&self) -> impl ExactSizeIterator<Item = Bytes> + Clone {
        self.iter().map(|payload| Bytes::new(payload.len() as u64))
    }

    /// The size of all payloads together.
    #[must_use]
    pub fn size(&self) -> Bytes {
        Bytes::new(self.bytes.len() as u64)
    }
}
