//! BBR version 2: draft-cardwell-iccrg-bbr-congestion-control-02, and Google's
//! alpha for Linux (`tcp_bbr2.c`). The machine is that of [version 3](super::bbr3),
//! which mends it; here is what it mends.
//!
//! *Deviations*: those of version 3, and: the least round trip is remembered
//! for as long as the interval of `ProbeRtt`, five seconds, where the draft
//! remembers ten.

use mimosa_units::TimeDelta;

use crate::window::bbr3::{Probing, Version};

/// The constants of version 2.
pub(crate) const VERSION: Version = Version {
    // 2/ln 2 (draft-02, section 4.3.1.1; version 3 derives 4 ln 2).
    startup_gain: 2.885,
    // The same: `bbr_startup_cwnd_gain`.
    startup_window_gain: 2.885,
    // 1 / 2.885 (draft-02, section 4.3.2).
    drain_gain: 0.347,
    // Three quarters for one phase: `bbr_pacing_gain[BBR_BW_PROBE_DOWN]`.
    down_gain: 0.75,
    // As in all other phases (draft-02, section 4.6.1).
    up_window_gain: 2.0,
    // `bbr_full_loss_cnt`.
    startup_loss_events: 8,
    // `bbr_probe_rtt_win_ms`.
    probe_rtt_interval: TimeDelta::from_millis(5_000),
    probing: Probing::UntilInFlight,
};
