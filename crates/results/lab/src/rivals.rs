//! Pairs of a stream and a rival: one other flow beside it, which several controllers drive in
//! turn.

use std::collections::{BTreeMap, BTreeSet};

use mimosa_cc::window::Algorithm;
use mimosa_scenario::{FlowConfig, FlowKind, QueueConfig, Scenario};
use mimosa_units::Time;

use crate::record::Rival;

/// The names that drive each rival flow, by the name of the flow.
pub(crate) type Rivals = BTreeMap<String, Vec<String>>;

/// A scenario of a stream and one rival.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) scenario: Scenario,
    /// Number of the stream in the scenario.
    pub(crate) stream: usize,
    pub(crate) beside: Beside,
}

/// The rival of a setting.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    /// The rival, as results name it.
    pub(crate) rival: Rival,
    /// Number of the rival's flow in the scenario.
    pub(crate) number: usize,
    pub(crate) is_tcp: bool,
    /// Whether the two flows have the same keys, so that a run of one controller beside another is
    /// as well one of the other beside the one.
    pub(crate) is_mirror: bool,
}

impl Beside {
    /// Name of the rival in tables: some algorithms drive both streams and TCP.
    pub(crate) fn label(&self) -> String {
        let controller = &self.rival.controller;
        if self.is_tcp {
            format!("TCP {controller}")
        } else {
            controller.clone()
        }
    }
}

/// The pairs of a scenario, rival by rival. Of the flows that rivals drive, a pair has one. Each
/// pair comes twice, with the flows' times to begin exchanged in the second scenario, unless these
/// times are equal. `text` is the scenario's file.
pub(crate) fn pairs(scenario: &Scenario, text: &str, rivals: &Rivals) -> Result<Vec<Pair>, String> {
    let keys = keys(text);
    check(scenario, &keys, rivals)?;
    let stream = stream(scenario, &keys, rivals)?;
    let mut pairs = Vec::new();
    for (number, flow) in scenario.flows.iter().enumerate() {
        let Some(names) = rivals.get(&flow.name) else {
            continue;
        };
        let mut both = scenario.clone();
        both.flows
            .retain(|each| each.name == flow.name || !rivals.contains_key(&each.name));
        let place = |name: &str| both.flows.iter().position(|each| each.name == *name);
        let Some((stream_place, rival_place)) = place(&stream.name).zip(place(&flow.name)) else {
            continue;
        };
        let mut orders = vec![(stream.start, flow.start), (flow.start, stream.start)];
        orders.dedup();
        for name in names {
            for (stream_start, rival_start) in &orders {
                let mut scenario = both.clone();
                for (number, flow) in scenario.flows.iter_mut().enumerate() {
                    if number == stream_place {
                        begin(flow, *stream_start)?;
                    } else if number == rival_place {
                        begin(flow, *rival_start)?;
                        if !flow.set_controller(name) {
                            return Err(unknown(flow, name));
                        }
                    }
                }
                pairs.push(Pair {
                    scenario,
                    stream: stream_place,
                    beside: Beside {
                        rival: Rival {
                            flow: flow.name.clone(),
                            controller: name.clone(),
                            is_first: rival_start < stream_start,
                        },
                        number: rival_place,
                        is_tcp: matches!(flow.kind, FlowKind::Tcp(_)),
                        is_mirror: shared(&keys, number) == shared(&keys, stream.number),
                    },
                });
            }
        }
    }
    Ok(pairs)
}

/// The stream of a scenario as it is written.
struct Stream {
    number: usize,
    name: String,
    start: Time,
}

