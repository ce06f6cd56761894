//! The measurements of the C3G paper's algorithms (sections III-B, III-C and V-A): the round-trip
//! video latency (RTVL) of frames, and the data sent and received in each control period.

use std::collections::VecDeque;

use mimosa_facts::{FrameId, PacketKind, PacketOutcome, PacketReport, SentPacket};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// The most frames that are waited for; beyond them the oldest are forgotten.
const MOST_FRAMES: usize = 512;
/// The most departures remembered one by one; more are counted together with the newest.
const MOST_SENT: usize = 4_096;

/// Sums over RTVL samples, which are in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Samples {
    count: f64,
    sum: f64,
    squares: f64,
    pub(crate) min: Option<f64>,
    pub(crate) max: f64,
    /// Sum of the instants of the samples, in seconds since the period began.
    times: f64,
    /// Sum of the squares of the instants.
    times_squared: f64,
    /// Sum of the products of instant and RTVL.
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

    /// Adds another period's samples, without their instants and their minimum.
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

    /// Slope of RTVL in milliseconds per second, by least squares; `None` with fewer than two
    /// instants.
    pub(crate) fn slope(&self) -> Option<f64> {
        let spread = self.count * self.times_squared - self.times * self.times;
        (self.count >= 2.0 && spread > 1e-12)
            .then(|| (self.count * self.products - self.times * self.sum) / spread)
    }

    /// RTVL in milliseconds at `at`, on the line through the samples; `None` without a line.
    pub(crate) fn extrapolate(&self, at: TimeDelta) -> Option<f64> {
        let (mean, slope) = (self.mean()?, self.slope()?);
        Some(mean + slope * (at.as_secs() - self.times / self.count))
    }
}

/// The measurements of one control period.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Period {
    pub(crate) span: TimeDelta,
    /// Bytes sent in the window to which the arrivals belong, a smallest round trip earlier, or in the
    /// period itself if the windows are not aligned.
    pub(crate) sent: Bytes,
    /// Bytes of retransmissions in `sent`.
    pub(crate) resent: Bytes,
    pub(crate) arrived: Bytes,
    pub(crate) packets: f64,
    pub(crate) packets_lost: f64,
    pub(crate) rtvl: Samples,
}

impl Period {
    /// Mean of the arrival rate, mu in the paper.
    pub(crate) fn arrival_rate(&self) -> Rate {
        Rate::of(self.arrived, self.span)
    }

    /// Bytes sent and not received, (lambda - mu) Δt in the paper; negative if more arrived.
    pub(crate) fn growth(&self) -> f64 {
        self.sent.get() as f64 - self.arrived.get() as f64
    }

    /// Share of retransmissions in the data sent, r in the paper.
    pub(crate) fn resent_share(&self) -> f64 {
        share(self.resent.get() as f64, self.sent.get() as f64)
    }
}

/// The share `part / whole`, from 0 to 1; zero if `whole` is zero.
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
    /// When the frame was due, S0 in the paper.
    due: Time,
    packets: u32,
    arrived: u32,
    /// Number of packets that were reported lost and have not arrived since.
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

/// The frames on their way, and the counters of the present control period.
#[derive(Debug)]
pub(crate) struct Monitor {
    presentation_timeout: TimeDelta,
    /// Whether departures count a smallest round trip later, with the arrivals to which they can belong.
    aligned: bool,
    frames: VecDeque<Frame>,
    due: Option<(FrameId, Time)>,
    /// Departures that no window has counted yet, as (time, bytes, bytes of retransmissions in
    /// them).
    sent: VecDeque<(Time, Bytes, Bytes)>,
    min_rtt: Option<TimeDelta>,
    began: Time,
    period: Period,
    last_rtvl: Option<f64>,
    min_rtvl: Option<f64>,
    newest_ended: Option<FrameId>,
}

impl Monitor {
    pub(crate) fn new(presentation_timeout: TimeDelta, aligned: bool) -> Self {
        Self {
            presentation_timeout,
            aligned,
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

    /// RTVL of the frame that ended last, in milliseconds; `None` before the first one.
    pub(crate) const fn last_rtvl(&self) -> Option<f64> {
        self.last_rtvl
    }

    /// The newest RTVL less the smallest one; `None` before the first one.
    pub(crate) fn queue_delay(&self) -> Option<TimeDelta> {
        Some(TimeDelta::from_secs(
            (self.last_rtvl? - self.min_rtvl?) / 1e3,
        ))
    }

    /// The newest frame whose RTVL is known; `None` before the first one.
    pub(crate) const fn newest_ended(&self) -> Option<FrameId> {
        self.newest_ended
    }

    /// How long the oldest frame has been on its way, in milliseconds; `None` if there is none.
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

    /// Takes a frame of `packets` that was handed to the pacer, or the number of packets of a frame whose
    /// first part had been handed over with an expected one.
    pub(crate) fn frame_encoded(&mut self, now: Time, id: FrameId, packets: u32) {
        if let Some(begun) = self.frames.back_mut().filter(|frame| frame.id == id) {
            begun.packets = packets.max(1);
            return;
        }
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

    /// Ends a frame by the receiver's own message, the paper's ACK.
    pub(crate) fn frame_decoded(&mut self, now: Time, id: FrameId) {
        if let Some(index) = self.index(id) {
            self.end(now, index);
            self.tidy();
        }
    }

    /// Ends a frame that the pacer gave up, without an RTVL.
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

    /// Ends the period and returns its measurements. Frames that have waited too long to be
    /// shown are acknowledged as they are (section V-B), and the departures to which the
    /// period's arrivals can belong are counted, or, if the windows are not aligned, those since the
    /// period before.
    pub(crate) fn end_period(&mut self, now: Time) -> Period {
        self.present(now);
        let later = if self.aligned {
            self.min_rtt
        } else {
            Some(TimeDelta::ZERO)
        };
        if let Some(later) = later {
            while let Some((_, size, resent)) =
                self.sent.pop_front_if(|(time, _, _)| *time + later <= now)
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

    /// Applies the presentation timeout: a frame with missing packets ends that long after its
    /// first arrival, whenever the control loop runs. A frame of which nothing has arrived is
    /// acknowledged late, as the paper's client does it "at the end of the control algorithm
    /// execution": in the first run that long after it was due, if a later frame has ended.
    fn present(&mut self, now: Time) {
        for index in 0..self.frames.len() {
            let frame = self.frames[index];
            let since = frame.first_heard.or_else(|| {
                let is_passed = self.newest_ended.is_some_and(|newest| newest > frame.id);
                is_passed.then_some(frame.due)
            });
            let Some(shown) = since.map(|since| since + self.presentation_timeout) else {
                continue;
            };
            if !frame.has_ended && shown <= now {
                let is_partly_there = frame.first_heard.is_some();
                self.end(if is_partly_there { shown } else { now }, index);
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
