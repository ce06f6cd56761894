//! A safe interface to libavcodec's functions.
//!
//! Callers pass bytes and get planes. libavcodec's own structures, which hold pointers,
//! stay in this file and in `layout`.

#![expect(unsafe_code, reason = "calls into C")]

use std::ffi::{CStr, c_char, c_int};
use std::ptr::{NonNull, null_mut};

use mimosa_dynamic::Absent;
use mimosa_facts::Codec;
use mimosa_video::{Colours, Matrix};

use crate::layout::{self, Layout, Packet};
use crate::library::{self, Context, Functions, functions};

/// Numbers of FFmpeg's headers, alike in all versions that are loaded.
mod c {
    use std::ffi::c_int;

    /// `AVERROR(EAGAIN)` on Linux.
    pub(super) const SEND_LATER: c_int = -11;
    /// `AVERROR_EOF`, the letters `EOF ` as a negative number.
    pub(super) const NO_MORE: c_int = -0x2046_4f45;
    pub(super) const AV_LOG_QUIET: c_int = -8;
    pub(super) const AV_OPT_SEARCH_CHILDREN: c_int = 1;
    pub(super) const AV_FRAME_FLAG_CORRUPT: c_int = 1;
    pub(super) const AV_PIX_FMT_YUV420P: c_int = 0;
    pub(super) const AV_PIX_FMT_YUVJ420P: c_int = 12;
    pub(super) const AVCOL_SPC_BT470BG: c_int = 5;
    pub(super) const AVCOL_SPC_SMPTE170M: c_int = 6;
    pub(super) const AVCOL_RANGE_JPEG: c_int = 2;
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
        let Ok(functions) = functions() else {
            return write!(f, "error {}", self.0);
        };
        let mut text: [c_char; MESSAGE] = [0; MESSAGE];
        // SAFETY: libavutil writes at most as much, with a zero at the end.
        unsafe { (functions.av_strerror)(self.0, text.as_mut_ptr(), MESSAGE) };
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

/// The reason why no decoder was opened.
#[derive(Debug)]
pub(crate) enum NotOpen {
    /// There is no libavcodec.
    Absent(Absent),
    /// libavcodec's error code.
    Refused(Refusal),
}

impl From<Absent> for NotOpen {
    fn from(absent: Absent) -> Self {
        Self::Absent(absent)
    }
}

impl From<Refusal> for NotOpen {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// How the slices of a frame are decoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Threads {
    /// Slices or tiles of whole frames, by so many threads.
    Slices(c_int),
    /// One slice after the other, each as it comes; only for H.264.
    OneByOne,
}

/// Threads for slices that come one by one, of which each occupies one: with fewer, libavcodec takes
/// every slice but the first for one that follows an error.
const SLICE_THREADS: c_int = 2;

/// An open decoder.
#[derive(Debug)]
pub(crate) struct Raw {
    library: &'static Functions,
    context: NonNull<Context>,
    packet: NonNull<Packet>,
}

// SAFETY: libavcodec's functions may be called from any thread, one at a time for a
// decoder, which `&mut self` ensures.
unsafe impl Send for Raw {}

impl Raw {
    /// Whether libavcodec has a decoder of `codec`.
    pub(crate) fn is_there(codec: Codec) -> bool {
        functions().is_ok_and(|library| !find(library, codec).is_null())
    }

