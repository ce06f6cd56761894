//! Which ECN field a sender's packets carry.
//!
//! [`EcnPolicy`] marks packets ECT(1) (RFC 9331) where reports carry the field back, after a
//! trial, and as long as it comes through (RFC 8888, section 7, asks for the care of
//! RFC 6679; numbers are those of RFC 9000, section 13.4.2, where it has them):
//!
//! ```text
//! off      trying --- one arrives with its field ---> capable
//!            ^ |  <-- many lost in a row ------------- |
//!            | +---------> failed <--------------------+
//!            +-- later ----+
//! ```
//!
//! In a trial every other packet is marked: the unmarked packets between them tell a path that
//! drops marked packets from one that drops any packets. `docs/embed/ecn.md` describes the trial.
//!
//! *Deviations:* RFC 9000 marks ECT(0), and all packets of a trial.

mod config;
#[cfg(test)]
mod tests;

use mimosa_units::{Ecn, Time};

pub use config::{EcnConfig, EcnUse};

/// Why packets are not marked any more.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum EcnFailure {
    /// Reports do not carry the ECN field.
    NotReported,
    /// A packet sent as ECT(1) arrived as Not-ECT, or the receiver cannot see the field.
    Bleached,
    /// A packet arrived with a field that no queue sets.
    Mangled,
    /// All packets arrive marked, whatever rate is sent; no queue marks this way.
    AlwaysMarked,
    /// Marked packets were lost, and the unmarked packets between them were not.
    Dropped,
}

/// An ECN policy's judgement of the path.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum EcnState {
    /// No packet is marked and no trial takes place.
    Off,
    /// Some packets are marked, to see whether they arrive with their field.
    Trying,
    /// All packets are marked.
    Capable,
    /// No packet is marked, for the reason given.
    Failed(EcnFailure),
}

impl EcnState {
    /// The name of the state in recordings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Trying => "trying",
            Self::Capable => "capable",
            Self::Failed(EcnFailure::NotReported) => "not-reported",
            Self::Failed(EcnFailure::Bleached) => "bleached",
            Self::Failed(EcnFailure::Mangled) => "mangled",
            Self::Failed(EcnFailure::AlwaysMarked) => "always-marked",
            Self::Failed(EcnFailure::Dropped) => "dropped",
        }
    }
}

/// How a sender's packets get their ECN field.
#[derive(Debug)]
pub(crate) enum Marker {
    /// Every packet carries this field.
    Fixed(Ecn),
    /// The policy chooses the field of each packet.
    Auto(EcnPolicy),
}

impl Marker {
    pub(crate) const fn new(used: EcnUse) -> Self {
        match used {
            EcnUse::Fixed(ecn) => Self::Fixed(ecn),
            EcnUse::Auto(config) => Self::Auto(EcnPolicy::new(config, true)),
        }
    }

    /// The field of the packet that leaves at `now`.
    pub(crate) fn next(&mut self, now: Time) -> Ecn {
        match self {
            Self::Fixed(ecn) => *ecn,
            Self::Auto(policy) => policy.next(now),
        }
    }

    /// The policy's judgement of the path; `None` for a fixed field.
    pub(crate) const fn state(&self) -> Option<EcnState> {
        match self {
            Self::Fixed(_) => None,
            Self::Auto(policy) => Some(policy.state()),
        }
    }
}

/// Counts of the packets of one trial.
#[derive(Clone, Copy, Debug, Default)]
struct Trial {
    /// ECN-capable packets that left, and when the last of them left.
    sent: u32,
    last: Time,
    /// ECN-capable packets of the trial known to have arrived, to have arrived marked, to be lost.
    arrived: u32,
    marked: u32,
    lost: u32,
    /// Unmarked packets between the capable ones that are known to have arrived, or to be lost.
    plain_arrived: u32,
    plain_lost: u32,
}

/// A stretch of packets whose marks are counted.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: Time,
    arrived: u32,
    marked: u32,
}

