//! Pictures into a pipeline, frames and errors out of it.

use std::ffi::{CStr, c_uint};
use std::ptr;

use super::functions::{DELTA, HEADER, MARKER};
use super::object::Object;
use super::taken;

/// `GST_FLOW_OK`.
const FLOW_OK: i32 = 0;
/// `GST_MESSAGE_ERROR`.
const ERROR: c_uint = 1 << 1;

/// `GST_CLOCK_TIME_NONE`.
const NO_TIME: u64 = u64::MAX;

/// A coded frame as an element gives it, or a piece of one.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Piece {
    pub(crate) data: Vec<u8>,
    /// When the frame is shown, in nanoseconds from a time of the element's own.
    pub(crate) time: Option<u64>,
    /// Whether the frame can be decoded without any other; only the first piece of a frame says so.
    pub(crate) is_keyframe: bool,
    /// Whether the piece consists of parameter sets. Their time is not always that of the frame.
    pub(crate) is_header: bool,
    /// Whether the piece has the marker of a frame's last one.
    pub(crate) has_marker: bool,
}

impl Object {
    /// Has an `appsrc` send these bytes, which are to be shown at `begin` for `duration`, in nanoseconds.
    ///
    /// # Errors
    ///
    /// The name of what is wrong.
    pub(crate) fn push(&self, data: &[u8], begin: u64, duration: u64) -> Result<(), String> {
        let gst = self.library.0;
        // SAFETY: a buffer of this size, which nobody else has until it is the element's.
        unsafe {
            let buffer =
                (gst.gst_buffer_new_allocate)(ptr::null_mut(), data.len(), ptr::null_mut());
            if buffer.is_null() {
                return Err("there is no memory for a picture".to_owned());
            }
            (gst.gst_buffer_fill)(buffer, 0, data.as_ptr().cast(), data.len());
            (*buffer).pts = begin;
            (*buffer).duration = duration;
            let flow = (gst.gst_app_src_push_buffer)(self.at(), buffer);
            if flow == FLOW_OK {
                return Ok(());
            }
            let name = CStr::from_ptr((gst.gst_flow_get_name)(flow));
            Err(name.to_string_lossy().into_owned())
        }
    }

    /// The next frame or piece that an `appsink` has within `patience`, in nanoseconds.
    pub(crate) fn pull(&self, patience: u64) -> Option<Piece> {
        let gst = self.library.0;
        // SAFETY: the sample is this program's, and its buffer is read before it is given back.
        unsafe {
            let sample = (gst.gst_app_sink_try_pull_sample)(self.at(), patience);
            if sample.is_null() {
                return None;
            }
            let buffer = (gst.gst_sample_get_buffer)(sample);
            let piece = (!buffer.is_null()).then(|| {
                let mut data = vec![0; (gst.gst_buffer_get_size)(buffer)];
                let got = (gst.gst_buffer_extract)(buffer, 0, data.as_mut_ptr().cast(), data.len());
                data.truncate(got);
                let time = (*buffer).pts;
                Piece {
                    data,
                    time: (time != NO_TIME).then_some(time),
                    is_keyframe: !(*buffer).has(DELTA),
                    is_header: (*buffer).has(HEADER),
                    has_marker: (*buffer).has(MARKER),
                }
            });
            (gst.gst_mini_object_unref)(sample);
            piece
        }
    }

    /// The error that an element of this pipeline has told of last, if one has, with the element's name. Messages
    /// that are no errors are thrown away.
    pub(crate) fn complaint(&self) -> Option<String> {
        let bus = self.bus()?;
        let gst = self.library.0;
        // SAFETY: a message is this program's until it is given back; its source stays as long. The error and the
        // details are copied for this program.
        unsafe {
            let message = (gst.gst_bus_pop_filtered)(bus.at(), ERROR);
            if message.is_null() {
                return None;
            }
            let (mut error, mut details) = (ptr::null_mut(), ptr::null_mut());
            (gst.gst_message_parse_error)(message, &raw mut error, &raw mut details);
            (gst.g_free)(details.cast());
            let source = (*message).source;
            let name = if source.is_null() {
                None
            } else {
                super::text(gst, (gst.gst_object_get_name)(source))
            };
            (gst.gst_mini_object_unref)(message.cast());
            let reason = taken(gst, error);
            Some(format!("{}: {reason}", name.unwrap_or_default()))
        }
    }
}