    /// Opens a decoder; returns `None` if libavcodec has no decoder of `codec`.
    ///
    /// # Errors
    ///
    /// libavcodec's error code, or that there is no libavcodec.
    pub(crate) fn open(codec: Codec, threads: Threads) -> Result<Option<Self>, NotOpen> {
        let library = functions()?;
        // SAFETY: sets a number that libavutil reads atomically.
        unsafe { (library.av_log_set_level)(c::AV_LOG_QUIET) };
        let codec = find(library, codec);
        if codec.is_null() {
            return Ok(None);
        }
        // SAFETY: allocates; null without memory.
        let context = NonNull::new(unsafe { (library.avcodec_alloc_context3)(codec) });
        // SAFETY: allocates; null without memory.
        let packet = NonNull::new(unsafe { (library.av_packet_alloc)() });
        let (mut context, mut packet) = (
            context.map_or(null_mut(), NonNull::as_ptr),
            packet.map_or(null_mut(), NonNull::as_ptr),
        );
        if let (Some(context), Some(packet)) = (NonNull::new(context), NonNull::new(packet)) {
            let raw = Self {
                library,
                context,
                packet,
            };
            match threads {
                Threads::Slices(threads) => raw.set(threads)?,
                Threads::OneByOne => {
                    raw.set(SLICE_THREADS)?;
                    raw.take_slices()?;
                }
            }
            // SAFETY: the context was made for this decoder, and there are no options.
            let status = unsafe { (library.avcodec_open2)(context.as_ptr(), codec, null_mut()) };
            check(status)?;
            return Ok(Some(raw));
        }
        // SAFETY: each is null or just allocated, and nobody else has it.
        unsafe {
            (library.avcodec_free_context)(&raw mut context);
            (library.av_packet_free)(&raw mut packet);
        }
        Err(NO_MEMORY.into())
    }

    /// Makes the settings of a decoder that is not open yet.
    fn set(&self, threads: c_int) -> Result<(), Refusal> {
        let context = self.context.as_ptr().cast();
        // SAFETY: the context was just allocated, nobody else has it, and all texts end with a
        // zero.
        unsafe {
            // To dav1d it also says that one frame at a time is decoded.
            let flag = c"+low_delay".as_ptr();
            check((self.library.av_opt_set)(
                context,
                c"flags".as_ptr(),
                flag,
                0,
            ))?;
            let slices = c"slice".as_ptr();
            let name = c"thread_type".as_ptr();
            check((self.library.av_opt_set)(context, name, slices, 0))?;
            let (name, threads) = (c"threads".as_ptr(), threads.into());
            check((self.library.av_opt_set_int)(context, name, threads, 0))
        }
    }

    /// Lets a decoder of H.264 that is not open yet take slices one by one. Error resilience is off:
    /// after each slice it would fill the rest of the picture, which takes twenty times as long as decoding.
    fn take_slices(&self) -> Result<(), Refusal> {
        let context = self.context.as_ptr().cast();
        self.set_flags2(c"+chunks")?;
        // SAFETY: as in `set`; `SEARCH_CHILDREN` reaches the decoder's own options.
        unsafe {
            let (name, depth) = (c"enable_er".as_ptr(), c::AV_OPT_SEARCH_CHILDREN);
            check((self.library.av_opt_set_int)(context, name, 0, depth))
        }
    }

    /// Makes a decoder that [takes slices](Self::take_slices) forget the picture that it has not decoded
    /// to its end: as long as it knows one, it refuses the first slice of another.
    ///
    /// A decoder of whole frames forgets such a picture with each packet. For a moment the decoder is one,
    /// and gets a packet that means nothing: a delimiter (H.264, 7.3.2.4).
    pub(crate) fn abandon(&mut self) {
        // The names are those that `take_slices` has set, so that nothing is refused.
        let _ = self.set_flags2(c"-chunks");
        // There is no picture in it, which libavcodec says.
        let _ = self.send(&[0, 0, 0, 1, 9, 0xf0], 0);
        let _ = self.set_flags2(c"+chunks");
        while matches!(self.receive(), Ok(Some(_))) {}
    }

    /// Adds or removes a flag, which libavcodec reads anew with each packet.
    fn set_flags2(&self, flag: &CStr) -> Result<(), Refusal> {
        let context = self.context.as_ptr().cast();
        // SAFETY: no call to the decoder is under way, and all texts end with a zero.
        check(unsafe { (self.library.av_opt_set)(context, c"flags2".as_ptr(), flag.as_ptr(), 0) })
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
        check(unsafe { (self.library.av_new_packet)(packet, size) })?;
        // SAFETY: the packet now has `size` bytes of its own. `data` has at least as
        // many: it has more only above what libavcodec allocates at all.
        unsafe {
            let copy = std::slice::from_raw_parts_mut((*packet).data, data.len());
            copy.copy_from_slice(data);
            (*packet).pts = number;
        }
        // SAFETY: the decoder is open; it takes a reference of its own to the bytes.
        let status = unsafe { (self.library.avcodec_send_packet)(self.context.as_ptr(), packet) };
        // SAFETY: gives up the reference of this packet, which is empty then.
        unsafe { (self.library.av_packet_unref)(packet) };
        check(status)
    }

