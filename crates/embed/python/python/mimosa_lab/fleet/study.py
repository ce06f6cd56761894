"""Reads a study, and checks everything in it."""

from __future__ import annotations

import hashlib
import math
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mimosa_lab as lab

from .engagement import Engagement
from .keys import StudyError, Table, quantity

#: Figures of a session that an analysis may name: in which direction it is better.
METRICS = {
    "frame_delay_mean_ms": "lower",
    "frame_delay_p95_ms": "lower",
    "frame_delay_p99_ms": "lower",
    "stall_50ms": "lower",
    "stall_100ms": "lower",
    "stall_200ms": "lower",
    "bitrate_mbps": "higher",
    "valid_bitrate_mbps": "higher",
    "completed_fps": "higher",
}
#: What the model of engagement makes of a session, where a study asks for it.
MODELLED = {"modelled_play_time": "higher", "modelled_complaints": "lower"}


@dataclass(frozen=True)
class LogNormal:
    """A log-normal distribution within bounds."""

    median: float
    spread: float
    least: float
    most: float

    @classmethod
    def read(cls, place: str, table: object) -> LogNormal:
        """From a quantity alone, or a table of `median`, `spread`, `least` and `most`."""
        if isinstance(table, str):
            value = quantity(place, table)
            return cls(value, 0.0, value, value)
        keys = Table(place, table)
        median = quantity(f"{place}.median", keys.take("median", str))
        spread = float(keys.take("spread", (int, float), 0.0))
        least = keys.take("least", str, None)
        most = keys.take("most", str, None)
        keys.end()
        if not (math.isfinite(spread) and spread >= 0):
            raise StudyError(
                f"{place}.spread must be a number from zero, but is {spread}"
            )
        low = 0.0 if least is None else quantity(f"{place}.least", least)
        high = math.inf if most is None else quantity(f"{place}.most", most)
        if not 0 < median or not low <= median <= high:
            raise StudyError(
                f"{place}: `median` must be above zero, and between `least` and `most`"
            )
        return cls(median, spread, low, high)


@dataclass(frozen=True)
class Population:
    """Users whose networks are alike."""

    name: str
    share: float
    round_trip: LogNormal
    rate: LogNormal
    buffers: list[str]
    #: Mean number of falls a minute over users; it is exponentially distributed.
    falls: float
    #: What a fall leaves of the rate, from and to.
    leaves: tuple[float, float]
    #: Mean length of a fall, in milliseconds.
    lasts: float
    #: Further links that data pass; each user has one of these, if there are any.
    links: list[dict[str, Any]]
    #: Further flows of the household, by their keys in a scenario.
    flows: list[dict[str, Any]]

    @classmethod
    def read(cls, number: int, table: object) -> Population:
        place = f"population[{number}]"
        keys = Table(place, table)
        falls = Table(f"{place}.falls", keys.take("falls", dict, {"mean": 0}))
        mean = float(falls.take("mean", (int, float)))
        leaves = falls.take("leaves", list, [0.1, 0.5])
        lasts = quantity(f"{place}.falls.lasts", falls.take("lasts", str, "1s"))
        falls.end()
        if len(leaves) != 2 or not 0 < leaves[0] <= leaves[1] < 1 or not mean >= 0:
            raise StudyError(
                f"{place}.falls: `leaves` are two shares in order, `mean` is from zero"
            )
        made = cls(
            keys.take("name", str),
            float(keys.take("share", (int, float))),
            LogNormal.read(f"{place}.round_trip", keys.take("round_trip", (str, dict))),
            LogNormal.read(f"{place}.rate", keys.take("rate", (str, dict))),
            keys.take("buffers", list),
            mean,
            (float(leaves[0]), float(leaves[1])),
            lasts,
            keys.take("links", list, []),
            keys.take("flows", list, []),
        )
        keys.end()
        if not made.share > 0 or not made.buffers:
            raise StudyError(
                f"{place}: `share` is above zero, and `buffers` has one or more sizes"
            )
        return made


@dataclass(frozen=True)
class Arm:
    """What is compared: a controller, with other keys of its flow."""

    name: str
    flow: dict[str, Any]


@dataclass(frozen=True)
class Study:
    """A study, all of which has been checked."""

    title: str
    seed: int
    sessions: int
    users: int
    #: Whether each session is played in every arm, with the same seed, or in one drawn at random.
    is_paired: bool
    length: LogNormal
    populations: list[Population]
    arms: list[Arm]
    #: The arm with which the others are compared.
    baseline: str
    metrics: list[str]
    resamples: int
    #: The model of engagement, if its columns are wanted.
    engagement: Engagement | None
    #: Keys of every streamed flow.
    flow: dict[str, Any]
    digest: str = field(default="", compare=False)

    @classmethod
    def load(cls, path: Path) -> Study:
        """The study in the file at `path`.

        Raises `StudyError` with the place of the first mistake.
        """
        text = path.read_bytes()
        try:
            table = tomllib.loads(text.decode())
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise StudyError(f"{path.name}: {error}") from None
        return cls.read(table, hashlib.sha256(text).hexdigest())

    @classmethod
    def read(cls, table: dict[str, Any], digest: str = "") -> Study:
        """The study with these keys."""
        keys = Table("study", table)
        analysis = Table("analysis", keys.take("analysis", dict))
        design = keys.take("design", str, "paired")
        if design not in ("paired", "randomised"):
            raise StudyError(
                f"study.design is `paired` or `randomised`, not `{design}`"
            )
        populations = [
            Population.read(number, population)
            for number, population in enumerate(keys.take("population", list))
        ]
        arms = []
        for number, arm in enumerate(keys.take("arm", list)):
            flow = Table(f"arm[{number}]", arm)
            arms.append(Arm(flow.take("name", str), flow.left))
        study = cls(
            title=keys.take("title", str),
            seed=keys.take("seed", int, 1),
            sessions=keys.positive("sessions"),
            users=keys.positive("users"),
            is_paired=design == "paired",
            length=LogNormal.read("study.length", keys.take("length", (str, dict))),
            populations=populations,
            arms=arms,
            baseline=analysis.take("baseline", str),
            metrics=analysis.take("metrics", list),
            resamples=analysis.positive("resamples", 2000),
            engagement=Engagement.read(
                "analysis.engagement", analysis.take("engagement", (bool, dict), False)
            ),
            flow=keys.take("flow", dict, {}),
            digest=digest,
        )
        keys.end()
        analysis.end()
        study._check()
        return study

    @property
    def columns(self) -> list[str]:
        """What the analysis has a column for: the metrics, and the model's where it is wanted."""
        return [*self.metrics, *(MODELLED if self.engagement else ())]

    def _check(self) -> None:
        names = [arm.name for arm in self.arms]
        if len(set(names)) != len(names) or self.baseline not in names:
            raise StudyError(
                f"analysis.baseline is one of the arms' names, which differ: {names}"
            )
        if not self.populations:
            raise StudyError("study lacks a `[[population]]`")
        for metric in self.metrics:
            if metric not in METRICS:
                raise StudyError(
                    f"analysis.metrics: unknown `{metric}`; there is {', '.join(METRICS)}"
                )
        # What only the simulator knows, it says of a session of each population, arm and link.
        from .draw import scenario

        for population in self.populations:
            for arm in self.arms:
                described = scenario(self, population, 0, 0, arm)
                for link in population.links or [None]:
                    if link is not None:
                        described["link"]["next"] = [link]
                    try:
                        lab.Scenario(described)
                    except lab.ScenarioError as error:
                        place = f"population `{population.name}`, arm `{arm.name}`"
                        raise StudyError(f"{place}: {error}") from None
