"""Writes the experiments that show why claims of the suites pudica-fig12 to 18 do not hold.

Each takes the scenario of one of these suites, and switches one thing. The claims of this suite hold where
that thing decides.
"""

from pathlib import Path

HERE = Path(__file__).resolve().parent
LAB = HERE.parent
AIR = (
    '[{ medium = { kind = "wifi", standard = "n", neighbour = [{ count = 4, '
    'sends = "25Mbit/s", on = "200ms", off = "800ms" }] }, '
    'queue = { kind = "droptail", limit = "500kB" } }]'
)
# The delays of the suite pudica-fig7's noisy path.
NOISE = '{ kind = "quantiles", p50 = "200us", p99 = "2ms", p999 = "3ms", most = "5ms" }'
HALF = (
    '[{ at = "0s", rate = "30Mbit/s" }, { at = "10s", rate = "15Mbit/s" }, '
    '{ at = "20s", rate = "40Mbit/s" }]'
)
TRIPS = [5, 15, 30]
# The round trips of Fig. 18 that are tried, in milliseconds.
TRIPS_CUBIC = [10, 20, 40]


# The slides: a response to a fall that is 100 ms late. The oracle is told the rate when a report of it is back.
# How deep the fall is, is ours.
LATE = """duration = "20s"

[link]
steps = [{ at = "0s", rate = "30Mbit/s" }, { at = "10s", rate = "7500kbit/s" }]
one_way_delay = "10ms"
return_delay = "90ms"
queue = { kind = "droptail", limit = "500kB" }

[[flow]]
name = "game"
controller = "oracle"
"""


def variant(name: str, *lines: str) -> str:
    """A variant of a scenario."""
    return "\n".join(["", "[[variant]]", f'name = "{name}"', *lines, ""])


def driven(text: str, controller: str) -> str:
    """The scenario with a controller for each flow of video."""
    own = f'[[flow]]\ncontroller = "{controller}"\n'
    head, *flows = text.split("[[flow]]\n")
    return head + "".join(
        ("[[flow]]\n" if 'kind = "tcp"' in flow else own) + flow for flow in flows
    )


def apart(text: str) -> str:
    """The scenario with flows of different round trips."""
    head, *flows = text.split("[[flow]]\n")
    parts = [
        f'[[flow]]\none_way_delay = "{ms}ms"\nreturn_delay = "{ms}ms"\n{flow}'
        for ms, flow in zip(TRIPS, flows, strict=True)
    ]
    return head + "".join(parts)


def files() -> dict[str, str]:
    """The scenarios by name."""

    def read(suite: str, file: str) -> str:
        text = (LAB / suite / f"{file}.toml").read_text(encoding="utf-8")
        return text.split("\n", 1)[1]

    fall = read("pudica-fig12", "fall-and-rise")
    ticked = read("pudica-fig12", "mahimahi")
    three = read("pudica-fig13", "drifting")
    jitter = read("pudica-fig17", "jitter")
    cubic = read("pudica-fig18", "mahimahi").split("\n[[variant]]")[0]
    constant = read("pudica-fig16", "mahimahi").replace('"30s"', '"120s"')
    return {
        "fall": fall
        + variant("half", f"link.steps = {HALF}")
        + variant("air", f"link.next = {AIR}")
        + variant("noise", f"link.jitter = {NOISE}"),
        "sqp-memory": driven(ticked, "sqp")
        + variant("half a round trip", "flow.params.min_delay_rtts = 0.5"),
        "gcc-classic": driven(constant, "gcc")
        + variant("classic", 'flow.params.version = "classic"'),
        "late-response": LATE,
        "three": three + variant("60 Mbit/s", 'link.rate = "60Mbit/s"'),
        "three-trips": apart(three),
        "jitter": jitter
        + variant("10 Mbit/s", 'link.rate = "10Mbit/s"')
        + variant("40 Mbit/s", 'link.rate = "40Mbit/s"')
        + variant("10 ms", 'link.one_way_delay = "5ms"')
        + variant("60 ms", 'link.one_way_delay = "30ms"'),
        "constant": read("pudica-fig16", "mahimahi")
        + variant("100 kB", 'link.queue = { kind = "droptail", limit = "100kB" }')
        + variant(
            "unlimited", 'link.queue = { kind = "droptail", limit = "unlimited" }'
        ),
        "cubic": driven(cubic, "pudica")
        + "".join(
            variant(
                f"{trip} ms, {buffer} kB",
                f'link.one_way_delay = "{trip // 2}ms"',
                f'link.queue = {{ kind = "droptail", limit = "{buffer}kB" }}',
            )
            for trip in TRIPS_CUBIC
            for buffer in (10, 50)
        ),
    }


