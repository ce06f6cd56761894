//! The encoders of a host, by the codecs that they produce.

use mimosa_facts::{Codec, EntropyCoding};
use mimosa_settings::EncoderSettings;
use mimosa_video::Size;

use super::built_in::{ENCODERS, open_encoder};
use crate::error::HostError;

/// An encoder that was opened successfully, and its codec.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EncoderChoice {
    pub(crate) codec: Codec,
    pub(crate) settings: EncoderSettings,
    /// The encoder's name and version.
    pub(crate) name: String,
}

impl EncoderChoice {
    /// The settings of the encoder of one viewer. An encoder prepares for parts only where a viewer takes them: some
    /// decoders take pictures of one slice only.
    pub(crate) const fn for_viewer(&self, takes_parts: bool) -> EncoderSettings {
        EncoderSettings {
            parts: if takes_parts {
                self.settings.most_parts()
            } else {
                1
            },
            ..self.settings
        }
    }
}

/// The encoders of a host: that of its settings, and another for viewers that do not decode the
/// first one's codec.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EncoderChoices {
    first: EncoderChoice,
    other: Option<EncoderChoice>,
}

impl EncoderChoices {
    /// Opens the encoder that `settings` name. If its codec is not H.264, which every browser
    /// decodes, opens the first H.264 encoder that works as well.
    ///
    /// # Errors
    ///
    /// [`HostError::Encoder`] if the named encoder does not open.
    pub(crate) fn open(
        settings: EncoderSettings,
        frames_per_second: u32,
        size: Size,
    ) -> Result<Self, HostError> {
        let open = |settings: EncoderSettings| {
            let encoder = open_encoder(settings, frames_per_second, size)?;
            let capabilities = encoder.capabilities();
            // A session must not count on another encoder where each has the same coding.
            let only = match encoder.entropy_coding() {
                Some(_) => None,
                None => Some(EntropyCoding::default()),
            };
            Ok::<_, HostError>(EncoderChoice {
                codec: capabilities.codec,
                settings: EncoderSettings {
                    entropy: settings.entropy.or(only),
                    ..settings
                },
                name: capabilities.name.clone(),
            })
        };
        let first = open(settings)?;
        let others = ENCODERS
            .iter()
            .filter_map(|&name| open(EncoderSettings { name, ..settings }).ok());
        let choices = Self::among(first, others);
        if let Some(other) = &choices.other {
            let (codec, name) = (choices.first.codec.name(), other.settings.name.name());
            tracing::info!("viewers without {codec} get H264, by {name}");
        }
        Ok(choices)
    }

    fn among(first: EncoderChoice, mut others: impl Iterator<Item = EncoderChoice>) -> Self {
        let other = match first.codec {
            Codec::H264 => None,
            Codec::H265 | Codec::Av1 => others.find(|other| other.codec == Codec::H264),
        };
        Self { first, other }
    }

    /// The codecs that can be sent, with that of the settings first.
    pub(crate) fn codecs(&self) -> Vec<Codec> {
        let other = self.other.as_ref().map(|other| other.codec);
        std::iter::once(self.first.codec).chain(other).collect()
    }

    /// The encoder that produces `codec`, which is one of [`Self::codecs`].
    pub(crate) fn of(&self, codec: Codec) -> &EncoderChoice {
        let other = self.other.as_ref().filter(|other| other.codec == codec);
        other.unwrap_or(&self.first)
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::Complexity;
    use mimosa_settings::{ElementName, EncoderName, FrameSizes, SizePrediction, Work};

    use super::*;

    fn settings(name: EncoderName) -> EncoderSettings {
        EncoderSettings {
            name,
            element: ElementName::default(),
            work: Work::Always(Complexity::C0),
            buffer_frames: 1,
            size_prediction: SizePrediction::Motion,
            adapts_detail: true,
            relieves: false,
            entropy: None,
            finest_quantiser: 17,
            sizes: FrameSizes::default(),
            parts: 1,
            threads: 1,
        }
    }

    fn choice(codec: Codec, name: EncoderName) -> EncoderChoice {
        EncoderChoice {
            codec,
            settings: settings(name),
            name: String::new(),
        }
    }

    #[test]
    fn an_encoder_prepares_for_parts_where_a_viewer_takes_them() {
        let mut choice = choice(Codec::H264, EncoderName::GStreamer);
        choice.settings.parts = 8;
        assert_eq!(choice.for_viewer(true), choice.settings);
        assert_eq!(choice.for_viewer(false).parts, 1);
        choice.settings.sizes = FrameSizes::Strict;
        assert_eq!(choice.for_viewer(true).parts, 1);
    }

    #[cfg(feature = "openh264")]
    #[test]
    fn a_host_of_h264_has_nothing_else() {
        let size = "320x240".parse().unwrap();
        let opened = EncoderChoices::open(settings(EncoderName::OpenH264), 60, size).unwrap();
        assert_eq!(opened.codecs(), [Codec::H264]);
        assert_eq!(opened.of(Codec::H264).settings.name, EncoderName::OpenH264);
        let more = [choice(Codec::H264, EncoderName::Auto)];
        let choices =
            EncoderChoices::among(choice(Codec::H264, EncoderName::OpenH264), more.into_iter());
        assert_eq!(choices.codecs(), opened.codecs());
        let name = &opened.of(Codec::H264).name;
        assert!(name.to_lowercase().contains("openh264"), "{name}");
    }

    #[cfg(all(feature = "openh264", feature = "x264"))]
    #[test]
    fn only_an_encoder_with_a_choice_adapts_its_entropy_coding() {
        for (name, entropy) in [
            (EncoderName::X264, None),
            (EncoderName::OpenH264, Some(EntropyCoding::Arithmetic)),
        ] {
            let size = "320x240".parse().unwrap();
            let opened = EncoderChoices::open(settings(name), 60, size).unwrap();
            let choice = opened.of(Codec::H264);
            assert_eq!(choice.for_viewer(true).entropy, entropy, "{name:?}");
        }
    }

    #[test]
    fn viewers_without_another_codec_get_h264() {
        let first = choice(Codec::Av1, EncoderName::Auto);
        let others = [Codec::Av1, Codec::H265, Codec::H264];
        let others = others.map(|codec| choice(codec, EncoderName::OpenH264));
        let choices = EncoderChoices::among(first.clone(), others.clone().into_iter());
        assert_eq!(choices.codecs(), [Codec::Av1, Codec::H264]);
        assert_eq!(
            (choices.of(Codec::Av1), choices.of(Codec::H264)),
            (&first, &others[2])
        );
        let alone = EncoderChoices::among(first.clone(), others.into_iter().take(2));
        assert_eq!(alone.codecs(), [Codec::Av1]);
    }
}
