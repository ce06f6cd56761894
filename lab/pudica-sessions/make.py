"""Writes the scenarios and the suite of Pudica's Tables 1 and 2: sessions drawn from a fixed seed.

A session's base round trip is drawn as in Fig. 3 (half below 10 ms, nine tenths below 20 ms), and its falls
of the bandwidth as in Fig. 4 (5.6 % of the users on Ethernet and 35.5 % of those on Wi-Fi have five or more
a minute). Each packet is acknowledged, as on the paper's platform (section 5.1). What the paper does not say
(rates, depths and lengths of falls, buffers, who else is there, the air of the Wi-Fi) was chosen on seeds 17 to
19 so that Pudica's own row of each table comes near the paper's, after trials on seeds 1 to 6 of which of them
matter. The rows of the others, and of Pudica beside them, are then judged on seeds 1 to 16. Each variant is a
session, and each seed of the suite has other page loads, phases and chances on the air: with 16 seeds, 16 times
SESSIONS sessions of each medium for each controller. All sessions of a seed load their pages at the same moments.
"""

import math
import random
import re
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
SEED = 1
SESSIONS = 64
SECONDS = 15
# A session counts from here on.
FROM = 3
# Fig. 3: the median, and the 90th percentile is twice as long: log-normal.
RTT_MS = 10.0
RTT_SIGMA = math.log(2) / 1.2816
RTT_RANGE = (2.0, 60.0)
# Fig. 4: falls a minute are exponential over users, so that exp(-5 / mean) of them have five or more.
FALLS = {"ethernet": 5 / -math.log(0.056), "wifi": 5 / -math.log(0.355)}
# Ours: a median and a spread of the bandwidth. Most have more than the 50 Mbit/s that a stream takes.
RATES = {"ethernet": (75.0, 0.6), "wifi": (60.0, 0.5)}
RATE_RANGE = (20.0, 400.0)
# Ours: what a fall leaves of the rate, and its mean length.
LEFT = {"ethernet": (0.35, 0.5), "wifi": (0.1, 0.4)}
FALL_S = 1.0
BUFFERS_KB = [1000, 2000, 4000]
# Ours: the air. A session has one of the rates of its standard (two streams of 20 MHz, or of 80 MHz) and moves
# between it and its neighbours; other stations send this share of it, in periods.
AIR = {
    "n": [13, 26, 39, 52, 78],
    "ac": [58.5, 117, 175.5, 234, 351, 468],
}
NEIGHBOUR = 0.3
AIR_BUFFER_KB = 4000
# Ours: what the household loads, and how often; and conditions under which it loads more.
PAGE = ("200kB", "10s")
BUSY_PAGE = {"ethernet": ("1MB", "3s"), "wifi": ("1MB", "2.5s")}
BUSY = {"ethernet": ["copa", "salsify", "sqp"], "wifi": ["copa"]}
# A condition: for how many round trips SQP remembers the least delay, in place of two.
MEMORIES = {
    "ethernet": [("half", "half a round trip", 0.5)],
    "wifi": [
        ("one", "one round trip", 1.0),
        ("half", "half a round trip", 0.5),
        ("twentieth", "a twentieth of a round trip", 0.05),
    ],
}
TITLES = {"ethernet": "Ethernet", "wifi": "Wi-Fi"}
TABLES = {"ethernet": "Tab. 1, Fig. 8", "wifi": "Tab. 2, Fig. 9"}
# Tables 1 and 2: mean delay, p95, p99, above 100 ms and 200 ms, mean bitrate.
PAPER = {
    "ethernet": {
        "copa": (26.9, 47.2, 79.9, 1.68, 0.77, 42.9),
        "salsify": (21.5, 30.0, 67.0, 0.48, 0.09, 42.4),
        "sqp": (41.8, 101.7, 147.8, 1.27, 1.03, 43.7),
        "pudica": (19.5, 25.0, 30.6, 0.07, 0.004, 47.5),
    },
    "wifi": {
        "copa": (76.5, 305.2, 672.8, 7.7, 3.9, 22.6),
        "salsify": (195.5, 631.7, 982.5, 22.9, 13.5, 32.6),
        "sqp": (302.2, 815.2, 1218.5, 10.3, 8.7, 23.2),
        "pudica": (33.7, 74.9, 175.6, 2.5, 0.72, 31.2),
    },
}
COLUMNS = [
    ("mean frame delay", "frame-delay-mean", None),
    ("95th percentile of the frame delay", "frame-delay-p95", None),
    ("99th percentile of the frame delay", "frame-delay-p99", None),
    ("stall rate above 100 ms", "late", 100),
    ("stall rate above 200 ms", "late", 200),
    ("bitrate", "bitrate", None),
]
# Fig. 8 and 9, in the text of section 5.2: the reduction, of the quantity of that row.
RATIOS = {
    "ethernet": {0: 1.5, 1: 2.4, 2: 3.2, 3: 16.3, 4: 22.5},
    "wifi": {0: 5.7, 1: 7.8, 2: 5.5, 3: 5.5, 4: 12.1},
}
# Section 5.1; a scenario that names its controller does not have the suite's parameters.
OWN = {"copa": "delta = 0.1"}
OTHERS = ["copa", "salsify", "sqp"]
NAMES = {"copa": "Copa", "salsify": "Salsify", "sqp": "SQP", "pudica": "Pudica"}


