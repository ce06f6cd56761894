"""Fills the tables of the Mimosa controller's two pages in docs/algorithms again.

MIMOSA names the program; without it, target/play/mimosa. With folders of recorded traces as
arguments, their table is printed for mimosa-controller.md: the traces are not shipped.
"""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIMOSA = Path(os.environ.get("MIMOSA", ROOT / "target" / "play" / "mimosa")).absolute()
THREE = ["mimosa", "pudica", "oracle"]
# Seeds 1 to 16 found the constants; the next eight judge.
JUDGED = "17..24"
VARIANTS = [
    "as it is",
    "lead=1",
    "standing_gain=1.0",
    "standing_gain=0.0",
    "shared_drop=0.0",
    "shared_drop=0.1",
    "pull=0.02",
    "pull=0.15",
    "pace_gain=1.25",
    "alone_pace_gain=1.0",
    "noise_gain=0.0",
    "spread_part=0.0",
    "pace_gain=2.0",
    "probes=4",
    "probes=0",
    "target_share=0.95",
    "near_gain=0.15",
    "near_gain=0.6",
    "far_gain=0.5",
    "knee=0.7",
    "backlog_share=1.0",
    "skipping=1000.0",
    "min_delay_window='10s'",
]
CASES = [
    "constant-4",
    "constant-20",
    "fall",
    "rise",
    "noise",
    "two-flows",
    "three-flows-30",
    "three-flows-100",
    "trace-wifi",
]

Rows = dict[tuple[str, str], dict[str, float]]


def run(*words: str) -> tuple[Rows, list[dict]]:
    """Runs the scoreboard; gives means by case and controller, and the single runs."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(MIMOSA), "lab", "run", "scoreboard", *words, "--output", folder]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        means = json.loads((Path(folder) / "means.json").read_text(encoding="utf-8"))
        lines = (Path(folder) / "results.jsonl").read_text(encoding="utf-8")
    rows = {(row["case"], row["controller"]): row["figures"] for row in means}
    return rows, [json.loads(line) for line in lines.splitlines()]


def named(controllers: list[str]) -> list[str]:
    return [word for name in controllers for word in ("--controller", name)]


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"


def head(cells: list[str]) -> str:
    return line(cells) + "|---" + "|--:" * (len(cells) - 1) + "|\n"


def board(rows: Rows) -> str:
    """Mimosa, Pudica and the oracle, case by case."""

    def cell(case: str, key: str, form: str, scale: float = 1) -> str:
        values = [rows[case, name].get(key) for name in THREE]
        shown = ["-" if v is None else f"{v * scale:{form}}" for v in values]
        return "-" if set(shown) == {"-"} else " / ".join(shown)

    text = head(
        ["case", "use, %", "Mbit/s", "p95", "p99", "> 50 ms, %", "> 100 ms, %", "Jain"]
    )
    for case in dict.fromkeys(case for case, _ in rows):
        text += line(
            [
                case,
                cell(case, "used", ".1f", 100),
                cell(case, "Mbit/s", ".2f"),
                cell(case, "frame p95", ".1f"),
                cell(case, "frame p99", ".1f"),
                cell(case, ">50ms", ".2f", 100),
                cell(case, ">100ms", ".2f", 100),
                cell(case, "Jain", ".3f"),
            ]
        )
    return text


def even(runs: list[dict], name: str) -> str:
    """Time until two flows are even; a run in which they never are counts as 30 s."""
    times = [
        30.0 if each["even_s"] is None else each["even_s"]
        for run in runs
        if run["case"] == "two-flows" and run["controller"] == name
        for each in run["converged"]
    ]
    never = sum(time == 30.0 for time in times)
    middle = statistics.median(times)
    return f"median {middle:.1f} s, never in {never} of {len(times)}"


def variants() -> str:
    text = head(
        [
            "",
            "4: use, p99",
            "20: use, p99",
            "fall: p95, > 50 ms",
            "rise: use",
            "noise: use, p95",
            "two: Jain",
            "three on 30: Jain, p99",
            "three on 100: Jain, p99",
            "Wi-Fi: Mbit/s, > 100 ms",
        ]
    )
    for variant in VARIANTS:
        words = [] if variant == "as it is" else ["--params", f"mimosa.{variant}"]
        cases = [word for case in CASES for word in ("--case", case)]
        rows, _ = run("--seeds", JUDGED, "--controller", "mimosa", *cases, *words)
        of = {case: rows[case, "mimosa"] for case in CASES}
        used = {case: f"{figures['used'] * 100:.1f}" for case, figures in of.items()}
        p99 = {case: f"{figures['frame p99']:.1f}" for case, figures in of.items()}
        p95 = {case: f"{figures['frame p95']:.1f}" for case, figures in of.items()}
        jain = {case: f"{of[case]['Jain']:.3f}" for case in CASES[5:8]}
        wifi = of["trace-wifi"]
        text += line(
            [
                variant if not words else f"`{variant}`",
                f"{used['constant-4']}, {p99['constant-4']}",
                f"{used['constant-20']}, {p99['constant-20']}",
                f"{p95['fall']}, {of['fall']['>50ms'] * 100:.1f} %",
                used["rise"],
                f"{used['noise']}, {p95['noise']}",
                jain["two-flows"],
                f"{jain['three-flows-30']}, {p99['three-flows-30']}",
                f"{jain['three-flows-100']}, {p99['three-flows-100']}",
                f"{wifi['Mbit/s']:.1f}, {wifi['>100ms'] * 100:.2f} %",
            ]
        )
    return text


def fill(page: str, name: str, text: str) -> None:
    path = ROOT / "docs" / page
    region = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    before = path.read_text(encoding="utf-8")
    after, count = region.subn(lambda m: f"{m.group(1)}\n{text}\n{m.group(2)}", before)
    if count != 1:
        raise SystemExit(f"docs/{page}: {count} regions `{name}` in place of one")
    path.write_text(after, encoding="utf-8")


def recorded(folders: list[str]) -> None:
    """Means over the traces of each folder, whose cases have the traces' names."""
    shipped = {"constant-8", "constant-45", "steps", "jitter", "loss", *CASES}
    print(
        head(["traces", "use, %", "Mbit/s", "p99", "> 50 ms, %", "> 100 ms, %"]), end=""
    )
    for folder in folders:
        rows, _ = run("--traces", folder, "--seeds", "1..2", *named(THREE))
        cases = {case for case, _ in rows} - shipped
        cells = [f"{Path(folder).name} ({len(cases)})"]
        for key, form, scale in [
            ("used", ".1f", 100),
            ("Mbit/s", ".2f", 1),
            ("frame p99", ".0f", 1),
            (">50ms", ".2f", 100),
            (">100ms", ".2f", 100),
        ]:
            means = [
                statistics.mean(rows[case, name][key] for case in cases) * scale
                for name in THREE
            ]
            cells.append(" / ".join(f"{mean:{form}}" for mean in means))
        print(line(cells), end="", flush=True)


def main() -> None:
    if len(sys.argv) > 1:
        recorded(sys.argv[1:])
        return
    rows, runs = run("--seeds", "1..32", *named(THREE))
    times = [f"- {name}: {even(runs, name)}" for name in ("mimosa", "pudica")]
    fill("algorithms/mimosa-controller.md", "scoreboard", board(rows))
    fill("algorithms/mimosa-controller.md", "even", "\n".join(times) + "\n")
    fill("algorithms/mimosa-controller-experiments.md", "variants", variants())


if __name__ == "__main__":
    main()