impl Stretch {
    const fn new(from: Time) -> Self {
        Self {
            from,
            arrived: 0,
            marked: 0,
        }
    }
}

/// Decides on the ECN field, packet by packet. The policy remembers no packets: its caller says
/// which field each packet was sent with.
#[derive(Clone, Debug)]
pub struct EcnPolicy {
    config: EcnConfig,
    state: EcnState,
    /// When the current state began; packets that left before say nothing about it.
    since: Time,
    trial: Trial,
    /// The time at which the trial begins or goes on.
    resume: Time,
    /// Whether the last packet of the trial was marked.
    was_capable: bool,
    /// Consecutive trials in which every packet that arrived was marked.
    all_marked: u32,
    stretch: Stretch,
    lost_in_a_row: u32,
    /// Number of failures without a good stretch between them.
    failures: u32,
    /// When a path that failed is tried again; `None` for never.
    retry: Option<Time>,
}

impl EcnPolicy {
    /// A policy that begins with a trial if `reports_ecn`, that is, if the receiver's reports can
    /// carry the field. Otherwise the policy stays off for good.
    #[must_use]
    pub const fn new(config: EcnConfig, reports_ecn: bool) -> Self {
        Self {
            config,
            state: if reports_ecn {
                EcnState::Trying
            } else {
                EcnState::Off
            },
            since: Time::ZERO,
            trial: Trial {
                sent: 0,
                last: Time::ZERO,
                arrived: 0,
                marked: 0,
                lost: 0,
                plain_arrived: 0,
                plain_lost: 0,
            },
            resume: Time::ZERO,
            was_capable: false,
            all_marked: 0,
            stretch: Stretch::new(Time::ZERO),
            lost_in_a_row: 0,
            failures: 0,
            retry: None,
        }
    }

    /// The policy's judgement of the path.
    #[must_use]
    pub const fn state(&self) -> EcnState {
        self.state
    }

    /// The field of the packet that leaves at `now`. Call this once for each packet.
    pub fn next(&mut self, now: Time) -> Ecn {
        if self.retry.is_some_and(|retry| retry <= now) {
            self.retry = None;
            self.all_marked = 0;
            self.attempt(now, now);
        }
        let is_capable = match self.state {
            EcnState::Off | EcnState::Failed(_) => false,
            EcnState::Capable => true,
            EcnState::Trying => {
                let is_on = now >= self.resume && self.trial.sent < self.config.trial_packets;
                let is_capable = is_on && !self.was_capable;
                self.was_capable = is_capable;
                if is_capable {
                    self.trial.sent += 1;
                    self.trial.last = now;
                }
                is_capable
            }
        };
        if is_capable { Ecn::Ect1 } else { Ecn::NotEct }
    }

    /// A packet that left at `sent` as `sent_as` is reported to have arrived with the field
    /// `reported`; `None` if the report has no ECN field.
    pub fn arrived(&mut self, now: Time, sent: Time, sent_as: Ecn, reported: Option<Ecn>) {
        if self.is_old(sent) {
            return;
        }
        match (sent_as, reported) {
            (_, None) => self.fail(now, EcnFailure::NotReported),
            (Ecn::NotEct, Some(Ecn::NotEct)) => {
                self.trial.plain_arrived += u32::from(sent <= self.trial.last);
            }
            (Ecn::Ect1, Some(Ecn::NotEct)) => self.fail(now, EcnFailure::Bleached),
            (Ecn::Ect1, Some(Ecn::Ect1)) => self.intact(now, false),
            (Ecn::Ect1, Some(Ecn::Ce)) => self.intact(now, true),
            (Ecn::Ect1, Some(Ecn::Ect0)) | (Ecn::NotEct, Some(_)) => {
                self.fail(now, EcnFailure::Mangled);
            }
            // This policy never sends a packet with these fields.
            (Ecn::Ect0 | Ecn::Ce, Some(_)) => {}
        }
    }

