"""Writes the scenarios and the suite of Pudica's Fig. 10: paths in the wild, drawn from a fixed seed.

The paper names no path. Each variant is one: its round trip is drawn as in Fig. 3, and its rate, buffer and
delays of packets as chosen here.
"""

import math
import random
from pathlib import Path

HERE = Path(__file__).resolve().parent
SEED = 1
PATHS = 4
# Fig. 3: the median, and the 90th percentile is twice as long: log-normal.
RTT_MS = 10.0
RTT_SIGMA = math.log(2) / 1.2816
# Ours.
RATE_MBPS, RATE_SIGMA = 30.0, 0.5
BUFFERS_KB = [100, 200, 500]
NOISE_US = (50, 500)
SECONDS = 60
# Conditions: a controller, and how many times as much packets are delayed.
NOISIER = {"sqp": 2, "copa": 3, "salsify": 10}
NAMES = ["pudica", "sqp", "copa", "salsify"]
SPOKEN = {"sqp": "SQP", "copa": "Copa", "salsify": "Salsify"}
# Conditions: nothing delays packets by chance; and of Copa only the rate counts, as section 5.1 has it.
STEADY = "packets are not delayed by chance"
STILL = {
    "sqp": STEADY,
    "copa": f"{STEADY} and Copa's window sets the rate and holds no packet back",
    "salsify": STEADY,
}
# A scenario that names its controller does not have the suite's parameters.
OWN = {"copa": "delta = 0.1"}
PARAMS = {"copa": "delta = 0.1, window = false, subtract_waiting = false"}
# Conditions: Salsify's budget, which is 27 ms over the median path if its D_min is the least round trip and 22 ms if it
# is the least delay of the way there; and what three flows of SQP need to share as the paper's do.
BUDGET = ("Salsify's budget is 20 ms", 'budget = "20ms"')
SMALL_KB = 75
UNEVEN = (
    f"buffers have {SMALL_KB} kB and SQP remembers a quarter of a round trip for the least delay",
    "min_delay_rtts = 0.25",
)
# Section 5.3: the link used in the last 30 s, and Jain's index from 45 to 60 s.
USED = dict(zip(NAMES, (77.6, 76.8, 70.8, 68.7), strict=True))
JAIN = dict(zip(NAMES, (0.95, 0.735, 0.965, 0.947), strict=True))


def paths(draw: random.Random, times: int, buffers: list[int]) -> str:
    """The variants, whose packets are delayed so many times as much, with one of these buffers each."""
    text = ""
    for number in range(1, PATHS + 1):
        rtt = RTT_MS * math.exp(draw.gauss(0, RTT_SIGMA))
        rate = RATE_MBPS * math.exp(draw.gauss(0, RATE_SIGMA))
        half = times * round(draw.uniform(*NOISE_US))
        text += f"""
[[variant]]
name = "{number}"
link.rate = "{round(rate * 1e3)}kbit/s"
link.one_way_delay = "{round(rtt * 500)}us"
link.queue = {{ kind = "droptail", limit = "{draw.choice(buffers)}kB" }}
link.jitter = {{ kind = "quantiles", p50 = "{half}us", p99 = "{10 * half}us", p999 = "{15 * half}us", most = "{20 * half}us" }}
"""
    return text


def scenario(
    title: str, flows: str, times: int = 1, buffers: list[int] = BUFFERS_KB
) -> str:
    """A file."""
    return f"""# {title} over paths in the wild (Pudica, Fig. 10). Made by make.py.
duration = "{SECONDS}s"

[link]
rate = "30Mbit/s"
one_way_delay = "5ms"
{flows}{paths(random.Random(SEED), times, buffers)}"""


ONE = """
[[flow]]
name = "first"
"""
THREE = """
[[flow]]
name = "first"

[[flow]]
name = "second"
frame_clock_ppm = -1000
start = "20s"

[[flow]]
name = "third"
frame_clock_ppm = 700
start = "40s"
"""


def of(flows: str, name: str, params: str = "") -> str:
    """The flows with a controller and its parameters."""
    own = f'controller = "{name}"\n'
    if params:
        own += f"params = {{ {params} }}\n"
    for flow in ("first", "second", "third"):
        flows = flows.replace(f'"{flow}"\n', f'"{flow}"\n{own}')
    return flows


