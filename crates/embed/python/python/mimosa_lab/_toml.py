"""Dictionaries as TOML, which the scenario's own parser then checks."""

from __future__ import annotations

import json
import math
from typing import Any

from .build import Keys


def to_toml(description: dict[str, Any]) -> str:
    """The text of a table with these keys, one on each line."""
    lines = (f"{_key(key)} = {_value(value)}\n" for key, value in description.items())
    return "".join(lines)


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(
            f"keys of a scenario are texts, not {type(key).__name__}: {key!r}"
        )
    return _text(key)


def _text(text: str) -> str:
    # TOML has the escapes of JSON, but also forbids DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: object) -> str:
    if isinstance(value, Keys):
        value = value.as_dict()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return repr(value)
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    if isinstance(value, dict):
        pairs = (f"{_key(key)} = {_value(item)}" for key, item in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    raise TypeError(
        f"a scenario has no values of type {type(value).__name__}: {value!r}"
    )
