//! The data sheet of a data set: what it has, how it came about, and what it cannot say. Its headings
//! follow T. Gebru et al., "Datasheets for Datasets" (Communications of the ACM, 2021).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::analysis::FEWEST;
use crate::figures::METRICS;
use crate::file::{Campaign, Kind, Order};
use crate::row::{Outcome, Row};

/// The data sheet of a campaign, as Markdown. `versions` has what `mimosa --version` printed on each
/// machine.
#[must_use]
pub fn datasheet(campaign: &Campaign, rows: &[Row], versions: &BTreeMap<String, String>) -> String {
    let mut text = format!("# Data sheet: {}\n\n", campaign.title);
    motivation(&mut text, campaign);
    composition(&mut text, campaign, rows);
    collection(&mut text, campaign, rows, versions);
    text.push_str(
        "## Uses and limits\n\n\
         `analysis.json` has the differences between arms in pairs: a pair is what two arms had in one \
         block over one path. Intervals are of 95 %, by the percentiles of a bootstrap over the pairs.\n",
    );
    let _ = writeln!(
        text,
        "Arms count as told apart where the interval leaves zero out and there are at least {FEWEST} \
         pairs; no correction is made for the number of figures, so that of 20 figures in which arms do \
         not differ about one is told apart. What is found holds for these paths at that time.\n\n\
         ## How to cite\n\n\
         Name this data set by its title, and Mimosa by its file `CITATION.cff` with the commit above.",
    );
    text
}

fn motivation(text: &mut String, campaign: &Campaign) {
    text.push_str("## Motivation\n\nThe sessions compare these arms over real paths:\n\n");
    for arm in &campaign.arms {
        let _ = writeln!(
            text,
            "- `{}`: the controller `{}`{}",
            arm.name,
            arm.controller,
            options(&arm.serve)
        );
    }
    let _ = writeln!(
        text,
        "\nThe others are compared with `{}`.\n",
        campaign.arms[campaign.baseline].name
    );
}

fn options(serve: &[String]) -> String {
    if serve.is_empty() {
        return String::new();
    }
    format!(", with the options `{}`", serve.join(" "))
}

fn composition(text: &mut String, campaign: &Campaign, rows: &[Row]) {
    let planned = campaign.sessions();
    let failed: Vec<&Row> = rows
        .iter()
        .filter(|row| row.outcome == Outcome::Failed)
        .collect();
    let _ = writeln!(
        text,
        "## Composition\n\n`sessions.csv` has a row for each session, and the folder `sessions` the raw \
         reports of each. Of {} planned sessions {} are there, {} of them failed.\n",
        planned.len(),
        rows.len(),
        failed.len()
    );
    for row in failed {
        let cause = row.cause.as_deref().unwrap_or("unknown");
        let _ = writeln!(text, "- `{}` failed: {cause}", row.id);
    }
    text.push_str("\nMissing figures of the sessions that did not fail:\n\n");
    let done: Vec<&Row> = rows
        .iter()
        .filter(|row| row.outcome == Outcome::Done)
        .collect();
    for metric in METRICS {
        let there = done
            .iter()
            .filter(|row| row.figures.contains_key(metric.name))
            .count();
        if there < done.len() {
            let missing = done.len() - there;
            let _ = writeln!(text, "- `{}` in {missing} of {}", metric.name, done.len());
        }
    }
    text.push_str(
        "\nNo figure needs the clocks of two machines to agree: each is a count, a rate, or the time \
         between two events by one clock. The one-way delay of a packet is therefore not there. Queueing \
         delay is the round-trip time minus the least of the session: a queue that never empties in a \
         session is not seen in it.\n\n| figure | meaning |\n|---|---|\n",
    );
    for metric in METRICS {
        let _ = writeln!(text, "| `{}` | {} |", metric.name, metric.about);
    }
    text.push('\n');
}

fn collection(
    text: &mut String,
    campaign: &Campaign,
    rows: &[Row],
    versions: &BTreeMap<String, String>,
) {
    let order = match campaign.order {
        Order::Abab => "in the same order in each block".to_owned(),
        Order::Random => format!(
            "in an order drawn in each block with the seed {}",
            campaign.seed
        ),
    };
    let begun = rows.iter().map(|row| row.started).min();
    let ended = rows.iter().map(|row| row.started).max();
    let _ = writeln!(
        text,
        "## Collection\n\nBlocks: {}. Sessions last {}, with the first {} of each stream left out of the \
         figures, and pauses of {} lie between them. The arms of a block ran one after the other, {order}; paths {}.\n",
        campaign.blocks,
        campaign.session,
        campaign.warm_up,
        campaign.pause,
        if campaign.paths_at_once {
            "were used at the same time"
        } else {
            "were used in turn"
        }
    );
    if let (Some(begun), Some(ended)) = (begun, ended) {
        let _ = writeln!(
            text,
            "The first session started at {begun} and the last at {ended}, in seconds since 1970 in UTC \
             by the clock of the machine that drove the campaign.\n"
        );
    }
    for test in &campaign.tests {
        let what = match test.kind {
            Kind::Efficiency => "one stream alone".to_owned(),
            Kind::Fairness {
                streams,
                beside,
                stagger,
                tcp,
            } => {
                let others = beside.map_or("the same arm".to_owned(), |arm| {
                    format!("the arm `{}`", campaign.arms[arm].name)
                });
                let tcp = if tcp { ", beside TCP of iperf3" } else { "" };
                format!(
                    "{streams} streams, those after the first of {others}, each {stagger} after the one before{tcp}"
                )
            }
        };
        let _ = writeln!(text, "- Test `{}`: {what}", test.name);
    }
    for path in &campaign.paths {
        let _ = writeln!(
            text,
            "- Path `{}`: from `{}` to `{}`{}",
            path.name,
            campaign.machines[path.host].name,
            campaign.machines[path.client].name,
            options(&path.serve)
        );
    }
    for machine in &campaign.machines {
        let version = versions.get(&machine.name);
        let version = version.map_or("unknown".to_owned(), |text| text.replace('\n', "; "));
        let _ = writeln!(
            text,
            "- Machine `{}`: {}; {version}",
            machine.name,
            machine.described()
        );
    }
    text.push('\n');
}
