//! Events from a session's peer: its connection, its reports, and its page's messages.

use mimosa_facts::{InputTimes, SessionEvent};
use mimosa_protocol::control::{Clipboard, FromPage, Hello, NoticeCode, Role, ToPage};
use mimosa_transport::{Channel, PeerEvent};
use mimosa_units::Time;

use super::clock::picture_time;
use super::inputs::Played;
use super::sound::{Heard, clock};
use super::{Effect, Phase, Session};

impl Session {
    /// Handles all events that the transport has.
    pub(super) fn events(&mut self, now: Time) {
        while let Some(event) = self.transport.poll_event() {
            match event {
                PeerEvent::Connected if matches!(self.phase, Phase::Answered) => {
                    self.phase = Phase::Connected;
                    self.happened(SessionEvent::Connected);
                }
                PeerEvent::Feedback(report) => {
                    self.has_feedback = true;
                    self.statistics.reports += 1;
                    self.sender.feedback(now, &report);
                }
                PeerEvent::Missing { frame, index } => self.sender.missing(now, frame, index),
                PeerEvent::KeyframeWanted if self.decoding.bears_keyframe() => {
                    self.repair.keyframe_wanted(now);
                }
                PeerEvent::Connected | PeerEvent::KeyframeWanted => {}
                PeerEvent::Opened(channel) => self.opened(now, channel),
                PeerEvent::Message { channel, data } => self.message(now, channel, &data),
                PeerEvent::Closed { reason } => self.end(reason),
            }
        }
    }

    fn opened(&mut self, now: Time, channel: Channel) {
        if channel == Channel::Control {
            if let Phase::Leaving { reason, .. } = &self.phase {
                let reason = reason.clone();
                let has_written = self.notice(NoticeCode::Ended, reason);
                if let Phase::Leaving { is_written, .. } = &mut self.phase {
                    *is_written = has_written;
                }
                return;
            }
            let hello = Hello {
                picture_clock: Some(clock(picture_time(self.rtp_offset, now), now)),
                sound_clock: self.sound.newest(),
                ..self.profile.hello.clone()
            };
            self.tell(&ToPage::Hello(hello));
            self.tell_candidates();
            if let Some(reason) = self.waiting_for.clone() {
                self.notice(NoticeCode::Waiting, reason);
            }
        }
    }

    fn message(&mut self, now: Time, channel: Channel, data: &[u8]) {
        if !self.is_connected() {
            return;
        }
        match channel {
            Channel::Input | Channel::Keys => {
                if self.profile.role == Role::Player {
                    let (effects, clock_map) = (&mut self.effects, &self.clock_map);
                    self.input.message(data, |action, time| {
                        let made = time.and_then(|time| clock_map.to_host(time));
                        let times = Some(InputTimes {
                            // The map between the clocks is inexact: an action cannot be made after
                            // it came.
                            made: made.map(|made| made.min(now)),
                            received: now,
                        });
                        effects.push(Effect::Act(Played { action, times }));
                    });
                } else if !std::mem::replace(&mut self.is_told_to_watch, true) {
                    let message = "you are watching: input is ignored".to_owned();
                    self.notice(NoticeCode::ViewOnly, message);
                }
            }
            Channel::Frames => self.frame_message(now, data),
            Channel::Control => match self.input.control(data) {
                FromPage::Client(client) => {
                    let sound = client.sound.unwrap_or_default();
                    self.lives.heard(Heard {
                        skew: sound.skew.map(|skew| skew.0),
                        concealed: sound.concealed,
                    });
                    self.viewer_counted(now, &client);
                    self.judge_decoding(now, &client);
                }
                FromPage::Clipboard(Clipboard { text }) if self.profile.hello.clipboard => {
                    self.effects.push(Effect::Copied(text));
                }
                FromPage::TestLine => self.line_test_wanted(),
                FromPage::Limit(limit) => self.limited(limit),
                FromPage::Clipboard(_) | FromPage::Unknown => {}
            },
        }
    }
}
