"""Simulated paths for scripts/ace_figures.py: what pacing adds, and how packets leave.

The links are those that the project ships, beside page loads, as in lab/ace/traces.toml: a drop-tail queue of
100 kB, GCC with a window of 200 ms and the first packet of each group, 30 frames a second, at most 20 Mbit/s.
"""

import math
import statistics
import subprocess
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import polars
from ace_c import MIMOSA, ROOT
from ace_encoders import measured

LINKS = {"Wi-Fi": "wifi", "4G": "4g", "5G": "5g"}
PACE = 'pacer = "webrtc"\npacer_params = { factor = 1.0 }'
BUCKET = 'pacer = "ace-n"'
SEEDS = "1..8"
# What happens before does not count.
FROM = 5
# The mean size of frames over the target.
LOADS = (1.0, 0.9, 0.8)
# Sizes of no clip: log-normal, and what is above the target is paid back.
NOISE = 'encoder = "abr"\nframe_noise = 0.5\npay_back = "200ms"'
SCENARIO = """
duration = "60s"

[link]
trace = "{trace}"
one_way_delay = "{delay}ms"
queue = {{ kind = "droptail", limit = "100kB" }}

[[flow]]
name = "game"
controller = "gcc"
params = {{ window_time = "200ms", group_packet = "first" }}
fps = 30
overhead = "40B"
less_headers = true
max_bitrate = "{most}Mbit/s"
frame_scale = [{{ at = "0s", times = {load} }}]
{sizes}
{pacer}
"""
PAGES = """
[[flow]]
name = "pages"
kind = "tcp"
start = "5s"
pages = { every = "10s", size = "2MB" }
"""
# Rates with the quartiles of the paper's traces, in Mbit/s, each for 200 ms (section 6.1), in an order that goes
# through all pairs of neighbours.
QUARTILES = (20, 55, 125, 29, 80, 40, 150, 29, 55, 100, 35)
SECOND = 10**9


@dataclass(frozen=True)
class Case:
    """A path, a pacer, and sizes of frames."""

    link: str
    pacer: str
    round_trip: float = 20
    load: float = 1
    pages: bool = True
    most: int = 20
    sizes: tuple[int, ...] = ()


def simulate(case: Case, scratch: Path, *, packets: bool = False) -> Path:
    """Runs it, and returns the folder with `frames.parquet`, and `packets.parquet` if asked for."""
    sizes = NOISE
    if case.sizes:
        (scratch / "sizes.txt").write_text("\n".join(map(str, case.sizes)) + "\n")
        sizes = 'frame_sizes = "sizes.txt"'
    text = SCENARIO.format(
        trace=trace(case.link, scratch),
        delay=case.round_trip / 2,
        load=case.load,
        most=case.most,
        sizes=sizes,
        pacer=case.pacer,
    )
    (scratch / "path.toml").write_text(text + (PAGES if case.pages else ""))
    words = [MIMOSA, "sim", scratch / "path.toml", "--seeds", SEEDS]
    words += ["--frames", scratch / "frames.parquet", "--json", scratch / "runs.json"]
    if packets:
        words += ["--packets", scratch / "packets.parquet"]
    subprocess.run(words, check=True, capture_output=True)
    return scratch


def frames(folder: Path) -> polars.DataFrame:
    """The stream's frames that count, with their times in ms from when the pacer had them.

    `pacing` is until the last packet has left, `total` until it has arrived; frames with a packet that was
    sent again are left out, whose last packet did not wait in the pacer alone. `index` counts the frames of
    a run, and so says which of the given sizes a frame has.
    """
    since = polars.col("handed_over_ns")
    return (
        polars.read_parquet(folder / "frames.parquet")
        .filter(polars.col("flow") == "game")
        .with_columns(index=polars.int_range(polars.len()).over("seed"))
        .filter(
            polars.col("due_ns") >= FROM * SECOND,
            polars.col("last_arrival_ns").is_not_null(),
            polars.col("retransmitted") == 0,
        )
        .with_columns(
            pacing=(polars.col("last_sent_ns") - since) / 1e6,
            total=(polars.col("last_arrival_ns") - since) / 1e6,
        )
    )


