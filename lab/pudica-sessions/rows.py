"""The claims of Pudica's Tables 1 and 2, of the text about them, and the index of the suite."""

import re

from conditions import OWN, Condition, conditions, has_pudica

TITLES = {"ethernet": "Ethernet", "wifi": "Wi-Fi"}
TABLES = {"ethernet": "Tab. 1, Fig. 8", "wifi": "Tab. 2, Fig. 9"}
# Tables 1 and 2: mean delay, p95, p99, above 100 ms and 200 ms, mean bitrate.
PAPER = {
    "ethernet": {
        "copa": (26.9, 47.2, 79.9, 1.68, 0.77, 42.9),
        "salsify": (21.5, 30.0, 67.0, 0.48, 0.09, 42.4),
        "sqp": (41.8, 101.7, 147.8, 1.27, 1.03, 43.7),
        "pudica": (19.5, 25.0, 30.6, 0.07, 0.004, 47.5),
    },
    "wifi": {
        "copa": (76.5, 305.2, 672.8, 7.7, 3.9, 22.6),
        "salsify": (195.5, 631.7, 982.5, 22.9, 13.5, 32.6),
        "sqp": (302.2, 815.2, 1218.5, 10.3, 8.7, 23.2),
        "pudica": (33.7, 74.9, 175.6, 2.5, 0.72, 31.2),
    },
}
COLUMNS = [
    ("mean frame delay", "frame-delay-mean", None),
    ("95th percentile of the frame delay", "frame-delay-p95", None),
    ("99th percentile of the frame delay", "frame-delay-p99", None),
    ("stall rate above 100 ms", "late", 100),
    ("stall rate above 200 ms", "late", 200),
    ("bitrate", "bitrate", None),
]
# Fig. 8 and 9, in the text of section 5.2: the reduction, of the quantity of that row.
RATIOS = {
    "ethernet": {0: 1.5, 1: 2.4, 2: 3.2, 3: 16.3, 4: 22.5},
    "wifi": {0: 5.7, 1: 7.8, 2: 5.5, 3: 5.5, 4: 12.1},
}
OTHERS = ["copa", "salsify", "sqp"]
NAMES = {"copa": "Copa", "salsify": "Salsify", "sqp": "SQP", "pudica": "Pudica"}


def claim(text: str, source: str, medium: str, keys: list[str]) -> str:
    """An entry of the index."""
    lines = [f'text = "{text}"', f'source = "{source}"', f'case = "{medium}"', *keys]
    return "\n".join(["[[claim]]", *lines, ""])


def nearest(medium: str, column: int) -> str:
    """Which of the others is nearest to their mean in the table."""
    numbers = {name: PAPER[medium][name][column] for name in OTHERS}
    mean = sum(numbers.values()) / len(numbers)
    return min(numbers, key=lambda name: abs(numbers[name] - mean))


def beside(
    medium: str, other: str, condition: Condition | None
) -> tuple[str, str, str, str]:
    """Pudica's case and whom it is compared with, the words of a condition, and what begins the source."""
    if condition is None:
        return medium, f'than = {{ controllers = ["{other}"] }}', "", ""
    than = f'than = {{ case = "{condition.case()}", controllers = ["{other}"] }}'
    return condition.beside(), than, f", if {condition.words()}", "this suite: "


def order(
    medium: str, column: int, other: str, condition: Condition | None = None
) -> str:
    """The claim that Pudica's number is higher or lower than that of another controller, as in the table."""
    words, quantity, above = COLUMNS[column]
    case, than, end, place = beside(medium, other, condition)
    is_more = PAPER[medium]["pudica"][column] > PAPER[medium][other][column]
    keys = [f'quantity = "{quantity}"', 'controllers = ["pudica"]']
    keys += [f'above = "{above}ms"'] if above else []
    keys += [f"{'at_least' if is_more else 'at_most'} = 1.0", than]
    better = "higher" if is_more else "lower"
    text = f"{TITLES[medium]}: Pudica's {words} is {better} than {NAMES[other]}'s{end}"
    return claim(text, place + TABLES[medium].split(",")[0], case, keys)