def claim(text: str, source: str, *keys: str) -> str:
    """An entry of the index."""
    lines = ["[[claim]]", f'text = "{text}"', f'source = "{source}"']
    return "\n".join([*lines, *keys, ""])


def near(name: str, quantity: str, case: str, paper: float) -> list[str]:
    """The keys of a claim that a number is within a tenth of the paper's."""
    keys = [f"paper = {paper}", f'quantity = "{quantity}"', f'case = "{case}"']
    keys += [f'controllers = ["{name}"]', f"at_least = {round(0.9 * paper, 3)}"]
    return [*keys, f"at_most = {round(min(1.1 * paper, 100), 3)}"]


def claims() -> list[str]:
    """The numbers and the order of Fig. 10."""
    found = []

    def number(words: str, source: str, quantity: str, case: str, table: dict) -> None:
        for name, paper in table.items():
            keys = near(name, quantity, case, paper)
            found.append(claim(f"{name}: {words}", f"section 5.3, {source}", *keys))

    def order(text: str, source: str, *keys: str) -> None:
        found.append(claim(text, f"section 5.3, {source}", *keys))

    number("the link used in the last 30 s", "Fig. 10a", "used", "one", USED)
    for name, times in NOISIER.items():
        text = f"{name}: the link used in the last 30 s, if packets are delayed {times} times as much"
        keys = near(name, "used", f"one-{name}", USED[name])
        found.append(claim(text, "this suite: section 5.3, Fig. 10a", *keys))
    for name in NAMES[1:]:
        order(
            f"Pudica uses no less of the link than {SPOKEN[name]}",
            "Fig. 10a",
            'quantity = "used"',
            'case = "one"',
            'controllers = ["pudica"]',
            "at_least = 1.0",
            f'than = {{ controllers = ["{name}"] }}',
        )
    for name, words in STILL.items():
        found.append(
            claim(
                f"Pudica uses no less of the link than {SPOKEN[name]}, if {words}",
                "this suite: section 5.3, Fig. 10a",
                'quantity = "used"',
                'case = "one-still-pudica"',
                'controllers = ["pudica"]',
                "at_least = 1.0",
                f'than = {{ case = "one-still-{name}", controllers = ["{name}"] }}',
            )
        )
    found.append(
        claim(
            f"Pudica uses no less of the link than Salsify, if {BUDGET[0]}",
            "this suite: section 5.3, Fig. 10a",
            'quantity = "used"',
            'case = "one"',
            'controllers = ["pudica"]',
            "at_least = 1.0",
            'than = { case = "one-budget", controllers = ["salsify"] }',
        )
    )
    steady = ['quantity = "steady-after"', 'case = "one"', 'from = "0s"']
    order(
        "Most flows of Pudica and Salsify are steady within 6 s",
        "Fig. 10b",
        "paper = 6.0",
        *steady,
        'controllers = ["pudica", "salsify"]',
        "at_most = 6.0",
    )
    order(
        "SQP takes 9.7 s in the mean to be steady",
        "Fig. 10b",
        "paper = 9.7",
        *steady,
        'controllers = ["sqp"]',
        "at_least = 6.5",
        "at_most = 14.6",
    )
    number("Jain's index of three flows", "Fig. 10c", "jain", "three", JAIN)
    text = f"sqp: Jain's index of three flows, if {UNEVEN[0]}"
    keys = near("sqp", "jain", "three-uneven", JAIN["sqp"])
    found.append(claim(text, "this suite: section 5.3, Fig. 10c", *keys))
    even = ['quantity = "even-after"', 'case = "three"', 'from = "40s"', 'to = "60s"']
    order(
        "Salsify is the first to be fair",
        "Fig. 10d",
        *even,
        'controllers = ["salsify"]',
        "at_most = 1.0",
        'than = { controllers = ["pudica", "sqp", "copa"] }',
    )
    found.append(
        claim(
            f"Salsify is the first to be fair, if {BUDGET[0]}",
            "this suite: section 5.3, Fig. 10d",
            even[0],
            'case = "three-budget"',
            *even[2:],
            'controllers = ["salsify"]',
            "at_most = 1.0",
            'than = { case = "three", controllers = ["pudica", "sqp", "copa"] }',
        )
    )
    order(
        "SQP is the last to be fair",
        "Fig. 10d",
        *even,
        'controllers = ["sqp"]',
        "at_least = 1.0",
        'than = { controllers = ["pudica", "salsify", "copa"] }',
    )
    return found


