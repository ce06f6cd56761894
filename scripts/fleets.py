"""Runs the studies of fleets that docs/use/fleet.md shows, and fills its tables.

    python3 scripts/fleets.py [NAME]...

In the page, `<!-- fleet: NAME -->` is followed by the table of the study lab/fleet/NAME.toml, up to
`<!-- end -->`. With names as arguments, only these are run. What was run stays in target/fleets; a run that was
stopped goes on where it was, and nothing is run again while it is newer than the program and the study. MIMOSA
names the program, without it target/play/mimosa, and MIMOSA_PYTHON the Python that has the package.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIMOSA = Path(os.environ.get("MIMOSA", ROOT / "target" / "play" / "mimosa")).absolute()
PAGE = ROOT / "docs" / "use" / "fleet.md"
KEPT = ROOT / "target" / "fleets"
TABLES = re.compile(r"(<!-- fleet: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
# A metric's heading, by how much it is multiplied, and its decimals.
METRICS = {
    "frame_delay_mean_ms": ("mean delay, ms", 1, 1),
    "frame_delay_p95_ms": ("95th percentile, ms", 1, 1),
    "frame_delay_p99_ms": ("99th percentile, ms", 1, 1),
    "stall_100ms": ("frames above 100 ms, %", 100, 2),
    "bitrate_mbps": ("bitrate, Mbit/s", 1, 1),
    "completed_fps": ("completed frames a second", 1, 2),
    "modelled_play_time": ("playing time by the model, %", 100, 1),
}
# What each table shows, of which populations, and what a paper has for its arms.
SHOWN = {
    "five-controllers": {
        "metrics": [
            "frame_delay_mean_ms",
            "frame_delay_p95_ms",
            "frame_delay_p99_ms",
            "stall_100ms",
            "bitrate_mbps",
        ],
        "populations": ["Ethernet", "Wi-Fi"],
        "paper": {},
    },
    "ace-table-3": {
        "metrics": [
            "stall_100ms",
            "frame_delay_mean_ms",
            "completed_fps",
            "bitrate_mbps",
            "modelled_play_time",
        ],
        "populations": [None, "Restaurant Wi-Fi", "4G"],
        "paper": {
            ("ACE-N", "stall_100ms"): "2.89",
            ("AlwaysPace", "stall_100ms"): "2.96",
            ("AlwaysBurst", "stall_100ms"): "13.37",
            ("ACE-N", "frame_delay_mean_ms"): "136.97",
            ("AlwaysPace", "frame_delay_mean_ms"): "161.06",
            ("AlwaysBurst", "frame_delay_mean_ms"): "323.34",
            ("ACE-N", "completed_fps"): "56.80",
            ("AlwaysPace", "completed_fps"): "56.58",
            ("AlwaysBurst", "completed_fps"): "53.79",
        },
    },
}


def run(name: str) -> list[dict]:
    """Runs a study, or what is left of it, and gives the estimates of its analysis."""
    study, out = ROOT / "lab" / "fleet" / f"{name}.toml", KEPT / name
    begun = out / "study.toml"
    inputs = [MIMOSA, study]
    if begun.exists() and any(
        path.stat().st_mtime > begun.stat().st_mtime for path in inputs
    ):
        shutil.rmtree(out)
    subprocess.run(
        [MIMOSA, "fleet", "run", study, "--out", out],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return json.loads((out / "results.json").read_text(encoding="utf-8"))


def cell(estimate: dict) -> str:
    """A mean with its interval."""
    _, factor, decimals = METRICS[estimate["metric"]]
    mean, low, high = (
        f"{value * factor:.{decimals}f}"
        for value in (estimate["mean"], *estimate["interval"])
    )
    return f"{mean} ({low} to {high})"


def table(name: str, estimates: list[dict]) -> str:
    """The table of a study: a row for each population and arm."""
    shown = SHOWN[name]
    found = {(one["population"], one["arm"], one["metric"]): one for one in estimates}
    arms = list(dict.fromkeys(one["arm"] for one in estimates))
    compared = {metric for _, metric in shown["paper"]}
    head = ["over", "arm"]
    for metric in shown["metrics"]:
        head += [METRICS[metric][0], *(["paper"] if metric in compared else [])]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for population in shown["populations"]:
        for arm in arms:
            cells = [population or "all", arm]
            for metric in shown["metrics"]:
                cells.append(cell(found[population, arm, metric]))
                if metric in compared:
                    # The paper has one table for all of its networks.
                    paper = shown["paper"].get((arm, metric), "-")
                    cells.append("" if population else paper)
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Runs the studies that are named, or every one that the page shows."""
    text = PAGE.read_text(encoding="utf-8")
    known = [match.group(2) for match in TABLES.finditer(text)]
    wanted = sys.argv[1:] or known
    if unknown := [name for name in wanted if name not in known]:
        raise SystemExit(f"{unknown[0]}: the page has no such study: {known}")
    made = {name: table(name, run(name)) for name in wanted}

    def again(match: re.Match[str]) -> str:
        head, name, _, end = match.groups()
        return f"{head}\n{made[name]}\n\n{end}" if name in made else match.group(0)

    PAGE.write_text(TABLES.sub(again, text), encoding="utf-8")


if __name__ == "__main__":
    main()
