//! The columns of frames.

use mimosa_session::FrameLife;

use crate::column::{Column, Row};
use crate::life::HasLife;

/// A frame's life, and whose frame it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameRow {
    /// The flow, counted from zero in the order of the scenario.
    pub flow: usize,
    /// Its life.
    pub life: FrameLife,
}

impl HasLife for FrameRow {
    fn life(&self) -> &FrameLife {
        &self.life
    }
}

impl Row for FrameRow {
    const NAME: &'static str = "frames";

    const COLUMNS: &'static [&'static [Column<Self>]] = &[
        &[Column::SEED, Column::VARIANT, Column::flow(|row| row.flow)],
        Column::LIFE,
    ];
}
