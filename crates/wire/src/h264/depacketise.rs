//! Payloads into access units (RFC 6184, 5.6 to 5.8).

use super::{FRAGMENT_END, FRAGMENT_START, KIND_FU_A, KIND_MASK, KIND_STAP_A, UNIT_SIZE};

/// Written before each unit: the long form, which the first one needs (H.264,
/// B.1.2) and any may have.
const START_CODE: [u8; 4] = [0, 0, 0, 1];

/// Why payloads make no access unit. The sender, or a packet lost, is to blame.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("packet {packet}: {problem}")]
pub struct DepacketiseError {
    /// The packet, counted from one. That behind the last when the end is missing.
    pub packet: usize,
    /// What is wrong with it.
    pub problem: Malformed,
}

/// What is wrong with a payload.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// A payload without a first byte.
    #[error("the payload is empty; it begins with the type of what it holds")]
    Empty,
    /// A type that packetization-mode 1 has not.
    #[error("a payload of type {kind}; types 1 to 23, 24 (STAP-A) and 28 (FU-A) are known")]
    UnknownKind {
        /// The low five bits of the first byte.
        kind: u8,
    },
    /// A STAP-A that ends within a size or a unit, or that holds no unit.
    #[error("the STAP-A needs {needed} bytes at byte {at}, but {left} are left")]
    AggregateTooShort {
        /// Where the size or the unit begins.
        at: usize,
        /// How long it is.
        needed: usize,
        /// How much there is.
        left: usize,
    },
    /// A unit of no bytes in a STAP-A.
    #[error("the STAP-A has an empty unit at byte {at}; a unit has at least its type")]
    EmptyUnit {
        /// Where its size stands.
        at: usize,
    },
    /// A fragment of two bytes or one.
    #[error("the FU-A has {length} bytes; two come before the fragment")]
    FragmentTooShort {
        /// How many there are.
        length: usize,
    },
    /// The first fragment is also the last.
    #[error("the FU-A is first and last at once; a whole unit is not sent as a fragment")]
    FragmentIsWhole,
    /// A fragment that continues nothing, or something else.
    #[error("the FU-A continues a unit of type {kind}, but no such one has begun")]
    NotBegun {
        /// The type that its header says.
        kind: u8,
    },
    /// Another payload, or the end, while a unit lacks its last fragment.
    #[error("the unit that is cut into fragments has not ended; its last FU-A is missing")]
    NotEnded,
}

