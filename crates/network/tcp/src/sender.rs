//! The sending end: decides what leaves and when, and what is lost.
//!
//! RFC 9293 and 5681 are the basis; RFC 8985 is the source of loss detection (RACK) and tail-loss
//! probes (TLP, section 7), RFC 6675 of the pipe, RFC 6937 of the reduction (PRR), RFC 6298 of the
//! timeout, and RFC 3168 (section 6.1.2) of the response to marks.
//!
//! *Deviations*: the connection is open from the start and is never closed; the receiver's window
//! is constant; segments are never split or joined, so that a retransmission equals the segment
//! that it repeats. Spurious reductions are neither detected (F-RTO, Eifel) nor undone. The
//! retransmission timer restarts when the first segment is sent again, as Linux derives it from
//! that segment's departure.

mod burst;

use mimosa_cc::window::{AckSample, Congestion, Delivery, EcnUse, LostSegment, Rtt, Transmission};
use mimosa_units::{Bytes, Ecn, Time, TimeDelta};

use crate::application::Application;
use crate::config::{Config, Statistics};
use crate::pacer::Pacer;
use crate::prr::Prr;
use crate::rack::Rack;
use crate::receiver::DELAYED_ACK;
use crate::scoreboard::{Delivered, Lost, Scoreboard};
use crate::wire::{Ack, Segment};

/// Probe timeout before the first round trip is known (RFC 8985, section 7.2).
const FIRST_PROBE: TimeDelta = TimeDelta::from_millis(1_000);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    Open,
    /// The window is being reduced because of a mark.
    Reducing,
    /// Lost segments are being sent again.
    Recovery,
    /// The retransmission timer expired; everything is sent again from a window of one segment.
    Timeout,
}

/// A tail-loss probe in flight.
#[derive(Clone, Copy, Debug)]
struct Probe {
    end: u64,
    sent: Time,
    is_retransmission: bool,
}

/// Takes acknowledgements and time, and makes segments.
#[derive(Debug)]
pub struct Sender {
    config: Config,
    congestion: Box<dyn Congestion>,
    board: Scoreboard,
    rtt: Rtt,
    rack: Rack,
    prr: Prr,
    delivery: Delivery,
    pacer: Pacer,
    /// Offset of the first byte that is not acknowledged.
    una: u64,
    /// Offset of the first byte that was never sent.
    next: u64,
    phase: Phase,
    /// Offset up to which acknowledgements have to come for the phase to end.
    phase_end: u64,
    timeout_at: Option<Time>,
    probe_at: Option<Time>,
    reorder_at: Option<Time>,
    probe: Option<Probe>,
    probe_is_due: bool,
    answer_is_due: bool,
    /// Whether a burst waits for acknowledgements that give it room.
    is_waiting_for_room: bool,
    /// Offset before which segments were sent while the window was full.
    limited_until: u64,
    ce_bytes: Bytes,
    statistics: Statistics,
    delivered: Vec<Delivered>,
    lost: Vec<Lost>,
}

