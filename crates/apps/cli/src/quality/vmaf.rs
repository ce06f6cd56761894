//! Measures VMAF with an ffmpeg that has libvmaf.
//!
//! Both clips go through one pipe, with frames of the reference and of the other in turn, and a
//! filter separates them. Pairs therefore stay pairs, and no file is written.

use std::io::{ErrorKind, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use mimosa_quality::{Frame, FrameRate, Header, PlaneSize, frame_line};
use serde::Deserialize;

use super::error::QualityError;
use super::ffmpeg::{Ffmpeg, last_line};

/// A running ffmpeg.
pub(super) struct Vmaf {
    program: PathBuf,
    child: Child,
    log: JoinHandle<String>,
    complaints: JoinHandle<String>,
    /// Whether ffmpeg has stopped reading.
    has_failed: bool,
}

/// The log of libvmaf.
#[derive(Deserialize)]
struct Log {
    frames: Vec<LogFrame>,
}

#[derive(Deserialize)]
struct LogFrame {
    metrics: Metrics,
}

#[derive(Deserialize)]
struct Metrics {
    vmaf: f64,
}

impl Vmaf {
    /// Starts the first ffmpeg that has libvmaf.
    pub(super) fn start(ffmpeg: &Ffmpeg, size: PlaneSize) -> Result<Self, QualityError> {
        let program = ffmpeg
            .with_vmaf()
            .map_err(|tried| QualityError::NoVmaf { tried })?;
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let part = |rest: u32| format!("select='eq(mod(n,2),{rest})',setpts=N/60/TB");
        let filter = format!(
            "[0:v]split[a][b];[a]{}[reference];[b]{}[other];\
             [other][reference]libvmaf=log_fmt=json:log_path=/dev/stdout:n_threads={threads}",
            part(0),
            part(1),
        );
        let failed = |message: String| QualityError::Vmaf {
            ffmpeg: program.to_owned(),
            message,
        };
        let mut child = Command::new(program)
            .args(["-hide_banner", "-nostats", "-loglevel", "error"])
            .args(["-f", "yuv4mpegpipe", "-i", "pipe:0"])
            .args(["-filter_complex", &filter, "-f", "null", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(error.to_string()))?;
        let mut vmaf = Self {
            program: program.to_owned(),
            log: drain(child.stdout.take()),
            complaints: drain(child.stderr.take()),
            child,
            has_failed: false,
        };
        let header = Header {
            size,
            rate: Some(FrameRate {
                frames: 60,
                seconds: 1,
            }),
        };
        vmaf.write(&[header.to_line().as_bytes()]);
        Ok(vmaf)
    }

    /// Adds a pair. Errors are reported at the end.
    pub(super) fn add(&mut self, reference: &Frame, other: &Frame) {
        for frame in [reference, other] {
            self.write(&[frame_line(None).as_bytes(), frame.data()]);
        }
    }

    fn write(&mut self, parts: &[&[u8]]) {
        let Some(input) = &mut self.child.stdin else {
            return;
        };
        for part in parts {
            if !self.has_failed && input.write_all(part).is_err() {
                self.has_failed = true;
            }
        }
    }

    /// The program, and the figure of each of the `pairs` pairs.
    pub(super) fn finish(mut self, pairs: usize) -> Result<(String, Vec<f64>), QualityError> {
        drop(self.child.stdin.take());
        let status = self.child.wait();
        let log = self.log.join().unwrap_or_default();
        let complaints = self.complaints.join().unwrap_or_default();
        let failed = |message: String| QualityError::Vmaf {
            ffmpeg: self.program.clone(),
            message,
        };
        match status {
            Ok(status) if status.success() && !self.has_failed => {}
            _ => return Err(failed(last_line(&complaints))),
        }
        let frames = figures(&log).map_err(|error| failed(error.to_string()))?;
        if frames.len() != pairs {
            let message = format!("it measured {} frames of {pairs}", frames.len());
            return Err(failed(message));
        }
        Ok((self.program.display().to_string(), frames))
    }
}

/// The figures in a log.
fn figures(log: &str) -> Result<Vec<f64>, serde_json::Error> {
    let log: Log = serde_json::from_str(log)?;
    Ok(log.frames.iter().map(|frame| frame.metrics.vmaf).collect())
}

/// Reads everything from a pipe.
fn drain(from: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from
            && let Err(error) = from.read_to_end(&mut bytes)
            && error.kind() != ErrorKind::BrokenPipe
        {
            return error.to_string();
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_frame_by_frame() {
        let log = r#"{"version": "3.0", "fps": 9.5, "frames": [
            {"frameNum": 0, "metrics": {"integer_adm2": 0.9, "vmaf": 97.5}},
            {"frameNum": 1, "metrics": {"vmaf": 12}}], "pooled_metrics": {}}"#;
        let read = figures(log).unwrap();
        assert_eq!(read.len(), 2);
        assert!((read[0] - 97.5).abs() < 1e-9 && (read[1] - 12.0).abs() < 1e-9);
        assert!(figures("").is_err());
        assert!(figures(r#"{"frames": [{"metrics": {}}]}"#).is_err());
    }
}
