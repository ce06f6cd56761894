"""Writes the scenarios and the suite of Pudica's Tables 1 and 2: sessions drawn from a fixed seed.

A session's base round trip is drawn as in Fig. 3 (half below 10 ms, nine tenths below 20 ms), and its falls
of the bandwidth as in Fig. 4 (5.6 % of the users on Ethernet and 35.5 % of those on Wi-Fi have five or more
a minute). What the paper does not say is chosen here: rates, depths and lengths of falls, buffers, and who
else is there. Each variant is a session, and each seed of the suite has other page loads, phases and chances
on the air: with 16 seeds, 16 times SESSIONS sessions of each medium for each controller.
"""

import math
import random
from pathlib import Path

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
RATES = {"ethernet": (100.0, 0.5), "wifi": (80.0, 0.5)}
RATE_RANGE = (20.0, 400.0)
# Ours: what a fall leaves of the rate, and its mean length.
LEFT = (0.1, 0.5)
FALL_S = 1.0
# A condition under which numbers are repeated: falls leave less, and for longer.
DEEP_LEFT = (0.02, 0.2)
DEEP_FALL_S = 2.0
BUFFERS_KB = [100, 200, 500]
# Ours: the air. Physical rates are drawn anew every `hold`; neighbours send in periods.
AIR = {
    "n": '["130Mbit/s", "117Mbit/s", "78Mbit/s", "39Mbit/s"]',
    "ac": '["866Mbit/s", "780Mbit/s", "520Mbit/s", "260Mbit/s"]',
}
NEIGHBOUR = {"n": "25Mbit/s", "ac": "100Mbit/s"}
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
OTHERS = ["copa", "salsify", "sqp"]


def within(value: float, bounds: tuple[float, float]) -> float:
    """The value, or the bound that it exceeds."""
    return min(max(value, bounds[0]), bounds[1])


def steps(draw: random.Random, medium: str, are_deep: bool) -> str:
    """The rates of a session's bandwidth."""
    left, length = (DEEP_LEFT, DEEP_FALL_S) if are_deep else (LEFT, FALL_S)
    middle, sigma = RATES[medium]
    rate = within(middle * math.exp(draw.gauss(0, sigma)), RATE_RANGE)
    entries = [(0.0, rate)]
    often = draw.expovariate(1 / FALLS[medium]) / 60
    at = draw.expovariate(often)
    while at < SECONDS - 0.2:
        end = at + max(draw.expovariate(1 / length), 0.1)
        entries += [(at, rate * draw.uniform(*left)), (end, rate)]
        at = end + max(draw.expovariate(often), 0.1)
    parts = [
        f'{{ at = "{round(at * 1e3)}ms", rate = "{round(rate * 1e3)}kbit/s" }}'
        for at, rate in entries
    ]
    return f"[{', '.join(parts)}]"


def air(draw: random.Random) -> str:
    """A session's Wi-Fi."""
    standard = draw.choice(["n", "ac"])
    hold = round(draw.uniform(0.1, 1.0), 2)
    count = draw.choice([0, 1, 2, 4])
    on, off = draw.choice([50, 100, 200]), draw.choice([200, 400, 800])
    neighbour = (
        f'{{ count = {count}, sends = "{NEIGHBOUR[standard]}", '
        f'on = "{on}ms", off = "{off}ms" }}'
    )
    others = f", neighbour = [{neighbour}]" if count else ""
    return (
        f'[{{ medium = {{ kind = "wifi", standard = "{standard}", rates = '
        f'{AIR[standard]}, hold = "{round(hold * 1e3)}ms"{others} }}, '
        f'queue = {{ kind = "droptail", limit = "500kB" }} }}]'
    )


def scenario(medium: str, are_deep: bool = False) -> str:
    """The sessions of a medium, whose falls may leave less, for longer."""
    draw = random.Random(f"{SEED} {medium}")
    text = f"""# Sessions over {TITLES[medium]} (Pudica, {TABLES[medium]}). Made by make.py.
duration = "{SECONDS}s"

[link]
steps = [{{ at = "0s", rate = "100Mbit/s" }}]
one_way_delay = "5ms"
queue = {{ kind = "droptail", limit = "200kB" }}

[[flow]]
name = "game"
feedback = "frame"

[[flow]]
name = "household"
kind = "tcp"
start = "2s"
pages = {{ every = "10s", size = "2MB" }}
"""
    for number in range(1, SESSIONS + 1):
        rtt = within(RTT_MS * math.exp(draw.gauss(0, RTT_SIGMA)), RTT_RANGE)
        buffer = draw.choice(BUFFERS_KB)
        text += f"""
[[variant]]
name = "{number}"
link.one_way_delay = "{round(rtt * 500)}us"
link.queue = {{ kind = "droptail", limit = "{buffer}kB" }}
link.steps = {steps(draw, medium, are_deep)}
"""
        if medium == "wifi":
            text += f"link.next = {air(draw)}\n"
    return text


