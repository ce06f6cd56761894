//! Rules by which frames are larger or smaller than the encoder would make them:
//! `frame_scale` and `scene_cuts`.

use mimosa_units::{Time, TimeDelta};

use super::parse::{Read, Reader};
use super::raw;

/// The largest factor that `frame_scale` and `scene_cuts` may state.
const MOST: f64 = 100.0;

/// The factors by which the sizes of frames differ from what the encoder would make.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameScale {
    /// The times from which on a factor applies, in order, each with its factor.
    /// Before the first the factor is one.
    pub steps: Vec<(Time, f64)>,
    /// Scene cuts, whose frames differ from those around them; `None` for no scene cuts.
    pub cuts: Option<SceneCuts>,
}

/// Scene cuts at every multiple of a time, except zero. The first frame at or after
/// each differs in size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SceneCuts {
    /// The time between two scene cuts.
    pub every: TimeDelta,
    /// The factor by which that frame's size differs from what it would be without the cut.
    pub times: f64,
}

impl FrameScale {
    /// The factor of the frame that is due at `now`. `before` is when the frame
    /// before it was due; `None` for the first frame.
    #[must_use]
    pub fn of(&self, before: Option<Time>, now: Time) -> f64 {
        let started = self.steps.iter().rev().find(|(at, _)| *at <= now);
        let steady = started.map_or(1.0, |(_, times)| *times);
        let Some(cuts) = self.cuts else {
            return steady;
        };
        let passed = |at: Time| at.as_nanos() / cuts.every.as_nanos().unsigned_abs().max(1);
        if passed(now) > before.map_or(0, passed) {
            steady * cuts.times
        } else {
            steady
        }
    }
}

impl Reader<'_> {
    /// Reads `frame_scale` and `scene_cuts` of a flow.
    pub(super) fn frame_scale(&self, raw: &raw::Flow) -> Read<FrameScale> {
        let is_scale = |times: f64| times > 0.0 && times <= MOST;
        let mut scale = FrameScale::default();
        if let Some(list) = &raw.frame_scale {
            let mut before = TimeDelta::ZERO;
            for step in list.get_ref() {
                let valid = step.at >= before && is_scale(step.times);
                let must = "in order of `at`, with `times` above 0 and at most 100";
                self.range(list.span(), "frame_scale", valid, must)?;
                before = step.at;
                scale.steps.push((Time::ZERO + step.at, step.times));
            }
        }
        if let Some(cuts) = &raw.scene_cuts {
            let raw::SceneCuts { every, times } = *cuts.get_ref();
            let valid = every > TimeDelta::ZERO && is_scale(times);
            let must = "made of a time `every` above zero, and `times` above 0 and at most 100";
            self.range(cuts.span(), "scene_cuts", valid, must)?;
            scale.cuts = Some(SceneCuts { every, times });
        }
        Ok(scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_holds_from_its_time_on_and_a_cut_is_one_frame() {
        let at = Time::from_millis;
        let scale = FrameScale {
            steps: vec![(at(0), 0.5), (at(3_000), 2.0)],
            cuts: Some(SceneCuts {
                every: TimeDelta::from_millis(1_000),
                times: 4.0,
            }),
        };
        let of = |before, now| scale.of(Some(at(before)), at(now));
        let first = (scale.of(None, at(10)), of(990, 1_000), of(1_000, 1_010));
        assert_eq!(first, (0.5, 2.0, 0.5));
        assert_eq!((of(2_999, 3_001), of(3_001, 3_010)), (8.0, 2.0));
        // A pause over several scene cuts is followed by only one.
        assert_eq!((of(3_010, 9_990), of(9_990, 9_999)), (8.0, 2.0));
        assert_eq!(Some(FrameScale::default().of(None, at(5))), Some(1.0));
    }
}
