//! The pipeline around an element: a picture in, a frame out, whole or in parts.

use std::sync::Arc;

use mimosa_facts::Codec;
use mimosa_units::Rate;
use mimosa_video::{FramePart, Picture, Plane, Size};

use crate::elements::{self, Bitrate};
use crate::library::{Library, Object, Piece, State};
use crate::opening::Config;
use crate::pieces::{Fault, Frame, Growing, Sharing, has_pieces};
use crate::steering::Change;

/// A second, in GStreamer's unit of time.
const SECOND: u64 = 1_000_000_000;
/// The number of looks after which an element has taken too long for a frame: a second, far more than any should.
const PATIENCE: u32 = 20;
/// The time between two looks for a message that explains why there is no frame.
const LOOK: u64 = SECOND / 20;

/// The number of looks after which nothing more comes of a frame that has begun: a quarter of a second. Our choice: no
/// element that pauses as long within a frame is worth its parts.
const QUIET: u32 = 5;

/// What an element gives.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Output {
    /// Frames.
    Whole,
    /// Pieces of frames.
    Pieces,
}

type Add = dyn Fn(&Object, Output) -> Result<Vec<Object>, String> + Send + Sync;

/// Finishes an element that is set up: what stands behind it and belongs to it. Only tests have something there.
#[derive(Clone)]
pub(crate) struct Finish(Arc<Add>);

impl std::fmt::Debug for Finish {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Finish")
    }
}

impl Finish {
    pub(crate) fn new(
        add: impl Fn(&Object, Output) -> Result<Vec<Object>, String> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(add))
    }

    /// Adds nothing.
    pub(crate) fn plain() -> Self {
        Self::new(|_, _| Ok(Vec::new()))
    }

    /// Whether an element may hand out frames in pieces, by the template of the pad that gives them. A template that
    /// says nothing about alignment is no promise.
    pub(crate) fn has_pieces(&self, library: Library, element: &elements::Element) -> bool {
        let may_send = |object: &Object, alignment| {
            let name = match element.codec {
                Codec::H265 => "video/x-h265",
                Codec::H264 | Codec::Av1 => "video/x-h264",
            };
            object.may_send(&format!("{name}, alignment=(string){alignment}"))
        };
        let is_promised = || {
            let encoder = Object::make(library, element.name)?;
            let behind = (self.0)(&encoder, Output::Pieces)?;
            let last = behind.last().unwrap_or(&encoder);
            Ok::<_, String>(may_send(last, "nal") && !may_send(last, "none-such"))
        };
        has_pieces(element.codec) && is_promised().unwrap_or_default()
    }
}

/// The reason why there is no frame, or none as it should be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The element failed, for the reason in GStreamer's words.
    #[error("{0}")]
    Element(String),
    /// The pieces of the frame show a fault. If parts have left, so has the rest of the frame.
    #[error("{0}")]
    Pieces(Fault, Option<Frame>),
}

/// A running pipeline.
#[derive(Debug)]
pub(crate) struct Pipeline {
    parts: Object,
    source: Object,
    encoder: Object,
    sink: Object,
    element: &'static elements::Element,
    output: Output,
    frames_per_second: u32,
    /// The number of pictures so far.
    pictures: u64,
    /// The time of the last frame that came in pieces, and the number of its pieces, or of those that were asked for.
    time: Option<u64>,
    pieces: u32,
}

