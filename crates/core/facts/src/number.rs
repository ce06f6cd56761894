//! The numbers that packets have on the wire. Each of the three spaces is its own type, so that a
//! number of one cannot be looked up among those of another.

/// Declares a 16-bit number that wraps.
macro_rules! wire_number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub struct $name(pub u16);

        impl $name {
            /// The low 16 bits of a number that does not wrap.
            #[must_use]
            pub const fn of(number: u64) -> Self {
                #[expect(clippy::cast_possible_truncation, reason = "the wire has 16 bits")]
                Self(number as u16)
            }

            /// The number that comes `count` later.
            #[must_use]
            pub const fn plus(self, count: u16) -> Self {
                Self(self.0.wrapping_add(count))
            }

            /// The number that comes `count` earlier.
            #[must_use]
            pub const fn minus(self, count: u16) -> Self {
                Self(self.0.wrapping_sub(count))
            }

            /// Distance from `earlier` to this number, modulo 2^16.
            #[must_use]
            pub const fn since(self, earlier: Self) -> u16 {
                self.0.wrapping_sub(earlier.0)
            }
        }

        impl From<$name> for u16 {
            fn from(number: $name) -> Self {
                number.0
            }
        }
    };
}

wire_number! {
    /// Transport-wide number, which counts every packet of the video on all of its streams
    /// (draft-holmer-rmcat-transport-wide-cc-extensions-01, section 2).
    TransportSequence
}
wire_number! {
    /// RTP number on the stream of first transmissions (RFC 3550, section 5.1).
    MediaSequence
}
wire_number! {
    /// RTP number on the stream of retransmissions (RFC 4588, section 4), which also carries probes
    /// and repair packets of our own format.
    RtxSequence
}
wire_number! {
    /// RTP number on the stream of `FlexFEC`'s repair packets (RFC 8627, section 4.2).
    FecSequence
}

/// The stream and the RTP number of a packet of the video.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum StreamSequence {
    /// A packet on the stream of first transmissions.
    Media(MediaSequence),
    /// A packet on the stream of retransmissions.
    Rtx(RtxSequence),
    /// A packet on the stream of `FlexFEC`'s repair packets.
    Fec(FecSequence),
}

impl StreamSequence {
    /// The number as it is in the RTP header.
    #[must_use]
    pub const fn get(self) -> u16 {
        match self {
            Self::Media(number) => number.0,
            Self::Rtx(number) => number.0,
            Self::Fec(number) => number.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap() {
        let last = TransportSequence(u16::MAX);
        assert_eq!(last.plus(2), TransportSequence(1));
        assert_eq!(TransportSequence(1).minus(2), last);
        assert_eq!(TransportSequence(1).since(last), 2);
        assert_eq!(TransportSequence::of((1 << 16) + 7), TransportSequence(7));
    }
}
