//! A controller as a WebAssembly module that goes wrong at its third line, in the way that its
//! parameter `fault` names: for the tests of what is said then.
//!
//! `scripts/wasm-controllers.sh` builds it.

#![no_std]

static mut BUFFER: [u8; 65_536] = [0; 65_536];
static mut FAULT: u8 = 0;
static mut LINES: u64 = 0;

/// The place for a line.
#[unsafe(no_mangle)]
pub extern "C" fn mimosa_alloc(_length: u32) -> u32 {
    &raw const BUFFER as u32
}

/// Takes the first line.
#[unsafe(no_mangle)]
pub extern "C" fn mimosa_start(at: u32, length: u32) -> u64 {
    // SAFETY: a module has one thread, and the line is in the buffer.
    let line = unsafe { core::slice::from_raw_parts(at as *const u8, length as usize) };
    let key = b"\"fault\":\"";
    let found = line.windows(key.len()).position(|window| window == key);
    let fault = found.map_or(0, |found| line[found + key.len()]);
    // SAFETY: as above.
    unsafe { FAULT = fault };
    answer(b"{\"seq\":0}")
}

/// Takes a line about an event.
#[unsafe(no_mangle)]
pub extern "C" fn mimosa_event(_at: u32, _length: u32) -> u64 {
    // SAFETY: a module has one thread.
    let (line, fault) = unsafe {
        LINES += 1;
        (LINES, FAULT)
    };
    match (line, fault) {
        (1, _) => answer(b"{\"seq\":1}"),
        // loop
        (_, b'l') => loop {
            core::hint::black_box(line);
        },
        // memory: takes as much as there is, and then gives up.
        (_, b'm') => loop {
            if core::arch::wasm32::memory_grow(0, 16) == usize::MAX {
                core::arch::wasm32::unreachable();
            }
        },
        // beyond
        (_, b'b') => 0xffff_ff00_0000_0100,
        // garbage
        (_, b'g') => answer(b"hello"),
        // value
        (_, b'v') => answer(b"{\"seq\":2,\"decision\":{\"target_bps\":-5}}"),
        // again: the answer to the line before.
        (_, b'a') => answer(b"{\"seq\":1}"),
        _ => core::arch::wasm32::unreachable(),
    }
}

fn answer(text: &'static [u8]) -> u64 {
    (text.as_ptr() as u64) << 32 | text.len() as u64
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
