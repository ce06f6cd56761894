//! The figures of a session, from the clients' reports.

use std::collections::BTreeMap;

use mimosa_units::nearest_rank;
use serde::Deserialize;

/// A figure of a session. Each is by the clock of one machine alone.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Metric {
    /// Name of the figure, with its unit.
    pub name: &'static str,
    /// What the figure says.
    pub about: &'static str,
}

/// Every figure that a session may have.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "bitrate_mbps",
        about: "mean bitrate of the video as sent, headers included",
    },
    Metric {
        name: "utilisation_percent",
        about: "that bitrate over the path's `capacity`, where the file states one",
    },
    Metric {
        name: "steady_after_s",
        about: "time from the session's start to the first two seconds in which the bitrate changes by no more than 2 %",
    },
    Metric {
        name: "pictures_per_s",
        about: "pictures decoded in a second",
    },
    Metric {
        name: "stalled_percent",
        about: "frames that were reported more than 100 ms after their encoding, or given up",
    },
    Metric {
        name: "frame_delay_p95_ms",
        about: "time from the end of a frame's encoding to the report of its arrival, by the host's clock: 95th percentile of ten seconds, of which the median over the session",
    },
    Metric {
        name: "long_waits_per_min",
        about: "waits of the client for the next picture above 100 ms",
    },
    Metric {
        name: "longest_wait_ms",
        about: "the longest of those waits; 0 without any",
    },
    Metric {
        name: "round_trip_p50_ms",
        about: "median of the round-trip times that the host measured",
    },
    Metric {
        name: "queueing_p50_ms",
        about: "median of the round-trip times, minus the least of the session",
    },
    Metric {
        name: "queueing_p95_ms",
        about: "95th percentile of the same",
    },
    Metric {
        name: "lost_percent",
        about: "packets of video that did not arrive, over the whole session",
    },
    Metric {
        name: "total_mbps",
        about: "sum of the bitrates of all streams and of TCP, while all run",
    },
    Metric {
        name: "share_percent",
        about: "bitrate of the first stream over that sum",
    },
    Metric {
        name: "jain",
        about: "Jain's index of those bitrates: 1 is an equal share for each",
    },
    Metric {
        name: "fair_after_s",
        about: "time from the last stream's start to the first two seconds in which no stream's mean bitrate is more than 20 % below another's, or all are steady",
    },
    Metric {
        name: "tcp_mbps",
        about: "what TCP carried meanwhile",
    },
];

/// Span in which Pudica's authors call a bitrate steady or streams fair, and the changes that they
/// allow (NSDI 2024, section 5.3).
const SPAN: f64 = 2.0;
const STEADY: f64 = 0.02;
const FAIR: f64 = 0.2;

/// The raw material of a session.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    /// The streams; the first is the one of the session's arm.
    pub streams: &'a [RawStream<'a>],
    /// What `iperf3 --json` wrote, with its start in seconds from the first stream's.
    pub tcp: Option<(f64, &'a str)>,
    /// Length of the session and of the warm-up of each stream, in seconds.
    pub session: f64,
    /// Time at the beginning of each stream that is left out, in seconds.
    pub warm_up: f64,
    /// What the path carries, in Mbit/s.
    pub capacity: Option<f64>,
}

/// The raw material of a stream.
#[derive(Clone, Copy, Debug)]
pub struct RawStream<'a> {
    /// When the client was started, in seconds from the first one's start by the driving machine's
    /// clock.
    pub start: f64,
    /// What `mimosa play --report` wrote.
    pub report: &'a str,
}

/// What is read of a client's report.
#[derive(Deserialize)]
struct Report {
    connected_after: Option<f64>,
    packets: Packets,
    over_time: Vec<Told>,
    long_waits: Vec<[f64; 2]>,
}

#[derive(Deserialize)]
struct Packets {
    video: u64,
    lost: u64,
}

#[derive(Clone, Copy, Deserialize)]
struct Told {
    seconds: f64,
    bitrate: Option<f64>,
    round_trip: Option<f64>,
    frame_delay_p95: Option<f64>,
    stalls: Option<u64>,
    frames: u64,
    pictures: u64,
}

