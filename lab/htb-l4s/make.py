"""Writes the scenarios and the suite of the study's Table II: three queues, two kinds of TCP.

What does not hold is repeated under conditions that may be the cause: such a claim has the text of the first
one, a comma and the condition, from which scripts/claims.py takes the causes.
"""

from pathlib import Path

HERE = Path(__file__).parent
QUEUES = {
    "drop-tail": 'queue = { kind = "droptail", limit = "250packets" }\n',
    "htb": """queue = { kind = "htb", default = "best-effort" }

[[link.class]]
name = "all"
rate = "50Mbit/s"

[[link.class]]
name = "games"
parent = "all"
rate = "10Mbit/s"
ceil = "50Mbit/s"
flows = ["game"]
queue = { kind = "sfq", limit = "63packets" }

[[link.class]]
name = "best-effort"
parent = "all"
rate = "1Mbit/s"
ceil = "50Mbit/s"
priority = 1
queue = { kind = "droptail", limit = "250packets" }
""",
    "l4s": 'queue = { kind = "dualpi2", limit = "1000packets" }\n',
}
TITLES = {
    "drop-tail": "A drop-tail queue of 250 packets",
    "htb": "Two classes of HTB, 10 Mbit/s guaranteed to the game",
    "l4s": "DualPI2",
}
TCP = {"cubic": "CUBIC", "bbr2": "BBRv2"}
STEPS = [(0, 10), (120, 20), (180, 30), (240, 40), (300, 45)]
# Table II: mean wait, its deviation ("variance" in the table), shares of waits above 10, 20, 50 and 100
# ms, mean rate and its quartiles, loss; of the game and of TCP.
PAPER = {
    ("drop-tail", "cubic"): (
        (44.9, 24.34, 96.28, 85.54, 34.71, 0, 12.83, 4.29, 12.17, 18.81, 0.25),
        (44.45, 24.57, 99.18, 82.3, 35.8, 0, 33.34, 21.14, 31.69, 43.91, 0.42),
    ),
    ("drop-tail", "bbr2"): (
        (26.5, 11.93, 84.23, 68.88, 0.41, 0, 15.18, 9.69, 12.6, 18.98, 0.33),
        (25.96, 12.31, 84.71, 66.53, 0.83, 0, 31.66, 21.73, 32.74, 38.31, 0.57),
    ),
    ("htb", "cubic"): (
        (1.16, 0.92, 0, 0, 0, 0, 28.64, 27.22, 29.14, 30.78, 0.24),
        (99.78, 26.84, 99.18, 99.18, 96.3, 48.15, 19.56, 18.12, 19.54, 21.32, 0.56),
    ),
    ("htb", "bbr2"): (
        (0.61, 0.8, 0, 0, 0, 0, 28.66, 27.63, 28.9, 30.23, 0.05),
        (67.38, 20.91, 99.17, 98.76, 81.41, 2.48, 19.28, 17.55, 19.31, 20.73, 0.16),
    ),
    ("l4s", "cubic"): (
        (0.53, 0.99, 0, 0, 0, 0, 24.25, 21.83, 25.06, 27.52, 0.08),
        (4.68, 4.03, 6.75, 0.84, 0, 0, 16.43, 13.52, 16.56, 19.58, 0.25),
    ),
    ("l4s", "bbr2"): (
        (0.31, 0.51, 0, 0, 0, 0, 21.66, 19.78, 22.32, 24.34, 0.1),
        (7.57, 5.67, 25.42, 4.66, 0, 0, 21.68, 19, 22.25, 24.08, 0.33),
    ),
}
FIGURES = dict(
    zip(
        PAPER,
        ["Fig. 6", "Fig. 7", "Fig. 8", "Fig. 9", "Fig. 10", "Fig. 11"],
        strict=True,
    )
)
USED = [92.33, 93.66, 96.39, 95.89, 81.36, 86.7]
ROWS = [
    ("wait", None),
    ("wait-deviation", None),
    ("waiting", 10),
    ("waiting", 20),
    ("waiting", 50),
    ("waiting", 100),
    ("received", None),
    ("received-q1", None),
    ("received-median", None),
    ("received-q3", None),
    ("lost", None),
]
WORDS = {
    "wait": "mean latency",
    "wait-deviation": "deviation of the latency (the table's variance)",
    "waiting": "packets above {above} ms",
    "received": "mean bitrate",
    "received-q1": "first quartile of the bitrate",
    "received-median": "median of the bitrate",
    "received-q3": "third quartile of the bitrate",
    "lost": "loss rate",
}
# What a claim that does not hold is repeated with, beside what the file says: each is a variant or a file of
# its own, under the condition that the words name.
EXPERIMENTS = {
    "uneven": ("if frames vary by a half", "flow.frame_noise = 0.5"),
    "very-uneven": ("if frames vary by seven tenths", "flow.frame_noise = 0.7"),
    "01": ("if SCReAM has the constants of -01", 'flow.params.version = "01"'),
}
# Of these each queue beside each TCP has some.
TRIED = {
    ("drop-tail", "cubic"): ["uneven", "01"],
    ("drop-tail", "bbr2"): ["uneven", "01"],
    ("htb", "cubic"): ["01"],
    ("htb", "bbr2"): ["uneven", "01"],
    ("l4s", "cubic"): ["uneven", "01"],
    ("l4s", "bbr2"): ["very-uneven", "01"],
}
# And these have the same bytes over this many connections.
IN_TEN = [("drop-tail", "cubic"), ("htb", "cubic")]
CONNECTIONS = 10
# Table I is repeated with rates that this recording carries most of the time, with two other versions of SCReAM, and
# with other targets of its queueing delay: the case, its controller, and the words.
CELLULAR = [
    (f"{mbps}", "fixed", f"if {mbps} Mbit/s are sent") for mbps in (9, 10, 11)
] + [
    ("01", "scream", "if SCReAM has the constants of -01"),
    ("libwebrtc", "scream", "if SCReAM is libwebrtc's and sends at most 25 Mbit/s"),
    ("40ms", "scream", "if SCReAM's target is 40 ms"),
    ("150ms", "scream", "if SCReAM's target is 150 ms"),
]
TEN = "if TCP has ten connections"
# Each cell of Table II is run with TCP over a path of its own as well: TCP's round trip in ms, and experiments that
# are repeated there. The study does not say where its TCP server was.
ELSEWHERE = {
    ("drop-tail", "cubic"): (20, []),
    ("drop-tail", "bbr2"): (60, ["uneven"]),
    ("htb", "cubic"): (150, []),
    ("htb", "bbr2"): (40, []),
    ("l4s", "cubic"): (60, []),
    ("l4s", "bbr2"): (100, ["01"]),
}
PLAIN = "even"
# The rows of Table II that are repeated.
REPEATED = {
    ("drop-tail", "cubic", "video"): "D 50 R 1 2 3",
    ("drop-tail", "cubic", "tcp"): "D 50 3 L",
    ("drop-tail", "bbr2", "video"): "R 1 2 3 L",
    ("drop-tail", "bbr2", "tcp"): "R 2 3 L",
    ("htb", "cubic", "video"): "",
    ("htb", "cubic", "tcp"): "D 100 L",
    ("htb", "bbr2", "video"): "",
    ("htb", "bbr2", "tcp"): "W D 50",
    ("l4s", "cubic", "video"): "1",
    ("l4s", "cubic", "tcp"): "W 10 R 1 2",
    ("l4s", "bbr2", "video"): "",
    ("l4s", "bbr2", "tcp"): "D 10 20 R 2 3",
}
SHORT = ["W", "D", "10", "20", "50", "100", "R", "1", "2", "3", "L"]
# Under the constants of -01, besides: the game's mean latency and bitrate, and TCP's bitrate.
DRAFT = {"video": "W R", "tcp": "R"}
# A number is the study's within a fifth of it, and within these in the quantity's unit: 2 ms, 3 % of the
# packets, 1 Mbit/s, 0.3 % lost. The suite's choice.
LEAST = {"wait": 2, "wait-deviation": 2, "waiting": 3, "lost": 0.3}


