"""When a machine stands still: what a virtual one's host does to it, whatever runs in it.

A program on each core, before all others of the machine, sleeps a millisecond at a time.

python3 scripts/stops.py

Watches until its input ends, and prints when each stop ended, in seconds since 1970, and how many
it lasted. Needs root.
"""

import json
import multiprocessing
import os
import sys
import time
from typing import Self

STEP = 0.001
# So much longer than asked for is a stop: other programs do not keep this one waiting.
STOP = 0.008


def watch(core: int, is_over, told) -> None:
    """Tells when it stood still: the time in seconds, and for how long."""
    os.sched_setaffinity(0, {core})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    stops, last = [], time.time()
    while not is_over.is_set():
        time.sleep(STEP)
        now = time.time()
        if now - last > STOP:
            stops.append((now, now - last - STEP))
        last = now
    told.put(stops)


class Stops:
    """Those of all cores while this is entered, in order. Needs root."""

    def __enter__(self) -> Self:
        """Begins to watch."""
        self.stops = []
        self._is_over, self._told = multiprocessing.Event(), multiprocessing.Queue()
        self._watches = [
            multiprocessing.Process(
                target=watch, args=(core, self._is_over, self._told)
            )
            for core in sorted(os.sched_getaffinity(0))
        ]
        for process in self._watches:
            process.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it."""
        self._is_over.set()
        self.stops = sorted(stop for _ in self._watches for stop in self._told.get())
        for process in self._watches:
            process.join()


def main() -> None:
    """Watches for somebody else."""
    with Stops() as watch:
        sys.stdin.read()
    print(json.dumps(watch.stops))


if __name__ == "__main__":
    main()
