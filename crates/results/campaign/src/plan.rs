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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn campaign(plan: &str) -> Campaign {
        let text = format!(
            "title = \"t\"\n{plan}\nblocks = 6\nsession = \"9s\"\n[[machine]]\nname = \"m\"\n\
             [[path]]\nname = \"p\"\nhost = \"m\"\nclient = \"m\"\naddress = \"::1\"\n\
             [[arm]]\nname = \"a\"\ncontroller = \"pudica\"\n[[arm]]\nname = \"b\"\ncontroller = \"gcc\"\n\
             [[arm]]\nname = \"c\"\ncontroller = \"sqp\"\n[[test]]\nname = \"alone\"\nkind = \"efficiency\"\n\
             [[test]]\nname = \"two\"\nkind = \"fairness\"\nbeside = \"c\"\nstagger = \"2s\"\n"
        );
        Campaign::parse(&text, "f").unwrap()
    }

    fn ids(plan: &str) -> Vec<String> {
        let sessions = campaign(plan).sessions();
        sessions.into_iter().map(|session| session.id).collect()
    }

    #[test]
    fn a_seed_is_a_plan_and_each_block_has_each_arm_once() {
        let one = ids("seed = 1\n[plan]");
        assert_eq!(one, ids("seed = 1\n[plan]"));
        let other = ids("seed = 2\n[plan]");
        assert_ne!(one, other);
        let all = |ids: &[String]| ids.iter().cloned().collect::<BTreeSet<_>>();
        assert_eq!((all(&one).len(), one.len()), (36, 36));
        assert_eq!(all(&one), all(&other));
        for (block, arms) in one.chunks(3).enumerate() {
            let begin = format!("b{}-", block / 2 + 1);
            assert!(arms.iter().all(|id| id.starts_with(&begin)), "{arms:?}");
            let last: BTreeSet<_> = arms.iter().map(|id| id.rsplit('-').next()).collect();
            assert_eq!(last.len(), 3, "{arms:?}");
        }
    }

    #[test]
    fn abab_is_the_order_of_the_file() {
        let ids = ids("[plan]\norder = \"abab\"");
        let arms: Vec<_> = ids.iter().filter_map(|id| id.chars().last()).collect();
        assert_eq!(arms, "abc".repeat(12).chars().collect::<Vec<_>>());
    }

    #[test]
    fn the_arm_is_the_first_stream() {
        let campaign = campaign("[plan]\norder = \"abab\"");
        let sessions = campaign.sessions();
        let [alone] = campaign.streams(&sessions[1])[..] else {
            panic!("{:?}", sessions[1]);
        };
        assert_eq!((alone.arm, alone.start), (1, TimeDelta::ZERO));
        let [first, second] = campaign.streams(&sessions[3])[..] else {
            panic!("{:?}", sessions[3]);
        };
        assert_eq!((first.arm, first.start), (0, TimeDelta::ZERO));
        assert_eq!(
            (second.arm, second.start),
            (2, TimeDelta::from_millis(2_000))
        );
    }

    #[test]
    fn the_files_of_the_repository_can_be_run() {
        let example = include_str!("../../../../lab/campaign/two-paths.toml");
        let example = Campaign::parse(example, "two-paths.toml").unwrap();
        assert_eq!(example.sessions().len(), 16);
        let page = include_str!("../../../../docs/use/campaign.md");
        let of_page = page.split("```toml\n").nth(1).unwrap();
        let of_page = of_page.split("```").next().unwrap();
        let of_page = Campaign::parse(of_page, "campaign.md").unwrap();
        assert_eq!(of_page.sessions().len(), 40);
    }
}