def within(value: float, bounds: tuple[float, float]) -> float:
    """The value, or the bound that it exceeds."""
    return min(max(value, bounds[0]), bounds[1])


def steps(draw: random.Random, medium: str) -> str:
    """The rates of a session's bandwidth."""
    middle, sigma = RATES[medium]
    rate = within(middle * math.exp(draw.gauss(0, sigma)), RATE_RANGE)
    entries = [(0.0, rate)]
    often = draw.expovariate(1 / FALLS[medium]) / 60
    at = draw.expovariate(often)
    while at < SECONDS - 0.2:
        end = at + max(draw.expovariate(1 / FALL_S), 0.1)
        entries += [(at, rate * draw.uniform(*LEFT[medium])), (end, rate)]
        at = end + max(draw.expovariate(often), 0.1)
    parts = [
        f'{{ at = "{round(at * 1e3)}ms", rate = "{round(rate * 1e3)}kbit/s" }}'
        for at, rate in entries
    ]
    return f"[{', '.join(parts)}]"


def air(draw: random.Random) -> str:
    """A session's Wi-Fi."""
    standard = draw.choice(["n", "ac"])
    middle = draw.randrange(1, len(AIR[standard]) - 1)
    rates = AIR[standard][middle - 1 : middle + 2]
    listed = ", ".join(f'"{round(rate * 1e3)}kbit/s"' for rate in rates)
    hold = round(draw.uniform(0.5, 3.0), 2)
    count = draw.choice([0, 1, 2, 4])
    on, off = draw.choice([50, 100, 200]), draw.choice([200, 400, 800])
    neighbour = (
        f'{{ count = {count}, sends = "{round(NEIGHBOUR * rates[1] * 1e3)}kbit/s", '
        f'on = "{on}ms", off = "{off}ms" }}'
    )
    others = f", neighbour = [{neighbour}]" if count else ""
    return (
        f'[{{ medium = {{ kind = "wifi", standard = "{standard}", rates = '
        f'[{listed}], hold = "{round(hold * 1e3)}ms"{others} }}, '
        f'queue = {{ kind = "droptail", limit = "{AIR_BUFFER_KB}kB" }} }}]'
    )


def scenario(medium: str, page: tuple[str, str] = PAGE) -> str:
    """The sessions of a medium."""
    draw = random.Random(f"{SEED} {medium}")
    text = f"""# Sessions over {TITLES[medium]} (Pudica, {TABLES[medium]}). Made by make.py.
duration = "{SECONDS}s"

[link]
steps = [{{ at = "0s", rate = "100Mbit/s" }}]
one_way_delay = "5ms"
queue = {{ kind = "droptail", limit = "200kB" }}

[[flow]]
name = "game"
feedback = "packet"

[[flow]]
name = "household"
kind = "tcp"
start = "2s"
pages = {{ every = "{page[1]}", size = "{page[0]}" }}
"""
    for number in range(1, SESSIONS + 1):
        rtt = within(RTT_MS * math.exp(draw.gauss(0, RTT_SIGMA)), RTT_RANGE)
        buffer = draw.choice(BUFFERS_KB)
        text += f"""
[[variant]]
name = "{number}"
link.one_way_delay = "{round(rtt * 500)}us"
link.queue = {{ kind = "droptail", limit = "{buffer}kB" }}
link.steps = {steps(draw, medium)}
"""
        if medium == "wifi":
            text += f"link.next = {air(draw)}\n"
    return text


