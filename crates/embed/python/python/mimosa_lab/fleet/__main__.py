"""The command line of fleets."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .. import _show
from . import analysis, work
from .keys import StudyError
from .study import Study


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
    given = parser.parse_args(arguments)
    try:
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


if __name__ == "__main__":
    sys.exit(main())
