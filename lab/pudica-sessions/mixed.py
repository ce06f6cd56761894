"""The table of the slides of Pudica: sessions over Ethernet and Wi-Fi together.

`python3 lab/pudica-sessions/mixed.py FILE KEPT` writes the verdicts on the table's numbers as a suite's, from the
results of the suite pudica-sessions in the folder KEPT. The slides do not say how many sessions are over Wi-Fi: the
means of the paper's Tables 1 and 2 give those of the slides with a share of 0.26, for each of the four controllers.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

WIFI = 0.26
# Mean frame delay and its 95th percentile in ms, and percent of the frames above 100 ms.
SLIDES = {
    "copa": (39.8, 114.0, 3.2),
    "salsify": (66.7, 186.0, 6.3),
    "sqp": (109.4, 287.0, 3.6),
    "pudica": (23.2, 38.0, 0.7),
}
COLUMNS = [
    ("mean frame delay", "ms", 1),
    ("p95 frame delay", "ms", 1),
    ("late frames", "%", 1),
]
# As in the suite: a number counts as the document's within one and a half times of it.
ROOM = 1.5


def sessions(kept: Path) -> dict[tuple[str, int], list[float]]:
    """The three numbers by controller and seed: means over sessions, and over media with their shares."""
    found = defaultdict(list)
    results = kept / "pudica-sessions" / "results.jsonl"
    if not results.exists():
        raise SystemExit(f"no {results}; run scripts/papers.sh pudica-sessions first")
    with results.open(encoding="utf-8") as lines:
        for line in lines:
            run = json.loads(line.partition(',"trace":')[0].rstrip("}") + "}")
            flow = run["flows"][0]
            delay = flow["frame_delay_ms"]
            row = (delay["mean"], delay["p95"], 100 * flow["stall_100ms"])
            found[run["controller"], run["seed"], run["case"]].append(row)

    def mean(key: tuple[str, int, str]) -> list[float]:
        return [
            sum(column) / len(found[key]) for column in zip(*found[key], strict=True)
        ]

    pairs = {key[:2] for key in found}
    return {
        (name, seed): [
            (1 - WIFI) * wired + WIFI * air
            for wired, air in zip(
                mean((name, seed, "ethernet")), mean((name, seed, "wifi")), strict=True
            )
        ]
        for name, seed in pairs
    }


def verdict(rows: dict, name: str, column: int) -> dict:
    """The verdict on a number, as the lab writes it."""
    words, unit, digits = COLUMNS[column]
    paper = SLIDES[name][column]
    low, high = paper / ROOM, paper * ROOM
    values = sorted(row[column] for (own, _), row in rows.items() if own == name)
    here = sum(values) / len(values)
    held = sum(low <= value <= high for value in values)
    quarter = len(values) // 4
    return {
        "claim": f"{name}: {words}",
        "source": "table of existing methods",
        "quantity": words,
        "of": f"{name}, both media{', above 100ms' if unit == '%' else ''}",
        "criterion": f"{low:.{digits}f} {unit} to {high:.{digits}f} {unit}",
        "paper": paper,
        "here": round(here, 6),
        "low": round(values[quarter - 1], 6),
        "high": round(values[-quarter], 6),
        "other": None,
        "unit": unit,
        "digits": digits,
        "holds": low <= here <= high and 4 * held >= 3 * len(values),
        "seeds_held": held,
        "seeds": len(values),
    }


def main() -> None:
    """Writes the verdicts."""
    rows = sessions(Path(sys.argv[2]))
    verdicts = [
        verdict(rows, name, column) for name in SLIDES for column in range(len(COLUMNS))
    ]
    text = json.dumps(verdicts, indent=2) + "\n"
    Path(sys.argv[1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
