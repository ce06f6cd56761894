//! Makes a run, and computes its figures.

use mimosa_figures::{FlowFigures, FrameDelays, QueueDelays, RunFigures, Window};
use mimosa_scenario::Scenario;
use mimosa_sim::{ControllerFailed, try_run};
use mimosa_units::{Time, TimeDelta, nearest_rank};

use crate::bins::{BIN, PER_SECOND, Seen, Watch};
use crate::clairvoyant;
use crate::convergence;
use crate::numbers::{delays, jain, mean, round, turns, variation};
use crate::record::{Delays, FlowRecord, Key, LinkRecord, QueueRecord, Record, TcpRecord};
use crate::trace::{Kept, Tracer};

/// The parts of a run that count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    pub(crate) window: Window,
    /// The window for fairness.
    pub(crate) fair: Window,
    /// How much longer than the round trip frames may take before they are late.
    pub(crate) late: TimeDelta,
    /// Whether the time to converge is measured.
    pub(crate) converges: bool,
    /// What is kept of the run over time.
    pub(crate) kept: Kept,
    /// Whether the times of each flow's packets in the queue are measured.
    pub(crate) waits: bool,
}

/// Runs `scenario` and measures it, unless a controller fails.
pub(crate) fn run(scenario: &Scenario, parts: Parts, key: Key) -> Result<Record, ControllerFailed> {
    let is_kept = parts.kept != Kept::default();
    let tracer = is_kept.then(|| Tracer::new(scenario, parts.kept));
    let mut watch = (Watch::new(scenario, &parts), tracer);
    let mut ran = Ok(());
    let figures = mimosa_figures::measure(scenario, parts.window, &mut watch, |observer| {
        if key.controller == clairvoyant::NAME {
            clairvoyant::run(scenario, key.seed, observer);
        } else {
            ran = try_run(scenario, key.seed, observer);
        }
    });
    ran?;
    let (watch, tracer) = watch;
    Ok(Record {
        trace: tracer.map(|tracer| tracer.trace(scenario)),
        ..record(scenario, parts, key, &figures, watch.seen)
    })
}

fn record(
    scenario: &Scenario,
    parts: Parts,
    key: Key,
    figures: &RunFigures,
    mut seen: Vec<Seen>,
) -> Record {
    let end = Time::ZERO + scenario.duration;
    let tcp = seen.pop();
    let converged = if parts.converges {
        convergence::measure(scenario, parts.window, &seen)
    } else {
        Vec::new()
    };
    let fair: Vec<_> = seen
        .iter()
        .map(|seen| mean_mbps(seen, parts.fair).unwrap_or(0.0))
        .collect();
    let videos = scenario
        .flows
        .iter()
        .zip(&figures.flows)
        .filter(|(flow, _)| flow.kind_name() == "video");
    let flows = videos
        .zip(&mut seen)
        .map(|((config, figures), seen)| {
            let from = parts.window.from.max(config.start);
            let to = parts.window.to.min(config.stop).min(end);
            flow_record(figures, seen, Window { from, to })
        })
        .collect();
    let has_tcp = scenario.flows.iter().any(|flow| flow.kind_name() == "tcp");
    Record {
        key,
        flows,
        tcp: tcp
            .filter(|_| has_tcp)
            .map(|seen| tcp_record(&seen, parts.window)),
        link: LinkRecord {
            utilization: figures.link.utilization,
            queue_delay_ms: figures.link.queue_delay_ms.map(Delays::from),
        },
        jain: jain(&fair).filter(|_| scenario.videos_share_a_route()),
        converged,
        trace: None,
    }
}

fn flow_record(figures: &FlowFigures, seen: &mut Seen, active: Window) -> FlowRecord {
    let sent = seen.sent.mbps(active.from, active.to);
    let seconds: Vec<_> = sent
        .chunks_exact(PER_SECOND)
        .filter_map(|second| mean(second.iter().copied()))
        .collect();
    let turned = turns(&seconds);
    let per_minute = 60.0 / (seconds.len() as f64);
    FlowRecord {
        name: figures.name.clone(),
        controller: figures.controller.clone().unwrap_or_default(),
        frame_delay_ms: figures.frame_delay_ms.map(Delays::from),
        frame_delay_p50_ms: figures.frame_delay_ms.map(|delays| delays.p50),
        late: (seen.frames > 0).then(|| round(seen.late as f64 / seen.frames as f64)),
        packet_delay_ms: delays(&mut seen.delays),
        stall_50ms: figures.stall_50ms,
        stall_100ms: figures.stall_100ms,
        stall_200ms: figures.stall_200ms,
        bitrate_mbps: figures.bitrate_mbps,
        valid_bitrate_mbps: figures.valid_bitrate_mbps,
        throughput_mbps: figures.throughput_mbps,
        loss_rate: figures.loss_rate,
        rate_variation: variation(&sent),
        turns_per_minute: turned.map(|(turns, _)| round(turns as f64 * per_minute)),
        swing: turned.and_then(|(_, swing)| swing),
        past_deadline: figures.recovery.and_then(|recovery| recovery.late),
        overhead: figures.recovery.and_then(|recovery| recovery.overhead),
        queue: queue_record(seen),
        arrived_kbps: seen.arrived.seconds_kbps(),
    }
}

fn queue_record(seen: &mut Seen) -> Option<QueueRecord> {
    let waits = seen.waits.as_mut()?;
    waits.sort_unstable();
    let at = |share| nearest_rank(waits, share).map(|wait| round(wait.as_millis()));
    Some(QueueRecord {
        l4s: round(seen.l4s as f64 / seen.packets as f64),
        p50_ms: at(0.50)?,
        p99_ms: at(0.99)?,
    })
}

fn tcp_record(seen: &Seen, window: Window) -> TcpRecord {
    TcpRecord {
        throughput_mbps: mean_mbps(seen, window).unwrap_or(0.0),
        rate_variation: variation(&seen.sent.mbps(window.from, window.to)),
        loss_rate: (seen.packets > 0).then(|| round(seen.lost as f64 / seen.packets as f64)),
    }
}

fn mean_mbps(seen: &Seen, window: Window) -> Option<f64> {
    let end = Time::ZERO + BIN.scale(seen.arrived.len() as f64);
    let rates = seen.arrived.mbps(window.from, window.to.min(end));
    mean(rates.into_iter()).map(round)
}

impl From<FrameDelays> for Delays {
    fn from(delays: FrameDelays) -> Self {
        let FrameDelays {
            mean,
            p50: _,
            p95,
            p99,
            max,
        } = delays;
        Self {
            mean,
            p95,
            p99,
            max,
        }
    }
}

impl From<QueueDelays> for Delays {
    fn from(delays: QueueDelays) -> Self {
        let QueueDelays {
            mean,
            p95,
            p99,
            max,
        } = delays;
        Self {
            mean,
            p95,
            p99,
            max,
        }
    }
}
