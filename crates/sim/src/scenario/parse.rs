//! From the file's words to a scenario that cannot be wrong.

use std::collections::BTreeSet;
use std::ops::Range;

use mimosa_control::Limits;
use mimosa_net::queue::Limit;
use mimosa_net::{
    EncoderModel, Jitter, LossModel, PathConfig, Piece, Reordering, Schedule,
};
use mimosa_pace::{Bounds, Policy};
use mimosa_session::{FeedbackMode, SenderConfig};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};
use toml::Spanned;

use super::error::{Problem, ScenarioError, Where};
use super::raw;
use super::{CbrConfig, FlowConfig, FlowKind, LinkConfig, QueueConfig, Scenario, VideoConfig};

/// The longest run: beyond it times would no longer be counted exactly.
const LONGEST: TimeDelta = TimeDelta::from_millis(1_000 * 3600 * 24 * 30);
/// Largest UDP payload, headers aside: no packet is larger.
const LARGEST_PACKET: Bytes = Bytes::new(65_507);

/// Reads the files that a scenario names: traces and frame sizes.
pub trait Files {
    /// The content of the file at `path`, which counts from the scenario's
    /// folder.
    ///
    /// # Errors
    ///
    /// Why it cannot be read, in the system's words.
    fn read(&mut self, path: &str) -> Result<String, String>;
}

/// What a file holds.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The seed that the file names; 1 when it names none.
    pub seed: u64,
    /// The scenario's forms by name, in the order of the file; one without a
    /// name when the file has no variants.
    pub variants: Vec<(Option<String>, Scenario)>,
    /// What was not taken literally in the files it names.
    pub notes: Vec<(Where, String)>,
}

/// Reads the scenario `text` of the file called `file`.
///
/// # Errors
///
/// [`ScenarioError`] with the place of the first thing that is wrong.
pub fn load(text: &str, file: &str, files: &mut dyn Files) -> Result<Loaded, ScenarioError> {
    let mut reader = Reader {
        text,
        file,
        files,
        notes: Vec::new(),
    };
    let raw: raw::File = toml::from_str(text).map_err(|error| {
        let at = error.span().unwrap_or(0..0);
        reader.error(at, Problem::Toml(error.message().trim().to_owned()))
    })?;
    let mut variants = Vec::new();
    let mut names = BTreeSet::new();
    if raw.variant.is_empty() {
        variants.push((None, reader.scenario(&raw, None)?));
    }
    for variant in &raw.variant {
        let variant = variant.get_ref();
        let name = variant.name.get_ref();
        if !names.insert(name) {
            let problem = Problem::NameTaken { name: name.clone() };
            return Err(reader.error(variant.name.span(), problem));
        }
        let scenario = reader.scenario(&raw, Some(variant))?;
        variants.push((Some(name.clone()), scenario));
    }
    reader.notes.dedup();
    Ok(Loaded {
        seed: raw.seed.unwrap_or(1),
        variants,
        notes: reader.notes,
    })
}

struct Reader<'a> {
    text: &'a str,
    file: &'a str,
    files: &'a mut dyn Files,
    notes: Vec<(Where, String)>,
}

type Result_<T> = Result<T, ScenarioError>;

