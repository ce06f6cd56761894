//! Which part of the simulation acts next.
//!
//! A tournament tree over the parts' deadlines: finding the earliest is one
//! load, changing one deadline walks up log2(parts) levels without branching
//! on data. Among equal deadlines the part with the lowest number goes first,
//! so that a run has one order only.

use mimosa_units::Time;

/// The deadlines of a fixed number of parts.
#[derive(Debug)]
pub(crate) struct Deadlines {
    /// A binary heap layout: leaf i at `leaves + i`, root at 1.
    tree: Vec<(Time, u32)>,
    leaves: usize,
}

impl Deadlines {
    /// All parts idle.
    pub(crate) fn new(parts: usize) -> Self {
        let leaves = parts.max(1).next_power_of_two();
        let mut tree = vec![(Time::MAX, 0); 2 * leaves];
        for (index, leaf) in tree[leaves..].iter_mut().enumerate() {
            leaf.1 = u32::try_from(index).unwrap_or(u32::MAX);
        }
        for node in (1..leaves).rev() {
            tree[node] = tree[2 * node];
        }
        Self { tree, leaves }
    }

    /// The part that acts next, and when; [`Time::MAX`] for never.
    pub(crate) fn next(&self) -> (Time, usize) {
        let (at, part) = self.tree[1];
        (at, part as usize)
    }

    /// Sets a part's deadline.
    pub(crate) fn set(&mut self, part: usize, at: Time) {
        let mut node = self.leaves + part;
        if self.tree[node].0 == at {
            return;
        }
        self.tree[node].0 = at;
        while node > 1 {
            node /= 2;
            let (left, right) = (self.tree[2 * node], self.tree[2 * node + 1]);
            let winner = if right.0 < left.0 { right } else { left };
            if self.tree[node] == winner {
                return;
            }
            self.tree[node] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_goes_first_and_ties_go_by_number() {
        let mut deadlines = Deadlines::new(5);
        assert_eq!(deadlines.next().0, Time::MAX);
        for (part, ms) in [(0, 7), (1, 5), (2, 9), (3, 5), (4, 8)] {
            deadlines.set(part, Time::from_millis(ms));
        }
        let mut order = Vec::new();
        while let (at, part) = deadlines.next()
            && at < Time::MAX
        {
            order.push(part);
            deadlines.set(part, Time::MAX);
        }
        assert_eq!(order, [1, 3, 0, 4, 2]);
    }
}
