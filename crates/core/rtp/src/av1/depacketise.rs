//! Joins payloads into temporal units (section 4 of the RTP specification).

use super::{
    CONTINUES, COUNT_SHIFT, GOES_ON, HAS_SIZE, KIND_TEMPORAL_DELIMITER, NoObu, Obu, read_size,
    write_size,
};
use crate::video::{DepacketiseError, Malformed};

/// A temporal delimiter, which begins a temporal unit (AV1, 7.5).
const DELIMITER: [u8; 2] = [KIND_TEMPORAL_DELIMITER << 3 | HAS_SIZE, 0];

/// Joins the payloads of one temporal unit, given in the order of their sequence numbers. The
/// result is in low-overhead form, with a delimiter in front; it is empty when the payloads hold no
/// OBU that is sent.
///
/// # Errors
///
/// [`DepacketiseError`] names the first payload that does not fit, and why.
pub fn depacketise<'a>(
    payloads: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<u8>, DepacketiseError> {
    let mut unit = TemporalUnit::default();
    let mut packet = 1;
    for payload in payloads {
        unit.add(payload)
            .map_err(|problem| DepacketiseError { packet, problem })?;
        packet += 1;
    }
    if unit.begun.is_some() {
        let problem = Malformed::NotEnded;
        return Err(DepacketiseError { packet, problem });
    }
    Ok(unit.stream)
}

#[derive(Default)]
struct TemporalUnit {
    stream: Vec<u8>,
    /// The bytes received so far of an element that continues in the next payload.
    begun: Option<Vec<u8>>,
}

