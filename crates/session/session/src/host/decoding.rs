//! Whether the browser decodes what it receives.
//!
//! A decoder can stop while packets still arrive: it lost its reference, its hardware
//! was taken away, its driver hangs. The page counts, once a second, the frames that are
//! whole and those that are decoded. When the first go on and the second stand still, a
//! keyframe comes first, which mends a decoder without its reference; then the page is
//! told, which begins anew with another decoder.
//!
//! # Source
//!
//! libwebrtc's receiver (`video/video_receive_stream2.cc`) asks for a keyframe when
//! nothing that it could decode has come for three seconds. It does not look at what
//! its decoder makes of it.
//!
//! # Deviations
//!
//! - A page that has not counted for a while, as on a laptop that sleeps, is judged anew.
//! - A hidden page is not judged: its browser may save the work.
//! - A picture that is decoded and not shown is not looked at. A keyframe does not help,
//!   and what covers it, or holds it back, the page knows.
//! - While nothing is decoded, keyframes that the browser asks for are answered more and
//!   more seldom, as the host's own: they are large, and the last one did not help.

use mimosa_protocol::control::Client;
use mimosa_units::{Time, TimeDelta};

/// Fewer frames, none of them decoded, may still be in the queue of a slow decoder: a
/// third of a second at 30 frames a second.
const FEWEST: u64 = 10;
/// Nothing decoded for this long calls for a keyframe. A page counts once a second, so
/// that this is two of its messages.
const KEYFRAME_AFTER: TimeDelta = TimeDelta::from_millis(2_000);
/// And for this long, for a word to the page: a keyframe takes a round trip and the
/// second to the next message.
const TOLD_AFTER: TimeDelta = TimeDelta::from_millis(4_000);
/// Keyframes that do not help follow each other at twice the distance each time, up to
/// this one.
const RAREST: TimeDelta = TimeDelta::from_millis(32_000);
/// A decoder that has gone on for this long is well again: a stall after that is a new
/// one, and told anew.
const WELL_AFTER: TimeDelta = TimeDelta::from_millis(10_000);

/// A page that has not counted for this long did something else: three of its messages.
const SLEPT_AFTER: TimeDelta = TimeDelta::from_millis(3_000);

/// What is to be done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Remedy {
    /// Have the next frame be a keyframe.
    Keyframe,
    /// Tell the page that it decodes nothing.
    Tell,
}

/// Watches a browser's decoder.
#[derive(Debug, Default)]
pub(crate) struct Decoding {
    /// When the page last counted, and how many were decoded.
    last: Option<(Time, u64)>,
    /// When a frame was last known to be decoded, and how many had been received.
    progress: Option<(Time, u64)>,
    /// Since when it decodes without a stop.
    steady: Option<Time>,
    /// Keyframes that did not help: when the next is due, and the wait after that.
    next_keyframe: Option<(Time, TimeDelta)>,
    is_told: bool,
}

impl Decoding {
    /// The page has counted. Gives what to do.
    pub(crate) fn counted(&mut self, now: Time, client: &Client) -> Option<Remedy> {
        let (Some(received), Some(decoded)) = (client.received, client.decoded) else {
            return None;
        };
        let last = self.last.replace((now, decoded));
        let stands_still = last.is_some_and(|(at, before)| {
            decoded == before && now.since(at) <= SLEPT_AFTER && !client.hidden
        });
        if !stands_still {
            self.goes_on(now, received);
            return None;
        }
        self.steady = None;
        let (since, before) = *self.progress.get_or_insert((now, received));
        let waits = now.since(since);
        if received.saturating_sub(before) < FEWEST || waits < KEYFRAME_AFTER {
            return None;
        }
        let Some((due, wait)) = self.next_keyframe else {
            self.next_keyframe = Some((now + KEYFRAME_AFTER, KEYFRAME_AFTER));
            return Some(Remedy::Keyframe);
        };
        if waits >= TOLD_AFTER && !std::mem::replace(&mut self.is_told, true) {
            return Some(Remedy::Tell);
        }
        if now < due {
            return None;
        }
        let wait = (wait * 2).min(RAREST);
        self.next_keyframe = Some((now + wait, wait));
        Some(Remedy::Keyframe)
    }

    /// Whether a keyframe that the browser asks for may help.
    pub(crate) fn bears_keyframe(&self) -> bool {
        self.next_keyframe.is_none()
    }

