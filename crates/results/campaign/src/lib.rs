//! Campaigns over real paths, without the paths: the file that describes a campaign, the plan of
//! its sessions, the figures of a session from its raw reports, and the comparison of the arms.
//!
//! This crate only computes. `mimosa campaign` is the driver: it runs the sessions and keeps their
//! files.
//!
//! ```
//! let text = r#"
//! title = "Two controllers at home"
//! [plan]
//! order = "abab"
//! blocks = 2
//! session = "10s"
//! [[machine]]
//! name = "desk"
//! [[path]]
//! name = "loopback"
//! host = "desk"
//! client = "desk"
//! address = "127.0.0.1"
//! [[arm]]
//! name = "pudica"
//! controller = "pudica"
//! [[arm]]
//! name = "mimosa"
//! controller = "mimosa"
//! "#;
//! let campaign = mimosa_campaign::Campaign::parse(text, "campaign.toml")?;
//! let sessions = campaign.sessions();
//! assert_eq!(sessions.len(), 4);
//! assert_eq!(sessions[0].id, "b1-loopback-efficiency-pudica");
//! # Ok::<(), mimosa_campaign::CampaignError>(())
//! ```

mod analysis;
mod check;
mod csv;
mod error;
mod figures;
mod file;
mod plan;
mod reach;
mod row;
mod sheet;

pub use analysis::{Comparison, FEWEST, analyse, tables};
pub use csv::csv;
pub use error::{CampaignError, Problem};
pub use figures::{METRICS, Metric, Raw, RawStream, figures};
pub use file::{Arm, Campaign, Kind, Order, Path, Test};
pub use plan::{Session, Stream};
pub use reach::{Machine, Reach};
pub use row::{Outcome, Row};
pub use sheet::datasheet;
