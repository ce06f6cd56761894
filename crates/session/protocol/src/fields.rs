//! Fixed-size fields of binary messages.

/// The `N` bytes at `at`; zeros if the message ends before.
pub(crate) fn get<const N: usize>(message: &[u8], at: usize) -> [u8; N] {
    let field = message.get(at..).and_then(|rest| rest.first_chunk::<N>());
    field.copied().unwrap_or([0; N])
}

/// Writes a field at `at`; does nothing if the message ends before.
pub(crate) fn put<const N: usize>(message: &mut [u8], at: usize, field: [u8; N]) {
    let place = message.get_mut(at..);
    if let Some(place) = place.and_then(|rest| rest.first_chunk_mut::<N>()) {
        *place = field;
    }
}