impl Reader<'_> {
    fn error(&self, at: Range<usize>, problem: Problem) -> ScenarioError {
        let before = self.text.get(..at.start).unwrap_or(self.text);
        ScenarioError {
            place: Where {
                file: self.file.to_owned(),
                line: before.matches('\n').count() + 1,
            },
            problem,
        }
    }

    fn range(
        &self,
        at: Range<usize>,
        key: &'static str,
        valid: bool,
        must: &'static str,
    ) -> Result_<()> {
        if valid {
            Ok(())
        } else {
            Err(self.error(at, Problem::OutOfRange { key, must }))
        }
    }

    fn scenario(&mut self, raw: &raw::File, variant: Option<&raw::Variant>) -> Result_<Scenario> {
        let duration = *raw.duration.get_ref();
        self.range(
            raw.duration.span(),
            "duration",
            duration > TimeDelta::ZERO && duration <= LONGEST,
            "longer than zero and at most 720h",
        )?;
        let plain = raw.link.get_ref();
        let link = variant.map_or_else(|| plain.clone(), |variant| plain.under(&variant.link));
        let mut flows = Vec::new();
        for (index, flow) in raw.flow.iter().enumerate() {
            let plain = flow.get_ref();
            let is_video = plain.kind.as_ref().is_none_or(|kind| kind.get_ref() == "video");
            let flow_raw = match variant {
                Some(variant) if is_video => lay_over(plain, &variant.flow),
                _ => plain.clone(),
            };
            flows.push(self.flow(&flow_raw, flow.span(), index, &link)?);
        }
        if flows.is_empty() {
            return Err(self.error(raw.link.span(), Problem::NoFlow));
        }
        let mut names = BTreeSet::new();
        for (flow, raw) in flows.iter().zip(&raw.flow) {
            if !names.insert(flow.name.clone()) {
                let name = flow.name.clone();
                return Err(self.error(raw.span(), Problem::NameTaken { name }));
            }
        }
        let largest = flows.iter().map(largest_packet).max().unwrap_or(Bytes::ZERO);
        Ok(Scenario {
            duration,
            link: LinkConfig {
                schedule: self.schedule(&link, raw.link.span())?,
                queue: self.queue(&link, largest)?,
            },
            flows,
        })
    }

    fn schedule(&mut self, link: &raw::Link, at: Range<usize>) -> Result_<Schedule> {
        let once = |found| Problem::RateNotOnce { found };
        match (&link.rate, &link.steps, &link.trace) {
            (Some(rate), None, None) => {
                let bps = *rate.get_ref();
                self.range(rate.span(), "rate", bps > Rate::ZERO, "above zero")?;
                Ok(Schedule::constant(bps))
            }
            (None, Some(steps), None) => self.steps(steps),
            (None, None, Some(path)) => self.trace(path),
            (None, None, None) => Err(self.error(at, once("no rate"))),
            (Some(second), Some(_), _) | (Some(second), _, Some(_)) => {
                Err(self.error(second.span(), once("several rates")))
            }
            (None, Some(second), Some(_)) => {
                Err(self.error(second.span(), once("several rates")))
            }
        }
    }

    fn steps(&self, steps: &Spanned<Vec<raw::Step>>) -> Result_<Schedule> {
        let pieces: Vec<_> = steps
            .get_ref()
            .iter()
            .map(|step| Piece {
                at: step.at,
                rate: step.rate,
                delay: step.one_way_delay,
                loss: None,
            })
            .collect();
        if pieces.last().is_some_and(|last| last.rate == Rate::ZERO) {
            return Err(self.error(steps.span(), Problem::EndsInOutage));
        }
        Schedule::new(pieces, None)
            .ok_or_else(|| self.error(steps.span(), Problem::StepsOutOfOrder))
    }

    fn trace(&mut self, path: &Spanned<String>) -> Result_<Schedule> {
        let text = self.read(path)?;
        let place = |line| Where {
            file: path.get_ref().clone(),
            line,
        };
        let trace = mimosa_trace::parse(&text).map_err(|error| ScenarioError {
            place: place(error.line),
            problem: Problem::Trace(error),
        })?;
        self.notes
            .extend(trace.notes.into_iter().map(|note| (place(note.line), note.text)));
        let pieces = trace
            .segments
            .iter()
            .map(|segment| Piece {
                at: segment.at,
                rate: segment.rate,
                delay: segment.round_trip.map(|rtt| rtt / 2),
                loss: segment.loss,
            })
            .collect();
        Schedule::new(pieces, Some(trace.length))
            .ok_or_else(|| self.error(path.span(), Problem::StepsOutOfOrder))
    }

    fn read(&mut self, path: &Spanned<String>) -> Result_<String> {
        self.files.read(path.get_ref()).map_err(|why| {
            let path_text = path.get_ref().clone();
            let problem = Problem::Unreadable {
                path: path_text,
                why,
            };
            self.error(path.span(), problem)
        })
    }

    fn queue(&self, link: &raw::Link, largest: Bytes) -> Result_<QueueConfig> {
        let Some(queue) = &link.queue else {
            // As the scenario form of the documentation has it.
            return Ok(QueueConfig::DropTail {
                limit: Limit::Bytes(Bytes::new(500_000)),
            });
        };
        let raw::Queue { kind, limit } = queue.get_ref();
        if kind.get_ref() != "droptail" {
            let problem = Problem::UnknownName {
                what: "queue",
                name: kind.get_ref().clone(),
                known: "droptail",
            };
            return Err(self.error(kind.span(), problem));
        }
        let Some(limit) = limit else {
            let problem = Problem::Missing {
                key: "limit",
                mend: "write a size \"500kB\", a time \"300ms\", or a number \"250packets\"",
            };
            return Err(self.error(queue.span(), problem));
        };
        let at = limit.span();
        let limit = queue_limit(limit.get_ref()).ok_or_else(|| {
            let text = limit.get_ref().clone();
            self.error(at.clone(), Problem::BadLimit { text })
        })?;
        let holds = match limit {
            Limit::Bytes(most) => most,
            Limit::Packets(0) => Bytes::ZERO,
            Limit::Time(time) => self.slowest(link).amount_in(time),
            Limit::Packets(_) | Limit::Unlimited => Bytes::MAX,
        };
        if holds < largest {
            let problem = Problem::QueueBelowPacket {
                limit: holds,
                packet: largest,
            };
            return Err(self.error(at, problem));
        }
        Ok(QueueConfig::DropTail { limit })
    }

    /// The rate to judge a limit in time by: a trace's may be small for a
    /// moment, and that is the trace's business.
    fn slowest(&self, link: &raw::Link) -> Rate {
        match (&link.rate, &link.steps) {
            (Some(rate), _) => *rate.get_ref(),
            (None, Some(steps)) => {
                let rates = steps.get_ref().iter().map(|step| step.rate);
                rates.filter(|r| *r > Rate::ZERO).min().unwrap_or(Rate::MAX)
            }
            (None, None) => Rate::MAX,
        }
    }

    fn flow(
        &mut self,
        raw: &raw::Flow,
        at: Range<usize>,
        index: usize,
        link: &raw::Link,
    ) -> Result_<FlowConfig> {
        let (start, stop, pauses) = self.times(raw)?;
        let packet_size = self.packet_size(raw)?;
        let (forward, reverse) = self.paths(raw, link)?;
        let kind = match raw.kind.as_ref().map(Spanned::get_ref).map(String::as_str) {
            None | Some("video") => {
                if let Some(rate) = &raw.rate {
                    let problem = Problem::KeyNotFor {
                        key: "rate",
                        kind: "a video flow, which has `start_bitrate` and `max_bitrate`",
                    };
                    return Err(self.error(rate.span(), problem));
                }
                FlowKind::Video(Box::new(self.video(raw, link, packet_size, reverse)?))
            }
            Some("cbr") => {
                if let Some((key, at)) = raw.video_key() {
                    let kind = "a flow of kind \"cbr\"";
                    return Err(self.error(at, Problem::KeyNotFor { key, kind }));
                }
                let Some(rate) = &raw.rate else {
                    let problem = Problem::Missing {
                        key: "rate",
                        mend: "give the flow one, e.g. `rate = \"5Mbit/s\"`",
                    };
                    return Err(self.error(at, problem));
                };
                let (rate, span) = (*rate.get_ref(), rate.span());
                self.range(span, "rate", rate > Rate::ZERO, "above zero")?;
                FlowKind::Cbr(CbrConfig { rate, packet_size })
            }
            Some(name) => {
                let problem = Problem::UnknownName {
                    what: "kind of flow",
                    name: name.to_owned(),
                    known: "video, cbr",
                };
                let at = raw.kind.as_ref().map_or(at, Spanned::span);
                return Err(self.error(at, problem));
            }
        };
        Ok(FlowConfig {
            name: raw.name.as_ref().map_or_else(
                || format!("flow{}", index + 1),
                |name| name.get_ref().clone(),
            ),
            start,
            stop,
            pauses,
            forward,
            kind,
        })
    }

    fn times(&self, raw: &raw::Flow) -> Result_<(Time, Time, Vec<(Time, Time)>)> {
        let start = Time::ZERO + value(raw.start.as_ref(), TimeDelta::ZERO);
        let mut stop = Time::MAX;
        if let Some(text) = &raw.stop {
            stop = Time::ZERO + *text.get_ref();
            if stop <= start {
                let problem = Problem::StopsBeforeStart { start, stop };
                return Err(self.error(text.span(), problem));
            }
        }
        let mut pauses = Vec::new();
        if let Some(list) = &raw.pauses {
            let mut before = TimeDelta::ZERO;
            for pause in list.get_ref() {
                let valid = pause.from >= before && pause.to > pause.from;
                let must = "in order, each with `from` before `to`";
                self.range(list.span(), "pauses", valid, must)?;
                before = pause.to;
                pauses.push((Time::ZERO + pause.from, Time::ZERO + pause.to));
            }
        }
        Ok((start, stop, pauses))
    }

    fn packet_size(&self, raw: &raw::Flow) -> Result_<Bytes> {
        let size = value(raw.packet_size.as_ref(), Bytes::new(1200));
        if let Some(text) = &raw.packet_size {
            let valid = size > Bytes::ZERO && size <= LARGEST_PACKET;
            self.range(text.span(), "packet_size", valid, "from 1B to 65507B")?;
        }
        Ok(size)
    }

    /// The way there and the way back.
    fn paths(&self, raw: &raw::Flow, link: &raw::Link) -> Result_<(PathConfig, PathConfig)> {
        let link_delay = value(link.one_way_delay.as_ref(), TimeDelta::from_millis(10));
        let delay = value(raw.one_way_delay.as_ref(), link_delay);
        // Back as there, unless something is said of the way back.
        let back = raw.return_delay.as_ref().or_else(|| {
            let own = raw.one_way_delay.is_some();
            link.return_delay.as_ref().filter(|_| !own)
        });
        let forward = PathConfig {
            delay,
            jitter: self.jitter(link.jitter.as_ref())?,
            loss: self.loss(link)?,
            reordering: self.reordering(link)?,
        };
        let reverse = PathConfig {
            delay: value(back, delay),
            jitter: self.jitter(link.return_jitter.as_ref())?,
            loss: LossModel::Random(self.share("return_loss", link.return_loss.as_ref())?),
            reordering: None,
        };
        Ok((forward, reverse))
    }

    fn share(&self, key: &'static str, value: Option<&Spanned<f64>>) -> Result_<f64> {
        let Some(value) = value else {
            return Ok(0.0);
        };
        let share = *value.get_ref();
        let valid = (0.0..=1.0).contains(&share);
        self.range(value.span(), key, valid, "a share between 0 and 1")?;
        Ok(share)
    }

    fn loss(&self, link: &raw::Link) -> Result_<LossModel> {
        let random = self.share("loss", link.loss.as_ref())?;
        let Some(burst) = &link.burst_loss else {
            return Ok(LossModel::Random(random));
        };
        if link.loss.is_some() && random > 0.0 {
            let problem = Problem::Exclusive {
                one: "loss",
                other: "burst_loss",
            };
            return Err(self.error(burst.span(), problem));
        }
        let raw::BurstLoss {
            to_bad,
            to_good,
            loss_good,
            loss_bad,
        } = *burst.get_ref();
        let valid = [to_bad, to_good, loss_good, loss_bad]
            .iter()
            .all(|share| (0.0..=1.0).contains(share));
        let must = "made of shares between 0 and 1";
        self.range(burst.span(), "burst_loss", valid, must)?;
        Ok(LossModel::GilbertElliott {
            to_bad,
            to_good,
            loss_good,
            loss_bad,
        })
    }

    fn reordering(&self, link: &raw::Link) -> Result_<Option<Reordering>> {
        let Some(reordering) = &link.reordering else {
            return Ok(None);
        };
        let raw::Reordering { share, extra } = *reordering.get_ref();
        let valid = (0.0..=1.0).contains(&share);
        let must = "made of a `share` between 0 and 1 and an `extra` delay";
        self.range(reordering.span(), "reordering", valid, must)?;
        Ok(Some(Reordering { share, extra }))
    }

    fn jitter(&self, jitter: Option<&Spanned<raw::Jitter>>) -> Result_<Option<Jitter>> {
        let Some(spanned) = jitter else {
            return Ok(None);
        };
        let raw = spanned.get_ref();
        let missing = |key, mend| self.error(spanned.span(), Problem::Missing { key, mend });
        match raw.kind.get_ref().as_str() {
            "block" => {
                let mend = "a block jitter has `length = \"40ms\"` and `every = \"500ms\"`";
                let length = raw.length.ok_or_else(|| missing("length", mend))?;
                let every = raw.every.ok_or_else(|| missing("every", mend))?;
                let must = "longer than zero, with `length` below `every`";
                let valid = every > TimeDelta::ZERO && length < every;
                self.range(spanned.span(), "every", valid, must)?;
                Ok(Some(Jitter::Block { length, every }))
            }
            "normal" => Ok(Some(Jitter::Normal {
                // RFC 8868, section 4.5.3.
                deviation: raw.deviation.unwrap_or(TimeDelta::from_millis(5)),
                most: raw.most.unwrap_or(TimeDelta::from_millis(15)),
            })),
            name => Err(self.error(
                raw.kind.span(),
                Problem::UnknownName {
                    what: "jitter",
                    name: name.to_owned(),
                    known: "block, normal",
                },
            )),
        }
    }

    fn video(
        &mut self,
        raw: &raw::Flow,
        link: &raw::Link,
        packet_size: Bytes,
        reverse: PathConfig,
    ) -> Result_<VideoConfig> {
        let limits = self.limits(raw)?;
        let (controller, params) = self.controller(raw, limits)?;
        let fps = value(raw.fps.as_ref(), 60);
        if let Some(text) = &raw.fps {
            self.range(text.span(), "fps", (1..=1000).contains(&fps), "from 1 to 1000")?;
        }
        let bounds = Bounds {
            smallest_packet: value(
                raw.probe_size.as_ref(),
                Bounds::default().smallest_packet,
            ),
            longest_wait: value(raw.longest_wait.as_ref(), Bounds::default().longest_wait),
            ..Bounds::default()
        };
        if let Some(text) = &raw.probe_size {
            let valid = *text.get_ref() > Bytes::ZERO && *text.get_ref() <= packet_size;
            self.range(text.span(), "probe_size", valid, "at least 1B and at most a packet")?;
        }
        let overhead = value(raw.overhead.as_ref(), Bytes::ZERO);
        if let Some(text) = &raw.overhead {
            let valid = packet_size + overhead <= LARGEST_PACKET;
            self.range(text.span(), "overhead", valid, "so small that a packet stays below 65507B")?;
        }
        let repeat = value(raw.feedback_repeat.as_ref(), 0);
        if let Some(text) = &raw.feedback_repeat {
            self.range(text.span(), "feedback_repeat", repeat <= 10_000, "at most 10000")?;
        }
        let sender = SenderConfig {
            policy: self.pacer(raw)?,
            bounds,
            retransmission_deadline: value(
                raw.retransmission_deadline.as_ref(),
                SenderConfig::default().retransmission_deadline,
            ),
            ..SenderConfig::default()
        };
        Ok(VideoConfig {
            controller,
            params,
            limits,
            fps,
            phase: raw.phase.as_ref().map(|phase| *phase.get_ref()),
            encoder: self.encoder(raw)?,
            encode_time: value(raw.encode_time.as_ref(), TimeDelta::ZERO),
            packet_size,
            overhead,
            sender,
            feedback: self.feedback(raw)?,
            feedback_repeat: repeat,
            reverse,
            aggregation: value(link.return_aggregation.as_ref(), TimeDelta::ZERO),
            clock_offset: value(raw.clock_offset.as_ref(), TimeDelta::ZERO),
            clock_drift_ppb: self.drift(raw)?,
        })
    }

    fn limits(&self, raw: &raw::Flow) -> Result_<Limits> {
        let mbps = |mbps: u64| Rate::from_kbps(mbps * 1_000);
        let max = value(raw.max_bitrate.as_ref(), mbps(50));
        let min = value(raw.min_bitrate.as_ref(), Rate::from_kbps(200).min(max));
        let start = value(raw.start_bitrate.as_ref(), mbps(5).clamp(min, max.max(min)));
        for (key, given) in [
            ("max_bitrate", &raw.max_bitrate),
            ("min_bitrate", &raw.min_bitrate),
            ("start_bitrate", &raw.start_bitrate),
        ] {
            if let Some(text) = given {
                let valid = *text.get_ref() > Rate::ZERO && min <= start && start <= max;
                let must = "above zero, with min_bitrate <= start_bitrate <= max_bitrate";
                self.range(text.span(), key, valid, must)?;
            }
        }
        Ok(Limits::new(min, start, max))
    }

    fn controller(&self, raw: &raw::Flow, limits: Limits) -> Result_<(String, toml::Table)> {
        let name = raw.controller.as_ref().map_or("pudica", |name| name.get_ref());
        let none = raw::Params::new();
        let given = raw.params.as_ref().map_or(&none, Spanned::get_ref);
        let table = |keys: &mut dyn Iterator<Item = (&Spanned<String>, &Spanned<toml::Value>)>| {
            keys.map(|(key, value)| (key.get_ref().clone(), value.get_ref().clone()))
                .collect::<toml::Table>()
        };
        let build = |params: toml::Table| {
            mimosa_cc::build(name, toml::Value::Table(params), limits).map(|_| ())
        };
        let params = table(&mut given.iter());
        if let Err(error) = build(params.clone()) {
            // Which of the parameters is it? The one that fails alone.
            let culprit = given
                .iter()
                .find(|pair| build(table(&mut std::iter::once(*pair))).is_err());
            let at = culprit
                .map(|(key, _)| key.span())
                .or_else(|| raw.params.as_ref().map(Spanned::span))
                .filter(|_| !matches!(error, mimosa_cc::BuildError::UnknownName { .. }))
                .or_else(|| raw.controller.as_ref().map(Spanned::span))
                .unwrap_or(0..0);
            return Err(self.error(at, Problem::Controller(error)));
        }
        Ok((name.to_owned(), params))
    }

    fn encoder(&mut self, raw: &raw::Flow) -> Result_<EncoderModel> {
        let exclusive = |reader: &Self, at, one, other| {
            Err(reader.error(at, Problem::Exclusive { one, other }))
        };
        match (&raw.encoder, &raw.frame_noise, &raw.frame_sizes) {
            (None, None, None) => Ok(EncoderModel::Perfect),
            (None, Some(noise), None) => {
                let cv = *noise.get_ref();
                let must = "a coefficient of variation between 0 and 3";
                self.range(noise.span(), "frame_noise", (0.0..=3.0).contains(&cv), must)?;
                Ok(EncoderModel::LogNormal(cv))
            }
            (None, None, Some(path)) => self.frame_sizes(path),
            (Some(name), None, None) => match name.get_ref().as_str() {
                "perfect" => Ok(EncoderModel::Perfect),
                // RFC 8593, table 1.
                "rfc8593" => Ok(EncoderModel::Laplace(0.15)),
                "x264" => Ok(EncoderModel::X264),
                other => {
                    let problem = Problem::UnknownName {
                        what: "encoder",
                        name: other.to_owned(),
                        known: "perfect, rfc8593, x264 (and the keys `frame_noise`, `frame_sizes`)",
                    };
                    Err(self.error(name.span(), problem))
                }
            },
            (Some(_), Some(at), _) => exclusive(self, at.span(), "encoder", "frame_noise"),
            (_, Some(_), Some(at)) => exclusive(self, at.span(), "frame_noise", "frame_sizes"),
            (Some(_), None, Some(at)) => exclusive(self, at.span(), "encoder", "frame_sizes"),
        }
    }

    fn frame_sizes(&mut self, path: &Spanned<String>) -> Result_<EncoderModel> {
        let text = self.read(path)?;
        let mut sizes = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let size = line.parse().ok().filter(|size| *size > 0 && *size < 1 << 32);
            sizes.push(Bytes::new(size.ok_or_else(|| ScenarioError {
                place: Where {
                    file: path.get_ref().clone(),
                    line: index + 1,
                },
                problem: Problem::BadFrameSize {
                    text: line.to_owned(),
                },
            })?));
        }
        if sizes.is_empty() {
            let problem = Problem::Unreadable {
                path: path.get_ref().clone(),
                why: "it holds no frame size".to_owned(),
            };
            return Err(self.error(path.span(), problem));
        }
        Ok(EncoderModel::Recorded(sizes))
    }

    fn pacer(&self, raw: &raw::Flow) -> Result_<Policy> {
        let Some(name) = &raw.pacer else {
            return Ok(Policy::Controller);
        };
        let text = name.get_ref().as_str();
        let multiple = text.strip_suffix('x').and_then(|n| n.parse::<f64>().ok());
        match (text, multiple) {
            ("controller", _) => Ok(Policy::Controller),
            ("webrtc", _) => Ok(Policy::WebRtc),
            ("burst", _) => Ok(Policy::Burst),
            (_, Some(factor)) if factor.is_finite() && factor > 0.0 => {
                Ok(Policy::Multiple(factor))
            }
            _ => {
                let problem = Problem::UnknownName {
                    what: "pacer",
                    name: text.to_owned(),
                    known: "controller, webrtc, burst, and multiples of the bitrate such as 2x",
                };
                Err(self.error(name.span(), problem))
            }
        }
    }

    fn feedback(&self, raw: &raw::Flow) -> Result_<FeedbackMode> {
        let Some(mode) = &raw.feedback else {
            return Ok(FeedbackMode::PerPacket);
        };
        match mode.get_ref().as_str() {
            "packet" => Ok(FeedbackMode::PerPacket),
            "frame" => Ok(FeedbackMode::OnRequest),
            text => match text.parse() {
                Ok(interval) if interval > TimeDelta::ZERO => Ok(FeedbackMode::Every(interval)),
                _ => {
                    let problem = Problem::UnknownName {
                        what: "feedback",
                        name: text.to_owned(),
                        known: "packet, frame, and intervals such as 50ms",
                    };
                    Err(self.error(mode.span(), problem))
                }
            },
        }
    }

    fn drift(&self, raw: &raw::Flow) -> Result_<i64> {
        let Some(drift) = &raw.clock_drift_ppm else {
            return Ok(0);
        };
        let ppm = *drift.get_ref();
        let must = "between -1000 and 1000 parts per million";
        self.range(drift.span(), "clock_drift_ppm", ppm.abs() <= 1000.0, must)?;
        #[expect(clippy::cast_possible_truncation, reason = "at most a million")]
        Ok((ppm * 1e3).round() as i64)
    }
}

