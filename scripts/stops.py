"""When a machine stands still: what a virtual one's host does to it, whatever runs in it.

A program on each core, before all others of the machine, sleeps a millisecond at a time.
"""

import multiprocessing
import os
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
