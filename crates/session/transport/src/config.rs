//! The configuration of str0m for one offer.

use mimosa_rtp::dependency::DEPENDENCY_DESCRIPTOR;
use str0m::RtcConfig;
use str0m::format::{Codec, FormatParams};
use str0m::media::Frequency;
use str0m::rtp::Extension;

use crate::codecs::known;
use crate::extension::{DependencyDescriptor, TransportCc02};
use crate::reports::{Numbers, TRANSPORT_CC_02};
use crate::sdp::{Offer, RepairOffer};
use crate::start::Start;

/// str0m in RTP mode without its bandwidth estimator, which leaves it without a pacer: a packet
/// leaves as soon as it is written.
pub(crate) fn configure(offer: &Offer, start: Start) -> RtcConfig {
    let mut config = RtcConfig::new()
        .set_crypto_provider(start.provider())
        .clear_codecs()
        .clear_extension_map()
        .set_extension(1, Extension::RtpMid)
        .set_extension(2, Extension::PlayoutDelay)
        .set_extension(
            4,
            Extension::with_serializer(DEPENDENCY_DESCRIPTOR, DependencyDescriptor),
        )
        .set_rtp_mode(true)
        .set_ice_lite(true)
        .enable_bwe(None);
    match offer.numbers {
        Numbers::Second => {
            let extension = Extension::with_serializer(TRANSPORT_CC_02, TransportCc02);
            config = config.set_extension(3, extension);
        }
        // str0m numbers the packets itself, as the sender does. Both count every packet.
        Numbers::First => {
            config = config.set_extension(3, Extension::TransportSequenceNumber);
        }
        Numbers::None => {}
    }
    let codecs = config.codec_config();
    let rate = Frequency::NINETY_KHZ;
    let video = &offer.codec;
    codecs.add_config(
        video.payload_type.into(),
        None,
        known(video.codec),
        rate,
        None,
        video.format,
    );
    let flexfec = match offer.repairs {
        RepairOffer::Flexfec(number) => Some(number),
        RepairOffer::None | RepairOffer::Own => None,
    };
    for number in [offer.rtx, flexfec].into_iter().flatten() {
        // str0m sends nothing with a payload type that it does not know. Adding a codec that no
        // browser offers makes the type known, and leaves it out of the answer.
        codecs.add_config(
            number.into(),
            None,
            Codec::H266,
            rate,
            None,
            FormatParams::default(),
        );
    }
    if let Some(sound) = &offer.sound {
        let format = FormatParams {
            min_p_time: Some(10),
            use_inband_fec: Some(true),
            stereo: Some(true),
            sprop_stereo: Some(true),
            ..FormatParams::default()
        };
        let rate = Frequency::FORTY_EIGHT_KHZ;
        codecs.add_config(
            sound.agreed.opus.into(),
            None,
            Codec::Opus,
            rate,
            Some(2),
            format,
        );
        if let Some(red) = sound.agreed.red {
            // Makes the payload type known, as for repair packets: no audio codec has this clock
            // rate.
            let nothing = FormatParams::default();
            codecs.add_config(red.into(), None, Codec::PCMA, rate, None, nothing);
        }
    }
    config
}