#[derive(Deserialize)]
struct Iperf {
    intervals: Vec<IperfInterval>,
}

#[derive(Deserialize)]
struct IperfInterval {
    sum: IperfSum,
}

#[derive(Deserialize)]
struct IperfSum {
    start: f64,
    end: f64,
    bits_per_second: f64,
}

/// A bitrate over time: seconds and Mbit/s.
type Series = Vec<(f64, f64)>;

/// The figures of a session, by the names of [`METRICS`].
///
/// # Errors
///
/// A text that says which report cannot be read, and why.
pub fn figures(raw: &Raw<'_>) -> Result<BTreeMap<String, f64>, String> {
    let mut reports = Vec::new();
    for (number, stream) in raw.streams.iter().enumerate() {
        let report: Report = serde_json::from_str(stream.report).map_err(|error| {
            format!(
                "the report of client {} cannot be read: {error}; \
                 run the same version of mimosa on all machines",
                number + 1
            )
        })?;
        reports.push(report);
    }
    let mut found = BTreeMap::new();
    let Some(first) = reports.first() else {
        return Ok(found);
    };
    alone(first, raw, &mut found);
    if raw.streams.len() > 1 || raw.tcp.is_some() {
        together(&reports, raw, &mut found)?;
    }
    found.retain(|_, value| value.is_finite());
    Ok(found)
}

/// The figures of one stream, whatever runs beside it.
fn alone(report: &Report, raw: &Raw<'_>, found: &mut BTreeMap<String, f64>) {
    let mut put = |name: &str, value: Option<f64>| {
        if let Some(value) = value {
            found.insert(name.to_owned(), value);
        }
    };
    let all = &report.over_time;
    let settled: Vec<Told> = all
        .iter()
        .filter(|told| told.seconds >= raw.warm_up)
        .copied()
        .collect();
    let bitrate = mean(settled.iter().filter_map(|told| told.bitrate)).map(|bits| bits / 1e6);
    put("bitrate_mbps", bitrate);
    let used = |capacity| Some(bitrate? / capacity * 100.0);
    put("utilisation_percent", raw.capacity.and_then(used));
    put("steady_after_s", steady_after(&bitrates(all, 0.0)));
    if let (Some(begin), Some(end)) = (settled.first(), settled.last())
        && end.seconds > begin.seconds
    {
        let span = end.seconds - begin.seconds;
        let pictures = end.pictures.saturating_sub(begin.pictures) as f64;
        put("pictures_per_s", Some(pictures / span));
        let frames = end.frames.saturating_sub(begin.frames);
        if let (Some(before), Some(after)) = (begin.stalls, end.stalls)
            && frames > 0
        {
            let stalled = after.saturating_sub(before) as f64;
            put("stalled_percent", Some(stalled / frames as f64 * 100.0));
        }
        let waits = || {
            report
                .long_waits
                .iter()
                .filter(|[at, _]| *at >= raw.warm_up)
        };
        let count = waits().count() as f64;
        put("long_waits_per_min", Some(count / span * 60.0));
        let longest = waits().map(|[_, wait]| *wait).fold(0.0, f64::max);
        put("longest_wait_ms", Some(longest));
    }
    let delays = sorted(settled.iter().filter_map(|told| told.frame_delay_p95));
    put("frame_delay_p95_ms", nearest_rank(&delays, 0.5));
    let round_trips = sorted(settled.iter().filter_map(|told| told.round_trip));
    put("round_trip_p50_ms", nearest_rank(&round_trips, 0.5));
    let least = sorted(all.iter().filter_map(|told| told.round_trip));
    if let Some(least) = least.first() {
        let above = |share| nearest_rank(&round_trips, share).map(|time| time - least);
        put("queueing_p50_ms", above(0.5));
        put("queueing_p95_ms", above(0.95));
    }
    let packets = report.packets.video.saturating_add(report.packets.lost);
    let lost = report.packets.lost as f64 / packets as f64 * 100.0;
    put("lost_percent", (packets > 0).then_some(lost));
}

