"""ACE-C and ACE-N together over simulated paths, for scripts/ace_figures.py."""

import statistics
from dataclasses import dataclass, replace
from pathlib import Path

import polars
from ace_c import ROOT, scaled
from ace_clips import CATEGORIES
from ace_hosted import ADAPTIVE, PLAIN, SCREENS, Hosted, hosted
from ace_paths import (
    BUCKET,
    LINKS,
    LOADS,
    PACE,
    SECOND,
    Case,
    frames,
    quantile,
    simulate,
)

FIGURE = ROOT / "docs" / "figures" / "ace-decisions.svg"
# A frame leaves at once when its last packet leaves so many ms after the pacer had it.
AT_ONCE = 1.0
# ACE-C chooses by the times that it has seen, and so differs from run to run.
RUNS = 3
# The scatter has the frames of the seconds that count, up to this one.
SHOWN = 20
# The scatter: width and height of the plot, its margin, the largest size and the longest queue.
WIDTH, HEIGHT, MARGIN, LARGEST, LONGEST = 640, 320, 48, 4.0, 40.0


@dataclass(frozen=True)
class Latency:
    """ms from the capture to the arrival."""

    mean: float
    p95: float


def latency(run: Hosted, case: Case, scratch: Path) -> Latency:
    """What frames wait for: prediction, encoding, pacing, and the path."""
    table = frames(simulate(replace(case, sizes=tuple(run.sizes)), scratch))
    work = run.work
    waits = [
        total + work[index % len(work)]
        for total, index in table.select("total", "index").iter_rows()
    ]
    return Latency(statistics.mean(waits), quantile(waits, 0.95))


def over_links(run: Hosted, pacer: str, load: float, scratch: Path) -> Latency:
    """The mean over the links."""
    each = [latency(run, Case(link, pacer, load=load), scratch) for link in LINKS]
    return Latency(
        statistics.mean(of.mean for of in each), statistics.mean(of.p95 for of in each)
    )


