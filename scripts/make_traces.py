"""Makes the small traces in traces/: links of our own making, not recordings.

The Wi-Fi-like link is a first-order autoregressive process of the rate's
logarithm, sampled every 100 ms, into which falls by more than half break
without warning, some eight a minute, as 35.5 % of the Wi-Fi users of the
Pudica paper see five or more of (Fig. 4). The Ethernet-like one is steady,
with a fall now and then. Python's generator is the same on every platform.
"""

import math
import random
from pathlib import Path

STEP = 0.1  # seconds between rows
LENGTH = 60.0  # seconds


def link(
    seed: int,
    mean_mbps: float,
    deviation: float,
    memory: float,
    falls_per_minute: float,
) -> str:
    """Rows of `seconds Mbit/s` for one link."""
    draw = random.Random(seed)
    rows = []
    level, fall_left, fall_to = 0.0, 0.0, 1.0
    noise = deviation * math.sqrt(1.0 - memory * memory)
    for index in range(round(LENGTH / STEP)):
        level = memory * level + draw.gauss(0.0, noise)
        if fall_left <= 0.0 and draw.random() < falls_per_minute / 60.0 * STEP:
            fall_left, fall_to = draw.uniform(0.3, 2.0), draw.uniform(0.2, 0.45)
        share = fall_to if fall_left > 0.0 else 1.0
        fall_left -= STEP
        rows.append(f"{index * STEP:.1f} {mean_mbps * math.exp(level) * share:.3f}")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Writes all traces."""
    folder = Path(__file__).resolve().parent.parent / "traces"
    wifi = link(
        seed=1, mean_mbps=30.0, deviation=0.25, memory=0.95, falls_per_minute=8.0
    )
    ethernet = link(
        seed=2, mean_mbps=60.0, deviation=0.03, memory=0.9, falls_per_minute=1.0
    )
    (folder / "wifi-like.txt").write_text(wifi, encoding="ascii")
    (folder / "ethernet-like.txt").write_text(ethernet, encoding="ascii")


if __name__ == "__main__":
    main()
