//! Reads the links beside `[link]` (`[[link.next]]`, `[link.reverse]`), and which links a
//! flow passes.

use mimosa_net::medium::MediumConfig;
use mimosa_net::queue::{Classes, DropTailConfig, QueueConfig};
use mimosa_net::{KeyProblem, Schedule, Table};
use mimosa_units::{Bytes, Rate};
use toml::Spanned;

use super::parse::{Read, Reader, value};
use super::queue::Place;
use super::{FlowConfig, FlowKind, LinkConfig, Route, raw};

/// The most links in a row, `[link]` included.
const MOST_LINKS: usize = 100;
/// Size of a report about one packet, or of an acknowledgement, with all headers. A queue
/// that reports pass must be able to hold it.
const SMALL_REPORT: Bytes = Bytes::new(72);

impl Reader<'_> {
    /// Reads which links a flow's data and reports pass.
    pub(super) fn route(&self, raw: &raw::Flow, link: &raw::Link) -> Read<Route> {
        let links = 1 + next_links(link).len();
        let enters = value(raw.enters.as_ref(), 1);
        let leaves = value(raw.leaves.as_ref(), links);
        let must = "the number of a link: 1 is `[link]`, 2 the first `[[link.next]]`; and `enters` at most `leaves`";
        for (key, given) in [("enters", &raw.enters), ("leaves", &raw.leaves)] {
            if let Some(given) = given {
                let valid = (1..=links).contains(given.get_ref()) && enters <= leaves;
                self.range(given.span(), key, valid, must)?;
            }
        }
        let there = (enters - 1..leaves).collect();
        let back = if has_way_back(link) {
            vec![links]
        } else {
            Vec::new()
        };
        Ok(if self.goes_back(raw, link)? {
            Route {
                data: back,
                reports: there,
            }
        } else {
            Route {
                data: there,
                reports: back,
            }
        })
    }

    /// Reads `direction`: whether a flow's data go over `[link.reverse]`.
    pub(super) fn goes_back(&self, raw: &raw::Flow, link: &raw::Link) -> Read<bool> {
        let Some(direction) = &raw.direction else {
            return Ok(false);
        };
        let problem = match direction.get_ref().as_str() {
            "there" => return Ok(false),
            "back" if has_way_back(link) => return Ok(true),
            "back" => KeyProblem::Missing {
                key: "[link.reverse]",
                mend: "`direction = \"back\"` needs it; add it, with e.g. `rate = \"2Mbit/s\"`",
            },
            name => KeyProblem::UnknownName {
                what: "direction",
                name: name.to_owned(),
                known: "there, back".to_owned(),
            },
        };
        Err(self.error(direction.span(), problem))
    }

    /// Refuses the keys that `[link.reverse]` cannot have, and those that `link` cannot have
    /// beside it.
    pub(super) fn check_reverse(
        &self,
        link: &raw::Link,
        reverse: &Spanned<Box<raw::Link>>,
    ) -> Read<()> {
        let own = reverse.get_ref().as_ref();
        let nested = own.reverse.as_ref().map(|own| ("reverse", own.span()));
        let nested = nested.or_else(|| own.next.as_ref().map(|next| ("next", next.span())));
        if let Some((key, at)) = own.return_key().or(nested) {
            let kind = "`[link.reverse]`, which is the way back itself";
            return Err(self.error(at, KeyProblem::KeyNotFor { key, kind }));
        }
        if let Some(medium) = &own.medium {
            let (key, kind) = (
                "medium",
                "`[link.reverse]`; say it of `[link]`, which shares it",
            );
            return Err(self.error(medium.span(), KeyProblem::KeyNotFor { key, kind }));
        }
        let shares = || media(link).next().is_some();
        if let Some((key, at)) = own.rate_key().filter(|_| shares()) {
            let kind = "`[link.reverse]` beside a `medium`, which serves both ways";
            return Err(self.error(at, KeyProblem::KeyNotFor { key, kind }));
        }
        if let Some((one, _)) = link.return_key().filter(|(key, _)| *key != "return_delay") {
            let other = "[link.reverse]";
            return Err(self.error(reverse.span(), KeyProblem::Exclusive { one, other }));
        }
        Ok(())
    }

    /// Reads the schedule of `[link.reverse]`; without a rate it has [`Rate::MAX`].
    pub(super) fn reverse_schedule(&mut self, reverse: &Spanned<Box<raw::Link>>) -> Read<Schedule> {
        let own = reverse.get_ref();
        let has_rate = own.rate.is_some() || own.steps.is_some() || own.trace.is_some();
        if has_rate {
            self.schedule(own, reverse.span())
        } else {
            Ok(Schedule::constant(Rate::MAX))
        }
    }

    /// Reads the links after `[link]`, and the link of the return path.
    pub(super) fn other_links(
        &mut self,
        link: &raw::Link,
        flows: &[FlowConfig],
        first: &LinkConfig,
    ) -> Read<(Vec<LinkConfig>, Option<LinkConfig>)> {
        let mut next = Vec::new();
        let names: Vec<_> = flows.iter().map(|flow| flow.name.clone()).collect();
        for (number, raw) in (1..).zip(next_links(link)) {
            let kind = "`[[link.next]]`, which has a rate and a queue; say it of `[link]`";
            if let Some((key, at)) = raw.get_ref().path_key() {
                return Err(self.error(at, KeyProblem::KeyNotFor { key, kind }));
            }
            let queue = self.plain_queue(raw.get_ref(), number, flows)?;
            next.push(self.service(raw.get_ref(), raw.span(), queue, &names)?);
        }
        if let Some(second) = media(link).nth(1) {
            let (key, kind) = (
                "medium",
                "a second link; one medium serves one way there and back",
            );
            return Err(self.error(second.span(), KeyProblem::KeyNotFor { key, kind }));
        }
        if let Some(given) = &link.next {
            let must = "at most 99 tables";
            self.range(given.span(), "next", next.len() < MOST_LINKS, must)?;
        }
        let reverse = match &link.reverse {
            // A medium serves the way back as well.
            None => carried(first, &next).map(|medium| LinkConfig {
                schedule: Schedule::constant(medium.capacity()),
                queue: QueueConfig::DropTail(DropTailConfig::default()),
                tick: None,
                medium: None,
            }),
            Some(raw) => {
                self.check_reverse(link, raw)?;
                Some(LinkConfig {
                    schedule: self.reverse_schedule(raw)?,
                    queue: self.plain_queue(raw.get_ref(), 1 + next.len(), flows)?,
                    tick: self.tick(raw.get_ref())?,
                    medium: None,
                })
            }
        };
        Ok((next, reverse))
    }

    /// Reads the queue of the link with this number, which cannot have classes.
    fn plain_queue(
        &self,
        link: &raw::Link,
        number: usize,
        flows: &[FlowConfig],
    ) -> Read<super::QueueConfig> {
        let kind = "a simulation but in `[link]`";
        if let Some(class) = &link.class {
            let key = "class";
            return Err(self.error(class.span(), KeyProblem::KeyNotFor { key, kind }));
        }
        let place = Place {
            link,
            largest: largest_packet(flows, number),
            flows: &[],
        };
        self.queue_with(&place, Classes::NotFor(kind))
    }
}

