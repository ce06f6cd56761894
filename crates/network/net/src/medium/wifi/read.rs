//! Reads a Wi-Fi network in a file: `[link.medium]` with `kind = "wifi"`.

use mimosa_facts::Header;
use mimosa_units::TimeDelta;

use super::config::{Signal, Station, WifiConfig};
use super::neighbour::{Load, Neighbour};
use super::standard::Standard;
use crate::keys::{KeyError, KeyProblem, Keys, Read};
use crate::medium::read::{mean, rate, rates};

/// Most neighbours, of all tables together.
const MOST_NEIGHBOURS: usize = 256;
/// Most packets that a radio may hold.
const MOST_HELD: usize = 10_000;

impl WifiConfig {
    /// Reads the keys. `flows` are the names of the scenario's flows.
    pub(in crate::medium) fn read(keys: &mut Keys<'_>, flows: &[String]) -> Read<Self> {
        let standard: Option<Standard> = keys.choice("standard", Standard::NAMED)?;
        let mend = "write `standard = \"n\"`, \"ac\" or \"ax\"";
        let key = "standard";
        let standard = standard.ok_or_else(|| keys.error(KeyProblem::Missing { key, mend }))?;
        let default = Self::new(standard);
        let signal = Signal::read(keys, &default.signal)?;
        let air = |time: &TimeDelta| {
            (TimeDelta::from_micros(100)..=TimeDelta::from_micros(5_484)).contains(time)
        };
        let longest = keys.valid("longest", air, "from 100us to 5.484ms")?;
        let read = Self {
            longest: longest.unwrap_or(default.longest),
            buffer: keys.number("buffer", default.buffer, 1..=MOST_HELD)?,
            capture: keys.share("capture")?.unwrap_or(default.capture),
            beacons: keys.or("beacons", default.beacons)?,
            at_once: keys.or("at_once", default.at_once)?,
            answers_at_once: keys.or("answers_at_once", default.answers_at_once)?,
            carries: rate(keys, "carries")?,
            ..default
        };
        let mut stations: Vec<Station> = Vec::new();
        for table in keys.tables("station")? {
            let station = Station::read(table, &signal, flows, &stations)?;
            stations.push(station);
        }
        let mut neighbours = Vec::new();
        for table in keys.tables("neighbour")? {
            let (count, neighbour) = Neighbour::read(table)?;
            neighbours.extend(std::iter::repeat_n(neighbour, count));
        }
        let must = "at most 256 neighbours in all";
        keys.check("neighbour", neighbours.len() <= MOST_NEIGHBOURS, must)?;
        Ok(Self {
            stations,
            signal,
            neighbours,
            ..read
        })
    }
}

impl Signal {
    /// Reads the keys of a signal; those that are not given have the values of `otherwise`.
    fn read(keys: &mut Keys<'_>, otherwise: &Self) -> Read<Self> {
        let rates = rates(keys, "rates")?;
        Ok(Self {
            rates: rates.unwrap_or_else(|| otherwise.rates.clone()),
            hold: mean(keys, "hold")?.unwrap_or(otherwise.hold),
            failed: keys.share("failed")?.unwrap_or(otherwise.failed),
            lost: keys.share("lost")?.unwrap_or(otherwise.lost),
        })
    }
}

impl Station {
    /// Reads a station. `before` are the stations before it in the file.
    fn read(mut keys: Keys<'_>, signal: &Signal, flows: &[String], before: &[Self]) -> Read<Self> {
        let name: String = keys.field("name")?;
        KeyProblem::check_name(&name).map_err(|problem| keys.error_at("name", problem))?;
        if before.iter().any(|station| station.name == name) {
            return Err(keys.error_at("name", KeyProblem::NameTaken { name }));
        }
        let mut addresses = Vec::new();
        for flow in keys.texts("flows")? {
            let refused = |problem| KeyError {
                at: flow.span(),
                problem,
            };
            let index = flows.iter().position(|name| name == flow.get_ref());
            let Some(index) = index.and_then(|index| u32::try_from(index).ok()) else {
                return Err(refused(KeyProblem::UnknownName {
                    what: "flow",
                    name: flow.get_ref().clone(),
                    known: flows.join(", "),
                }));
            };
            let header = Header::of_flow(index, Header::UDP, 0);
            let taken = before.iter().flat_map(|station| &station.addresses);
            let mut taken = taken.chain(&addresses);
            if taken.any(|address| *address == header.source) {
                let must = "flows of no other station";
                return Err(refused(KeyProblem::OutOfRange { key: "flows", must }));
            }
            addresses.extend([header.source, header.destination]);
        }
        for address in keys.texts("addresses")? {
            let parsed = address.get_ref().parse().map_err(|_| KeyError {
                at: address.span(),
                problem: KeyProblem::OutOfRange {
                    key: "addresses",
                    must: "a list of IP addresses, e.g. [\"10.0.0.2\"]",
                },
            })?;
            addresses.push(parsed);
        }
        let signal = Signal::read(&mut keys, signal)?;
        keys.finish()?;
        Ok(Self {
            name,
            addresses,
            signal,
        })
    }
}

impl Neighbour {
    /// Reads neighbours that are alike, and how many there are.
    fn read(mut keys: Keys<'_>) -> Read<(usize, Self)> {
        let count = keys.number("count", 1, 1..=MOST_NEIGHBOURS)?;
        let sends = rate(&mut keys, "sends")?;
        let (on, off) = (mean(&mut keys, "on")?, mean(&mut keys, "off")?);
        let load = match (sends, on, off) {
            (None, None, None) => Load::Saturated,
            (Some(rate), None, None) => Load::Constant(rate),
            (Some(rate), Some(on), Some(off)) => Load::OnOff { rate, on, off },
            _ => {
                let mend = "a neighbour that pauses has `sends = \"50Mbit/s\"`, `on = \"200ms\"` and `off = \"800ms\"`";
                let key = if sends.is_none() {
                    "sends"
                } else if on.is_none() {
                    "on"
                } else {
                    "off"
                };
                return Err(keys.error(KeyProblem::Missing { key, mend }));
            }
        };
        let rate = rate(&mut keys, "rate")?;
        keys.finish()?;
        Ok((count, Self { load, rate }))
    }
}
