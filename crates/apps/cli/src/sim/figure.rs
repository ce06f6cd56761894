//! Draws one run as a figure.

use std::path::Path;

use mimosa_figures::FlowFigures;
use mimosa_plot::{Figure, Panel};

use super::bins::{Bins, Summary};
use super::input::Input;
use super::{Job, Run, Seen, series};

/// Draws `job`, the first of `runs`, from what was `seen` of it.
pub(super) fn draw(file: &Path, input: &Input, job: &Job, runs: &[Run], seen: &Seen) -> Figure {
    let window = input.window;
    let bins = Bins::of(window);
    let frames = seen.0.as_ref().map_or(&[][..], |table| table.rows());
    let packets = seen.1.as_ref().map_or(&[][..], |table| table.rows());
    let flows = series::flows(job.scenario, frames, window);
    let panel = |what, y_label: &str, summary, series| Panel {
        title: format!("{what}{}", bins.title(summary)),
        y_label: y_label.to_owned(),
        y_range: None,
        series,
    };
    let bitrates = series::bitrates(job.scenario, &flows, packets, window, bins);
    let delays = series::frame_delays(&flows, job.scenario.duration, bins);
    let utilization = series::utilization(&flows, window, bins);
    let waits = series::queue_delays(packets, window, bins);
    let mut panels = vec![
        panel("Bitrate", "Mbit/s", Summary::Mean, bitrates),
        panel("Frame delay", "ms", Summary::Worst, delays),
    ];
    if !utilization.is_empty() {
        let what = "Bandwidth utilisation";
        panels.push(panel(what, "ratio", Summary::Mean, utilization));
    }
    panels.push(panel("Queueing delay", "ms", Summary::Worst, waits));
    let name = file.file_name().unwrap_or(file.as_os_str());
    Figure {
        title: name.display().to_string(),
        subtitle: subtitle(input, job, runs),
        x_label: "Time (s)".to_owned(),
        panels,
    }
}

/// Which run it is, and its main figures.
fn subtitle(input: &Input, job: &Job, runs: &[Run]) -> String {
    let mut parts = Vec::new();
    if let Some(variant) = job.variant {
        parts.push(format!("variant {variant}"));
    }
    parts.push(format!("seed {}", job.seed));
    if runs.len() > 1 {
        parts.push(format!("first of {} runs", runs.len()));
    }
    if !input.whole {
        parts.push(format!("{} to {}", input.window.from, input.window.to));
    }
    if let Some(Run { figures, .. }) = runs.first() {
        let mut controllers: Vec<_> = figures
            .flows
            .iter()
            .filter_map(|flow| flow.controller.as_deref())
            .collect();
        controllers.dedup();
        if !controllers.is_empty() {
            parts.push(controllers.join(", "));
        }
        if let Some(share) = figures.link.utilization {
            parts.push(format!("link used {:.1}%", share * 100.0));
        }
        let delays: Vec<_> = figures.flows.iter().filter_map(delay).collect();
        match &delays[..] {
            [] => {}
            [(_, p99)] => parts.push(format!("p99 frame delay {p99:.1} ms")),
            several => {
                let each = several.iter().map(|(name, p99)| format!("{name} {p99:.1}"));
                let each: Vec<_> = each.collect();
                parts.push(format!("p99 frame delay in ms: {}", each.join(", ")));
            }
        }
    }
    parts.join("; ")
}

fn delay(flow: &FlowFigures) -> Option<(&str, f64)> {
    let delays = flow.frame_delay_ms.as_ref()?;
    Some((&flow.name, delays.p99))
}
