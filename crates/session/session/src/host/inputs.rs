//! The player's actions with their times, and the picture that shows each one first.

use mimosa_facts::{Action, InputTimes};

/// An action on its way to the source.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Played {
    /// What the player did.
    pub action: Action,
    /// When the action was made and received; `None` for an action of the host itself, such as the
    /// release of all keys at the end of a session.
    pub times: Option<InputTimes>,
}

/// A summary of the actions that a picture is the first to show.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Inputs {
    /// Number of actions.
    pub count: u32,
    /// Times of the newest action.
    pub newest: Option<InputTimes>,
}

impl Inputs {
    /// Adds an action.
    pub fn add(&mut self, times: Option<InputTimes>) {
        self.count += 1;
        self.newest = times.or(self.newest);
    }

    /// Adds the actions of a later picture, which replaces this one in the encoder.
    pub fn join(&mut self, later: Self) {
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
