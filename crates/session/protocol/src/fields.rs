//! Fields at their places in a message whose length has been checked.

/// The `N` bytes at `at`, for `from_le_bytes`; zeros behind the end.
pub(crate) fn get<const N: usize>(message: &[u8], at: usize) -> [u8; N] {
    let field = message.get(at..).and_then(|rest| rest.first_chunk::<N>());
    field.copied().unwrap_or([0; N])
}

/// Writes a field at `at`; nothing behind the end.
pub(crate) fn put<const N: usize>(message: &mut [u8], at: usize, field: [u8; N]) {
    let place = message.get_mut(at..);
    if let Some(place) = place.and_then(|rest| rest.first_chunk_mut::<N>()) {
        *place = field;
    }
}