def of(name: str, text: str, params: str) -> str:
    """The sessions of one controller alone."""
    own = f'controller = "{name}"\n'
    if params:
        own += f"params = {{ {params} }}\n"
    return text.replace('name = "game"\n', f'name = "game"\n{own}')


def spoken(amount: str) -> str:
    """An amount as a sentence has it, with a space before its unit."""
    return re.sub(r"(?<=[0-9])(?=[a-zA-Z])", " ", amount)


def silent(text: str) -> str:
    """The sessions in a household that loads nothing."""
    head, rest = text.split('[[flow]]\nname = "household"\n')
    _, variants = rest.split("\n[[variant]]", 1)
    return f"{head.rstrip()}\n\n[[variant]]{variants}"


class Condition(NamedTuple):
    """What numbers of a controller are repeated under."""

    medium: str
    controller: str
    name: str
    words: str
    # Parameters of the controller; without them the household loads more, or nothing.
    params: str = ""
    is_silent: bool = False

    def case(self) -> str:
        """The case's name."""
        return f"{self.medium}-{self.name}"

    def scenario(self) -> str:
        """The sessions of the controller alone."""
        is_busy = not self.params and not self.is_silent
        text = scenario(self.medium, BUSY_PAGE[self.medium] if is_busy else PAGE)
        params = self.params or OWN.get(self.controller, "")
        return of(self.controller, silent(text) if self.is_silent else text, params)


def conditions() -> list[Condition]:
    """All conditions."""
    found = []
    for medium in PAPER:
        size, every = BUSY_PAGE[medium]
        busy = f"the household loads {spoken(size)} every {spoken(every)}"
        quiet = "the household is silent"
        found.append(Condition(medium, "pudica", "silent", quiet, is_silent=True))
        found += [
            Condition(medium, name, f"busy-{name}", busy) for name in BUSY[medium]
        ]
        found += [
            Condition(
                medium,
                "sqp",
                f"sqp-{name}",
                f"SQP remembers {words} for the least delay",
                f"min_delay_rtts = {memory}",
            )
            for name, words, memory in MEMORIES[medium]
        ]
    found += [
        Condition(
            "wifi",
            "salsify",
            "salsify-fifth",
            "a fifth of Salsify's mean is the newest packet",
            "smoothing = 0.2",
        ),
        Condition(
            "wifi",
            "salsify",
            "salsify-quarter",
            "a quarter of Salsify's mean is the newest packet",
            "smoothing = 0.25",
        ),
        Condition(
            "wifi",
            "salsify",
            "salsify-unbounded",
            "a quarter of Salsify's mean is the newest packet and nothing bounds its growth",
            "smoothing = 0.25, application_headroom = 1000.0",
        ),
    ]
    return found


def claim(text: str, source: str, medium: str, keys: list[str]) -> str:
    """An entry of the index."""
    lines = [f'text = "{text}"', f'source = "{source}"', f'case = "{medium}"', *keys]
    return "\n".join(["[[claim]]", *lines, ""])


def nearest(medium: str, column: int) -> str:
    """Which of the others is nearest to their mean in the table."""
    numbers = {name: PAPER[medium][name][column] for name in OTHERS}
    mean = sum(numbers.values()) / len(numbers)
    return min(numbers, key=lambda name: abs(numbers[name] - mean))


def beside(other: str, condition: Condition | None) -> tuple[str, str, str]:
    """Whom Pudica is compared with, the words of a condition, and what begins the source."""
    if condition is None:
        return f'than = {{ controllers = ["{other}"] }}', "", ""
    than = f'than = {{ case = "{condition.case()}", controllers = ["{other}"] }}'
    return than, f", if {condition.words}", "this suite: "


