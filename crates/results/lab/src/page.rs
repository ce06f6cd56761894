//! The results of a suite as one page.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use mimosa_plot::{Figure, Kind, Panel, Part, PlotError, Series, Table};
use mimosa_scenario::LinkConfig;
use mimosa_units::{Rate, Time, TimeDelta};

use crate::figure;
use crate::matrix;
use crate::numbers::mean;
use crate::overview;
use crate::record::{FlowRecord, Record};
use crate::scoreboard;
use crate::suite::{Body, Case, PageKind, Setting, Suite};
use crate::table::{Column, FLOWS, LINK, without_empty};

/// Most flows whose bitrates are shown side by side.
const MOST_SHOWN: usize = 5;
/// Rate in Mbit/s from which a link's rate is not drawn.
const MOST_DRAWN: f64 = 1e6;

/// A page, as HTML and as Markdown.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The HTML page, with text, tables and figures.
    pub html: String,
    /// The Markdown page, with text and tables, and references to the figures.
    pub markdown: String,
    /// The figures of the Markdown page, in their order.
    pub figures: Vec<Drawing>,
}

/// A figure as a separate file.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Name of the file, in the page's folder.
    pub file: String,
    /// The figure as an SVG document.
    pub svg: String,
}

/// Makes the page of `records`, which are in the order of the suite's jobs. Cases without a record
/// are left out, except those that cannot be simulated.
///
/// # Errors
///
/// [`PlotError`] if a figure cannot be drawn.
pub fn page(suite: &Suite, records: &[Record]) -> Result<Page, PlotError> {
    let mut parts = vec![Part::Text(suite.about.clone())];
    match suite.page {
        PageKind::Cases => {
            for case in &suite.cases {
                chapter(case, records, &mut parts);
            }
        }
        PageKind::Scoreboard => scoreboard::parts(suite, records, &mut parts),
        PageKind::Overview => overview::parts(suite, records, &mut parts),
        PageKind::Figure => figure::parts(suite, records, &mut parts),
        PageKind::Matrix => matrix::parts(suite, records, &mut parts),
    }
    let page = mimosa_plot::Page {
        title: suite.title.clone(),
        subtitle: conditions(records),
        parts,
    };
    let files = files(suite, &page);
    let figures = page.parts.iter().filter_map(|part| match part {
        Part::Figure(figure) => Some(figure.to_svg()),
        Part::Heat(heat) => Some(heat.to_svg()),
        _ => None,
    });
    let drawn = figures.zip(&files).map(|(svg, file)| {
        Ok(Drawing {
            file: file.clone(),
            svg: svg?,
        })
    });
    Ok(Page {
        html: page.to_html()?,
        figures: drawn.collect::<Result<_, PlotError>>()?,
        markdown: markdown(&page, &files),
    })
}

/// Names of the files of the page's figures: those of the suite's plots, or made from the titles.
fn files(suite: &Suite, page: &mimosa_plot::Page) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for part in &page.parts {
        let Some(title) = drawn_title(part) else {
            continue;
        };
        let plot = suite.plots.iter().find(|plot| plot.title == title);
        let name = plot.map_or(title, |plot| &plot.name);
        let name = plain(name);
        let file = |end: &str| format!("figures/{name}{end}.svg");
        // Figures with the same title are numbered.
        let mut file_names =
            std::iter::once(file("")).chain((2..).map(|number: usize| file(&format!("-{number}"))));
        names.extend(file_names.find(|file| !names.contains(file)));
    }
    names
}

/// Title of a part that is drawn; `None` for text and tables.
fn drawn_title(part: &Part) -> Option<&str> {
    match part {
        Part::Figure(figure) => Some(&figure.title),
        Part::Heat(heat) => Some(&heat.title),
        _ => None,
    }
}

/// The text in lower case, with letters and digits, and a dash for anything else in between.
fn plain(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").to_lowercase()
}

/// The controllers that ran, in the order of their names.
pub(crate) fn all_controllers(records: &[Record]) -> Vec<&str> {
    let names = records.iter().map(|record| record.key.controller.as_str());
    let names: BTreeSet<_> = names.collect();
    names.into_iter().collect()
}

