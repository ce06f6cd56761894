"""Fleets: studies of many users' sessions, as a provider of cloud gaming makes them.

A study names populations of users and what their networks are like, arms (controllers, or other keys of
a flow), how long sessions last, and the analysis, all before the first session is run:

    mimosa fleet run STUDY.toml --out FOLDER
    mimosa fleet run STUDY.toml --out FOLDER --cluster ray://HEAD:10001
    mimosa fleet analyse FOLDER
    mimosa fleet scaling STUDY.toml --workers 1,2

`python -m mimosa_lab.fleet` takes the same arguments, where the program is not at hand.

| module | |
|---|---|
| `study` | reads a study, and checks it |
| `keys` | takes a study's keys one by one, and names mistakes |
| `draw` | draws users and their sessions |
| `work` | runs sessions on this machine or on a cluster of Ray, and keeps them in Parquet |
| `scaling` | measures how much faster more workers are |
| `analysis` | means with intervals, distributions, and the page |
| `engagement` | a model of how long users play, which is no measurement |

Everything that is random comes from the study's seed, so that a study gives the same results on one
machine and on many, whether or not it was interrupted.
"""

from .engagement import Engagement
from .keys import StudyError
from .study import Study

__all__ = ["Engagement", "Study", "StudyError"]
