"""What the program writes, as data: recordings in Parquet, and records in JSON.

polars and pandas read both by themselves. What is here adds what they leave out: the meaning of a column, what
was recorded, and tables of nested records.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["Recording", "Records", "read_records"]

#: The last words of names that are units.
UNITS = {"ns", "us", "ms", "s", "bytes", "bps", "kbps", "mbps"}
#: A row of the table of columns in a recording's metadata: name, type and meaning.
COLUMN = re.compile(r"^\| `(\w+)` \| [^|]* \| (.*) \|$", re.MULTILINE)


class Recording:
    """A file in Parquet that the program wrote.

    `kind` is `simulation` for what `mimosa sim` writes with `--frames` and `--packets`, `session` for
    `mimosa serve --record`, and `link` for `mimosa link --log`. `about` is the text of the scenario, or the
    description of the session or the link as a dictionary.

    Raises `ValueError` for a file that is none of these.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        metadata = _metadata(self.path)
        kinds = {"scenario": "simulation", "session": "session", "link": "link"}
        found = [key for key in kinds if key in metadata]
        if "mimosa.columns" not in metadata or not found:
            raise ValueError(f"{path} is no recording of mimosa")
        self.kind = kinds[found[0]]
        text = metadata[found[0]]
        self.about: str | dict[str, Any] = (
            text if self.kind == "simulation" else json.loads(text)
        )
        self._meanings = dict(COLUMN.findall(metadata["mimosa.columns"]))

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._meanings)

    def meaning(self, column: str) -> str:
        """What a column means."""
        if column not in self._meanings:
            raise KeyError(f"there is no column `{column}`")
        return self._meanings[column]

    def to_polars(self) -> Any:
        """The rows as a data frame of polars."""
        import polars

        return polars.read_parquet(self.path)

    def to_pandas(self) -> Any:
        """The rows as a data frame of pandas, by way of pyarrow."""
        import pandas

        return pandas.read_parquet(self.path, engine="pyarrow")

    def __repr__(self) -> str:
        return f"<Recording of a {self.kind}, {self.path}>"


def _metadata(path: Path) -> dict[str, str]:
    """The texts in a file's metadata, by whichever library is there."""
    try:
        import polars
    except ImportError:
        import pyarrow.parquet

        pairs = pyarrow.parquet.read_metadata(path).metadata or {}
        return {key.decode(): value.decode() for key, value in pairs.items()}
    return polars.read_parquet_metadata(path)


class Records(list[dict[str, Any]]):
    """Records as the program writes them in JSON: a dictionary for each run, report or claim.

    A table of them has a row for each record, or for each element of the list that `each` names, such as
    `flows`; the record's own values then stand in each of its rows. Nested names are joined, with the unit
    last: `{"frame_delay_ms": {"p95": 36.2}}` is the column `frame_delay_p95_ms`. The name of an element is in the
    column `flow` for `flows`, as in tables of frames and packets. Other lists are left out.

    >>> link = {"queue_delay_ms": {"mean": 1.5}}
    >>> flows = [{"name": "a", "late": 0.1}, {"name": "b", "late": 0.2}]
    >>> Records([{"seed": 3, "link": link, "flows": flows}]).rows("flows")[1]
    {'seed': 3, 'link_queue_delay_mean_ms': 1.5, 'flow': 'b', 'late': 0.2}
    """

    def rows(self, each: str | None = None) -> list[dict[str, Any]]:
        """The rows of the table."""
        rows = []
        one = (each or "").removesuffix("s")
        for record in self:
            own = dict(_flat(record))
            if each is None:
                rows.append(own)
                continue
            for element in record.get(each) or []:
                row = dict(own)
                for key, value in _flat(element):
                    name = one if key == "name" else key
                    # A name that the record has as well is said to be the element's.
                    row[f"{one}_{key}" if name in own else name] = value
                rows.append(row)
        return rows

    def to_polars(self, each: str | None = None) -> Any:
        """The table as a data frame of polars."""
        import polars

        return polars.DataFrame(self.rows(each), infer_schema_length=None)

    def to_pandas(self, each: str | None = None) -> Any:
        """The table as a data frame of pandas."""
        import pandas

        return pandas.DataFrame(self.rows(each))


def _flat(record: dict[str, Any], outer: str = "") -> Iterator[tuple[str, Any]]:
    """The single values of a record under their joined names."""
    for key, value in record.items():
        name = _joined(outer, key)
        if isinstance(value, dict):
            yield from _flat(value, name)
        elif value is not None and not isinstance(value, list):
            yield name, value


def _joined(outer: str, inner: str) -> str:
    # In a record of figures, all are figures.
    if outer in ("", "figures"):
        return inner
    *words, last = outer.split("_")
    return "_".join([*words, inner, last] if last in UNITS else [*words, last, inner])


def read_records(path: str | os.PathLike[str]) -> Records:
    """The records in a file of JSON, or of JSON Lines.

    Such files come from `mimosa sim --json`, `mimosa report --json`, and the lab: `results.jsonl`,
    `means.json` and `claims.json`.
    """
    text = Path(path).read_text(encoding="utf-8")
    try:
        read = json.loads(text)
    except json.JSONDecodeError:
        read = [json.loads(line) for line in text.splitlines() if line.strip()]
    return Records(read if isinstance(read, list) else [read])
