//! A safe interface to libavcodec's functions.
//!
//! Callers pass bytes and get planes. libavcodec's own structures, which hold pointers,
//! stay in this file.

#![expect(unsafe_code, reason = "calls into C")]

use std::ffi::{CStr, c_char, c_int};
use std::ptr::{NonNull, null_mut};

use c::{AVCodec, AVCodecContext, AVFrame, AVPacket};
use mimosa_facts::Codec;
use mimosa_video::{Colours, Matrix};

/// The declarations that `build.rs` made.
#[allow(
    clippy::all,
    clippy::pedantic,
    clippy::undocumented_unsafe_blocks,
    dead_code,
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    unreachable_pub,
    reason = "generated from the headers that are installed, whichever they are"
)]
mod c {
    include!(concat!(env!("OUT_DIR"), "/functions.rs"));
}

/// The size of the buffer for one of libavcodec's messages.
const MESSAGE: usize = 128;

/// Linux's `ENOMEM`, which libavcodec also returns when it has no memory.
const NO_MEMORY: Refusal = Refusal(-12);

/// The error code with which libavcodec refused a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Refusal(c_int);

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text: [c_char; MESSAGE] = [0; MESSAGE];
        // SAFETY: libavutil writes at most as much, with a zero at the end.
        unsafe { c::av_strerror(self.0, text.as_mut_ptr(), MESSAGE) };
        // SAFETY: it ends with a zero, at the latest the last one, which is left over.
        let text = unsafe { CStr::from_ptr(text.as_ptr()) };
        f.write_str(&text.to_string_lossy())
    }
}

/// The layout of a frame's samples.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Format {
    /// I420 with 8 bits per sample.
    Planes,
    /// Any other layout, by its number in libavutil.
    Other(c_int),
}

/// An open decoder.
#[derive(Debug)]
pub(crate) struct Raw {
    context: NonNull<AVCodecContext>,
    packet: NonNull<AVPacket>,
}

// SAFETY: libavcodec's functions may be called from any thread, one at a time for a
// decoder, which `&mut self` ensures.
unsafe impl Send for Raw {}

impl Raw {
    /// Whether libavcodec has a decoder of `codec`.
    pub(crate) fn is_there(codec: Codec) -> bool {
        !find(codec).is_null()
    }

    /// Opens a decoder with this many threads for the slices or tiles of a frame; returns
    /// `None` if libavcodec has no decoder of `codec`.
    ///
    /// # Errors
    ///
    /// libavcodec's error code.
    pub(crate) fn open(codec: Codec, threads: c_int) -> Result<Option<Self>, Refusal> {
        // SAFETY: sets a number that libavutil reads atomically.
        unsafe { c::av_log_set_level(c::AV_LOG_QUIET) };
        let codec = find(codec);
        if codec.is_null() {
            return Ok(None);
        }
        // SAFETY: allocates; null without memory.
        let context = NonNull::new(unsafe { c::avcodec_alloc_context3(codec) });
        // SAFETY: allocates; null without memory.
        let packet = NonNull::new(unsafe { c::av_packet_alloc() });
        let (mut context, mut packet) = (
            context.map_or(null_mut(), NonNull::as_ptr),
            packet.map_or(null_mut(), NonNull::as_ptr),
        );
        if let (Some(context), Some(packet)) = (NonNull::new(context), NonNull::new(packet)) {
            let mut raw = Self { context, packet };
            // SAFETY: it was just allocated, and nobody else has it.
            let fields = unsafe { raw.context.as_mut() };
            // To dav1d it also says that one frame at a time is decoded.
            fields.flags |= c::AV_CODEC_FLAG_LOW_DELAY.cast_signed();
            fields.thread_count = threads;
            fields.thread_type = c::FF_THREAD_SLICE.cast_signed();
            // SAFETY: the context was made for this decoder, and there are no options.
            let status = unsafe { c::avcodec_open2(context.as_ptr(), codec, null_mut()) };
            return check(status).map(|()| Some(raw));
        }
        // SAFETY: each is null or just allocated, and nobody else has it.
        unsafe {
            c::avcodec_free_context(&raw mut context);
            c::av_packet_free(&raw mut packet);
        }
        Err(NO_MEMORY)
    }

    /// Gives `data` to the decoder. The frame that it becomes carries the same `number`.
    ///
    /// # Errors
    ///
    /// libavcodec's error code, for example for data that it cannot decode.
    pub(crate) fn send(&mut self, data: &[u8], number: i64) -> Result<(), Refusal> {
        let packet = self.packet.as_ptr();
        let size = c_int::try_from(data.len()).unwrap_or(c_int::MAX);
        // SAFETY: the packet is empty; libavcodec allocates as many bytes and those
        // that it reads beyond them, or refuses.
        check(unsafe { c::av_new_packet(packet, size) })?;
        // SAFETY: the packet now has `size` bytes of its own. `data` has at least as
        // many: it has more only above what libavcodec allocates at all.
        unsafe {
            let copy = std::slice::from_raw_parts_mut((*packet).data, data.len());
            copy.copy_from_slice(data);
            (*packet).pts = number;
        }
        // SAFETY: the decoder is open; it takes a reference of its own to the bytes.
        let status = unsafe { c::avcodec_send_packet(self.context.as_ptr(), packet) };
        // SAFETY: gives up the reference of this packet, which is empty then.
        unsafe { c::av_packet_unref(packet) };
        check(status)
    }

