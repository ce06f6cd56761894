//! Whole runs of the simulator: each controller, queue and feature over simulated networks.
//! One program for all of them, so that the simulator is linked once.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod ace_n;
mod bbr_app;
mod bbr_video;
mod both_directions;
mod both_ways;
mod c3g;
mod c3g_tables;
mod common;
mod competition;
mod conditions;
mod copa;
mod determinism;
mod ecn;
mod ecn_tables;
mod feedback;
mod foreign;
mod gcc;
mod l4s;
mod line;
mod links_in_a_row;
mod media;
mod mimosa;
mod must_show;
mod nada;
mod network;
mod oracle;
mod pages;
mod parts;
mod prague_video;
mod protection;
mod pudica_readings;
mod queues;
mod robustness;
mod salsify;
mod scream;
mod scream_origins;
mod sqp;
mod tcp;
mod turns;