/// A variant's keys over a flow's; parameters one by one.
fn lay_over(flow: &raw::Flow, over: &raw::Flow) -> raw::Flow {
    let mut laid = flow.under(over);
    if let (Some(below), Some(above), Some(params)) = (&flow.params, &over.params, &mut laid.params)
    {
        let mut merged = below.get_ref().clone();
        for (key, value) in above.get_ref() {
            merged.remove(key);
            merged.insert(key.clone(), value.clone());
        }
        *params.get_mut() = merged;
    }
    laid
}

fn value<T: Copy>(given: Option<&Spanned<T>>, otherwise: T) -> T {
    given.map_or(otherwise, |value| *value.get_ref())
}

fn largest_packet(flow: &FlowConfig) -> Bytes {
    match &flow.kind {
        FlowKind::Video(video) => video.packet_size + video.overhead,
        FlowKind::Cbr(cbr) => cbr.packet_size,
    }
}

fn queue_limit(text: &str) -> Option<Limit> {
    if text == "unlimited" {
        return Some(Limit::Unlimited);
    }
    if let Some(count) = text.strip_suffix("packets") {
        return count.trim().parse().ok().map(Limit::Packets);
    }
    let bytes = text.parse().map(Limit::Bytes);
    bytes.or_else(|_| text.parse().map(Limit::Time)).ok()
}