def latency(scratch: Path) -> dict[str, list[str]]:
    """Figure 7: pacing's share of the latency, by round trip and by latency."""
    by_trip = [
        "| link | 160 ms | 80 ms | 40 ms | 20 ms | 10 ms |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    edges = (0, 50, 100, 150, 200, math.inf)
    by_latency = [
        "| link | below 50 ms | 50 to 100 | 100 to 150 | 150 to 200 | above 200 ms |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for link in LINKS:
        trips = {
            trip: frames(simulate(Case(link, PACE, trip), scratch))
            for trip in (160, 80, 40, 20, 10)
        }
        late = [share(table, 200, math.inf) for table in trips.values()]
        by_trip.append(f"| {link} | {' | '.join(late)} |")
        bands = [share(trips[20], *band) for band in pairwise(edges)]
        by_latency.append(f"| {link} | {' | '.join(bands)} |")
    return {"round trips": by_trip, "latencies": by_latency}


def share(table: polars.DataFrame, low: float, high: float) -> str:
    """Pacing's part of the latency of the frames with a latency in these bounds, and how many they are."""
    of = table.filter(polars.col("total") >= low, polars.col("total") < high)
    if of.is_empty():
        return "-"
    part = of["pacing"].sum() / of["total"].sum()
    return f"{100 * part:.0f} % ({100 * of.height / table.height:.0f})"


def rates(scratch: Path) -> dict[str, list[str]]:
    """Figure 18: what leaves in each 10 ms, beside the link's rate and the estimate."""
    lines = [
        "| link | at most | load | pacer | nothing leaves, % | of the estimate, p90 | p99 "
        + "| of the link's rate, p90 | above the link's rate, % |",
        "|---|--:|--:|---|--:|--:|--:|--:|--:|",
    ]
    cases = {
        link: [Case(link, PACE, load=load) for load in LOADS[:2]] for link in LINKS
    }
    # The last has frames that fit into 10 ms of the slowest rate.
    cases["the paper's quartiles"] = [
        Case("quartiles", PACE, load=LOADS[1], most=most) for most in (20, 4)
    ]
    for link, case in ((link, case) for link, of in cases.items() for case in of):
        for name, pacer in (("Pace", PACE), ("ACE-N", BUCKET)):
            simulate(replace(case, pacer=pacer), scratch, packets=True)
            to_link, to_estimate = relative_rates(case, scratch)
            cells = [f"{100 * statistics.mean(rate == 0 for rate in to_link):.0f}"]
            cells += [f"{quantile(to_estimate, at):.2f}" for at in (0.9, 0.99)]
            cells.append(f"{quantile(to_link, 0.9):.2f}")
            cells.append(f"{100 * statistics.mean(rate > 1 for rate in to_link):.1f}")
            lines.append(
                f"| {link} | {case.most} | {case.load} | {name} | {' | '.join(cells)} |"
            )
    return {"rates": lines}


def relative_rates(case: Case, folder: Path) -> tuple[list[float], list[float]]:
    """Rates over 10 ms, over the link's and over the estimate of that time."""
    step = SECOND // 100
    sent = (
        polars.read_parquet(folder / "packets.parquet")
        .filter(polars.col("flow") == "game", polars.col("sent_ns") >= FROM * SECOND)
        .group_by("seed", bin=polars.col("sent_ns") // step)
        .agg(bits=8 * polars.col("size_bytes").sum())
    )
    estimates = (
        polars.read_parquet(folder / "frames.parquet")
        .filter(polars.col("flow") == "game")
        .select("seed", bin=polars.col("handed_over_ns") // step, estimate="target_bps")
        .sort("bin")
    )
    seeds = sent["seed"].unique().sort()
    bins = polars.DataFrame({"bin": range(FROM * 100, 60 * 100)})
    grid = polars.DataFrame({"seed": seeds}).join(bins, how="cross").sort("bin")
    table = grid.join_asof(estimates, on="bin", by="seed", check_sortedness=False).join(
        sent, on=["seed", "bin"], how="left"
    )
    rows = [line.split() for line in trace(case.link, folder).read_text().splitlines()]
    link = polars.DataFrame(
        {
            "bin": [round(float(row[0]) * 100) for row in rows],
            "link": [1e6 * float(row[1]) for row in rows],
        }
    ).sort("bin")
    rate = polars.col("bits").fill_null(0) * 100
    table = table.sort("bin").join_asof(link, on="bin").drop_nulls(["estimate", "link"])
    table = table.select(
        of_link=rate / polars.col("link"), of_estimate=rate / polars.col("estimate")
    )
    return table["of_link"].to_list(), table["of_estimate"].to_list()


def trace(link: str, scratch: Path) -> Path:
    """The recording of a link, or one with the quartiles of the paper's."""
    if link in LINKS:
        return ROOT / "traces" / f"{LINKS[link]}.txt"
    made = scratch / "quartiles.txt"
    count = len(QUARTILES)
    rates = [QUARTILES[step * (1 + step // count) % count] for step in range(300)]
    rows = [f"{step / 5:.1f} {rate}\n" for step, rate in enumerate(rates)]
    made.write_text("".join(rows))
    return made


def quantile(values: list[float], at: float) -> float:
    """By nearest rank."""
    return sorted(values)[max(0, math.ceil(at * len(values)) - 1)]


def pacer_work(pacer: str, scratch: Path) -> float:
    """ms of a processor for a second of a simulated stream with a pacer: the smallest of five runs."""
    case = Case("5G", pacer)
    simulate(case, scratch)
    words = [MIMOSA, "sim", scratch / "path.toml", "--seeds", SEEDS, "--json", "-"]
    return 1000 * min(measured(words).seconds for _ in range(5)) / (8 * 60)