/// The medium of one of these links; `None` if all are serialisers.
fn carried<'a>(first: &'a LinkConfig, next: &'a [LinkConfig]) -> Option<&'a MediumConfig> {
    let mut links = std::iter::once(first).chain(next);
    links.find_map(|link| link.medium.as_ref())
}

/// The tables of media: that of `[link]`, and those of the links after it.
fn media(link: &raw::Link) -> impl Iterator<Item = &Spanned<Table>> {
    let next = next_links(link).iter().map(Spanned::get_ref);
    let links = std::iter::once(link).chain(next);
    links.filter_map(|link| link.medium.as_ref())
}

/// Whether there is a link of the return path: a table of its own, or a medium.
fn has_way_back(link: &raw::Link) -> bool {
    link.reverse.is_some() || media(link).next().is_some()
}

fn next_links(link: &raw::Link) -> &[Spanned<raw::Link>] {
    link.next.as_ref().map_or(&[], |next| next.get_ref())
}

/// Size of the largest packet that is certain to come to the link with the number `link`;
/// zero if no flow passes it.
pub(super) fn largest_packet(flows: &[FlowConfig], link: usize) -> Bytes {
    let of = |flow: &FlowConfig| {
        if flow.route.data.contains(&link) {
            match &flow.kind {
                FlowKind::Video(video) => video.packet_size + video.overhead,
                FlowKind::Cbr(cbr) => cbr.packet_size,
                FlowKind::Tcp(tcp) => tcp.packet_size + tcp.overhead,
            }
        } else if flow.route.reports.contains(&link) {
            SMALL_REPORT
        } else {
            Bytes::ZERO
        }
    };
    flows.iter().map(of).max().unwrap_or(Bytes::ZERO)
}
