//! The pipeline around an element: a picture in, a frame out.

use mimosa_facts::Codec;
use mimosa_units::Rate;
use mimosa_video::{Picture, Plane, Size};

use crate::elements::{self, Bitrate};
use crate::library::{Coded, Library, Object, State};
use crate::steering::Change;

/// A second, in GStreamer's unit of time.
const SECOND: u64 = 1_000_000_000;
/// The number of looks after which an element has taken too long for a frame: a second, far more than any should.
const PATIENCE: u32 = 20;
/// The time between two looks for a message that explains why there is no frame.
const LOOK: u64 = SECOND / 20;

/// A running pipeline.
#[derive(Debug)]
pub(crate) struct Pipeline {
    parts: Object,
    source: Object,
    encoder: Object,
    sink: Object,
    element: &'static elements::Element,
    frames_per_second: u32,
    /// The number of pictures so far.
    pictures: u64,
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
        size: Size,
        frames_per_second: u32,
        threads: u8,
        finest: u8,
        first: Change,
    ) -> Result<Self, String> {
        let make = |name| Object::make(library, name);
        let source = make("appsrc")?;
        source.set("caps", &raw_caps(size, frames_per_second));
        source.set("format", "time");
        source.set("is-live", "true");
        let convert = make("videoconvert")?;
        let encoder = make(element.name)?;
        let parser = make(parser(element.codec))?;
        let sink = make("appsink")?;
        sink.set("caps", &coded_caps(element.codec));
        sink.set("sync", "false");
        for (name, text) in element.settings {
            encoder.set(name, text);
        }
        for (name, number) in [(element.threads, threads), (element.finest, finest)] {
            if let Some(name) = name {
                encoder.set(name, &number.to_string());
            }
        }
        // Parameter sets before every keyframe.
        parser.set("config-interval", "-1");
        let parts = Object::pipeline(library)?;
        let upload = element.upload.map(make).transpose()?;
        let mut chain = vec![&source, &convert];
        chain.extend(&upload);
        chain.extend([&encoder, &parser, &sink]);
        parts.chain(&chain)?;
        let started = Self {
            parts,
            source,
            encoder,
            sink,
            element,
            frames_per_second,
            pictures: 0,
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

    /// Encodes `picture`.
    ///
    /// # Errors
    ///
    /// The reason in GStreamer's words.
    pub(crate) fn encode(&mut self, picture: &Picture) -> Result<Coded, String> {
        if let Some(complaint) = self.parts.complaint() {
            return Err(complaint);
        }
        let time = |number: u64| number * SECOND / u64::from(self.frames_per_second);
        let begin = time(self.pictures);
        let duration = time(self.pictures + 1) - begin;
        self.pictures += 1;
        let pushed = self.source.push(&samples(picture), begin, duration);
        pushed.map_err(|error| self.parts.complaint().unwrap_or(error))?;
        for _ in 0..PATIENCE {
            if let Some(coded) = self.sink.pull(LOOK) {
                return Ok(coded);
            }
            if let Some(complaint) = self.parts.complaint() {
                return Err(complaint);
            }
        }
        Err("no frame within a second".to_owned())
    }

    fn set(&self, name: &str, number: u64) -> bool {
        self.encoder.set(name, &number.to_string())
    }
}

#[cfg(test)]
impl Pipeline {
    /// Makes the element one whose next frame is a keyframe whenever its bitrate is set.
    pub(crate) fn begin_anew_at_changes(&self) {
        self.encoder.begin_anew_at_changes();
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        self.parts.set_state(State::Null);
    }
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

/// The byte stream that frames have: Annex B with an access unit to a buffer, or AV1 with a
/// temporal unit to one.
fn coded_caps(codec: Codec) -> String {
    let (name, format, alignment) = match codec {
        Codec::H264 => ("video/x-h264", "byte-stream", "au"),
        Codec::H265 => ("video/x-h265", "byte-stream", "au"),
        Codec::Av1 => ("video/x-av1", "obu-stream", "tu"),
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
