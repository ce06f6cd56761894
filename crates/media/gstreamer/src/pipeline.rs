//! The pipeline around an element: a picture in, a frame out.

use gstreamer::prelude::*;
use gstreamer::{Buffer, BufferFlags, Caps, ClockTime, Element, ElementFactory, FlowError, State};
use gstreamer_app::{AppSink, AppSrc};
use mimosa_facts::Codec;
use mimosa_units::Rate;
use mimosa_video::{Picture, Plane, Size};

use crate::elements::{self, Bitrate};
use crate::property;
use crate::steering::Change;

/// The longest that an element may take for a frame: far more than any should.
const PATIENCE: ClockTime = ClockTime::from_seconds(1);
/// The time between two looks for a message that explains why there is no frame.
const LOOK: ClockTime = ClockTime::from_mseconds(50);

/// A coded frame as the element gives it.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) data: Vec<u8>,
    pub(crate) is_keyframe: bool,
}

/// A running pipeline.
#[derive(Debug)]
pub(crate) struct Pipeline {
    parts: gstreamer::Pipeline,
    source: AppSrc,
    encoder: Element,
    sink: AppSink,
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
        element: &'static elements::Element,
        size: Size,
        frames_per_second: u32,
        threads: u8,
        finest: u8,
        first: Change,
    ) -> Result<Self, String> {
        let source = AppSrc::builder()
            .caps(&raw_caps(size, frames_per_second))
            .format(gstreamer::Format::Time)
            .is_live(true)
            .build();
        let convert = make("videoconvert")?;
        let encoder = make(element.name)?;
        let parser = make(parser(element.codec))?;
        let sink = AppSink::builder()
            .caps(&coded_caps(element.codec))
            .sync(false)
            .build();
        for (name, text) in element.settings {
            property::set(&encoder, name, text);
        }
        for (name, number) in [(element.threads, threads), (element.finest, finest)] {
            if let Some(name) = name {
                property::set(&encoder, name, &number.to_string());
            }
        }
        // Parameter sets before every keyframe.
        property::set(&parser, "config-interval", "-1");
        let parts = gstreamer::Pipeline::new();
        let upload = element.upload.map(make).transpose()?;
        let mut chain = vec![source.upcast_ref(), &convert];
        chain.extend(&upload);
        chain.extend([&encoder, &parser, sink.upcast_ref()]);
        let linked = parts
            .add_many(&chain)
            .and_then(|()| Element::link_many(&chain));
        linked.map_err(|error| error.to_string())?;
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
        let playing = started.parts.set_state(State::Playing);
        playing.map_err(|error| started.complaint().unwrap_or_else(|| error.to_string()))?;
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
            Bitrate::Controls => property::set(
                &self.encoder,
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
        if self.encoder.send_event(keyframe_request()) {
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
    pub(crate) fn encode(&mut self, picture: &Picture) -> Result<Frame, String> {
        // Messages that are no errors are thrown away here as well.
        if let Some(complaint) = self.complaint() {
            return Err(complaint);
        }
        let mut buffer = Buffer::from_mut_slice(samples(picture));
        if let Some(buffer) = buffer.get_mut() {
            let time = |number: u64| {
                ClockTime::from_nseconds(number * 1_000_000_000 / u64::from(self.frames_per_second))
            };
            let begin = time(self.pictures);
            buffer.set_pts(begin);
            buffer.set_duration(time(self.pictures + 1) - begin);
        }
        self.pictures += 1;
        let pushed = self.source.push_buffer(buffer);
        pushed.map_err(|error| self.why(error))?;
        let mut waited = ClockTime::ZERO;
        while waited < PATIENCE {
            if let Some(sample) = self.sink.try_pull_sample(LOOK) {
                return frame(&sample);
            }
            if let Some(complaint) = self.complaint() {
                return Err(complaint);
            }
            waited += LOOK;
        }
        Err(format!("no frame within {} s", PATIENCE.seconds()))
    }

    fn set(&self, name: &str, number: u64) -> bool {
        property::set(&self.encoder, name, &number.to_string())
    }

    fn why(&self, error: FlowError) -> String {
        self.complaint().unwrap_or_else(|| error.to_string())
    }

    /// The error message of an element, if there is one.
    fn complaint(&self) -> Option<String> {
        let message = self
            .parts
            .bus()?
            .pop_filtered(&[gstreamer::MessageType::Error])?;
        let gstreamer::MessageView::Error(error) = message.view() else {
            return None;
        };
        let place = message.src().map(|source| source.name().to_string());
        Some(format!("{}: {}", place.unwrap_or_default(), error.error()))
    }
}

#[cfg(test)]
impl Pipeline {
    /// Makes the element one whose next frame is a keyframe whenever its bitrate is set.
    pub(crate) fn begin_anew_at_changes(&self) {
        self.encoder.connect_notify(Some("bitrate"), |encoder, _| {
            encoder.send_event(keyframe_request());
        });
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        let _ = self.parts.set_state(State::Null);
    }
}

fn keyframe_request() -> gstreamer::Event {
    let request = gstreamer::Structure::builder("GstForceKeyUnit")
        .field("running-time", ClockTime::NONE)
        .field("all-headers", true)
        .field("count", 0_u32)
        .build();
    gstreamer::event::CustomUpstream::new(request)
}

fn make(name: &str) -> Result<Element, String> {
    ElementFactory::make(name)
        .build()
        .map_err(|error| error.to_string())
}

const fn parser(codec: Codec) -> &'static str {
    match codec {
        Codec::H264 => "h264parse",
        Codec::H265 => "h265parse",
        Codec::Av1 => "av1parse",
    }
}

fn raw_caps(size: Size, frames_per_second: u32) -> Caps {
    let number = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    Caps::builder("video/x-raw")
        .field("format", "I420")
        .field("width", number(size.width()))
        .field("height", number(size.height()))
        .field(
            "framerate",
            gstreamer::Fraction::new(number(frames_per_second), 1),
        )
        .field("colorimetry", "bt709")
        .build()
}

/// The byte stream that frames have: Annex B with an access unit to a buffer, or AV1 with a
/// temporal unit to one.
fn coded_caps(codec: Codec) -> Caps {
    let (name, format, alignment) = match codec {
        Codec::H264 => ("video/x-h264", "byte-stream", "au"),
        Codec::H265 => ("video/x-h265", "byte-stream", "au"),
        Codec::Av1 => ("video/x-av1", "obu-stream", "tu"),
    };
    Caps::builder(name)
        .field("stream-format", format)
        .field("alignment", alignment)
        .build()
}

fn frame(sample: &gstreamer::Sample) -> Result<Frame, String> {
    let buffer = sample.buffer().ok_or("a sample without data")?;
    let map = buffer.map_readable().map_err(|error| error.to_string())?;
    Ok(Frame {
        data: map.as_slice().to_vec(),
        is_keyframe: !buffer.flags().contains(BufferFlags::DELTA_UNIT),
    })
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
