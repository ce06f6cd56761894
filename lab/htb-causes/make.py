"""Writes further experiments on the study's Table II: two things at once that the study leaves open.

The study says neither where its TCP server was, nor over how many connections iperf sent, nor how even its game's
frames were. Each scenario is one of the suite htb-l4s with two of these; they were tried on seed 17.
"""

import importlib.util
from pathlib import Path

HERE = Path(__file__).resolve().parent
SPEC = importlib.util.spec_from_file_location(
    "table", HERE.parent / "htb-l4s" / "make.py"
)
assert SPEC
assert SPEC.loader
TABLE = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(TABLE)
# The case, the queue, the TCP, whether it has ten connections, its round trip in ms, how much frames vary, and the rows
# that are claimed: whose and which.
CASES = [
    ("htb-ten", "htb", "bbr2", True, 60, 0.1, [("tcp", "50")]),
    ("far", "drop-tail", "bbr2", False, 300, 0.1, [("video", "1")]),
    ("far-uneven", "drop-tail", "bbr2", False, 100, 0.7, [("video", "3")]),
]


def words(is_ten: bool, round_trip: int, noise: float) -> str:
    """What is different, in words."""
    parts = ["TCP has ten connections"] if is_ten else []
    parts.append(f"TCP has a round trip of {round_trip} ms")
    parts += ["frames vary by seven tenths"] if noise > 0.1 else []
    return " and ".join(parts)


def scenario(queue: str, tcp: str, is_ten: bool, round_trip: int, noise: float) -> str:
    """A cell of Table II with what is different."""
    text = TABLE.scenario(queue, tcp)
    text = TABLE.connections(text) if is_ten else TABLE.game(text, [])
    half = round_trip // 2
    path = f'one_way_delay = "{half}ms"\nreturn_delay = "{half}ms"\n'
    text = text.replace('kind = "tcp"\n', f'kind = "tcp"\n{path}')
    return text.replace("frame_noise = 0.1", f"frame_noise = {noise}")


def suite() -> str:
    """The index."""
    cases, claims = "", ""
    for case, queue, tcp, is_ten, round_trip, noise, rows in CASES:
        also = words(is_ten, round_trip, noise)
        cases += f"""[[case]]
name = "{case}"
title = "{TABLE.TITLES[queue]}, beside {TABLE.TCP[tcp]}, if {also}"
source = "this suite"
file = "{case}.toml"
from = "120s"

"""
        for flow, short in rows:
            index = TABLE.SHORT.index(short)
            claims += TABLE.row(
                queue, tcp, flow, index, f'case = "{case}"', f"where {also}"
            )
            claims += "\n"
    return f"""title = "Cloud gaming beside TCP: why claims do not hold"
about = "Scenarios of htb-l4s with two things switched. A claim that holds shows that these things decide."
page = "figure"
seeds = [1, 16]
controllers = ["scream"]

[params.scream]
version = "2024"

{cases}[[figure]]
name = "htb-ten"
title = "Bitrate behind HTB, beside ten connections of BBRv2"
cases = ["htb-ten"]
shows = "bitrate"
range = [0.0, 50.0]

{claims}"""


def main() -> None:
    """Writes the files of this folder."""
    for case, queue, tcp, is_ten, round_trip, noise, _ in CASES:
        text = scenario(queue, tcp, is_ten, round_trip, noise)
        (HERE / f"{case}.toml").write_text(text, encoding="utf-8")
    (HERE / "suite.toml").write_text(suite(), encoding="utf-8")


if __name__ == "__main__":
    main()