impl TemporalUnit {
    fn add(&mut self, payload: &[u8]) -> Result<(), Malformed> {
        let &first = payload.first().ok_or(Malformed::TooShort {
            length: 0,
            needed: 1,
        })?;
        match (first & CONTINUES != 0, self.begun.is_some()) {
            (true, false) => return Err(Malformed::NotBegun),
            (false, true) => return Err(Malformed::NotEnded),
            _ => {}
        }
        let goes_on = first & GOES_ON != 0;
        let count = usize::from(first >> COUNT_SHIFT & 3);
        let (mut at, mut place) = (1, 0);
        loop {
            place += 1;
            let element = if place == count {
                payload.get(at..).unwrap_or_default()
            } else {
                let (size, length) = payload
                    .get(at..)
                    .and_then(read_size)
                    .ok_or(Malformed::NoSize { at })?;
                at += length;
                payload.get(at..at + size).ok_or(Malformed::Cut {
                    at,
                    needed: size,
                    left: payload.len().saturating_sub(at),
                })?
            };
            if element.is_empty() {
                return Err(Malformed::NoHeader {
                    at,
                    length: 0,
                    needed: 1,
                });
            }
            at += element.len();
            // Without a count, the elements end with the payload.
            let is_last = if count == 0 {
                at == payload.len()
            } else {
                place == count
            };
            self.element(element, is_last && goes_on)?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// Takes the next element, or the next fragment of one.
    fn element(&mut self, element: &[u8], goes_on: bool) -> Result<(), Malformed> {
        match self.begun.take() {
            Some(mut begun) => {
                begun.extend_from_slice(element);
                if goes_on {
                    self.begun = Some(begun);
                    return Ok(());
                }
                self.obu(&begun)
            }
            None if goes_on => {
                self.begun = Some(element.to_vec());
                Ok(())
            }
            None => self.obu(element),
        }
    }

    fn obu(&mut self, element: &[u8]) -> Result<(), Malformed> {
        let length = element.len();
        let (obu, rest) = Obu::read(element).map_err(|problem| match problem {
            NoObu::Header => Malformed::UnknownKind {
                kind: element.first().map_or(0, |first| first >> 3),
                known: "1 and 3 to 7 of OBUs",
            },
            NoObu::Size => Malformed::OtherSize { length },
        })?;
        if !rest.is_empty() {
            return Err(Malformed::OtherSize { length });
        }
        if !obu.is_sent() {
            return Ok(());
        }
        if self.stream.is_empty() {
            self.stream.extend_from_slice(&DELIMITER);
        }
        self.stream.push(obu.first | HAS_SIZE);
        self.stream.extend(obu.extension);
        write_size(obu.body.len(), |byte| self.stream.push(byte));
        self.stream.extend_from_slice(obu.body);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn problem(payloads: &[&[u8]]) -> (usize, Malformed) {
        let error = depacketise(payloads.iter().copied()).unwrap_err();
        (error.packet, error.problem)
    }

    #[test]
    fn every_kind_of_payload_is_read() {
        let expected = vec![0x12, 0, 0x0a, 2, 7, 8, 0x32, 3, 0x10, 1, 2];
        for payloads in [
            // Two elements; the last has no size.
            &[&[0x28, 3, 0x08, 7, 8, 0x30, 0x10, 1, 2][..]][..],
            // All elements have a size.
            &[&[0x08, 3, 0x08, 7, 8, 4, 0x30, 0x10, 1, 2]],
            // An OBU may have its own size.
            &[&[0x28, 4, 0x0a, 2, 7, 8, 0x32, 3, 0x10, 1, 2]],
            // Fragments, even of the header, with sizes or without.
            &[&[0x58, 0x08], &[0xe0, 2, 7, 8, 0x30], &[0x90, 0x10, 1, 2]],
            &[&[0x48, 3, 0x08, 7, 8, 1, 0x30], &[0x80, 3, 0x10, 1, 2]],
            &[
                &[0x58, 0x08],
                &[0xd0, 7],
                &[0x90, 8],
                &[0x10, 0x30, 0x10, 1, 2],
            ],
            // A delimiter, padding and reserved OBU types are passed over.
            &[
                &[0x30, 1, 0x10, 3, 0x08, 7, 8, 0x78],
                &[0x20, 1, 0x40, 0x30, 0x10, 1, 2],
            ],
        ] {
            assert_eq!(depacketise(payloads.iter().copied()), Ok(expected.clone()));
        }
        let layered = depacketise([&[0x10, 0x34, 0x20, 0x30][..]]);
        assert_eq!(layered, Ok(vec![0x12, 0, 0x36, 0x20, 1, 0x30]));
        assert_eq!(depacketise([]), Ok(Vec::new()));
    }

    #[test]
    fn every_broken_payload_is_named() {
        let (length, needed) = (0, 1);
        let too_short = Malformed::TooShort { length, needed };
        assert_eq!(problem(&[&[0x10, 0x30, 1], &[]]), (2, too_short));
        let no_header = |at| Malformed::NoHeader { at, length, needed };
        assert_eq!(problem(&[&[0x10]]), (1, no_header(1)));
        assert_eq!(problem(&[&[0x20, 0, 0x30]]), (1, no_header(2)));
        assert_eq!(problem(&[&[0x20, 1, 0x30]]), (1, no_header(3)));
        assert_eq!(problem(&[&[0]]), (1, Malformed::NoSize { at: 1 }));
        let long = &[0x20, 0x80, 0x80, 0x80, 0x80, 1];
        assert_eq!(problem(&[long]), (1, Malformed::NoSize { at: 1 }));
        let (at, needed, left) = (2, 3, 2);
        let cut = Malformed::Cut { at, needed, left };
        assert_eq!(problem(&[&[0x20, 3, 0x30, 1]]), (1, cut));
        assert_eq!(problem(&[&[0x90, 1]]), (1, Malformed::NotBegun));
        assert_eq!(problem(&[&[0x50, 0x30]]), (2, Malformed::NotEnded));
        let begun: &[u8] = &[0x50, 0x30];
        assert_eq!(problem(&[begun, &[0x10, 0x30]]), (2, Malformed::NotEnded));
        let known = "1 and 3 to 7 of OBUs";
        let kind = 0x16;
        let unknown = Malformed::UnknownKind { kind, known };
        assert_eq!(problem(&[&[0x10, 0xb0, 1]]), (1, unknown));
        for (element, length) in [(&[0x10, 0x32, 2, 1][..], 3), (&[0x10, 0x32, 0, 1], 3)] {
            assert_eq!(problem(&[element]), (1, Malformed::OtherSize { length }));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        #[test]
        fn no_payload_makes_it_panic(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..5),
        ) {
            let _ = depacketise(payloads.iter().map(Vec::as_slice));
        }
    }
}
