//! Simulated and emulated runs side by side.

use mimosa_figures::RunFigures;
use mimosa_plot::Table;

use super::{Plan, Run};
use crate::sim;

/// One figure of a run.
struct Figure {
    name: String,
    value: Option<f64>,
    decimals: usize,
}

/// A row for each plan and figure, with means over the valid runs.
pub(super) fn table(plans: &[Plan], runs: &[&Run<'_>]) -> Table {
    let headers = [
        "variant",
        "figure",
        "simulated",
        "emulated",
        "difference",
        "with the host's lag",
        "difference",
    ];
    let mut rows = Vec::new();
    for plan in plans {
        let own = || runs.iter().filter(|run| run.label == plan.label.as_deref());
        let simulated: Vec<_> = own()
            .filter_map(|run| run.simulated.as_ref())
            .map(figures)
            .collect();
        let with_lag: Vec<_> = own()
            .filter_map(|run| run.with_lag.as_ref())
            .map(figures)
            .collect();
        let emulated: Vec<_> = own().map(|run| figures(&run.emulated.figures)).collect();
        for (index, figure) in emulated.first().into_iter().flatten().enumerate() {
            let mean = |all: &[Vec<Figure>]| {
                sim::mean(all.iter().map(|figures| figures.get(index)?.value))
            };
            let (simulated, emulated) = (mean(&simulated), mean(&emulated));
            let with_lag = mean(&with_lag);
            let number = |value: Option<f64>| {
                let decimals = figure.decimals;
                value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
            };
            rows.push(vec![
                plan.label.clone().unwrap_or_default(),
                figure.name.clone(),
                number(simulated),
                number(emulated),
                difference(simulated, emulated),
                number(with_lag),
                difference(with_lag, emulated),
            ]);
        }
    }
    sim::without_empty_variants(Table {
        title: format!("Simulated and emulated ({})", seeds(runs)),
        headers: headers.map(str::to_owned).to_vec(),
        rows,
    })
}

fn seeds(runs: &[&Run<'_>]) -> String {
    let all = || runs.iter().map(|run| run.seed);
    match (all().min(), all().max()) {
        (Some(first), Some(last)) if first == last => format!("seed {first}"),
        (Some(first), Some(last)) => format!("means over seeds {first} to {last}"),
        _ => "no run counts".to_owned(),
    }
}

/// The difference of the emulation from the simulation, in per cent.
fn difference(simulated: Option<f64>, emulated: Option<f64>) -> String {
    match (simulated, emulated) {
        (Some(simulated), Some(emulated)) if simulated != 0.0 => {
            format!("{:+.1} %", (emulated / simulated - 1.0) * 100.0)
        }
        _ => "-".to_owned(),
    }
}

/// The figures that are compared.
fn figures(run: &RunFigures) -> Vec<Figure> {
    let figure = |name: &str, value, decimals| Figure {
        name: name.to_owned(),
        value,
        decimals,
    };
    let link = &run.link;
    let queue = link.queue_delay_ms;
    let used = link.utilization.map(|share| share * 100.0);
    let mut figures = vec![
        figure("utilisation, %", used, 2),
        figure("queue delay, mean, ms", queue.map(|queue| queue.mean), 2),
        figure("queue delay, p95, ms", queue.map(|queue| queue.p95), 2),
    ];
    let all: f64 = run.flows.iter().map(|flow| flow.throughput_mbps).sum();
    for flow in &run.flows {
        let mut add = |what: &str, value, decimals| {
            figures.push(figure(&format!("{}: {what}", flow.name), value, decimals));
        };
        if flow.kind == "video" {
            let delay = flow.frame_delay_ms;
            add("frame delay, mean, ms", delay.map(|delay| delay.mean), 2);
            add("frame delay, p95, ms", delay.map(|delay| delay.p95), 2);
        }
        add("throughput, Mbit/s", Some(flow.throughput_mbps), 2);
        if run.flows.len() > 1 && all > 0.0 {
            add("share, %", Some(flow.throughput_mbps / all * 100.0), 1);
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use mimosa_figures::{Window, measure};

    use super::*;

    #[test]
    fn differences_are_relative_and_signed() {
        assert_eq!(difference(Some(20.0), Some(21.0)), "+5.0 %");
        assert_eq!(difference(Some(20.0), Some(18.0)), "-10.0 %");
        assert_eq!(difference(Some(0.0), Some(18.0)), "-");
        assert_eq!(difference(None, Some(18.0)), "-");
    }

    #[test]
    fn flows_that_share_the_link_have_shares() {
        let names = |more: &str| -> Vec<String> {
            let text = format!(
                "duration = \"1s\"\n[link]\nrate = \"9Mbit/s\"\n[[flow]]\nname = \"game\"\n{more}"
            );
            let loaded = mimosa_scenario::load(&text, "test", &mut ()).unwrap();
            let scenario = &loaded.variants[0].1;
            let run = measure(scenario, Window::WHOLE, &mut (), |observer| {
                mimosa_sim::run(scenario, 1, observer);
            });
            figures(&run).into_iter().map(|f| f.name).collect()
        };
        let alone = names("");
        assert_eq!(alone.len(), 6);
        assert!(!alone.iter().any(|name| name.contains("share")));
        let both = names("[[flow]]\nname = \"bulk\"\nkind = \"tcp\"\n");
        assert_eq!(both.last().map(String::as_str), Some("bulk: share, %"));
        assert!(!both.contains(&"bulk: frame delay, mean, ms".to_owned()));
    }
}
