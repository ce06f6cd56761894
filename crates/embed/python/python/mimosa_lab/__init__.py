"""Mimosa's simulator: congestion control of interactive video, in runs that repeat to the bit.

A `Scenario` describes links, flows and their controllers. `run` runs it with many seeds on all cores
and gives the figures of each run, and tables in the format of Apache Arrow, which polars and pandas
take without copying:

>>> import mimosa_lab as lab
>>> scenario = lab.Scenario(
...     {"duration": "5s", "link": {"rate": "20Mbit/s"}, "flow": [{"controller": "pudica"}]}
... )
>>> result = lab.run(scenario, seeds=range(1, 4), record=("frames",))
>>> [run["link"]["utilization"] > 0.5 for run in result.figures]
[True, True, True]
>>> len(result.frames) > 800
True

The last word of a column's name is its unit: nanoseconds (`ns`), milliseconds (`ms`), `bytes`, bits
per second (`bps`) or megabits per second (`mbps`). `Table.meaning` says what a column means.

`mimosa_lab.build` has typed objects for links, queues and flows; `mimosa_lab.environment` the environments for
learners, as Gymnasium wants them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from . import _native
from ._native import CONTROLLERS, OBSERVATION, RunResult, ScenarioError, Table, suites
from ._toml import to_toml
from .build import Keys
from .reading import Recording, Records, read_records

__all__ = [
    "CONTROLLERS",
    "OBSERVATION",
    "Recording",
    "Records",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "Table",
    "read_records",
    "run",
    "run_suite",
    "suites",
]
__version__ = _native.VERSION


class Scenario:
    """A scenario: all that describes a run but its seed.

    `description` is the scenario's TOML, or a dictionary with the same keys, whose flows are the list
    `flow`; its values may be objects of `mimosa_lab.build`. Files that it names are read from `folder`; without one, none are read.

    Raises `ScenarioError`, whose message says where the mistake is and what to write instead.
    """

    def __init__(
        self,
        description: str | dict[str, Any],
        *,
        name: str = "scenario",
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        text = description if isinstance(description, str) else to_toml(description)
        self._native = _native.Scenario(
            text, name, None if folder is None else Path(folder)
        )

    @classmethod
    def of(
        cls,
        link: Keys | Mapping[str, Any],
        flows: Iterable[Keys | Mapping[str, Any]],
        *,
        duration: str,
        seed: int | None = None,
        variants: Iterable[Keys | Mapping[str, Any]] = (),
        name: str = "scenario",
        folder: str | os.PathLike[str] | None = None,
    ) -> Scenario:
        """The scenario of a link and flows, which are objects of `mimosa_lab.build` or dictionaries."""
        description: dict[str, Any] = {"duration": duration}
        if seed is not None:
            description["seed"] = seed
        description |= {"link": link, "flow": list(flows), "variant": list(variants)}
        return cls(description, name=name, folder=folder)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Scenario:
        """The scenario in the file at `path`; files that it names are beside it."""
        path = Path(path)
        return cls(path.read_text(encoding="utf-8"), name=path.name, folder=path.parent)

    @property
    def text(self) -> str:
        """The scenario's TOML."""
        return self._native.text

    @property
    def seed(self) -> int:
        """The seed that the scenario names; 1 without one."""
        return self._native.seed

    @property
    def variants(self) -> list[str | None]:
        """The names of the variants; a scenario without variants has one, named `None`."""
        return self._native.variants

    @property
    def flows(self) -> list[tuple[str, str]]:
        """The names of the first variant's flows, each with its kind: `video`, `tcp` or `cbr`."""
        return self._native.flows

    @property
    def notes(self) -> list[str]:
        """Remarks on what was not taken literally, each with its place."""
        return self._native.notes

    def __repr__(self) -> str:
        return repr(self._native)


def run(
    scenario: Scenario,
    *,
    seeds: int | Iterable[int] | None = None,
    controller: str | Callable[[dict[str, int]], Any] | None = None,
    policy: Callable[
        [dict[str, int]], Callable[[list[float]], tuple[float, float, float]]
    ]
    | None = None,
    flow: int | None = None,
    variant: str | None = None,
    window: tuple[str | None, str | None] = (None, None),
    record: Iterable[str] = (),
    progress: bool | Callable[[int, int], object] = False,
) -> RunResult:
    """Run every variant of `scenario`, or the one named `variant`, with each of `seeds`.

    The runs go on all cores, without Python's lock; Ctrl-C ends them within half a second of virtual
    time. Results are in the order of the variants, and then of the seeds. The same arguments give the
    same results.

    `controller` replaces the controllers of all video flows by the one with this name (one of
    `CONTROLLERS`), or that of the first video flow by an object of Python: a class or function that
    takes the limits, a dictionary of `min_bps`, `start_bps` and `max_bps`, and gives an object with
    the method `handle(now_ns, event)`. It returns `None` to leave everything as it is, or a
    dictionary with what changes: `target_bps`, `frame_limit_bytes`, `pacing`, `window_bytes`,
    `probe`, `cause`, `timer_ns`.

    `policy` makes the decisions of the first video flow once for each frame, as a learner does: a
    function that takes the limits and gives a function, which takes an observation (the numbers of
    `OBSERVATION`) and gives the target in Mbit/s, the size limit as a multiple of the target's share
    of a frame, and the pace as a multiple of the frame's interval.

    `flow` names the flow by its number in place of the first.

    `window` is the part of each run that the figures are about, from its first time to before its
    second, as `("3s", "20s")` or `("3s", None)`; `None` is the beginning or the end of the run. It is
    what `--from` and `--to` are to `mimosa sim`; tables of frames and packets have the whole run.

    `record` may name `frames` and `packets`; what is not recorded costs neither time nor memory.
    `progress` is called with the number of runs that are done and that of all runs; `True` shows a
    line on standard error.
    """
    if seeds is None:
        seeds = [scenario.seed]
    elif isinstance(seeds, int):
        seeds = [seeds]
    return _native.run(
        scenario._native,
        list(seeds),
        controller,
        policy,
        flow,
        variant,
        window,
        list(record),
        _progress(progress),
    )


def run_suite(
    name: str,
    folder: str | os.PathLike[str],
    *,
    controllers: Iterable[str] = (),
    seeds: tuple[int, int] | None = None,
    cases: Iterable[str] = (),
    progress: bool | Callable[[int, int], object] = False,
) -> tuple[Records, Path]:
    """Run the lab's suite `name` (one of `suites()`), or parts of it, and write its page.

    Each run is kept in `folder` at once, so that the next call goes on where this one stopped.
    `seeds` are the first and the last. Returns a record of each run, and the path of the page; the
    records' `to_polars("flows")` is a table with a row for each flow.
    """
    records, page = _native.run_suite(
        name, Path(folder), list(controllers), seeds, list(cases), _progress(progress)
    )
    return Records(records), page


def _progress(
    progress: bool | Callable[[int, int], object],
) -> Callable[[int, int], object] | None:
    if callable(progress):
        return progress
    return _show if progress else None


def _show(done: int, runs: int) -> None:
    """Draw a bar of 30 characters on standard error."""
    full = 30 * done // max(runs, 1)
    end = "\n" if done == runs else ""
    print(
        f"\r[{'#' * full}{'.' * (30 - full)}] {done} of {runs}",
        end=end,
        file=sys.stderr,
        flush=True,
    )
