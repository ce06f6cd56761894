//! What the player did, with its times, and which picture has it first.

use mimosa_record::InputTimes;
use mimosa_wire::Action;

/// An action on its way to the source.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Played {
    pub(crate) action: Action,
    /// `None` for what no player did: the end of a session lets go of all keys.
    pub(crate) times: Option<InputTimes>,
}

/// The actions that a picture is the first to have.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Inputs {
    pub(crate) count: u32,
    /// Times of the newest.
    pub(crate) newest: Option<InputTimes>,
}

impl Inputs {
    /// One more.
    pub(crate) fn add(&mut self, times: Option<InputTimes>) {
        self.count += 1;
        self.newest = times.or(self.newest);
    }

    /// Those of a later picture, when this one is not encoded.
    pub(crate) fn join(&mut self, later: Self) {
        self.count += later.count;
        self.newest = later.newest.or(self.newest);
    }
}

#[cfg(test)]
mod tests {
    use mimosa_units::Time;

    use super::*;

    #[test]
    fn the_newest_action_counts() {
        let times = |seconds| InputTimes {
            made: None,
            received: Time::from_secs(seconds),
        };
        let mut inputs = Inputs::default();
        inputs.add(Some(times(1)));
        inputs.add(Some(times(2)));
        inputs.add(None);
        let expected = |count, seconds| Inputs {
            count,
            newest: Some(times(seconds)),
        };
        assert_eq!(inputs, expected(3, 2));
        inputs.join(Inputs::default());
        assert_eq!(inputs, expected(3, 2));
        inputs.join(expected(2, 5));
        assert_eq!(inputs, expected(5, 5));
    }
}
