//! Datagrams in a stream of TCP: each follows its length, in two bytes (RFC 4571, section 2), as ICE
//! demands of candidates of TCP (RFC 6544, section 3).
//!
//! # Deviations
//!
//! The length may be up to 65535. [`LONGEST_FRAME`] is less: what a stranger can make this end hold
//! is bounded, and the first byte of a stream tells it from TLS and from HTTP.

/// Length in bytes of the length of a frame.
const HEADER: usize = 2;
/// Longest frame that is read, in bytes. WebRTC's datagrams fit into a packet of Ethernet, which has
/// 1500 bytes; the first byte of a frame is then below 16, while TLS begins with 22 (RFC 8446,
/// section 5.1) and HTTP with a letter.
pub const LONGEST_FRAME: usize = 4_095;

/// Why a stream has no frames. The mistake is the other end's, and the stream is of no use after it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The frame is longer than any datagram of WebRTC.
    #[error("a frame of {length} bytes; at most {LONGEST_FRAME} are read")]
    TooLong {
        /// Length that the frame claims, in bytes.
        length: usize,
    },
}

/// Takes a stream apart into datagrams, in whatever pieces it comes.
#[derive(Debug, Default)]
pub struct Frames {
    held: Vec<u8>,
    /// Number of bytes of `held` that have been taken.
    taken: usize,
}

impl Frames {
    /// Whether a stream that begins with this byte can have frames. TLS and HTTP begin with others.
    #[must_use]
    pub const fn can_begin(first: u8) -> bool {
        (first as usize) << 8 <= LONGEST_FRAME
    }

    /// Adds what has come. Call [`Self::take`] until there is nothing, so that at most one frame is
    /// held.
    pub fn push(&mut self, data: &[u8]) {
        self.held.drain(..self.taken);
        self.taken = 0;
        self.held.extend_from_slice(data);
    }

    /// The next datagram, if it has come as a whole.
    ///
    /// # Errors
    ///
    /// [`FrameError`] if the stream cannot be taken apart.
    pub fn take(&mut self) -> Result<Option<&[u8]>, FrameError> {
        let rest = self.held.get(self.taken..).unwrap_or_default();
        let Some((&header, rest)) = rest.split_first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let length = usize::from(u16::from_be_bytes(header));
        if length > LONGEST_FRAME {
            return Err(FrameError::TooLong { length });
        }
        let datagram = rest.get(..length);
        if datagram.is_some() {
            self.taken += HEADER + length;
        }
        Ok(datagram)
    }

    /// Number of bytes that wait for the rest of their frame.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len() - self.taken
    }
}

/// A datagram as a frame; `None` if it is longer than a frame can be.
#[must_use]
pub fn frame(datagram: &[u8]) -> Option<Vec<u8>> {
    let length = u16::try_from(datagram.len()).ok()?;
    Some([&length.to_be_bytes(), datagram].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_come_apart_whatever_the_pieces() {
        let datagrams: Vec<Vec<u8>> = [1, 0, 300, LONGEST_FRAME, 2]
            .map(|length| (0..=255).cycle().take(length).collect())
            .into();
        let stream: Vec<_> = datagrams
            .iter()
            .flat_map(|one| frame(one).unwrap())
            .collect();
        for piece in [1, 2, 3, 301, 1_460, stream.len()] {
            let mut frames = Frames::default();
            let mut found = Vec::new();
            for data in stream.chunks(piece) {
                frames.push(data);
                while let Some(datagram) = frames.take().unwrap() {
                    found.push(datagram.to_vec());
                }
                assert!(frames.held() <= LONGEST_FRAME + HEADER);
            }
            assert!(
                found == datagrams && frames.held() == 0,
                "pieces of {piece}"
            );
        }
    }

    #[test]
    fn a_length_that_no_datagram_has_is_refused() {
        let mut frames = Frames::default();
        frames.push(&[0, 1, 7, 16]);
        assert_eq!(frames.take(), Ok(Some(&[7][..])));
        assert_eq!(frames.take(), Ok(None), "half a length");
        frames.push(&[0]);
        let error = Err(FrameError::TooLong { length: 4_096 });
        assert_eq!(frames.take(), error);
        assert_eq!(frames.take(), error, "for good");
        assert_eq!(frame(&vec![0; 65_536]), None);
    }

    #[test]
    fn streams_of_tls_and_http_have_no_frames() {
        let others = [0x16, b'G', b'P', b'D'];
        assert!(others.iter().all(|&first| !Frames::can_begin(first)));
        let request = frame(&[0; 108]).unwrap();
        assert!(Frames::can_begin(request[0]) && Frames::can_begin(15) && !Frames::can_begin(16));
    }
}
