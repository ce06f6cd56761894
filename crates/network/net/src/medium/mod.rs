//! Media that serve packets in their own time: not one after the other at a rate, but in
//! opportunities that others take as well.
//!
//! A medium carries two links, the one there and the one back, which share its air or its cable.

mod cell;
mod docsis;
mod passed;
mod periods;
mod read;
mod satellite;
#[cfg(test)]
mod testing;
mod wifi;

use std::fmt::Debug;

use mimosa_units::Rate;
use toml::Spanned;

use crate::channel::Channel;
use crate::keys::{KIND, KeyError, Keys, Table};
use crate::packet::Packet;
use crate::queue::QueueConfig;

pub use cell::{Cell, CellConfig, Handovers, Others, Rates, Slot};
pub use docsis::{Docsis, DocsisConfig, OtherModems};
pub use satellite::{Satellite, SatelliteConfig};
pub use wifi::{Load, Neighbour, Signal, Standard, Station, Wifi, WifiConfig};

/// One of the two links of a medium.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Port {
    /// The link there: from the network's side to the stations, the modem or the terminal.
    There,
    /// The link back: from the stations, the modem or the terminal.
    Back,
}

/// A medium and its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum MediumConfig {
    /// Wi-Fi: an access point, stations and neighbours.
    Wifi(WifiConfig),
    /// A cell of LTE or NR: slots, repeats, grants and handovers.
    Cell(CellConfig),
    /// Cable, DOCSIS 3.1: a serialiser there, and requests and grants back.
    Docsis(DocsisConfig),
    /// A satellite in a low orbit: changes of the satellite, and radio frames back.
    Satellite(SatelliteConfig),
}

impl MediumConfig {
    /// The names of all media in files.
    pub const NAMES: &'static [&'static str] = &["wifi", "cell", "docsis", "satellite"];

    /// Reads the medium whose keys are in `table`. `flows` are the names of the scenario's flows.
    ///
    /// # Errors
    ///
    /// [`KeyError`] with the place of the first mistake.
    pub fn read(table: &Spanned<Table>, flows: &[String]) -> Result<Self, KeyError> {
        let keys = Keys::new(table.get_ref(), table.span());
        let (kind, mut keys) = keys.of_kind("medium")?;
        let medium = match kind {
            "cell" => Self::Cell(CellConfig::read(&mut keys)?),
            "docsis" => Self::Docsis(DocsisConfig::read(&mut keys)?),
            "satellite" => Self::Satellite(SatelliteConfig::read(&mut keys)?),
            "wifi" => Self::Wifi(WifiConfig::read(&mut keys, flows)?),
            name => {
                let known = Self::NAMES.iter().copied();
                return Err(keys.unknown(KIND, "medium", name.to_owned(), known));
            }
        };
        keys.finish()?;
        Ok(medium)
    }

    /// The rate that counts as the medium's capacity in figures.
    #[must_use]
    pub fn capacity(&self) -> Rate {
        match self {
            Self::Wifi(wifi) => wifi.capacity(),
            Self::Cell(cell) => cell.capacity(),
            Self::Docsis(cable) => cable.rate,
            Self::Satellite(satellite) => satellite.capacity(),
        }
    }

    /// The medium, with `there` as the queue before it and `back` as that of each station. Random
    /// numbers follow from `seed`.
    #[must_use]
    pub fn build<P: Packet + Debug + Send + 'static>(
        &self,
        there: &QueueConfig,
        back: &QueueConfig,
        seed: u64,
    ) -> Channel<P> {
        match self {
            Self::Wifi(wifi) => Channel::Wifi(Box::new(Wifi::new(wifi.clone(), there, back, seed))),
            Self::Cell(cell) => Channel::Cell(Box::new(Cell::new(cell.clone(), there, back, seed))),
            Self::Docsis(cable) => {
                Channel::Docsis(Box::new(Docsis::new(cable.clone(), there, back, seed)))
            }
            Self::Satellite(satellite) => {
                let satellite = Satellite::new(satellite.clone(), there, back, seed);
                Channel::Satellite(Box::new(satellite))
            }
        }
    }
}
