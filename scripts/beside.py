"""Runs a command, and others beside it with what it leaves of the processors.

    scripts/beside.py COMMAND BESIDE... [-- BESIDE...]...

`make test` calls it: browsers are waited for much of the time. Those before a `--` run one after the other, beside those
after it, which run one after the other too: what a single program leaves of two processors is not lost. What they print
is in out/beside-1.log, out/beside-2.log and so on, and is printed when all have ended. It fails if one of them fails;
of those that follow a failed one, none is begun, and all are ended when COMMAND has failed.
"""

import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "out"
# The weight of a session of processes among others: the least there is (sched(7), "autogroup").
LEAST = "19"


def all_pass(first: Callable[[], bool], lanes: list[Callable[[], bool]]) -> bool:
    """Calls `first`, and each of `lanes` beside it in a process of its own whose output goes to a file, which is
    printed at the end. True if all gave True. The lanes are not waited for when `first` did not."""
    logs = [OUT / f"beside-{number}.log" for number in range(1, len(lanes) + 1)]
    children = [begin(lane, log) for lane, log in zip(lanes, logs, strict=True)]
    passed = False
    try:
        passed = first()
        # All are waited for, also once one has failed.
        ends = [os.waitpid(child, 0)[1] for child in children] if passed else []
        passed = passed and not any(ends)
    finally:
        for child, log in zip(children, logs, strict=True):
            if not passed:
                end(child)
            print(log.read_text(), flush=True)
    return passed


def begin(task: Callable[[], bool], log: Path) -> int:
    """Starts a process that does it with what others leave, and gives its number."""
    log.parent.mkdir(exist_ok=True)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        passed = False
        try:
            os.setsid()
            os.dup2(output, 1)
            os.dup2(output, 2)
            yield_processors()
            passed = task()
        except OSError:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(0 if passed else 1)
    os.close(output)
    return child


def end(child: int) -> None:
    """Ends the process and those that it began; nothing happens if it has ended."""
    try:
        os.killpg(child, signal.SIGTERM)
    except ProcessLookupError:
        pass


def yield_processors() -> None:
    """Leaves the processors to whatever else wants them."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    group = Path("/proc/self/autogroup")
    if group.exists():
        group.write_text(LEAST)


def passes(command: str) -> bool:
    """Runs a line of the shell."""
    print(f"$ {command}", flush=True)
    begun = time.monotonic()
    code = subprocess.run(command, shell=True, check=False).returncode
    print(f"ended with {code} after {time.monotonic() - begun:.1f} s", flush=True)
    return code == 0


def main() -> None:
    command, *others = sys.argv[1:]
    lanes: list[list[str]] = [[]]
    for other in others:
        if other == "--":
            lanes.append([])
        else:
            lanes[-1].append(other)
    beside = [lambda lane=lane: all(map(passes, lane)) for lane in lanes]
    sys.exit(0 if all_pass(lambda: passes(command), beside) else 1)


if __name__ == "__main__":
    main()
