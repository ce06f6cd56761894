//! Gives the encoder less to do when the host's processor or the viewer cannot keep up.

use mimosa_facts::{FrameId, Relief};
use mimosa_protocol::control::Client;
use mimosa_units::{Bytes, Time, TimeDelta};
use mimosa_video::load::{Coded as Worked, Seen as Viewed};

use super::Session;
use super::job::Coded;
use super::lives::Seen;
use super::pictures::Encoding;

/// Share of lost packets above which frames are dropped because of the network, and not because the
/// viewer is slow. Our choice: a frame of 30 packets is whole in 7 of 10 cases.
const LOSSY: f64 = 0.01;

/// Time after which a relief is logged although what is left away has not changed. Our choice.
const SAID_AGAIN: TimeDelta = TimeDelta::from_millis(10_000);

impl Session {
    /// Takes a frame that the encoder has made for `encoding`, with the processor's part of the time.
    pub(super) fn worked(
        &mut self,
        now: Time,
        encoding: &Encoding,
        coded: &Coded,
        processor: Option<TimeDelta>,
    ) {
        if !self.profile.relieves {
            return;
        }
        let before = self.load.relief();
        self.load.encoded(
            now,
            &Worked {
                took: now.since(encoding.handed),
                processor,
                source: encoding.source,
                size: encoding.size,
                detail: self.detail.step(),
                complexity: coded.plan.complexity,
                bytes: Bytes::new(coded.length as u64),
                asked: encoding.asked,
                quantiser: coded.quantiser.map(f64::from),
            },
        );
        let relief = self.load.relief();
        self.statistics.relief = relief;
        let is_old = self
            .told_load
            .is_none_or(|told| now.since(told) >= SAID_AGAIN);
        if leaves_away(before) != leaves_away(relief) || (relief.strain.is_some() && is_old) {
            self.told_load = Some(now);
            if let Some(words) = relief.in_words() {
                tracing::warn!("{words}");
            } else {
                tracing::info!("everything is sent again");
            }
        }
    }

    /// Takes the viewer's times of a frame, and its count of pictures.
    pub(super) fn viewed(&mut self, now: Time, frame: FrameId, seen: &Seen, count: u32) {
        if let (Some(received), Some(decoded), Some(shown)) =
            (seen.received, seen.decoded, seen.shown)
            && self.profile.relieves
        {
            let seen = Viewed {
                frame,
                received,
                decoded,
                shown,
                count,
            };
            self.load.seen(now, &seen);
        }
    }

    /// Takes the viewer's counts. A page that nobody sees, or that the network keeps waiting, does not
    /// show how fast the viewer is.
    pub(super) fn viewer_counted(&mut self, now: Time, client: &Client) {
        self.load.hidden(client.hidden);
        let loses = self.statistics.loss(now).is_some_and(|loss| loss > LOSSY);
        if let (Some(received), Some(dropped)) = (client.received, client.dropped)
            && !client.hidden
            && !loses
            && self.profile.relieves
        {
            self.load.counted(now, received, dropped);
        }
    }
}

/// What of a relief is logged whenever it changes: the bound of a frame's bytes moves with every frame.
const fn leaves_away(relief: Relief) -> (u32, u32, bool) {
    (relief.every, relief.quarters, relief.less_analysis)
}