CASES = [
    (
        "fall",
        "The fall and rise of Fig. 12: half as deep, behind Wi-Fi, and on a noisy path",
        3,
        30,
    ),
    ("sqp-memory", "Fig. 12 with SQP's memory of half a round trip", 3, 30),
    ("gcc-classic", "Fig. 16 for two minutes with the GCC of 2017", 3, 120),
    (
        "late-response",
        "The slides: the oracle, told 100 ms late of a fall to a quarter",
        3,
        20,
    ),
    ("three", "Fig. 13 on 60 Mbit/s", 45, 60),
    ("three-trips", "Fig. 13 with round trips of 10, 30 and 60 ms", 45, 60),
    ("jitter", "The jitter of Fig. 17 with other rates and round trips", 3, 20),
    ("constant", "Fig. 16 with other buffers", 3, 30),
    ("cubic", "Fig. 18 in Mahimahi's milliseconds with other round trips", 6, 10),
]
# Constants that the paper leaves open in Fig. 16 to 18: what is claimed, of which case, with which values.
OPEN = [
    (
        "Pudica uses a constant link",
        "appendix D",
        "constant",
        ["100 kB", "unlimited"],
        ['quantity = "used"', "at_least = 80.0"],
    ),
    (
        "Pudica's frames take no more than the round trip and their interval, and 3 ms",
        "appendix D",
        "constant",
        ["100 kB", "unlimited"],
        ['quantity = "frame-delay-p95"', "at_most = 40.0"],
    ),
    (
        "Pudica is resilient against jitter",
        "appendix F",
        "jitter",
        ["10 Mbit/s", "40 Mbit/s", "10 ms", "60 ms"],
        ['quantity = "used"', "at_least = 85.0"],
    ),
    (
        "No frame of Pudica stalls in jitter",
        "appendix F",
        "jitter",
        ["10 Mbit/s", "40 Mbit/s", "10 ms", "60 ms"],
        ['quantity = "late"', 'above = "100ms"', "at_most = 0.0"],
    ),
    (
        "Pudica competes with CUBIC in a small buffer",
        "appendix H",
        "cubic",
        [f"{trip} ms, 10 kB" for trip in TRIPS_CUBIC],
        ['quantity = "share"', "at_least = 25.0"],
    ),
    (
        "Pudica fails to compete with CUBIC in a larger buffer",
        "appendix H",
        "cubic",
        [f"{trip} ms, 50 kB" for trip in TRIPS_CUBIC],
        ['quantity = "share"', "at_most = 25.0"],
    ),
]
CLAIMS = [
    (
        "A fall to a half in place of a third is drained in 200 ms",
        "section 5.4",
        ["paper = 0.2", 'quantity = "drain-time"', 'case = "fall"', 'variant = "half"']
        + ['controllers = ["pudica"]', 'above = "50ms"', 'from = "10s"', 'to = "20s"']
        + ["at_most = 0.3"],
    ),
    (
        "Behind Wi-Fi, where gaps between packets are uneven, Pudica has fewer late frames after a fall",
        "section 5.4",
        ['quantity = "late"', 'case = "fall"', 'variant = "air"']
        + ['controllers = ["pudica"]', 'above = "50ms"', 'from = "10s"', 'to = "20s"']
        + ["at_most = 1.0", 'than = { controllers = ["salsify", "copa"] }'],
    ),
    (
        "On a path that delays packets by chance, Salsify's delays oscillate twice as much as Pudica's",
        "section 5.4",
        ['quantity = "frame-delay-spread"', 'case = "fall"', 'variant = "noise"']
        + ['controllers = ["salsify"]', 'from = "3s"', 'to = "10s"', "at_least = 2.0"]
        + ['than = { controllers = ["pudica"] }'],
    ),
    (
        "With a memory of half a round trip in place of two, SQP takes five seconds to drain the queue",
        "section 5.4",
        ["paper = 5.0", 'quantity = "drained-after"', 'case = "sqp-memory"']
        + ['variant = "half a round trip"', 'controllers = ["sqp"]', 'above = "50ms"']
        + ['from = "10s"', 'to = "20s"', "at_least = 3.3", "at_most = 7.5"],
    ),
    (
        "The GCC that the paper cites has delay spikes: no estimate of the link's capacity",
        "appendix D",
        ['quantity = "spikes"', 'case = "gcc-classic"', 'variant = "classic"']
        + ['controllers = ["gcc"]', 'above = "50ms"', "at_least = 2.0"],
    ),
    (
        "A response that is 100 ms late makes a spike of the frame delay above 250 ms",
        "slides",
        ['quantity = "frame-delay-max"', 'case = "late-response"']
        + ['controllers = ["oracle"]', "at_least = 250.0"],
    ),
    (
        "On 60 Mbit/s three Salsify flows are fair",
        "section 5.4",
        ['quantity = "jain"', 'case = "three"', 'controllers = ["salsify"]']
        + ["at_least = 0.9"],
    ),
    (
        "With round trips of their own, Salsify's delays oscillate twice as much as Pudica's",
        "section 5.4",
        ['quantity = "frame-delay-spread"', 'case = "three-trips"']
        + ['controllers = ["salsify"]', "at_least = 2.0"]
        + ['than = { controllers = ["pudica"] }'],
    ),
    (
        "On 10 Mbit/s Salsify's spikes are one and a half times Pudica's worst",
        "appendix F",
        ['quantity = "frame-delay-max"', 'case = "jitter"', 'variant = "10 Mbit/s"']
        + ['controllers = ["salsify"]', "at_least = 1.5"]
        + ['than = { controllers = ["pudica"] }'],
    ),
    (
        "With a round trip of 60 ms Copa's spikes are one and a half times Pudica's worst",
        "appendix F",
        ['quantity = "frame-delay-max"', 'case = "jitter"', 'variant = "60 ms"']
        + ['controllers = ["copa"]', "at_least = 1.5"]
        + ['than = { controllers = ["pudica"] }'],
    ),
]