/// The figures of several streams, while all of them run and are warm.
fn together(
    reports: &[Report],
    raw: &Raw<'_>,
    found: &mut BTreeMap<String, f64>,
) -> Result<(), String> {
    let last = raw
        .streams
        .iter()
        .map(|stream| stream.start)
        .fold(0.0, f64::max);
    let from = last + raw.warm_up;
    let all: Vec<Series> = raw
        .streams
        .iter()
        .zip(reports)
        .map(|(stream, report)| {
            let connected = report.connected_after.unwrap_or(0.0) / 1_000.0;
            bitrates(&report.over_time, stream.start + connected)
        })
        .collect();
    let within = |series: &Series| mean(between(series, from, raw.session));
    let Some(mut means) = all.iter().map(within).collect::<Option<Vec<f64>>>() else {
        return Ok(());
    };
    let own = means.first().copied().unwrap_or(0.0);
    if let Some((start, text)) = raw.tcp {
        let iperf: Iperf = serde_json::from_str(text)
            .map_err(|error| format!("what iperf3 wrote cannot be read: {error}"))?;
        let series: Series = iperf
            .intervals
            .iter()
            .map(|one| {
                let middle = f64::midpoint(one.sum.start, one.sum.end);
                (start + middle, one.sum.bits_per_second / 1e6)
            })
            .collect();
        let Some(tcp) = within(&series) else {
            return Ok(());
        };
        found.insert("tcp_mbps".to_owned(), tcp);
        means.push(tcp);
    }
    let total: f64 = means.iter().sum();
    let squares: f64 = means.iter().map(|mean| mean * mean).sum();
    found.insert("total_mbps".to_owned(), total);
    found.insert("share_percent".to_owned(), own / total * 100.0);
    let jain = total * total / (means.len() as f64 * squares);
    found.insert("jain".to_owned(), jain);
    if let Some(after) = fair_after(&all, last) {
        found.insert("fair_after_s".to_owned(), after);
    }
    Ok(())
}

fn bitrates(told: &[Told], offset: f64) -> Series {
    let point = |told: &Told| Some((told.seconds + offset, told.bitrate? / 1e6));
    told.iter().filter_map(point).collect()
}

/// The values of a series from a time to another, both included.
fn between(series: &Series, from: f64, to: f64) -> impl Iterator<Item = f64> {
    let is_in = move |(at, _): &&(f64, f64)| (from..=to).contains(at);
    series.iter().filter(is_in).map(|(_, value)| *value)
}

/// Whether a bitrate is steady over the span before `at`.
fn is_steady(series: &Series, at: f64) -> bool {
    let values = || between(series, at - SPAN, at);
    let most = values().fold(0.0, f64::max);
    let least = values().fold(f64::INFINITY, f64::min);
    most > 0.0 && most <= least * (1.0 + STEADY)
}

/// The end of the first span in which a bitrate is steady.
fn steady_after(series: &Series) -> Option<f64> {
    let (begin, _) = series.first()?;
    let mut ends = series.iter().map(|(at, _)| *at);
    ends.find(|at| at - begin >= SPAN && is_steady(series, *at))
}

