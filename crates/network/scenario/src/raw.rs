//! A scenario as it is written in the file: every key is optional, and only the
//! types of values are checked. A variant's keys replace the file's before
//! anything else is checked.

use std::collections::BTreeMap;

use mimosa_net::Table;
use mimosa_units::{Bytes, Rate, TimeDelta};
use serde::Deserialize;
use toml::Spanned;

/// Declares a table whose keys are all optional, and how the keys of one such
/// table replace those of another.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            $($(#[$field_doc])* pub(super) $field: Option<$type>,)*
        }

        impl $name {
            /// The keys that `over` states, and this table's for all others.
            pub(super) fn under(&self, over: &Self) -> Self {
                Self {
                    $($field: over.$field.clone().or_else(|| self.$field.clone()),)*
                }
            }
        }
    };
}

/// The keys of the whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) duration: Option<Spanned<TimeDelta>>,
    #[serde(default)]
    pub(super) seed: Option<u64>,
    #[serde(default)]
    pub(super) link: Option<Spanned<Link>>,
    #[serde(default)]
    pub(super) flow: Vec<Spanned<Flow>>,
    #[serde(default)]
    pub(super) variant: Vec<Spanned<Variant>>,
}

/// A variant of the scenario: its keys replace those of the file, the keys of
/// `flow` in every video flow.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    pub(super) name: Spanned<String>,
    #[serde(default)]
    pub(super) link: Link,
    #[serde(default)]
    pub(super) flow: Flow,
}

pub(super) type Params = BTreeMap<Spanned<String>, Spanned<toml::Value>>;

table! {
    /// The keys of `[link]`, and of the other links.
    Link {
        rate: Spanned<Rate>,
        steps: Spanned<Vec<Step>>,
        trace: Spanned<String>,
        tick: Spanned<TimeDelta>,
        medium: Spanned<Table>,
        one_way_delay: Spanned<TimeDelta>,
        return_delay: Spanned<TimeDelta>,
        queue: Spanned<Table>,
        class: Spanned<Vec<Spanned<Table>>>,
        loss: Spanned<f64>,
        burst_loss: Spanned<BurstLoss>,
        jitter: Spanned<Jitter>,
        reordering: Spanned<Reordering>,
        bleach: Spanned<bool>,
        mangle: Spanned<String>,
        return_loss: Spanned<f64>,
        return_jitter: Spanned<Jitter>,
        return_reordering: Spanned<Reordering>,
        return_aggregation: Spanned<TimeDelta>,
        reverse: Spanned<Box<Link>>,
        next: Spanned<Vec<Spanned<Link>>>,
    }
}

/// The first of these keys that is given, with its place; `None` if none is.
macro_rules! first {
    ($table:expr, $($field:ident),*) => {
        None $(.or_else(|| {
            $table.$field.as_ref().map(|value| (stringify!($field), value.span()))
        }))*
    };
}

impl Link {
    /// The first key about the return path that is given, with its place; `None` if none is.
    pub(super) fn return_key(&self) -> Option<(&'static str, std::ops::Range<usize>)> {
        first!(
            self,
            return_jitter,
            return_loss,
            return_reordering,
            return_aggregation,
            return_delay
        )
    }

    /// Finds the first key about the link's rate that is given, with its place; `None` if none is.
    pub(super) fn rate_key(&self) -> Option<(&'static str, std::ops::Range<usize>)> {
        first!(self, rate, steps, trace, tick)
    }

    /// The first key that is given of those that are not about rate and queue,
    /// with its place; `None` if none is.
    pub(super) fn path_key(&self) -> Option<(&'static str, std::ops::Range<usize>)> {
        let own = first!(
            self,
            one_way_delay,
            loss,
            burst_loss,
            jitter,
            reordering,
            bleach,
            mangle,
            reverse,
            next
        );
        own.or_else(|| self.return_key())
    }
}

/// An entry of `steps`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    pub(super) at: TimeDelta,
    pub(super) rate: Rate,
    #[serde(default)]
    pub(super) one_way_delay: Option<TimeDelta>,
}

/// An entry of a flow's `steps`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RateStep {
    pub(super) at: TimeDelta,
    pub(super) rate: Rate,
}

/// The keys of `pages = { … }`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pages {
    pub(super) every: TimeDelta,
    pub(super) size: Spanned<Bytes>,
    #[serde(default)]
    pub(super) connections: Option<Spanned<u32>>,
}

/// The keys of `burst_loss = { … }`, the loss model of Gilbert and Elliott.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BurstLoss {
    pub(super) to_bad: f64,
    pub(super) to_good: f64,
    #[serde(default)]
    pub(super) loss_good: f64,
    #[serde(default = "one")]
    pub(super) loss_bad: f64,
}

const fn one() -> f64 {
    1.0
}

/// The keys of `jitter = { … }`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Jitter {
    pub(super) kind: Spanned<String>,
    #[serde(default)]
    pub(super) length: Option<TimeDelta>,
    #[serde(default)]
    pub(super) every: Option<TimeDelta>,
    #[serde(default)]
    pub(super) deviation: Option<TimeDelta>,
    #[serde(default)]
    pub(super) most: Option<TimeDelta>,
    #[serde(default)]
    pub(super) p50: Option<TimeDelta>,
    #[serde(default)]
    pub(super) p99: Option<TimeDelta>,
    #[serde(default)]
    pub(super) p999: Option<TimeDelta>,
}

