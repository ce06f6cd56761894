"""Train a controller by proximal policy optimisation, and judge it on media that it never saw.

    python examples/ppo.py [--updates 180] [--seed 1] [--out FOLDER]

It trains on a link that serves in turns, on a cell and on a path with jitter, from the suite
`last-mile` in the folder `lab` of the repository, and is judged on those, with other seeds, and on
Wi-Fi, a cable modem and a satellite link. `curve.csv` has the mean reward by training time, and
`judgement.csv` the figures of the learner, of Mimosa and of Pudica on each medium. An update takes
half a second of one core; the same seed gives the same policy where NumPy gives the same sums.

The method is that of Schulman et al., "Proximal Policy Optimization Algorithms" (2017), with the
advantages of their equation 11. Network, gradients and optimiser are NumPy alone.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from pathlib import Path

import mimosa_lab as lab
import numpy as np
from mimosa_lab.environment import MOST, PACE, SCALE, SessionVectorEnv

LAB = Path(__file__).resolve().parents[4] / "lab" / "last-mile"
TRAINED = ["turns", "cell", "jitter"]
UNSEEN = ["wifi", "cable", "satellite"]
#: Observations that the policy sees at once: the newest, and those of frames before.
HISTORY = 4
HIDDEN = 64
SESSIONS = 48
STEPS = 128
EPOCHS = 4
MINIBATCHES = 8
GAMMA, LAMBDA, CLIP, RATE, ENTROPY = 0.97, 0.95, 0.2, 3e-4, 1e-3


class Network:
    """Two hidden layers of tanh, with the gradient by hand and Adam."""

    def __init__(
        self, random: np.random.Generator, inputs: int, outputs: int, last: float
    ) -> None:
        sizes = [inputs, HIDDEN, HIDDEN, outputs]
        gains = [1.0, 1.0, last]
        self.parts = []
        for rows, columns, gain in zip(sizes, sizes[1:], gains, strict=False):
            self.parts.append(random.normal(0, gain / math.sqrt(rows), (rows, columns)))
            self.parts.append(np.zeros(columns))

    def forward(self, inputs: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        layers = [inputs]
        for place in (0, 2):
            layers.append(
                np.tanh(layers[-1] @ self.parts[place] + self.parts[place + 1])
            )
        return layers[-1] @ self.parts[4] + self.parts[5], layers

    def backward(self, layers: list[np.ndarray], slope: np.ndarray) -> list[np.ndarray]:
        gradients: list[np.ndarray] = []
        for place in (4, 2, 0):
            before = layers[place // 2]
            gradients = [before.T @ slope, slope.sum(0), *gradients]
            if place:
                slope = (slope @ self.parts[place].T) * (1 - before**2)
        return gradients


class Adam:
    """The optimiser of Kingma and Ba (2015), with their defaults."""

    def __init__(self, parts: list[np.ndarray]) -> None:
        self.parts = parts
        self.first = [np.zeros_like(part) for part in parts]
        self.second = [np.zeros_like(part) for part in parts]
        self.steps = 0

    def step(self, gradients: list[np.ndarray]) -> None:
        norm = math.sqrt(sum(float((gradient**2).sum()) for gradient in gradients))
        scale = min(1.0, 0.5 / (norm + 1e-8))
        self.steps += 1
        for part, first, second, gradient in zip(
            self.parts, self.first, self.second, gradients, strict=True
        ):
            gradient = gradient * scale
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            one, two = 1 - 0.9**self.steps, 1 - 0.999**self.steps
            part -= RATE * (first / one) / (np.sqrt(second / two) + 1e-8)


class Policy:
    """A normal distribution of actions around the network's output."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        inputs = HISTORY * len(SCALE)
        self.mean = Network(self.random, inputs, 3, 0.01)
        self.value = Network(self.random, inputs, 1, 1.0)
        self.spread = np.full(3, -0.7)
        self.by_mean = Adam([*self.mean.parts, self.spread])
        self.by_value = Adam(self.value.parts)

    def act(self, seen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        mean, _ = self.mean.forward(seen)
        action = mean + np.exp(self.spread) * self.random.normal(size=mean.shape)
        return action, self.likelihood(action, mean), self.value.forward(seen)[0][:, 0]

    def likelihood(self, action: np.ndarray, mean: np.ndarray) -> np.ndarray:
        apart = (action - mean) / np.exp(self.spread)
        return -0.5 * (apart**2).sum(1) - self.spread.sum()

    def learn(self, seen, action, before, advantage, worth) -> None:
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        mean, layers = self.mean.forward(seen)
        ratio = np.exp(np.clip(self.likelihood(action, mean) - before, -20, 20))
        is_free = np.where(advantage > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
        weight = -(advantage * ratio * is_free)[:, None] / len(seen)
        variance = np.exp(2 * self.spread)
        apart = action - mean
        gradients = self.mean.backward(layers, weight * apart / variance)
        by_spread = (weight * (apart**2 / variance - 1)).sum(0) - ENTROPY
        self.by_mean.step([*gradients, by_spread])
        value, layers = self.value.forward(seen)
        slope = (value[:, 0] - worth)[:, None] / len(seen)
        self.by_value.step(self.value.backward(layers, slope))


class Seen:
    """The newest observations of each session, oldest first."""

    def __init__(self, first: np.ndarray) -> None:
        self.all = np.repeat(first[:, None], HISTORY, 1)

    def push(self, newest: np.ndarray, over: np.ndarray) -> None:
        self.all = np.concatenate([self.all[:, 1:], newest[:, None]], 1)
        self.all[over] = newest[over][:, None]

    def flat(self) -> np.ndarray:
        return self.all.reshape(len(self.all), -1).astype(np.float64)


def train(
    policy: Policy, scenarios: list[lab.Scenario], updates: int, seed: int
) -> list[tuple]:
    """Train, and return the curve: seconds, virtual hours, mean reward of a step."""
    env = SessionVectorEnv(scenarios, SESSIONS, seed=1_000_000 * seed, rate=4.0)
    seen = Seen(env.reset()[0])
    begun = time.monotonic()
    curve, frames = [], 0
    for _ in range(updates):
        kept = [[] for _ in range(6)]
        for _ in range(STEPS):
            flat = seen.flat()
            action, likelihood, value = policy.act(flat)
            observation, reward, _, over, _ = env.step(action)
            for place, part in zip(
                kept, (flat, action, likelihood, value, reward, over), strict=True
            ):
                place.append(part)
            seen.push(observation, over)
        flat, action, likelihood, value, reward, over = (
            np.array(part) for part in kept
        )
        following = np.concatenate([value[1:], policy.act(seen.flat())[2][None]])
        advantage, behind = np.zeros_like(value), 0.0
        for place in reversed(range(STEPS)):
            on = 1.0 - over[place]
            error = reward[place] + GAMMA * following[place] * on - value[place]
            behind = error + GAMMA * LAMBDA * on * behind
            advantage[place] = behind
        worth = advantage + value
        data = [
            part.reshape(STEPS * SESSIONS, *part.shape[2:])
            for part in (
                flat,
                action,
                likelihood,
                advantage,
                worth,
            )
        ]
        for _ in range(EPOCHS):
            for chosen in np.array_split(
                policy.random.permutation(STEPS * SESSIONS), MINIBATCHES
            ):
                policy.learn(*(part[chosen] for part in data))
        frames += STEPS * SESSIONS
        curve.append(
            (time.monotonic() - begun, frames / 60 / 3600, float(reward.mean()))
        )
    return curve


def learnt(policy: Policy):
    """The policy for `mimosa_lab.run`, without the noise of training."""

    def begin(limits: dict[str, int]):
        low = math.log(limits["min_bps"] / 1e6)
        span = math.log(limits["max_bps"] / 1e6) - low
        seen: list[Seen] = []

        def act(observation: list[float]) -> tuple[float, float, float]:
            newest = np.clip(np.array([observation]) / SCALE, -MOST, MOST)
            if seen:
                seen[0].push(newest, np.array([False]))
            else:
                seen.append(Seen(newest))
            target, limit, pace = np.clip(
                policy.mean.forward(seen[0].flat())[0][0], -1, 1
            )
            rate = math.exp(low + span * (target + 1) / 2)
            return rate, float(limit) + 1, 1 + (PACE - 1) * (float(pace) + 1) / 2

        return act

    return begin


def judge(policy: Policy, seeds: range) -> list[dict]:
    """The figures of the first flow on each medium, as means over its variants and the seeds."""
    rows = []
    for medium in TRAINED + UNSEEN:
        scenario = lab.Scenario.load(LAB / f"{medium}.toml")
        for name, chosen in {
            "learnt": {"policy": learnt(policy)},
            "mimosa": {"controller": "mimosa"},
            "pudica": {"controller": "pudica"},
        }.items():
            result = lab.run(scenario, seeds=seeds, **chosen)
            flows = [run["flows"][0] for run in result.figures]
            valid = np.array([flow["valid_bitrate_mbps"] or 0.0 for flow in flows])
            late = np.array([flow["stall_50ms"] or 0.0 for flow in flows])
            error = 1.96 / math.sqrt(len(flows))
            rows.append(
                {
                    "medium": medium,
                    "seen in training": "yes" if medium in TRAINED else "no",
                    "controller": name,
                    "runs": len(flows),
                    "valid Mbit/s": round(valid.mean(), 2),
                    "its 95 % interval": round(error * valid.std(ddof=1), 2),
                    "frames above 50 ms, %": round(100 * late.mean(), 2),
                    "their 95 % interval": round(100 * error * late.std(ddof=1), 2),
                }
            )
    return rows


def write(path: Path, rows: list) -> None:
    """Write a table with a head, of dictionaries."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--updates", type=int, default=180, help="updates of the policy"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of training")
    parser.add_argument("--seeds", type=int, default=8, help="seeds to judge with")
    parser.add_argument(
        "--out", type=Path, default=Path("out/ppo"), help="folder of the tables"
    )
    args = parser.parse_args()
    policy = Policy(args.seed)
    scenarios = [lab.Scenario.load(LAB / f"{medium}.toml") for medium in TRAINED]
    curve = train(policy, scenarios, args.updates, args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    names = ("seconds", "virtual hours", "mean reward")
    write(
        args.out / "curve.csv",
        [
            dict(zip(names, (round(number, 4) for number in row), strict=True))
            for row in curve
        ],
    )
    rows = judge(policy, range(1, args.seeds + 1))
    write(args.out / "judgement.csv", rows)
    for row in rows:
        print(*row.values(), sep="\t")


if __name__ == "__main__":
    main()
