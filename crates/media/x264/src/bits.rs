//! Reading and writing the bits of NAL units, from the highest bit of the first byte on.

/// Splits `unit` behind its start code; returns `None` if it begins with none.
pub(crate) fn split_start_code(unit: &[u8]) -> Option<(&[u8], &[u8])> {
    let zeros = unit.iter().position(|&byte| byte != 0)?;
    (zeros >= 2 && unit[zeros] == 1).then(|| unit.split_at(zeros + 1))
}

/// A reader of bits.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    payload: &'a [u8],
    next: usize,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(payload: &'a [u8]) -> Self {
        Self { payload, next: 0 }
    }

    /// The number of bits that were read.
    pub(crate) const fn position(&self) -> usize {
        self.next
    }

    /// Reads `count` bits, at most 32, as a number.
    pub(crate) fn fixed(&mut self, count: u32) -> Option<u32> {
        let mut number = 0;
        for _ in 0..count {
            let byte = self.payload.get(self.next / 8)?;
            number = number << 1 | u32::from(byte >> (7 - self.next % 8) & 1);
            self.next += 1;
        }
        Some(number)
    }

    /// Reads an Exp-Golomb code (section 9.1); a signed code has the same length.
    pub(crate) fn golomb(&mut self) -> Option<u32> {
        let mut zeros = 0;
        while self.fixed(1)? == 0 {
            zeros += 1;
            if zeros > 31 {
                return None;
            }
        }
        Some((1 << zeros) - 1 + self.fixed(zeros)?)
    }
}

/// A writer of bits.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    payload: Vec<u8>,
    written: usize,
}

impl Writer {
    /// Writes the lowest `count` bits of `number`.
    pub(crate) fn fixed(&mut self, number: u32, count: u32) {
        for bit in (0..count).rev() {
            if self.written.is_multiple_of(8) {
                self.payload.push(0);
            }
            if number >> bit & 1 == 1
                && let Some(last) = self.payload.last_mut()
            {
                *last |= 0x80 >> (self.written % 8);
            }
            self.written += 1;
        }
    }

    /// Writes the Exp-Golomb code of a small number.
    pub(crate) fn golomb(&mut self, number: u32) {
        let bits = (number + 1).ilog2();
        self.fixed(0, bits);
        self.fixed(number + 1, bits + 1);
    }

    /// Writes the bits of `payload` from one position up to another, excluded.
    pub(crate) fn copy(&mut self, payload: &[u8], from: usize, to: usize) {
        let mut reader = Reader {
            payload,
            next: from,
        };
        for _ in from..to {
            let Some(bit) = reader.fixed(1) else { return };
            self.fixed(bit, 1);
        }
    }

    /// The bytes that were written, filled up with zeros.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.payload
    }
}

/// A filter that removes emulation prevention bytes (section 7.4.1), one byte at a time.
#[derive(Debug, Default)]
pub(crate) struct Unescape {
    zeros: usize,
}

impl Unescape {
    /// Whether `byte`, the next one, belongs to the payload.
    pub(crate) const fn keeps(&mut self, byte: u8) -> bool {
        if self.zeros >= 2 && byte == 3 {
            self.zeros = 0;
            return false;
        }
        self.zeros = if byte == 0 { self.zeros + 1 } else { 0 };
        true
    }
}

/// Appends `payload` to `coded` with emulation prevention bytes.
pub(crate) fn escape_into(payload: &[u8], coded: &mut Vec<u8>) {
    let mut zeros = 0;
    for &byte in payload {
        if zeros >= 2 && byte <= 3 {
            coded.push(3);
            zeros = 0;
        }
        zeros = if byte == 0 { zeros + 1 } else { 0 };
        coded.push(byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_read_as_they_were_written() {
        let mut writer = Writer::default();
        for number in 0..40 {
            writer.golomb(number);
            writer.fixed(number, 7);
        }
        let payload = writer.finish();
        let mut reader = Reader::new(&payload);
        for number in 0..40 {
            assert_eq!(reader.golomb(), Some(number));
            assert_eq!(reader.fixed(7), Some(number));
        }
        assert!(reader.fixed(8).is_none(), "the end");
    }

    #[test]
    fn escapes_hide_start_codes_and_come_out_again() {
        let payload = [1, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0];
        let mut coded = Vec::new();
        escape_into(&payload, &mut coded);
        assert!(
            !coded
                .windows(3)
                .any(|three| three[..2] == [0, 0] && three[2] < 3),
            "{coded:?}"
        );
        let mut unescape = Unescape::default();
        coded.retain(|&byte| unescape.keeps(byte));
        assert_eq!(coded, payload);
    }
}
