//! The plan: which sessions run, in which order.

use mimosa_units::TimeDelta;
use mimosa_units::random::SplitMix;

use crate::file::{Campaign, Kind, Order};

/// A session of a campaign: one arm in one test over one path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Session {
    /// Name of the session, which no other session of the campaign has.
    pub id: String,
    /// Number of the block, counted from one.
    pub block: u32,
    /// Place of the path among the campaign's paths.
    pub path: usize,
    /// Place of the test among the campaign's tests.
    pub test: usize,
    /// Place of the arm among the campaign's arms.
    pub arm: usize,
}

/// A stream of a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stream {
    /// Place of the stream's arm among the campaign's arms.
    pub arm: usize,
    /// When the stream starts, from the start of the session's first.
    pub start: TimeDelta,
}

impl Campaign {
    /// Every session, in the order in which they run. It depends on the campaign alone.
    ///
    /// A block has each arm once in each test over each path. With [`Order::Random`] the arms of a
    /// block are shuffled, for each path and test anew.
    #[must_use]
    pub fn sessions(&self) -> Vec<Session> {
        let mut all = Vec::new();
        let mut stream = 0;
        for block in 1..=self.blocks {
            for (path, a_path) in self.paths.iter().enumerate() {
                for (test, a_test) in self.tests.iter().enumerate() {
                    let mut arms: Vec<usize> = (0..self.arms.len()).collect();
                    if self.order == Order::Random {
                        shuffle(&mut arms, &mut SplitMix::stream(self.seed, stream));
                    }
                    stream += 1;
                    all.extend(arms.into_iter().map(|arm| Session {
                        id: format!(
                            "b{block}-{}-{}-{}",
                            a_path.name, a_test.name, self.arms[arm].name
                        ),
                        block,
                        path,
                        test,
                        arm,
                    }));
                }
            }
        }
        all
    }

    /// The streams of a session, the one that is measured for its arm first.
    #[must_use]
    pub fn streams(&self, session: &Session) -> Vec<Stream> {
        let test = &self.tests[session.test];
        let Kind::Fairness {
            streams,
            beside,
            stagger,
            ..
        } = test.kind
        else {
            return vec![Stream {
                arm: session.arm,
                start: TimeDelta::ZERO,
            }];
        };
        let other = beside.unwrap_or(session.arm);
        (0..streams)
            .map(|number| Stream {
                arm: if number == 0 { session.arm } else { other },
                start: stagger * number,
            })
            .collect()
    }
}

/// Orders `arms` anew, each order being about equally likely (Durstenfeld's form of the shuffle of
/// Fisher and Yates).
fn shuffle(arms: &mut [usize], random: &mut SplitMix) {
    for last in (1..arms.len()).rev() {
        let other = usize::try_from(random.below(last as u64 + 1)).unwrap_or(last);
        arms.swap(last, other);
    }
}
