//! Reads the tree of classes in a file: the keys of the queue itself, and `[[link.class]]`.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::RangeInclusive;

use mimosa_facts::Header;
use mimosa_units::{Ecn, Rate};
use toml::Spanned;

use super::{ClassConfig, ClassId, Filter, Htb, HtbConfig, HtbError, Prefix};
use crate::keys::{KeyError, KeyProblem, Keys, MOST_PACKETS, Read, Table};
use crate::packet::Packet;
use crate::queue::{Classes, Discipline, DropTail, Limit, Queue, QueueConfig, Surroundings};

/// The configuration of a tree of classes, with the queues of some of them.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassesConfig {
    /// The classes and the filters.
    pub tree: HtbConfig,
    /// Queues of leaves; a leaf without one has a drop-tail queue.
    pub queues: BTreeMap<ClassId, QueueConfig>,
    /// Names of the queues within this one; the first is that of packets without a class.
    pub names: Vec<String>,
}

impl Discipline for ClassesConfig {
    const NAME: &'static str = "htb";

    fn read(keys: &mut Keys<'_>, around: &Surroundings<'_>) -> Read<Self> {
        let tables = match around.classes {
            Classes::Given(tables) => tables,
            Classes::None => {
                let mend = "add `[[link.class]]` tables, each with a `name` and a `rate`";
                return Err(keys.error(KeyProblem::Missing { key: "class", mend }));
            }
            Classes::NotFor(kind) => {
                let key = "kind = \"htb\"";
                return Err(keys.error(KeyProblem::KeyNotFor { key, kind }));
            }
        };
        let (classes, names) = named_classes(tables)?;
        let default = HtbConfig::default();
        let mut read = Self {
            tree: HtbConfig {
                default: names.of(keys, "default")?,
                r2q: keys.number("r2q", default.r2q, 1..=1_000_000)?,
                direct_limit: keys.number(
                    "direct_limit",
                    default.direct_limit,
                    0..=MOST_PACKETS,
                )?,
                ..default
            },
            queues: BTreeMap::new(),
            names: std::iter::once("direct")
                .chain(names.in_order())
                .map(str::to_owned)
                .collect(),
        };
        for (id, class) in classes {
            read.add(id, class, &names, around)?;
        }
        let refused = |error| keys.error(KeyProblem::Classes(names.in_words(&error)));
        read.tree.check().map_err(refused)?;
        for id in read.queues.keys() {
            read.tree.check_leaf(*id).map_err(refused)?;
        }
        Ok(read)
    }

    fn build<P: Packet + Debug + Send + 'static>(&self, seed: u64) -> Box<dyn Queue<P>> {
        let queues = self.queues.iter();
        let queues = queues.map(|(class, queue)| (*class, queue.build(seed)));
        match Htb::new(&self.tree, queues.collect()) {
            Ok(htb) => Box::new(htb),
            // This does not happen to a tree that was read, since reading has checked
            // it; an invalid tree shapes nothing.
            Err(_) => Box::new(DropTail::new(Limit::Packets(self.tree.direct_limit))),
        }
    }

    fn lanes(&self) -> Vec<String> {
        self.names.clone()
    }
}

/// The numbers of a file's classes, by their names.
struct Names(BTreeMap<String, ClassId>);

impl Names {
    /// Reads the class that `key` names; `None` if the key is not given.
    fn of(&self, keys: &mut Keys<'_>, key: &'static str) -> Read<Option<ClassId>> {
        let Some(name) = keys.given::<String>(key)? else {
            return Ok(None);
        };
        match self.0.get(&name) {
            Some(id) => Ok(Some(*id)),
            None => Err(keys.unknown(key, "class", name, self.0.keys().map(String::as_str))),
        }
    }

    /// The names of the classes, in the order of the file.
    fn in_order(&self) -> impl Iterator<Item = &str> {
        self.by_id().into_values()
    }

    fn by_id(&self) -> BTreeMap<ClassId, &str> {
        self.0
            .iter()
            .map(|(name, id)| (*id, name.as_str()))
            .collect()
    }

    /// The message of `error`, with the names of the classes in place of their numbers.
    fn in_words(&self, error: &HtbError) -> String {
        let by_id = self.by_id();
        by_id
            .iter()
            .rev()
            .fold(error.to_string(), |text, (id, name)| {
                text.replace(&id.to_string(), &format!("class `{name}`"))
            })
    }
}

