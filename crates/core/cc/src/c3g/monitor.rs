//! What the C3G paper's algorithms measure (sections III-B, III-C and V-A): the round-trip
//! video latency of frames, and what was sent and received in each control period.

use std::collections::VecDeque;

use mimosa_facts::{FrameId, PacketKind, PacketOutcome, PacketReport, SentPacket};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// Most frames waited for; beyond them the oldest are forgotten.
const MOST_FRAMES: usize = 512;
/// Most departures remembered one by one; beyond them they are counted together.
const MOST_SENT: usize = 4_096;

/// RTVL samples, in milliseconds, as sums.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Samples {
    count: f64,
    sum: f64,
    squares: f64,
    pub(crate) min: Option<f64>,
    pub(crate) max: f64,
    /// Of the instants, in seconds since the period began, and their products.
    times: f64,
    times_squared: f64,
    products: f64,
}

impl Samples {
    pub(crate) fn push(&mut self, at: TimeDelta, rtvl_ms: f64) {
        let at = at.as_secs();
        self.count += 1.0;
        self.sum += rtvl_ms;
        self.squares += rtvl_ms * rtvl_ms;
        self.min = Some(self.min.map_or(rtvl_ms, |min| min.min(rtvl_ms)));
        self.max = self.max.max(rtvl_ms);
        self.times += at;
        self.times_squared += at * at;
        self.products += at * rtvl_ms;
    }

    /// Adds another period's samples; their instants lose their meaning.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
        self.max = self.max.max(other.max);
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }

    pub(crate) fn deviation(&self) -> f64 {
        self.mean().map_or(0.0, |mean| {
            libm::sqrt((self.squares / self.count - mean * mean).max(0.0))
        })
    }

    /// Milliseconds per second, by least squares.
    pub(crate) fn slope(&self) -> Option<f64> {
        let spread = self.count * self.times_squared - self.times * self.times;
        (self.count >= 2.0 && spread > 1e-12)
            .then(|| (self.count * self.products - self.times * self.sum) / spread)
    }

    /// The line through the samples at `at`.
    pub(crate) fn extrapolate(&self, at: TimeDelta) -> Option<f64> {
        let (mean, slope) = (self.mean()?, self.slope()?);
        Some(mean + slope * (at.as_secs() - self.times / self.count))
    }
}

/// One control period's measurements.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Period {
    pub(crate) span: TimeDelta,
    /// Sent within the window that the arrivals belong to.
    pub(crate) sent: Bytes,
    /// Of that, retransmissions.
    pub(crate) resent: Bytes,
    pub(crate) arrived: Bytes,
    pub(crate) packets: f64,
    pub(crate) packets_lost: f64,
    pub(crate) rtvl: Samples,
}

impl Period {
    /// The paper's mean of mu.
    pub(crate) fn arrival_rate(&self) -> Rate {
        Rate::of(self.arrived, self.span)
    }

    /// (lambda - mu) Δt: the bytes sent and not received.
    pub(crate) fn growth(&self) -> f64 {
        self.sent.get() as f64 - self.arrived.get() as f64
    }

    /// The paper's r: the share of retransmissions in what was sent.
    pub(crate) fn resent_share(&self) -> f64 {
        share(self.resent.get() as f64, self.sent.get() as f64)
    }
}

/// `part / whole` between zero and one; zero when there is no whole.
pub(crate) fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 {
        (part / whole).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    id: FrameId,
    /// The paper's S0.
    due: Time,
    packets: u32,
    arrived: u32,
    /// Reported lost and not arrived since.
    lost: u32,
    arrived_again: u32,
    first_heard: Option<Time>,
    has_ended: bool,
}

impl Frame {
    fn is_whole(&self) -> bool {
        self.arrived
            .saturating_add(self.arrived_again.min(self.lost))
            >= self.packets
    }
}

/// Frames on their way, and the counters of the period that runs.
#[derive(Debug)]
pub(crate) struct Monitor {
    presentation_timeout: TimeDelta,
    frames: VecDeque<Frame>,
    due: Option<(FrameId, Time)>,
    /// Departures that no window has counted yet: when, how much, and how much of it again.
    sent: VecDeque<(Time, Bytes, Bytes)>,
    min_rtt: Option<TimeDelta>,
    began: Time,
    period: Period,
    last_rtvl: Option<f64>,
    min_rtvl: Option<f64>,
    newest_ended: Option<FrameId>,
}

impl Monitor {
    pub(crate) fn new(presentation_timeout: TimeDelta) -> Self {
        Self {
            presentation_timeout,
            frames: VecDeque::new(),
            due: None,
            sent: VecDeque::new(),
            min_rtt: None,
            began: Time::ZERO,
            period: Period::default(),
            last_rtvl: None,
            min_rtvl: None,
            newest_ended: None,
        }
    }

    /// RTVL of the frame that ended last, in milliseconds.
    pub(crate) const fn last_rtvl(&self) -> Option<f64> {
        self.last_rtvl
    }

    /// What the newest RTVL has above the smallest.
    pub(crate) fn queue_delay(&self) -> Option<TimeDelta> {
        Some(TimeDelta::from_secs(
            (self.last_rtvl? - self.min_rtvl?) / 1e3,
        ))
    }

    /// The newest frame whose RTVL is known.
    pub(crate) const fn newest_ended(&self) -> Option<FrameId> {
        self.newest_ended
    }

