"""Queues, each with the keys of its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .keys import Keys, Quantity, Table


@dataclass(frozen=True, kw_only=True)
class DropTail(Keys):
    """A queue that drops what does not fit: `limit` is a size, a time, packets or `unlimited`."""

    KIND: ClassVar[str] = "droptail"
    limit: Quantity


@dataclass(frozen=True, kw_only=True)
class Codel(Keys):
    """CoDel (RFC 8289)."""

    KIND: ClassVar[str] = "codel"
    target: Quantity | None = None
    interval: Quantity | None = None
    limit: int | None = None
    ecn: bool | None = None
    mtu: Quantity | None = None
    ce_threshold: Quantity | None = None


@dataclass(frozen=True, kw_only=True)
class FqCodel(Codel):
    """FQ-CoDel (RFC 8290)."""

    KIND: ClassVar[str] = "fq-codel"
    flows: int | None = None
    quantum: Quantity | None = None
    memory: Quantity | None = None
    drop_batch: int | None = None


@dataclass(frozen=True, kw_only=True)
class Pie(Keys):
    """PIE (RFC 8033)."""

    KIND: ClassVar[str] = "pie"
    target: Quantity | None = None
    update: Quantity | None = None
    burst_allowance: Quantity | None = None
    alpha: float | None = None
    beta: float | None = None
    ecn_threshold: float | None = None
    limit: int | None = None
    sleeps: bool | None = None


@dataclass(frozen=True, kw_only=True)
class DualPi2(Keys):
    """DualPI2 (RFC 9332), the queue of L4S."""

    KIND: ClassVar[str] = "dualpi2"
    preset: str | None = None
    target: Quantity | None = None
    update: Quantity | None = None
    alpha: float | None = None
    beta: float | None = None
    coupling: float | None = None
    step: Quantity | None = None
    ramp: Mapping[str, Quantity] | None = None
    classic_share: float | None = None
    shift: Quantity | None = None
    drop_on_overload: bool | None = None
    limit: Quantity | None = None
    mtu: Quantity | None = None


@dataclass(frozen=True, kw_only=True)
class Sfq(Keys):
    """Stochastic fair queuing, as in Linux."""

    KIND: ClassVar[str] = "sfq"
    limit: Quantity | None = None
    flows: int | None = None
    divisor: int | None = None
    quantum: Quantity | None = None
    depth: int | None = None
    perturb: Quantity | None = None
    head_drop: bool | None = None


@dataclass(frozen=True, kw_only=True)
class TokenBucket(Keys):
    """A token bucket before the queue `inner`."""

    KIND: ClassVar[str] = "token-bucket"
    rate: Quantity
    burst: Quantity
    peak: Quantity | None = None
    mtu: Quantity | None = None
    inner: Table | None = None


@dataclass(frozen=True, kw_only=True)
class Htb(Keys):
    """Hierarchical token buckets, whose classes the link has."""

    KIND: ClassVar[str] = "htb"
    default: str | None = None
    r2q: int | None = None
    direct_limit: int | None = None


@dataclass(frozen=True, kw_only=True)
class HtbClass(Keys):
    """A class of a queue of the kind `htb`."""

    name: str
    rate: Quantity
    parent: str | None = None
    ceil: Quantity | None = None
    burst: Quantity | None = None
    cburst: Quantity | None = None
    priority: int | None = None
    quantum: Quantity | None = None
    queue: Table | None = None
    flows: Sequence[str] | None = None
    match: Sequence[Mapping[str, Any]] | None = None
