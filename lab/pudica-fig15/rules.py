"""The numerical simulation of Pudica's Fig. 15: two flows under the bare rules, without packets and queues.

`python3 lab/pudica-fig15/rules.py FILE` writes the verdicts on appendix C as a suite's. A step is a frame. The
flows have shares x1 and x2 of the link, whose use R is their sum. Up to 0.85 all schemes multiply by eq. 7 and 8.
Above it AI/MD adds a constant, and lowers both flows by 15 % where R is above one; AI-MD adds I - 0.05 x (eq. 9 and
10), where I begins anew when R is above one and every five seconds. The text names neither the size nor the growth
of steps here: a fixed point of half of the link in all, and constants below. Flows begin at uneven shares that a
seed draws, and observe R as it was a feedback delay ago.
"""

import json
import random
import sys
from pathlib import Path

SEEDS = range(1, 17)
STEPS = 2400
FEEDBACK = 3
ALPHA, GAMMA_MI, GAMMA_MD, BACKOFF = 0.85, 0.3, 0.05, 0.15
RESET = 300
# Ours: the additive step of AI/MD, and how fast I grows, in shares of the link.
ADD = 0.002
GROWTH = 0.0002
# The least flow has four fifths of the most (section 5.3).
EVEN = 0.8
SCHEMES = ["AI/MD", "AI-MD", "AI-MD, step alike"]


def run(
    scheme: str, seed: int, add: float = ADD, steps: int = STEPS
) -> dict[str, float]:
    """Percent of steps above the link's rate, mean queue in frames, and steps until even."""
    draw = random.Random(seed)
    flows = [draw.uniform(0.4, 0.6), draw.uniform(0.05, 0.2)]
    growth = [0.0, 0.0]
    seen = [sum(flows)] * FEEDBACK
    above, queue, waiting, even = 0, 0.0, 0.0, None
    for step in range(steps):
        used = seen[step % FEEDBACK]
        seen[step % FEEDBACK] = sum(flows)
        if used > 1 or step % RESET == 0:
            growth = [0.0, 0.0]
        for index, x in enumerate(flows):
            if used <= ALPHA:
                if step % FEEDBACK == 0:
                    flows[index] *= 1 + GAMMA_MI * ((ALPHA + 1) / 2 - used) / used
            elif scheme == "AI/MD":
                if used <= 1:
                    flows[index] += add
                elif step % FEEDBACK == 0:
                    flows[index] *= 1 - BACKOFF
            else:
                times = 1.0 if scheme.endswith("alike") else 0.5 / x
                growth[index] += GROWTH * times
                flows[index] += GAMMA_MD / 4 + growth[index] - GAMMA_MD * x
        total = sum(flows)
        above += total > 1
        waiting = max(waiting + total - 1, 0.0)
        queue += waiting
        if even is None and min(flows) >= EVEN * max(flows):
            even = step
    until = steps if even is None else even
    jain = sum(flows) ** 2 / (2 * sum(x * x for x in flows))
    return {
        "time above the link's rate": 100 * above / steps,
        "mean queue": queue / steps,
        "even after": until / 60,
        "Jain's index": jain,
    }


# Text, quantity, scheme, the other scheme, and whether more is claimed.
CLAIMS = [
    (
        "AI-MD reduces the occurrences of over-sending",
        "time above the link's rate",
        1,
        0,
        False,
    ),
    ("AI-MD lowers the average queueing delay", "mean queue", 1, 0, False),
    ("AI-MD speeds up fairness convergence", "even after", 1, 0, False),
    (
        "A step that depends on the bitrate speeds up convergence further",
        "even after",
        1,
        2,
        False,
    ),
    (
        "A step that depends on the bitrate ends nearer to the fairness line",
        "Jain's index",
        1,
        2,
        True,
    ),
]
# The claims that do not hold so, with a larger additive step of AI/MD, and at the end of the first second: the
# name of the rules, the claim, the step and how many steps.
OTHERWISE = [
    ("bare rules with a step of 0.3 %", CLAIMS[1], 0.003, STEPS),
    ("bare rules after a second", CLAIMS[4], ADD, 60),
]
UNITS = {
    "time above the link's rate": ("%", 1),
    "mean queue": ("frames", 4),
    "even after": ("s", 2),
    "Jain's index": ("", 5),
}


def verdict(
    claim: tuple[str, str, int, int, bool],
    name: str = "bare rules",
    add: float = ADD,
    steps: int = STEPS,
) -> dict:
    """A claim's verdict, as the lab writes it."""
    text, quantity, of, than, is_more = claim

    def measured(scheme: int, seed: int) -> float:
        return run(SCHEMES[scheme], seed, add, steps)[quantity]

    runs = [(measured(of, seed), measured(than, seed)) for seed in SEEDS]
    held = sum(here > other if is_more else here < other for here, other in runs)
    values = sorted(here for here, _ in runs)
    quarter = len(values) // 4
    here, other = (sum(side) / len(runs) for side in zip(*runs, strict=True))
    in_mean = here > other if is_more else here < other
    unit, digits = UNITS[quantity]
    return {
        "claim": text if name == "bare rules" else f"{text}: {name}",
        "source": "this suite: appendix C, Fig. 15",
        "quantity": quantity,
        "of": f"{name}, {SCHEMES[of]}, {quantity}",
        "criterion": f"{'above' if is_more else 'below'} that of {SCHEMES[than]}",
        "paper": None,
        "here": round(here, 6),
        "low": round(values[quarter - 1], 6),
        "high": round(values[-quarter], 6),
        "other": round(other, 6),
        "unit": unit,
        "digits": digits,
        "holds": in_mean and 4 * held >= 3 * len(runs),
        "seeds_held": held,
        "seeds": len(runs),
    }


def main() -> None:
    """Writes the verdicts."""
    verdicts = [verdict(claim) for claim in CLAIMS]
    verdicts += [
        verdict(claim, name, add, steps) for name, claim, add, steps in OTHERWISE
    ]
    text = json.dumps(verdicts, indent=2) + "\n"
    Path(sys.argv[1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