impl Pipeline {
    /// Starts a pipeline around `element` with the bitrate and the buffer of `first`.
    ///
    /// # Errors
    ///
    /// The reason in GStreamer's words.
    pub(crate) fn start(
        library: Library,
        element: &'static elements::Element,
        config: &Config,
        (finish, output): (&Finish, Output),
        first: Change,
    ) -> Result<Self, String> {
        let (size, frames_per_second) = (config.size, config.frames_per_second);
        let make = |name| Object::make(library, name);
        let source = make("appsrc")?;
        source.set("caps", &raw_caps(size, frames_per_second));
        source.set("format", "time");
        source.set("is-live", "true");
        let convert = make("videoconvert")?;
        let encoder = make(element.name)?;
        let sink = make("appsink")?;
        sink.set("caps", &coded_caps(element.codec, output));
        sink.set("sync", "false");
        for (name, text) in element.settings {
            encoder.set(name, text);
        }
        for (name, number) in [
            (element.threads, config.threads),
            (element.finest, config.finest),
        ] {
            if let Some(name) = name {
                encoder.set(name, &number.to_string());
            }
        }
        // Some decoders take pictures of one slice only.
        let slices = match output {
            Output::Whole => 1,
            Output::Pieces => config.parts,
        };
        if let Some(name) = element.slices
            && !encoder.set(name, &slices.to_string())
        {
            return Err(format!(
                "it has no property `{name}`, and is not the element that is known"
            ));
        }
        let behind = (finish.0)(&encoder, output)?;
        // What a parser gives has other times and markers than what it takes.
        let parser = match output {
            Output::Whole => Some(make(parser(element.codec))?),
            Output::Pieces => None,
        };
        // Parameter sets before every keyframe.
        if let Some(parser) = &parser {
            parser.set("config-interval", "-1");
        }
        let parts = Object::pipeline(library)?;
        let upload = element.upload.map(make).transpose()?;
        let mut chain = vec![&source, &convert];
        chain.extend(&upload);
        chain.push(&encoder);
        chain.extend(&behind);
        chain.extend(&parser);
        chain.push(&sink);
        parts.chain(&chain)?;
        let started = Self {
            parts,
            source,
            encoder,
            sink,
            element,
            output,
            frames_per_second,
            pictures: 0,
            time: None,
            pieces: u32::from(config.parts),
        };
        started.change(first)?;
        if !started.parts.set_state(State::Playing) {
            let complaint = started.parts.complaint();
            return Err(complaint.unwrap_or_else(|| "it does not begin".to_owned()));
        }
        Ok(started)
    }

    /// Sets bitrate and buffer for the frames from the next one on.
    ///
    /// # Errors
    ///
    /// The reason why the element takes no such bitrate.
    pub(crate) fn change(&self, change: Change) -> Result<(), String> {
        if let Some(buffer) = change.buffer {
            match self.element.buffer {
                Some(elements::Buffer::Milliseconds(name)) => {
                    self.set(name, 1_000_u64.div_ceil(u64::from(self.frames_per_second)));
                }
                Some(elements::Buffer::Kilobits(name)) => {
                    self.set(name, buffer.bits().div_ceil(1_000));
                }
                None => {}
            }
        }
        match change.bitrate {
            Some(rate) if !self.set_bitrate(rate) => Err("it has no bitrate to set".to_owned()),
            _ => Ok(()),
        }
    }

    /// Sets the bitrate; returns whether the element takes one.
    fn set_bitrate(&self, rate: Rate) -> bool {
        match self.element.bitrate {
            Bitrate::Kilobits(name) => self.set(name, rate.as_bps() / 1_000),
            Bitrate::Bits(name) => self.set(name, rate.as_bps()),
            Bitrate::Controls => self.encoder.set(
                "extra-controls",
                &format!(
                    "controls,video_bitrate=(int){},repeat_sequence_header=(int)1,video_gop_size=(int)65535",
                    i32::try_from(rate.as_bps()).unwrap_or(i32::MAX)
                ),
            ),
        }
    }

    /// Makes the next frame a keyframe.
    ///
    /// # Errors
    ///
    /// The reason why the element takes no such request.
    pub(crate) fn force_keyframe(&self) -> Result<(), String> {
        if self.encoder.ask_for_keyframe() {
            Ok(())
        } else {
            Err("it takes no request for a keyframe".to_owned())
        }
    }

