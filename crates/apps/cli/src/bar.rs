//! The progress of many runs, drawn on a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use mimosa_sweep::Progress;

/// Draws the progress that it is told, where there is a terminal. Dropped, it clears what it
/// has drawn.
pub(crate) fn bar() -> impl FnMut(Progress) {
    let mut bar = Bar(None);
    move |progress| bar.show(progress)
}

/// A bar that begins when it is first told of progress.
struct Bar(Option<ProgressBar>);

impl Bar {
    fn show(&mut self, progress: Progress) {
        let bar = self.0.get_or_insert_with(|| begin(progress.jobs));
        // Nothing is drawn before there is something to say about the time left.
        if progress.done > 0 {
            bar.set_position(progress.done as u64);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

fn begin(jobs: usize) -> ProgressBar {
    if jobs < 2 {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(jobs as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} runs, {eta} left") {
        bar.set_style(style);
    }
    bar
}