/// Puts the payloads of one access unit together, in the order of their sequence
/// numbers. The result is in annex B form.
///
/// # Errors
///
/// [`DepacketiseError`] with the first payload that does not fit, and why. A packet
/// that was lost in the midst of a unit leaves a unit damaged that is not always
/// noticed here: the caller has the sequence numbers.
pub fn depacketise<'a>(
    payloads: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Vec<u8>, DepacketiseError> {
    let mut unit = AccessUnit::default();
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
struct AccessUnit {
    stream: Vec<u8>,
    /// First byte of the unit whose fragments are coming.
    begun: Option<u8>,
}

impl AccessUnit {
    fn add(&mut self, payload: &[u8]) -> Result<(), Malformed> {
        let first = *payload.first().ok_or(Malformed::Empty)?;
        let kind = first & KIND_MASK;
        if kind == KIND_FU_A {
            return self.fragment(first, payload);
        }
        if self.begun.is_some() {
            return Err(Malformed::NotEnded);
        }
        match kind {
            1..KIND_STAP_A => {
                self.unit(payload);
                Ok(())
            }
            KIND_STAP_A => self.aggregate(payload),
            _ => Err(Malformed::UnknownKind { kind }),
        }
    }

    fn unit(&mut self, unit: &[u8]) {
        self.stream.extend_from_slice(&START_CODE);
        self.stream.extend_from_slice(unit);
    }

    fn aggregate(&mut self, payload: &[u8]) -> Result<(), Malformed> {
        let mut at = 1;
        loop {
            let size = taken(payload, at, UNIT_SIZE)?;
            let size = size
                .iter()
                .fold(0, |size, &byte| size << 8 | usize::from(byte));
            if size == 0 {
                return Err(Malformed::EmptyUnit { at });
            }
            let unit = taken(payload, at + UNIT_SIZE, size)?;
            self.unit(unit);
            at += UNIT_SIZE + size;
            if at == payload.len() {
                return Ok(());
            }
        }
    }

    fn fragment(&mut self, indicator: u8, payload: &[u8]) -> Result<(), Malformed> {
        let length = payload.len();
        let (header, body) = match payload {
            [_, header, body @ ..] if !body.is_empty() => (*header, body),
            _ => return Err(Malformed::FragmentTooShort { length }),
        };
        let first = indicator & !KIND_MASK | header & KIND_MASK;
        let ends = header & FRAGMENT_END != 0;
        if header & FRAGMENT_START != 0 {
            if self.begun.is_some() {
                return Err(Malformed::NotEnded);
            }
            if ends {
                return Err(Malformed::FragmentIsWhole);
            }
            let kind = first & KIND_MASK;
            if !(1..KIND_STAP_A).contains(&kind) {
                return Err(Malformed::UnknownKind { kind });
            }
            self.unit(&[first]);
            self.begun = Some(first);
        } else if self
            .begun
            .is_none_or(|begun| (begun ^ first) & KIND_MASK != 0)
        {
            let kind = first & KIND_MASK;
            return Err(Malformed::NotBegun { kind });
        }
        if ends {
            self.begun = None;
        }
        self.stream.extend_from_slice(body);
        Ok(())
    }
}

fn taken(payload: &[u8], at: usize, needed: usize) -> Result<&[u8], Malformed> {
    payload
        .get(at..at + needed)
        .ok_or(Malformed::AggregateTooShort {
            at,
            needed,
            left: payload.len().saturating_sub(at),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(payloads: &[&[u8]]) -> (usize, Malformed) {
        let error = depacketise(payloads.iter().copied()).unwrap_err();
        (error.packet, error.problem)
    }

    #[test]
    fn every_kind_of_payload_is_read() {
        let payloads: [&[u8]; 4] = [
            &[24, 0, 2, 0x67, 1, 0, 1, 0x68],
            &[0x7c, 0x85, 1, 2],
            &[0x7c, 0x45, 3],
            &[0x41, 4],
        ];
        assert_eq!(
            depacketise(payloads),
            Ok(vec![
                0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68, 0, 0, 0, 1, 0x65, 1, 2, 3, 0, 0, 0, 1, 0x41,
                4
            ])
        );
        assert_eq!(depacketise([]), Ok(Vec::new()));
    }

    #[test]
    fn every_broken_payload_is_named() {
        let short = |at, needed, left| Malformed::AggregateTooShort { at, needed, left };
        assert_eq!(problem(&[&[0x41, 1], &[]]), (2, Malformed::Empty));
        for kind in [0, 25, 26, 27, 29, 30, 31] {
            assert_eq!(
                problem(&[&[kind, 1, 2, 3]]),
                (1, Malformed::UnknownKind { kind })
            );
        }
        assert_eq!(problem(&[&[24]]), (1, short(1, 2, 0)));
        assert_eq!(problem(&[&[24, 0, 1, 0x41, 0]]), (1, short(4, 2, 1)));
        assert_eq!(problem(&[&[24, 0, 3, 0x41, 0]]), (1, short(3, 3, 2)));
        assert_eq!(problem(&[&[24, 0, 0]]), (1, Malformed::EmptyUnit { at: 1 }));
        assert_eq!(
            problem(&[&[28, 0x81]]),
            (1, Malformed::FragmentTooShort { length: 2 })
        );
        assert_eq!(problem(&[&[28, 0xc1, 0]]), (1, Malformed::FragmentIsWhole));
        assert_eq!(
            problem(&[&[28, 0x9c, 0]]),
            (1, Malformed::UnknownKind { kind: 28 })
        );
        assert_eq!(
            problem(&[&[28, 1, 0]]),
            (1, Malformed::NotBegun { kind: 1 })
        );
        assert_eq!(
            problem(&[&[28, 0x81, 0], &[28, 5, 0]]),
            (2, Malformed::NotBegun { kind: 5 })
        );
        assert_eq!(problem(&[&[28, 0x81, 0]]), (2, Malformed::NotEnded));
        assert_eq!(
            problem(&[&[28, 0x81, 0], &[28, 0x81, 0]]),
            (2, Malformed::NotEnded)
        );
        assert_eq!(
            problem(&[&[28, 0x81, 0], &[0x41, 0]]),
            (2, Malformed::NotEnded)
        );
    }

    #[test]
    fn an_error_says_where_and_what() {
        let error = depacketise([&[24, 0, 3, 0x41, 0][..]]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "packet 1: the STAP-A needs 3 bytes at byte 3, but 2 are left"
        );
    }
}