def scenario(queue: str, tcp: str, step: int = 60) -> str:
    """A cell of Table II; the study's steps last a minute."""
    steps = ", ".join(
        f'{{ at = "{at * step // 60}s", rate = "{rate}Mbit/s" }}' for at, rate in STEPS
    )
    return f"""# {TITLES[queue]}: P. Graff et al., "Improving Cloud Gaming traffic QoS", section IV.
# 50 Mbit/s and 30 ms; {TCP[tcp]} writes 10 to 45 Mbit/s, more each minute.
duration = "{6 * step}s"

[link]
rate = "50Mbit/s"
one_way_delay = "15ms"
{QUEUES[queue]}
[[flow]]
name = "game"
max_bitrate = "30Mbit/s"
frame_noise = 0.1
ecn = "auto"

[[flow]]
name = "tcp"
kind = "tcp"
controller = "{tcp}"
start = "{step}s"
steps = [{steps}]
"""


def game(text: str, names: list[str]) -> str:
    """The scenario with SCReAM of 2024 for the game, and experiments as variants."""
    own = 'name = "game"\ncontroller = "scream"\nparams = { version = "2024" }\n'
    text = text.replace('name = "game"\n', own)
    for name in names:
        key = EXPERIMENTS[name][1]
        text += f'\n[[variant]]\nname = "{name}"\n{key}\n'
    return text


