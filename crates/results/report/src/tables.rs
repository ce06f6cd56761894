//! The numbers as tables.

use mimosa_plot::Table;

use crate::causes::CauseShare;
use crate::spread::Spread;
use crate::stages::StageMillis;
use crate::summary::Summary;

/// All tables, in the order in which they are shown.
pub(crate) fn all(summary: &Summary) -> Vec<Table> {
    let tables = [
        Some(stream(summary)),
        delays(summary),
        above(summary),
        stages(summary),
        encoder(summary),
        sound(summary),
        causes(summary),
    ];
    tables.into_iter().flatten().collect()
}

pub(crate) fn stream(summary: &Summary) -> Table {
    let columns = [
        ("frames", summary.frames.to_string()),
        ("seconds", format!("{:.1}", summary.seconds)),
        ("Mbit/s", number(summary.bitrate_mbps, 2)),
        ("target", number(summary.target_mbps, 2)),
        ("used", percent(summary.utilization, 1)),
        ("lost", summary.lost.to_string()),
        ("loss", percent(summary.loss, 2)),
        ("sent again", summary.retransmitted.to_string()),
        ("keyframes", summary.keyframes.to_string()),
        ("given up", summary.given_up.to_string()),
        ("stalls", summary.stalls.to_string()),
        (
            "freezes",
            summary
                .freezes
                .map_or_else(absent, |freezes| freezes.count.to_string()),
        ),
        (
            "frozen s",
            number(summary.freezes.map(|freezes| freezes.seconds), 1),
        ),
    ];
    single("Stream", &columns)
}

/// The table of the sound; `None` without sound.
pub(crate) fn sound(summary: &Summary) -> Option<Table> {
    let sound = summary.sound?;
    let columns = [
        ("skew p50", format!("{:.1}", sound.skew_ms.p50)),
        ("skew p95", format!("{:.1}", sound.skew_ms.p95)),
        ("furthest apart", format!("{:.1}", sound.furthest_ms)),
        ("made up", format!("{:.1}", sound.made_up_ms)),
    ];
    Some(single("Sound, in ms", &columns))
}

/// The table of delays; `None` if no delay is known.
pub(crate) fn delays(summary: &Summary) -> Option<Table> {
    let spreads = [
        ("frame delay", summary.frame_delay_ms),
        ("capture to bitstream", summary.to_bitstream_ms),
        ("capture to last packet", summary.to_last_packet_ms),
        ("capture to screen", summary.to_screen_ms),
        ("the same after input", summary.input_to_screen_ms),
        ("action to screen", summary.action_to_screen_ms),
    ];
    let rows: Vec<_> = spreads
        .into_iter()
        .filter_map(|(name, spread)| {
            let Spread { p50, p95, p99, max } = spread?;
            let values = [p50, p95, p99, max].map(|value| format!("{value:.1}"));
            Some(std::iter::once(name.to_owned()).chain(values).collect())
        })
        .collect();
    let title = "Delays in ms";
    let headers = ["delay", "p50", "p95", "p99", "max"];
    (!rows.is_empty()).then(|| table(title, &headers, rows))
}

/// The table of frames above given delays; `None` if none was asked for.
fn above(summary: &Summary) -> Option<Table> {
    let rows = summary.above.iter().map(|above| {
        let share = percent(Some(above.share), 2);
        vec![format!("{} ms", above.ms), above.frames.to_string(), share]
    });
    let headers = ["above", "frames", "share"];
    let title = "Frames by their delay";
    (!summary.above.is_empty()).then(|| table(title, &headers, rows.collect()))
}

/// The table of the stages; `None` if the browser reported nothing.
pub(crate) fn stages(summary: &Summary) -> Option<Table> {
    let stages = summary.stages_ms?;
    let (typical, slow) = (
        Printed::of(stages.typical.parts()),
        Printed::of(stages.slow.parts()),
    );
    let rows = (0..StageMillis::NAMES.len()).map(|stage| {
        vec![
            StageMillis::NAMES[stage].to_owned(),
            typical.part(stage),
            typical.share(stage),
            slow.part(stage),
            slow.share(stage),
            format!("{:.1}", stages.p50.parts()[stage]),
            format!("{:.1}", stages.p95.parts()[stage]),
        ]
    });
    let total = vec![
        "total".to_owned(),
        typical.total(),
        String::new(),
        slow.total(),
        String::new(),
        format!("{:.1}", stages.p50.total),
        format!("{:.1}", stages.p95.total),
    ];
    let headers = ["stage", "typical", "share", "slow", "share", "p50", "p95"];
    Some(table(
        "Capture to screen in ms",
        &headers,
        rows.chain([total]).collect(),
    ))
}