def ablation(program: str, clip: Path, scratch: Path) -> dict[str, list[str]]:
    """Figure 15: each part alone, and both."""
    lines = [
        "| size | load | neither | ACE-C | ACE-N | both |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for size, megabits in SCREENS.items():
        small = scaled(program, clip, size, scratch)
        plain, more = (
            [hosted(small, megabits, flags, scratch) for _ in range(RUNS)]
            for flags in (PLAIN, ADAPTIVE)
        )
        for load in LOADS:
            cells = []
            for pacer in (PACE, BUCKET):
                for runs in (plain, more):
                    each = [over_links(run, pacer, load, scratch).p95 for run in runs]
                    cells.append(f"{statistics.mean(each):.1f}")
            lines.append(f"| {size} | {load} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return {"ablation": lines}


def categories(program: str, clips: dict[str, Path], scratch: Path) -> dict:
    """Figure 13: the latency with and without ACE by category."""
    lines = [
        "| category | load | without: mean, ms | p95 | ACE: mean | p95 | mean, % | p95, % |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    size = "640x360"
    for name in CATEGORIES:
        clip = scaled(program, clips[name], size, scratch)
        plain = hosted(clip, SCREENS[size], PLAIN, scratch)
        more = hosted(clip, SCREENS[size], ADAPTIVE, scratch)
        for load in LOADS:
            without = over_links(plain, PACE, load, scratch)
            ace = over_links(more, BUCKET, load, scratch)
            lines.append(f"| {name} | {load} | {compared(without, ace)} |")
            print(lines[-1], flush=True)
    return {"categories": lines}


def compared(without: Latency, ace: Latency) -> str:
    """Cells of both and of what is less with ACE."""
    return (
        f"{without.mean:.0f} | {without.p95:.0f} | {ace.mean:.0f} | {ace.p95:.0f} "
        f"| {100 * (ace.mean / without.mean - 1):+.0f} "
        f"| {100 * (ace.p95 / without.p95 - 1):+.0f}"
    )


def quartiles(
    program: str, clips: dict[str, Path], scratch: Path
) -> dict[str, list[str]]:
    """The game and the lecture by link, one with the quartiles of the paper's traces among them."""
    lines = [
        "| category | link | load | without: mean, ms | p95 | ACE: mean | p95 | mean, % | p95, % |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    cases = {link: Case(link, PACE) for link in LINKS}
    cases["the paper's quartiles"] = Case("quartiles", PACE)
    cases["the paper's quartiles, no pages"] = Case("quartiles", PACE, pages=False)
    size = "640x360"
    for category in ("gaming", "lecture"):
        small = scaled(program, clips[category], size, scratch)
        plain, more = (
            hosted(small, SCREENS[size], flags, scratch) for flags in (PLAIN, ADAPTIVE)
        )
        for name, case in cases.items():
            for load in LOADS:
                without = latency(plain, replace(case, load=load), scratch)
                ace = latency(more, replace(case, load=load, pacer=BUCKET), scratch)
                cells = compared(without, ace)
                lines.append(f"| {category} | {name} | {load} | {cells} |")
                print(lines[-1], flush=True)
    return {"quartiles": lines}


def decisions(program: str, clip: Path, scratch: Path) -> dict[str, list[str]]:
    """Figure 17: which frames leave at once, and with which level they were encoded."""
    size = "640x360"
    run = hosted(scaled(program, clip, size, scratch), SCREENS[size], ADAPTIVE, scratch)
    lines = [
        "| link | " + " | ".join(f"load {load}" for load in LOADS) + " |",
        "|---|" + "--:|" * len(LOADS),
    ]
    for link in LINKS:
        cells = []
        for load in LOADS:
            case = Case(link, BUCKET, load=load, sizes=tuple(run.sizes))
            simulate(case, scratch, packets=True)
            table = frames(scratch)
            cells.append(f"{100 * (table['pacing'] < AT_ONCE).mean():.0f}")
            if (link, load) == ("Wi-Fi", 0.9):
                FIGURE.write_text(scatter(table, run, scratch))
        lines.append(f"| {link} | {' | '.join(cells)} |")
    lines += ["", f"{run.share('c0'):.1f} % of the clip's frames have the level c0."]
    return {"decisions": lines}


def scatter(table: polars.DataFrame, run: Hosted, folder: Path) -> str:
    """Frames of the first seed by their size over the mean, and the queue that their first packet met."""
    firsts = (
        polars.read_parquet(folder / "packets.parquet")
        .filter(polars.col("kind") == "media", polars.col("index") == 0)
        .select("seed", "flow", "frame", queue="queue_delay_ns")
    )
    kept = table.filter(
        polars.col("seed") == 1, polars.col("due_ns") < SHOWN * SECOND
    ).join(firsts, on=["seed", "flow", "frame"])
    mean = statistics.mean(run.sizes)
    parts = []
    for index, pacing, queue in kept.select("index", "pacing", "queue").iter_rows():
        place = index % len(run.sizes)
        relative = run.sizes[place] / mean
        x = MARGIN + WIDTH * min(relative / LARGEST, 1)
        y = 8 + HEIGHT * (1 - min((queue or 0) / 1e6 / LONGEST, 1))
        colour = "#1f5fbf" if pacing < AT_ONCE else "#2a9d4a"
        parts.append(mark(x, y, colour, cross=run.levels[place] != "c0"))
    return drawing(parts)


def mark(x: float, y: float, colour: str, *, cross: bool) -> str:
    """A square, or a cross."""
    if cross:
        path = f"M{x - 4:.1f} {y - 4:.1f}l8 8m0 -8l-8 8"
        return f'<path d="{path}" stroke="{colour}" stroke-width="2" fill="none"/>'
    place = f'x="{x - 2:.1f}" y="{y - 2:.1f}"'
    return f'<rect {place} width="4" height="4" fill="{colour}" fill-opacity="0.6"/>'


def drawing(marks: list[str]) -> str:
    """The marks with axes and what they mean."""
    bottom = HEIGHT + 8
    parts = [
        f'<path d="M{MARGIN} 8V{bottom}H{MARGIN + WIDTH}" stroke="#000" fill="none"/>'
    ]
    for part in range(5):
        x, y = MARGIN + WIDTH * part / 4, bottom - HEIGHT * part / 4
        parts.append(
            f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">{LARGEST * part / 4:g}</text>'
            f'<text x="{MARGIN - 6}" y="{y + 4}" text-anchor="end">{LONGEST * part / 4:g}</text>'
        )
    middle = MARGIN + WIDTH / 2
    parts += [
        (
            f'<text x="{middle}" y="{bottom + 34}" text-anchor="middle">size over the mean; '
            "blue: at once, green: paced; crosses: more work than c0</text>"
        ),
        (
            f'<text x="12" y="{8 + HEIGHT / 2}" text-anchor="middle" '
            f'transform="rotate(-90 12 {8 + HEIGHT / 2})">queue, ms</text>'
        ),
    ]
    box = f"0 0 {MARGIN + WIDTH + 16} {bottom + 44}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" font-family="sans-serif" '
        'font-size="12"><rect width="100%" height="100%" fill="#fff"/>'
        + "\n".join(parts + marks)
        + "</svg>\n"
    )
