//! Reads the flows: `[[flow]]`.

use std::ops::Range;
use std::sync::Arc;

use mimosa_cc::window::{Algorithm, EcnUse};
use mimosa_facts::Limits;
use mimosa_foreign::{Maker, OutsideName};
use mimosa_net::KeyProblem;
use mimosa_net::{Abr, EncoderModel, PathConfig};
use mimosa_stream::pace::Bounds;
use mimosa_stream::{RetransmissionDeadline, SenderConfig};
use mimosa_tcp::{Application, Steps};
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};
use toml::Spanned;

use super::controller::build;
use super::ecn::at_first;
use super::error::{Problem, ScenarioError};
use super::parse::{Read, Reader, value};
use super::raw;
use super::{CbrConfig, FlowConfig, FlowKind, PagesConfig, TcpConfig, VideoConfig};

/// Connections that a browser opens to one server for a page where the file gives no number: those of
/// HTTP/1.1 in Chromium and Firefox.
const CONNECTIONS: u32 = 6;

/// Start and stop of a flow, and beginning and end of each of its pauses.
type Times = (Time, Time, Vec<(Time, Time)>);

/// The largest payload of a UDP packet, without headers: no packet is larger.
const LARGEST_PACKET: Bytes = Bytes::new(65_507);

/// The most by which a frame clock may differ from `fps`, in millionths: a tenth.
const FASTEST_DRIFT: f64 = 100_000.0;

/// The time in which an encoder that keeps an average bitrate pays back where the file gives none:
/// the buffer of libx264's ABR, `2 * rate_tolerance * bitrate`, with its default tolerance of 1.
const PAY_BACK: TimeDelta = TimeDelta::from_millis(2_000);

/// The most parts of a frame: the slices that libx264 cuts pictures of 512 rows into, one a row of
/// macroblocks.
const MOST_PARTS: u32 = 32;

/// The longest time of `pay_back`.
const LONGEST_PAY_BACK: TimeDelta = TimeDelta::from_millis(3_600_000);

/// Millionths as billionths.
fn billionths(millionths: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "at most a tenth")]
    let billionths = (millionths * 1_000.0).round() as i64;
    billionths
}

