//! [`Object`]: an element, or a pipeline of elements.

use std::ffi::{c_uint, c_void};
use std::ptr::{self, NonNull};

use super::functions::{Pointer, Value};
use super::{Library, c};

/// `G_PARAM_WRITABLE`.
const WRITABLE: c_uint = 1 << 1;
/// `GST_EVENT_CUSTOM_UPSTREAM`.
const CUSTOM_UPSTREAM: c_uint = 270 << 8 | 1;
/// `GST_STATE_CHANGE_FAILURE`.
const FAILURE: c_uint = 0;
/// The request for a keyframe with parameter sets, now, as `gst_video_event_new_upstream_force_key_unit` writes it.
const KEYFRAME: &str = "GstForceKeyUnit, running-time=(guint64)18446744073709551615, \
    all-headers=(boolean)true, count=(uint)0";

/// What an element or a pipeline is to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u32)]
pub(crate) enum State {
    /// Nothing, and to hold nothing (`GST_STATE_NULL`).
    Null = 1,
    /// Everything (`GST_STATE_PLAYING`).
    Playing = 4,
}

/// An object of GStreamer: an element, a pipeline, or the bus on which a pipeline tells of errors.
pub(crate) struct Object {
    pub(super) library: Library,
    at: NonNull<c_void>,
}

// SAFETY: objects of GStreamer count who has them by atomic operations, and their functions lock what they change
// ("MT safety" in its design documents).
unsafe impl Send for Object {}

impl std::fmt::Debug for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name().unwrap_or_default())
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: this was one of those who have it.
        unsafe { (self.library.0.gst_object_unref)(self.at()) }
    }
}

impl Object {
    /// An element of this kind.
    ///
    /// # Errors
    ///
    /// A sentence if GStreamer does not make one.
    pub(crate) fn make(library: Library, kind: &str) -> Result<Self, String> {
        let name = c(kind);
        // SAFETY: a text that ends with a zero; GStreamer names the element.
        let made = unsafe { (library.0.gst_element_factory_make)(name.as_ptr(), ptr::null()) };
        Self::floating(library, made).ok_or_else(|| format!("GStreamer makes no element `{kind}`"))
    }

    /// A pipeline without elements.
    ///
    /// # Errors
    ///
    /// A sentence if GStreamer does not make one.
    pub(crate) fn pipeline(library: Library) -> Result<Self, String> {
        // SAFETY: GStreamer names the pipeline.
        let made = unsafe { (library.0.gst_pipeline_new)(ptr::null()) };
        Self::floating(library, made).ok_or_else(|| "GStreamer makes no pipeline".to_owned())
    }

    /// The bus of a pipeline.
    pub(super) fn bus(&self) -> Option<Self> {
        // SAFETY: a pipeline; the bus is this program's as well from then on.
        let bus = unsafe { (self.library.0.gst_pipeline_get_bus)(self.at()) };
        let at = NonNull::new(bus)?;
        Some(Self {
            library: self.library,
            at,
        })
    }

    /// A new object, which nobody has yet.
    fn floating(library: Library, object: Pointer) -> Option<Self> {
        let at = NonNull::new(object)?;
        // SAFETY: an object, which this program has from now on.
        unsafe { (library.0.gst_object_ref_sink)(object) };
        Some(Self { library, at })
    }

    pub(super) const fn at(&self) -> Pointer {
        self.at.as_ptr()
    }

    /// The object's name.
    pub(super) fn name(&self) -> Option<String> {
        // SAFETY: an object; its name is copied for this program.
        let name = unsafe { (self.library.0.gst_object_get_name)(self.at()) };
        super::text(self.library.0, name)
    }

    /// Puts elements into this pipeline, and links each with the next.
    ///
    /// # Errors
    ///
    /// A sentence about the first two that do not go together.
    pub(crate) fn chain(&self, elements: &[&Self]) -> Result<(), String> {
        let gst = self.library.0;
        for element in elements {
            // SAFETY: a pipeline and an element.
            if unsafe { (gst.gst_bin_add)(self.at(), element.at()) } == 0 {
                return Err(format!("{element:?} cannot be part of a pipeline"));
            }
        }
        for pair in elements.windows(2) {
            // SAFETY: two elements of one pipeline.
            if unsafe { (gst.gst_element_link)(pair[0].at(), pair[1].at()) } == 0 {
                return Err(format!("{:?} cannot be linked with {:?}", pair[0], pair[1]));
            }
        }
        Ok(())
    }

    /// Whether the element may send these caps by its pad `src`, as the pad's template says.
    pub(crate) fn may_send(&self, caps: &str) -> bool {
        let gst = self.library.0;
        let (pad, caps) = (c("src"), c(caps));
        // SAFETY: texts that end with a zero. The pad, its template's caps and those of the text are this program's,
        // and are given back.
        unsafe {
            let pad = (gst.gst_element_get_static_pad)(self.at(), pad.as_ptr());
            if pad.is_null() {
                return false;
            }
            let own = (gst.gst_pad_get_pad_template_caps)(pad);
            let asked = (gst.gst_caps_from_string)(caps.as_ptr());
            let may = !asked.is_null() && (gst.gst_caps_can_intersect)(own, asked) != 0;
            for caps in [own, asked] {
                if !caps.is_null() {
                    (gst.gst_mini_object_unref)(caps);
                }
            }
            (gst.gst_object_unref)(pad);
            may
        }
    }

