//! Detects a browser that receives frames and decodes none of them.
//!
//! A decoder can stop while packets still arrive: because it lost its reference, because its
//! hardware was taken away, or because its driver hangs. Once a second, the page counts the frames
//! that it has received whole and the frames that it has decoded. When the first count grows and
//! the second does not, the session first sends a keyframe, which repairs a decoder without a
//! reference. If that does not help, it notifies the page, which starts again with another decoder.
//!
//! # Source
//!
//! libwebrtc's receiver (`video/video_receive_stream2.cc`) asks for a keyframe when no decodable
//! frame has arrived for three seconds. It does not look at whether its decoder decodes what
//! arrives.
//!
//! # Deviations
//!
//! - A page that has not counted for a while, as on a laptop that slept, is judged anew.
//! - A hidden page is not judged: its browser may skip decoding to save work.
//! - A frame that is decoded and not displayed is ignored. A keyframe would not help, and the page
//!   itself knows what covers the picture or holds it back.
//! - While nothing is decoded, the browser's own requests for keyframes are not answered. The
//!   session sends keyframes at growing intervals instead: they are large, and the last one did not
//!   help.

use mimosa_protocol::control::Client;
use mimosa_units::{Time, TimeDelta};

/// Received frames, none of them decoded, from which a decoder counts as stalled. Fewer may still
/// be in the queue of a slow decoder: 10 frames are a third of a second at 30 frames a second.
const FEWEST: u64 = 10;
/// Time without a decoded frame after which a keyframe is sent: two of the page's messages, of
/// which one comes each second.
const KEYFRAME_AFTER: TimeDelta = TimeDelta::from_millis(2_000);
/// Time without a decoded frame after which the page is notified: the keyframe takes a round trip,
/// and the page's next message comes up to a second later.
const TOLD_AFTER: TimeDelta = TimeDelta::from_millis(4_000);
/// Longest time between two keyframes that do not help. The time doubles with each keyframe up to
/// this one.
const RAREST: TimeDelta = TimeDelta::from_millis(32_000);
/// Time of undisturbed decoding after which a decoder counts as recovered, so that the page is
/// notified of a later stall again.
const WELL_AFTER: TimeDelta = TimeDelta::from_millis(10_000);

/// A page that has not counted for this long, three of its messages, was suspended.
const SLEPT_AFTER: TimeDelta = TimeDelta::from_millis(3_000);

/// What to do about a browser that decodes nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Remedy {
    /// Make the next frame a keyframe.
    Keyframe,
    /// Notify the page that its browser decodes nothing.
    Tell,
}

/// Watches a browser's decoder through the page's counts.
#[derive(Debug, Default)]
pub(crate) struct Decoding {
    /// Time of the page's last count, and the number of decoded frames in it.
    last: Option<(Time, u64)>,
    /// When decoding last made progress, and how many frames had been received by then.
    progress: Option<(Time, u64)>,
    /// Since when the decoder has worked without a stall; `None` during a stall.
    steady: Option<Time>,
    /// During a stall, after the first keyframe: when the next keyframe is due, and how long after
    /// the one before.
    next_keyframe: Option<(Time, TimeDelta)>,
    is_told: bool,
}

impl Decoding {
    /// Takes the page's counts, and returns what to do.
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

    /// Whether to answer the browser's request for a keyframe. False once a keyframe has been sent
    /// during a stall: the session then repeats keyframes at its own intervals.
    pub(crate) fn bears_keyframe(&self) -> bool {
        self.next_keyframe.is_none()
    }

    /// Notes that the decoder works, or that the page cannot be judged.
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

        /// Lets seconds pass in each of which the page counts `received` and `decoded` more frames.
        /// Returns the remedies with the second of each.
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
        // The decoder works for long enough to count as recovered, and stalls again.
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
