//! A tree of classes: `[[link.class]]`.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use mimosa_facts::Header;
use mimosa_net::queue::{ClassConfig, ClassId, Filter, HtbConfig, Prefix};
use mimosa_units::Ecn;
use toml::Spanned;

use super::error::Problem;
use super::parse::{Read, Reader};
use super::queue::{MOST_PACKETS, QueueConfig, Surroundings, or};
use super::raw;

impl Reader<'_> {
    pub(super) fn htb(
        &self,
        raw: &raw::Queue,
        at: Range<usize>,
        around: &Surroundings<'_>,
    ) -> Read<QueueConfig> {
        let Some(classes) = &around.link.class else {
            let problem = Problem::Missing {
                key: "class",
                mend: "add `[[link.class]]` tables, each with a `name` and a `rate`",
            };
            return Err(self.error(at, problem));
        };
        let classes = classes.get_ref();
        let mut ids = BTreeMap::new();
        for (id, class) in (1..).map(ClassId).zip(classes) {
            let name = class.get_ref().name.get_ref();
            self.name(&class.get_ref().name)?;
            if ids.insert(name.as_str(), id).is_some() {
                let problem = Problem::NameTaken { name: name.clone() };
                return Err(self.error(class.get_ref().name.span(), problem));
            }
        }
        let named = |name: &Spanned<String>| {
            ids.get(name.get_ref().as_str()).copied().ok_or_else(|| {
                let problem = Problem::UnknownClass {
                    name: name.get_ref().clone(),
                    known: ids.keys().copied().collect::<Vec<_>>().join(", "),
                };
                self.error(name.span(), problem)
            })
        };
        let default = HtbConfig::default();
        let mut config = HtbConfig {
            default: raw.default.as_ref().map(named).transpose()?,
            r2q: self.number("r2q", raw.r2q.as_ref(), default.r2q, 1..=1_000_000)?,
            direct_limit: self.number(
                "direct_limit",
                raw.direct_limit.as_ref(),
                default.direct_limit,
                0..=MOST_PACKETS,
            )?,
            ..default
        };
        let mut queues = BTreeMap::new();
        for (id, class) in (1..).map(ClassId).zip(classes) {
            let class = class.get_ref();
            let parent = class.parent.as_ref().map(named).transpose()?;
            let plain = ClassConfig::new(id, parent, *class.rate.get_ref());
            config.classes.push(ClassConfig {
                ceil: or(class.ceil.as_ref(), plain.ceil),
                burst: or(class.burst.as_ref(), plain.burst),
                cburst: or(class.cburst.as_ref(), plain.cburst),
                priority: or(class.priority.as_ref(), plain.priority),
                quantum: class.quantum.as_ref().map(|value| *value.get_ref()),
                ..plain
            });
            for flow in class.flows.iter().flatten() {
                config.filters.push((self.of_flow(flow, around.flows)?, id));
            }
            for filter in class.filters.iter().flatten() {
                config.filters.push((self.filter(filter)?, id));
            }
            if let Some(queue) = &class.queue {
                if queue.get_ref().kind.get_ref() == "htb" {
                    let problem = Problem::KeyNotFor {
                        key: "kind = \"htb\"",
                        kind: "a class; give classes a `parent` instead",
                    };
                    return Err(self.error(queue.span(), problem));
                }
                let queue = self.one_queue(queue.get_ref(), queue.span(), around)?;
                queues.insert(id, queue);
            }
        }
        let by_id: BTreeMap<_, _> = ids.iter().map(|(name, id)| (*id, *name)).collect();
        let refused = |error: mimosa_net::queue::HtbError| {
            let text = error.to_string();
            // The file knows classes by name.
            let text = by_id.iter().rev().fold(text, |text, (id, name)| {
                text.replace(&id.to_string(), &format!("class `{name}`"))
            });
            self.error(at.clone(), Problem::Classes(text))
        };
        config.check().map_err(refused)?;
        for id in queues.keys() {
            config.check_leaf(*id).map_err(refused)?;
        }
        let lanes = classes.iter().map(|class| class.get_ref().name.get_ref());
        let lanes = std::iter::once("direct".to_owned()).chain(lanes.cloned());
        Ok(QueueConfig::Htb(config, queues, lanes.collect()))
    }

    /// What tells a simulated flow from the others.
    fn of_flow(&self, flow: &Spanned<String>, flows: &[String]) -> Read<Filter> {
        let index = flows.iter().position(|name| name == flow.get_ref());
        let Some(index) = index.and_then(|index| u32::try_from(index).ok()) else {
            let problem = Problem::UnknownFlow {
                name: flow.get_ref().clone(),
                known: flows.join(", "),
            };
            return Err(self.error(flow.span(), problem));
        };
        let header = Header::of_flow(index, Header::UDP, 0);
        Ok(Filter {
            source: Some(Prefix::host(header.source)),
            ..Filter::default()
        })
    }

    fn filter(&self, raw: &Spanned<raw::Filter>) -> Read<Filter> {
        let at = raw.span();
        let raw = raw.get_ref();
        let bad = |key, must| self.error(at.clone(), Problem::OutOfRange { key, must });
        let prefix = |key, text: Option<&String>| match text {
            None => Ok(None),
            Some(text) => {
                let must =
                    "an address, or the first of a network with its length, e.g. \"10.0.0.0/8\"";
                read_prefix(text).map(Some).ok_or_else(|| bad(key, must))
            }
        };
        let ports = |key, text: Option<&String>| match text {
            None => Ok(None),
            Some(text) => {
                let must = "a port or a range of them, e.g. \"5000\" or \"5000-5100\"";
                read_ports(text).map(Some).ok_or_else(|| bad(key, must))
            }
        };
        let protocol = match raw.protocol.as_deref() {
            None => None,
            Some("tcp") => Some(Header::TCP),
            Some("udp") => Some(Header::UDP),
            Some(number) => {
                let must = "\"tcp\", \"udp\", or a number from 0 to 255";
                Some(number.parse().map_err(|_| bad("protocol", must))?)
            }
        };
        let ecn = match raw.ecn.as_deref() {
            None => None,
            Some(name) => {
                let must = "\"not-ect\", \"ect0\", \"ect1\" or \"ce\"";
                Some(read_ecn(name).ok_or_else(|| bad("ecn", must))?)
            }
        };
        if raw.dscp.is_some_and(|dscp| dscp > 63) {
            return Err(bad("dscp", "a number from 0 to 63"));
        }
        Ok(Filter {
            source: prefix("source", raw.source.as_ref())?,
            destination: prefix("destination", raw.destination.as_ref())?,
            protocol,
            source_ports: ports("source_ports", raw.source_ports.as_ref())?,
            destination_ports: ports("destination_ports", raw.destination_ports.as_ref())?,
            dscp: raw.dscp,
            ecn,
        })
    }
}

fn read_prefix(text: &str) -> Option<Prefix> {
    match text.split_once('/') {
        None => Some(Prefix::host(text.parse().ok()?)),
        Some((address, length)) => Prefix::new(address.parse().ok()?, length.parse().ok()?),
    }
}

fn read_ports(text: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = first.trim().parse().ok()?..=last.trim().parse().ok()?;
    (!range.is_empty()).then_some(range)
}

/// An ECN field by its name.
pub(super) fn read_ecn(name: &str) -> Option<Ecn> {
    match name {
        "not-ect" => Some(Ecn::NotEct),
        "ect0" => Some(Ecn::Ect0),
        "ect1" => Some(Ecn::Ect1),
        "ce" => Some(Ecn::Ce),
        _ => None,
    }
}
