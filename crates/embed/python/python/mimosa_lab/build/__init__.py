"""Scenarios from objects: typed keys for what `Scenario` takes as text or as a dictionary.

>>> from mimosa_lab import Scenario
>>> from mimosa_lab.build import DropTail, Link, Tcp, Video, mbps, ms
>>> link = Link(rate=mbps(20), one_way_delay=ms(10), queue=DropTail(limit="100kB"))
>>> flows = [Video(name="game", controller="mimosa"), Tcp(name="download", start="5s")]
>>> Scenario.of(link, flows, duration="10s").flows
[('game', 'video'), ('download', 'tcp')]
>>> link.as_dict()["queue"]
{'kind': 'droptail', 'limit': '100kB'}

Each object has the keys of a table of a scenario file, by their names in the file; docs/use/simulation.md
says what each means, and what holds without it. A key that is `None` is left out. A dictionary with the file's
keys can stand wherever an object can. Objects are made from others with other values by
`dataclasses.replace`. `Scenario` checks the whole, as it does for files.
"""

from .flows import Cbr, Tcp, Variant, Video
from .keys import Keys, kilobytes, mbps, ms
from .links import Link, NextLink, ReverseLink, Step
from .queues import (
    Codel,
    DropTail,
    DualPi2,
    FqCodel,
    Htb,
    HtbClass,
    Pie,
    Sfq,
    TokenBucket,
)

__all__ = [
    "Cbr",
    "Codel",
    "DropTail",
    "DualPi2",
    "FqCodel",
    "Htb",
    "HtbClass",
    "Keys",
    "Link",
    "NextLink",
    "Pie",
    "ReverseLink",
    "Sfq",
    "Step",
    "Tcp",
    "TokenBucket",
    "Variant",
    "Video",
    "kilobytes",
    "mbps",
    "ms",
]
