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
from pathlib import Path

from conditions import PLAIN, World, conditions
from rows import TABLES, TITLES, suite

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
# Ours: what a fall leaves of the rate; a world has its mean length, and what the household loads.
LEFT = {"ethernet": (0.35, 0.5), "wifi": (0.1, 0.4)}
BUFFERS_KB = [1000, 2000, 4000]
# Ours: the air. A session has one of the rates of its standard (two streams of 20 MHz, or of 80 MHz) and moves
# between it and its neighbours; other stations send a share of it, in periods.
AIR = {
    "n": [13, 26, 39, 52, 78],
    "ac": [58.5, 117, 175.5, 234, 351, 468],
}
AIR_BUFFER_KB = 4000


def within(value: float, bounds: tuple[float, float]) -> float:
    """The value, or the bound that it exceeds."""
    return min(max(value, bounds[0]), bounds[1])


def steps(draw: random.Random, medium: str, world: World) -> str:
    """The rates of a session's bandwidth."""
    middle, sigma = RATES[medium]
    rate = within(middle * math.exp(draw.gauss(0, sigma)), RATE_RANGE)
    entries = [(0.0, rate)]
    often = draw.expovariate(1 / FALLS[medium]) / 60
    at = draw.expovariate(often)
    while at < SECONDS - 0.2:
        end = at + max(draw.expovariate(1 / world.fall_s), 0.1)
        left = draw.uniform(*(world.left or LEFT[medium]))
        entries += [(at, rate * left), (end, rate)]
        at = end + max(draw.expovariate(often), 0.1)
    parts = [
        f'{{ at = "{round(at * 1e3)}ms", rate = "{round(rate * 1e3)}kbit/s" }}'
        for at, rate in entries
    ]
    return f"[{', '.join(parts)}]"


def air(draw: random.Random, world: World) -> str:
    """A session's Wi-Fi."""
    standard = draw.choice(["n", "ac"])
    middle = draw.randrange(1, len(AIR[standard]) - 1)
    rates = AIR[standard][middle - 1 : middle + 2]
    listed = ", ".join(f'"{round(rate * 1e3)}kbit/s"' for rate in rates)
    hold = round(draw.uniform(0.5, 3.0), 2)
    count = draw.choice([0, 1, 2, 4])
    on, off = draw.choice([50, 100, 200]), draw.choice([200, 400, 800])
    neighbour = (
        f'{{ count = {count}, sends = "{round(world.neighbour * rates[1] * 1e3)}kbit/s", '
        f'on = "{on}ms", off = "{off}ms" }}'
    )
    others = f", neighbour = [{neighbour}]" if count else ""
    return (
        f'[{{ medium = {{ kind = "wifi", standard = "{standard}", rates = '
        f'[{listed}], hold = "{round(hold * 1e3)}ms"{others} }}, '
        f'queue = {{ kind = "droptail", limit = "{AIR_BUFFER_KB}kB" }} }}]'
    )


def scenario(medium: str, world: World = PLAIN) -> str:
    """The sessions of a medium."""
    size, every = world.page
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
"""
    if size:
        text += f"""
[[flow]]
name = "household"
kind = "tcp"
start = "2s"
pages = {{ every = "{every}", size = "{size}" }}
"""
    for number in range(1, SESSIONS + 1):
        rtt = within(RTT_MS * math.exp(draw.gauss(0, RTT_SIGMA)), RTT_RANGE)
        buffer = draw.choice(BUFFERS_KB)
        text += f"""
[[variant]]
name = "{number}"
link.one_way_delay = "{round(rtt * 500)}us"
link.queue = {{ kind = "droptail", limit = "{buffer}kB" }}
link.steps = {steps(draw, medium, world)}
"""
        if world.link:
            text += f"{world.link}\n"
        if medium == "wifi":
            text += f"link.next = {air(draw, world)}\n"
    return text


def of(name: str, text: str, params: str) -> str:
    """The sessions of one controller alone."""
    own = f'controller = "{name}"\n'
    if params:
        own += f"params = {{ {params} }}\n"
    return text.replace('name = "game"\n', f'name = "game"\n{own}')


def main() -> None:
    """Writes the files of this folder."""
    for medium in TITLES:
        file = HERE / f"{medium}.toml"
        file.write_text(scenario(medium), encoding="utf-8")
    for condition in conditions():
        text = scenario(condition.medium, condition.world)
        text = of(condition.controller, text, condition.params())
        file = HERE / f"{condition.case()}.toml"
        file.write_text(text, encoding="utf-8")
    shape = {medium: (RATES[medium][0], LEFT[medium], PLAIN.page) for medium in TITLES}
    index = suite(SESSIONS, SECONDS, FROM, shape)
    (HERE / "suite.toml").write_text(index, encoding="utf-8")


if __name__ == "__main__":
    main()
