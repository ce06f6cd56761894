"""The keys of a study, with the place of each mistake."""

from __future__ import annotations

import re
from typing import Any

#: Factors from the units of times, rates and sizes to milliseconds, kbit/s and bytes.
UNITS = {
    "us": 1e-3,
    "ms": 1.0,
    "s": 1e3,
    "min": 6e4,
    "h": 3.6e6,
    "kbit/s": 1.0,
    "Mbit/s": 1e3,
    "Gbit/s": 1e6,
    "B": 1.0,
    "kB": 1e3,
    "MB": 1e6,
}


class StudyError(ValueError):
    """A study is wrong; the message says where, and what to write instead."""


def quantity(place: str, value: object) -> float:
    """A number with a unit: milliseconds, kbit/s or bytes."""
    found = (
        re.fullmatch(r"([0-9.]+) ?([A-Za-z/]+)", value)
        if isinstance(value, str)
        else None
    )
    if found is None or found[2] not in UNITS:
        raise StudyError(
            f"{place}: {value!r} is no quantity; write e.g. '10ms', '80Mbit/s' or '200kB'"
        )
    try:
        return float(found[1]) * UNITS[found[2]]
    except ValueError:
        raise StudyError(f"{place}: {found[1]!r} is no number") from None


class Table:
    """A table of a study, whose keys are taken one by one; what is left was a mistake."""

    def __init__(self, place: str, table: object) -> None:
        if not isinstance(table, dict):
            raise StudyError(f"{place} must be a table, but is {table!r}")
        self.place, self.left = place, dict(table)
        self.known: list[str] = []

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        self.known.append(key)
        if key not in self.left:
            if default is ...:
                raise StudyError(f"{self.place} lacks `{key}`")
            return default
        value = self.left.pop(key)
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kind) or (
            isinstance(value, bool) and bool not in kinds
        ):
            names = " or ".join(one.__name__ for one in kinds)
            raise StudyError(
                f"{self.place}.{key} must be of type {names}, but is {value!r}"
            )
        return value

    def positive(self, key: str, default: Any = ...) -> int:
        value = self.take(key, int, default)
        if value < 1:
            raise StudyError(f"{self.place}.{key} must be one or more, but is {value}")
        return value

    def end(self) -> None:
        if self.left:
            key = next(iter(self.left))
            raise StudyError(
                f"{self.place}: unknown key `{key}`; there is {', '.join(self.known)}"
            )