def elsewhere(text: str, round_trip: int, names: list[str]) -> str:
    """The scenario with SCReAM of 2024 and TCP over a path of its own, and experiments as variants."""
    own = (
        f'one_way_delay = "{round_trip // 2}ms"\nreturn_delay = "{round_trip // 2}ms"\n'
    )
    text = text.replace('name = "tcp"\n', f'name = "tcp"\n{own}')
    text = game(text, names)
    return f'{text}\n[[variant]]\nname = "{PLAIN}"\nflow.frame_noise = 0.1\n'


def connections(text: str, count: int = CONNECTIONS) -> str:
    """The scenario with SCReAM of 2024 and several connections that carry what one does."""
    own = 'name = "game"\ncontroller = "scream"\nparams = { version = "2024" }\n'
    head, tcp = text.replace('name = "game"\n', own).split('[[flow]]\nname = "tcp"\n')
    for _, rate in STEPS:
        tcp = tcp.replace(f"{rate}Mbit/s", f"{rate * 1000 // count}kbit/s")
    flows = [
        f'[[flow]]\nname = "tcp {number}"\n{tcp}' for number in range(1, count + 1)
    ]
    return head + "\n".join(flows)


def row(queue: str, tcp: str, flow: str, index: int, case: str, more: str) -> str:
    """The claim about a number of Table II in a case."""
    quantity, above = ROWS[index]
    paper = PAPER[queue, tcp][flow == "tcp"][index]
    least, most = bounds(quantity, paper)
    whose = "the game's" if flow == "video" else "TCP's"
    words = WORDS[quantity].format(above=above)
    text = f"{TITLES[queue]} beside {TCP[tcp]}: {whose} {words}"
    lines = ["[[claim]]", f'text = "{text}{more and f", {more}"}"']
    lines += [f'source = "{"this suite: " if more else ""}Tab. II"']
    lines += [f"paper = {float(paper)}", f'quantity = "{quantity}"', case]
    lines += [f'class = "{flow}"', 'controllers = ["scream"]']
    lines += [f'above = "{above}ms"'] if above else []
    lines += [f"at_least = {float(least)}", f"at_most = {float(most)}", ""]
    return "\n".join(lines)


def used(queue: str, tcp: str, paper: float, case: str, more: str) -> str:
    """The claim about the link's utilisation in Table II."""
    return f"""[[claim]]
text = "{TITLES[queue]} beside {TCP[tcp]}: link utilisation{more and f", {more}"}"
source = "{"this suite: " if more else ""}Tab. II"
paper = {paper}
quantity = "used"
{case}
controllers = ["scream"]
at_least = {round(0.8 * paper, 2)}
at_most = {min(round(1.2 * paper, 2), 100.0)}
"""


def experiments() -> str:
    """The rows that are repeated with what may be the cause."""
    parts = []
    for (queue, tcp), paper in zip(PAPER, USED, strict=True):
        where = f"{queue}-{tcp}"
        cases = {
            EXPERIMENTS[name][0]: f'case = "{where}-game"\nvariant = "{name}"'
            for name in TRIED[queue, tcp]
        }
        if (queue, tcp) in IN_TEN:
            cases[TEN] = f'case = "{where}-ten"'
        round_trip, names = ELSEWHERE[queue, tcp]
        away = f"if TCP has a round trip of {round_trip} ms"
        for name in [PLAIN, *names]:
            also = EXPERIMENTS[name][0].removeprefix("if ") if name != PLAIN else ""
            words = f"{away}{also and f' and {also}'}"
            cases[words] = f'case = "{where}-elsewhere"\nvariant = "{name}"'
        for words, case in cases.items():
            is_draft = words == EXPERIMENTS["01"][0]
            for flow in ("video", "tcp"):
                names = REPEATED[queue, tcp, flow].split()
                if is_draft:
                    names = [*dict.fromkeys([*DRAFT[flow].split(), *names])]
                parts += [
                    row(queue, tcp, flow, SHORT.index(name), case, words)
                    for name in names
                ]
            if is_draft or queue == "l4s":
                parts.append(used(queue, tcp, paper, case, words))
    return "\n".join(parts)


