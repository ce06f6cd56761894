//! The numbers of a link as tables.

use std::fmt::Write as _;

use mimosa_plot::Table;

use crate::link::JoinSummary;
use crate::link::belief::Belief;
use crate::link::summary::{Direction, Share};
use crate::link::way::WayMillis;
use crate::tables::{Printed, number, percent, single, table};

/// A direction in words.
pub(crate) fn way(direction: &Direction) -> &'static str {
    if direction.direction == "forward" {
        "Sender to receiver"
    } else {
        "Receiver to sender"
    }
}

/// The tables of one direction.
pub(crate) fn direction(direction: &Direction) -> Vec<Table> {
    let way = way(direction);
    let all = &direction.all;
    let columns = [
        ("seconds", format!("{:.1}", direction.seconds)),
        ("link Mbit/s", number(direction.link_mbps, 2)),
        ("carried", number(all.mbps, 2)),
        ("in use", percent(direction.busy, 1)),
        ("packets", all.packets.to_string()),
        ("dropped", all.dropped.to_string()),
        ("lost", all.lost.to_string()),
        ("marked", all.marked.to_string()),
        (
            "backlog kB",
            format!("{:.1}", all.backlog_bytes as f64 / 1e3),
        ),
    ];
    vec![
        single(way, &columns),
        shares(&format!("{way}, queues"), "queue", &direction.queues),
        shares(&format!("{way}, flows"), "flow", &direction.flows),
    ]
}

fn shares(title: &str, what: &str, shares: &[Share]) -> Table {
    let rows = shares.iter().map(|share| {
        let spread = share.queue_ms;
        let wait = |value: Option<f64>| number(value, 1);
        let name = if share.is_stream && what == "flow" {
            format!("stream, {}", share.name)
        } else {
            share.name.clone()
        };
        vec![
            name,
            share.packets.to_string(),
            number(share.mbps, 2),
            percent(share.share, 1),
            share.dropped.to_string(),
            share.lost.to_string(),
            share.marked.to_string(),
            wait(spread.map(|spread| spread.p50)),
            wait(spread.map(|spread| spread.p95)),
            wait(spread.map(|spread| spread.p99)),
            wait(spread.map(|spread| spread.max)),
        ]
    });
    let headers = [
        what, "packets", "Mbit/s", "share", "dropped", "lost", "marked", "p50", "p95", "p99", "max",
    ];
    table(&format!("{title}, waits in ms"), &headers, rows.collect())
}

/// The tables of a link through which a session went.
pub(crate) fn joined(summary: &JoinSummary) -> Vec<Table> {
    let mut tables = vec![matched(summary)];
    tables.extend(delay(summary));
    tables.extend(beliefs(summary));
    tables.extend(direction(&summary.traffic));
    tables
}

/// The table of the packets that were found, and of the clocks.
fn matched(summary: &JoinSummary) -> Table {
    let clock = &summary.clock;
    let columns = [
        ("frames", summary.frames.to_string()),
        ("packets", summary.packets.to_string()),
        ("missing", summary.missing.to_string()),
        (
            "beside wall clocks ms",
            number(clock.beside_wall_clocks_ms, 3),
        ),
        ("at most over by ms", number(clock.at_most_over_ms, 3)),
    ];
    single(&format!("Link {}", summary.file), &columns)
}

/// The packets that were found, and the clocks, in a sentence.
pub(crate) fn clocks(summary: &JoinSummary) -> String {
    let clock = &summary.clock;
    let mut text = format!(
        "{} packets of {} frames were found by their RTP sequence numbers",
        summary.packets, summary.frames
    );
    if summary.missing > 0 {
        let _ = write!(text, ", {} more of these frames were not", summary.missing);
    }
    text.push_str(
        ". The clocks are aligned so that the fastest packet takes no time from the host to the \
         link",
    );
    if let Some(beside) = clock.beside_wall_clocks_ms {
        let _ = write!(text, ", {beside:.3} ms beside what the wall clocks say");
    }
    if let Some(over) = clock.at_most_over_ms {
        let _ = write!(
            text,
            "; acknowledgements leave it at most {over:.3} ms of error"
        );
    }
    text.push('.');
    text
}

/// The table of the parts of the frame delay; `None` if no frame's way is known.
pub(crate) fn delay(summary: &JoinSummary) -> Option<Table> {
    let shares = summary.delay_ms?;
    let typical = Printed::of(shares.typical.parts());
    let slow = Printed::of(shares.slow.parts());
    let rows = (0..WayMillis::NAMES.len()).map(|part| {
        vec![
            WayMillis::NAMES[part].to_owned(),
            typical.part(part),
            typical.share(part),
            slow.part(part),
            slow.share(part),
            format!("{:.1}", shares.p50.parts()[part]),
            format!("{:.1}", shares.p95.parts()[part]),
        ]
    });
    let total = vec![
        "frame delay".to_owned(),
        typical.total(),
        String::new(),
        slow.total(),
        String::new(),
        format!("{:.1}", shares.p50.delay),
        format!("{:.1}", shares.p95.delay),
    ];
    let headers = ["part", "typical", "share", "slow", "share", "p50", "p95"];
    let title = "Frame delay in the link, in ms";
    Some(table(title, &headers, rows.chain([total]).collect()))
}

/// The table of estimates and truth; `None` if the controller makes no estimates.
pub(crate) fn beliefs(summary: &JoinSummary) -> Option<Table> {
    let beliefs = &summary.beliefs;
    let all = [
        ("service rate, Mbit/s", beliefs.service_mbps),
        ("utilisation", beliefs.utilization),
        ("queue delay, ms", beliefs.queue_ms),
        ("own backlog, kB", beliefs.backlog_kb),
    ];
    let rows: Vec<_> = all
        .into_iter()
        .filter_map(|(name, belief)| {
            let Belief {
                frames,
                believed,
                truth,
                error_p50,
                error_p95,
            } = belief?;
            let values = [believed, truth, error_p50, error_p95].map(|value| format!("{value:.2}"));
            let head = [name.to_owned(), frames.to_string()];
            Some(head.into_iter().chain(values).collect())
        })
        .collect();
    let headers = [
        "estimate",
        "frames",
        "believed",
        "truth",
        "error p50",
        "error p95",
    ];
    let title = "What the controller believed";
    (!rows.is_empty()).then(|| table(title, &headers, rows))
}
