//! GStreamer's functions, and the parts of its structures that this crate reads or writes.
//!
//! The declarations are those of `GLib` 2.66 to 2.84 and GStreamer 1.18 to 1.26, whose binary interfaces have been the
//! same since GStreamer 1.0 (2012): functions are only added. The newest of those used here,
//! `gst_app_sink_try_pull_sample`, came with 1.10. Names are those of C, so that a reader finds them in its
//! documentation.

#[cfg(test)]
use std::ffi::c_ulong;
use std::ffi::{c_char, c_int, c_uint, c_void};

use mimosa_dynamic::Library;

/// An object, of `GObject` (an element, a bus) or of GStreamer's own counting (a buffer, an event, a sample).
pub(super) type Pointer = *mut c_void;

/// `GError`.
#[repr(C)]
pub(super) struct Error {
    domain: u32,
    code: c_int,
    pub(super) message: *mut c_char,
}

/// `GValue`: all zero is one without a type.
#[repr(C)]
#[derive(Default)]
pub(super) struct Value {
    kind: usize,
    data: [u64; 2],
}

/// The beginning of `GParamSpec`.
#[repr(C)]
pub(super) struct Property {
    class: Pointer,
    name: *const c_char,
    pub(super) flags: c_uint,
    pub(super) value_type: usize,
}

/// `GstMiniObject`.
#[repr(C)]
struct MiniObject {
    kind: usize,
    references: c_int,
    lock: c_int,
    flags: c_uint,
    functions: [Pointer; 3],
    number: c_uint,
    pointer: Pointer,
}

/// The beginning of `GstBuffer`.
#[repr(C)]
pub(super) struct Buffer {
    object: MiniObject,
    pool: Pointer,
    /// Nanoseconds.
    pub(super) pts: u64,
    dts: u64,
    /// Nanoseconds.
    pub(super) duration: u64,
}

impl Buffer {
    /// Whether it has this flag.
    pub(super) const fn has(&self, flag: c_uint) -> bool {
        self.object.flags & flag != 0
    }
}

#[cfg(test)]
impl Buffer {
    /// Sets this flag, or takes it away.
    pub(super) const fn flag(&mut self, flag: c_uint, is_set: bool) {
        if is_set {
            self.object.flags |= flag;
        } else {
            self.object.flags &= !flag;
        }
    }
}

/// The last piece of a frame (`GST_BUFFER_FLAG_MARKER`, which is `GST_MINI_OBJECT_FLAG_LAST << 5`).
pub(super) const MARKER: c_uint = 1 << 9;
/// Parameter sets (`GST_BUFFER_FLAG_HEADER`, which is `GST_MINI_OBJECT_FLAG_LAST << 6`).
pub(super) const HEADER: c_uint = 1 << 10;
/// Frames before it are needed to decode it (`GST_BUFFER_FLAG_DELTA_UNIT`, which is `GST_MINI_OBJECT_FLAG_LAST << 9`).
pub(super) const DELTA: c_uint = 1 << 13;

/// The beginning of `GstMessage`.
#[repr(C)]
pub(super) struct Message {
    object: MiniObject,
    kind: c_uint,
    timestamp: u64,
    pub(super) source: Pointer,
}

/// A function that is called when a property has changed: with the object, the property and a pointer.
#[cfg(test)]
pub(super) type Notified = unsafe extern "C" fn(Pointer, Pointer, Pointer);

/// The beginning of `GstPadProbeInfo`.
#[cfg(test)]
#[repr(C)]
pub(super) struct Passing {
    kind: c_uint,
    id: c_ulong,
    pub(super) buffer: *mut Buffer,
}

/// A function that is called with each buffer that passes a pad: with the pad, the buffer and a pointer.
#[cfg(test)]
pub(super) type Probe = unsafe extern "C" fn(Pointer, *mut Passing, Pointer) -> c_uint;

