"""Writes one lump of a WAD, the files that Doom keeps its levels and demos in.

python3 scripts/wad_lump.py WAD NAME OUT
"""

import struct
import sys
from pathlib import Path

# Two words and a name of eight bytes, at the place that the header states.
ENTRY = struct.Struct("<II8s")
HEADER = struct.Struct("<4sII")


def lump(wad: bytes, wanted: str) -> bytes:
    """The last lump of this name, which is the one that counts."""
    magic, count, directory = HEADER.unpack_from(wad)
    if magic not in (b"IWAD", b"PWAD"):
        raise SystemExit("it is no WAD: it begins with neither IWAD nor PWAD")
    for index in reversed(range(count)):
        start, length, name = ENTRY.unpack_from(wad, directory + index * ENTRY.size)
        if name.rstrip(b"\0").decode("ascii", "replace") == wanted:
            return wad[start : start + length]
    raise SystemExit(f"there is no lump {wanted} in it")


def main() -> None:
    """Does as the arguments say."""
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    _, wad, name, out = sys.argv
    Path(out).write_bytes(lump(Path(wad).read_bytes(), name))


if __name__ == "__main__":
    main()
