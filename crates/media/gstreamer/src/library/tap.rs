//! What tests do to buffers on their way from one element to the next.

use std::ffi::c_uint;
use std::ptr;

use super::functions::{self, DELTA, HEADER, MARKER, Pointer};
use super::object::Object;
use super::{c, start};

/// `GST_PAD_PROBE_TYPE_BUFFER`.
const BUFFERS: c_uint = 1 << 4;
/// `GST_PAD_PROBE_DROP` and `GST_PAD_PROBE_OK`.
const DROP: c_uint = 0;
const PASS: c_uint = 1;

/// A buffer that passes.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "GStreamer's flags")]
pub(crate) struct Passing {
    pub(crate) data: Vec<u8>,
    /// When it is shown, in nanoseconds.
    pub(crate) time: u64,
    pub(crate) is_delta: bool,
    pub(crate) is_header: bool,
    pub(crate) has_marker: bool,
    /// Whether it goes no further.
    pub(crate) is_dropped: bool,
}

type Each = Box<dyn Fn(&mut Passing) + Send + Sync>;

impl Object {
    /// Calls `each` with every buffer that leaves the element by its pad `src`. The buffer has the time and the flags
    /// that `each` leaves. What `each` uses stays until the process ends.
    pub(crate) fn tap(&self, each: impl Fn(&mut Passing) + Send + Sync + 'static) {
        /// Called by GStreamer in the element's thread.
        unsafe extern "C" fn passes(
            _: Pointer,
            passing: *mut functions::Passing,
            each: Pointer,
        ) -> c_uint {
            if let Ok(library) = start() {
                // SAFETY: the probe is for buffers, and was added with a leaked function of this type. A buffer that
                // leaves its element is nobody else's yet.
                unsafe {
                    let each = &*each.cast::<Each>();
                    let buffer = (*passing).buffer;
                    let mut data = vec![0; (library.0.gst_buffer_get_size)(buffer)];
                    (library.0.gst_buffer_extract)(buffer, 0, data.as_mut_ptr().cast(), data.len());
                    let mut told = Passing {
                        data,
                        time: (*buffer).pts,
                        is_delta: (*buffer).has(DELTA),
                        is_header: (*buffer).has(HEADER),
                        has_marker: (*buffer).has(MARKER),
                        is_dropped: false,
                    };
                    each(&mut told);
                    (*buffer).pts = told.time;
                    (*buffer).flag(DELTA, told.is_delta);
                    (*buffer).flag(HEADER, told.is_header);
                    (*buffer).flag(MARKER, told.has_marker);
                    if told.is_dropped {
                        return DROP;
                    }
                }
            }
            PASS
        }
        let each: &'static mut Each = Box::leak(Box::new(Box::new(each)));
        let name = c("src");
        // SAFETY: a text that ends with a zero; the probe has the signature of such functions, and its data stays.
        unsafe {
            let pad = (self.library.0.gst_element_get_static_pad)(self.at(), name.as_ptr());
            let data = ptr::from_mut(each).cast();
            (self.library.0.gst_pad_add_probe)(pad, BUFFERS, passes, data, ptr::null_mut());
            (self.library.0.gst_object_unref)(pad);
        }
    }
}