def open_constants() -> list[tuple[str, str, list[str]]]:
    """The claims with each value of a constant that is open."""
    return [
        (
            f"{text}: {value}",
            source,
            [
                f'case = "{case}"',
                f'variant = "{value}"',
                'controllers = ["pudica"]',
                *keys,
            ],
        )
        for text, source, case, values, keys in OPEN
        for value in values
    ]


def suite() -> str:
    """The index."""
    cases = "\n".join(
        f"""[[case]]
name = "{name}"
title = "{title}"
source = "this suite"
file = "{name}.toml"
from = "{since}s"
to = "{to}s"
"""
        for name, title, since, to in CASES
    )
    claims = "\n".join(
        "\n".join(
            ["[[claim]]", f'text = "{text}"', f'source = "this suite: {source}"', *keys]
            + [""]
        )
        for text, source, keys in [*CLAIMS, *open_constants()]
    )
    return f"""title = "Pudica: why claims do not hold, and constants that are open"
about = "Scenarios of pudica-fig12 to 17 with one thing switched. A claim that holds shows that this thing decides. The paper leaves rates, buffers and round trips of Fig. 16 to 18 open; the last claims are with other values. Conditions are those of these suites."
page = "figure"
seeds = [1, 16]
controllers = ["pudica", "salsify", "copa"]

# Section 5.1.
[params.copa]
delta = 0.1

{cases}
[[figure]]
name = "spikes"
title = "Fig. 16 for two minutes with the GCC of 2017: frame delay"
cases = ["gcc-classic"]
shows = "delay"
range = [0.0, 150.0]

{claims}"""


def main() -> None:
    """Writes the files of this folder."""
    for name, text in files().items():
        title = next(title for case, title, _, _ in CASES if case == name)
        file = HERE / f"{name}.toml"
        file.write_text(f"# {title}. Made by make.py.\n{text}", encoding="utf-8")
    (HERE / "suite.toml").write_text(suite(), encoding="utf-8")


if __name__ == "__main__":
    main()
