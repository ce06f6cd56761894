"""Measures how much faster a study runs with more workers on this machine.

The same tasks run with each number of workers in turn, and all of that several times, so that a machine that
becomes slower or faster meanwhile does so for all. The time is that of the whole run: workers that start, tasks,
and what is written. What else runs on the machine shows in the result; nothing else should.
"""

from __future__ import annotations

import dataclasses
import heapq
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import polars

from . import work
from .study import Study

#: The number of tasks that is measured by default: some minutes of a core for sessions of ten minutes. Against that,
#: the second in which workers start and the half task for which one waits at the end are little.
TASKS = 48
#: How often the rows of a task are written to measure how long that takes.
WRITES = 50


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


def beyond(tasks: list[float], workers: int, written: float) -> float:
    """The simulated seconds of a study whose tasks take so many seconds of a worker each.

    Tasks go to whichever worker is free, in their order, and one driver takes `written` seconds to write each. Workers
    of equal speed that start at once are assumed; what shared memory or a network costs is not in it.
    """
    free = [0.0] * min(workers, len(tasks))
    ends = []
    for seconds in tasks:
        ends.append(heapq.heappop(free) + seconds)
        heapq.heappush(free, ends[-1])
    driver = 0.0
    for end in sorted(ends):
        driver = max(driver, end) + written
    return driver


def simulated(out: Path, workers: list[int]) -> Iterator[str]:
    """The lines of a table of `beyond`, for the sessions that are in `out`; the time to write is measured."""
    rows = work.sessions(out)
    task = (polars.col("session") // work.SESSIONS_PER_TASK).alias("task")
    sums = rows.group_by(task).agg(polars.col("cpu_seconds").sum()).sort("task")
    tasks = sums["cpu_seconds"].to_list()
    some = rows.head(work.SESSIONS_PER_TASK).rows(named=True)
    written = []
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "parts").mkdir()
        for number in range(WRITES):
            begun = time.monotonic()
            work.keep(Path(folder), number, some)
            written.append(time.monotonic() - begun)
    each = statistics.median(written)
    one = beyond(tasks, 1, each)
    yield f"{len(tasks)} tasks of {statistics.mean(tasks):.1f} s, {max(tasks):.1f} s at most; {1e3 * each:.1f} ms to write one"
    yield ""
    yield "| workers | seconds | times as fast | of linear, % |"
    yield "|--:|--:|--:|--:|"
    for number in workers:
        seconds = beyond(tasks, number, each)
        faster = one / seconds
        yield f"| {number} | {seconds:.0f} | {faster:.1f} | {100 * faster / number:.0f} |"


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
