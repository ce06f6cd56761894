"""The command line of fleets."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .. import _show
from . import analysis, scaling, work
from .keys import StudyError
from .study import Study

#: The load average, of a minute, from which a machine is not idle. Ours.
BUSY = 0.3


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m mimosa_lab.fleet", description=__doc__
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser(
        "run", help="run a study, or what is left of it, and analyse it"
    )
    run.add_argument("study", type=Path, help="the study, in TOML")
    run.add_argument(
        "--out",
        type=Path,
        help="folder of the sessions and the page [fleet-results/ and the study's name]",
    )
    run.add_argument(
        "--cluster",
        default="local",
        help="`local`, or the address of a cluster of Ray [local]",
    )
    run.add_argument(
        "--workers", type=int, help="how many tasks run at once [the cores]"
    )
    analyse = commands.add_parser("analyse", help="analyse the sessions that are there")
    analyse.add_argument("out", type=Path, help="folder of the sessions")
    paced = commands.add_parser(
        "scaling", help="measure how much faster more workers are, on an idle machine"
    )
    paced.add_argument("study", type=Path, help="the study, in TOML")
    paced.add_argument(
        "--workers",
        type=_numbers,
        default=[1, 2],
        help="numbers of workers to compare [1,2]",
    )
    paced.add_argument(
        "--tasks", type=_number, default=scaling.TASKS, help="tasks of four sessions"
    )
    paced.add_argument(
        "--repeats", type=_number, default=3, help="how often, in turn [3]"
    )
    more = commands.add_parser(
        "beyond", help="simulate how much faster more workers would have been"
    )
    more.add_argument("out", type=Path, help="folder of the sessions")
    more.add_argument(
        "--workers",
        type=_numbers,
        default=[1, 2, 4, 16, 64, 256],
        help="numbers of workers [1,2,4,16,64,256]",
    )
    given = parser.parse_args(arguments)
    try:
        if given.command == "scaling":
            _scaling(given)
            return 0
        if given.command == "beyond":
            print(*scaling.simulated(given.out, given.workers), sep="\n")
            return 0
        if given.command == "run":
            out = given.out or Path("fleet-results") / given.study.stem
            study = work.prepare(given.study, out)
            work.run(study, out, given.cluster, given.workers, _show)
        else:
            out = given.out
            study = Study.load(out / "study.toml")
        print(analysis.write(study, work.sessions(out), out))
    except (StudyError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopped; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


def _number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _numbers(text: str) -> list[int]:
    return [_number(part) for part in text.split(",")]


def _scaling(given: argparse.Namespace) -> None:
    study = Study.load(given.study)
    load = os.getloadavg()[0]
    if load > BUSY:
        print(
            f"the load average is {load:.1f}: what else runs here shows in the figures",
            file=sys.stderr,
        )
    paces = scaling.measure(study, given.workers, given.tasks, given.repeats, _show)
    print(*scaling.table(paces), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
