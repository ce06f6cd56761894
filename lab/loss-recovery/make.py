"""Writes the scenarios of this suite and its index: the same with other numbers.

python3 lab/loss-recovery/make.py
"""

from pathlib import Path

HERE = Path(__file__).resolve().parent
LINKS = [10, 20]
ROUND_TRIPS = [10, 30, 60]
DEADLINES = [50, 100]
LOSSES = [0.5, 1, 2, 5]
# Mean number of packets lost in a row.
BURST = 4
PROTECTIONS = ["retransmission", "fec", "joint"]

SCENARIO = """\
# Written by make.py. A flow at 70 % of the link, whose packets are lost whatever the load.
duration = "20s"

[link]
rate = "{link}Mbit/s"
one_way_delay = "{one_way}ms"
queue = {{ kind = "droptail", limit = "500kB" }}

[[flow]]
name = "game"
start_bitrate = "{bitrate}Mbit/s"
max_bitrate = "{bitrate}Mbit/s"
deadline = "{deadline}ms"
"""

INDEX = """\
# Written by make.py.
title = "Frames in time though packets are lost"
about = "Losses at random and in bursts of {burst} packets in the mean, whatever the load: a \
flow never asks for more than 70 % of its link. What is sent again, repair packets, and both \
chosen together. Frames 60 times a second, a report for each packet."
page = "cases"
seeds = [1, 8]
controllers = ["fixed", "mimosa"]
"""

CASE = """
[[case]]
name = "{name}"
title = "{link} Mbit/s, {round_trip} ms there and back, frames due in {deadline} ms"
source = "ours"
file = "{name}.toml"
from = "2s"
"""


def losses() -> list[tuple[str, str]]:
    """What is lost, and the line of the scenario that says so."""
    all_of_them = [("0%", "")]
    for percent in LOSSES:
        all_of_them.append((f"{percent}%", f"link.loss = {percent / 100}"))
    for percent in LOSSES:
        share = percent / 100
        begins = round(share / (1 - share) / BURST, 8)
        line = f"link.burst_loss = {{ to_bad = {begins}, to_good = {1 / BURST} }}"
        all_of_them.append((f"{percent}% in bursts", line))
    return all_of_them


def scenario(link: int, round_trip: int, deadline: int) -> str:
    """A scenario with a variant for each loss and protection."""
    text = SCENARIO.format(
        link=link, one_way=round_trip // 2, bitrate=7 * link // 10, deadline=deadline
    )
    for loss, line in losses():
        for protection in PROTECTIONS:
            text += f'\n[[variant]]\nname = "{loss}, {protection}"\n'
            text += f"{line}\n" if line else ""
            text += f'flow.protection = "{protection}"\n'
    return text


def main() -> None:
    """Writes all files."""
    index = INDEX.format(burst=BURST)
    for link in LINKS:
        for round_trip in ROUND_TRIPS:
            for deadline in DEADLINES:
                name = f"{link}-{round_trip}-{deadline}"
                text = scenario(link, round_trip, deadline)
                (HERE / f"{name}.toml").write_text(text, encoding="utf-8")
                index += CASE.format(
                    name=name, link=link, round_trip=round_trip, deadline=deadline
                )
    (HERE / "suite.toml").write_text(index, encoding="utf-8")


if __name__ == "__main__":
    main()
