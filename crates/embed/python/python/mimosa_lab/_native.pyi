"""The native part of `mimosa_lab`; what is public is documented there."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from .reading import Records

CONTROLLERS: list[str]
"""Names of the controllers of video flows."""
OBSERVATION: list[str]
"""Names of the numbers of an observation, with the unit as the last word."""
VERSION: str

class ScenarioError(ValueError):
    """A scenario is wrong; the message says where, and what to write instead."""

class Scenario:
    text: str
    seed: int
    variants: list[str | None]
    flows: list[tuple[str, str]]
    notes: list[str]
    def __init__(
        self,
        text: str,
        name: str = "scenario",
        folder: str | PathLike[str] | None = None,
    ) -> None: ...

class Table:
    """A table in the format of Apache Arrow, which pandas, polars and pyarrow read without copying."""

    columns: list[str]
    """The names of the columns."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...
    def meaning(self, column: str) -> str | None:
        """What a column means; `None` where the name says it all."""
    def to_polars(self) -> Any:
        """The table as a data frame of polars."""
    def to_pandas(self) -> Any:
        """The table as a data frame of pandas, by way of pyarrow."""

class RunResult:
    figures: Records
    """A record of each run, as `mimosa sim --json` prints it."""
    window_ns: tuple[int, int]
    """Which part of each run the figures are about: from when to before when, in nanoseconds."""
    flows: Table
    """The figures of each flow of each run, under the names of `figures.rows("flows")`.

    What a flow does not have is null.
    """
    frames: Table
    """One row for each frame of the whole run, in the order of capture, if `record` named `frames`."""
    packets: Table
    """One row for each packet of the whole run, in the order in which it passed or was lost, if `record`
    named `packets`."""
    decisions: Table
    """For each frame what the controller decided, by which rule, and on what evidence."""
    def __len__(self) -> int: ...

Progress: TypeAlias = Callable[[int, int], object]

def run(
    scenario: Scenario,
    seeds: list[int],
    controller: str | Callable[[dict[str, int]], Any] | None,
    policy: Callable[
        [dict[str, int]], Callable[[list[float]], tuple[float, float, float]]
    ]
    | None,
    flow: int | None,
    variant: str | None,
    window: tuple[str | None, str | None],
    record: list[str],
    progress: Progress | None,
) -> RunResult: ...
def suites() -> list[str]:
    """The names of the lab's suites."""

def run_suite(
    name: str,
    folder: Path,
    controllers: list[str],
    seeds: tuple[int, int] | None,
    cases: list[str],
    progress: Progress | None,
) -> tuple[list[dict[str, Any]], Path]: ...

class Episode:
    first: list[float]
    limits: tuple[float, float, float]
    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        flow: int | None,
        variant: str | None,
        rewards: tuple[float, float, float, float],
        oracle: bool,
    ) -> None: ...
    def step(
        self, target_mbps: float, limit: float, pace: float
    ) -> (
        tuple[list[float], float, tuple[int, int, int, float], float | None] | None
    ): ...

class Episodes:
    def __init__(
        self,
        scenarios: list[Scenario],
        count: int,
        seed: int,
        rewards: tuple[float, float, float, float],
        oracle: bool,
    ) -> None: ...
    def first(self) -> bytes: ...
    def limits(self) -> list[tuple[float, float]]: ...
    def step(self, actions: bytes) -> tuple[bytes, bytes, bytes, bytes]: ...