impl Sender {
    /// A sender whose stream begins at zero.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let mss = config.mss.max(Bytes::new(1));
        let congestion = config.algorithm.start(mss, config.seed);
        Self::with_congestion(config, congestion)
    }

    /// A sender with a given congestion control. The configuration's algorithm and seed are not
    /// used.
    #[must_use]
    pub fn with_congestion(config: Config, congestion: Box<dyn Congestion>) -> Self {
        let config = Config {
            mss: config.mss.max(Bytes::new(1)),
            ..config
        };
        Self {
            config,
            congestion,
            board: Scoreboard::default(),
            rtt: Rtt::default(),
            rack: Rack::new(),
            prr: Prr::default(),
            delivery: Delivery::default(),
            pacer: Pacer::default(),
            una: 0,
            next: 0,
            phase: Phase::Open,
            phase_end: 0,
            timeout_at: None,
            probe_at: None,
            reorder_at: None,
            probe: None,
            probe_is_due: false,
            answer_is_due: false,
            is_waiting_for_room: false,
            limited_until: 0,
            ce_bytes: Bytes::ZERO,
            statistics: Statistics::default(),
            delivered: Vec::new(),
            lost: Vec::new(),
        }
    }

    /// The next segment that may leave at `now`. The driver calls this until it returns `None`,
    /// after each of the other calls and at each deadline.
    pub fn poll(&mut self, now: Time) -> Option<Segment> {
        if self.probe_is_due {
            self.probe_is_due = false;
            if let Some(segment) = self.send_probe(now) {
                return Some(segment);
            }
        }
        let lost = self.board.first_lost();
        let (sequence, length) = if let Some((sequence, length)) = lost {
            (sequence, Bytes::new(length))
        } else if let Some(length) = self.new_data(now) {
            (self.next, length)
        } else {
            if self.board.in_flight() < self.window().get() && self.has_run_dry(now) {
                self.delivery.on_app_limited(self.board.in_flight());
            }
            return None;
        };
        if !self.fits(length) {
            self.limited_until = self.next;
            return None;
        }
        if !self.pacer.is_ready(now) {
            return None;
        }
        if self.congestion.pacing_rate().is_some() && !self.pacer.is_in_burst(now) {
            let Some(segments) = self.plan_burst(now, lost.is_some()) else {
                self.is_waiting_for_room = true;
                self.limited_until = self.next;
                return None;
            };
            self.pacer.begin(now, segments);
        }
        Some(self.send(now, sequence, length, lost.is_some()))
    }

    /// Takes an acknowledgement that arrived at `now`.
    pub fn acknowledge(&mut self, now: Time, ack: &Ack) {
        if ack.cumulative > self.next {
            return; // Not of this connection (RFC 9293, section 3.10.7.4).
        }
        self.is_waiting_for_room = false;
        let prior_in_flight = self.board.in_flight();
        let prior_lost = self.delivery.lost();
        let is_window_limited = self.una < self.limited_until;
        let has_advanced = ack.cumulative > self.una;
        self.una = self.una.max(ack.cumulative);
        self.delivered.clear();
        self.board.acknowledge(ack, &mut self.delivered);

        let rtt = self.measure(now, ack);
        let delivered = self.delivered.iter();
        let delivered = delivered.map(|segment| (segment.length, segment.last));
        let delivery = self.delivery.on_ack(now, delivered, self.rtt.minimum());
        self.rack.on_delivered(now, ack.echo, &self.delivered);
        self.rack
            .on_duplicate(ack.is_duplicate, self.una, self.next);

        if has_advanced {
            self.rtt.reset_doubling();
        }
        self.lost.clear();
        self.judge_probe(now, ack);
        self.end_phase(now);
        self.detect_losses(now);
        let marked = ack.ce_bytes - self.ce_bytes;
        self.ce_bytes = self.ce_bytes.max(ack.ce_bytes);
        self.statistics.marked = self.ce_bytes;
        if ack.ece && self.config.ecn == EcnUse::Classic && self.phase == Phase::Open {
            self.begin_reduction(now, Phase::Reducing);
            self.answer_is_due = true;
        }

        let acked: u64 = self.delivered.iter().map(|segment| segment.length).sum();
        let lost = self.delivery.lost() - prior_lost;
        let sample = AckSample {
            acked: Bytes::new(acked),
            lost: Bytes::new(lost),
            delivered: Bytes::new(self.delivery.delivered()),
            marked,
            rtt,
            smoothed_rtt: self.rtt.smoothed(),
            prior_in_flight: Bytes::new(prior_in_flight),
            in_flight: Bytes::new(self.board.in_flight()),
            delivery,
            is_window_limited,
            is_reducing: self.is_reducing(),
            pacing_wait: self.pacer.next().since(now),
        };
        self.congestion.on_ack(now, &sample);
        if self.congestion.limits_itself() {
            self.delivery.on_app_limited(self.board.in_flight());
        }
        if self.is_reducing() {
            self.prr.on_ack(
                acked,
                self.board.in_flight(),
                self.congestion.window().get(),
                self.config.mss.get(),
                has_advanced && lost == 0,
            );
        }
        self.restart_timers(now, has_advanced);
        self.delivered.clear();
    }

    /// When to call [`timer`](Self::timer) and [`poll`](Self::poll) next, if
    /// no acknowledgement comes before.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        let send_at = self.next_length().and_then(|length| {
            let ready_at = if self.board.first_lost().is_some() {
                Some(Time::ZERO)
            } else {
                let Config {
                    ref application,
                    start,
                    mss,
                    ..
                } = self.config;
                application.ready_at(start, self.next, mss)
            };
            ready_at
                .filter(|_| self.fits(length) && !self.is_waiting_for_room)
                .map(|ready_at| ready_at.max(self.pacer.next()))
        });
        [self.timeout_at, self.probe_at, self.reorder_at, send_at]
            .into_iter()
            .flatten()
            .min()
    }

    /// Lets time pass until `now`: acts on the timers that have expired.
    pub fn timer(&mut self, now: Time) {
        self.is_waiting_for_room = false;
        let is_past = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if is_past(self.reorder_at) {
            self.reorder_at = None;
            self.detect_losses(now);
        }
        if is_past(self.timeout_at) {
            self.time_out(now);
        } else if is_past(self.probe_at) {
            self.probe_at = None;
            self.probe_is_due = true;
            self.timeout_at = Some(now + self.rtt.timeout());
        }
    }

    /// Whether all of a finite application's data is acknowledged.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self.config.application, Application::Finite(size) if self.una >= size.get())
    }

    /// Counts so far, and the present state.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        Statistics {
            acknowledged: Bytes::new(self.una),
            window: self.window(),
            in_flight: Bytes::new(self.board.in_flight()),
            smoothed_rtt: self.rtt.smoothed(),
            pacing_rate: self.congestion.pacing_rate(),
            ..self.statistics
        }
    }

    /// How much may be in flight: the algorithm's window, or that of the reduction while one is
    /// under way.
    fn window(&self) -> Bytes {
        if self.is_reducing() && !self.congestion.governs_recovery() {
            Bytes::new(self.prr.window())
        } else {
            self.congestion.window()
        }
    }

    fn is_reducing(&self) -> bool {
        matches!(self.phase, Phase::Reducing | Phase::Recovery)
    }

    /// Whether the window has room; one segment may always be in flight.
    fn fits(&self, length: Bytes) -> bool {
        let in_flight = Bytes::new(self.board.in_flight());
        in_flight == Bytes::ZERO || in_flight + length <= self.window()
    }

    /// Length of the next segment, if the application had its data.
    fn next_length(&self) -> Option<Bytes> {
        if let Some((_, length)) = self.board.first_lost() {
            return Some(Bytes::new(length));
        }
        let length = match self.config.application {
            Application::Finite(size) => (size - Bytes::new(self.next)).min(self.config.mss),
            _ => self.config.mss,
        };
        let outstanding = Bytes::new(self.next - self.una) + length;
        (length > Bytes::ZERO && outstanding <= self.config.receive_window).then_some(length)
    }

    fn new_data(&self, now: Time) -> Option<Bytes> {
        self.next_length()?;
        let Config {
            ref application,
            start,
            mss,
            ..
        } = self.config;
        application.segment(now, start, self.next, mss)
    }

    /// Whether the application has nothing to send.
    fn has_run_dry(&self, now: Time) -> bool {
        let Config {
            ref application,
            start,
            mss,
            ..
        } = self.config;
        application.segment(now, start, self.next, mss).is_none()
    }

    fn send(&mut self, now: Time, sequence: u64, length: Bytes, is_repeated: bool) -> Segment {
        let in_flight = self.board.in_flight();
        self.congestion
            .on_sent(now, Bytes::new(in_flight), self.delivery.is_app_limited());
        self.statistics.segments += 1;
        let transmission = Transmission {
            number: self.statistics.segments,
            at: now,
            snapshot: self.delivery.on_sent(now, in_flight, length.get()),
        };
        let mut cwr = false;
        if is_repeated {
            self.statistics.retransmissions += 1;
            if self.board.is_first(sequence) {
                self.timeout_at = None;
            }
            self.board.retransmit(sequence, transmission);
        } else {
            self.board.push(sequence, length.get(), transmission);
            self.next += length.get();
            cwr = std::mem::take(&mut self.answer_is_due);
        }
        if self.is_reducing() {
            self.prr.on_sent(length.get());
        }
        self.pacer
            .on_sent(now, length, self.congestion.pacing_rate());
        if self.timeout_at.is_none() {
            self.timeout_at = Some(now + self.rtt.timeout());
        }
        if !is_repeated {
            self.schedule_probe(now);
        }
        Segment {
            sequence,
            length,
            ecn: match self.config.ecn {
                EcnUse::Off => Ecn::NotEct,
                // RFC 3168, section 6.1.5: not on retransmissions.
                EcnUse::Classic if is_repeated => Ecn::NotEct,
                EcnUse::Classic | EcnUse::Dctcp => Ecn::Ect0,
                EcnUse::L4s => Ecn::Ect1,
            },
            cwr,
            is_retransmission: is_repeated,
            sent: now,
        }
    }

    /// RFC 8985, section 7.3: new data if there is any, else the last segment.
    fn send_probe(&mut self, now: Time) -> Option<Segment> {
        let (sequence, length, is_repeated) = if let Some(length) = self.new_data(now) {
            (self.next, length, false)
        } else {
            let (sequence, length) = self.board.last_unsacked()?;
            (sequence, Bytes::new(length), true)
        };
        self.statistics.probes += 1;
        let segment = self.send(now, sequence, length, is_repeated);
        self.probe_at = None;
        self.probe = Some(Probe {
            end: self.next,
            sent: now,
            is_retransmission: is_repeated,
        });
        Some(segment)
    }

    /// RFC 8985, section 7.4: whether the probe repaired a loss, which then counts as one. The
    /// exact timestamp distinguishes the arrival of the probe from that of the segment it repeats.
    fn judge_probe(&mut self, now: Time, ack: &Ack) {
        let Some(probe) = self.probe.filter(|probe| ack.cumulative >= probe.end) else {
            return;
        };
        self.probe = None;
        let has_repaired = probe.is_retransmission && !ack.is_duplicate && ack.echo >= probe.sent;
        if has_repaired && self.phase == Phase::Open {
            self.begin_reduction(now, Phase::Recovery);
        }
    }

    /// Takes a round-trip sample (RFC 6298, section 4). Returns the round-trip time that algorithms
    /// see.
    fn measure(&mut self, now: Time, ack: &Ack) -> Option<TimeDelta> {
        if self.delivered.is_empty() {
            return None;
        }
        if ack.echo <= now {
            self.rtt.sample(now.since(ack.echo));
        }
        let newest = self
            .delivered
            .iter()
            .filter(|segment| !segment.is_retransmitted)
            .max_by_key(|segment| segment.last.number)?;
        let rtt = now.since(newest.last.at);
        self.rtt.sample_minimum(now, rtt);
        Some(rtt)
    }

    fn end_phase(&mut self, now: Time) {
        let is_over = match self.phase {
            Phase::Open => false,
            // The echo continues until the CWR flag, which was sent last, has arrived.
            Phase::Reducing => self.una > self.phase_end || self.board.is_empty(),
            Phase::Recovery | Phase::Timeout => self.una >= self.phase_end,
        };
        if is_over {
            if self.phase != Phase::Reducing {
                self.rack.on_recovered();
            }
            self.phase = Phase::Open;
            self.congestion.on_recovered(now);
        }
    }

    /// RACK, step 5, and the start of recovery.
    fn detect_losses(&mut self, now: Time) {
        let is_recovering = matches!(self.phase, Phase::Recovery | Phase::Timeout);
        let Some((newest, patience)) = self.rack.verdict(
            is_recovering,
            self.board.sacked(),
            self.rtt.minimum(),
            self.rtt.smoothed(),
        ) else {
            return;
        };
        self.lost.clear();
        let wait = self
            .board
            .detect_lost(now, newest, patience, &mut self.lost);
        self.reorder_at = wait.map(|wait| now + wait);
        self.report_lost(now);
        if self.lost.is_empty() {
            return;
        }
        match self.phase {
            Phase::Open => self.begin_reduction(now, Phase::Recovery),
            // The window was already reduced for a mark; only the repair is new.
            Phase::Reducing => {
                self.phase = Phase::Recovery;
                self.phase_end = self.next;
            }
            Phase::Recovery | Phase::Timeout => {}
        }
    }

    fn report_lost(&mut self, now: Time) {
        for lost in &self.lost {
            self.delivery.on_lost(lost.length);
            let total_lost = self.delivery.lost();
            self.congestion.on_segment_lost(
                now,
                &LostSegment {
                    length: Bytes::new(lost.length),
                    sent_in_flight: Bytes::new(lost.snapshot.in_flight),
                    lost_since: Bytes::new(total_lost - lost.snapshot.lost),
                    delivered: Bytes::new(self.delivery.delivered()),
                    is_app_limited: lost.snapshot.is_app_limited,
                },
            );
        }
    }

    fn begin_reduction(&mut self, now: Time, phase: Phase) {
        let in_flight = Bytes::new(self.board.in_flight());
        // PRR begins from the window in use: what is in flight, and what was just found to have
        // left it.
        let lost: u64 = self.lost.iter().map(|lost| lost.length).sum();
        let acked: u64 = self.delivered.iter().map(|segment| segment.length).sum();
        self.prr.begin(
            in_flight.get() + lost + acked,
            in_flight.get() + self.config.mss.get(),
        );
        self.phase = phase;
        self.phase_end = self.next;
        self.probe_at = None;
        if phase == Phase::Reducing {
            self.congestion.on_ecn(now, in_flight);
        } else {
            self.statistics.recoveries += 1;
            self.congestion.on_loss(now, in_flight);
        }
    }

    /// RFC 6298, section 5, rules 5.4 to 5.7.
    fn time_out(&mut self, now: Time) {
        let in_flight = Bytes::new(self.board.in_flight());
        self.lost.clear();
        self.board.lose_all(&mut self.lost);
        self.report_lost(now);
        let is_reduced = match self.phase {
            Phase::Open => false,
            Phase::Reducing | Phase::Recovery => true,
            Phase::Timeout => self.rtt.is_doubled(),
        };
        self.congestion.on_timeout(now, in_flight, is_reduced);
        self.phase = Phase::Timeout;
        self.phase_end = self.next;
        self.statistics.timeouts += 1;
        self.rtt.double();
        self.timeout_at = Some(now + self.rtt.timeout());
        self.probe_at = None;
        self.reorder_at = None;
        self.probe = None;
        self.probe_is_due = false;
        self.pacer.reset();
    }

    fn restart_timers(&mut self, now: Time, has_advanced: bool) {
        if self.board.is_empty() {
            self.timeout_at = None;
            self.probe_at = None;
            self.reorder_at = None;
            self.probe_is_due = false;
        } else if has_advanced {
            self.timeout_at = Some(now + self.rtt.timeout());
            self.schedule_probe(now);
        }
        if self.board.sacked() > 0 {
            self.probe_at = None;
        }
    }

    /// RFC 8985, section 7.2: schedules the probe after two round trips, and the receiver's delay
    /// if a single segment is in flight. There is no probe during a repair.
    fn schedule_probe(&mut self, now: Time) {
        let is_quiet = self.phase == Phase::Open && self.board.sacked() == 0;
        if !is_quiet || self.board.is_empty() || self.probe.is_some() {
            self.probe_at = None;
            return;
        }
        let mut wait = self
            .rtt
            .smoothed()
            .map_or(FIRST_PROBE, |smoothed| smoothed * 2);
        if self.board.segments() == 1 {
            wait += DELAYED_ACK;
        }
        let probe_at = now + wait;
        self.probe_at = Some(self.timeout_at.map_or(probe_at, |at| probe_at.min(at)));
    }
}
