//! YUV4MPEG2 and an index from arbitrary bytes: nothing panics, frames are the same in pieces of any
//! size, and what is read is written and read back as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mimosa_quality::{
    Frame, FrameDifference, Header, INDEX_HEADER, IndexRow, Reader, Y4mError, frame_line,
};

fuzz_target!(|data: &[u8]| {
    let Some((piece, file)) = data.split_first() else {
        return;
    };
    index(file);
    let whole = read(file, file.len().max(1));
    assert_eq!(read(file, usize::from(*piece).max(1)), whole);
    let (Some(header), frames, Ok(())) = whole else {
        return;
    };
    let mut written = header.to_line().into_bytes();
    for frame in &frames {
        written.extend(frame_line(frame.number).bytes());
        written.extend(frame.data());
    }
    assert_eq!(
        read(&written, 4_096),
        (Some(header), frames.clone(), Ok(()))
    );
    for pair in frames.windows(2) {
        if let Ok(difference) = FrameDifference::between(&pair[0], &pair[1]) {
            assert!(difference.squared_error.iter().all(|error| *error >= 0.0));
            assert!(
                difference
                    .similarity
                    .iter()
                    .all(|value| value.abs() < 1.001)
            );
        }
    }
});

fn read(file: &[u8], piece: usize) -> (Option<Header>, Vec<Frame>, Result<(), Y4mError>) {
    let mut reader = Reader::new();
    let mut frames = Vec::new();
    for mut piece in file.chunks(piece) {
        loop {
            match reader.read(&mut piece) {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (reader.header(), frames, Err(error)),
            }
        }
    }
    let end = reader.end();
    (reader.header(), frames, end)
}

fn index(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    // Most texts would not get beyond the first line.
    for text in [text.to_owned(), format!("{INDEX_HEADER}{text}")] {
        if let Ok(rows) = IndexRow::read(&text) {
            let lines: String = rows.iter().map(IndexRow::to_line).collect();
            let again = IndexRow::read(&format!("{INDEX_HEADER}{lines}"));
            assert_eq!(again, Ok(rows));
        }
    }
}