    /// How long the oldest frame has been on its way, in milliseconds.
    pub(crate) fn oldest_age(&self, now: Time) -> Option<f64> {
        let frame = self.frames.front()?;
        Some(now.since(frame.due).as_millis())
    }

    pub(crate) fn begin(&mut self, now: Time) {
        self.began = now;
        self.period = Period::default();
    }

    pub(crate) fn frame_due(&mut self, now: Time, frame: FrameId) {
        self.due = Some((frame, now));
    }

    pub(crate) fn frame_encoded(&mut self, now: Time, id: FrameId, packets: u32) {
        let due = self.due.filter(|(frame, _)| *frame == id);
        if self.frames.len() >= MOST_FRAMES {
            self.frames.pop_front();
        }
        self.frames.push_back(Frame {
            id,
            due: due.map_or(now, |(_, due)| due),
            packets: packets.max(1),
            arrived: 0,
            lost: 0,
            arrived_again: 0,
            first_heard: None,
            has_ended: false,
        });
    }

    /// The receiver's own word: the paper's ACK.
    pub(crate) fn frame_decoded(&mut self, now: Time, id: FrameId) {
        if let Some(index) = self.index(id) {
            self.end(now, index);
            self.tidy();
        }
    }

    /// A frame that the pacer gave up has no RTVL.
    pub(crate) fn frame_given_up(&mut self, id: FrameId) {
        if let Some(index) = self.index(id) {
            self.frames[index].has_ended = true;
            self.tidy();
        }
    }

    pub(crate) fn packet_sent(&mut self, packet: &SentPacket) {
        let again = match packet.kind {
            PacketKind::Retransmission => packet.size,
            PacketKind::Media | PacketKind::Repair | PacketKind::Probe => Bytes::ZERO,
        };
        let is_full = self.sent.len() >= MOST_SENT;
        if let Some((time, size, resent)) = self.sent.back_mut()
            && (*time >= packet.sent || is_full)
        {
            *size += packet.size;
            *resent += again;
        } else {
            self.sent.push_back((packet.sent, packet.size, again));
        }
    }

    pub(crate) fn feedback(&mut self, now: Time, reports: &[PacketReport]) {
        for report in reports {
            let packet = &report.packet;
            self.period.packets += 1.0;
            let index = self.index(packet.frame);
            match report.outcome {
                PacketOutcome::Arrived { after_loss, .. } => {
                    let rtt = now.since(packet.sent);
                    self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
                    self.period.arrived += packet.size;
                    if let Some(index) = index {
                        let frame = &mut self.frames[index];
                        frame.first_heard.get_or_insert(now);
                        match packet.kind {
                            PacketKind::Media | PacketKind::Repair => {
                                frame.arrived = frame.arrived.saturating_add(1);
                                if after_loss {
                                    frame.lost = frame.lost.saturating_sub(1);
                                }
                            }
                            PacketKind::Retransmission => {
                                frame.arrived_again = frame.arrived_again.saturating_add(1);
                            }
                            PacketKind::Probe => {}
                        }
                        if frame.is_whole() {
                            self.end(now, index);
                        }
                    }
                }
                PacketOutcome::Lost => {
                    self.period.packets_lost += 1.0;
                    if packet.kind.is_first()
                        && let Some(index) = index
                    {
                        self.frames[index].lost = self.frames[index].lost.saturating_add(1);
                    }
                }
            }
        }
        self.tidy();
    }

    /// Ends the period: what has waited too long to be shown is acknowledged as it is (section
    /// V-B), and the departures that its arrivals can be of are counted.
    pub(crate) fn end_period(&mut self, now: Time) -> Period {
        self.present(now);
        if let Some(min_rtt) = self.min_rtt {
            while let Some((_, size, resent)) = self
                .sent
                .pop_front_if(|(time, _, _)| *time + min_rtt <= now)
            {
                self.period.sent += size;
                self.period.resent += resent;
            }
        }
        self.period.span = now.since(self.began);
        let period = self.period;
        self.begin(now);
        period
    }

    /// The presentation timeout: a frame with packets missing is shown this long after its
    /// first, and one of which nothing came when a later one has been.
    fn present(&mut self, now: Time) {
        for index in 0..self.frames.len() {
            let frame = self.frames[index];
            let since = frame.first_heard.or_else(|| {
                let is_passed = self.newest_ended.is_some_and(|newest| newest > frame.id);
                is_passed.then_some(frame.due)
            });
            if !frame.has_ended
                && since.is_some_and(|since| now.since(since) >= self.presentation_timeout)
            {
                self.end(now, index);
            }
        }
        self.tidy();
    }

    fn index(&self, id: FrameId) -> Option<usize> {
        self.frames
            .iter()
            .rposition(|frame| frame.id == id && !frame.has_ended)
    }

    fn end(&mut self, now: Time, index: usize) {
        let Some(frame) = self.frames.get_mut(index) else {
            return;
        };
        frame.has_ended = true;
        let rtvl = now.since(frame.due).as_millis();
        self.newest_ended = self.newest_ended.max(Some(frame.id));
        self.last_rtvl = Some(rtvl);
        self.min_rtvl = Some(self.min_rtvl.map_or(rtvl, |min| min.min(rtvl)));
        self.period.rtvl.push(now.since(self.began), rtvl);
    }

    fn tidy(&mut self) {
        while self.frames.pop_front_if(|frame| frame.has_ended).is_some() {}
    }
}