def alone(text: str) -> str:
    """Pudica's sessions in a household that is silent."""
    head, rest = text.split('[[flow]]\nname = "household"\n')
    _, variants = rest.split("\n[[variant]]", 1)
    head = head.replace('name = "game"\n', 'name = "game"\ncontroller = "pudica"\n')
    return f"{head.rstrip()}\n\n[[variant]]{variants}"


def short_memory(text: str) -> str:
    """The sessions of SQP with a memory of half a round trip for the least delay."""
    own = 'controller = "sqp"\nparams = { min_delay_rtts = 0.5 }\n'
    return text.replace('name = "game"\n', f'name = "game"\n{own}')


def claim(text: str, source: str, medium: str, keys: list[str]) -> str:
    """An entry of the index."""
    lines = [f'text = "{text}"', f'source = "{source}"', f'case = "{medium}"', *keys]
    return "\n".join(["[[claim]]", *lines, ""])


def nearest(medium: str, column: int) -> str:
    """Which of the others is nearest to their mean in the table."""
    numbers = {name: PAPER[medium][name][column] for name in OTHERS}
    mean = sum(numbers.values()) / len(numbers)
    return min(numbers, key=lambda name: abs(numbers[name] - mean))


def rows(medium: str) -> list[str]:
    """The claims about a table: its numbers, its order, and the text's ratios."""
    title = TITLES[medium]
    table = TABLES[medium].split(",")[0]
    figure = TABLES[medium].split(", ")[1]
    found = []
    for name, numbers in PAPER[medium].items():
        for (words, quantity, above), paper in zip(COLUMNS, numbers, strict=True):
            keys = [f"paper = {float(paper)}", f'quantity = "{quantity}"']
            keys += [f'controllers = ["{name}"]']
            keys += [f'above = "{above}ms"'] if above else []
            keys += [
                f"at_least = {round(paper / 1.5, 4)}",
                f"at_most = {round(paper * 1.5, 4)}",
            ]
            found.append(claim(f"{title}, {name}: {words}", table, medium, keys))
    for column, (words, quantity, above) in enumerate(COLUMNS):
        keys = [f'quantity = "{quantity}"', 'controllers = ["pudica"]']
        keys += [f'above = "{above}ms"'] if above else []
        bound = "at_least" if quantity == "bitrate" else "at_most"
        names = ", ".join(f'"{name}"' for name in OTHERS)
        keys += [f"{bound} = 1.0", f"than = {{ controllers = [{names}] }}"]
        better = "higher" if quantity == "bitrate" else "lower"
        text = f"{title}: Pudica's {words} is {better} than the others'"
        found.append(claim(text, table, medium, keys))
        if times := RATIOS[medium].get(column):
            other = nearest(medium, column)
            keys = keys[:-2] + [
                f"at_most = {round(1.5 / times, 4)}",
                f'than = {{ controllers = ["{other}"] }}',
            ]
            text = f"{title}: the {words} is {times} times lower, beside {other}"
            found.append(claim(text, f"section 5.2, {figure}", medium, keys))
    keys = [
        'quantity = "late-low"',
        'controllers = ["pudica"]',
        'above = "50ms"',
        "at_least = 50.0",
    ]
    text = f"{title}: more than half of Pudica's frames above 50 ms have less than 10 Mbit/s"
    found.append(claim(text, "section 5.2, Fig. 11", medium, keys))
    keys = [
        "paper = 10.9",
        'quantity = "late-run"',
        'controllers = ["pudica"]',
        'above = "100ms"',
    ]
    keys += ["at_least = 7.3", "at_most = 16.4"]
    text = f"{title}: Pudica's stalls have 10.9 frames in a row in the mean"
    found.append(claim(text, "section 5.2, Fig. 11", medium, keys))
    keys = [
        'quantity = "late-run"',
        'controllers = ["pudica"]',
        'above = "100ms"',
        "at_most = 1.0",
        'than = { controllers = ["copa", "salsify", "sqp"] }',
    ]
    text = f"{title}: Pudica's stalls are shorter than the others'"
    found.append(claim(text, "section 5.2, Fig. 11", medium, keys))
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