impl Reader<'_> {
    pub(super) fn flow(
        &mut self,
        raw: &raw::Flow,
        at: Range<usize>,
        index: usize,
        link: &raw::Link,
    ) -> Read<FlowConfig> {
        let (start, stop, pauses) = self.times(raw)?;
        let packet_size = self.packet_size(raw)?;
        let (forward, reverse) = self.paths(raw, link)?;
        let mut route = self.route(raw, link)?;
        let kind = match raw.kind.as_ref().map(Spanned::get_ref).map(String::as_str) {
            None | Some("video") => {
                if let Some(rate) = &raw.rate {
                    let problem = KeyProblem::KeyNotFor {
                        key: "rate",
                        kind: "a video flow, which has `start_bitrate` and `max_bitrate`",
                    };
                    return Err(self.error(rate.span(), problem));
                }
                FlowKind::Video(Box::new(self.video(raw, link, packet_size, reverse)?))
            }
            Some("cbr") => {
                if let Some((key, at)) = raw.video_key().or_else(|| raw.shared_key()) {
                    let kind = "a flow of kind \"cbr\"";
                    return Err(self.error(at, KeyProblem::KeyNotFor { key, kind }));
                }
                let Some(rate) = &raw.rate else {
                    let problem = KeyProblem::Missing {
                        key: "rate",
                        mend: "give the flow one, e.g. `rate = \"5Mbit/s\"`",
                    };
                    return Err(self.error(at, problem));
                };
                let (rate, span) = (*rate.get_ref(), rate.span());
                self.range(span, "rate", rate > Rate::ZERO, "above zero")?;
                // Cross traffic has no reports.
                route.reports.clear();
                FlowKind::Cbr(CbrConfig { rate, packet_size })
            }
            Some("tcp") => FlowKind::Tcp(self.tcp(raw, reverse)?),
            Some(name) => {
                let problem = KeyProblem::UnknownName {
                    what: "kind of flow",
                    name: name.to_owned(),
                    known: "video, cbr, tcp".to_owned(),
                };
                let at = raw.kind.as_ref().map_or(at, Spanned::span);
                return Err(self.error(at, problem));
            }
        };
        if let Some((key, at)) = raw.tcp_key()
            && !matches!(kind, FlowKind::Tcp(_))
        {
            let kind = "a flow that is not of kind \"tcp\"";
            return Err(self.error(at, KeyProblem::KeyNotFor { key, kind }));
        }
        let ecn = match &kind {
            FlowKind::Video(video) => at_first(video.sender.ecn),
            FlowKind::Cbr(_) | FlowKind::Tcp(_) => self.ecn(raw)?.unwrap_or(Ecn::NotEct),
        };
        let dscp = value(raw.dscp.as_ref(), 0);
        if let Some(given) = &raw.dscp {
            self.range(given.span(), "dscp", dscp <= 63, "a number from 0 to 63")?;
        }
        Ok(FlowConfig {
            ecn,
            dscp,
            name: match &raw.name {
                Some(name) => self.name(name)?,
                None => format!("flow{}", index + 1),
            },
            start,
            stop,
            pauses,
            route,
            forward,
            kind,
        })
    }

    pub(super) fn times(&self, raw: &raw::Flow) -> Read<Times> {
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

    /// Reads the parameters of a TCP connection.
    fn tcp(&self, raw: &raw::Flow, reverse: PathConfig) -> Read<TcpConfig> {
        let of = "a flow of kind \"tcp\"";
        if let Some((key, at)) = raw.video_key() {
            return Err(self.error(at, KeyProblem::KeyNotFor { key, kind: of }));
        }
        if let Some(pauses) = &raw.pauses {
            let problem = KeyProblem::KeyNotFor {
                key: "pauses",
                kind: of,
            };
            return Err(self.error(pauses.span(), problem));
        }
        let algorithm = match &raw.controller {
            None => Algorithm::Cubic,
            Some(name) => Algorithm::from_name(name.get_ref()).ok_or_else(|| {
                let problem = KeyProblem::UnknownName {
                    what: "congestion control",
                    name: name.get_ref().clone(),
                    known: "reno, cubic, dctcp, prague, bbr, bbr2, bbr3".to_owned(),
                };
                self.error(name.span(), problem)
            })?,
        };
        let application = self.application(raw)?;
        let pages = self.pages(raw)?;
        let plain = mimosa_tcp::Config::default();
        let packet_size = match &raw.packet_size {
            None => plain.mss,
            Some(_) => self.packet_size(raw)?,
        };
        // The default is the headers of IPv4 and TCP without options.
        let overhead = value(raw.overhead.as_ref(), Bytes::new(40));
        if let Some(text) = &raw.overhead {
            let valid = packet_size + overhead <= LARGEST_PACKET;
            let must = "so small that a packet stays below 65507B";
            self.range(text.span(), "overhead", valid, must)?;
        }
        let ecn = ecn_use(algorithm, self.ecn(raw)?).ok_or_else(|| {
            let at = raw.ecn.as_ref().map_or(0..0, Spanned::span);
            let must = match algorithm.ecn() {
                EcnUse::L4s => "\"ect1\" or \"not-ect\" for this congestion control",
                EcnUse::Off => "\"not-ect\" for this congestion control",
                EcnUse::Classic | EcnUse::Dctcp => {
                    "\"ect0\" or \"not-ect\" for this congestion control"
                }
            };
            self.error(at, KeyProblem::OutOfRange { key: "ecn", must })
        })?;
        Ok(TcpConfig {
            algorithm,
            ecn,
            application,
            pages,
            packet_size,
            overhead,
            reverse,
        })
    }

    /// Reads what the application of a TCP connection writes.
    fn application(&self, raw: &raw::Flow) -> Read<Application> {
        let both = |one, other, at| Err(self.error(at, KeyProblem::Exclusive { one, other }));
        match (&raw.rate, &raw.steps, &raw.size) {
            (None, None, None) => Ok(Application::Greedy),
            (Some(rate), None, None) => Ok(Application::Limited(*rate.get_ref())),
            (None, None, Some(size)) => Ok(Application::Finite(*size.get_ref())),
            (None, Some(list), None) => {
                let start = Time::ZERO + value(raw.start.as_ref(), TimeDelta::ZERO);
                let steps = list.get_ref();
                let begins = steps.first().is_some_and(|step| step.at == TimeDelta::ZERO);
                if !begins || !steps.is_sorted_by(|one, other| one.at < other.at) {
                    return Err(self.error(list.span(), Problem::StepsOutOfOrder));
                }
                let steps = steps.iter().map(|step| (Time::ZERO + step.at, step.rate));
                Ok(Application::Stepped(Steps::new(start, steps)))
            }
            (Some(_), Some(steps), _) => both("rate", "steps", steps.span()),
            (_, Some(_), Some(size)) => both("steps", "size", size.span()),
            (Some(_), None, Some(size)) => both("rate", "size", size.span()),
        }
    }

    /// Reads the web pages that a TCP flow loads.
    fn pages(&self, raw: &raw::Flow) -> Read<Option<PagesConfig>> {
        let Some(pages) = &raw.pages else {
            return Ok(None);
        };
        let first = |key: &'static str, is_given: bool| is_given.then_some(key);
        let other = first("rate", raw.rate.is_some())
            .or_else(|| first("steps", raw.steps.is_some()))
            .or_else(|| first("size", raw.size.is_some()));
        if let Some(one) = other {
            let other = "pages";
            return Err(self.error(pages.span(), KeyProblem::Exclusive { one, other }));
        }
        let raw::Pages {
            every,
            size,
            connections,
        } = pages.get_ref();
        let is_positive = *size.get_ref() > Bytes::ZERO;
        self.range(size.span(), "size", is_positive, "above zero")?;
        let number = value(connections.as_ref(), CONNECTIONS);
        if let Some(given) = connections {
            let must = "from 1 to 256";
            self.range(
                given.span(),
                "connections",
                (1..=256).contains(&number),
                must,
            )?;
        }
        Ok(Some(PagesConfig {
            every: *every,
            size: *size.get_ref(),
            connections: number,
        }))
    }

    pub(super) fn packet_size(&self, raw: &raw::Flow) -> Read<Bytes> {
        let size = value(raw.packet_size.as_ref(), Bytes::new(1200));
        if let Some(text) = &raw.packet_size {
            let valid = size > Bytes::ZERO && size <= LARGEST_PACKET;
            self.range(text.span(), "packet_size", valid, "from 1B to 65507B")?;
        }
        Ok(size)
    }

    pub(super) fn video(
        &mut self,
        raw: &raw::Flow,
        link: &raw::Link,
        packet_size: Bytes,
        reverse: PathConfig,
    ) -> Read<VideoConfig> {
        let limits = self.limits(raw)?;
        let (controller, params) = self.controller(raw, limits)?;
        let outside = self.outside(raw, &params, limits)?;
        let fps = value(raw.fps.as_ref(), 60);
        if let Some(text) = &raw.fps {
            self.range(
                text.span(),
                "fps",
                (1..=1000).contains(&fps),
                "from 1 to 1000",
            )?;
        }
        let drift = value(raw.frame_clock_ppm.as_ref(), 0.0);
        if let Some(text) = &raw.frame_clock_ppm {
            let must = "from -100000 to 100000";
            let valid = drift.abs() <= FASTEST_DRIFT;
            self.range(text.span(), "frame_clock_ppm", valid, must)?;
        }
        let bounds = Bounds {
            smallest_packet: value(raw.probe_size.as_ref(), Bounds::default().smallest_packet),
            longest_wait: value(raw.longest_wait.as_ref(), Bounds::default().longest_wait),
            ..Bounds::default()
        };
        if let Some(text) = &raw.probe_size {
            let valid = *text.get_ref() > Bytes::ZERO && *text.get_ref() <= packet_size;
            self.range(
                text.span(),
                "probe_size",
                valid,
                "at least 1B and at most a packet",
            )?;
        }
        let overhead = value(raw.overhead.as_ref(), Bytes::ZERO);
        if let Some(text) = &raw.overhead {
            let valid = packet_size + overhead <= LARGEST_PACKET;
            self.range(
                text.span(),
                "overhead",
                valid,
                "so small that a packet stays below 65507B",
            )?;
        }
        let repeat = value(raw.feedback_repeat.as_ref(), 0);
        if let Some(text) = &raw.feedback_repeat {
            self.range(
                text.span(),
                "feedback_repeat",
                repeat <= 10_000,
                "at most 10000",
            )?;
        }
        let (feedback, feedback_format) = self.feedback(raw, fps)?;
        let carry = value(raw.carry.as_ref(), 0.0);
        if let Some(text) = &raw.carry {
            let fits = (0.0..=1.0).contains(&carry);
            self.range(text.span(), "carry", fits, "at least 0 and at most 1")?;
        }
        let parts = value(raw.parts.as_ref(), 1);
        if let Some(text) = &raw.parts {
            let fits = (1..=MOST_PARTS).contains(&parts);
            self.range(text.span(), "parts", fits, "from 1 to 32")?;
        }
        let sender = SenderConfig {
            carry,
            ecn: self.video_ecn(raw, &controller, feedback_format)?,
            policy: self.pacer(raw, limits)?,
            bounds,
            retransmission_deadline: raw.retransmission_deadline.as_ref().map_or(
                SenderConfig::default().retransmission_deadline,
                |deadline| RetransmissionDeadline::Age(*deadline.get_ref()),
            ),
            protection: self.protection(raw, packet_size + overhead)?,
            ..SenderConfig::default()
        };
        Ok(VideoConfig {
            controller,
            outside,
            params,
            limits,
            fps,
            frame_drift: billionths(drift),
            phase: raw.phase.as_ref().map(|phase| *phase.get_ref()),
            encoder: self.encoder(raw, fps)?,
            less_headers: value(raw.less_headers.as_ref(), false),
            scale: self.frame_scale(raw)?,
            content: value(raw.content_bitrate.as_ref(), Rate::MAX),
            encode_time: value(raw.encode_time.as_ref(), TimeDelta::ZERO),
            parts,
            packet_size,
            overhead,
            sender,
            asks_for_ecn: Self::asks_for_ecn(raw, feedback_format),
            deadline: self.deadline(raw)?,
            feedback,
            feedback_format,
            feedback_repeat: repeat,
            reverse,
            aggregation: value(link.return_aggregation.as_ref(), TimeDelta::ZERO),
            clock: self.clock(raw)?,
        })
    }

    pub(super) fn limits(&self, raw: &raw::Flow) -> Read<Limits> {
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

    /// What makes the controller of a flow; `None` if the controller is part of the program. The
    /// maker has made one with these parameters already.
    fn outside(
        &mut self,
        raw: &raw::Flow,
        params: &toml::Table,
        limits: Limits,
    ) -> Read<Option<Arc<dyn Maker>>> {
        let Some(given) = &raw.controller else {
            return Ok(None);
        };
        let Some(name) = OutsideName::of(given.get_ref()) else {
            return Ok(None);
        };
        let maker = self.files.outside(name).and_then(|maker| {
            maker.check(params, limits)?;
            Ok(maker)
        });
        maker
            .map(Some)
            .map_err(|why| self.error(given.span(), Problem::Outside(why)))
    }

    /// The name of a flow's controller and its parameters, which are checked if the controller is
    /// part of the program.
    pub(super) fn controller(
        &self,
        raw: &raw::Flow,
        limits: Limits,
    ) -> Read<(String, toml::Table)> {
        let name = raw
            .controller
            .as_ref()
            .map_or("pudica", |name| name.get_ref());
        let none = raw::Params::new();
        let given = raw.params.as_ref().map_or(&none, Spanned::get_ref);
        let table = |keys: &mut dyn Iterator<Item = (&Spanned<String>, &Spanned<toml::Value>)>| {
            keys.map(|(key, value)| (key.get_ref().clone(), value.get_ref().clone()))
                .collect::<toml::Table>()
        };
        let build = |params: toml::Table| build(name, params, limits).map(drop);
        let params = table(&mut given.iter());
        if OutsideName::of(name).is_some() {
            return Ok((name.to_owned(), params));
        }
        if let Err(error) = build(params.clone()) {
            // The error is at the first parameter that fails alone.
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

    pub(super) fn encoder(&mut self, raw: &raw::Flow, fps: u32) -> Read<EncoderModel> {
        let exclusive = |reader: &Self, at, one, other| {
            Err(reader.error(at, KeyProblem::Exclusive { one, other }))
        };
        let is_abr = raw
            .encoder
            .as_ref()
            .is_some_and(|name| name.get_ref() == "abr");
        if is_abr && raw.frame_sizes.is_none() {
            return self.abr(raw, fps);
        }
        let of_abr = [
            (
                "frame_correlation",
                raw.frame_correlation.as_ref().map(Spanned::span),
            ),
            ("pay_back", raw.pay_back.as_ref().map(Spanned::span)),
        ];
        for (key, at) in of_abr {
            if let Some(at) = at {
                self.range(at, key, false, "absent without `encoder = \"abr\"`")?;
            }
        }
        match (&raw.encoder, &raw.frame_noise, &raw.frame_sizes) {
            (None, None, None) => Ok(EncoderModel::Perfect),
            (None, Some(noise), None) => Ok(EncoderModel::LogNormal(self.frame_noise(noise)?)),
            (None, None, Some(path)) => self.frame_sizes(path),
            (Some(name), None, None) => match name.get_ref().as_str() {
                "perfect" => Ok(EncoderModel::Perfect),
                // RFC 8593, table 1.
                "rfc8593" => Ok(EncoderModel::Laplace(0.15)),
                "x264" => Ok(EncoderModel::X264),
                other => {
                    let problem = KeyProblem::UnknownName {
                        what: "encoder",
                        name: other.to_owned(),
                        known: "perfect, rfc8593, x264, abr (and the keys `frame_noise`, `frame_sizes`)"
                            .to_owned(),
                    };
                    Err(self.error(name.span(), problem))
                }
            },
            (Some(_), Some(at), _) => exclusive(self, at.span(), "encoder", "frame_noise"),
            (_, Some(_), Some(at)) => exclusive(self, at.span(), "frame_noise", "frame_sizes"),
            (Some(_), None, Some(at)) => exclusive(self, at.span(), "encoder", "frame_sizes"),
        }
    }

    fn frame_noise(&self, noise: &Spanned<f64>) -> Read<f64> {
        let cv = *noise.get_ref();
        let must = "a coefficient of variation between 0 and 3";
        self.range(noise.span(), "frame_noise", (0.0..=3.0).contains(&cv), must)?;
        Ok(cv)
    }

    /// Reads the keys of an encoder that keeps an average bitrate.
    fn abr(&self, raw: &raw::Flow, fps: u32) -> Read<EncoderModel> {
        let noise = raw.frame_noise.as_ref();
        let variation = noise.map_or(Ok(0.0), |noise| self.frame_noise(noise))?;
        let correlation = value(raw.frame_correlation.as_ref(), 0.0);
        if let Some(text) = &raw.frame_correlation {
            let valid = (0.0..1.0).contains(&correlation);
            self.range(text.span(), "frame_correlation", valid, "from 0 to below 1")?;
        }
        let pay_back = value(raw.pay_back.as_ref(), PAY_BACK);
        if let Some(text) = &raw.pay_back {
            let valid = pay_back > TimeDelta::ZERO && pay_back <= LONGEST_PAY_BACK;
            self.range(text.span(), "pay_back", valid, "above zero and at most 1 h")?;
        }
        Ok(EncoderModel::Abr(Abr {
            variation,
            correlation,
            pay_back: pay_back.as_secs() * f64::from(fps),
        }))
    }

    pub(super) fn frame_sizes(&mut self, path: &Spanned<String>) -> Read<EncoderModel> {
        let text = self.read(path)?;
        let mut sizes = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let size = line
                .parse()
                .ok()
                .filter(|size| *size > 0 && *size < 1 << 32);
            sizes.push(Bytes::new(size.ok_or_else(|| ScenarioError {
                place: self.beside(path.get_ref(), index + 1),
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
}

/// How a connection uses ECN if the flow states `ecn` for its packets; `None`
/// when the algorithm cannot use that field.
pub(super) fn ecn_use(algorithm: Algorithm, ecn: Option<Ecn>) -> Option<EcnUse> {
    let own = algorithm.ecn();
    let is_off = ecn == Some(Ecn::NotEct)
        // As in Linux, algorithms that depend on marks use ECN by default, the
        // others only when told to.
        || (ecn.is_none() && matches!(own, EcnUse::Classic | EcnUse::Off));
    if is_off {
        return Some(EcnUse::Off);
    }
    let needed = match own {
        EcnUse::Classic | EcnUse::Dctcp => Ecn::Ect0,
        EcnUse::L4s => Ecn::Ect1,
        EcnUse::Off => return None,
    };
    (ecn.is_none_or(|ecn| ecn == needed)).then_some(own)
}