    /// A packet that left at `sent` as `sent_as` is lost.
    pub fn lost(&mut self, now: Time, sent: Time, sent_as: Ecn) {
        if self.is_old(sent) {
            return;
        }
        match (self.state, sent_as) {
            (EcnState::Trying, Ecn::Ect1) => {
                self.trial.lost += 1;
                self.judge(now);
            }
            (EcnState::Trying, _) => {
                self.trial.plain_lost += u32::from(sent <= self.trial.last);
            }
            (EcnState::Capable, Ecn::Ect1) => {
                self.lost_in_a_row += 1;
                if self.lost_in_a_row >= self.config.lost_in_a_row {
                    self.attempt(now, now);
                }
            }
            _ => {}
        }
    }

    /// Nothing will become known of a packet that left at `sent` as `sent_as`: another one takes its
    /// place in a trial.
    pub fn unknown(&mut self, sent: Time, sent_as: Ecn) {
        if self.state == EcnState::Trying && sent_as == Ecn::Ect1 && !self.is_old(sent) {
            self.trial.sent = self.trial.sent.saturating_sub(1);
        }
    }

    /// Whether a packet that left at `sent` says nothing about the current state.
    fn is_old(&self, sent: Time) -> bool {
        sent < self.since || !matches!(self.state, EcnState::Trying | EcnState::Capable)
    }

    /// An ECN-capable packet arrived with its field or with a mark.
    fn intact(&mut self, now: Time, is_marked: bool) {
        self.lost_in_a_row = 0;
        if self.state == EcnState::Trying {
            self.trial.arrived += 1;
            self.trial.marked += u32::from(is_marked);
            self.judge(now);
            return;
        }
        self.stretch.arrived += 1;
        self.stretch.marked += u32::from(is_marked);
        let is_whole = self.stretch.arrived >= self.config.stretch_packets
            && now.since(self.stretch.from) >= self.config.stretch;
        if is_whole {
            let share = f64::from(self.stretch.marked) / f64::from(self.stretch.arrived);
            if share >= self.config.always_marked {
                self.fail(now, EcnFailure::AlwaysMarked);
            } else {
                self.failures = 0;
                self.stretch = Stretch::new(now);
            }
        }
    }

    /// Ends the trial when enough is known of its packets.
    fn judge(&mut self, now: Time) {
        let trial = self.trial;
        if trial.arrived + trial.lost < self.config.trial_packets {
            return;
        }
        if trial.arrived == 0 {
            // At least half as many unmarked packets arrived between them, and more than were lost.
            let passes = 2 * trial.plain_arrived >= self.config.trial_packets
                && trial.plain_arrived > trial.plain_lost;
            if passes {
                self.fail(now, EcnFailure::Dropped);
            } else {
                // A path that loses every packet says nothing about ECN.
                self.attempt(now, now + self.config.trial_pause);
            }
        } else if trial.marked == trial.arrived {
            self.all_marked += 1;
            if self.all_marked >= self.config.marked_trials {
                self.fail(now, EcnFailure::AlwaysMarked);
            } else {
                self.attempt(now, now + self.config.trial_pause);
            }
        } else {
            self.state = EcnState::Capable;
            self.since = now;
            self.all_marked = 0;
            self.lost_in_a_row = 0;
            self.stretch = Stretch::new(now);
        }
    }

    /// Begins a trial, which waits until `resume`.
    fn attempt(&mut self, now: Time, resume: Time) {
        self.state = EcnState::Trying;
        self.since = now;
        self.trial = Trial::default();
        self.resume = resume;
        self.was_capable = false;
    }

    fn fail(&mut self, now: Time, why: EcnFailure) {
        self.state = EcnState::Failed(why);
        self.since = now;
        let doubled = 1_u32 << self.failures.min(16);
        self.failures = self.failures.saturating_add(1);
        // If one report cannot carry the field, the next cannot either.
        self.retry = (why != EcnFailure::NotReported)
            .then(|| now + (self.config.retry * doubled).min(self.config.longest_retry));
    }
}
