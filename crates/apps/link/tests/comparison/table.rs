//! Tables of the medians of several runs, with the kernel's figure before ours.

use mimosa_net::queue::ClassId;

use super::case::Case;
use super::figures::{Figures, Steady, quantile};
use super::world::Kind;

/// Several runs of a case, each with the kernel's HTB and with ours.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) case: Case,
    pub(crate) runs: Vec<(Kind, Figures)>,
}

/// The kernel's figure and ours.
pub(crate) type Both = [Option<f64>; 2];

/// Header of the table that [`Compared::classes`] fills.
pub(crate) const CLASSES: &str = "\
| case | from s | class | Mbit/s | | delay, median ms | | p99 ms | |
|---|---|---|---|---|---|---|---|---|
| | | | kernel | ours | kernel | ours | kernel | ours |";

/// Header of the table that [`Compared::whole`] fills.
pub(crate) const WHOLE: &str = "\
| case | settled after ms | | first burst, bytes | | dropped | | sent late, p99 ms | |
|---|---|---|---|---|---|---|---|---|
| | kernel | ours | kernel | ours | kernel | ours | kernel | ours |";

impl Compared {
    /// The medians of a figure; `None` if no run has it.
    pub(crate) fn medians(&self, figure: impl Fn(&Figures) -> Option<f64>) -> Both {
        [Kind::Kernel, Kind::Ours].map(|kind| {
            let runs = self.runs.iter().filter(|(of, _)| *of == kind);
            quantile(runs.filter_map(|(_, run)| figure(run)).collect(), 0.5)
        })
    }

    /// The medians of a class's figure in the steady part of a phase.
    pub(crate) fn steady(
        &self,
        class: ClassId,
        phase: usize,
        figure: impl Fn(Steady) -> f64,
    ) -> Both {
        self.medians(|run| {
            let steady = run.steady.get(&class)?.get(phase)?;
            steady.map(&figure)
        })
    }

    /// A row for each class and phase in which it has a load.
    pub(crate) fn classes(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for (number, phase) in self.case.phases().iter().enumerate() {
            for leaf in &self.case.leaves {
                let class = leaf.class;
                let mbps = self.steady(class, number, |steady| steady.mbps);
                if mbps == [None; 2] {
                    continue;
                }
                rows.push(format!(
                    "| {} | {:.1} | {} | {} | {} | {} |",
                    self.case.name,
                    phase.start.as_secs(),
                    class.0,
                    cells(mbps, 2),
                    cells(self.steady(class, number, |steady| steady.p50), 2),
                    cells(self.steady(class, number, |steady| steady.p99), 2),
                ));
            }
        }
        rows
    }

    /// The row for the whole case, with the times of each phase and the drops of each class.
    pub(crate) fn whole(&self) -> String {
        let phases = self.case.phases().len();
        let settled = (0..phases).map(|p| self.medians(|run| run.settled.get(p).copied()));
        let settled: Vec<_> = settled.collect();
        let dropped = self.case.leaves.iter().map(|leaf| {
            let of_class = |run: &Figures| Some(*run.dropped.get(&leaf.class)? as f64);
            self.medians(of_class)
        });
        let dropped: Vec<_> = dropped.collect();
        format!(
            "| {} | {} | {} | {} | {} |",
            self.case.name,
            lists(&settled),
            cells(self.medians(|run| run.burst), 0),
            lists(&dropped),
            cells(self.medians(|run| Some(run.late)), 2),
        )
    }
}

/// The kernel's figures, then ours.
fn lists(all: &[Both]) -> String {
    let [kernel, ours] = [0, 1].map(|which| {
        let cells = all.iter().map(|both| cell(both[which], 0));
        cells.collect::<Vec<_>>().join(", ")
    });
    format!("{kernel} | {ours}")
}

fn cells(both: Both, digits: usize) -> String {
    format!("{} | {}", cell(both[0], digits), cell(both[1], digits))
}

fn cell(value: Option<f64>, digits: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
}
