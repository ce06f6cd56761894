//! How a frame is coded.

/// A video codec.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Codec {
    /// ITU-T H.264, as an Annex B byte stream.
    H264,
    /// ITU-T H.265 (HEVC), as an Annex B byte stream.
    H265,
    /// AV1, as a temporal unit in the low-overhead bitstream format (section 5 of its
    /// specification).
    Av1,
}

impl Codec {
    /// All codecs.
    pub const ALL: [Self; 3] = [Self::H264, Self::H265, Self::Av1];

    /// The codec's name in RTP (the encoding name of `a=rtpmap`), settings and recordings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::H264 => "H264",
            Self::H265 => "H265",
            Self::Av1 => "AV1",
        }
    }

    /// The suffix of files that hold a stream of the codec.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::H264 => "h264",
            Self::H265 => "h265",
            Self::Av1 => "obu",
        }
    }
}

/// How much work an encoder puts into a frame: the levels of the ACE paper,
/// section 5.1, from the cheapest.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, PartialOrd)]
pub enum Complexity {
    /// c0: the fewest partitions, a small motion search.
    #[default]
    C0,
    /// c0 with inter partitions, hexagonal search and finer sub-pixels; between
    /// the paper's levels.
    C0Plus,
    /// c1: all partitions, hexagonal search.
    C1,
    /// c2: c1 with trellis quantisation.
    C2,
}

impl Complexity {
    /// All levels, from the least work to the most.
    pub const ALL: [Self; 4] = [Self::C0, Self::C0Plus, Self::C1, Self::C2];

    /// The level's name in settings and recordings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::C0 => "c0",
            Self::C0Plus => "c0+",
            Self::C1 => "c1",
            Self::C2 => "c2",
        }
    }
}

/// How an encoder of H.264 turns its decisions into bits (ITU-T H.264, section 9).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum EntropyCoding {
    /// CABAC (section 9.3): the better picture from as many bits.
    #[default]
    Arithmetic,
    /// CAVLC (section 9.2): less work for encoder and decoder.
    VariableLength,
}

impl EntropyCoding {
    /// The name in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arithmetic => "cabac",
            Self::VariableLength => "cavlc",
        }
    }
}
