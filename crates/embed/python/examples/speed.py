"""How fast environments and a controller in Python run, on one core."""

import importlib.util
import time
from pathlib import Path

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


def events() -> float:
    """Events a second that a controller in Python takes, the simulation around it included."""
    place = "crates/platform/outside/controllers/aimd.py"
    spec = importlib.util.spec_from_file_location(
        "aimd", Path(__file__).resolve().parents[4] / place
    )
    aimd = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(aimd)
    told = 0

    class Counting(aimd.Aimd):
        def handle(self, now_ns, event):
            nonlocal told
            told += 1
            return super().handle(now_ns, event)

    begun = time.perf_counter()
    lab.run(SCENARIO, controller=Counting)
    return told / (time.perf_counter() - begun)


def main() -> None:
    print(f"a controller in Python: {events():.0f} events a second")
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