    /// Takes a decoded frame, if one is ready.
    ///
    /// # Errors
    ///
    /// libavcodec's error code.
    pub(crate) fn receive(&mut self) -> Result<Option<Frame>, Refusal> {
        // SAFETY: allocates; null without memory.
        let frame = NonNull::new(unsafe { c::av_frame_alloc() }).ok_or(NO_MEMORY)?;
        let frame = Frame(frame);
        // SAFETY: the decoder is open, and the frame is empty.
        let status = unsafe { c::avcodec_receive_frame(self.context.as_ptr(), frame.0.as_ptr()) };
        match status {
            c::SEND_LATER | c::NO_MORE => Ok(None),
            status => check(status).map(|()| Some(frame)),
        }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let (mut context, mut packet) = (self.context.as_ptr(), self.packet.as_ptr());
        // SAFETY: both are there, and nothing uses them afterwards.
        unsafe {
            c::avcodec_free_context(&raw mut context);
            c::av_packet_free(&raw mut packet);
        }
    }
}

/// A decoded frame. The decoder may still refer to its samples; neither side writes to
/// them.
#[derive(Debug)]
pub(crate) struct Frame(NonNull<AVFrame>);

// SAFETY: its samples are counted references, counted atomically, that nobody writes to.
unsafe impl Send for Frame {}
// SAFETY: the samples are never written to, and all methods with `&self` only read.
unsafe impl Sync for Frame {}

impl Frame {
    fn fields(&self) -> &AVFrame {
        // SAFETY: the frame is there as long as `self`, and nothing changes it.
        unsafe { self.0.as_ref() }
    }

    /// The number of the data that this frame was decoded from.
    pub(crate) fn number(&self) -> i64 {
        self.fields().pts
    }

    /// Columns and rows.
    pub(crate) fn size(&self) -> (c_int, c_int) {
        let fields = self.fields();
        (fields.width, fields.height)
    }

    pub(crate) fn format(&self) -> Format {
        // `YUVJ420P` is `YUV420P` in full range.
        let planes = [
            c::AVPixelFormat_AV_PIX_FMT_YUV420P,
            c::AVPixelFormat_AV_PIX_FMT_YUVJ420P,
        ];
        let format = self.fields().format;
        if planes.contains(&format) {
            Format::Planes
        } else {
            Format::Other(format)
        }
    }

    pub(crate) fn colours(&self) -> Colours {
        let fields = self.fields();
        let old = [
            c::AVColorSpace_AVCOL_SPC_BT470BG,
            c::AVColorSpace_AVCOL_SPC_SMPTE170M,
        ];
        Colours {
            matrix: if old.contains(&fields.colorspace) {
                Matrix::Bt601
            } else {
                Matrix::Bt709
            },
            is_full_range: fields.color_range == c::AVColorRange_AVCOL_RANGE_JPEG
                || fields.format == c::AVPixelFormat_AV_PIX_FMT_YUVJ420P,
        }
    }

    /// Whether libavcodec filled in something that was missing or wrong.
    pub(crate) fn is_damaged(&self) -> bool {
        let fields = self.fields();
        let corrupt = c::AV_FRAME_FLAG_CORRUPT.cast_signed();
        fields.decode_error_flags != 0 || fields.flags & corrupt != 0
    }

    /// The samples of plane 0, 1 or 2, and the bytes from one row to the next. Returns
    /// `None` if the frame has no such plane, or stores it from the bottom to the top.
    pub(crate) fn plane(&self, number: usize) -> Option<(&[u8], usize)> {
        let fields = self.fields();
        if self.format() != Format::Planes {
            return None;
        }
        let (width, height) = self.size();
        let halved = |side: c_int| if number == 0 { side } else { (side + 1) / 2 };
        let width = usize::try_from(halved(width)).ok()?;
        let height = usize::try_from(halved(height)).ok()?;
        let stride = usize::try_from(*fields.linesize.get(number)?).ok()?;
        let first = NonNull::new(*fields.data.get(number)?)?;
        let before = height.checked_sub(1)?.checked_mul(stride)?;
        if number > 2 || stride < width {
            return None;
        }
        // SAFETY: a frame of this format has in each plane as many rows, `stride` bytes
        // apart, of as many samples, for as long as the frame is there.
        let data = unsafe { std::slice::from_raw_parts(first.as_ptr(), before + width) };
        Some((data, stride))
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        let mut frame = self.0.as_ptr();
        // SAFETY: it is there, and nothing uses it afterwards.
        unsafe { c::av_frame_free(&raw mut frame) };
    }
}

/// Finds libavcodec's decoder. For AV1 this is dav1d's: libavcodec has several, and the one
/// that it prefers may be for graphics processors only.
fn find(codec: Codec) -> *const AVCodec {
    let number = match codec {
        Codec::H264 => c::AVCodecID_AV_CODEC_ID_H264,
        Codec::H265 => c::AVCodecID_AV_CODEC_ID_HEVC,
        Codec::Av1 => {
            // SAFETY: looks into a table; the name ends with a zero.
            return unsafe { c::avcodec_find_decoder_by_name(c"libdav1d".as_ptr()) };
        }
    };
    // SAFETY: looks into a table.
    unsafe { c::avcodec_find_decoder(number) }
}

fn check(status: c_int) -> Result<(), Refusal> {
    if status < 0 {
        Err(Refusal(status))
    } else {
        Ok(())
    }
}
