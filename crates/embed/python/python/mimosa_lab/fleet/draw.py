"""Draws users and their sessions, from the study's seed alone."""

from __future__ import annotations

import math
import random
from typing import Any

from .study import Arm, LogNormal, Population, Study

#: The shortest fall, and the shortest time between two, in milliseconds.
SHORTEST = 100.0
#: The longest session that is described, in milliseconds: a day.
LONGEST = 24 * 3.6e6


def _value(draw: random.Random, of: LogNormal) -> float:
    return min(max(of.median * math.exp(draw.gauss(0, of.spread)), of.least), of.most)


def user_of(study: Study, session: int) -> int:
    """The user who plays a session; users take turns."""
    return session % study.users


def population_of(study: Study, user: int) -> Population:
    """The population of a user."""
    draw = random.Random(f"{study.seed} population {user}")
    shares = [population.share for population in study.populations]
    return draw.choices(study.populations, shares)[0]


def arms_of(study: Study, session: int) -> list[Arm]:
    """The arms in which a session is played."""
    if study.is_paired:
        return study.arms
    return [random.Random(f"{study.seed} arm {session}").choice(study.arms)]


def seed_of(study: Study, session: int) -> int:
    """The simulator's seed of a session, which all arms share."""
    return random.Random(f"{study.seed} session {session}").getrandbits(63)


def scenario(
    study: Study, population: Population, user: int, session: int, arm: Arm
) -> dict[str, Any]:
    """The scenario of a session: the user's network, and this session's length and falls."""
    home = random.Random(f"{study.seed} user {user}")
    round_trip = _value(home, population.round_trip)
    rate = _value(home, population.rate)
    buffer = home.choice(population.buffers)
    often = home.expovariate(1 / population.falls) if population.falls else 0.0
    link = home.choice(population.links) if population.links else None
    now = random.Random(f"{study.seed} course {session}")
    length = min(_value(now, study.length), LONGEST)
    described: dict[str, Any] = {
        "duration": f"{max(round(length), 1)}ms",
        "link": {
            "steps": _steps(now, population, rate, often / 6e4, length),
            "one_way_delay": f"{round(round_trip * 500)}us",
            "queue": {"kind": "droptail", "limit": buffer},
        },
        "flow": [{"name": "game", **study.flow, **arm.flow}, *population.flows],
    }
    if link is not None:
        described["link"]["next"] = [link]
    return described


def _steps(
    draw: random.Random,
    population: Population,
    rate: float,
    often: float,
    length: float,
) -> list[dict[str, str]]:
    """The rate over time: it falls `often` times a millisecond, and comes back."""
    entries = [(0.0, rate)]
    at = draw.expovariate(often) if often else math.inf
    while at + SHORTEST < length:
        end = at + max(draw.expovariate(1 / population.lasts), SHORTEST)
        entries += [(at, rate * draw.uniform(*population.leaves)), (end, rate)]
        at = end + max(draw.expovariate(often), SHORTEST)
    return [
        {"at": f"{round(at)}ms", "rate": f"{round(kbps)}kbit/s"} for at, kbps in entries
    ]