    /// Takes a decoded frame, if one is ready.
    ///
    /// # Errors
    ///
    /// libavcodec's error code.
    pub(crate) fn receive(&mut self) -> Result<Option<Frame>, Refusal> {
        // SAFETY: allocates; null without memory.
        let frame = NonNull::new(unsafe { (self.library.av_frame_alloc)() }).ok_or(NO_MEMORY)?;
        let frame = Frame {
            library: self.library,
            fields: frame,
        };
        // SAFETY: the decoder is open, and the frame is empty.
        let status = unsafe {
            (self.library.avcodec_receive_frame)(self.context.as_ptr(), frame.fields.as_ptr())
        };
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
            (self.library.avcodec_free_context)(&raw mut context);
            (self.library.av_packet_free)(&raw mut packet);
        }
    }
}

/// A decoded frame. The decoder may still refer to its samples; neither side writes to
/// them.
#[derive(Debug)]
pub(crate) struct Frame {
    library: &'static Functions,
    fields: NonNull<layout::Frame>,
}

// SAFETY: its samples are counted references, counted atomically, that nobody writes to.
unsafe impl Send for Frame {}
// SAFETY: the samples are never written to, and all methods with `&self` only read.
unsafe impl Sync for Frame {}

impl Frame {
    fn fields(&self) -> &layout::Frame {
        // SAFETY: the frame is there as long as `self`, and nothing changes it.
        unsafe { self.fields.as_ref() }
    }

    /// The number at `place`, one of the layout's.
    fn field(&self, place: usize) -> c_int {
        // SAFETY: the libavutil whose layout it is made the frame, and nothing changes it.
        unsafe { Layout::number(self.fields, place) }
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
        let planes = [c::AV_PIX_FMT_YUV420P, c::AV_PIX_FMT_YUVJ420P];
        let format = self.fields().format;
        if planes.contains(&format) {
            Format::Planes
        } else {
            Format::Other(format)
        }
    }

    pub(crate) fn colours(&self) -> Colours {
        let layout = self.library.layout;
        let old = [c::AVCOL_SPC_BT470BG, c::AVCOL_SPC_SMPTE170M];
        Colours {
            matrix: if old.contains(&self.field(layout.colorspace)) {
                Matrix::Bt601
            } else {
                Matrix::Bt709
            },
            is_full_range: self.field(layout.color_range) == c::AVCOL_RANGE_JPEG
                || self.fields().format == c::AV_PIX_FMT_YUVJ420P,
        }
    }

    /// Whether libavcodec filled in something that was missing or wrong.
    pub(crate) fn is_damaged(&self) -> bool {
        let layout = self.library.layout;
        self.field(layout.decode_error_flags) != 0
            || self.field(layout.flags) & c::AV_FRAME_FLAG_CORRUPT != 0
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
        let mut frame = self.fields.as_ptr();
        // SAFETY: it is there, and nothing uses it afterwards.
        unsafe { (self.library.av_frame_free)(&raw mut frame) };
    }
}

/// Finds libavcodec's decoder. For AV1 this is dav1d's: libavcodec has several, and the one
/// that it prefers may be for graphics processors only.
fn find(library: &Functions, codec: Codec) -> *const library::Codec {
    let name = match codec {
        Codec::H264 => c"h264",
        Codec::H265 => c"hevc",
        Codec::Av1 => c"libdav1d",
    };
    // SAFETY: looks into a table; the name ends with a zero.
    unsafe { (library.avcodec_find_decoder_by_name)(name.as_ptr()) }
}

fn check(status: c_int) -> Result<(), Refusal> {
    if status < 0 {
        Err(Refusal(status))
    } else {
        Ok(())
    }
}
