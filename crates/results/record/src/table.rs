//! The rows of one simulated run.

use mimosa_facts::{FrameLife, Observer, Passage, StreamPacket};

use crate::frames::FrameRow;

/// The run to which rows belong.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Run {
    /// Seed of the run.
    pub seed: u64,
    /// Variant of the scenario, if it has variants.
    pub variant: Option<String>,
    /// The flows' names, in the order of the scenario.
    pub flows: Vec<String>,
}

/// The rows of one run. A table keeps either frames, in the order in which they were due and of those
/// due at once in that of the flows, or packets, in the order in which they passed or were lost.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<R> {
    run: Run,
    rows: Vec<R>,
}

impl<R> Table<R> {
    /// A table without rows.
    #[must_use]
    pub const fn new(run: Run) -> Self {
        Self {
            run,
            rows: Vec::new(),
        }
    }

    /// The run to which the rows belong.
    #[must_use]
    pub const fn run(&self) -> &Run {
        &self.run
    }

    /// The rows of the table.
    #[must_use]
    pub fn rows(&self) -> &[R] {
        &self.rows
    }
}

impl Observer for Table<FrameRow> {
    fn frame(&mut self, flow: usize, life: &FrameLife) {
        let row = FrameRow { flow, life: *life };
        let order = |row: &FrameRow| (row.life.due, row.flow);
        // Frames become known when they end, in almost the same order.
        let is_before = |other: &FrameRow| order(other) <= order(&row);
        let place = self.rows.iter().rposition(is_before);
        self.rows.insert(place.map_or(0, |place| place + 1), row);
    }
}

impl Observer for Table<Passage<StreamPacket>> {
    fn packet(&mut self, passage: &Passage<StreamPacket>) {
        self.rows.push(*passage);
    }
}
