"""How many times faster than real time the environments run, on one core."""

import time

import mimosa_lab as lab
import numpy as np
from mimosa_lab.environment import SessionEnv, SessionVectorEnv

FPS = 60
SCENARIO = lab.Scenario(
    {
        "duration": "60s",
        "link": {"rate": "20Mbit/s", "one_way_delay": "10ms"},
        "flow": [{"fps": FPS}],
    }
)


def speed(env: SessionEnv | SessionVectorEnv, action: np.ndarray, steps: int) -> float:
    """Steps a second over five tries, of which the median counts."""
    rates = []
    for _ in range(5):
        env.reset()
        begun = time.perf_counter()
        for _ in range(steps):
            env.step(action)
        rates.append(steps / (time.perf_counter() - begun))
    return sorted(rates)[2]


def main() -> None:
    one = speed(SessionEnv(SCENARIO), np.array([0.2, 0.0, 0.0]), 3000)
    print(f"one session: {one:.0f} steps a second, {one / FPS:.0f} times real time")
    many = 64
    actions = np.tile(np.array([0.2, 0.0, 0.0], np.float32), (many, 1))
    all_of_them = many * speed(SessionVectorEnv([SCENARIO], many), actions, 600)
    print(
        f"{many} at once: {all_of_them:.0f} steps a second, {all_of_them / FPS:.0f} times real time"
    )


if __name__ == "__main__":
    main()
