"""Runs a command, and others one after the other beside it with what it leaves of the processors.

    scripts/beside.py COMMAND BESIDE...

`make test` calls it: browsers are waited for much of the time. What the others print is in
out/beside.log, and is printed when all have ended. It fails if one of them fails; the others are not
begun once one has failed, and are ended when COMMAND has failed.
"""

import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

LOG = Path(__file__).resolve().parent.parent / "out/beside.log"
# The weight of a session of processes among others: the least there is (sched(7), "autogroup").
LEAST = "19"


def both(first: Callable[[], bool], other: Callable[[], bool], log: Path) -> bool:
    """Calls `first`, and `other` beside it in a process of its own whose output goes to `log`, which
    is printed at the end. True if both gave True. `other` is not waited for when `first` did not."""
    child = begin(other, log)
    passed = False
    try:
        passed = first()
        if passed:
            passed = os.waitpid(child, 0)[1] == 0
    finally:
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
    passed = both(lambda: passes(command), lambda: all(map(passes, others)), LOG)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