    /// Has the element or pipeline change its state. Returns whether it does.
    pub(crate) fn set_state(&self, state: State) -> bool {
        // SAFETY: an element.
        unsafe { (self.library.0.gst_element_set_state)(self.at(), state as c_uint) != FAILURE }
    }

    /// Asks the element for a keyframe. Returns whether it takes the request.
    pub(crate) fn ask_for_keyframe(&self) -> bool {
        // SAFETY: an element.
        unsafe { ask_for_keyframe(self.library, self.at()) }
    }

    /// Sets a property from a text, as `gst-launch-1.0` does; a number becomes the nearest one that the property
    /// takes. Returns whether the element has the property and takes the value.
    pub(crate) fn set(&self, name: &str, text: &str) -> bool {
        let gst = self.library.0;
        let name = c(name);
        // SAFETY: the class of an object is its first field (GTypeInstance). A property that it finds stays as long as
        // the class. The value is begun with the property's own type, read only if it could be written, and ended.
        unsafe {
            let class = *self.at().cast::<Pointer>();
            let property = (gst.g_object_class_find_property)(class, name.as_ptr());
            if property.is_null() || (*property).flags & WRITABLE == 0 {
                return false;
            }
            let kind = (*property).value_type;
            let text = c(&within((gst.g_type_fundamental)(kind), text));
            let mut value = Value::default();
            (gst.g_value_init)(&raw mut value, kind);
            let is_understood = (gst.gst_value_deserialize)(&raw mut value, text.as_ptr()) != 0;
            if is_understood {
                // Numbers outside the property's range become its least or greatest.
                (gst.g_param_value_validate)(property, &raw mut value);
                (gst.g_object_set_property)(self.at(), name.as_ptr(), &raw const value);
            }
            (gst.g_value_unset)(&raw mut value);
            is_understood
        }
    }
}

/// The text, or the nearest number that a fundamental type of whole numbers has: `G_TYPE_INT`, `G_TYPE_UINT`,
/// `G_TYPE_INT64` and `G_TYPE_UINT64` are these multiples of four.
fn within(fundamental: usize, text: &str) -> String {
    let Ok(number) = text.parse::<i64>() else {
        return text.to_owned();
    };
    let (least, most) = match fundamental >> 2 {
        6 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        7 => (0, i64::from(u32::MAX)),
        11 => (0, i64::MAX),
        _ => return text.to_owned(),
    };
    number.clamp(least, most).to_string()
}

/// Sends an element the request for a keyframe. Returns whether the element takes it.
///
/// # Safety
///
/// `element` has to be an element.
unsafe fn ask_for_keyframe(library: Library, element: Pointer) -> bool {
    let request = c(KEYFRAME);
    // SAFETY: a text that ends with a zero makes a structure, which becomes the event's, which becomes the element's.
    unsafe {
        let structure = (library.0.gst_structure_from_string)(request.as_ptr(), ptr::null_mut());
        if structure.is_null() {
            return false;
        }
        let event = (library.0.gst_event_new_custom)(CUSTOM_UPSTREAM, structure);
        (library.0.gst_element_send_event)(element, event) != 0
    }
}

#[cfg(test)]
impl Object {
    /// Makes the element one whose next frame is a keyframe whenever its bitrate is set.
    pub(crate) fn begin_anew_at_changes(&self) {
        /// Called by `GObject` with the element whose property was set.
        unsafe extern "C" fn notified(element: Pointer, _property: Pointer, _data: Pointer) {
            if let Ok(library) = super::start() {
                // SAFETY: the signal is connected to an element.
                unsafe { ask_for_keyframe(library, element) };
            }
        }
        let signal = c"notify::bitrate";
        let none = ptr::null_mut();
        // SAFETY: the function has the signature of this signal's handlers, and uses no data.
        unsafe {
            (self.library.0.g_signal_connect_data)(
                self.at(),
                signal.as_ptr(),
                notified,
                none,
                none,
                0,
            );
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_the_nearest_that_there_is() {
        for (fundamental, text, nearest) in [
            (24, "5000000000", "2147483647"),
            (24, "-1", "-1"),
            (28, "-1", "0"),
            (28, "5000000000", "4294967295"),
            (44, "-1", "0"),
            (40, "-1", "-1"),
            (24, "superfast", "superfast"),
        ] {
            assert_eq!(within(fundamental, text), nearest, "{fundamental} {text}");
        }
    }

    #[test]
    fn what_an_element_does_not_have_is_not_set() {
        let library = super::super::start().unwrap();
        let element = Object::make(library, "x264enc").unwrap();
        // Its range is up to 2,048,000.
        assert!(element.set("bitrate", "99999999999"));
        assert!(element.set("speed-preset", "superfast"));
        assert!(!element.set("speed-preset", "of light"));
        assert!(!element.set("bit\0rate", "1"));
        assert!(!element.set("tempo", "1"));
        let error = Object::make(library, "none-such").unwrap_err();
        assert_eq!(error, "GStreamer makes no element `none-such`");
    }

    #[test]
    fn what_an_element_may_send_is_what_its_template_says() {
        let library = super::super::start().unwrap();
        for (element, alignment, may) in [
            ("x264enc", "au", true),
            ("x264enc", "nal", false),
            ("h264parse", "nal", true),
            ("h264parse", "none-such", false),
            // It says nothing about alignment.
            ("identity", "none-such", true),
            ("appsink", "au", false),
        ] {
            let caps = format!("video/x-h264, alignment=(string){alignment}");
            let element = Object::make(library, element).unwrap();
            assert_eq!(element.may_send(&caps), may, "{element:?} {alignment}");
        }
    }
}
