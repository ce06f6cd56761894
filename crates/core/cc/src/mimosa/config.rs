//! Mimosa's parameters.

use mimosa_units::{Rate, TimeDelta};
use serde::Deserialize;

use crate::parameter::{ParameterError, require};

/// Most probes in a frame interval; more would be traffic of their own.
const MOST_PROBES: u16 = 64;

/// Parameters of the Mimosa controller. Those without a source were chosen by the scoreboard,
/// seeds 1 to 16 (`docs/algorithms/mimosa-controller.md`).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// R* of the law for a flow that is alone: the busy share of the link at which it aims.
    pub target_share: f64,
    /// drop of the law: greatest reduction of the target share beside other flows.
    pub shared_drop: f64,
    /// a of the law: largest part of the load brought by others that is taken for noise. Up to
    /// it, the flow counts as alone. Two flows come to rest at unequal shares where it is above 0.06:
    /// the large one counts as alone and holds no reserve, the small one does, and the pull does not
    /// make up for that.
    pub alone: f64,
    /// b of the law: part of the load brought by others from which the target share is lower
    /// by all of `shared_drop`. With 0.2 a stream yields so early to a connection of CUBIC that it loses
    /// nothing, and does not compete.
    pub shared_from: f64,
    /// Share of a standing queue that is added to the load.
    pub standing_gain: f64,
    /// Time over which the busy share is averaged.
    pub smoothing_window: TimeDelta,
    /// g of the law for a load below `knee`: how much of the distance to R* a round covers, as
    /// an exponent.
    pub far_gain: f64,
    /// g of the law for a load from `knee` on.
    pub near_gain: f64,
    /// Load, as a part of R*, at which the gain changes from `far_gain` to `near_gain`.
    pub knee: f64,
    /// beta of the law: how much more a flow without a share of the link grows in a round than
    /// one that has all of it, as an exponent.
    pub pull: f64,
    /// Ratio of the link's busy time in a frame interval to the time over which a frame is
    /// sent. Pudica, equation 2, has 1.25; a frame that is sent more slowly sees more of
    /// others.
    pub pace_gain: f64,
    /// Ratio of the time that the link needs for a frame to the time over which the frame is
    /// sent, for a flow that is alone. Packets lost at the end of a frame that is sent more
    /// slowly are also sent again later.
    pub alone_pace_gain: f64,
    /// Ratio of the frame interval to the time over which a frame is sent, beside others behind a
    /// queue that marks.
    pub marked_pace_gain: f64,
    /// Number of packets at a frame's start that leave together where a queue marks, and beside others that hardly answer
    /// losses: a queue marks what waits for a millisecond, the time of three packets at 30 Mbit/s, and a queue that
    /// others keep full has seldom room for four packets.
    pub short_lead: u16,
    /// Time over which the share of marks is averaged: 16 virtual round trips of 25 ms, as DCTCP
    /// and Prague do (RFC 8257, section 4.2).
    pub mark_window: TimeDelta,
    /// n of the answer to marks: marked packets in a virtual round trip at which a flow rests. TCP
    /// Prague has 2.
    pub marks_at_rest: f64,
    /// Standing queue up to which marks, and not delays, say whether the flow has more than its
    /// part. An L4S queue marks what waits for longer than 1 ms (RFC 9332, section 4.1).
    pub marked_queue: TimeDelta,
    /// Least spread of the link's own rate from which a flow that is alone takes its bitrate from the
    /// newest frames and not by the law's steps: half of the distance between the quartiles of the
    /// trains' times per byte, as a part of their median.
    pub follow_from: f64,
    /// Greatest spread of the link's own rate up to which a flow that is alone takes its bitrate from
    /// the newest frames: above it, three frames say little about the next.
    pub follow_to: f64,
    /// Greatest noise, in frame intervals, up to which a flow takes its bitrate from the newest frames:
    /// above it, what looks like a varying rate may be a varying delay.
    pub follow_noise: f64,
    /// Restlessness of the trains from which on their spread counts as noise, from 0 to about 1.
    pub follow_restlessness: f64,
    /// Part of the spread of the link's own rate that is added to `alone` and `shared_from`: R
    /// is a mean of six frames, and the error of such a mean is 1 / sqrt(6) of that of one
    /// frame.
    pub spread_part: f64,
    /// Part of the noise, in frame intervals up to 0.03, that is added to `alone`: our choice. With reports of
    /// a resolution of 1 ms, half a millisecond of noise then makes `alone` 0.15.
    pub noise_part: f64,
    /// Ratio of the mean delay above the smallest one without a queue, the noise, to the
    /// unevenness of the gaps of trains: 1.6 where delays are uniformly distributed.
    pub noise_gain: f64,
    /// Upper bound of the noise that trains show, in frame intervals.
    pub most_noise: f64,
    /// That noise, in frame intervals, from which on a path that seems to serve in turns delays each packet by another time.
    pub jitter_from: f64,
    /// Upper bound of the noise of such a path, in standard deviations of the delays of frames' first packets. With 2.4 the case
    /// `jitter` of the suite `last-mile` has 90.4 % of the link used and 3.1 % of the frames late (seeds 1 to 32).
    pub jitter_gain: f64,
    /// Number of packets at a frame's start that leave together.
    pub lead: u16,
    /// Most probes after each frame, at most 64. Pudica, section 4.1, has 4.
    pub probes: u16,
    /// Most that probes may add to a frame, as a share of its size. One probe may always
    /// follow.
    pub probe_share: f64,
    /// Backlog above which the next frame is smaller, as a part of a frame's size.
    pub backlog_share: f64,
    /// Whether the backlog is what the frame will find when it comes out of the encoder, and not what
    /// waits when the encoder asks for its size.
    pub foresees_encoding: bool,
    /// Backlog above which the next frame is smaller where the link serves in turns, as a part of a
    /// frame's size: some of what waits for a turn will go at once.
    pub turns_backlog_share: f64,
    /// Factor by which a frame's packets leave faster than the link serves them in the mean, where it
    /// serves in turns: what has not come when a turn begins waits for the next one.
    pub turns_pace_gain: f64,
    /// Delay up to which a frame is in time, with the round trip: Pudica's evaluation counts those above
    /// 50 ms as late. Frames are made for it where the link serves in turns. Zero: never.
    pub deadline: TimeDelta,
    /// How much being in time counts against the bitrate: n of the deadline's rule.
    pub punctuality: f64,
    /// Whether a frame is skipped to which the backlog leaves nothing. At least one frame leaves each
    /// 100 ms.
    pub skips_by_backlog: bool,
    /// Whether losses of frames that were sent within a small part of their interval make the next
    /// ones be sent over a longer part.
    pub keeps_to_room: bool,
    /// Age of the oldest frame on its way above which the next one is halved, in frame
    /// intervals above the smallest round trip: Pudica, which leaves the value open, has 2 here.
    pub overdue: f64,
    /// Factor of `overdue`, `stalled` and `skipping` where the link serves in turns, others share it, or
    /// reports are seldom: frames wait there for their turn, in a queue that is not theirs, or for a
    /// report.
    pub patience: f64,
    /// Age of the oldest frame on its way above which frames are as small as possible, in
    /// frame intervals above the smallest round trip.
    pub stalled: f64,
    /// Age of the oldest frame on its way above which most frames are skipped, in frame
    /// intervals above the smallest round trip.
    pub skipping: f64,
    /// Age of the oldest frame on its way above which the bitrate is halved, in frame
    /// intervals above the smallest round trip. Pudica's open value: 10.
    pub silence: f64,
    /// Share of lost packets in a round above which the bitrate falls: more than the 5 % that
    /// a radio may lose by itself.
    pub loss: f64,
    /// Ratio to the link's rate above which packets follow one another too fast: they were
    /// held up, and not queued.
    pub release: f64,
    /// Window of the smallest delay and of the smallest round trip.
    pub min_delay_window: TimeDelta,
    /// Standing queue of others above which the flow competes for its part of the link: 2 ms is
    /// more than an L4S queue lets stand.
    pub others_queue: TimeDelta,
    /// Standing queue of others above which the flow competes, as a multiple of the mean difference
    /// between the delays of consecutive packets.
    pub unsteady_gain: f64,
    /// Standing queue of others up to which the flow begins to compete, and above which its bitrate
    /// does not grow. Zero: the flow never competes.
    pub delay_budget: TimeDelta,
    /// N of the competition at most: the connections of TCP as which a flow competes that has
    /// little. Five keep a third of the link beside one of BBR.
    pub connections: f64,
    /// Time for which a flow that competes counts what is lost as one connection, and then as `connections`, to find out which
    /// it shall be: our choice. A saw tooth of CUBIC takes some seconds on 30 Mbit/s with a round trip of 20 ms. Zero: it
    /// competes as `connections` without a trial.
    pub trial: TimeDelta,
    /// Bitrate of one connection of TCP with the packets that are lost, from which on the losses do no harm, and the flow competes as
    /// `connections`: our choice. Beside BBR on 100 Mbit/s, whose losses are its own, a flow loses 0.1 to 2.2 % over a round trip of 20 ms with
    /// a queue of as much, and this allows 1.5 %; three flows beside CUBIC lose 0.3 to 0.6 % there over a round trip of 40 ms, and this
    /// allows 0.38 %. Zero: up to 2.5 % of lost packets do no harm over any path.
    pub unharmed: Rate,
    /// Multiple of the newest acknowledged frame's own bitrate beyond which the bitrate does
    /// not rise, as in Pudica.
    pub application_headroom: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            target_share: 0.97,
            shared_drop: 0.2,
            alone: 0.05,
            shared_from: 0.3,
            standing_gain: 0.1,
            smoothing_window: TimeDelta::from_millis(100),
            far_gain: 1.0,
            near_gain: 0.3,
            knee: 0.9,
            pull: 0.08,
            pace_gain: 1.1,
            alone_pace_gain: 1.2,
            marked_pace_gain: 1.25,
            short_lead: 2,
            mark_window: TimeDelta::from_millis(400),
            marks_at_rest: 2.5,
            marked_queue: TimeDelta::from_millis(2),
            follow_from: 0.05,
            follow_to: 0.35,
            follow_noise: 0.03,
            follow_restlessness: 0.5,
            spread_part: 0.4,
            noise_part: 10.0 / 3.0,
            noise_gain: 1.6,
            most_noise: 0.25,
            jitter_from: 0.06,
            jitter_gain: 2.4,
            lead: 4,
            probes: 6,
            probe_share: 0.05,
            backlog_share: 0.15,
            foresees_encoding: true,
            turns_backlog_share: 0.5,
            turns_pace_gain: 6.0,
            deadline: TimeDelta::from_millis(50),
            punctuality: 3.0,
            skips_by_backlog: true,
            keeps_to_room: true,
            overdue: 1.6,
            patience: 1.5,
            stalled: 2.2,
            skipping: 3.5,
            silence: 10.0,
            loss: 0.08,
            release: 1.6,
            min_delay_window: TimeDelta::from_millis(3_000),
            others_queue: TimeDelta::from_millis(2),
            unsteady_gain: 4.0,
            delay_budget: TimeDelta::from_millis(150),
            connections: 5.0,
            trial: TimeDelta::from_millis(5_000),
            unharmed: Rate::from_kbps(3_000),
            application_headroom: 1.5,
        }
    }
}

