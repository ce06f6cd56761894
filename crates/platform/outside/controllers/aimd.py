"""A small controller in Python: more by a step, and less at loss or delay.

As a program it is the controller `process:python3 aimd.py`; as a module its class is a controller
for `mimosa_lab.run(controller=Aimd)`. `aimd.rs` is its twin as a WebAssembly module and component, and decides the
same. All numbers are whole, so that they travel exactly.
"""

import json
import sys

# Delay above the least one from which the controller gives way, and from which it limits frames.
QUEUE_NS, LIMIT_NS = 30_000_000, 35_000_000
# Time without an event after which the controller gives way.
SILENCE_NS = 50_000_000
# Frames from one group of probes to the next.
PROBE_FRAMES = 30


class Aimd:
    def __init__(self, limits, params=None):
        self.limits = limits
        self.step_bps = (params or {}).get("step_bps", 20_000)
        self.target = limits["start_bps"]
        self.base = None
        self.delay = 0
        self.cause = "start"
        self.pacing = {"kind": "burst"}

    def scale(self, numerator, denominator):
        least = self.limits["min_bps"]
        self.target = max(self.target * numerator // denominator, least)

    def feedback(self, reports):
        lost = any(report["arrived_ns"] is None for report in reports)
        delays = [
            report["arrived_ns"] - report["sent_ns"]
            for report in reports
            if report["arrived_ns"] is not None
        ]
        if delays:
            least = min(delays)
            self.base = least if self.base is None else min(self.base, least)
            self.delay = max(delays) - self.base
        if lost:
            self.scale(7, 10)
            self.cause = "loss"
            self.pacing = {"kind": "spread", "over_ns": 8_000_000, "lead": 2}
        elif self.delay > QUEUE_NS:
            self.scale(17, 20)
            self.cause = "queue-delay"
            self.pacing = {
                "kind": "bucket",
                "rate_bps": 2 * self.target,
                "burst_bytes": 2_400,
            }
        elif delays:
            most = self.limits["max_bps"]
            self.target = min(self.target + self.step_bps, most)
            self.cause = "additive-increase"

    def handle(self, now_ns, event):
        """The decision after an event; `None` changes nothing."""
        kind = event["kind"]
        if kind == "feedback":
            self.feedback(event["reports"])
        elif kind == "timer":
            self.scale(19, 20)
            self.cause = "feedback-timeout"
        elif kind != "frame-due":
            return None
        decision = {
            "target_bps": self.target,
            "window_bytes": max(self.target // 32, 20_000),
            "pacing": self.pacing,
            "cause": self.cause,
            "timer_ns": now_ns + SILENCE_NS,
        }
        if kind == "frame-due":
            if self.delay > LIMIT_NS:
                bits = self.target * (event["interval_ns"] // 1_000) // 1_000_000
                decision["frame_limit_bytes"] = bits // 16
            if event["frame"] % PROBE_FRAMES == 0:
                decision["probe"] = {
                    "id": event["frame"],
                    "packets": 3,
                    "interval_ns": 200_000,
                    "size_bytes": 200,
                    "after_frame": event["frame"],
                }
        return decision


def main():
    controller = None
    for line in sys.stdin:
        told = json.loads(line)
        answer = {"seq": told["seq"]}
        if controller is None:
            controller = Aimd(told["limits"], told["params"])
        else:
            answer["decision"] = controller.handle(told["now_ns"], told["event"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
