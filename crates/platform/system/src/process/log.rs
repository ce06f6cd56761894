//! The output of programs that were started, for error messages when they fail.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, PipeReader, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::clock::{now, wait};

/// The number of lines to remember.
const LINES: usize = 12;
/// The bytes after which a line is broken.
const LONGEST: u64 = 400;

/// The longest that the output of a program that ended may take to arrive.
const PATIENCE: Duration = Duration::from_millis(500);
/// The time between two checks whether the output has arrived.
const LOOK: Duration = Duration::from_millis(5);

/// The last lines that a program wrote.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<VecDeque<String>>>);

impl Log {
    /// Reads `output` until it ends, in a thread. Each line also goes to `tracing`, as
    /// debugging output of `program`.
    ///
    /// # Errors
    ///
    /// The system's error when it gives no thread.
    pub fn read(program: &'static str, output: PipeReader) -> io::Result<Self> {
        let log = Self::default();
        let kept = log.clone();
        thread::Builder::new()
            .name(format!("{program}'s output"))
            .spawn(move || {
                let mut output = BufReader::new(output);
                while let Some(line) = next_line(&mut output) {
                    tracing::debug!("{program}: {line}");
                    kept.keep(line);
                }
            })?;
        Ok(log)
    }

    /// The remembered lines, one under the other.
    #[must_use]
    pub fn text(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        lines.join("\n")
    }

    /// The last lines of a program that ended, once all of its output is read. Another
    /// program that it started may still write; this does not wait for it.
    #[must_use]
    pub fn last_words(&self) -> String {
        let patience = now() + PATIENCE;
        // The thread holds the other reference until the output ends.
        while Arc::strong_count(&self.0) > 1 && now() < patience {
            wait(LOOK);
        }
        self.text()
    }

    fn keep(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

/// The next line that is not empty, without its line end.
fn next_line(output: &mut BufReader<PipeReader>) -> Option<String> {
    loop {
        let mut line = Vec::new();
        let read = output.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        if read.ok()? == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if !line.is_empty() {
            return Some(line.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn lines_are_bounded() {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(&[b'a'; 1000]).unwrap();
        writer.write_all("\n\nlast\nrest".as_bytes()).unwrap();
        drop(writer);
        let mut reader = BufReader::new(reader);
        let lengths: Vec<_> = std::iter::from_fn(|| next_line(&mut reader))
            .map(|line| line.len())
            .collect();
        assert_eq!(lengths, [400, 400, 200, 4, 4]);

        let log = Log::default();
        (0..100).for_each(|line| log.keep(line.to_string()));
        assert!(log.text().starts_with("88\n89\n"));
        assert!(log.text().ends_with("\n99"));
    }
}