def order(
    medium: str, column: int, other: str, condition: Condition | None = None
) -> str:
    """The claim that Pudica's number is better than that of another controller."""
    words, quantity, above = COLUMNS[column]
    than, end, place = beside(other, condition)
    is_rate = quantity == "bitrate"
    keys = [f'quantity = "{quantity}"', 'controllers = ["pudica"]']
    keys += [f'above = "{above}ms"'] if above else []
    keys += [f"{'at_least' if is_rate else 'at_most'} = 1.0", than]
    better = "higher" if is_rate else "lower"
    text = f"{TITLES[medium]}: Pudica's {words} is {better} than {NAMES[other]}'s{end}"
    return claim(text, place + TABLES[medium].split(",")[0], medium, keys)


def ratio(
    medium: str, column: int, other: str, condition: Condition | None = None
) -> str:
    """The claim about a reduction in the text of section 5.2."""
    words, quantity, above = COLUMNS[column]
    times = RATIOS[medium][column]
    than, end, place = beside(other, condition)
    keys = [f'quantity = "{quantity}"', 'controllers = ["pudica"]']
    keys += [f'above = "{above}ms"'] if above else []
    keys += [f"at_most = {round(1.5 / times, 4)}", than]
    text = f"{TITLES[medium]}: the {words} is {times} times lower, beside {other}{end}"
    figure = TABLES[medium].split(", ")[1]
    return claim(text, f"{place}section 5.2, {figure}", medium, keys)


def shorter(medium: str, other: str, condition: Condition | None = None) -> str:
    """The claim that Pudica's stalls are shorter than those of another controller."""
    than, end, place = beside(other, condition)
    keys = ['quantity = "late-run"', 'controllers = ["pudica"]', 'above = "100ms"']
    keys += ["at_most = 1.0", than]
    text = f"{TITLES[medium]}: Pudica's stalls are shorter than {NAMES[other]}'s{end}"
    return claim(text, f"{place}section 5.2, Fig. 11", medium, keys)


def in_a_row(medium: str, condition: Condition | None = None) -> str:
    """The claim about the length of Pudica's stalls."""
    keys = ["paper = 10.9", 'quantity = "late-run"', 'controllers = ["pudica"]']
    keys += ['above = "100ms"', "at_least = 7.3", "at_most = 16.4"]
    text = f"{TITLES[medium]}: Pudica's stalls have 10.9 frames in a row in the mean"
    place, case = "section 5.2, Fig. 11", medium
    if condition:
        text += f", if {condition.words}"
        place, case = f"this suite: {place}", condition.case()
    return claim(text, place, case, keys)


def rows(medium: str) -> list[str]:
    """The claims about a table: its numbers, its order, and the text's ratios."""
    title = TITLES[medium]
    columns = range(len(COLUMNS))
    found = [number(medium, name, at, None) for name in PAPER[medium] for at in columns]
    for column in columns:
        found += [order(medium, column, other) for other in OTHERS]
        if column in RATIOS[medium]:
            found.append(ratio(medium, column, nearest(medium, column)))
    keys = [
        'quantity = "late-low"',
        'controllers = ["pudica"]',
        'above = "50ms"',
        "at_least = 50.0",
    ]
    text = f"{title}: more than half of Pudica's frames above 50 ms have less than 10 Mbit/s"
    found.append(claim(text, "section 5.2, Fig. 11", medium, keys))
    found.append(in_a_row(medium))
    found += [shorter(medium, other) for other in OTHERS]
    for words, quantity, above, bound in [
        ("95th percentile of the frame delay", "frame-delay-p95", None, "at_most"),
        ("stall rate above 100 ms", "late", 100, "at_most"),
        ("bitrate", "bitrate", None, "at_least"),
    ]:
        keys = [f'quantity = "{quantity}"', 'controllers = ["mimosa"]']
        keys += [f'above = "{above}ms"'] if above else []
        keys += [f"{bound} = 1.0", 'than = { controllers = ["pudica"] }']
        better = "higher" if bound == "at_least" else "lower"
        text = f"{title}: Mimosa's {words} is {better} than Pudica's"
        found.append(claim(text, "this suite", medium, keys))
    return found


