"""A model of how long users play, after Fig. 2 of Pudica. It is a model, and no measurement.

Fig. 2 has the playing time of a million sessions over their stall rate, their mean frame delay and their
bitrate. Its axes bear no numbers that could be read here; section 2.3 says in words what the curves do. The
model has the shape of these words, and numbers of its own:

| of the session | the paper | our choice |
|---|---|---|
| stall rate (frames above 100 ms) | as it rises linearly, the playing time falls rapidly, "in a superlinear manner" | the time is half at `stall_half`; the exponent `stall_power` is above one |
| mean frame delay | costs playing time, but below 40 ms (`delay_knee_ms`) less than the stall rate does | each `delay_gentle_ms` halves the time below the knee, and each `delay_steep_ms` beyond it |
| bitrate | "crucial"; above 50 Mbit/s (`bitrate_full_mbps`, footnote 4) it gains little | the time saturates: half of what a boundless bitrate would give at `bitrate_half_mbps` |
| complaints | with a stall rate from 1 ‰ (`complaints_from`) to 1 %, 10 times (`complaints_times`) as many sessions as below 1 ‰ | as many above 1 % |

The three effects multiply, which is our choice as well. What comes out compares arms under these
assumptions: it predicts no minutes, and no interval of it contains the doubt about the model.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .keys import StudyError, Table


@dataclass(frozen=True)
class Engagement:
    """The model's parameters. Those that the paper gives are said to be; all others are ours."""

    #: Stall rate at which the playing time is half of that without stalls. Ours.
    stall_half: float = 0.01
    #: Power of the stall rate; above one, as the paper says "superlinear". Its size is ours.
    stall_power: float = 1.5
    #: Mean frame delay up to which delay matters less than stalls. The paper's.
    delay_knee_ms: float = 40.0
    #: Mean frame delay that halves the playing time, at the slope below the knee. Ours.
    delay_gentle_ms: float = 160.0
    #: What further delay halves it beyond the knee. Ours.
    delay_steep_ms: float = 40.0
    #: Bitrate that gives half of the playing time that a boundless one would. Ours.
    bitrate_half_mbps: float = 5.0
    #: Bitrate above which more gains nothing. The paper's footnote 4 says little.
    bitrate_full_mbps: float = 50.0
    #: Stall rate from which users complain more often. The paper's.
    complaints_from: float = 0.001
    #: How many times as often. The paper's, up to a stall rate of 1 %.
    complaints_times: float = 10.0

    @classmethod
    def read(cls, place: str, given: bool | dict[str, Any]) -> Engagement | None:
        """The model with the usual parameters for `true`, or with those of a table.

        Raises `StudyError` with the `place`.
        """
        if isinstance(given, bool):
            return cls() if given else None
        keys = Table(place, given)
        chosen = {
            parameter.name: float(
                keys.take(parameter.name, (int, float), parameter.default)
            )
            for parameter in fields(cls)
        }
        keys.end()
        try:
            return cls(**chosen)
        except ValueError as error:
            raise StudyError(f"{place}: {error}") from None

    def __post_init__(self) -> None:
        for parameter in fields(self):
            value = getattr(self, parameter.name)
            if not 0 < value < float("inf"):
                raise ValueError(
                    f"`{parameter.name}` must be above zero, but is {value}"
                )
        if self.stall_power <= 1 or self.delay_gentle_ms < self.delay_steep_ms:
            raise ValueError(
                "`stall_power` must be above one, and `delay_gentle_ms` at least `delay_steep_ms`: "
                "the paper says so of the curves"
            )

    def play_time(
        self,
        stall_100ms: np.ndarray,
        frame_delay_mean_ms: np.ndarray,
        bitrate_mbps: np.ndarray,
    ) -> np.ndarray:
        """The modelled playing time, as a share of that without stalls and delay at the full bitrate.

        The arguments are figures of sessions, of one shape; so is the result. A session without a figure,
        in which no frame was completed, is not played at all: 0.
        """
        delay = np.asarray(frame_delay_mean_ms, float)
        rate = np.minimum(np.asarray(bitrate_mbps, float), self.bitrate_full_mbps)
        halvings = (
            np.asarray(stall_100ms, float) / self.stall_half
        ) ** self.stall_power
        halvings += np.minimum(delay, self.delay_knee_ms) / self.delay_gentle_ms
        halvings += np.maximum(delay - self.delay_knee_ms, 0) / self.delay_steep_ms
        full = self.bitrate_full_mbps / (
            self.bitrate_full_mbps + self.bitrate_half_mbps
        )
        share = 2.0**-halvings * (rate / (rate + self.bitrate_half_mbps)) / full
        return np.nan_to_num(share, nan=0.0)

    def complaints(self, stall_100ms: np.ndarray) -> np.ndarray:
        """How often users complain, as a multiple of sessions with few stalls: 1 or `complaints_times`.

        A session without a figure counts as one with many stalls.
        """
        few = np.asarray(stall_100ms, float) < self.complaints_from
        return np.where(few, 1.0, self.complaints_times)