    /// It decodes.
    fn goes_on(&mut self, now: Time, received: u64) {
        self.progress = Some((now, received));
        self.next_keyframe = None;
        let steady = *self.steady.get_or_insert(now);
        if now.since(steady) >= WELL_AFTER {
            self.is_told = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: TimeDelta = TimeDelta::from_millis(1_000);
    const START: Time = Time::from_secs(100);

    /// A page that counts once a second.
    struct Page {
        decoding: Decoding,
        now: Time,
        client: Client,
    }

    impl Page {
        fn new() -> Self {
            let client = Client {
                received: Some(0),
                decoded: Some(0),
                ..Client::default()
            };
            Self {
                decoding: Decoding::default(),
                now: START,
                client,
            }
        }

        /// So many seconds pass, in each of which so many frames come and are decoded.
        /// Gives what was to be done, by the second.
        fn pass(&mut self, seconds: u32, received: u64, decoded: u64) -> Vec<(u32, Remedy)> {
            let mut done = Vec::new();
            for second in 1..=seconds {
                self.now += SECOND;
                let add = |count: &mut Option<u64>, more| *count = count.map(|count| count + more);
                add(&mut self.client.received, received);
                add(&mut self.client.decoded, decoded);
                let remedy = self.decoding.counted(self.now, &self.client);
                done.extend(remedy.map(|remedy| (second, remedy)));
            }
            done
        }
    }

    #[test]
    fn a_keyframe_comes_first_and_then_a_word() {
        let mut page = Page::new();
        assert_eq!(page.pass(60, 60, 60), []);
        let done = page.pass(4, 60, 0);
        assert_eq!(done, [(2, Remedy::Keyframe), (4, Remedy::Tell)]);
    }

    #[test]
    fn a_keyframe_that_helps_is_all() {
        let mut page = Page::new();
        page.pass(5, 60, 60);
        assert_eq!(page.pass(2, 60, 0), [(2, Remedy::Keyframe)]);
        assert!(!page.decoding.bears_keyframe());
        assert_eq!(page.pass(10, 60, 60), []);
        assert!(page.decoding.bears_keyframe());
    }

    #[test]
    fn keyframes_that_do_not_help_become_rare_and_the_word_is_one() {
        let mut page = Page::new();
        page.pass(5, 60, 60);
        let done = page.pass(300, 60, 0);
        let told = done.iter().filter(|(_, remedy)| *remedy == Remedy::Tell);
        assert_eq!(told.count(), 1);
        let keyframes: Vec<_> = done
            .iter()
            .filter(|(_, remedy)| *remedy == Remedy::Keyframe)
            .map(|(second, _)| *second)
            .collect();
        assert_eq!(keyframes[..6], [2, 5, 9, 17, 33, 65]);
        assert!(keyframes[6..].windows(2).all(|two| two[1] - two[0] == 32));
        assert!(keyframes.len() < 16, "{keyframes:?}");
    }

    #[test]
    fn a_decoder_on_the_brink_is_told_of_once() {
        let mut page = Page::new();
        let mut told = 0;
        for _ in 0..20 {
            page.pass(1, 60, 1);
            let done = page.pass(5, 60, 0);
            told += done.iter().filter(|(_, one)| *one == Remedy::Tell).count();
        }
        assert_eq!(told, 1);
        // Well for long enough, and stalled again.
        page.pass(12, 60, 60);
        assert!(page.pass(5, 60, 0).contains(&(4, Remedy::Tell)));
    }

    #[test]
    fn without_frames_there_is_nothing_to_decode() {
        let mut page = Page::new();
        page.pass(5, 60, 60);
        assert_eq!(page.pass(60, 0, 0), [], "nothing comes");
        let mut page = Page::new();
        page.pass(5, 60, 60);
        assert_eq!(page.pass(9, 1, 0), [], "few come");
    }

    #[test]
    fn a_slow_decoder_is_no_stall() {
        let mut page = Page::new();
        assert_eq!(page.pass(100, 60, 1), []);
    }

    #[test]
    fn a_page_that_nobody_sees_or_that_does_not_count_is_not_judged() {
        let mut page = Page::new();
        page.pass(5, 60, 60);
        page.client.hidden = true;
        assert_eq!(page.pass(60, 60, 0), []);
        page.client.hidden = false;
        assert_eq!(page.pass(1, 60, 0), [], "from now on");
        let mut page = Page::new();
        page.client.decoded = None;
        assert_eq!(page.pass(60, 60, 0), []);
        let mut page = Page::new();
        page.client.received = None;
        assert_eq!(page.pass(60, 0, 0), []);
    }

    #[test]
    fn a_sleeping_page_has_not_stopped_decoding() {
        let mut page = Page::new();
        page.pass(5, 60, 60);
        page.now += SECOND * 3_600;
        assert_eq!(page.pass(1, 60, 0), [], "the first second of an hour later");
        assert_eq!(page.pass(2, 60, 0), [(2, Remedy::Keyframe)]);
    }

    #[test]
    fn counts_that_begin_anew_are_no_stall() {
        let mut page = Page::new();
        page.pass(5, 60, 60);
        page.client.decoded = Some(2);
        assert_eq!(page.pass(3, 60, 0), [(3, Remedy::Keyframe)]);
    }
}
