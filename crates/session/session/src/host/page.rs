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
                let seen = self.seen(&shown);
                let wait = seen.shown.zip(seen.decoded);
                let wait = wait.map(|(shown, decoded)| shown.since(decoded));
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

    /// When the page received, decoded and displayed a frame, on the host's clock.
    fn seen(&self, shown: &Shown) -> Seen {
        let host = |page: Option<PageTime>| self.clock_map.to_host(page?);
        let received = host(shown.received);
        let on_screen = host(shown.expected.or(shown.presented));
        let decoding = shown.decoding.filter(|took| *took < LONGEST_DECODING);
        // The browser predicts the time on the screen by its display's clock, which may be slightly
        // earlier than the time at which it reports the frame as decoded.
        let decoded = received.zip(decoding).map(|(at, took)| at + took);
        let latest = on_screen.unwrap_or(Time::MAX);
        Seen {
            received,
            decoded: decoded.map(|decoded| decoded.min(latest)),
            shown: on_screen,
        }
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