/// The end of the first span in which streams are fair, from `start` on.
fn fair_after(all: &[Series], start: f64) -> Option<f64> {
    let first = all.first().filter(|_| all.len() > 1)?;
    let end = first.iter().map(|(at, _)| *at).find(|at| {
        let means: Option<Vec<f64>> = all
            .iter()
            .map(|series| mean(between(series, at - SPAN, *at)))
            .collect();
        let Some(means) = means.filter(|_| at - start >= SPAN) else {
            return false;
        };
        let most = means.iter().copied().fold(0.0, f64::max);
        let least = means.iter().copied().fold(f64::INFINITY, f64::min);
        least >= most * (1.0 - FAIR) || all.iter().all(|series| is_steady(series, *at))
    })?;
    Some(end - start)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report of ten seconds: the bitrate is half of `mbps` for three seconds, and the round-trip
    /// time rises by 5 ms in each second.
    fn report(mbps: f64) -> String {
        let told: Vec<_> = (0..40_u32)
            .map(|number| {
                let seconds = f64::from(number) / 4.0;
                let bitrate = if seconds < 3.0 { mbps / 2.0 } else { mbps } * 1e6;
                serde_json::json!({
                    "seconds": seconds,
                    "bitrate": bitrate,
                    "round_trip": 20.0 + seconds.floor() * 5.0,
                    "frame_delay_p95": 30.0,
                    "stalls": number / 20,
                    "frames": number * 15,
                    "pictures": number * 10,
                })
            })
            .collect();
        serde_json::json!({
            "connected_after": 0.0,
            "packets": { "video": 98, "lost": 2 },
            "long_waits": [[1.0, 900.0], [6.0, 150.0]],
            "over_time": told,
            "something": "else",
        })
        .to_string()
    }

    fn of(streams: &[RawStream<'_>], tcp: Option<(f64, &str)>) -> BTreeMap<String, f64> {
        let raw = Raw {
            streams,
            tcp,
            session: 10.0,
            warm_up: 4.0,
            capacity: Some(8.0),
        };
        figures(&raw).unwrap()
    }

    #[test]
    fn a_stream_alone_is_measured_after_its_warm_up() {
        let report = report(4.0);
        let start = 0.0;
        let found = of(
            &[RawStream {
                start,
                report: &report,
            }],
            None,
        );
        let has = |name: &str, value: f64| {
            let found = found.get(name).copied();
            let is_near = found.is_some_and(|found| (found - value).abs() < 1e-6);
            assert!(is_near, "{name}: {found:?}, not {value}");
        };
        has("bitrate_mbps", 4.0);
        has("utilisation_percent", 50.0);
        // The first two seconds are steady at half.
        has("steady_after_s", 2.0);
        has("pictures_per_s", 40.0);
        // One stall in 23 steps of 15 frames.
        has("stalled_percent", 100.0 / (23.0 * 15.0));
        has("longest_wait_ms", 150.0);
        has("long_waits_per_min", 60.0 / 5.75);
        has("round_trip_p50_ms", 50.0);
        has("queueing_p50_ms", 30.0);
        has("queueing_p95_ms", 45.0);
        has("lost_percent", 2.0);
        assert_eq!(found.get("jain"), None);
    }

    #[test]
    fn streams_together_have_shares() {
        let (large, small) = (report(6.0), report(2.0));
        let stream = |report| RawStream { start: 0.0, report };
        let found = of(&[stream(&large), stream(&small)], None);
        assert!((found["total_mbps"] - 8.0).abs() < 1e-6, "{found:?}");
        assert!((found["share_percent"] - 75.0).abs() < 1e-6, "{found:?}");
        assert!((found["jain"] - 64.0 / 80.0).abs() < 1e-6, "{found:?}");
        // They are not equal, but both are steady after two seconds.
        assert!((found["fair_after_s"] - 2.0).abs() < 1e-6, "{found:?}");

        let tcp = r#"{"intervals": [
            {"sum": {"start": 0, "end": 1, "bits_per_second": 99e6}},
            {"sum": {"start": 5, "end": 6, "bits_per_second": 6e6}}]}"#;
        let found = of(&[stream(&large)], Some((0.0, tcp)));
        assert!((found["tcp_mbps"] - 6.0).abs() < 1e-6, "{found:?}");
        assert!((found["jain"] - 1.0).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn streams_are_fair_once_they_are_near_each_other() {
        let series = |later: f64| -> Series {
            (0..40_u32)
                .map(|number| {
                    let at = f64::from(number) / 4.0;
                    // Never steady.
                    let wave = f64::from(number % 2) * 0.5;
                    (at, wave + if at < 5.0 { later * 3.0 } else { later })
                })
                .collect()
        };
        let level: Series = series(4.0).into_iter().map(|(at, _)| (at, 4.0)).collect();
        let found = fair_after(&[level.clone(), series(4.0)], 1.0).unwrap();
        assert!((5.5..=6.25).contains(&found), "{found}");
        assert_eq!(fair_after(&[level, series(8.0)], 1.0), None);
    }

    #[test]
    fn a_report_of_another_version_is_named() {
        let raw = Raw {
            streams: &[RawStream {
                start: 0.0,
                report: "{}",
            }],
            tcp: None,
            session: 1.0,
            warm_up: 0.0,
            capacity: None,
        };
        let error = figures(&raw).unwrap_err();
        assert!(
            error.contains("client 1") && error.contains("same version"),
            "{error}"
        );
    }
}
