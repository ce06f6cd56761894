//! The functions that WebAssembly exports. A page cannot pass text, only numbers: both sides put
//! text into blocks of the module's memory, as bytes of UTF-8.
//!
//! ```text
//! block = mimosa_allocate(length)         the page writes the scenario into it
//! answer = mimosa_simulate(block, length) which also releases the block
//!                                         the answer's first four bytes are the number of the
//!                                         bytes that follow, lowest first: a text in JSON
//! mimosa_release(answer, 4 + number)
//! ```

#![expect(unsafe_code, reason = "is called from outside of Rust")]

use serde_json::Value;

/// A block of `length` bytes, which are zero. The caller releases it by [`mimosa_release`] or
/// hands it to [`mimosa_simulate`].
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn mimosa_allocate(length: usize) -> *mut u8 {
    given(vec![0; length])
}

/// Releases a block.
///
/// # Safety
///
/// The block is from this module, has this length, and nobody uses it afterwards.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mimosa_release(block: *mut u8, length: usize) {
    // SAFETY: the caller promises what `taken` asks for.
    drop(unsafe { taken(block, length) });
}

/// The answer to the scenario in the block, which is released ([`crate::answer()`]).
///
/// # Safety
///
/// The block is from [`mimosa_allocate`], has this length, and nobody uses it afterwards.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mimosa_simulate(block: *mut u8, length: usize) -> *mut u8 {
    // SAFETY: the caller promises what `taken` asks for.
    let text = unsafe { taken(block, length) };
    said(&crate::answer(&String::from_utf8_lossy(&text)))
}

/// What a page offers to choose from ([`crate::choices()`]), in the form of an answer.
// SAFETY: no other function of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn mimosa_choices() -> *mut u8 {
    said(&crate::choices())
}

/// The value as a block: the number of its bytes, and they themselves.
fn said(value: &Value) -> *mut u8 {
    let text = value.to_string();
    let length = u32::try_from(text.len()).unwrap_or_default();
    let mut block = length.to_le_bytes().to_vec();
    block.extend(text.bytes());
    given(block)
}

/// The bytes as a block that belongs to the caller.
fn given(bytes: Vec<u8>) -> *mut u8 {
    Box::leak(bytes.into_boxed_slice()).as_mut_ptr()
}

/// The bytes of a block, which belongs to nobody else any more.
///
/// # Safety
///
/// The block came from [`given`], has this length, and nobody uses it afterwards.
unsafe fn taken(block: *mut u8, length: usize) -> Box<[u8]> {
    // SAFETY: `given` leaked a box of so many bytes at this address, and the caller promises that
    // this is the only use of it.
    unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(block, length)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a page does with an answer.
    fn read(answer: *mut u8) -> String {
        // SAFETY: an answer begins with four bytes.
        let length = unsafe { std::slice::from_raw_parts(answer, 4) };
        let length = u32::from_le_bytes(length.try_into().unwrap()) as usize;
        // SAFETY: so many bytes follow.
        let text = unsafe { std::slice::from_raw_parts(answer.add(4), length) };
        let text = String::from_utf8(text.to_vec()).unwrap();
        // SAFETY: the answer is as long, and not used afterwards.
        unsafe { mimosa_release(answer, 4 + length) };
        text
    }

    fn simulate(text: &[u8]) -> String {
        let block = mimosa_allocate(text.len());
        // SAFETY: the block is as long as the text and new.
        unsafe { block.copy_from_nonoverlapping(text.as_ptr(), text.len()) };
        // SAFETY: the block is from `mimosa_allocate` and not used afterwards.
        read(unsafe { mimosa_simulate(block, text.len()) })
    }

    #[test]
    fn text_goes_in_and_comes_out() {
        let text = "duration = '1s'\n[link]\nrate = '5Mbit/s'\n[[flow]]\nname = 'gäme'\n";
        let said = simulate(text.as_bytes());
        assert_eq!(said, crate::answer(text).to_string());
        assert!(said.contains("gäme"));
        assert_eq!(read(mimosa_choices()), crate::choices().to_string());
    }

    #[test]
    fn nothing_and_bytes_that_are_no_text_are_refused_in_words() {
        for bytes in [&b""[..], b"\xff\xfe", b"duration = '\xc3"] {
            let said = simulate(bytes);
            assert!(said.starts_with("{\"error\":\"scenario"), "{said}");
        }
    }
}
