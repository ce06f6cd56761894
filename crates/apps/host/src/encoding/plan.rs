//! Decides how much work goes into each frame, and how large the frame may be.

use mimosa_facts::Complexity;
use mimosa_settings::{EncoderSettings, SizePrediction, Work};
use mimosa_units::TimeDelta;
use mimosa_video::complexity::{AceC, Config, Kind, Plan};
use mimosa_video::{EncodedFrame, FrameRequest, Picture};

use mimosa_session::host::Job;

/// Plans the frames of one encoder.
#[derive(Debug)]
pub(crate) struct Planner {
    work: Work,
    /// The ACE-C algorithm; `None` if complexity and sizes are fixed.
    ace: Option<AceC>,
}

impl Planner {
    pub(crate) fn new(settings: EncoderSettings) -> Self {
        let is_as_asked = settings.buffer_frames == 1 && settings.work != Work::Adaptive;
        let ace = (!is_as_asked).then(|| {
            AceC::new(Config {
                kind: match settings.size_prediction {
                    SizePrediction::Motion => Kind::Motion,
                    SizePrediction::Difference => Kind::Difference,
                },
                buffer_frames: settings.buffer_frames,
                most: match settings.work {
                    Work::Adaptive => Complexity::C2,
                    Work::Always(_) => Complexity::C0,
                },
                ..Config::default()
            })
        });
        Self {
            work: settings.work,
            ace,
        }
    }

    /// The request to the encoder for the job, which is to be encoded as this picture.
    pub(crate) fn plan(&mut self, job: &Job, picture: &Picture) -> (FrameRequest, Option<Plan>) {
        let mut request = job.request;
        let plan = self.ace.as_mut().map(|ace| {
            ace.plan(
                picture,
                request.budget,
                job.is_limit,
                job.bandwidth,
                request.interval,
            )
        });
        if let Some(plan) = &plan {
            request.budget = plan.size;
        }
        request.complexity = match (self.work, &plan) {
            _ if job.spares_analysis => Complexity::C0,
            (Work::Always(level), _) => level,
            (Work::Adaptive, plan) => plan.map_or(Complexity::C0, |plan| plan.complexity),
        };
        (request, plan)
    }

    /// Takes the frame that was encoded by `plan` in the time `took`.
    pub(crate) fn encoded(&mut self, plan: &Plan, frame: &EncodedFrame, took: TimeDelta) {
        if let Some(ace) = &mut self.ace {
            ace.encoded(plan, frame, took);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mimosa_facts::FrameId;
    use mimosa_units::{Bytes, Rate, Time};
    use mimosa_video::Recovery;

    use mimosa_settings::{EncoderName, FrameSizes};

    use super::*;
    use mimosa_session::host::Captured;

    const INTERVAL: TimeDelta = TimeDelta::from_millis(16);
    const BUDGET: Bytes = Bytes::new(20_000);

    fn settings(work: Work, buffer_frames: u32) -> EncoderSettings {
        EncoderSettings {
            name: EncoderName::Auto,
            element: mimosa_settings::ElementName::default(),
            work,
            buffer_frames,
            size_prediction: SizePrediction::Motion,
            adapts_detail: true,
            relieves: false,
            entropy: None,
            finest_quantiser: 17,
            sizes: FrameSizes::default(),
            parts: 1,
            threads: 1,
        }
    }

    fn job(is_limit: bool) -> Job {
        Job {
            picture: Arc::new(Captured {
                picture: Picture::new("64x64".parse().unwrap()),
                at: Time::ZERO,
                inputs: mimosa_session::host::Inputs::default(),
            }),
            request: FrameRequest {
                frame: FrameId(0),
                budget: BUDGET,
                interval: INTERVAL,
                complexity: Complexity::C0,
                recovery: Recovery::None,
            },
            size: "64x64".parse().unwrap(),
            bandwidth: Rate::of(BUDGET, INTERVAL),
            is_limit,
            spares_analysis: false,
            timestamp: 0,
            parts: 1,
            entropy: mimosa_facts::EntropyCoding::Arithmetic,
        }
    }

    fn planned(planner: &mut Planner, is_limit: bool) -> (FrameRequest, Option<Plan>) {
        let job = job(is_limit);
        planner.plan(&job, &job.picture.picture)
    }

    #[test]
    fn without_a_buffer_each_frame_has_its_budget() {
        let mut planner = Planner::new(settings(Work::Always(Complexity::C1), 1));
        let (request, plan) = planned(&mut planner, false);
        assert_eq!(
            (request.budget, request.complexity),
            (BUDGET, Complexity::C1)
        );
        assert_eq!(plan, None, "nothing is measured for nothing");
    }

    #[test]
    fn with_one_a_frame_may_have_more_unless_it_is_limited() {
        let mut planner = Planner::new(settings(Work::Always(Complexity::C2), 6));
        let (request, plan) = planned(&mut planner, false);
        assert!(request.budget > BUDGET, "{request:?}");
        assert_eq!(request.complexity, Complexity::C2);
        assert!(plan.is_some());
        let (request, _) = planned(&mut planner, true);
        assert_eq!(request.budget, BUDGET);
    }

    #[test]
    fn the_level_is_chosen_where_it_is_to_be() {
        let mut planner = Planner::new(settings(Work::Adaptive, 1));
        let (request, plan) = planned(&mut planner, false);
        assert_eq!(
            (request.budget, request.complexity),
            (BUDGET, Complexity::C0)
        );
        assert!(plan.is_some());
    }
}