/// The number and the keys of each class, with the name already read, and the names of all classes.
fn named_classes(tables: &[Spanned<Table>]) -> Read<(Vec<(ClassId, Keys<'_>)>, Names)> {
    let mut names = BTreeMap::new();
    let mut classes = Vec::new();
    for (id, table) in (1..).map(ClassId).zip(tables) {
        let mut keys = Keys::new(table.get_ref(), table.span());
        let name: String = keys.field("name")?;
        KeyProblem::check_name(&name).map_err(|problem| keys.error_at("name", problem))?;
        if names.insert(name.clone(), id).is_some() {
            return Err(keys.error_at("name", KeyProblem::NameTaken { name }));
        }
        classes.push((id, keys));
    }
    Ok((classes, Names(names)))
}

impl ClassesConfig {
    /// Reads the class with number `id`, and adds it to the tree.
    fn add(
        &mut self,
        id: ClassId,
        mut keys: Keys<'_>,
        names: &Names,
        around: &Surroundings<'_>,
    ) -> Read<()> {
        let parent = names.of(&mut keys, "parent")?;
        let rate: Rate = keys.field("rate")?;
        let plain = ClassConfig::new(id, parent, rate);
        self.tree.classes.push(ClassConfig {
            ceil: keys.or("ceil", plain.ceil)?,
            burst: keys.or("burst", plain.burst)?,
            cburst: keys.or("cburst", plain.cburst)?,
            priority: keys.or("priority", plain.priority)?,
            quantum: keys.given("quantum")?,
            ..plain
        });
        let within = Surroundings {
            classes: Classes::NotFor("a class; give classes a `parent` instead"),
            ..*around
        };
        let queue = keys.queue("queue", &within)?;
        self.queues.extend(queue.map(|queue| (id, queue)));
        for flow in keys.texts("flows")? {
            self.tree.filters.push((of_flow(&flow, around.flows)?, id));
        }
        for filter in keys.tables("match")? {
            self.tree.filters.push((read_filter(filter)?, id));
        }
        keys.finish()
    }
}

/// The filter that matches the packets of a simulated flow; `flows` are the names of all flows.
fn of_flow(flow: &Spanned<String>, flows: &[String]) -> Read<Filter> {
    let index = flows.iter().position(|name| name == flow.get_ref());
    let Some(index) = index.and_then(|index| u32::try_from(index).ok()) else {
        let problem = KeyProblem::UnknownName {
            what: "flow",
            name: flow.get_ref().clone(),
            known: flows.join(", "),
        };
        let at = flow.span();
        return Err(KeyError { at, problem });
    };
    let header = Header::of_flow(index, Header::UDP, 0);
    Ok(Filter {
        source: Some(Prefix::host(header.source)),
        ..Filter::default()
    })
}

/// Reads an entry of a class's `match`.
fn read_filter(mut keys: Keys<'_>) -> Read<Filter> {
    let prefix = "an address, or the first of a network with its length, e.g. \"10.0.0.0/8\"";
    let ports = "a port or a range of them, e.g. \"5000\" or \"5000-5100\"";
    let protocol = "\"tcp\", \"udp\", or a number from 0 to 255";
    let ecn = "\"not-ect\", \"ect0\", \"ect1\" or \"ce\"";
    let filter = Filter {
        source: keys.parsed("source", read_prefix, prefix)?,
        destination: keys.parsed("destination", read_prefix, prefix)?,
        protocol: keys.parsed("protocol", read_protocol, protocol)?,
        source_ports: keys.parsed("source_ports", read_ports, ports)?,
        destination_ports: keys.parsed("destination_ports", read_ports, ports)?,
        dscp: keys.valid("dscp", |dscp| *dscp <= 63, "a number from 0 to 63")?,
        ecn: keys.parsed("ecn", Ecn::from_name, ecn)?,
    };
    keys.finish()?;
    Ok(filter)
}

fn read_prefix(text: &str) -> Option<Prefix> {
    match text.split_once('/') {
        None => Some(Prefix::host(text.parse().ok()?)),
        Some((address, length)) => Prefix::new(address.parse().ok()?, length.parse().ok()?),
    }
}

fn read_protocol(text: &str) -> Option<u8> {
    match text {
        "tcp" => Some(Header::TCP),
        "udp" => Some(Header::UDP),
        number => number.parse().ok(),
    }
}

fn read_ports(text: &str) -> Option<RangeInclusive<u16>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = first.trim().parse().ok()?..=last.trim().parse().ok()?;
    (!range.is_empty()).then_some(range)
}
