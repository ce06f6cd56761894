//! The types of the units in a coded frame.

use mimosa_facts::Codec;

/// The types of the units in `data`, in their order.
pub(crate) fn unit_types(codec: Codec, data: &[u8]) -> Vec<u8> {
    match codec {
        Codec::H264 => nal_units(data).map(|header| header & 31).collect(),
        Codec::H265 => nal_units(data).map(|header| (header >> 1) & 63).collect(),
        Codec::Av1 => obus(data),
    }
}

/// The first byte of every NAL unit in a byte stream.
fn nal_units(stream: &[u8]) -> impl Iterator<Item = u8> {
    stream
        .windows(4)
        .filter(|window| window.starts_with(&[0, 0, 1]))
        .map(|window| window[3])
}

/// The types of the OBUs in a temporal unit, each of which states its size.
fn obus(mut stream: &[u8]) -> Vec<u8> {
    let mut types = Vec::new();
    while let [header, rest @ ..] = stream {
        assert_eq!(
            header & 0b1000_0111,
            0b010,
            "an OBU has no extension and states its size"
        );
        types.push(header >> 3);
        let mut length = 0;
        let mut bytes = rest;
        for place in 0.. {
            let (&byte, left) = bytes.split_first().unwrap();
            bytes = left;
            length |= usize::from(byte & 127) << (7 * place);
            if byte < 128 {
                break;
            }
        }
        stream = &bytes[length..];
    }
    types
}
