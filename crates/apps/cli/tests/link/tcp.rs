//! The kernel's TCP across a link, driven by iperf3: 50 Mbit/s, 30 ms round trip, a
//! drop-tail queue of 250 packets, twice what the path itself holds.
//!
//! A machine that is busy with something else holds the link's threads up, and then
//! emulates another network, which the link says itself; or those of the connection, which
//! then takes its own waits for the network's. A run in which that is seen is repeated. A
//! processor that stands still for some ten milliseconds is not always seen: after a run that
//! does not give what it should, the majority of five counts.

use std::fs::File;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mimosa_facts::{LinkPacket, Passage};
use mimosa_record::read_link;
use serde_json::Value;

use crate::{link, text, with_network};

/// Two at a time would take each other's processor.
static ALONE: Mutex<()> = Mutex::new(());

/// Runs until one counts.
const ATTEMPTS: usize = 4;
/// Seconds of a run.
const SECONDS: u32 = 12;
/// A run in which one packet in a thousand left later than this does not count.
const LATE_MICROS: f64 = 5_000.0;
/// Nor one in which any packet left later than this, half a round trip. While a connection
/// doubles its window, such a stop makes it overshoot twice as far, from which it takes
/// longer to recover than a run lasts.
const LATEST_MICROS: f64 = 15_000.0;
/// Nor one in which one sleep in a thousand of a thread like the connection's was too long by
/// this: at 4 ms, BBR's queue is three times as long. Of a machine that has time it is 1 ms.
const HELD_UP_MICROS: f64 = 3_000.0;

/// What a connection got, and how long its packets waited.
struct Seen {
    goodput_mbps: f64,
    waits_ms: Vec<f64>,
    dropped: usize,
    marked: usize,
}

impl Seen {
    fn mean_wait(&self) -> f64 {
        self.waits_ms.iter().sum::<f64>() / self.waits_ms.len() as f64
    }

    fn print(&self, name: &str) {
        println!(
            "{name}: {:.2} Mbit/s, waits {:.1} ms (mean), {:.1} {:.1} {:.1} {:.1} (p5, p50, p95, \
             max), {} dropped, {} marked",
            self.goodput_mbps,
            self.mean_wait(),
            self.wait(5),
            self.wait(50),
            self.wait(95),
            self.wait(100),
            self.dropped,
            self.marked
        );
    }

    fn wait(&self, percent: usize) -> f64 {
        self.waits_ms[(self.waits_ms.len() - 1) * percent / 100]
    }
}

/// A download by iperf3 with this congestion control across the network in `folder`.
/// `None` when the machine was too busy each time.
fn download(folder: &Path, algorithm: &str, ecn: bool) -> Option<Seen> {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut late = Vec::new();
    for _ in 0..ATTEMPTS {
        let ecn = format!("echo {} > /proc/sys/net/ipv4/tcp_ecn", u8::from(ecn));
        let serve = format!("{ecn}; exec iperf3 -s -1 >/dev/null");
        let load = format!(
            "{ecn}; sleep 0.5; exec iperf3 -J -R -c $MIMOSA_LINK_PEER -t {SECONDS} -C {algorithm}"
        );
        let (output, held_up) = watched(|| {
            link(
                folder,
                "run path.toml --log log.parquet --summary end.json --peer",
            )
            .arg(serve)
            .args(["--", "sh", "-c", &load])
            .output()
            .unwrap()
        });
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}{}", text(&output.stdout));
        let end: Value = read_json(&folder.join("end.json"));
        let left_late = |rank: &str| end["ways"][0]["late_us"][rank].as_f64().unwrap();
        let (often, once) = (left_late("p999"), left_late("max"));
        if often > LATE_MICROS || once > LATEST_MICROS || held_up > HELD_UP_MICROS {
            late.push((often, once, held_up));
            continue;
        }
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        let bps = result["end"]["sum_received"]["bits_per_second"].as_f64();
        let recording = read_link(File::open(folder.join("log.parquet")).unwrap()).unwrap();
        return Some(Seen::of(bps.unwrap() / 1e6, &recording.packets));
    }
    eprintln!(
        "skipped: the machine was too busy: packets left late (p99.9, max) and threads were held \
         up (p99.9) by {late:?} us"
    );
    None
}

/// Downloads, and checks what came of it. Where that fails, three of five downloads have to hold.
/// `None` when the machine was too busy.
fn judge(
    folder: &Path,
    (algorithm, ecn): (&str, bool),
    check: impl Fn(&Seen) -> Result<(), String>,
) -> Option<()> {
    let mut held = 0;
    let mut mistakes = Vec::new();
    while held < 3 {
        let seen = download(folder, algorithm, ecn)?;
        seen.print(algorithm);
        match check(&seen) {
            Ok(()) if mistakes.is_empty() => break,
            Ok(()) => held += 1,
            Err(mistake) => mistakes.push(mistake),
        }
        assert!(mistakes.len() < 3, "{algorithm}: {mistakes:?}");
    }
    Some(())
}