/// The parts of a delay in tenths of a millisecond, which add up as they are printed.
pub(crate) struct Printed<const N: usize>([f64; N]);

impl<const N: usize> Printed<N> {
    pub(crate) fn of(parts: [f64; N]) -> Self {
        Self(parts.map(|part| (part * 10.0).round()))
    }

    fn sum(&self) -> f64 {
        self.0.iter().sum()
    }

    pub(crate) fn part(&self, stage: usize) -> String {
        format!("{:.1}", self.0[stage] / 10.0 + 0.0)
    }

    pub(crate) fn share(&self, stage: usize) -> String {
        let sum = self.sum();
        percent((sum > 0.0).then(|| self.0[stage] / sum + 0.0), 0)
    }

    pub(crate) fn total(&self) -> String {
        format!("{:.1}", self.sum() / 10.0)
    }
}

/// The table of the encoder; `None` without frames.
pub(crate) fn encoder(summary: &Summary) -> Option<Table> {
    let encoder = summary.encoder?;
    let budget = summary.budget_use;
    let above = budget.map_or_else(absent, |budget| budget.above.to_string());
    let columns = [
        ("p50 ms", format!("{:.1}", encoder.time_ms.p50)),
        ("p95 ms", format!("{:.1}", encoder.time_ms.p95)),
        ("p99 ms", format!("{:.1}", encoder.time_ms.p99)),
        ("max ms", format!("{:.1}", encoder.time_ms.max)),
        ("repeated", encoder.repeated.to_string()),
        ("more work", encoder.more_work.to_string()),
        ("quantiser", number(encoder.quantiser, 1)),
        ("budget used", percent(budget.map(|budget| budget.mean), 1)),
        ("at most", percent(budget.map(|budget| budget.max), 1)),
        ("above it", above),
    ];
    Some(single("Encoder", &columns))
}

/// A column of evidence: its header, what a cause has in it, and decimals.
type Evidence = (&'static str, fn(&CauseShare) -> Option<f64>, usize);

/// The table of causes, with the evidence that the controller gave; `None` without frames.
pub(crate) fn causes(summary: &Summary) -> Option<Table> {
    let all = &summary.causes;
    let evidence: [Evidence; 5] = [
        ("busy %", |cause| Some(cause.utilization? * 100.0), 0),
        (
            "smoothed %",
            |cause| Some(cause.smoothed_utilization? * 100.0),
            0,
        ),
        ("serves", |cause| cause.service_mbps, 2),
        ("queue ms", |cause| cause.queue_ms, 1),
        ("backlog kB", |cause| cause.backlog_kb, 1),
    ];
    let seen = evidence
        .into_iter()
        .filter(|(_, value, _)| all.iter().any(|cause| value(cause).is_some()));
    let seen: Vec<_> = seen.collect();
    let rows: Vec<_> = all
        .iter()
        .map(|cause| {
            let decided = [
                cause.cause.to_owned(),
                cause.frames.to_string(),
                percent(Some(cause.share), 1),
                number(cause.target_mbps, 2),
            ];
            let seen = seen.iter();
            let seen = seen.map(|(_, value, decimals)| number(value(cause), *decimals));
            decided.into_iter().chain(seen).collect()
        })
        .collect();
    let headers = ["cause", "frames", "share", "mean target"].into_iter();
    let headers: Vec<_> = headers.chain(seen.iter().map(|(name, ..)| *name)).collect();
    (!rows.is_empty()).then(|| table("Causes", &headers, rows))
}

/// The table of causes, with each cause in words.
pub(crate) fn causes_in_words(summary: &Summary) -> Option<Table> {
    let mut table = causes(summary)?;
    table.headers.push("in words".to_owned());
    for (row, cause) in table.rows.iter_mut().zip(&summary.causes) {
        row.push(cause.in_words.to_owned());
    }
    Some(table)
}

pub(crate) fn single(title: &str, columns: &[(&str, String)]) -> Table {
    let (headers, row): (Vec<_>, Vec<_>) = columns.iter().cloned().unzip();
    table(title, &headers, vec![row])
}

pub(crate) fn table(title: &str, headers: &[&str], rows: Vec<Vec<String>>) -> Table {
    Table {
        title: title.to_owned(),
        headers: headers.iter().map(|&header| header.to_owned()).collect(),
        rows,
    }
}

pub(crate) fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(absent, |value| format!("{value:.decimals$}"))
}

pub(crate) fn percent(share: Option<f64>, decimals: usize) -> String {
    let percent = |share: f64| format!("{:.decimals$}%", share * 100.0);
    share.map_or_else(absent, percent)
}

pub(crate) fn absent() -> String {
    "-".to_owned()
}
