"""Writes the scenarios of this folder: Pudica's estimator beside a competing flow.

Each second from the third on another flow of the same bitrate competes, its frames paced
at a random multiple of that bitrate. The multiples are drawn once, from a fixed seed.
"""

import random
from pathlib import Path

HERE = Path(__file__).resolve().parent
BITRATE = 10
ROUNDS = 20
FIRST = 3
# Of the link's rate, both flows together.
USED = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
# What the path adds to each packet, in the files that begin with "noisy".
NOISE = 'kind = "quantiles", p50 = "200us", p99 = "2ms", p999 = "3ms", most = "5ms"'
# Of the files that begin with "random": a competitor's bitrate in multiples of the probing flow's, and how
# many millionths its frames' clock may be off, so that its frames come at other times in each interval.
TIMES = (0.3, 1.0)
DRIFT = 20_000
METHODS = {
    "fixed": ("a: frames at twice their bitrate", 'pacing = "fixed", probes = 0'),
    "burst": ("b: frames in one burst", 'pacing = "burst", probes = 0'),
    "adaptive": ("c: adaptive pacing", "probes = 0"),
    "probes": ("d: adaptive pacing and probes", "probes = 4"),
    "noisy-adaptive": ("c on a noisy path: adaptive pacing", "probes = 0"),
    "noisy-probes": ("d on a noisy path: with probes", "probes = 4"),
    "random-fixed": (
        "a beside random competitors: frames at twice their bitrate",
        'pacing = "fixed", probes = 0',
    ),
    "random-burst": (
        "b beside random competitors: frames in one burst",
        'pacing = "burst", probes = 0',
    ),
    "random-adaptive": (
        "c beside random competitors: adaptive pacing",
        "probes = 0",
    ),
    "random-probes": (
        "d beside random competitors: adaptive pacing and probes",
        "probes = 4",
    ),
    "noisy-no-floor": (
        "d on a noisy path: without a noise floor",
        "probes = 4, noise_floor = 0.0",
    ),
    "noisy-even": (
        "d on a noisy path, beside frames that are spread over their interval",
        "probes = 4",
    ),
}


def flow(name: str, lines: list[str], mbps: float = BITRATE) -> str:
    """A flow of a fixed bitrate."""
    bounds = [f'{bound}_bitrate = "{mbps}Mbit/s"' for bound in ("min", "start", "max")]
    return "\n".join(["", "[[flow]]", f'name = "{name}"', *lines, *bounds, ""])


def main() -> None:
    """Writes one file for each way of sending."""
    draw = random.Random(7)
    paces = [round(draw.uniform(1.0, 5.0), 2) for _ in range(ROUNDS)]
    rates = [round(draw.uniform(*TIMES) * BITRATE, 2) for _ in range(ROUNDS)]
    clocks = [round(draw.uniform(-DRIFT, DRIFT)) for _ in range(ROUNDS)]
    for file, (title, params) in METHODS.items():
        text = f"# Fig. 7{title} (Pudica, section 4.1, appendix A). Made by make.py.\n"
        text += f'duration = "{FIRST + ROUNDS}s"\n\n[link]\n'
        text += f'rate = "{2 * BITRATE}Mbit/s"\none_way_delay = "10ms"\n'
        text += 'queue = { kind = "droptail", limit = "500kB" }\n'
        if file.startswith("noisy"):
            text += f"jitter = {{ {NOISE} }}\n"
        own = f"params = {{ {params}, fallback = false, drain = false }}"
        text += flow("probing", ['controller = "pudica"', own])
        is_random = file.startswith("random")
        for number, drawn in enumerate(paces):
            start = FIRST + number
            pace = 1.0 if file.endswith("even") else drawn
            lines = ['controller = "fixed"', f"params = {{ pace = {pace} }}"]
            lines += [f"frame_clock_ppm = {clocks[number]}"] if is_random else []
            lines += [f'start = "{start}s"', f'stop = "{start + 1}s"']
            mbps = rates[number] if is_random else BITRATE
            text += flow(f"competing {number + 1}", lines, mbps)
        for used in USED:
            rate = round(2 * BITRATE * 1e3 / used)
            text += f'\n[[variant]]\nname = "{used}"\nlink.rate = "{rate}kbit/s"\n'
        (HERE / f"{file}.toml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