/// Finds the only flow beside the rivals that is not cross traffic: a video flow that names no
/// controller.
fn stream(scenario: &Scenario, keys: &[toml::Table], rivals: &Rivals) -> Result<Stream, String> {
    let flows = scenario.flows.iter().enumerate();
    let mut others = flows.filter(|(_, flow)| {
        !rivals.contains_key(&flow.name) && !matches!(flow.kind, FlowKind::Cbr(_))
    });
    let names_none = |number: usize| {
        keys.get(number)
            .is_some_and(|flow| !flow.contains_key("controller"))
    };
    match (others.next(), others.next()) {
        (Some((number, flow)), None)
            if matches!(flow.kind, FlowKind::Video(_)) && names_none(number) =>
        {
            Ok(Stream {
                number,
                name: flow.name.clone(),
                start: flow.start,
            })
        }
        _ => Err(
            "beside its rivals the scenario needs one video flow, without a `controller`, and \
             nothing else but cross traffic"
                .to_owned(),
        ),
    }
}

/// Checks that rivals can drive the flows that they are to drive.
fn check(scenario: &Scenario, keys: &[toml::Table], rivals: &Rivals) -> Result<(), String> {
    if matches!(scenario.link.queue, QueueConfig::Htb(_)) {
        return Err("rivals cannot meet in a queue of kind `htb`; name another kind".to_owned());
    }
    for (name, drivers) in rivals {
        let mut flows = scenario.flows.iter().zip(keys);
        let Some((flow, keys)) = flows.find(|(flow, _)| flow.name == *name) else {
            let known: Vec<_> = scenario
                .flows
                .iter()
                .map(|flow| flow.name.as_str())
                .collect();
            let known = known.join(", ");
            return Err(format!(
                "there is no flow `{name}` for rivals; there is {known}"
            ));
        };
        let decided: &[&str] = match flow.kind {
            FlowKind::Video(_) => &["controller"],
            FlowKind::Tcp(_) => &["controller", "ecn"],
            FlowKind::Cbr(_) => {
                return Err(format!(
                    "no controller drives the cross traffic `{name}`; name a flow of kind \
                     \"video\" or \"tcp\""
                ));
            }
        };
        if let Some(key) = decided.iter().find(|key| keys.contains_key(**key)) {
            return Err(format!(
                "rivals decide on `{key}` of `{name}`; leave it out"
            ));
        }
        let distinct: BTreeSet<_> = drivers.iter().collect();
        if drivers.is_empty() || distinct.len() < drivers.len() {
            return Err(format!(
                "the rivals of `{name}` are to be one or more names, each once"
            ));
        }
    }
    Ok(())
}

/// The message for a name that is no controller of such a flow.
fn unknown(flow: &FlowConfig, name: &str) -> String {
    let (what, known) = if matches!(flow.kind, FlowKind::Tcp(_)) {
        let all = Algorithm::ALL.iter().map(|algorithm| algorithm.name());
        ("congestion control", all.collect::<Vec<_>>().join(", "))
    } else {
        ("controller", mimosa_cc::NAMES.join(", "))
    };
    format!("there is no {what} `{name}`; there is {known}")
}

/// Has a flow begin at another time.
fn begin(flow: &mut FlowConfig, at: Time) -> Result<(), String> {
    if flow.stop <= at {
        return Err(format!(
            "where the other flow comes first, `{}` stops before it starts; give it a later `stop`",
            flow.name
        ));
    }
    flow.start = at;
    Ok(())
}

/// The keys of each flow in a scenario's file.
fn keys(text: &str) -> Vec<toml::Table> {
    let table: toml::Table = toml::from_str(text).unwrap_or_default();
    let flows = table.get("flow").and_then(toml::Value::as_array);
    let keys = |flow: &toml::Value| flow.as_table().cloned().unwrap_or_default();
    flows.into_iter().flatten().map(keys).collect()
}

/// The keys that both flows of a pair have to share for the pair to be its own mirror image.
fn shared(keys: &[toml::Table], number: usize) -> toml::Table {
    let mut shared = keys.get(number).cloned().unwrap_or_default();
    for own in ["name", "start"] {
        shared.remove(own);
    }
    shared
}
