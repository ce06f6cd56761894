//! Finds the part of the simulation that acts next.
//!
//! Deadlines stand in rows of [`ROW`], and each row knows its earliest. Changing a deadline looks
//! at one row, and finding the earliest looks at one entry of each row, which is cheap for a few
//! parts and for hundreds. Among equal deadlines, the part with the lowest number goes first, so
//! that the order of a run is unique.

use mimosa_units::Time;

/// Number of parts in a row.
const ROW: usize = 16;

/// The deadlines of a fixed number of parts.
#[derive(Debug)]
pub(crate) struct Deadlines {
    parts: Vec<Time>,
    /// The earliest deadline in each row, and the number of its part.
    rows: Vec<(Time, usize)>,
}

impl Deadlines {
    /// The deadlines of `parts` idle parts.
    pub(crate) fn new(parts: usize) -> Self {
        Self {
            parts: vec![Time::MAX; parts],
            rows: (0..parts)
                .step_by(ROW)
                .map(|part| (Time::MAX, part))
                .collect(),
        }
    }

    /// The time and the number of the part that acts next; [`Time::MAX`] if none does.
    pub(crate) fn next(&self) -> (Time, usize) {
        let mut earliest = (Time::MAX, 0);
        for row in &self.rows {
            if row.0 < earliest.0 {
                earliest = *row;
            }
        }
        earliest
    }

    /// Sets a part's deadline.
    pub(crate) fn set(&mut self, part: usize, at: Time) {
        let before = std::mem::replace(&mut self.parts[part], at);
        if before == at {
            return;
        }
        let row = part / ROW;
        let (earliest, holder) = self.rows[row];
        if holder != part && (at, part) > (earliest, holder) {
            return;
        }
        if at < earliest {
            self.rows[row] = (at, part);
            return;
        }
        let first = row * ROW;
        let mut found = (Time::MAX, first);
        for (index, at) in self.parts.iter().enumerate().skip(first).take(ROW) {
            if *at < found.0 {
                found = (*at, index);
            }
        }
        self.rows[row] = found;
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

    /// Compares with a search through all deadlines, with many parts and few distinct times.
    #[test]
    fn rows_find_what_a_search_finds() {
        let mut deadlines = Deadlines::new(100);
        let mut plain = [Time::MAX; 100];
        let mut state = 1_usize;
        for _ in 0..20_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let part = (state >> 33) % 100;
            let at = Time::from_millis(((state >> 45) % 50) as u64);
            deadlines.set(part, at);
            plain[part] = at;
            let earliest = plain.iter().min().copied().unwrap();
            let first = plain.iter().position(|at| *at == earliest).unwrap();
            assert_eq!(deadlines.next(), (earliest, first));
        }
    }
}