def bounds(quantity: str, paper: float) -> tuple[float, float]:
    room = max(0.2 * paper, LEAST.get(quantity, 1))
    return max(round(paper - room, 2), 0), round(paper + room, 2)


def claims() -> str:
    parts = []
    for (queue, tcp), paper in zip(PAPER, USED, strict=True):
        case = f'case = "{queue}-{tcp}"'
        for flow in ("video", "tcp"):
            parts += [
                row(queue, tcp, flow, index, case, "") for index in range(len(ROWS))
            ]
        parts.append(used(queue, tcp, paper, case, ""))
        for text, quantity, flow, least, most in [
            (
                "Mimosa has no less of the link than SCReAM",
                "received",
                "video",
                1.0,
                None,
            ),
            ("Mimosa waits no longer than SCReAM", "wait", "video", None, 1.0),
            (
                "TCP has no less beside Mimosa than beside SCReAM",
                "received",
                "tcp",
                1.0,
                None,
            ),
        ]:
            bound = f"at_least = {least}" if least else f"at_most = {most}"
            parts.append(
                f"""[[claim]]
text = "{TITLES[queue]} beside {TCP[tcp]}: {text}"
source = "this suite"
quantity = "{quantity}"
case = "{queue}-{tcp}"
class = "{flow}"
controllers = ["mimosa"]
{bound}
than = {{ controllers = ["scream"] }}
"""
            )
    return "\n".join(parts)


def suite() -> str:
    cases = "\n".join(
        f"""[[case]]
name = "{queue}-{tcp}"
title = "{TITLES[queue]}, beside {TCP[tcp]}"
source = "{FIGURES[queue, tcp]}, Tab. II"
file = "{queue}-{tcp}.toml"
from = "120s"
"""
        for queue, tcp in PAPER
    )
    cases += "\n" + "\n".join(
        f"""[[case]]
name = "{queue}-{tcp}-{kind}"
title = "{TITLES[queue]}, beside {TCP[tcp]}: {title}"
source = "this suite"
file = "{queue}-{tcp}-{kind}.toml"
from = "120s"
"""
        for queue, tcp in PAPER
        for kind, title in (
            ("game", "uneven frames, and SCReAM -01"),
            ("ten", "ten connections"),
            ("elsewhere", "TCP over a path of its own"),
        )
        if kind != "ten" or (queue, tcp) in IN_TEN
    )
    other_cellular = "\n".join(
        f"""[[case]]
name = "cellular-{case}"
title = "The recorded 4G link, {words}"
source = "this suite"
file = "cellular-{case}.toml"
trace = "../../traces/4g.txt"
from = "2s"
"""
        for case, _, words in CELLULAR
    )
    figures = "\n".join(
        f"""[[figure]]
name = "{queue}-{tcp}"
title = "{FIGURES[queue, tcp]}: bitrate, {TITLES[queue]}, beside {TCP[tcp]}"
cases = ["{queue}-{tcp}"]
shows = "bitrate"
range = [0.0, 50.0]
"""
        for queue, tcp in PAPER
    )
    return f"""title = "Cloud gaming beside TCP: drop-tail, HTB and L4S"
about = "P. Graff et al., 'Improving Cloud Gaming traffic QoS: a comparison between class-based queuing policy and L4S', section IV: a game of at most 30 Mbit/s beside TCP whose application writes 10 to 45 Mbit/s, over 50 Mbit/s and 30 ms, from the third minute on as in its Table II. SCReAM has the constants of 2024. The paper's encoder and game are not here: frames vary by a tenth. The paper has one run of each; a latency is a packet's wait in the queue. A number counts as the paper's within a fifth of it, or within 2 ms, 3 % of the packets, 1 Mbit/s, 0.3 % of loss."
page = "figure"
seeds = [1, 16]
controllers = ["scream", "mimosa"]

[params.scream]
version = "2024"

{cases}
[[case]]
name = "cellular"
title = "A recorded 4G link"
source = "Fig. 4, Tab. I"
differs = "The paper's recording is not here: the project's own of 4G is, of 60 s. GeForce NOW cannot be had."
file = "cellular.toml"
trace = "../../traces/4g.txt"
from = "2s"

[[case]]
name = "cellular-30"
title = "30 Mbit/s over the recorded 4G link, without control"
source = "Fig. 4, Tab. I"
file = "cellular-30.toml"
trace = "../../traces/4g.txt"
from = "2s"

{other_cellular}
{figures}
[[figure]]
name = "cellular"
title = "Fig. 4: frame delay over a recorded 4G link"
cases = ["cellular"]
shows = "delay"
range = [0.0, 400.0]

{claims()}
{cellular()}
{experiments()}"""


