//! BBR version 2: draft-cardwell-iccrg-bbr-congestion-control-02, and Google's
//! alpha for Linux (`tcp_bbr2.c`). The state machine is that of its successor,
//! [version 3](super::bbr3); this module has what version 3 changed.
//!
//! *Deviations*: those of version 3. Besides, the least round trip is remembered
//! for five seconds, the interval of `ProbeRtt`; the draft remembers it for ten.

use mimosa_units::TimeDelta;

use crate::window::bbr3::{Probing, Version};

/// The constants of BBR version 2, and its rule for the end of a probe.
pub(crate) const VERSION: Version = Version {
    // 2/ln 2 (draft-02, section 4.3.1.1; version 3 derives 4 ln 2).
    startup_gain: 2.885,
    // The gain of the window is the same: `bbr_startup_cwnd_gain`.
    startup_window_gain: 2.885,
    // 1 / 2.885 (draft-02, section 4.3.2).
    drain_gain: 0.347,
    // Three quarters in this phase: `bbr_pacing_gain[BBR_BW_PROBE_DOWN]`.
    down_gain: 0.75,
    // The gain of the other phases of probing, too (draft-02, section 4.6.1).
    up_window_gain: 2.0,
    // `bbr_full_loss_cnt`.
    startup_loss_events: 8,
    // `bbr_probe_rtt_win_ms`.
    probe_rtt_interval: TimeDelta::from_millis(5_000),
    probing: Probing::UntilInFlight,
};