impl Config {
    /// Checks that every parameter has a valid value.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] for the first parameter whose value is invalid.
    pub fn check(&self) -> Result<(), ParameterError> {
        for (key, share) in [
            ("target_share", self.target_share),
            ("knee", self.knee),
            ("shared_from", self.shared_from),
            ("loss", self.loss),
        ] {
            require((0.01..=1.0).contains(&share), key, "from 0.01 to 1")?;
        }
        for (key, gain) in [
            ("far_gain", self.far_gain),
            ("near_gain", self.near_gain),
            ("pull", self.pull),
            ("shared_drop", self.shared_drop),
            ("standing_gain", self.standing_gain),
            ("spread_part", self.spread_part),
            ("noise_gain", self.noise_gain),
            ("most_noise", self.most_noise),
            ("jitter_from", self.jitter_from),
            ("follow_from", self.follow_from),
            ("follow_to", self.follow_to),
            ("follow_noise", self.follow_noise),
            ("follow_restlessness", self.follow_restlessness),
            ("probe_share", self.probe_share),
        ] {
            require((0.0..=2.0).contains(&gain), key, "from 0 to 2")?;
        }
        for (key, times) in [
            ("pace_gain", self.pace_gain),
            ("alone_pace_gain", self.alone_pace_gain),
            ("marked_pace_gain", self.marked_pace_gain),
            ("marks_at_rest", self.marks_at_rest),
            ("turns_pace_gain", self.turns_pace_gain),
            ("patience", self.patience),
            ("punctuality", self.punctuality),
            ("connections", self.connections),
            ("release", self.release),
            ("application_headroom", self.application_headroom),
        ] {
            require((1.0..=100.0).contains(&times), key, "from 1 to 100")?;
        }
        for (key, intervals) in [
            ("unsteady_gain", self.unsteady_gain),
            ("noise_part", self.noise_part),
            ("jitter_gain", self.jitter_gain),
            ("backlog_share", self.backlog_share),
            ("turns_backlog_share", self.turns_backlog_share),
            ("overdue", self.overdue),
            ("stalled", self.stalled),
            ("skipping", self.skipping),
            ("silence", self.silence),
        ] {
            require((0.0..=1e4).contains(&intervals), key, "from 0 to 10000")?;
        }
        for (key, window) in [
            ("smoothing_window", self.smoothing_window),
            ("mark_window", self.mark_window),
            ("min_delay_window", self.min_delay_window),
        ] {
            require(window > TimeDelta::ZERO, key, "longer than zero")?;
        }
        require(
            self.shared_drop < self.target_share,
            "shared_drop",
            "below `target_share`",
        )?;
        require(
            (0.0..self.shared_from).contains(&self.alone),
            "alone",
            "at least 0 and below `shared_from`",
        )?;
        require(self.probes <= MOST_PROBES, "probes", "at most 64")
    }
}
