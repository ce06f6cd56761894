//! The index of recorded pictures and a recorded stream: the place of each frame.
//!
//! An index is a line of column names, then a line for each coded frame in the order of
//! encoding. The values are whole numbers, separated by commas.

use mimosa_units::Time;

use crate::header::number;

/// The first line of an index.
pub const INDEX_HEADER: &str = "frame,captured_ns,rtp_timestamp,keyframe,picture,offset,bytes\n";

/// One line of an index: a coded frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct IndexRow {
    /// The frame's number in the session; skipped frames have no line.
    pub frame: u64,
    /// The time at which the source had the picture.
    pub captured: Time,
    /// The timestamp of the frame's RTP packets.
    pub rtp_timestamp: u32,
    /// Whether the frame can be decoded without the frames before it.
    pub is_keyframe: bool,
    /// Whether the recording has the frame's picture.
    pub has_picture: bool,
    /// The offset of the frame's bytes in the stream.
    pub offset: u64,
    /// The number of the frame's bytes.
    pub bytes: u64,
}

/// The reason why a text is not an index.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The text does not begin with [`INDEX_HEADER`].
    #[error("line 1: the index does not begin with `{}`; name the folder of a recording with pictures", INDEX_HEADER.trim_end())]
    NoHeader,
    /// A line is not a row of an index.
    #[error("line {line}: `{text}` is not a row; the file is damaged, record again")]
    BadRow {
        /// The number of the line, counted from one.
        line: usize,
        /// The line as the text has it.
        text: String,
    },
    /// The frames are out of order.
    #[error(
        "line {line}: the frame or its bytes do not follow those of the line before; the file is damaged, record again"
    )]
    Disorder {
        /// The number of the line, counted from one.
        line: usize,
    },
}

impl IndexRow {
    /// The row as a line with its line end.
    #[must_use]
    pub fn to_line(&self) -> String {
        format!(
            "{},{},{},{},{},{},{}\n",
            self.frame,
            self.captured.as_nanos(),
            self.rtp_timestamp,
            u8::from(self.is_keyframe),
            u8::from(self.has_picture),
            self.offset,
            self.bytes
        )
    }

    fn parse(line: &str) -> Option<Self> {
        let mut cells = line.split(',').map(str::as_bytes);
        let row = Self {
            frame: number(cells.next()?)?,
            captured: Time::from_nanos(number(cells.next()?)?),
            rtp_timestamp: number(cells.next()?)?,
            is_keyframe: flag(cells.next()?)?,
            has_picture: flag(cells.next()?)?,
            offset: number(cells.next()?)?,
            bytes: number(cells.next()?)?,
        };
        cells.next().is_none().then_some(row)
    }

    /// Reads an index. A last line without a line end was still being written, and is left
    /// out.
    ///
    /// # Errors
    ///
    /// [`IndexError`] with the number of the line.
    pub fn read(text: &str) -> Result<Vec<Self>, IndexError> {
        let rest = text
            .strip_prefix(INDEX_HEADER)
            .ok_or(IndexError::NoHeader)?;
        let mut rows: Vec<Self> = Vec::new();
        for (line, text) in (2..).zip(rest.split_inclusive('\n')) {
            let Some(text) = text.strip_suffix('\n') else {
                break;
            };
            let row = Self::parse(text).ok_or_else(|| IndexError::BadRow {
                line,
                text: text.to_owned(),
            })?;
            let (least, offset) = rows.last().map_or((Some(0), Some(0)), |before| {
                let end = before.offset.checked_add(before.bytes);
                (before.frame.checked_add(1), end)
            });
            if least.is_none_or(|least| row.frame < least) || offset != Some(row.offset) {
                return Err(IndexError::Disorder { line });
            }
            rows.push(row);
        }
        Ok(rows)
    }
}

fn flag(text: &[u8]) -> Option<bool> {
    match text {
        b"0" => Some(false),
        b"1" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(frame: u64, offset: u64) -> IndexRow {
        IndexRow {
            frame,
            captured: Time::from_nanos(u64::MAX),
            rtp_timestamp: u32::MAX,
            is_keyframe: frame == 0,
            has_picture: frame != 4,
            offset,
            bytes: 10,
        }
    }

    #[test]
    fn rows_are_read_as_they_are_written() {
        let rows = [row(0, 0), row(3, 10), row(4, 20)];
        let text: String = rows.iter().map(IndexRow::to_line).collect();
        let text = format!("{INDEX_HEADER}{text}");
        assert_eq!(IndexRow::read(&text), Ok(rows.to_vec()));
        assert_eq!(IndexRow::read(INDEX_HEADER), Ok(Vec::new()));
        let unfinished = &text[..text.len() - 1];
        assert_eq!(IndexRow::read(unfinished), Ok(rows[..2].to_vec()));
    }

    #[test]
    fn what_is_no_index_is_refused_with_its_line() {
        let said = |rows: &str| {
            let error = IndexRow::read(&format!("{INDEX_HEADER}{rows}")).unwrap_err();
            error.to_string()
        };
        assert_eq!(IndexRow::read("frame\n"), Err(IndexError::NoHeader));
        for text in [
            "1,2,3,4,0,0,1",
            "1,2,3,1,0,0",
            "1,2,3,1,0,0,1,1",
            "1,2,-3,1,0,0,1",
            "",
        ] {
            assert_eq!(
                said(&format!("{text}\n")),
                format!("line 2: `{text}` is not a row; the file is damaged, record again")
            );
        }
        for (first, second) in [(row(3, 0), row(3, 10)), (row(3, 0), row(4, 11))] {
            let text = said(&(first.to_line() + &second.to_line()));
            assert!(text.starts_with("line 3: the frame or its bytes"), "{text}");
        }
    }
}