/// Declares a table of functions, and how it is filled.
macro_rules! functions {
    ($($(#[$attribute:meta])* fn $name:ident($($type:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions that this crate calls.
        pub(super) struct Functions {
            $($(#[$attribute])* pub(super) $name: unsafe extern "C" fn($($type),*) $(-> $result)?,)*
        }

        impl Functions {
            /// The functions of a library and of those that it links, which the system's loader searches as well.
            ///
            /// # Errors
            ///
            /// The loader's message about the first that is not there.
            pub(super) fn of(library: &Library) -> Result<Self, String> {
                Ok(Self {
                    $($(#[$attribute])* $name: {
                        let name = concat!(stringify!($name), "\0");
                        // SAFETY: GStreamer's headers declare the function of this name as the table does.
                        let symbol = unsafe { library.get(name.as_bytes()) };
                        *symbol.map_err(|error| error.to_string())?
                    },)*
                })
            }
        }
    };
}

functions! {
    // GLib and GObject.
    fn g_error_free(*mut Error);
    fn g_free(Pointer);
    fn g_object_class_find_property(Pointer, *const c_char) -> *const Property;
    fn g_object_set_property(Pointer, *const c_char, *const Value);
    fn g_param_value_validate(*const Property, *mut Value) -> c_int;
    #[cfg(test)]
    fn g_signal_connect_data(Pointer, *const c_char, Notified, Pointer, Pointer, c_uint) -> u64;
    fn g_type_fundamental(usize) -> usize;
    fn g_value_init(*mut Value, usize) -> *mut Value;
    fn g_value_unset(*mut Value);
    // GStreamer.
    fn gst_app_sink_try_pull_sample(Pointer, u64) -> Pointer;
    fn gst_app_src_push_buffer(Pointer, *mut Buffer) -> c_int;
    fn gst_bin_add(Pointer, Pointer) -> c_int;
    fn gst_buffer_extract(*const Buffer, usize, Pointer, usize) -> usize;
    fn gst_buffer_fill(*mut Buffer, usize, *const c_void, usize) -> usize;
    fn gst_buffer_get_size(*const Buffer) -> usize;
    fn gst_buffer_new_allocate(Pointer, usize, Pointer) -> *mut Buffer;
    fn gst_bus_pop_filtered(Pointer, c_uint) -> *mut Message;
    fn gst_caps_can_intersect(Pointer, Pointer) -> c_int;
    fn gst_caps_from_string(*const c_char) -> Pointer;
    fn gst_element_factory_find(*const c_char) -> Pointer;
    fn gst_element_factory_make(*const c_char, *const c_char) -> Pointer;
    fn gst_element_get_static_pad(Pointer, *const c_char) -> Pointer;
    fn gst_element_link(Pointer, Pointer) -> c_int;
    fn gst_element_send_event(Pointer, Pointer) -> c_int;
    fn gst_element_set_state(Pointer, c_uint) -> c_uint;
    fn gst_event_new_custom(c_uint, Pointer) -> Pointer;
    fn gst_flow_get_name(c_int) -> *const c_char;
    fn gst_init_check(*mut c_int, *mut *mut *mut c_char, *mut *mut Error) -> c_int;
    fn gst_message_parse_error(*mut Message, *mut *mut Error, *mut *mut c_char);
    fn gst_mini_object_unref(Pointer);
    fn gst_object_get_name(Pointer) -> *mut c_char;
    fn gst_object_ref_sink(Pointer) -> Pointer;
    fn gst_object_unref(Pointer);
    #[cfg(test)]
    fn gst_pad_add_probe(Pointer, c_uint, Probe, Pointer, Pointer) -> c_ulong;
    fn gst_pad_get_pad_template_caps(Pointer) -> Pointer;
    fn gst_pipeline_get_bus(Pointer) -> Pointer;
    fn gst_pipeline_new(*const c_char) -> Pointer;
    fn gst_sample_get_buffer(Pointer) -> *mut Buffer;
    fn gst_structure_from_string(*const c_char, *mut *mut c_char) -> Pointer;
    fn gst_value_deserialize(*mut Value, *const c_char) -> c_int;
    fn gst_version(*mut c_uint, *mut c_uint, *mut c_uint, *mut c_uint);
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;

    /// The places that the C compiler has for the headers of GStreamer 1.22 on a machine of 64 bits.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn fields_are_where_c_has_them() {
        assert_eq!(size_of::<Value>(), 24);
        assert_eq!(offset_of!(Error, message), 8);
        assert_eq!(offset_of!(Property, flags), 16);
        assert_eq!(offset_of!(Property, value_type), 24);
        assert_eq!(size_of::<MiniObject>(), 64);
        assert_eq!(offset_of!(MiniObject, flags), 16);
        assert_eq!(offset_of!(Buffer, pts), 72);
        assert_eq!(offset_of!(Buffer, duration), 88);
        assert_eq!(offset_of!(Message, source), 80);
        assert_eq!(offset_of!(Passing, buffer), 16);
    }
}
