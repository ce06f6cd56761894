"""What rows of Pudica's Tables 1 and 2 are repeated under: other surroundings, other readings of the rivals.

The paper says neither what else is on a session's path nor how the three other algorithms were built into the
platform. A condition is one thing, or two, that it leaves open and that is different from what make.py and the
program's defaults have. All were tried on seeds 17 to 19, and are judged on seeds 1 to 16.
"""

from typing import NamedTuple

# Section 5.1; a scenario that names its controller does not have the suite's parameters.
OWN = {"copa": "delta = 0.1"}


class World(NamedTuple):
    """Surroundings of the sessions of a medium, and in what they differ from make.py's."""

    name: str
    words: str
    # What the household loads, and how often; nothing if the size is empty.
    page: tuple[str, str] = ("200kB", "10s")
    # The range of what a fall leaves of the rate, if it is another one.
    left: tuple[float, float] | None = None
    # The mean length of a fall.
    fall_s: float = 1.0
    # The share of the air that each neighbour sends.
    neighbour: float = 0.3
    # Keys of the link that all sessions have.
    link: str = ""


class Reading(NamedTuple):
    """A reading of what the paper leaves open of a controller."""

    controller: str
    name: str
    words: str
    params: str


PLAIN = World("", "")
NOTHING = ("", "")
SILENT = World("silent", "the household is silent", NOTHING)


class Condition(NamedTuple):
    """What the rows of a controller are repeated under."""

    medium: str
    world: World
    controller: str
    reading: Reading | None = None

    def case(self) -> str:
        """The case's name."""
        end = self.reading.name if self.reading else self.controller
        names = [self.medium, self.world.name, "" if end == "pudica" else end]
        return "-".join(name for name in names if name)

    def words(self) -> str:
        """The condition in words."""
        words = [self.world.words, self.reading.words if self.reading else ""]
        return " and ".join(part for part in words if part)

    def params(self) -> str:
        """The controller's parameters."""
        return self.reading.params if self.reading else OWN.get(self.controller, "")

    def beside(self) -> str:
        """The case of Pudica's sessions in the same surroundings."""
        return Condition(self.medium, self.world, "pudica").case()


# A path whose packets are delayed by chance, as in the suites pudica-wild and pudica-fig7.
NOISE = 'link.jitter = { kind = "quantiles", p50 = "200us", p99 = "2ms", p999 = "5ms", most = "10ms" }'
NOISY = World(
    "noisy",
    "the household is silent and packets are delayed by 0.2 ms in the median and 2 ms in one of a hundred",
    NOTHING,
    link=NOISE,
)
DEEP = World(
    "deep",
    "the household is silent and a fall leaves 3 to 20 %",
    NOTHING,
    left=(0.03, 0.2),
)
DEEPER = World(
    "deeper",
    "the household is silent and a fall leaves 1 to 15 %",
    NOTHING,
    left=(0.01, 0.15),
)
DEEPEST = World(
    "deepest",
    "the household is silent and a fall leaves 1 to 10 % for 3 s in the mean",
    NOTHING,
    left=(0.01, 0.1),
    fall_s=3.0,
)
LONG = World(
    "long",
    "the household is silent and a fall lasts for 3 s in the mean",
    NOTHING,
    fall_s=3.0,
)
BRIEF = World(
    "brief",
    "the household is silent and a fall lasts for half a second in the mean",
    NOTHING,
    fall_s=0.5,
)


def outage(seconds: int) -> World:
    """Falls that leave little for long."""
    words = f"the household is silent and a fall leaves 3 to 15 % for {seconds} s in the mean"
    return World("outage", words, NOTHING, left=(0.03, 0.15), fall_s=float(seconds))


def busy(every: str) -> World:
    """A household that loads more."""
    return World(
        "busy", f"the household loads 1 MB every {every[:-1]} s", ("1MB", every)
    )


def sqp(name: str, words: str, round_trips: float) -> Reading:
    """SQP with another memory of the least delay than two round trips."""
    words = f"SQP remembers {words} for the least delay"
    return Reading("sqp", f"sqp-{name}", words, f"min_delay_rtts = {round_trips}")


def copa(ms: int) -> Reading:
    """Copa with another memory of the least round trip than ten seconds."""
    words = f"Copa remembers the least round trip for {ms} ms"
    params = f'delta = 0.1, min_rtt_window = "{ms}ms"'
    return Reading("copa", f"copa-{ms}", words, params)


def salsify_memory(ms: int) -> Reading:
    """Salsify with another memory of the least round trip than the whole session."""
    words = f"Salsify remembers the least round trip for {ms} ms"
    return Reading("salsify", f"salsify-{ms}", words, f'min_rtt_window = "{ms}ms"')


def salsify(name: str, words: str, params: str) -> Reading:
    """Salsify with another weight of the newest packet than a tenth."""
    words = f"{words} of Salsify's mean is the newest packet"
    return Reading("salsify", f"salsify-{name}", words, params)


HALF = sqp("half", "half a round trip", 0.5)
FREE = Reading(
    "copa",
    "copa-rate",
    "Copa's window sets the rate and holds no packet back",
    "delta = 0.1, window = false, subtract_waiting = false",
)
UNBOUNDED = Reading(
    "salsify",
    "salsify-unbounded",
    "a quarter of Salsify's mean is the newest packet and nothing bounds its growth",
    "smoothing = 0.25, application_headroom = 1000.0",
)
# Over the median path the budget is 27 ms if Salsify's D_min is the least round trip, and 22 ms if it is the least delay
# of the way there.
BUDGET = Reading(
    "salsify", "salsify-budget", "Salsify's budget is 25 ms", 'budget = "25ms"'
)
# Surroundings, and the readings of the rivals that are tried in them; a name stands for the default.
TRIED: dict[str, list[tuple[World, list[Reading | str]]]] = {
    "ethernet": [
        (PLAIN, [HALF, copa(80), copa(115), copa(130), BUDGET]),
        (SILENT, ["pudica", copa(60), copa(130)]),
        (NOISY, ["pudica", HALF, salsify_memory(20)]),
        (DEEP, ["sqp"]),
        (DEEPER, ["salsify"]),
        (DEEPEST, ["salsify"]),
        (LONG, ["pudica"]),
        (outage(8), ["pudica"]),
        (busy("3s"), ["copa", "salsify", "sqp"]),
    ],
    "wifi": [
        (
            PLAIN,
            [
                *(sqp("one", "one round trip", 1.0), HALF),
                sqp("twentieth", "a twentieth of a round trip", 0.05),
                sqp("fiftieth", "a fiftieth of a round trip", 0.02),
                salsify("fifth", "a fifth", "smoothing = 0.2"),
                salsify("quarter", "a quarter", "smoothing = 0.25"),
                *(UNBOUNDED, FREE, copa(55), copa(80), copa(90)),
            ],
        ),
        (SILENT, ["pudica"]),
        (BRIEF, ["pudica"]),
        (outage(3), ["pudica"]),
        (DEEPEST, ["pudica"]),
        (busy("2.5s"), ["copa"]),
    ],
}


def has_pudica(condition: Condition) -> bool:
    """Whether Pudica's sessions are there in the same surroundings."""
    return condition.world == PLAIN or any(
        world == condition.world and "pudica" in readings
        for world, readings in TRIED[condition.medium]
    )


def conditions() -> list[Condition]:
    """All conditions."""
    return [
        Condition(medium, world, reading)
        if isinstance(reading, str)
        else Condition(medium, world, reading.controller, reading)
        for medium, tried in TRIED.items()
        for world, readings in tried
        for reading in readings
    ]