def number(medium: str, name: str, column: int, case: str, condition: str) -> str:
    """The claim about a number of Table 1 or 2 under a condition."""
    words, quantity, above = COLUMNS[column]
    paper = PAPER[medium][name][column]
    keys = [f"paper = {float(paper)}", f'quantity = "{quantity}"']
    keys += [f'controllers = ["{name}"]']
    keys += [f'above = "{above}ms"'] if above else []
    keys += [f"at_least = {round(paper / 1.5, 4)}"]
    keys += [f"at_most = {round(paper * 1.5, 4)}"]
    table = TABLES[medium].split(",")[0]
    text = f"{TITLES[medium]}, {name}: {words}, if {condition}"
    return claim(text, f"this suite: {table}", case, keys)


def repeated() -> list[str]:
    """Claims that are repeated under a condition."""
    silent, memory = "the household is silent", "SQP remembers half a round trip"
    found = [
        number("ethernet", "pudica", column, "ethernet-alone", silent)
        for column in range(len(COLUMNS))
    ]
    keys = ["paper = 10.9", 'quantity = "late-run"', 'controllers = ["pudica"]']
    keys += ['above = "100ms"', "at_least = 7.3", "at_most = 16.4"]
    text = (
        f"Ethernet: Pudica's stalls have 10.9 frames in a row in the mean, if {silent}"
    )
    found.append(claim(text, "this suite: Fig. 11", "ethernet-alone", keys))
    deep = "a fall leaves a fiftieth to a fifth, for two seconds"
    found += [
        number("wifi", name, column, "wifi-deep", deep)
        for name, column in [("copa", 5), ("sqp", 3), ("sqp", 5), ("pudica", 2)]
    ]
    text = f"Wi-Fi: Pudica's stalls have 10.9 frames in a row in the mean, if {deep}"
    found.append(claim(text, "this suite: Fig. 11", "wifi-deep", keys))
    for medium in PAPER:
        case = f"{medium}-sqp"
        found += [
            number(medium, "sqp", column, case, memory)
            for column in range(len(COLUMNS))
        ]
        # The stall rates that section 5.2 has the ratio of.
        for column in (3, 4):
            words, quantity, above = COLUMNS[column]
            times = RATIOS[medium][column]
            if nearest(medium, column) != "sqp":
                continue
            keys = [f'quantity = "{quantity}"', 'controllers = ["pudica"]']
            keys += [f'above = "{above}ms"', f"at_most = {round(1.5 / times, 4)}"]
            keys += [f'than = {{ case = "{case}", controllers = ["sqp"] }}']
            text = f"{TITLES[medium]}: the {words} is {times} times lower, beside sqp, if {memory}"
            found.append(claim(text, "this suite: section 5.2", medium, keys))
    return found


def suite() -> str:
    """The index."""
    cases = "\n".join(
        f"""[[case]]
name = "{medium}"
title = "Sessions over {TITLES[medium]}"
source = "Pudica, section 5.2, {TABLES[medium]}"
differs = "Simulated: {SESSIONS} sessions of {SECONDS} s in place of thousands of hours. Round trips are drawn as in Fig. 3 and falls as in Fig. 4; the rest is this suite's, lab/pudica-sessions/make.py: rates of {RATES[medium][0]:.0f} Mbit/s in the median, a fall leaves a tenth to a half for a second in the mean, a buffer of 100 to 500 kB, pages of 2 MB{", and the air of 802.11n or ac with up to four neighbours" if medium == "wifi" else ""}."
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
delta = 0.1

{cases}
[[case]]
name = "ethernet-alone"
title = "The sessions over Ethernet in a silent household"
source = "this suite"
file = "ethernet-alone.toml"
from = "{FROM}s"

[[case]]
name = "ethernet-sqp"
title = "The sessions over Ethernet, SQP with a memory of half a round trip"
source = "this suite"
file = "ethernet-sqp.toml"
from = "{FROM}s"

[[case]]
name = "wifi-sqp"
title = "The sessions over Wi-Fi, SQP with a memory of half a round trip"
source = "this suite"
file = "wifi-sqp.toml"
from = "{FROM}s"

[[case]]
name = "wifi-deep"
title = "The sessions over Wi-Fi, with falls that leave less for longer"
source = "this suite"
file = "wifi-deep.toml"
from = "{FROM}s"

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
        text = short_memory(scenario(medium))
        (HERE / f"{medium}-sqp.toml").write_text(text, encoding="utf-8")
    text = scenario("wifi", are_deep=True)
    (HERE / "wifi-deep.toml").write_text(text, encoding="utf-8")
    text = alone(scenario("ethernet"))
    (HERE / "ethernet-alone.toml").write_text(text, encoding="utf-8")
    (HERE / "suite.toml").write_text(suite(), encoding="utf-8")


if __name__ == "__main__":
    main()
