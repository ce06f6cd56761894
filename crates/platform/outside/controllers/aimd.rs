//! A small controller as a WebAssembly module: the twin of `aimd.py`, which decides the same.
//!
//! `scripts/wasm-controllers.sh` builds it, and with `--cfg component` the module of a component. The module needs no
//! library: it looks for the few fields that it uses in each line, and writes its answer into a buffer of its own.

#![no_std]

/// Room for the longest line, which tells of all packets that were on their way.
const LINE: usize = 1 << 21;
/// Room for an answer.
const ANSWER: usize = 1_024;

static mut LINE_BUFFER: [u8; LINE] = [0; LINE];
static mut ANSWER_BUFFER: [u8; ANSWER] = [0; ANSWER];
static mut CONTROLLER: Aimd = Aimd::NEW;

const QUEUE_NS: i64 = 30_000_000;
const LIMIT_NS: i64 = 35_000_000;
const SILENCE_NS: i64 = 50_000_000;
const PROBE_FRAMES: i64 = 30;

struct Aimd {
    min_bps: i64,
    max_bps: i64,
    step_bps: i64,
    target: i64,
    base: Option<i64>,
    delay: i64,
    cause: &'static str,
    pacing: Pacing,
}

enum Pacing {
    Burst,
    Spread,
    Bucket(i64),
}

impl Aimd {
    const NEW: Self = Self {
        min_bps: 0,
        max_bps: 0,
        step_bps: 20_000,
        target: 0,
        base: None,
        delay: 0,
        cause: "start",
        pacing: Pacing::Burst,
    };

    fn start(&mut self, line: &[u8]) {
        self.min_bps = number(line, b"\"min_bps\":").unwrap_or(0);
        self.max_bps = number(line, b"\"max_bps\":").unwrap_or(0);
        self.target = number(line, b"\"start_bps\":").unwrap_or(0);
        self.step_bps = number(line, b"\"step_bps\":").unwrap_or(self.step_bps);
    }

    fn scale(&mut self, numerator: i64, denominator: i64) {
        self.target = (self.target * numerator / denominator).max(self.min_bps);
    }

    fn feedback(&mut self, line: &[u8]) {
        let (mut lost, mut least, mut most) = (false, i64::MAX, i64::MIN);
        let mut rest = line;
        while let Some(report) = after(rest, b"\"sequence\":") {
            let end = find(report, b"}").unwrap_or(report.len());
            let sent = number(&report[..end], b"\"sent_ns\":").unwrap_or(0);
            match number(&report[..end], b"\"arrived_ns\":") {
                Some(arrived) => {
                    least = least.min(arrived - sent);
                    most = most.max(arrived - sent);
                }
                None => lost = true,
            }
            rest = &report[end..];
        }
        let any = least <= most;
        if any {
            let base = self.base.map_or(least, |base| base.min(least));
            self.base = Some(base);
            self.delay = most - base;
        }
        if lost {
            self.scale(7, 10);
            self.cause = "loss";
            self.pacing = Pacing::Spread;
        } else if self.delay > QUEUE_NS {
            self.scale(17, 20);
            self.cause = "queue-delay";
            self.pacing = Pacing::Bucket(2 * self.target);
        } else if any {
            self.target = (self.target + self.step_bps).min(self.max_bps);
            self.cause = "additive-increase";
        }
    }

    fn event(&mut self, line: &[u8], answer: &mut Answer<'_>) {
        let kind = after(line, b"\"kind\":\"").unwrap_or_default();
        let is_due = kind.starts_with(b"frame-due\"");
        if kind.starts_with(b"feedback\"") {
            self.feedback(line);
        } else if kind.starts_with(b"timer\"") {
            self.scale(19, 20);
            self.cause = "feedback-timeout";
        } else if !is_due {
            return;
        }
        let now = number(line, b"\"now_ns\":").unwrap_or(0);
        answer.field(",\"decision\":{\"target_bps\":", self.target);
        answer.field(",\"window_bytes\":", (self.target / 32).max(20_000));
        match self.pacing {
            Pacing::Burst => answer.text(",\"pacing\":{\"kind\":\"burst\"}"),
            Pacing::Spread => {
                answer.text(",\"pacing\":{\"kind\":\"spread\",\"over_ns\":8000000,\"lead\":2}");
            }
            Pacing::Bucket(rate) => {
                answer.field(",\"pacing\":{\"kind\":\"bucket\",\"rate_bps\":", rate);
                answer.text(",\"burst_bytes\":2400}");
            }
        }
        if is_due {
            let frame = number(line, b"\"frame\":").unwrap_or(0);
            if self.delay > LIMIT_NS {
                let interval = number(line, b"\"interval_ns\":").unwrap_or(0);
                let bits = self.target * (interval / 1_000) / 1_000_000;
                answer.field(",\"frame_limit_bytes\":", bits / 16);
            }
            if frame % PROBE_FRAMES == 0 {
                answer.field(",\"probe\":{\"id\":", frame);
                answer.text(",\"packets\":3,\"interval_ns\":200000,\"size_bytes\":200");
                answer.field(",\"after_frame\":", frame);
                answer.text("}");
            }
        }
        answer.text(",\"cause\":\"");
        answer.text(self.cause);
        answer.field("\",\"timer_ns\":", now + SILENCE_NS);
        answer.text("}");
    }
}

