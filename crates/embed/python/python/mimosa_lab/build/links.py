"""Links, and how their rates change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .keys import Keys, Quantity, Table


@dataclass(frozen=True)
class Step(Keys):
    """The link's rate from a time on, and its delay."""

    at: Quantity
    rate: Quantity
    one_way_delay: Quantity | None = None


@dataclass(frozen=True, kw_only=True)
class NextLink(Keys):
    """A link after the bottleneck, `[[link.next]]`."""

    rate: Quantity | None = None
    steps: Sequence[Table] | None = None
    trace: str | None = None
    medium: Mapping[str, Any] | None = None
    tick: Quantity | None = None
    queue: Table | None = None


@dataclass(frozen=True, kw_only=True)
class ReverseLink(Keys):
    """The link of the return path, `[link.reverse]`."""

    rate: Quantity | None = None
    steps: Sequence[Table] | None = None
    trace: str | None = None
    queue: Table | None = None
    one_way_delay: Quantity | None = None
    loss: float | None = None
    burst_loss: Mapping[str, float] | None = None
    jitter: Mapping[str, Any] | None = None
    reordering: Mapping[str, Any] | None = None
    bleach: bool | None = None
    mangle: str | None = None


@dataclass(frozen=True, kw_only=True)
class Link(Keys):
    """The bottleneck and the paths there and back, `[link]`."""

    rate: Quantity | None = None
    steps: Sequence[Table] | None = None
    trace: str | None = None
    tick: Quantity | None = None
    medium: Mapping[str, Any] | None = None
    one_way_delay: Quantity | None = None
    return_delay: Quantity | None = None
    queue: Table | None = None
    classes: Sequence[Table] | None = field(default=None, metadata={"key": "class"})
    loss: float | None = None
    burst_loss: Mapping[str, float] | None = None
    jitter: Mapping[str, Any] | None = None
    reordering: Mapping[str, Any] | None = None
    bleach: bool | None = None
    mangle: str | None = None
    return_loss: float | None = None
    return_jitter: Mapping[str, Any] | None = None
    return_reordering: Mapping[str, Any] | None = None
    return_aggregation: Quantity | None = None
    reverse: Table | None = None
    next: Sequence[Table] | None = None