def ratio(
    medium: str, column: int, other: str, condition: Condition | None = None
) -> str:
    """The claim about a reduction in the text of section 5.2."""
    words, quantity, above = COLUMNS[column]
    times = RATIOS[medium][column]
    case, than, end, place = beside(medium, other, condition)
    keys = [f'quantity = "{quantity}"', 'controllers = ["pudica"]']
    keys += [f'above = "{above}ms"'] if above else []
    keys += [f"at_most = {round(1.5 / times, 4)}", than]
    text = f"{TITLES[medium]}: the {words} is {times} times lower, beside {other}{end}"
    figure = TABLES[medium].split(", ")[1]
    return claim(text, f"{place}section 5.2, {figure}", case, keys)


def shorter(medium: str, other: str, condition: Condition | None = None) -> str:
    """The claim that Pudica's stalls are shorter than those of another controller."""
    case, than, end, place = beside(medium, other, condition)
    keys = ['quantity = "late-run"', 'controllers = ["pudica"]', 'above = "100ms"']
    keys += ["at_most = 1.0", than]
    text = f"{TITLES[medium]}: Pudica's stalls are shorter than {NAMES[other]}'s{end}"
    return claim(text, f"{place}section 5.2, Fig. 11", case, keys)


def in_a_row(medium: str, condition: Condition | None = None) -> str:
    """The claim about the length of Pudica's stalls."""
    keys = ["paper = 10.9", 'quantity = "late-run"', 'controllers = ["pudica"]']
    keys += ['above = "100ms"', "at_least = 7.3", "at_most = 16.4"]
    text = f"{TITLES[medium]}: Pudica's stalls have 10.9 frames in a row in the mean"
    return of_pudica(text, medium, keys, condition)


def small(medium: str, condition: Condition | None = None) -> str:
    """The claim about the bitrate of Pudica's late frames."""
    keys = ['quantity = "late-low"', 'controllers = ["pudica"]', 'above = "50ms"']
    keys += ["at_least = 50.0"]
    text = f"{TITLES[medium]}: more than half of Pudica's frames above 50 ms have less than 10 Mbit/s"
    return of_pudica(text, medium, keys, condition)


def of_pudica(
    text: str, medium: str, keys: list[str], condition: Condition | None
) -> str:
    """A claim of the text about Fig. 11 and Pudica alone."""
    place = "section 5.2, Fig. 11"
    if condition is None:
        return claim(text, place, medium, keys)
    text += f", if {condition.words()}"
    return claim(text, f"this suite: {place}", condition.case(), keys)


def rows(medium: str) -> list[str]:
    """The claims about a table: its numbers, its order, and the text's ratios."""
    title = TITLES[medium]
    columns = range(len(COLUMNS))
    found = [number(medium, name, at, None) for name in PAPER[medium] for at in columns]
    for column in columns:
        found += [order(medium, column, other) for other in OTHERS]
        if column in RATIOS[medium]:
            found.append(ratio(medium, column, nearest(medium, column)))
    found.append(small(medium))
    found.append(in_a_row(medium))
    found += [shorter(medium, other) for other in OTHERS]
    for words, quantity, above, bound in [
        ("95th percentile of the frame delay", "frame-delay-p95", None, "at_most"),
        ("stall rate above 100 ms", "late", 100, "at_most"),
        ("bitrate", "bitrate", None, "at_least"),
    ]:
        keys = [f'quantity = "{quantity}"', 'controllers = ["mimosa"]']
        keys += [f'above = "{above}ms"'] if above else []
        keys += [f"{bound} = 1.0", 'than = { controllers = ["pudica"] }']
        better = "higher" if bound == "at_least" else "lower"
        text = f"{title}: Mimosa's {words} is {better} than Pudica's"
        found.append(claim(text, "this suite", medium, keys))
    return found


def number(
    medium: str, name: str, column: int, condition: Condition | None = None
) -> str:
    """The claim about a number of Table 1 or 2."""
    words, quantity, above = COLUMNS[column]
    paper = PAPER[medium][name][column]
    keys = [f"paper = {float(paper)}", f'quantity = "{quantity}"']
    keys += [f'controllers = ["{name}"]']
    keys += [f'above = "{above}ms"'] if above else []
    keys += [f"at_least = {round(paper / 1.5, 4)}"]
    keys += [f"at_most = {round(paper * 1.5, 4)}"]
    table = TABLES[medium].split(",")[0]
    text = f"{TITLES[medium]}, {name}: {words}"
    if condition is None:
        return claim(text, table, medium, keys)
    text += f", if {condition.words()}"
    return claim(text, f"this suite: {table}", condition.case(), keys)


