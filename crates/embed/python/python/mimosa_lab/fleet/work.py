"""Runs a study's sessions on this machine or on a cluster of Ray, and keeps them in Parquet.

Sessions are run in tasks of some at a time. Whoever drives the study writes the file of a task when the
task is done, in one step, and does not run a task again whose file is there. A killed worker, a lost node
and a killed driver therefore lose only tasks that were under way; and since a task depends on nothing but
the study, running it again gives the same rows.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import polars

import mimosa_lab as lab

from .draw import arms_of, population_of, scenario, seed_of, user_of
from .keys import StudyError
from .study import METRICS, Study

#: Sessions of a task: some ten seconds of a core for sessions of ten minutes in five arms.
SESSIONS_PER_TASK = 4
#: How often a task is tried whose worker dies: more deaths are the task's fault, not a machine's.
TRIES = 5

Rows = list[dict[str, Any]]


def play(study: Study, first: int, end: int) -> Rows:
    """The figures of the sessions from `first` to before `end`: a row for each session and arm."""
    rows = []
    for session in range(first, min(end, study.sessions)):
        user = user_of(study, session)
        population = population_of(study, user)
        for arm in arms_of(study, session):
            described = scenario(study, population, user, session, arm)
            begun = time.process_time()
            result = lab.run(lab.Scenario(described), seeds=seed_of(study, session))
            flow = result.flows.to_polars().row(0, named=True)
            seconds = float(described["duration"].removesuffix("ms")) / 1e3
            flow["completed_fps"] = flow["completed"] / seconds
            rows.append(
                {
                    "session": session,
                    "user": user,
                    "population": population.name,
                    "arm": arm.name,
                    "seconds": seconds,
                    "frames": flow["frames"],
                    **{metric: flow[metric] for metric in METRICS},
                    "cpu_seconds": time.process_time() - begun,
                }
            )
    return rows


def _part(out: Path, task: int) -> Path:
    return out / "parts" / f"part-{task:06}.parquet"


def prepare(path: Path, out: Path) -> Study:
    """The study at `path`, whose results are in `out`; the analysis was registered there first.

    Raises `StudyError` if `out` holds results of another study.
    """
    study = Study.load(path)
    kept = out / "study.toml"
    if kept.exists():
        if Study.load(kept).digest != study.digest:
            raise StudyError(
                f"{out} has sessions of another study: name another folder, or empty it"
            )
        return study
    (out / "parts").mkdir(parents=True, exist_ok=True)
    new = out / "study.toml.new"
    shutil.copyfile(path, new)
    os.replace(new, kept)
    return study


def left(study: Study, out: Path) -> list[int]:
    """The tasks whose rows are not there."""
    tasks = -(-study.sessions // SESSIONS_PER_TASK)
    return [task for task in range(tasks) if not _part(out, task).exists()]


def keep(out: Path, task: int, rows: Rows) -> None:
    """Write the rows of a task: all of them, or none."""
    path = _part(out, task)
    new = path.with_suffix(".new")
    polars.DataFrame(rows).write_parquet(new)
    os.replace(new, path)


def sessions(out: Path) -> polars.DataFrame:
    """All rows that are there, in the order of the sessions and arms."""
    parts = sorted((out / "parts").glob("part-*.parquet"))
    if not parts:
        raise StudyError(f"{out} has no sessions yet")
    return polars.concat([polars.read_parquet(part) for part in parts])


def run(
    study: Study,
    out: Path,
    cluster: str = "local",
    workers: int | None = None,
    progress: Callable[[int, int], object] = lambda done, tasks: None,
) -> None:
    """Run what is left of a study."""
    tasks = left(study, out)
    done = _by_processes if cluster == "local" else _by_ray(cluster)
    progress(0, len(tasks))
    for count, (task, rows) in enumerate(done(study, tasks, workers), 1):
        keep(out, task, rows)
        progress(count, len(tasks))


def _play_task(study: Study, task: int) -> Rows:
    return play(study, task * SESSIONS_PER_TASK, (task + 1) * SESSIONS_PER_TASK)


def _end_with_the_driver() -> None:
    """Let this worker end when its driver is killed, which cannot tell it."""

    def watch() -> None:
        driver = multiprocessing.parent_process()
        if driver is not None:
            driver.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _by_processes(
    study: Study, tasks: list[int], workers: int | None
) -> Iterator[tuple[int, Rows]]:
    """Run tasks in processes of this machine, as many as there are cores."""
    workers = workers or os.cpu_count() or 1
    tries = dict.fromkeys(tasks, 0)
    while tries:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(
            workers, mp_context=context, initializer=_end_with_the_driver
        ) as pool:
            waiting = iter(list(tries))
            running: dict[Any, int] = {}
            try:
                while True:
                    # No more than can begin soon, so that Ctrl-C has little to wait for.
                    for task in waiting:
                        running[pool.submit(_play_task, study, task)] = task
                        if len(running) >= 2 * workers:
                            break
                    if not running:
                        break
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        rows = future.result()
                        task = running.pop(future)
                        del tries[task]
                        yield task, rows
            except BrokenProcessPool:
                # A worker died, and nobody knows which task it had.
                for task in running.values():
                    tries[task] += 1
                    if tries[task] == TRIES:
                        text = f"task {task} was under way at each of {TRIES} deaths of a worker"
                        raise RuntimeError(text) from None


def _by_ray(address: str) -> Callable[..., Iterator[tuple[int, Rows]]]:
    """Run tasks on the cluster at `address`; Ray starts those of lost workers and nodes anew."""
    try:
        import ray
    except ImportError:
        raise StudyError(
            "a cluster needs Ray: `pip install ray`, or leave `--cluster` out"
        ) from None

    def done(
        study: Study, tasks: list[int], workers: int | None
    ) -> Iterator[tuple[int, Rows]]:
        ray.init(address=address, ignore_reinit_error=True, log_to_driver=False)
        remote = ray.remote(num_cpus=1, max_retries=TRIES)(_play_task)
        kept = ray.put(study)
        most = 4 * int(workers or max(ray.cluster_resources().get("CPU", 1), 1))
        waiting = iter(tasks)
        running: dict[Any, int] = {}
        while True:
            for task in waiting:
                running[remote.remote(kept, task)] = task
                if len(running) >= most:
                    break
            if not running:
                break
            for future in ray.wait(list(running), num_returns=1)[0]:
                yield running.pop(future), ray.get(future)
        ray.shutdown()

    return done
