//! The header extension transport-wide-cc-02, as str0m writes it for us.

use mimosa_wire::transport_cc::TransportSequence;
use str0m::rtp::{ExtensionSerializer, ExtensionValues};

/// Writes the [`TransportSequence`] that a packet carries among its user values.
#[derive(Debug)]
pub(crate) struct TransportCc02;

impl ExtensionSerializer for TransportCc02 {
    fn write_to(&self, buffer: &mut [u8], values: &ExtensionValues) -> usize {
        let Some(sequence) = values.user_values.get::<TransportSequence>() else {
            return 0;
        };
        let bytes = sequence.to_bytes();
        let Some(space) = buffer.get_mut(..bytes.len()) else {
            return 0;
        };
        space.copy_from_slice(&bytes);
        bytes.len()
    }

    fn parse_value(&self, _buffer: &[u8], _values: &mut ExtensionValues) -> bool {
        true
    }

    fn is_video(&self) -> bool {
        true
    }

    fn is_audio(&self) -> bool {
        false
    }
}
