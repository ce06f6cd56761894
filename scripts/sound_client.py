"""Plays sound in the native client over a link that loses 1 %, fills its table, draws its skew.

python3 scripts/sound_client.py

Ten minutes, or SECONDS, headless: by the clock instead of a loudspeaker, which runs out when it
gets nothing in time. MIMOSA names the program; without it, target/play/mimosa. Times are this
machine's: run it when nothing else runs. What is heard within half a second behind a stop of the
machine itself (`stops.py`) is told apart.
"""

import datetime
import os
import re

from played import ROOT, fill, play
from sound_figure import draw
from stops import Stops

FIGURE = ROOT / "docs" / "figures" / "sound-skew-client.svg"

SECONDS = int(os.environ.get("SECONDS", "600"))
LOSS = 0.01
NETWORK = f"""
[link]
rate = "20Mbit/s"
one_way_delay = "10ms"
queue = {{ kind = "droptail", limit = "500kB" }}
loss = {LOSS}
return_loss = {LOSS}
"""


HEARD = re.compile(
    r"(\S+) +DEBUG .*(sound is (?:made up|late|left out)|loudspeaker had nothing)"
)
# What is heard so soon after something else is one with it, or of it.
SOON = 0.5


def heard(log: str) -> list[float]:
    """When something was heard that should not be: the beginnings, in seconds."""
    times: list[float] = []
    last = float("-inf")
    for found in HEARD.finditer(log):
        at = datetime.datetime.fromisoformat(found[1]).timestamp()
        if at - last > SOON:
            times.append(at)
        last = at
    return times


def table(report: dict, stops: list[tuple[float, float]]) -> list[str]:
    """What has become of sound."""
    counts, skew = report["sound"]["counts"], report["sound"]["skew"]
    gaps = heard(report["log"])
    own = [
        at
        for at in gaps
        if not any(0 <= at - stop + length < SOON for stop, length in stops)
    ]
    longest = max((length for _, length in stops), default=0)
    columns = {
        "seconds": SECONDS,
        "frames": counts["played"],
        "lost, and made good": counts["repaired"],
        "stretched": counts["stretched"],
        "made up": counts["made_up"],
        "the clock ran out": counts["ran_out"],
        "heard, together": len(gaps),
        "without a stop before": len(own),
        "stops of a core": len(stops),
        "longest": f"{longest * 1000:.0f} ms",
        "skew, median": f"{skew['p50']:.0f} ms",
        "p99": f"{skew['p99']:.0f} ms",
        "at most": f"{skew['max']:.0f} ms",
    }
    return [
        "| " + " | ".join(columns) + " |",
        "|" + " --: |" * len(columns),
        "| " + " | ".join(str(value) for value in columns.values()) + " |",
    ]


def main() -> None:
    """Plays, and fills."""
    with Stops() as watch:
        report = play(NETWORK, [], SECONDS, sound="auto")
    lines = table(report, watch.stops)
    print("\n".join(lines))
    fill(ROOT / "docs" / "how-it-works" / "sound.md", "client", lines)
    skew = report["sound"]["skew_over_time"]
    FIGURE.write_text(draw([{"at": at, "skew": value} for at, value in skew]))


if __name__ == "__main__":
    main()
