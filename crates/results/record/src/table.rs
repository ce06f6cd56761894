//! What one run showed, row by row.

use mimosa_facts::{FrameLife, Observer, Passage, StreamPacket};

use crate::frames::FrameRow;

/// Which run it was.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Run {
    /// Its seed.
    pub seed: u64,
    /// The variant of the scenario, where it has some.
    pub variant: Option<String>,
    /// The flows' names, in the order of the scenario.
    pub flows: Vec<String>,
}

/// The rows of one run, in the order in which they became known. Of frames and
/// packets it keeps only its own kind.
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

    /// Which run it is of.
    #[must_use]
    pub const fn run(&self) -> &Run {
        &self.run
    }

    /// Its rows.
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
