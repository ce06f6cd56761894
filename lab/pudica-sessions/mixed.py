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
# What a controller's numbers are repeated under: the words, and the cases of the suite.
SILENT = "the household is silent"
BUSY = "the household loads 1 MB every 3 s, or every 2.5 s over Wi-Fi"
QUICK = "a fifth of Salsify's mean is the newest packet over Wi-Fi"
UNBOUNDED = "a quarter of Salsify's mean is the newest packet over Wi-Fi and nothing bounds its growth"
ONE = "SQP remembers one round trip for the least delay over Wi-Fi"
TWENTIETH = "SQP remembers a twentieth of a round trip for the least delay over Wi-Fi"
SHORT = "Copa remembers the least round trip for 115 ms, or 55 ms over Wi-Fi"
LONGER = "Copa remembers the least round trip for 130 ms, or 80 ms over Wi-Fi"
CONDITIONS = {
    "copa": [
        (BUSY, "ethernet-busy-copa", "wifi-busy-copa"),
        (SHORT, "ethernet-copa-115", "wifi-copa-55"),
        (LONGER, "ethernet-copa-130", "wifi-copa-80"),
    ],
    "salsify": [
        (QUICK, "ethernet", "wifi-salsify-fifth"),
        (UNBOUNDED, "ethernet", "wifi-salsify-unbounded"),
    ],
    "sqp": [
        (ONE, "ethernet", "wifi-sqp-one"),
        (TWENTIETH, "ethernet", "wifi-sqp-twentieth"),
    ],
    "pudica": [(SILENT, "ethernet-silent", "wifi-silent")],
}
USED = {
    "ethernet",
    "wifi",
    *(case for listed in CONDITIONS.values() for _, *cases in listed for case in cases),
}
# As in the suite: a number counts as the document's within one and a half times of it.
ROOM = 1.5


Row = tuple[float | None, float | None, float]
Sessions = dict[tuple[str, str, int], list[Row]]


def sessions(kept: Path) -> Sessions:
    """The three numbers of each session, by controller, case and seed."""
    found: Sessions = defaultdict(list)
    results = kept / "pudica-sessions" / "results.jsonl"
    if not results.exists():
        raise SystemExit(f"no {results}; run scripts/papers.sh pudica-sessions first")
    with results.open(encoding="utf-8") as lines:
        for line in lines:
            run = json.loads(line.partition(',"trace":')[0].rstrip("}") + "}")
            if run["case"] not in USED:
                continue
            flow = run["flows"][0]
            # A session in which no frame came whole has stalls and no delays.
            delay = flow["frame_delay_ms"] or {"mean": None, "p95": None}
            row = (delay["mean"], delay["p95"], 100 * flow["stall_100ms"])
            found[run["controller"], run["case"], run["seed"]].append(row)
    return found


def mixed(found: Sessions, name: str, column: int, wired: str, air: str) -> list[float]:
    """A number for each seed, in order: means over the sessions of both cases, with their shares."""

    def mean(case: str, seed: int) -> float:
        values = [row[column] for row in found[name, case, seed]]
        values = [value for value in values if value is not None]
        return sum(values) / len(values)

    seeds = sorted(seed for own, case, seed in found if (own, case) == (name, wired))
    return sorted(
        (1 - WIFI) * mean(wired, seed) + WIFI * mean(air, seed) for seed in seeds
    )


def verdict(values: list[float], name: str, column: int, condition: str) -> dict:
    """The verdict on a number, as the lab writes it."""
    words, unit, digits = COLUMNS[column]
    paper = SLIDES[name][column]
    low, high = paper / ROOM, paper * ROOM
    here = sum(values) / len(values)
    held = sum(low <= value <= high for value in values)
    quarter = len(values) // 4
    return {
        "claim": f"{name}: {words}{condition and f', if {condition}'}",
        "source": f"{condition and 'this suite: '}table of existing methods",
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
    found = sessions(Path(sys.argv[2]))
    cases = {name: [("", "ethernet", "wifi")] for name in SLIDES}
    verdicts = [
        verdict(mixed(found, name, column, wired, air), name, column, condition)
        for all_of in (cases, CONDITIONS)
        for name, listed in all_of.items()
        for condition, wired, air in listed
        for column in range(len(COLUMNS))
    ]
    text = json.dumps(verdicts, indent=2) + "\n"
    Path(sys.argv[1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
