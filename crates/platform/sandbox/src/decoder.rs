//! [`Sandboxed`]: a decoder in another process, which is replaced when it ends.

use mimosa_facts::Codec;
use mimosa_video::{Colours, Size};

use crate::error::{Death, SandboxError};
use crate::message::{Answer, BadAnswer, MOST_BYTES, Request};
use crate::picture::{Buffers, CopiedPicture};
use crate::process::{Process, Program, Stop};

/// The most processes of one program that what they decode may end. Chosen: libavcodec's mistakes on streams of
/// encoders are rare, and each process is another guess for whoever has to guess where in memory things are.
const MOST_DEATHS: u32 = 5;

/// What a decoder says about a frame.
#[derive(Debug)]
pub enum Outcome {
    /// The frame's picture.
    Picture(CopiedPicture),
    /// The frame has no picture, or none that can be shown yet.
    Nothing,
    /// The frame cannot be decoded, for this reason.
    Refused(String),
    /// The process ended over this frame or the slices before it, and another has its place, which goes on
    /// with a keyframe.
    Replaced(Death),
}

/// A decoder in a process that can reach nothing.
#[derive(Debug)]
pub struct Sandboxed {
    program: Program,
    threads: u8,
    process: Process,
    /// A process that is ready when the first has to be replaced: loading libavcodec takes longer than a frame.
    spare: Option<Process>,
    codecs: Vec<Codec>,
    buffers: Buffers,
    /// How the process ended, if slices have ended it.
    death: Option<Death>,
    stop: Stop,
}

impl Sandboxed {
    /// Starts a decoder, and waits until it is ready. Its processes end with the calling thread.
    ///
    /// # Errors
    ///
    /// [`SandboxError`], with the reason why there is no decoder or why it cannot be confined.
    pub fn start(program: Program, threads: u8, stop: Stop) -> Result<Self, SandboxError> {
        let mut process = Process::start(&program, threads)?;
        stop.watch(&process);
        let codecs = process.wait_until_ready()?;
        Ok(Self {
            program,
            threads,
            process,
            spare: None,
            codecs,
            buffers: Buffers::default(),
            death: None,
            stop,
        })
    }

    /// The codecs that can be decoded.
    #[must_use]
    pub fn codecs(&self) -> &[Codec] {
        &self.codecs
    }

    /// The number of the process that decodes at the moment.
    #[must_use]
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Decodes slices of a frame that is not whole yet. What cannot be decoded is found out with the frame.
    pub fn begin(&mut self, frame: u64, from: usize, slices: &[u8]) {
        let Some(length) = length(slices) else { return };
        if self.death.is_some() {
            return;
        }
        let request = Request::Slices {
            number: frame,
            from: from as u64,
            length,
        };
        self.death = self.process.ask(request, slices).err();
    }

    /// Decodes a frame, of which [`Self::begin`] may have decoded the first slices.
    ///
    /// # Errors
    ///
    /// [`SandboxError::GivenUp`] if processes ended too often, and others if there is no further process.
    pub fn decode(
        &mut self,
        frame: u64,
        codec: Codec,
        access_unit: &[u8],
    ) -> Result<Outcome, SandboxError> {
        let Some(length) = length(access_unit) else {
            let bytes = access_unit.len();
            return Ok(Outcome::Refused(format!("a frame of {bytes} bytes")));
        };
        let request = Request::Frame {
            number: frame,
            codec,
            length,
        };
        match self.ask(request, frame, access_unit) {
            Ok(outcome) => {
                self.prepare();
                Ok(outcome)
            }
            Err(death) => self.replace(death),
        }
    }

    fn ask(&mut self, request: Request, frame: u64, bytes: &[u8]) -> Result<Outcome, Death> {
        if let Some(death) = self.death.take() {
            return Err(death);
        }
        self.process.ask(request, bytes)?;
        Ok(match self.process.answer_about(frame)? {
            Answer::Picture {
                size,
                colours,
                is_damaged,
                ..
            } => Outcome::Picture(self.copy((size, colours), is_damaged)?),
            Answer::Refused { reason, .. } => Outcome::Refused(reason),
            _ => Outcome::Nothing,
        })
    }

    fn copy(&mut self, of: (Size, Colours), is_damaged: bool) -> Result<CopiedPicture, Death> {
        let copied = self.buffers.copy(self.process.memory(), of, is_damaged);
        copied.ok_or_else(|| self.process.end(BadAnswer::OutOfTurn.into()))
    }

    /// Starts the process that replaces this one some day. Without one, another attempt follows.
    fn prepare(&mut self) {
        if self.spare.is_none() {
            self.spare = Process::start(&self.program, self.threads).ok();
        }
    }

    /// Puts another process in the place of one that has ended.
    fn replace(&mut self, death: Death) -> Result<Outcome, SandboxError> {
        let deaths = self.program.count_death();
        if deaths >= MOST_DEATHS || self.stop.is_stopped() {
            let last = death;
            return Err(SandboxError::GivenUp { deaths, last });
        }
        let mut process = match self.spare.take() {
            Some(spare) => spare,
            None => Process::start(&self.program, self.threads)?,
        };
        self.stop.watch(&process);
        process.wait_until_ready()?;
        self.process = process;
        Ok(Outcome::Replaced(death))
    }
}

/// The number of bytes that follow a request; `None` if they are too many.
fn length(bytes: &[u8]) -> Option<u32> {
    let length = u32::try_from(bytes.len()).ok();
    length.filter(|_| bytes.len() <= MOST_BYTES)
}
