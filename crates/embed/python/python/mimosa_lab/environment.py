"""Environments for learners: a video flow that is steered frame by frame.

An observation has what a controller may know when a frame is due (`mimosa_lab.OBSERVATION`), scaled
to numbers near one. An action has three numbers from -1 to 1: the target bitrate, on a logarithmic
scale between the flow's lowest and highest; the size limit of the frame, from none of the target's
share to twice that; and the pace, from one to five times the frame's interval.

The reward of a step is `rate` times the share of the highest bitrate that frames in time had, less
`late` for each late frame, less `delay` times their mean delay in deadlines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from . import OBSERVATION, Scenario, _native

#: What each number of an observation is divided by: rates, in Mbit/s, and times, in milliseconds.
SCALE = np.array([20, 20, 50, 50, 1, 1, 50, 50, 50, 20, 20], dtype=np.float32)
#: Beyond this many times its scale, a number says no more.
MOST = 20.0
#: The highest pace.
PACE = 5.0


def _rewards(
    rate: float, late: float, delay: float, deadline_ms: float
) -> tuple[float, ...]:
    return (rate, late, delay, deadline_ms)


def _scaled(values: np.ndarray) -> np.ndarray:
    return np.clip(values / SCALE, -MOST, MOST).astype(np.float32)


def _spaces() -> tuple[gymnasium.spaces.Box, gymnasium.spaces.Box]:
    observation = gymnasium.spaces.Box(-MOST, MOST, (len(OBSERVATION),), np.float32)
    return observation, gymnasium.spaces.Box(-1.0, 1.0, (3,), np.float32)


class SessionEnv(gymnasium.Env):
    """One session, which ends with the scenario.

    Each `reset` begins with the next seed, or with the one that it is given. `info` has, of the frames
    that ended during a step, how many there are (`frames`), how many were `late`, the bytes of those
    in time (`in_time_bytes`) and the sum of their delays (`delay_ms`); and with `oracle` the `regret`.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        scenario: Scenario,
        *,
        seed: int = 1,
        flow: int | None = None,
        variant: str | None = None,
        rate: float = 1.0,
        late: float = 1.0,
        delay: float = 0.1,
        deadline_ms: float = 50.0,
        oracle: bool = False,
    ) -> None:
        self.observation_space, self.action_space = _spaces()
        self._scenario = scenario
        self._next = seed
        self._chosen = (flow, variant)
        self._rewards = _rewards(rate, late, delay, deadline_ms)
        self._oracle = oracle
        self._episode: _native.Episode | None = None
        self._low = self._span = 0.0
        self._last = np.zeros(len(OBSERVATION), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            self._next = seed
        flow, variant = self._chosen
        self._episode = _native.Episode(
            self._scenario._native,
            self._next,
            flow,
            variant,
            self._rewards,
            self._oracle,
        )
        self._next += 1
        low, _, high = self._episode.limits
        self._low, self._span = math.log(low), math.log(high / low)
        self._last = _scaled(np.array(self._episode.first))
        return self._last, {}

    def step(
        self, action: np.ndarray
    ) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        if self._episode is None:
            raise RuntimeError("call `reset` before the first `step`")
        target, limit, pace = (min(max(float(part), -1.0), 1.0) for part in action)
        stepped = self._episode.step(
            math.exp(self._low + self._span * (target + 1) / 2),
            limit + 1,
            1 + (PACE - 1) * (pace + 1) / 2,
        )
        if stepped is None:
            return self._last, 0.0, False, True, {}
        values, reward, (frames, late, in_time, delay), regret = stepped
        self._last = _scaled(np.array(values))
        info = {
            "frames": frames,
            "late": late,
            "in_time_bytes": in_time,
            "delay_ms": delay,
        }
        if regret is not None:
            info["regret"] = regret
        return self._last, reward, False, False, info


class SessionVectorEnv(VectorEnv):
    """Many sessions that are stepped at once, over a list of scenarios.

    A session that ends is truncated and begins anew at once, with the next seed, which chooses the
    scenario and its variant as well; the observation is that of the new session. With `oracle`, `info` has the
    `regret` of each session's step.
    """

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(
        self,
        scenarios: Sequence[Scenario],
        num_envs: int,
        *,
        seed: int = 1,
        rate: float = 1.0,
        late: float = 1.0,
        delay: float = 0.1,
        deadline_ms: float = 50.0,
        oracle: bool = False,
    ) -> None:
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = _spaces()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._scenarios = [scenario._native for scenario in scenarios]
        self._rewards = _rewards(rate, late, delay, deadline_ms)
        self._oracle = oracle
        self._seed = seed
        self._begin()

    def _begin(self) -> None:
        self._episodes = _native.Episodes(
            self._scenarios, self.num_envs, self._seed, self._rewards, self._oracle
        )
        self._limits()

    def _limits(self) -> None:
        limits = np.log(np.array(self._episodes.limits(), np.float32))
        self._low, self._span = limits[:, 0], limits[:, 1] - limits[:, 0]

    def _observations(self, packed: bytes) -> np.ndarray:
        shape = (self.num_envs, len(OBSERVATION))
        return _scaled(np.frombuffer(packed, "<f4").reshape(shape))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        if seed is not None:
            self._seed = seed
        self._begin()
        return self._observations(self._episodes.first()), {}

    def step(
        self, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        actions = np.clip(actions, -1.0, 1.0)
        physical = np.empty((self.num_envs, 3), "<f4")
        physical[:, 0] = np.exp(self._low + self._span * (actions[:, 0] + 1) / 2)
        physical[:, 1] = actions[:, 1] + 1
        physical[:, 2] = 1 + (PACE - 1) * (actions[:, 2] + 1) / 2
        observations, rewards, over, regrets = self._episodes.step(physical.tobytes())
        over = np.frombuffer(over, "<f4") > 0
        if over.any():
            self._limits()
        rewards = np.frombuffer(rewards, "<f4").astype(np.float64)
        info = {}
        if self._oracle:
            info["regret"] = np.frombuffer(regrets, "<f4").astype(np.float64)
            info["_regret"] = ~over
        never = np.zeros_like(over)
        return self._observations(observations), rewards, never, over, info
