//! Congestion control feedback (RFC 8888): reports on which packets of each stream arrived, when,
//! and with which ECN field.
//!
//! The RTCP packet is [`CongestionFeedback`] (section 3.1); [`ReportClock`] puts its times
//! on one clock. [`Coverage`] tells lost reports from lost packets.
//!
//! ```
//! use mimosa_units::{Ecn, PeerTime};
//! use mimosa_rtp::congestion_control::{
//!     CongestionFeedback, Metric, ReportClock, ReportTime, StreamReport,
//! };
//! use mimosa_rtp::rtcp;
//!
//! let second = |seconds: i64| PeerTime::from_nanos(seconds * 1_000_000_000);
//! let now = ReportTime::not_before(second(3));
//! let metrics = vec![Some(Metric::of(second(2), Ecn::Ce, now)), None];
//! let stream = StreamReport::new(7, 65_535, metrics)?;
//! let packets = CongestionFeedback::packets(1, now, [stream], 1_200);
//!
//! let bytes = packets[0].to_bytes();
//! let packet = rtcp::packets(&bytes).next().unwrap()?;
//! let read = CongestionFeedback::parse(&packet)?;
//! let mut clock = ReportClock::new();
//! let statuses: Vec<_> = clock.statuses(&read).collect();
//! let arrival = statuses[0].arrival.unwrap();
//! assert_eq!((statuses[0].sequence, arrival.at, arrival.ecn), (65_535, Some(second(2)), Ecn::Ce));
//! assert_eq!((statuses[1].sequence, statuses[1].arrival), (0, None));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clock;
mod coverage;
mod error;
mod feedback;
mod metric;

pub use clock::{Arrived, ReportClock, Status};
pub use coverage::{Coverage, Joint};
pub use error::CongestionError;
pub use feedback::{CongestionFeedback, StreamReport};
pub use metric::{ArrivalOffset, Metric, ReportTime};
