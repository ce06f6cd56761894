//! What a stream is spared because a processor cannot keep up or its viewer asked for less, and why.

use mimosa_units::Bytes;

/// Why a stream is spared something: what cannot keep up, or who asked for less.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Strain {
    /// The encoder has the processor, and needs it for too long.
    EncoderAtLimit,
    /// The encoder waits for the processor, which other work has.
    ProcessorTaken,
    /// The viewer decodes or shows more slowly than frames come.
    ViewerBehind,
    /// The viewer asked that the stream take less than the network would let it have.
    ViewerLimit,
}

impl Strain {
    /// All kinds.
    pub const ALL: [Self; 4] = [
        Self::EncoderAtLimit,
        Self::ProcessorTaken,
        Self::ViewerBehind,
        Self::ViewerLimit,
    ];

    /// The name in recordings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EncoderAtLimit => "encoder-at-limit",
            Self::ProcessorTaken => "processor-taken",
            Self::ViewerBehind => "viewer-behind",
            Self::ViewerLimit => "viewer-limit",
        }
    }

    /// The kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }

    /// The clause that says it to a person.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::EncoderAtLimit => "the host's encoder is at its limit",
            Self::ProcessorTaken => "other programs take the host's processor",
            Self::ViewerBehind => "this viewer cannot keep up",
            Self::ViewerLimit => "this viewer asked for less data",
        }
    }
}

/// What a stream is spared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Relief {
    /// Why something is spared; `None` if nothing is.
    pub strain: Option<Strain>,
    /// The number of pictures of which one is encoded.
    pub every: u32,
    /// The sides of a picture as it is encoded, in quarters of the source's.
    pub quarters: u32,
    /// The most bytes of a frame, if they are fewer than what the controller grants.
    pub most: Option<Bytes>,
    /// Whether the encoder looks for less than its settings say.
    pub less_analysis: bool,
}

impl Relief {
    /// Nothing is spared.
    pub const NONE: Self = Self {
        strain: None,
        every: 1,
        quarters: 4,
        most: None,
        less_analysis: false,
    };

    /// The sentence that says to a person what is spared and why; `None` if nothing is.
    #[must_use]
    pub fn in_words(self) -> Option<String> {
        let cause = self.strain?.in_words();
        let mut spared = Vec::new();
        if self.less_analysis {
            spared.push("less analysis".to_owned());
        }
        if self.every > 1 {
            spared.push(format!("one picture of {}", self.every));
        }
        if self.quarters < 4 {
            spared.push(format!("{}/4 of each side", self.quarters));
        }
        if let Some(most) = self.most {
            spared.push(format!("at most {most} a frame"));
        }
        Some(format!("{cause}: {}", spared.join(", ")))
    }
}

impl Default for Relief {
    fn default() -> Self {
        Self::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spared_is_said_with_its_cause() {
        assert_eq!(Relief::NONE.in_words(), None);
        let relief = Relief {
            strain: Some(Strain::ProcessorTaken),
            every: 2,
            quarters: 3,
            most: None,
            less_analysis: false,
        };
        let words = "other programs take the host's processor: one picture of 2, 3/4 of each side";
        assert_eq!(relief.in_words().unwrap(), words);
    }

    #[test]
    fn names_are_read_back() {
        for strain in Strain::ALL {
            assert_eq!(Strain::from_name(strain.as_str()), Some(strain));
        }
        assert_eq!(Strain::from_name("tired"), None);
    }
}
