//! Reads the rate of a link, and the paths of flows: `[link]`.

use std::ops::Range;

use mimosa_net::medium::MediumConfig;
use mimosa_net::queue::QueueConfig;
use mimosa_net::{Jitter, KeyProblem, LossModel, PathConfig, Piece, Reordering, Schedule};
use mimosa_units::{Rate, TimeDelta};
use toml::Spanned;

use super::error::{Problem, ScenarioError};
use super::parse::{Read, Reader, value};
use super::{LinkConfig, raw};

impl Reader<'_> {
    /// Reads what serves a link with this `queue`: a serialiser, or the medium in its place.
    pub(super) fn service(
        &mut self,
        link: &raw::Link,
        at: Range<usize>,
        queue: QueueConfig,
        flows: &[String],
    ) -> Read<LinkConfig> {
        let Some(medium) = &link.medium else {
            return Ok(LinkConfig {
                schedule: self.schedule(link, at)?,
                queue,
                tick: self.tick(link)?,
                medium: None,
            });
        };
        if let Some((key, at)) = link.rate_key() {
            let kind = "a link with a `medium`, which serves packets in its own time";
            return Err(self.error(at, KeyProblem::KeyNotFor { key, kind }));
        }
        let medium = MediumConfig::read(medium, flows).map_err(|error| self.of_key(error))?;
        Ok(LinkConfig {
            schedule: Schedule::constant(medium.capacity()),
            queue,
            tick: None,
            medium: Some(medium),
        })
    }

    /// Reads `tick`: the time between the moments at which a link serves.
    pub(super) fn tick(&self, link: &raw::Link) -> Read<Option<TimeDelta>> {
        let Some(tick) = &link.tick else {
            return Ok(None);
        };
        let range = TimeDelta::from_micros(10)..=TimeDelta::from_millis(1_000);
        let valid = range.contains(tick.get_ref());
        self.range(tick.span(), "tick", valid, "from 10us to 1s")?;
        Ok(Some(*tick.get_ref()))
    }

    pub(super) fn schedule(&mut self, link: &raw::Link, at: Range<usize>) -> Read<Schedule> {
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
            (None, Some(second), Some(_)) => Err(self.error(second.span(), once("several rates"))),
        }
    }

    pub(super) fn steps(&self, steps: &Spanned<Vec<raw::Step>>) -> Read<Schedule> {
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

    pub(super) fn trace(&mut self, path: &Spanned<String>) -> Read<Schedule> {
        let text = self.read(path)?;
        let trace = mimosa_trace::parse(&text).map_err(|error| ScenarioError {
            place: self.beside(path.get_ref(), error.line),
            problem: Problem::Trace(error),
        })?;
        for note in trace.notes {
            let place = self.beside(path.get_ref(), note.line);
            self.notes.push((place, note.text));
        }
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

    /// Reads the path of a flow's data, and that of its reports.
    pub(super) fn paths(
        &self,
        raw: &raw::Flow,
        link: &raw::Link,
    ) -> Read<(PathConfig, PathConfig)> {
        let there = PathConfig {
            delay: value(link.one_way_delay.as_ref(), TimeDelta::from_millis(10)),
            jitter: self.jitter(link.jitter.as_ref())?,
            loss: self.loss(link)?,
            reordering: self.reordering("reordering", link.reordering.as_ref())?,
            remark: self.remark(link)?,
        };
        // The return path has the same delay as the other, unless the file states one for it.
        let return_delay = value(link.return_delay.as_ref(), there.delay);
        let back = if let Some(own) = &link.reverse {
            let own = own.get_ref();
            PathConfig {
                delay: value(own.one_way_delay.as_ref(), return_delay),
                jitter: self.jitter(own.jitter.as_ref())?,
                loss: self.loss(own)?,
                reordering: self.reordering("reordering", own.reordering.as_ref())?,
                remark: self.remark(own)?,
            }
        } else {
            let reordering = link.return_reordering.as_ref();
            PathConfig {
                delay: return_delay,
                jitter: self.jitter(link.return_jitter.as_ref())?,
                loss: LossModel::Random(self.share("return_loss", link.return_loss.as_ref())?),
                reordering: self.reordering("return_reordering", reordering)?,
                remark: None,
            }
        };
        let (mut data, mut reports) = if self.goes_back(raw, link)? {
            (back, there)
        } else {
            (there, back)
        };
        let own = raw.one_way_delay.as_ref();
        data.delay = value(own, data.delay);
        reports.delay = value(raw.return_delay.as_ref().or(own), reports.delay);
        Ok((data, reports))
    }

    pub(super) fn loss(&self, link: &raw::Link) -> Read<LossModel> {
        let random = self.share("loss", link.loss.as_ref())?;
        let Some(burst) = &link.burst_loss else {
            return Ok(LossModel::Random(random));
        };
        if link.loss.is_some() && random > 0.0 {
            let problem = KeyProblem::Exclusive {
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

    fn reordering(
        &self,
        key: &'static str,
        given: Option<&Spanned<raw::Reordering>>,
    ) -> Read<Option<Reordering>> {
        let Some(reordering) = given else {
            return Ok(None);
        };
        let raw::Reordering { share, extra } = *reordering.get_ref();
        let valid = (0.0..=1.0).contains(&share);
        let must = "made of a `share` between 0 and 1 and an `extra` delay";
        self.range(reordering.span(), key, valid, must)?;
        Ok(Some(Reordering { share, extra }))
    }

    pub(super) fn jitter(&self, jitter: Option<&Spanned<raw::Jitter>>) -> Read<Option<Jitter>> {
        let Some(spanned) = jitter else {
            return Ok(None);
        };
        let raw = spanned.get_ref();
        let missing = |key, mend| self.error(spanned.span(), KeyProblem::Missing { key, mend });
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
            "quantiles" => {
                let mend = "a measured jitter has `p50`, `p99`, `p999` and `most`";
                let given = [
                    ("p50", raw.p50),
                    ("p99", raw.p99),
                    ("p999", raw.p999),
                    ("most", raw.most),
                ];
                let mut delays = [TimeDelta::ZERO; 4];
                for (delay, (key, value)) in delays.iter_mut().zip(given) {
                    *delay = value.ok_or_else(|| missing(key, mend))?;
                }
                let must = "at least zero, and each at least the one before it";
                let valid = delays.is_sorted() && delays[0] >= TimeDelta::ZERO;
                self.range(spanned.span(), "p50", valid, must)?;
                Ok(Some(Jitter::Quantiles {
                    p50: delays[0],
                    p99: delays[1],
                    p999: delays[2],
                    most: delays[3],
                }))
            }
            name => Err(self.error(
                raw.kind.span(),
                KeyProblem::UnknownName {
                    what: "jitter",
                    name: name.to_owned(),
                    known: "block, normal, quantiles".to_owned(),
                },
            )),
        }
    }
}
