"""Measures how much faster a study runs with more workers on this machine.

The same tasks run with each number of workers in turn, and all of that several times, so that a machine that
becomes slower or faster meanwhile does so for all. The time is that of the whole run: workers that start, tasks,
and what is written. What else runs on the machine shows in the result; nothing else should.
"""

from __future__ import annotations

import dataclasses
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from . import work
from .study import Study

#: The number of tasks that is measured by default: some minutes of a core for sessions of ten minutes. Against that,
#: the second in which workers start and the half task for which one waits at the end are little.
TASKS = 48


@dataclasses.dataclass(frozen=True)
class Pace:
    """How long the tasks took with so many workers, each time."""

    workers: int
    seconds: list[float]

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def measure(
    study: Study,
    workers: list[int],
    tasks: int = TASKS,
    repeats: int = 3,
    progress: Callable[[int, int], object] = lambda done, runs: None,
) -> list[Pace]:
    """The pace of the study's first `tasks` with each number of workers, run `repeats` times in turn."""
    sessions = min(study.sessions, tasks * work.SESSIONS_PER_TASK)
    part = dataclasses.replace(study, sessions=sessions)
    paces = [Pace(number, []) for number in workers]
    for repeat in range(repeats):
        for place, pace in enumerate(paces):
            progress(repeat * len(paces) + place, repeats * len(paces))
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "parts").mkdir()
                begun = time.monotonic()
                work.run(part, Path(folder), workers=pace.workers)
                pace.seconds.append(time.monotonic() - begun)
    progress(repeats * len(paces), repeats * len(paces))
    return paces


def table(paces: list[Pace]) -> Iterator[str]:
    """The lines of a table, in which the first number of workers is what others are compared with."""
    first = paces[0]
    yield "| workers | seconds, median | each time | times as fast | of linear, % |"
    yield "|---|---|---|---|---|"
    for pace in paces:
        faster = first.median / pace.median
        each = ", ".join(f"{seconds:.1f}" for seconds in pace.seconds)
        linear = 100 * faster * first.workers / pace.workers
        yield f"| {pace.workers} | {pace.median:.1f} | {each} | {faster:.2f} | {linear:.0f} |"