def repeated() -> list[str]:
    """Claims that are repeated under a condition."""
    found = []
    for condition in conditions():
        medium, name = condition.medium, condition.controller
        columns = range(len(COLUMNS))
        found += [number(medium, name, column, condition) for column in columns]
        if name == "pudica":
            found += [in_a_row(medium, condition), small(medium, condition)]
            continue
        if not has_pudica(condition):
            continue
        found += [order(medium, column, name, condition) for column in columns]
        found += [
            ratio(medium, column, name, condition)
            for column in RATIOS[medium]
            if nearest(medium, column) == name
        ]
        found.append(shorter(medium, name, condition))
    return found


def conditional(begin: int) -> str:
    """The cases of the conditions."""
    return "\n".join(
        f"""[[case]]
name = "{condition.case()}"
title = "The sessions over {TITLES[condition.medium]} with {NAMES[condition.controller]}, if {condition.words()}"
source = "this suite"
file = "{condition.case()}.toml"
from = "{begin}s"
"""
        for condition in conditions()
    )


def spoken(amount: str) -> str:
    """An amount as a sentence has it, with a space before its unit."""
    return re.sub(r"(?<=[0-9])(?=[a-zA-Z])", " ", amount)


# Of a medium: the median rate, what a fall leaves of it, and the household's page and its period.
Shape = tuple[float, tuple[float, float], tuple[str, str]]


def differs(medium: str, sessions: int, seconds: int, shape: Shape) -> str:
    """In what the sessions of a medium are not the paper's."""
    rate, (least, most), (size, every) = shape
    air = ", and the air of 802.11n or ac with up to four neighbours"
    return (
        f"Simulated: {sessions} sessions of {seconds} s in place of thousands of hours. Round trips are drawn as "
        "in Fig. 3 and falls as in Fig. 4; the rest is this suite's, lab/pudica-sessions/make.py: rates of "
        f"{rate:.0f} Mbit/s in the median, a fall leaves {least:.0%} to {most:.0%} for a second in the mean, a "
        f"buffer of 1 to 4 MB, a page of {spoken(size)} every {spoken(every)}{air if medium == 'wifi' else ''}."
    )


def suite(sessions: int, seconds: int, begin: int, shapes: dict[str, Shape]) -> str:
    """The index."""
    cases = "\n".join(
        f"""[[case]]
name = "{medium}"
title = "Sessions over {TITLES[medium]}"
source = "Pudica, section 5.2, {TABLES[medium]}"
differs = "{differs(medium, sessions, seconds, shapes[medium])}"
file = "{medium}.toml"
from = "{begin}s"
"""
        for medium in PAPER
    )
    claims = [row for medium in PAPER for row in rows(medium)]
    claims = "\n".join([*claims, *repeated()])
    return f"""title = "Pudica, Tables 1 and 2: sessions over Ethernet and Wi-Fi"
about = "Section 5.2, Tab. 1 and 2, Fig. 8, 9 and 11: each number is the mean over sessions. Frames 60 times a second, bitrates from 0.2 to 50 Mbit/s beginning at 5; Copa with delta 0.1 and without mode switching, Salsify with a budget of a frame interval and the smallest round trip (section 5.1). A number of the tables counts as the paper's within one and a half times of it, a ratio of the text from two thirds of it on, beside the controller that is nearest to the mean of the others in the table."
page = "figure"
seeds = [1, 16]
controllers = ["pudica", "sqp", "salsify", "copa", "mimosa"]

# Section 5.1.
[params.copa]
{OWN["copa"]}

{cases}
{conditional(begin)}
[[case]]
name = "wifi-session"
title = "One of the sessions over Wi-Fi"
source = "this suite"
file = "wifi.toml"
variants = ["1"]
from = "{begin}s"

[[figure]]
name = "session-delay"
title = "Frame delay of a session over Wi-Fi"
cases = ["wifi-session"]
shows = "delay"
range = [0.0, 400.0]

{claims}"""