/// The keys of `reordering = { … }`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reordering {
    pub(super) share: f64,
    pub(super) extra: TimeDelta,
}

/// The keys of `protection_params = { … }`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ProtectionParams {
    pub(super) late_target: Option<f64>,
    pub(super) most_overhead: Option<f64>,
}

/// An entry of `pauses`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pause {
    pub(super) from: TimeDelta,
    pub(super) to: TimeDelta,
}

/// An entry of `frame_scale`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FrameScale {
    pub(super) at: TimeDelta,
    pub(super) times: f64,
}

/// The keys of `scene_cuts = { … }`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SceneCuts {
    pub(super) every: TimeDelta,
    pub(super) times: f64,
}

/// An entry of `clock_steps`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClockStep {
    pub(super) at: TimeDelta,
    #[serde(default)]
    pub(super) forward: Option<TimeDelta>,
    #[serde(default)]
    pub(super) back: Option<TimeDelta>,
}

table! {
    /// The keys of a `[[flow]]`.
    Flow {
        name: Spanned<String>,
        kind: Spanned<String>,
        start: Spanned<TimeDelta>,
        stop: Spanned<TimeDelta>,
        pauses: Spanned<Vec<Pause>>,
        one_way_delay: Spanned<TimeDelta>,
        return_delay: Spanned<TimeDelta>,
        direction: Spanned<String>,
        enters: Spanned<usize>,
        leaves: Spanned<usize>,
        packet_size: Spanned<Bytes>,
        rate: Spanned<Rate>,
        steps: Spanned<Vec<RateStep>>,
        size: Spanned<Bytes>,
        pages: Spanned<Pages>,
        ecn: Spanned<String>,
        dscp: Spanned<u8>,
        controller: Spanned<String>,
        params: Spanned<Params>,
        fps: Spanned<u32>,
        frame_clock_ppm: Spanned<f64>,
        phase: Spanned<TimeDelta>,
        min_bitrate: Spanned<Rate>,
        start_bitrate: Spanned<Rate>,
        max_bitrate: Spanned<Rate>,
        encoder: Spanned<String>,
        frame_noise: Spanned<f64>,
        frame_correlation: Spanned<f64>,
        pay_back: Spanned<TimeDelta>,
        less_headers: Spanned<bool>,
        frame_sizes: Spanned<String>,
        frame_scale: Spanned<Vec<FrameScale>>,
        scene_cuts: Spanned<SceneCuts>,
        content_bitrate: Spanned<Rate>,
        encode_time: Spanned<TimeDelta>,
        parts: Spanned<u32>,
        carry: Spanned<f64>,
        overhead: Spanned<Bytes>,
        probe_size: Spanned<Bytes>,
        pacer: Spanned<String>,
        pacer_params: Spanned<Params>,
        longest_wait: Spanned<TimeDelta>,
        retransmission_deadline: Spanned<TimeDelta>,
        protection: Spanned<String>,
        protection_params: Spanned<ProtectionParams>,
        deadline: Spanned<TimeDelta>,
        feedback: Spanned<String>,
        feedback_interval: Spanned<TimeDelta>,
        feedback_repeat: Spanned<usize>,
        clock_offset: Spanned<TimeDelta>,
        clock_drift_ppm: Spanned<f64>,
        clock_steps: Spanned<Vec<ClockStep>>,
    }
}

impl Flow {
    /// The first key that is given of those that only video and TCP flows have,
    /// with its place; `None` if none is.
    pub(super) fn shared_key(&self) -> Option<(&'static str, std::ops::Range<usize>)> {
        let controller = self
            .controller
            .as_ref()
            .map(|name| ("controller", name.span()));
        controller.or_else(|| self.overhead.as_ref().map(|size| ("overhead", size.span())))
    }

    /// Finds the first key in the file that only a TCP flow may have, with its place; `None` if there
    /// is no such key.
    pub(super) fn tcp_key(&self) -> Option<(&'static str, std::ops::Range<usize>)> {
        first!(self, steps, size, pages)
    }

    /// The first key that is given of those that only a video flow has, with
    /// its place; `None` if none is.
    pub(super) fn video_key(&self) -> Option<(&'static str, std::ops::Range<usize>)> {
        first!(
            self,
            params,
            fps,
            frame_clock_ppm,
            phase,
            min_bitrate,
            start_bitrate,
            max_bitrate,
            encoder,
            frame_noise,
            frame_correlation,
            pay_back,
            less_headers,
            frame_sizes,
            frame_scale,
            scene_cuts,
            content_bitrate,
            encode_time,
            parts,
            carry,
            probe_size,
            pacer,
            pacer_params,
            longest_wait,
            retransmission_deadline,
            protection,
            protection_params,
            deadline,
            feedback,
            feedback_interval,
            feedback_repeat,
            clock_offset,
            clock_drift_ppm,
            clock_steps
        )
    }
}
