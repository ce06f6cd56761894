//! Counters and histograms of the whole host, for `GET /metrics`.

use std::sync::atomic::AtomicU64;

use mimosa_facts::SessionFrame;
use mimosa_units::TimeDelta;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use mimosa_session::host::{Encoded, STALL};

/// Bounds of the delay histograms in seconds, fine where games are playable, and with the papers'
/// thresholds of 50, 100 and 200 ms.
const DELAYS: [f64; 14] = [
    0.005, 0.010, 0.015, 0.020, 0.025, 0.030, 0.040, 0.050, 0.075, 0.100, 0.150, 0.200, 0.350,
    1.000,
];
/// Bounds of the encoding time's histogram in seconds, around the frame intervals of 240, 120, 60
/// and 30 frames a second.
const ENCODING: [f64; 10] = [
    0.001, 0.002, 0.003, 0.004, 0.006, 0.008, 0.012, 0.0167, 0.0333, 0.1,
];

/// A gauge of a fractional number.
type Number = Gauge<f64, AtomicU64>;

/// The host's metrics, with the registry that names them.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    players: Gauge,
    viewers: Gauge,
    frames: Counter,
    keyframes: Counter,
    delay: Histogram,
    total: Histogram,
    stalls: Counter,
    encoding: Histogram,
    encoder_errors: Counter,
    media_bytes: Counter,
    lost: Counter,
    retransmissions: Counter,
    target: Gauge,
    utilization: Number,
    /// Times that the source stopped making pictures.
    pub(crate) waits: Counter,
    /// Times that a page was notified that its browser decodes nothing.
    pub(crate) undecoded: Counter,
    /// Datagrams that the system did not take.
    pub(crate) unsent: Counter,
    /// Datagrams that belong to no session.
    pub(crate) strays: Counter,
}

impl Metrics {
    /// Metrics that are all zero.
    pub(crate) fn new() -> Self {
        let mut metrics = Self {
            registry: Registry::with_prefix("mimosa"),
            players: Gauge::default(),
            viewers: Gauge::default(),
            frames: Counter::default(),
            keyframes: Counter::default(),
            delay: Histogram::new(DELAYS),
            total: Histogram::new(DELAYS),
            stalls: Counter::default(),
            encoding: Histogram::new(ENCODING),
            encoder_errors: Counter::default(),
            media_bytes: Counter::default(),
            lost: Counter::default(),
            retransmissions: Counter::default(),
            target: Gauge::default(),
            utilization: Number::default(),
            waits: Counter::default(),
            undecoded: Counter::default(),
            unsent: Counter::default(),
            strays: Counter::default(),
        };
        metrics.register();
        metrics
    }

    fn register(&mut self) {
        let to = &mut self.registry;
        to.register("players", "Sessions that play", self.players.clone());
        to.register("viewers", "Sessions that watch", self.viewers.clone());
        to.register(
            "frames",
            "Frames whose lives have ended",
            self.frames.clone(),
        );
        to.register("keyframes", "Keyframes among them", self.keyframes.clone());
        to.register_with_unit(
            "frame_delay",
            "From the pacer to the acknowledgement of the last packet",
            Unit::Seconds,
            self.delay.clone(),
        );
        to.register_with_unit(
            "capture_to_screen",
            "From the capture to the browser's screen",
            Unit::Seconds,
            self.total.clone(),
        );
        to.register(
            "stalls",
            "Frames that took over 100 ms or were given up",
            self.stalls.clone(),
        );
        to.register_with_unit(
            "encoding",
            "Time to encode a frame",
            Unit::Seconds,
            self.encoding.clone(),
        );
        to.register(
            "encoder_errors",
            "Pictures that the encoder failed at",
            self.encoder_errors.clone(),
        );
        to.register_with_unit(
            "media",
            "Frames' packets on the wire, each counted once",
            Unit::Bytes,
            self.media_bytes.clone(),
        );
        to.register("packets_lost", "Packets declared lost", self.lost.clone());
        to.register(
            "retransmissions",
            "Packets sent again",
            self.retransmissions.clone(),
        );
        to.register(
            "target_bits_per_second",
            "Bitrate that the controller wants, of the newest frame",
            self.target.clone(),
        );
        to.register(
            "bandwidth_utilization_ratio",
            "Share of the bottleneck in use, of the newest frame",
            self.utilization.clone(),
        );
        to.register(
            "source_waits",
            "Times that no pictures came, as a window was hidden or a display gone",
            self.waits.clone(),
        );
        to.register(
            "decoder_stalls",
            "Pages told that their browser decodes nothing of what it receives",
            self.undecoded.clone(),
        );
        to.register(
            "datagrams_unsent",
            "Datagrams that the system did not take",
            self.unsent.clone(),
        );
        to.register(
            "datagrams_stray",
            "Datagrams that belong to no session",
            self.strays.clone(),
        );
    }

    /// Sets the number of sessions.
    pub(crate) fn sessions(&self, players: usize, viewers: usize) {
        let number = |count| i64::try_from(count).unwrap_or(i64::MAX);
        self.players.set(number(players));
        self.viewers.set(number(viewers));
    }

    /// Counts a frame that an encoder has finished.
    pub(crate) fn encoded(&self, encoded: &Encoded) {
        self.encoding
            .observe((encoded.ended - encoded.begun).as_secs());
        self.encoder_errors
            .inc_by(u64::from(encoded.result.is_err()));
    }

    /// Counts a frame about which everything is known.
    pub(crate) fn frame(&self, frame: &SessionFrame) {
        let life = &frame.life;
        self.frames.inc();
        self.keyframes.inc_by(u64::from(frame.is_keyframe));
        self.media_bytes.inc_by(life.size.get());
        self.lost.inc_by(u64::from(life.lost));
        self.retransmissions.inc_by(u64::from(life.retransmitted));
        let delay = life.delay();
        let is_stall = delay.is_none_or(|delay| delay > STALL);
        self.stalls.inc_by(u64::from(is_stall));
        let observe = |histogram: &Histogram, delay: Option<TimeDelta>| {
            if let Some(delay) = delay {
                histogram.observe(delay.as_secs());
            }
        };
        observe(&self.delay, delay);
        observe(&self.total, frame.shown.map(|shown| shown - frame.captured));
        let target = i64::try_from(life.decision.target.as_bps()).unwrap_or(i64::MAX);
        self.target.set(target);
        if let Some(utilization) = life.decision.evidence.utilization {
            self.utilization.set(utilization);
        }
    }

    /// The metrics in Prometheus' text format (`OpenMetrics` 1.0).
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