/// The seeds and controllers of the records, in words.
fn conditions(records: &[Record]) -> String {
    let seeds = || records.iter().map(|record| record.key.seed);
    let controllers = all_controllers(records);
    let seeds = match (seeds().min(), seeds().max()) {
        (Some(first), Some(last)) if first != last => format!("means of seeds {first} to {last}"),
        (Some(only), _) => format!("seed {only}"),
        _ => "no runs".to_owned(),
    };
    format!("{seeds}; {}", controllers.join(", "))
}

/// The records of one setting and controller.
pub(crate) fn runs<'a>(
    records: &'a [Record],
    case: &Case,
    setting: &Setting,
    controller: &str,
) -> Vec<&'a Record> {
    records
        .iter()
        .filter(|record| {
            record.key.case == case.name
                && setting.has(&record.key)
                && record.key.controller == controller
        })
        .collect()
}

/// The controllers of one setting, in the order of the records.
pub(crate) fn controllers<'a>(
    records: &'a [Record],
    case: &Case,
    setting: &Setting,
) -> Vec<&'a str> {
    let mut names: Vec<_> = records
        .iter()
        .filter(|record| record.key.case == case.name && setting.has(&record.key))
        .map(|record| record.key.controller.as_str())
        .collect();
    names.dedup();
    names
}

fn chapter(case: &Case, records: &[Record], parts: &mut Vec<Part>) {
    let settings = match &case.body {
        Body::Carried(settings) => settings,
        Body::NotCarried(why) => {
            heading(case, parts);
            parts.push(Part::Text(format!("Not carried. {why}")));
            return;
        }
    };
    let mut flows = table("Video flows; delays in ms", FLOWS, case, settings, records);
    if flows.rows.is_empty() {
        return;
    }
    let mut add = |header: &str, of: &dyn Fn(&[&Record]) -> String| {
        flows.headers.push(header.to_owned());
        for (row, (_, _, runs)) in flows.rows.iter_mut().zip(groups(case, settings, records)) {
            row.push(of(&runs));
        }
    };
    add("each Mbit/s", &|runs| {
        each(runs, 2, |flow| flow.bitrate_mbps)
    });
    let is_even = |setting: &Setting| setting.scenario.videos_share_a_route();
    if !settings.iter().all(is_even) {
        let p95 = |flow: &FlowRecord| Some(flow.frame_delay_ms.as_ref()?.p95);
        add("each frame p95", &|runs| each(runs, 0, p95));
    }
    let link = table("Link; delays in ms", LINK, case, settings, records);
    heading(case, parts);
    for mut table in [flows, link] {
        without_empty(&mut table);
        parts.push(Part::Table(table));
    }
    for setting in settings {
        parts.extend(figure(case, setting, records).map(Part::Figure));
    }
}

pub(crate) fn heading(case: &Case, parts: &mut Vec<Part>) {
    parts.push(Part::Heading(format!("{}: {}", case.name, case.title)));
    let mut text = format!("{}.", case.source);
    if let Some(expected) = &case.expected {
        let _ = write!(text, " Expected: {expected}");
    }
    if let Some(differs) = &case.differs {
        let _ = write!(text, " Not as there: {differs}");
    }
    parts.push(Part::Text(text));
}

/// A row for each variant and controller.
pub(crate) fn table(
    title: &str,
    columns: &[Column],
    case: &Case,
    settings: &[Setting],
    records: &[Record],
) -> Table {
    let headers = columns.iter().map(|column| column.header);
    let rows = groups(case, settings, records);
    let rows = rows.map(|(setting, controller, runs)| {
        let variant = setting.variant.clone().unwrap_or_default();
        let cells = columns.iter().map(|column| column.text(column.of(&runs)));
        [controller.to_owned(), variant]
            .into_iter()
            .chain(cells)
            .collect()
    });
    Table {
        title: title.to_owned(),
        headers: ["controller", "variant"]
            .into_iter()
            .chain(headers)
            .map(str::to_owned)
            .collect(),
        rows: rows.collect(),
    }
}

/// The records, variant by variant and controller by controller.
pub(crate) fn groups<'a>(
    case: &'a Case,
    settings: &'a [Setting],
    records: &'a [Record],
) -> impl Iterator<Item = (&'a Setting, &'a str, Vec<&'a Record>)> {
    settings.iter().flat_map(move |setting| {
        controllers(records, case, setting)
            .into_iter()
            .map(move |controller| {
                let runs = runs(records, case, setting, controller);
                (setting, controller, runs)
            })
    })
}