    /// Encodes `picture`. Of a frame that comes in pieces, parts go to `out` when they are there, at most so many.
    ///
    /// # Errors
    ///
    /// The reason in GStreamer's words, or what is wrong with the frame's pieces.
    pub(crate) fn encode(
        &mut self,
        picture: &Picture,
        parts: u8,
        out: &mut dyn FnMut(FramePart<'_>),
    ) -> Result<Frame, Failure> {
        self.push(picture).map_err(Failure::Element)?;
        match self.output {
            Output::Whole => {
                let piece = self.next(PATIENCE)?.ok_or_else(no_frame)?;
                Ok(Frame {
                    data: piece.data,
                    is_keyframe: piece.is_keyframe,
                    pieces: 1,
                })
            }
            Output::Pieces => self.collect(parts, out),
        }
    }

    fn push(&mut self, picture: &Picture) -> Result<(), String> {
        if let Some(complaint) = self.parts.complaint() {
            return Err(complaint);
        }
        let time = |number: u64| number * SECOND / u64::from(self.frames_per_second);
        let begin = time(self.pictures);
        let duration = time(self.pictures + 1) - begin;
        self.pictures += 1;
        let pushed = self.source.push(&samples(picture), begin, duration);
        pushed.map_err(|error| self.parts.complaint().unwrap_or(error))
    }

    /// Puts the pieces of a frame together.
    fn collect(&mut self, parts: u8, out: &mut dyn FnMut(FramePart<'_>)) -> Result<Frame, Failure> {
        let sharing = Sharing {
            parts,
            pieces: self.pieces,
        };
        let mut growing = Growing::new(self.element.codec, sharing, self.time);
        let fault = loop {
            let patience = if growing.is_empty() { PATIENCE } else { QUIET };
            match self.next(patience)? {
                Some(piece) => match growing.take(&piece, out) {
                    Ok(false) => {}
                    Ok(true) => {
                        let (frame, time) = growing.whole();
                        self.time = time;
                        self.pieces = frame.pieces;
                        return Ok(frame);
                    }
                    Err(fault) => break fault,
                },
                None if growing.is_empty() => return Err(no_frame()),
                None => break Fault::NoMarker,
            }
        };
        let has_left = growing.has_left();
        Err(Failure::Pieces(fault, has_left.then(|| growing.cut(out))))
    }

    /// What the element gives next, if it does within so many looks.
    fn next(&self, looks: u32) -> Result<Option<Piece>, Failure> {
        for _ in 0..looks {
            if let Some(piece) = self.sink.pull(LOOK) {
                return Ok(Some(piece));
            }
            if let Some(complaint) = self.parts.complaint() {
                return Err(Failure::Element(complaint));
            }
        }
        Ok(None)
    }

    /// The number of pieces that the last frame came in.
    pub(crate) const fn pieces(&self) -> u32 {
        self.pieces
    }

    /// Stops the element, which then needs nothing of its hardware.
    pub(crate) fn stop(&self) {
        self.parts.set_state(State::Null);
    }

    fn set(&self, name: &str, number: u64) -> bool {
        self.encoder.set(name, &number.to_string())
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.stop();
    }
}

fn no_frame() -> Failure {
    Failure::Element("no frame within a second".to_owned())
}

const fn parser(codec: Codec) -> &'static str {
    match codec {
        Codec::H264 => "h264parse",
        Codec::H265 => "h265parse",
        Codec::Av1 => "av1parse",
    }
}

/// The pictures, as GStreamer's caps.
fn raw_caps(size: Size, frames_per_second: u32) -> String {
    let (width, height) = (size.width(), size.height());
    format!(
        "video/x-raw, format=(string)I420, width=(int){width}, height=(int){height}, \
         framerate=(fraction){frames_per_second}/1, colorimetry=(string)bt709"
    )
}

/// The byte stream that frames have: Annex B with an access unit to a buffer, or a piece of one, or AV1 with a
/// temporal unit to one.
fn coded_caps(codec: Codec, output: Output) -> String {
    let alignment = match (codec, output) {
        (Codec::Av1, _) => "tu",
        (_, Output::Whole) => "au",
        (_, Output::Pieces) => "nal",
    };
    let (name, format) = match codec {
        Codec::H264 => ("video/x-h264", "byte-stream"),
        Codec::H265 => ("video/x-h265", "byte-stream"),
        Codec::Av1 => ("video/x-av1", "obu-stream"),
    };
    format!("{name}, stream-format=(string){format}, alignment=(string){alignment}")
}

/// The samples as GStreamer lays them out: each row begins at a multiple of four bytes.
fn samples(picture: &Picture) -> Vec<u8> {
    let strides = [Plane::Y, Plane::U, Plane::V].map(|plane| picture.stride(plane));
    let mut samples = Vec::with_capacity(picture.planes().map(<[u8]>::len).iter().sum());
    for (plane, stride) in picture.planes().into_iter().zip(strides) {
        let padding = stride.next_multiple_of(4) - stride;
        if padding == 0 {
            samples.extend_from_slice(plane);
            continue;
        }
        for row in plane.chunks_exact(stride) {
            samples.extend_from_slice(row);
            samples.resize(samples.len() + padding, 0);
        }
    }
    samples
}
