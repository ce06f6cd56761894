"""Flows, and variants of a scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .keys import Keys, Quantity, Table


@dataclass(frozen=True, kw_only=True)
class _Flow(Keys):
    """What every flow may have."""

    name: str | None = None
    start: Quantity | None = None
    stop: Quantity | None = None
    one_way_delay: Quantity | None = None
    return_delay: Quantity | None = None
    direction: str | None = None
    enters: int | None = None
    leaves: int | None = None
    packet_size: Quantity | None = None
    ecn: str | None = None
    dscp: int | None = None


@dataclass(frozen=True, kw_only=True)
class Video(_Flow):
    """A stream of frames under a congestion controller."""

    pauses: Sequence[Mapping[str, Quantity]] | None = None
    controller: str | None = None
    params: Mapping[str, Any] | None = None
    fps: int | None = None
    frame_clock_ppm: int | None = None
    phase: Quantity | None = None
    min_bitrate: Quantity | None = None
    start_bitrate: Quantity | None = None
    max_bitrate: Quantity | None = None
    encoder: str | None = None
    frame_noise: float | None = None
    frame_correlation: float | None = None
    pay_back: Quantity | None = None
    less_headers: bool | None = None
    frame_sizes: str | None = None
    frame_scale: Sequence[Mapping[str, Any]] | None = None
    scene_cuts: Mapping[str, Any] | None = None
    content_bitrate: Quantity | None = None
    carry: float | None = None
    encode_time: Quantity | None = None
    parts: int | None = None
    overhead: Quantity | None = None
    probe_size: Quantity | None = None
    pacer: str | None = None
    pacer_params: Mapping[str, Any] | None = None
    longest_wait: Quantity | None = None
    retransmission_deadline: Quantity | None = None
    protection: str | None = None
    protection_params: Mapping[str, Any] | None = None
    deadline: Quantity | None = None
    feedback: str | None = None
    feedback_interval: Quantity | None = None
    feedback_repeat: int | None = None
    clock_offset: Quantity | None = None
    clock_drift_ppm: int | None = None
    clock_steps: Sequence[Mapping[str, Any]] | None = None


@dataclass(frozen=True, kw_only=True)
class Tcp(_Flow):
    """A TCP connection, or pages over many."""

    KIND: ClassVar[str] = "tcp"
    controller: str | None = None
    rate: Quantity | None = None
    steps: Sequence[Table] | None = None
    size: Quantity | None = None
    pages: Mapping[str, Any] | None = None
    overhead: Quantity | None = None


@dataclass(frozen=True, kw_only=True)
class Cbr(_Flow):
    """Packets at a constant rate."""

    KIND: ClassVar[str] = "cbr"
    rate: Quantity
    pauses: Sequence[Mapping[str, Quantity]] | None = None


@dataclass(frozen=True)
class Variant(Keys):
    """The same scenario with other keys of the link, and of every video flow."""

    name: str
    link: Table | None = None
    flow: Table | None = None