/// A figure of each flow; empty for one flow, and for more than can be shown.
fn each(runs: &[&Record], decimals: usize, figure: fn(&FlowRecord) -> Option<f64>) -> String {
    let flows = runs.first().map_or(0, |run| run.flows.len());
    if !(2..=MOST_SHOWN).contains(&flows) {
        return String::new();
    }
    let figure = |flow: usize| {
        let of = |run: &&Record| figure(run.flows.get(flow)?);
        mean(runs.iter().filter_map(of))
    };
    let figures = (0..flows).map(|flow| format!("{:.decimals$}", figure(flow).unwrap_or(0.0)));
    figures.collect::<Vec<_>>().join(" ")
}

/// The rates that arrived in the first run of each controller, by second.
fn figure(case: &Case, setting: &Setting, records: &[Record]) -> Option<Figure> {
    let capacities = capacities(setting);
    let mut panels = Vec::new();
    let mut seed = None;
    for controller in controllers(records, case, setting) {
        let runs = runs(records, case, setting, controller);
        let run = runs.first()?;
        seed = Some(run.key.seed);
        let flows = run.flows.iter().map(|flow| Series {
            name: flow.name.clone(),
            points: seconds(flow.arrived_kbps.iter().map(|kbps| *kbps as f64 / 1e3)),
            kind: Kind::Steps,
        });
        let links = capacities.iter().map(|(name, points)| Series {
            name: name.clone(),
            points: points.clone(),
            kind: Kind::Reference,
        });
        panels.push(Panel {
            title: controller.to_owned(),
            y_label: "Mbit/s".to_owned(),
            y_range: None,
            series: links.chain(flows).collect(),
        });
    }
    Some(Figure {
        title: format!("What arrived of case {}", case.name),
        subtitle: match &setting.variant {
            Some(variant) => format!("{variant}; seed {}; means of a second", seed?),
            None => format!("seed {}; means of a second", seed?),
        },
        x_label: "Time (s)".to_owned(),
        panels,
    })
}

/// The links with a rate, and the capacity of each in each second, in Mbit/s.
fn capacities(setting: &Setting) -> Vec<(String, Vec<(f64, f64)>)> {
    let scenario = &setting.scenario;
    let is_one = scenario.next.is_empty() && scenario.reverse.is_none();
    let name = |number: usize| {
        if is_one {
            "link".to_owned()
        } else if number > scenario.next.len() {
            "link back".to_owned()
        } else {
            format!("link {}", number + 1)
        }
    };
    scenario
        .links()
        .enumerate()
        .map(|(number, link)| (name(number), capacity(link, scenario.duration)))
        .filter(|(_, rates)| rates.iter().all(|(_, mbps)| *mbps < MOST_DRAWN))
        .collect()
}

fn capacity(link: &LinkConfig, duration: TimeDelta) -> Vec<(f64, f64)> {
    let second = TimeDelta::from_millis(1_000);
    let mut at = Time::ZERO;
    let end = Time::ZERO + duration;
    let mut rates = Vec::new();
    while at < end {
        let amount = link.schedule.capacity(at, at + second);
        rates.push(Rate::of(amount, second).as_mbps());
        at += second;
    }
    seconds(rates.into_iter())
}

fn seconds(values: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
    (0_u32..).map(f64::from).zip(values).collect()
}

/// The page as Markdown, with references to its figures in these files.
fn markdown(page: &mimosa_plot::Page, files: &[String]) -> String {
    let mut text = format!("# {}\n\n{}\n", page.title, page.subtitle);
    let mut files = files.iter();
    for part in &page.parts {
        let part = match part {
            Part::Heading(heading) => format!("## {heading}\n"),
            Part::Text(words) => format!("{words}\n"),
            Part::Table(table) => table.to_markdown(),
            part => match drawn_title(part).zip(files.next()) {
                Some((title, file)) => format!("![{title}]({file})\n"),
                None => continue,
            },
        };
        let _ = write!(text, "\n{part}");
    }
    text
}
