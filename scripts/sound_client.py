"""Plays sound in the native client over a link that loses 1 %, and fills its table.

python3 scripts/sound_client.py

Ten minutes, or SECONDS, headless: by the clock instead of a loudspeaker, which runs out when it
gets nothing in time. MIMOSA names the program; without it, target/play/mimosa. Times are this
machine's: run it when nothing else runs.
"""

import os

from played import ROOT, fill, play

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


def table(report: dict) -> list[str]:
    """What has become of sound."""
    counts, skew = report["sound"]["counts"], report["sound"]["skew"]
    columns = {
        "seconds": SECONDS,
        "frames": counts["played"],
        "lost, and made good": counts["repaired"],
        "stretched": counts["stretched"],
        "made up": counts["made_up"],
        "left out": counts["left_out"],
        "the clock ran out": counts["ran_out"],
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
    lines = table(play(NETWORK, [], SECONDS, sound="auto"))
    print("\n".join(lines))
    fill(ROOT / "docs" / "sound.md", "client", lines)


if __name__ == "__main__":
    main()