/// What `run` gives, and by how many microseconds one sleep in a thousand of another thread
/// was too long meanwhile.
#[expect(clippy::disallowed_methods, reason = "it watches real time")]
fn watched<T>(run: impl FnOnce() -> T) -> (T, f64) {
    const SLEEP: Duration = Duration::from_millis(1);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut late = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                let begun = Instant::now();
                std::thread::sleep(SLEEP);
                late.push(begun.elapsed().saturating_sub(SLEEP));
            }
            late.sort_unstable();
            let place = late.len().saturating_sub(1) * 999 / 1000;
            late.get(place).map_or(0.0, |late| late.as_secs_f64() * 1e6)
        });
        let given = run();
        is_over.store(true, Ordering::Relaxed);
        (given, watch.join().unwrap())
    })
}

fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

impl Seen {
    fn of(goodput_mbps: f64, packets: &[Passage<LinkPacket>]) -> Self {
        let there: Vec<_> = packets
            .iter()
            .filter(|passage| passage.packet.is_forward)
            .collect();
        let waits = there.iter().filter_map(|packet| {
            let started = packet.started?;
            Some(started.since(packet.offered).as_millis())
        });
        let mut waits_ms: Vec<_> = waits.collect();
        waits_ms.sort_by(f64::total_cmp);
        let count = |is: fn(&Passage<LinkPacket>) -> bool| {
            there.iter().filter(|passage| is(passage)).count()
        };
        Self {
            goodput_mbps,
            waits_ms,
            dropped: count(|packet| packet.started.is_none()),
            marked: count(|packet| packet.ecn != packet.sent_ecn),
        }
    }
}

/// That `value` is within `share` of `expected`.
fn is_near(what: &str, value: f64, expected: f64, share: f64) -> Result<(), String> {
    holds((value - expected).abs() <= share * expected, || {
        format!("{what}: {value}, not {expected} within {share}")
    })
}

fn holds(is_so: bool, otherwise: impl Fn() -> String) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(otherwise()) }
}

fn network(queue: &str) -> String {
    format!("[link]\nrate = \"50Mbit/s\"\none_way_delay = \"15ms\"\nqueue = {queue}\n")
}

/// What was measured of these algorithms behind a queue of 250 packets by two other
/// emulators, Mahimahi one of them: goodput and mean wait.
#[test]
fn the_kernels_connections_fill_the_queue_as_they_do_elsewhere() {
    let Some(folder) = with_network(
        "tcp",
        &network("{ kind = \"droptail\", limit = \"250packets\" }"),
    ) else {
        return;
    };
    for (algorithm, mean_ms) in [("cubic", 46.2), ("reno", 39.8)] {
        let judged = judge(&folder, (algorithm, false), |seen| {
            is_near("goodput", seen.goodput_mbps, 47.8, 0.02)?;
            is_near("mean wait", seen.mean_wait(), mean_ms, 0.1)?;
            holds(seen.dropped > 0, || "nothing was dropped".to_owned())?;
            // 250 packets of 0.24 ms, and no more.
            let longest = seen.wait(100);
            holds(longest <= 60.24, || format!("a wait of {longest} ms"))
        });
        if judged.is_none() {
            return;
        }
    }
    // BBR has at most two bandwidth-delay products under way, of which the path holds one. Where
    // nothing holds its threads up, its mean wait is between 3.4 and 11.7 ms. Where something does, it
    // takes the packets that come at once for a faster link, and keeps the second product, which is 30 ms
    // long, in the queue.
    judge(&folder, ("bbr", false), |seen| {
        holds(seen.goodput_mbps > 46.0, || {
            format!("{} Mbit/s", seen.goodput_mbps)
        })?;
        let mean = seen.mean_wait();
        holds((1.0..30.0).contains(&mean), || {
            format!("a mean wait of {mean} ms")
        })
    });
}

#[test]
fn dualpi2_drops_or_marks_a_classic_connection_by_what_it_understands() {
    let Some(folder) = with_network("dualpi2", &network("{ kind = \"dualpi2\" }")) else {
        return;
    };
    for ecn in [false, true] {
        let judged = judge(&folder, ("cubic", ecn), |seen| {
            // What the simulation of the same gives, with 1448 of 1500 bytes as payload: a lone
            // connection leaves a little idle, since every drop may come at any time.
            is_near("goodput", seen.goodput_mbps, 45.9, 0.05)?;
            // The target of the classic queue is 15 ms.
            let median = seen.wait(50);
            holds((5.0..20.0).contains(&median), || {
                format!("a median wait of {median} ms")
            })?;
            let (most, none) = if ecn {
                (seen.marked, seen.dropped)
            } else {
                (seen.dropped, seen.marked)
            };
            holds(most > 5 && none == 0, || {
                format!("{} dropped, {} marked", seen.dropped, seen.marked)
            })
        });
        if judged.is_none() {
            return;
        }
    }
}
