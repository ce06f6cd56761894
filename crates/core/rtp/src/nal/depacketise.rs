//! Joins payloads into access units (RFC 6184, 5.6 to 5.8; RFC 7798, 4.4).

use std::marker::PhantomData;

use super::{FRAGMENT_END, FRAGMENT_START, Format, UNIT_SIZE};
use crate::video::{DepacketiseError, Malformed};

/// The start code before each unit: the long form, which the first unit needs (H.264, B.1.2) and
/// any unit may have.
const START_CODE: [u8; 4] = [0, 0, 0, 1];

/// Joins the payloads of one access unit. The result is in annex B form.
pub(crate) fn depacketise<'a, F: Format>(
    payloads: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<u8>, DepacketiseError> {
    let mut unit = AccessUnit::<F> {
        stream: Vec::new(),
        begun: None,
        format: PhantomData,
    };
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

struct AccessUnit<F> {
    stream: Vec<u8>,
    /// Type of the unit whose fragments are being joined.
    begun: Option<u8>,
    format: PhantomData<F>,
}

impl<F: Format> AccessUnit<F> {
    fn add(&mut self, payload: &[u8]) -> Result<(), Malformed> {
        let too_short = Malformed::TooShort {
            length: payload.len(),
            needed: F::HEADER,
        };
        let (header, body) = payload.split_at_checked(F::HEADER).ok_or(too_short)?;
        let kind = F::kind(*header.first().ok_or(too_short)?);
        if kind == F::FRAGMENT {
            return self.fragment(header, body);
        }
        if self.begun.is_some() {
            return Err(Malformed::NotEnded);
        }
        if kind == F::AGGREGATE {
            return self.aggregate(payload);
        }
        check::<F>(kind)?;
        self.unit(payload);
        Ok(())
    }

    fn unit(&mut self, unit: &[u8]) {
        self.stream.extend_from_slice(&START_CODE);
        self.stream.extend_from_slice(unit);
    }

    fn aggregate(&mut self, payload: &[u8]) -> Result<(), Malformed> {
        let mut at = F::HEADER;
        loop {
            let size = taken(payload, at, UNIT_SIZE)?;
            let length = size
                .iter()
                .fold(0, |size, &byte| size << 8 | usize::from(byte));
            if length < F::HEADER {
                return Err(Malformed::NoHeader {
                    at,
                    length,
                    needed: F::HEADER,
                });
            }
            let unit = taken(payload, at + UNIT_SIZE, length)?;
            self.unit(unit);
            at += UNIT_SIZE + length;
            if at == payload.len() {
                return Ok(());
            }
        }
    }

    fn fragment(&mut self, header: &[u8], rest: &[u8]) -> Result<(), Malformed> {
        let empty = Malformed::EmptyFragment {
            length: header.len() + rest.len(),
            header: F::HEADER + 1,
        };
        let (&own, body) = rest.split_first().ok_or(empty)?;
        if body.is_empty() {
            return Err(empty);
        }
        let kind = own & F::KIND_MASK;
        let ends = own & FRAGMENT_END != 0;
        if own & FRAGMENT_START != 0 {
            if self.begun.is_some() {
                return Err(Malformed::NotEnded);
            }
            if ends {
                return Err(Malformed::FragmentIsWhole);
            }
            check::<F>(kind)?;
            self.unit(&[]);
            if let Some((&first, others)) = header.split_first() {
                self.stream.push(F::with_kind(first, kind));
                self.stream.extend_from_slice(others);
            }
            self.begun = Some(kind);
        } else if self.begun != Some(kind) {
            return Err(Malformed::NotBegun);
        }
        if ends {
            self.begun = None;
        }
        self.stream.extend_from_slice(body);
        Ok(())
    }
}

fn check<F: Format>(kind: u8) -> Result<(), Malformed> {
    let known = F::KNOWN;
    F::is_unit(kind)
        .then_some(())
        .ok_or(Malformed::UnknownKind { kind, known })
}

fn taken(payload: &[u8], at: usize, needed: usize) -> Result<&[u8], Malformed> {
    payload.get(at..at + needed).ok_or(Malformed::Cut {
        at,
        needed,
        left: payload.len().saturating_sub(at),
    })
}