def of_cellular(
    quantity: str,
    above: int | None,
    controller: str,
    paper: float,
    case: str,
    words: str = "",
) -> str:
    """The claim about a number of Table I in a case, under the condition that the words name."""
    least, most = bounds(quantity, paper)
    name = "without control" if controller == "fixed" else "SCReAM"
    text = f"Recorded 4G, {name}: {WORDS[quantity].format(above=above)}"
    lines = ["[[claim]]", f'text = "{text}{words and f", {words}"}"']
    lines += [f'source = "{"this suite: " if words else ""}Tab. I"']
    lines += [f"paper = {paper}", f'quantity = "{quantity}"', f'case = "{case}"']
    lines += [f'controllers = ["{controller}"]']
    lines += [f'above = "{above}ms"'] if above else []
    lines += [f"at_least = {float(least)}", f"at_most = {float(most)}", ""]
    return "\n".join(lines)


def cellular() -> str:
    # No control, SCReAM.
    table = [
        ("wait", None, 47.9, 15.98),
        ("waiting", 10, 99.8, 73.9),
        ("waiting", 20, 85.2, 18.4),
        ("waiting", 50, 21.1, 1.5),
        ("waiting", 100, 6.8, 0.3),
    ]
    parts = []
    for quantity, above, *papers in table:
        for controller, paper in zip(("fixed", "scream"), papers, strict=True):
            case = "cellular-30" if controller == "fixed" else "cellular"
            parts.append(of_cellular(quantity, above, controller, paper, case))
    for case, controller, words in CELLULAR:
        for quantity, above, without, scream in table:
            paper = without if controller == "fixed" else scream
            own = f"cellular-{case}"
            parts.append(of_cellular(quantity, above, controller, paper, own, words))
    for quantity, bound in (("wait", "at_most"), ("received", "at_least")):
        words = "waits less than" if quantity == "wait" else "receives more than"
        parts.append(
            f"""[[claim]]
text = "Recorded 4G: Mimosa {words} SCReAM"
source = "this suite"
quantity = "{quantity}"
case = "cellular"
controllers = ["mimosa"]
{bound} = 1.0
than = {{ controllers = ["scream"] }}
"""
        )
    return "\n".join(parts)


def main() -> None:
    for queue, tcp in PAPER:
        text = scenario(queue, tcp)
        (HERE / f"{queue}-{tcp}.toml").write_text(text)
        (HERE / f"{queue}-{tcp}-game.toml").write_text(game(text, TRIED[queue, tcp]))
        if (queue, tcp) in IN_TEN:
            (HERE / f"{queue}-{tcp}-ten.toml").write_text(connections(text))
        own = elsewhere(text, *ELSEWHERE[queue, tcp])
        (HERE / f"{queue}-{tcp}-elsewhere.toml").write_text(own)
    cellular = """# A recorded 4G link: P. Graff et al., section III-B.
duration = "60s"

[link]
trace = "trace.txt"
tick = "1ms"
one_way_delay = "15ms"
queue = { kind = "droptail", limit = "3MB" }

[[flow]]
name = "game"
max_bitrate = "30Mbit/s"
frame_noise = 0.1
"""
    (HERE / "cellular.toml").write_text(cellular)
    for mbps in (30, 9, 10, 11):
        own = f'max_bitrate = "{mbps}Mbit/s"\ncontroller = "fixed"\n'
        own += f'params = {{ rate = "{mbps}Mbit/s" }}\n'
        text = cellular.replace('max_bitrate = "30Mbit/s"\n', own)
        (HERE / f"cellular-{mbps}.toml").write_text(text)
    for case, mbps, params in (
        ("01", 30, 'version = "01"'),
        ("libwebrtc", 25, 'version = "libwebrtc"'),
        ("40ms", 30, 'version = "2024", delay_target = "40ms"'),
        ("150ms", 30, 'version = "2024", delay_target = "150ms"'),
    ):
        own = f'max_bitrate = "{mbps}Mbit/s"\ncontroller = "scream"\n'
        own += f"params = {{ {params} }}\n"
        text = cellular.replace('max_bitrate = "30Mbit/s"\n', own)
        (HERE / f"cellular-{case}.toml").write_text(text)
    (HERE / "suite.toml").write_text(suite())


if __name__ == "__main__":
    main()
