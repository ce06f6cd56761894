"""What the tables of a scenario file have in common, and quantities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeAlias

#: A quantity with its unit, such as `10ms`, `20Mbit/s` or `500kB`.
Quantity: TypeAlias = str
Table: TypeAlias = "Keys | Mapping[str, Any]"


def ms(number: float) -> Quantity:
    """A time in milliseconds, to the nanosecond."""
    return f"{_decimal(number, 6)}ms"


def mbps(number: float) -> Quantity:
    """A rate in megabits per second, to the bit."""
    return f"{_decimal(number, 6)}Mbit/s"


def kilobytes(number: float) -> Quantity:
    """A size in units of 1000 bytes, to the byte."""
    return f"{_decimal(number, 3)}kB"


def _decimal(number: float, places: int) -> str:
    """The number without an exponent, which quantities do not have."""
    text = f"{number:.{places}f}"
    return text.rstrip("0").rstrip(".")


@dataclass(frozen=True, kw_only=True)
class Keys:
    """The keys of a table of a scenario file."""

    #: The value of the key `kind`, where the table has one.
    KIND: ClassVar[str | None] = None

    def as_dict(self) -> dict[str, Any]:
        """The keys that are set, as a scenario file names them."""
        keys = {} if self.KIND is None else {"kind": self.KIND}
        for own in fields(self):
            value = getattr(self, own.name)
            if value is not None:
                keys[own.metadata.get("key", own.name)] = plain(value)
        return keys


def plain(value: Any) -> Any:
    """The value with dictionaries and lists in place of objects."""
    if isinstance(value, Keys):
        return value.as_dict()
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value
