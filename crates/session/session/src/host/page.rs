//! A page's messages about frames and decoding, and the notices that it is sent.

use mimosa_facts::SessionEvent;
use mimosa_protocol::PageTime;
use mimosa_protocol::control::{Client, Notice, NoticeCode, Role, ToPage};
use mimosa_protocol::frames::{FrameMessage, Shown};
use mimosa_transport::Channel;
use mimosa_units::{Time, TimeDelta};

use super::decoding::Remedy;
use super::lives::Seen;
use super::{Effect, Session};

/// Decoding time from which a page's claim is ignored.
const LONGEST_DECODING: TimeDelta = TimeDelta::from_millis(10_000);

impl Session {
    /// Takes a message on the channel `frames`.
    pub(super) fn frame_message(&mut self, now: Time, data: &[u8]) {
        match FrameMessage::parse(data) {
            Ok(FrameMessage::ClockAnswer { host, page }) => {
                self.clock_map.answer(now, host, page);
            }
            Ok(FrameMessage::Shown(shown)) => {
                let Some(frame) = self.transport.frame_at(shown.timestamp) else {
                    return;
                };
                let (seen, wait) = self.seen(&shown);
                if let Some(shift) = wait.and_then(|wait| self.phase_lock.shown(wait))
                    && self.profile.role == Role::Player
                {
                    self.effects.push(Effect::Shift(shift));
                }
                self.viewed(now, frame, &seen, shown.count);
                self.lives.seen(now, frame, seen);
            }
            Ok(FrameMessage::Decoded { timestamp, .. }) => {
                if let Some(frame) = self.transport.frame_at(timestamp) {
                    self.sender.decoded(now, frame);
                }
            }
            Ok(_) => {}
            Err(error) => self.input.refused(&error),
        }
    }

    /// When the page received, decoded and displayed a frame, on the host's clock, and how long it
    /// waited from the end of decoding to its display, by the page.
    fn seen(&self, shown: &Shown) -> (Seen, Option<TimeDelta>) {
        let host = |page: Option<PageTime>| self.clock_map.to_host(page?);
        let received = host(shown.received);
        let presented = host(shown.presented);
        // A browser predicts the time on the screen by its display's clock, and may name a refresh
        // before it had the frame.
        let expected = host(shown.expected).or(presented);
        let decoding = shown.decoding.filter(|took| *took < LONGEST_DECODING);
        let decoded = received.zip(decoding).map(|(at, took)| at + took);
        let wait = expected.zip(decoded).map(|(at, decoded)| at.since(decoded));
        let on_screen = expected.map(|at| presented.map_or(at, |presented| at.max(presented)));
        let latest = on_screen.unwrap_or(Time::MAX);
        let seen = Seen {
            received,
            decoded: decoded.map(|decoded| decoded.min(latest)),
            shown: on_screen,
        };
        (seen, wait)
    }

    /// Takes the page's counts, and acts if its browser receives frames and decodes none.
    pub(super) fn judge_decoding(&mut self, now: Time, client: &Client) {
        match self.decoding.counted(now, client) {
            None => {}
            Some(Remedy::Keyframe) => {
                let (received, decoded) = (client.received, client.decoded);
                tracing::info!(
                    received,
                    decoded,
                    "the browser has stopped decoding: a keyframe for it"
                );
                self.repair.keyframe(now);
            }
            Some(Remedy::Tell) => {
                tracing::warn!("the browser decodes nothing, a keyframe neither: its page is told");
                let message = "this browser has stopped decoding the picture".to_owned();
                self.notice(NoticeCode::NotDecoded, message);
                self.happened(SessionEvent::DecoderStopped);
            }
        }
    }

    /// Sends a message to the page. Returns whether the channel is open and takes the message.
    pub(super) fn tell(&mut self, message: &ToPage) -> bool {
        self.transport
            .write(Channel::Control, message.to_json().as_bytes())
    }

    /// Sends the page a notice for the person in front of it. Returns whether the channel is open
    /// and takes the notice.
    pub fn notice(&mut self, code: NoticeCode, message: String) -> bool {
        self.tell(&ToPage::Notice(Notice { code, message }))
    }

    /// Notifies the page that no pictures come and why, or, with `None`, that they come again.
    pub fn waits(&mut self, reason: Option<&str>) {
        self.waiting_for = reason.map(str::to_owned);
        match reason {
            Some(reason) => self.notice(NoticeCode::Waiting, reason.to_owned()),
            None => self.notice(NoticeCode::Resumed, "the picture is back".to_owned()),
        };
    }
}
