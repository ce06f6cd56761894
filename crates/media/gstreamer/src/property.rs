//! Setting a property that an element may not have.

use gstreamer::glib::{
    ParamFlags, ParamSpec, ParamSpecInt, ParamSpecInt64, ParamSpecUInt, ParamSpecUInt64, Value,
};
use gstreamer::prelude::*;

/// Sets a property from a text; a number becomes the nearest one that the property takes.
/// Returns whether the element has the property and takes the value.
pub(crate) fn set(element: &gstreamer::Element, name: &str, text: &str) -> bool {
    let Some(property) = element.find_property(name) else {
        return false;
    };
    if !property.flags().contains(ParamFlags::WRITABLE) {
        return false;
    }
    let number = text.parse().ok().and_then(|n| nearest(&property, n));
    let value = number.or_else(|| Value::deserialize(text, property.value_type()).ok());
    let Some(value) = value else {
        return false;
    };
    element.set_property_from_value(name, &value);
    true
}

/// The value nearest to `number` that a property of whole numbers takes.
fn nearest(property: &ParamSpec, number: i64) -> Option<Value> {
    if let Some(property) = property.downcast_ref::<ParamSpecUInt>() {
        let number = u32::try_from(number.max(0)).unwrap_or(u32::MAX);
        return Some(number.clamp(property.minimum(), property.maximum()).into());
    }
    if let Some(property) = property.downcast_ref::<ParamSpecInt>() {
        let number = i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX });
        return Some(number.clamp(property.minimum(), property.maximum()).into());
    }
    if let Some(property) = property.downcast_ref::<ParamSpecUInt64>() {
        let number = u64::try_from(number).unwrap_or(0);
        return Some(number.clamp(property.minimum(), property.maximum()).into());
    }
    let property = property.downcast_ref::<ParamSpecInt64>()?;
    Some(number.clamp(property.minimum(), property.maximum()).into())
}
