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

/// The rows of one run, in the order in which they became known. A table keeps either frames or
/// packets.
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
        self.rows.push(FrameRow { flow, life: *life });
    }
}

impl Observer for Table<Passage<StreamPacket>> {
    fn packet(&mut self, passage: &Passage<StreamPacket>) {
        self.rows.push(*passage);
    }
}