def number(
    medium: str, name: str, column: int, condition: Condition | None = None
) -> str:
    """The claim about a number of Table 1 or 2."""
    words, quantity, above = COLUMNS[column]
    paper = PAPER[medium][name][column]
    keys = [f"paper = {float(paper)}", f'quantity = "{quantity}"']
    keys += [f'controllers = ["{name}"]']
    keys += [f'above = "{above}ms"'] if above else []
    keys += [f"at_least = {round(paper / 1.5, 4)}"]
    keys += [f"at_most = {round(paper * 1.5, 4)}"]
    table = TABLES[medium].split(",")[0]
    text = f"{TITLES[medium]}, {name}: {words}"
    if condition is None:
        return claim(text, table, medium, keys)
    text += f", if {condition.words}"
    return claim(text, f"this suite: {table}", condition.case(), keys)


def repeated() -> list[str]:
    """Claims that are repeated under a condition; with other parameters also those that compare with Pudica."""
    found = []
    for condition in conditions():
        medium, name = condition.medium, condition.controller
        columns = range(len(COLUMNS))
        found += [number(medium, name, column, condition) for column in columns]
        if condition.is_silent:
            found.append(in_a_row(medium, condition))
        if not condition.params:
            continue
        found += [order(medium, column, name, condition) for column in columns]
        found += [
            ratio(medium, column, name, condition)
            for column in RATIOS[medium]
            if nearest(medium, column) == name
        ]
        found.append(shorter(medium, name, condition))
    return found


def conditional() -> str:
    """The cases of the conditions."""
    return "\n".join(
        f"""[[case]]
name = "{condition.case()}"
title = "The sessions over {TITLES[condition.medium]} with {NAMES[condition.controller]}, if {condition.words}"
source = "this suite"
file = "{condition.case()}.toml"
from = "{FROM}s"
"""
        for condition in conditions()
    )


def suite() -> str:
    """The index."""
    cases = "\n".join(
        f"""[[case]]
name = "{medium}"
title = "Sessions over {TITLES[medium]}"
source = "Pudica, section 5.2, {TABLES[medium]}"
differs = "Simulated: {SESSIONS} sessions of {SECONDS} s in place of thousands of hours. Round trips are drawn as in Fig. 3 and falls as in Fig. 4; the rest is this suite's, lab/pudica-sessions/make.py: rates of {RATES[medium][0]:.0f} Mbit/s in the median, a fall leaves {LEFT[medium][0]:.0%} to {LEFT[medium][1]:.0%} for a second in the mean, a buffer of 1 to 4 MB, a page of {spoken(PAGE[0])} every {spoken(PAGE[1])}{", and the air of 802.11n or ac with up to four neighbours" if medium == "wifi" else ""}."
file = "{medium}.toml"
from = "{FROM}s"
"""
        for medium in PAPER
    )
    claims = [row for medium in PAPER for row in rows(medium)]
    claims = "\n".join([*claims, *repeated()])
    return f"""title = "Pudica, Tables 1 and 2: sessions over Ethernet and Wi-Fi"
about = "Section 5.2, Tab. 1 and 2, Fig. 8, 9 and 11: each number is the mean over sessions. Frames 60 times a second, bitrates from 0.2 to 50 Mbit/s beginning at 5; Copa with delta 0.1 and without mode switching, Salsify with a budget of a frame interval and the smallest round trip (section 5.1). A number of the tables counts as the paper's within one and a half times of it, a ratio of the text from two thirds of it on, beside the controller that is nearest to the mean of the others in the table."
page = "figure"
seeds = [1, 16]
controllers = ["pudica", "sqp", "salsify", "copa", "mimosa"]

# Section 5.1.
[params.copa]
{OWN["copa"]}

{cases}
{conditional()}
[[case]]
name = "wifi-session"
title = "One of the sessions over Wi-Fi"
source = "this suite"
file = "wifi.toml"
variants = ["1"]
from = "{FROM}s"

[[figure]]
name = "session-delay"
title = "Frame delay of a session over Wi-Fi"
cases = ["wifi-session"]
shows = "delay"
range = [0.0, 400.0]

{claims}"""


def main() -> None:
    """Writes the files of this folder."""
    for medium in PAPER:
        file = HERE / f"{medium}.toml"
        file.write_text(scenario(medium), encoding="utf-8")
    for condition in conditions():
        file = HERE / f"{condition.case()}.toml"
        file.write_text(condition.scenario(), encoding="utf-8")
    (HERE / "suite.toml").write_text(suite(), encoding="utf-8")


if __name__ == "__main__":
    main()
