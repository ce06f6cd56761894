"""Writes the scenarios of this folder: falls of a link, 60 s there, and back (C3G, section VI).

The paper does not name the period of both control loops. Each fall is there for a third of a second,
to which its adaptation times point, and for a tenth.
"""

from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMITED = [5_000, 7_000, 9_000]
FACTORS = {"shallow": [1.25, 1.5], "deep": [1.75, 2.0, 2.5]}
CONTROLLERS = ["c3g", "bbr-app"]
PERIODS = {"third": "333ms", "tenth": "100ms"}
# What claims that do not hold are repeated with.
TRIED = {"fifth": "200ms"}
C3G = 'flow.controller = "c3g"\n'
MEMORY = 'flow.params.epsilon_window = "1s"\n'
# Single claims are repeated with one more thing that the paper leaves open: the file's name, the depth, the period,
# and a text in place of another. A token bucket's queue holds its delay and its burst, and the paper has no burst; nor
# does it say how long encoding and decoding take, and how long C3G remembers what it takes for noise.
SINGLE = [
    ("shallow-memory", "shallow", "333ms", C3G, f"{C3G}{MEMORY}"),
    ("deep-memory", "deep", "333ms", C3G, f"{C3G}{MEMORY}"),
    ("shallow-half", "shallow", "500ms", "", ""),
    ("shallow-burst", "shallow", "100ms", 'limit = "100ms"', 'limit = "150ms"'),
    ("deep-two-fifths", "deep", "400ms", "", ""),
    ("deep-instant", "deep", "333ms", 'encode_time = "25ms"\n', ""),
]


def head(title: str, end: int) -> str:
    """What all scenarios have: section VI-B, and V-B for the retransmissions."""
    return f"""# {title} (C3G, section VI). Made by make.py.
duration = "{end}s"

[link]
steps = [{{ at = "0s", rate = "7Mbit/s" }}]
one_way_delay = "10ms"
queue = {{ kind = "droptail", limit = "100ms" }}

[[flow]]
name = "game"
fps = 30
encode_time = "25ms"
retransmission_deadline = "30ms"
"""


def variant(
    name: str, controller: str, limited: int, factor: float, period: str
) -> str:
    """A fall at 10 s from a factor of a rate to that rate, and back at 70 s."""
    initial = round(limited * factor)
    steps = [("0s", initial), ("10s", limited), ("70s", initial)]
    listed = ", ".join(
        f'{{ at = "{at}", rate = "{rate}kbit/s" }}' for at, rate in steps
    )
    # The bitrate begins at 99 % of the link's rate.
    return f"""
[[variant]]
name = "{name}"
link.steps = [{listed}]
flow.controller = "{controller}"
flow.start_bitrate = "{initial * 99 // 100}kbit/s"
flow.params.period = "{period}"
"""


# The model of section III-B: a rate that stays above what the link carries from 10 s on.
PHASES = """# What is sent is above the link's rate from 10 s on, since the limits leave C3G one bitrate (section III-B).
# Made by make.py.
duration = "20s"

[link]
steps = [{ at = "0s", rate = "20Mbit/s" }, { at = "10s", rate = "5Mbit/s" }]
one_way_delay = "10ms"
queue = { kind = "droptail", limit = "1s" }

[[flow]]
name = "game"
controller = "c3g"
fps = 30
min_bitrate = "7Mbit/s"
start_bitrate = "7Mbit/s"
max_bitrate = "7Mbit/s"
retransmission_deadline = "0s"
"""


def fall(depth: str, period: str) -> str:
    """The falls of a depth under both controllers."""
    text = head(f"A {depth} fall, with a period of {period}", 130)
    for controller in CONTROLLERS:
        for limited in LIMITED:
            for factor in FACTORS[depth]:
                name = f"{controller}, 1 / {factor}, {limited // 1000} Mbit/s"
                text += variant(name, controller, limited, factor, period)
    return text


def main() -> None:
    """Writes one file for each depth and period, the example of Fig. 11, and the three phases."""
    (HERE / "phases.toml").write_text(PHASES, encoding="utf-8")
    for depth in FACTORS:
        for word, period in {**PERIODS, **TRIED}.items():
            text = fall(depth, period)
            (HERE / f"{depth}-{word}.toml").write_text(text, encoding="utf-8")
    for name, depth, period, old, new in SINGLE:
        text = fall(depth, period).replace(old, new)
        (HERE / f"{name}.toml").write_text(text, encoding="utf-8")
    for word, period in PERIODS.items():
        text = head(f"14, 7 and 14 Mbit/s, with a period of {period}", 230)
        for controller in CONTROLLERS:
            text += variant(controller, controller, 7_000, 2.0, period)
        (HERE / f"example-{word}.toml").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
