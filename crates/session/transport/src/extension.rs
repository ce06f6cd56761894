//! Serialisers of RTP header extensions that str0m does not know. The extensions' values are among
//! the packet's user values.

use mimosa_rtp::dependency::Dependency;
use mimosa_rtp::transport_cc::TransportExtension;
use str0m::rtp::{ExtensionSerializer, ExtensionValues};

/// Reads and writes a packet's [`TransportExtension`].
#[derive(Debug)]
pub(crate) struct TransportCc02;

/// Reads and writes a packet's [`Dependency`].
#[derive(Debug)]
pub(crate) struct DependencyDescriptor;

/// Puts an extension's data at the beginning of `buffer` and returns its length, which is zero
/// without data.
fn put(buffer: &mut [u8], data: Option<Vec<u8>>) -> usize {
    let data = data.unwrap_or_default();
    let Some(space) = buffer.get_mut(..data.len()) else {
        return 0;
    };
    space.copy_from_slice(&data);
    data.len()
}

impl ExtensionSerializer for TransportCc02 {
    fn write_to(&self, buffer: &mut [u8], values: &ExtensionValues) -> usize {
        let sequence = values.user_values.get::<TransportExtension>();
        put(buffer, sequence.map(|sequence| sequence.to_bytes()))
    }

    fn parse_value(&self, buffer: &[u8], values: &mut ExtensionValues) -> bool {
        if let Ok(sequence) = TransportExtension::parse(buffer) {
            values.user_values.set(sequence);
        }
        true
    }

    fn is_video(&self) -> bool {
        true
    }

    fn is_audio(&self) -> bool {
        false
    }
}

impl ExtensionSerializer for DependencyDescriptor {
    fn write_to(&self, buffer: &mut [u8], values: &ExtensionValues) -> usize {
        let dependency = values.user_values.get::<Dependency>();
        put(buffer, dependency.map(Dependency::to_bytes))
    }

    fn parse_value(&self, buffer: &[u8], values: &mut ExtensionValues) -> bool {
        if let Ok(dependency) = Dependency::parse(buffer) {
            values.user_values.set(dependency);
        }
        true
    }

    fn is_video(&self) -> bool {
        true
    }

    fn is_audio(&self) -> bool {
        false
    }
}