/// What a module exports.
#[cfg(not(component))]
mod exports {
    use super::{Aimd, answered, place};

    /// The place for a line of this length.
    #[unsafe(no_mangle)]
    pub extern "C" fn mimosa_alloc(length: u32) -> u32 {
        place(length)
    }

    /// Takes the first line, and gives the place and the length of the answer.
    #[unsafe(no_mangle)]
    pub extern "C" fn mimosa_start(_at: u32, length: u32) -> u64 {
        packed(answered(length, |controller, line, _| controller.start(line)))
    }

    /// Takes a line about an event.
    #[unsafe(no_mangle)]
    pub extern "C" fn mimosa_event(_at: u32, length: u32) -> u64 {
        packed(answered(length, Aimd::event))
    }

    fn packed([at, length]: [u32; 2]) -> u64 {
        u64::from(at) << 32 | u64::from(length)
    }
}

/// What the module of a component of the world in `controller.wit` exports, as `wasm-tools component new` looks for it.
#[cfg(component)]
mod exports {
    use super::{Aimd, answered, place};

    static mut PAIR: [u32; 2] = [0; 2];
    /// Whether the newest answer still has to be read: its buffer is that of the next one.
    static mut IS_UNREAD: bool = false;

    /// The place for a text, of which there is none before.
    #[unsafe(no_mangle)]
    pub extern "C" fn cabi_realloc(_old: u32, _size: u32, _align: u32, length: u32) -> u32 {
        place(length)
    }

    /// Takes the first line, and gives the place of the place and the length of the answer.
    #[unsafe(no_mangle)]
    pub extern "C" fn start(_at: u32, length: u32) -> u32 {
        pair(answered(length, |controller, line, _| controller.start(line)))
    }

    /// Takes a line about an event.
    #[unsafe(no_mangle)]
    pub extern "C" fn event(_at: u32, length: u32) -> u32 {
        pair(answered(length, Aimd::event))
    }

    /// Takes the answer to the first line back.
    #[unsafe(no_mangle)]
    pub extern "C" fn cabi_post_start(_pair: u32) {
        read();
    }

    /// Takes the answer to a line about an event back.
    #[unsafe(no_mangle)]
    pub extern "C" fn cabi_post_event(_pair: u32) {
        read();
    }

    fn read() {
        // SAFETY: a module has one thread, and no call is within another.
        unsafe { IS_UNREAD = false };
    }

    fn pair(answer: [u32; 2]) -> u32 {
        // SAFETY: as above.
        unsafe {
            assert!(!IS_UNREAD);
            IS_UNREAD = true;
            PAIR = answer;
        }
        &raw const PAIR as u32
    }
}

/// The place for a line of this length.
fn place(length: u32) -> u32 {
    assert!(length as usize <= LINE);
    &raw const LINE_BUFFER as u32
}

/// The place and the length of the answer to the line that is in its place.
fn answered(length: u32, act: impl Fn(&mut Aimd, &[u8], &mut Answer<'_>)) -> [u32; 2] {
    // SAFETY: a module has one thread, no call is within another, and the line is in the buffer that
    // `place` named.
    let (line, buffer, controller) = unsafe {
        (
            &*(&raw const LINE_BUFFER),
            &mut *(&raw mut ANSWER_BUFFER),
            &mut *(&raw mut CONTROLLER),
        )
    };
    let line = &line[..length as usize];
    let mut answer = Answer { buffer, length: 0 };
    answer.field("{\"seq\":", number(line, b"\"seq\":").unwrap_or(0));
    act(controller, line, &mut answer);
    answer.text("}");
    [answer.buffer.as_ptr() as u32, answer.length as u32]
}

/// An answer that is being written.
struct Answer<'a> {
    buffer: &'a mut [u8; ANSWER],
    length: usize,
}

impl Answer<'_> {
    fn text(&mut self, text: &str) {
        let end = self.length + text.len();
        self.buffer[self.length..end].copy_from_slice(text.as_bytes());
        self.length = end;
    }

    /// A text, and a number from zero after it.
    fn field(&mut self, text: &str, mut number: i64) {
        self.text(text);
        let (mut digits, mut at) = ([0; 20], 20);
        loop {
            at -= 1;
            digits[at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        for digit in &digits[at..] {
            self.buffer[self.length] = *digit;
            self.length += 1;
        }
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// What follows the first `what`.
fn after<'a>(text: &'a [u8], what: &[u8]) -> Option<&'a [u8]> {
    find(text, what).map(|at| &text[at + what.len()..])
}

/// The whole number after the first `key`; `None` for `null` and without the key.
fn number(text: &[u8], key: &[u8]) -> Option<i64> {
    let text = after(text, key)?;
    let (negative, text) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
    let (count, number) = digits.fold((0, 0_i64), |(count, number), digit| {
        (count + 1, number * 10 + i64::from(digit - b'0'))
    });
    (count > 0).then_some(if negative { -number } else { number })
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