def suite() -> str:
    """The index."""
    differs = (
        f"Simulated: {PATHS} paths in place of a platform's. Round trips are drawn as in Fig. 3; the rest is "
        "this suite's, lab/pudica-wild/make.py: 30 Mbit/s in the median, a buffer of 100 to 500 kB, and "
        "packets that are delayed by 0.05 to 0.5 ms in the median."
    )
    noisier = "\n".join(
        f"""[[case]]
name = "one-{name}"
title = "One flow of {name}, packets delayed {times} times as much"
source = "this suite"
file = "one-{name}.toml"
from = "30s"
"""
        for name, times in NOISIER.items()
    )
    noisier += "\n" + "\n".join(
        f"""[[case]]
name = "one-still-{name}"
title = "One flow of {name}, {STILL.get(name, STEADY)}"
source = "this suite"
file = "one-still-{name}.toml"
from = "30s"
"""
        for name in NAMES
    )
    for case, title, begins in (
        ("one-budget", f"One flow of Salsify, {BUDGET[0]}", 30),
        ("three-budget", f"Three flows of Salsify, {BUDGET[0]}", 45),
        ("three-uneven", f"Three flows of SQP, {UNEVEN[0]}", 45),
    ):
        noisier += f"""
[[case]]
name = "{case}"
title = "{title}"
source = "this suite"
file = "{case}.toml"
from = "{begins}s"
"""
    return f"""title = "Pudica, Fig. 10: efficiency and fairness in the wild"
about = "Section 5.3: how much of the link one flow uses, when it is steady (two seconds in a row differ by at most 2 %), and how fair three flows are that begin after 0, 20 and 40 s. Frames 60 times a second, bitrates from 0.2 to 50 Mbit/s beginning at 5; Copa with delta 0.1 and without mode switching, Salsify with a budget of a frame interval and the smallest round trip (section 5.1). A number counts as the paper's within a tenth of it."
page = "figure"
seeds = [1, 16]
controllers = ["pudica", "sqp", "salsify", "copa"]

# Section 5.1.
[params.copa]
delta = 0.1

[[case]]
name = "one"
title = "One flow"
source = "Pudica, section 5.3, Fig. 10a, b"
differs = "{differs}"
file = "one.toml"
from = "30s"

{noisier}
[[case]]
name = "three"
title = "Three flows"
source = "Pudica, section 5.3, Fig. 10c, d"
differs = "As above, with frames' clocks of their own."
file = "three.toml"
from = "45s"

[[case]]
name = "path"
title = "One of the paths"
source = "this suite"
file = "three.toml"
variants = ["1"]

[[figure]]
name = "path"
title = "Fig. 10: bitrates on one of the paths"
cases = ["path"]
shows = "bitrate"
range = [0.0, 50.0]

{chr(10).join(claims())}"""


def main() -> None:
    """Writes the files of this folder."""
    for name, title, flows in (
        ("one", "One flow", ONE),
        ("three", "Three flows", THREE),
    ):
        text = scenario(title, flows)
        (HERE / f"{name}.toml").write_text(text, encoding="utf-8")
    conditions = {
        f"one-{name}": (of(ONE, name, OWN.get(name, "")), times, BUFFERS_KB)
        for name, times in NOISIER.items()
    }
    conditions |= {
        f"one-still-{name}": (of(ONE, name, PARAMS.get(name, "")), 0, BUFFERS_KB)
        for name in NAMES
    }
    conditions["one-budget"] = (of(ONE, "salsify", BUDGET[1]), 1, BUFFERS_KB)
    conditions["three-budget"] = (of(THREE, "salsify", BUDGET[1]), 1, BUFFERS_KB)
    conditions["three-uneven"] = (
        of(THREE, "sqp", UNEVEN[1]),
        1,
        [SMALL_KB] * len(BUFFERS_KB),
    )
    for name, (flows, times, buffers) in conditions.items():
        title = "Three flows" if name.startswith("three") else "One flow"
        text = scenario(title, flows, times, buffers)
        (HERE / f"{name}.toml").write_text(text, encoding="utf-8")
    (HERE / "suite.toml").write_text(suite(), encoding="utf-8")


if __name__ == "__main__":
    main()
