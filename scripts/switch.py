"""Fills docs/results/switch.md: a stream's bursts at a switch with little room.

python3 scripts/switch.py

The tables are those of experiments/switch.toml with other rates, frame rates, ports and buffers. MIMOSA
names the program; without it, target/play/mimosa.
"""

import json
import subprocess

from played import MIMOSA, ROOT, fill

PAGE = ROOT / "docs" / "results" / "switch.md"
BASE = ROOT / "experiments" / "switch.toml"
SEEDS = "1..4"
SENDERS = {
    "burst": 'flow.pacer = "burst"',
    "800 Mbit/s": 'flow.pacer = "800Mbit/s"',
    "WebRTC": 'flow.pacer = "webrtc"',
    "Mimosa": 'flow.controller = "mimosa"',
}
PORTS = {"1 Gbit/s": (20, 50, 100, 150), "100 Mbit/s": (20, 50, 80)}
BUFFERS = (16, 64, 256)
FRAME_RATES = (60, 120, 240)


def variants() -> dict[tuple, str]:
    """The text of each variant by port, Mbit/s, frames a second, sender and kB of buffer."""
    texts = {}
    for port, rates in PORTS.items():
        for rate in rates:
            for frames in FRAME_RATES:
                for sender, keys in SENDERS.items():
                    for buffer in BUFFERS:
                        case = (port, rate, frames, sender, buffer)
                        texts[case] = f"""
[[variant]]
name = "{len(texts)}"
{keys}
flow.fps = {frames}
flow.min_bitrate = "{rate}Mbit/s"
flow.start_bitrate = "{rate}Mbit/s"
flow.max_bitrate = "{rate}Mbit/s"

[[variant.link.next]]
rate = "{port.replace(" ", "")}"
queue = {{ kind = "droptail", limit = "{buffer}kB" }}
"""
    return texts


def simulated() -> dict[tuple, dict[str, float]]:
    """Means over the seeds of each variant: packets lost and frames not whole, both in %, and the
    99th percentile of the others' delay in ms."""
    texts = variants()
    base = BASE.read_text(encoding="utf-8").split("[[variant]]")[0]
    scenario = ROOT / "out" / "switch.toml"
    scenario.parent.mkdir(exist_ok=True)
    scenario.write_text(base + "".join(texts.values()), encoding="utf-8")
    words = [MIMOSA, "sim", scenario, "--seeds", SEEDS, "--from", "1s", "--json", "-"]
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    cases = list(texts)
    runs: dict[tuple, list[dict]] = {}
    for line in lines.splitlines():
        run = json.loads(line)
        runs.setdefault(cases[int(run["variant"])], []).append(run["flows"][0])
    means = {}
    for case, flows in runs.items():
        delays = [flow["frame_delay_ms"] for flow in flows]
        delays = [delay["p99"] for delay in delays if delay]
        means[case] = {
            "lost": 100 * sum(flow["loss_rate"] for flow in flows) / len(flows),
            "not whole": 100 * sum(flow["stall_200ms"] for flow in flows) / len(flows),
            "p99": sum(delays) / len(delays) if delays else float("nan"),
        }
    return means


def share(value: float) -> str:
    """A share in % with as many digits as it needs."""
    return "0" if value == 0 else f"{value:.2f}" if value < 1 else f"{value:.0f}"


def not_whole(means: dict, port: str) -> list[str]:
    """The table of frames that did not come whole behind one kind of port."""
    sizes = ", ".join(str(buffer) for buffer in BUFFERS)
    lines = [
        f"| Mbit/s | frames a second | {' | '.join(SENDERS)} |",
        "|--:|--:|" + "--:|" * len(SENDERS),
    ]
    for rate in PORTS[port]:
        for frames in FRAME_RATES:
            cells = [
                ", ".join(
                    share(means[(port, rate, frames, sender, buffer)]["not whole"])
                    for buffer in BUFFERS
                )
                for sender in SENDERS
            ]
            lines.append(f"| {rate} | {frames} | {' | '.join(cells)} |")
    return [f"Frames not whole, in %, with buffers of {sizes} kB:", "", *lines]


def lost(means: dict) -> list[str]:
    """The table of lost packets and of delays at 60 frames a second."""
    lines = [
        f"| port | Mbit/s | {' | '.join(SENDERS)} |",
        "|---|--:|" + "--:|" * len(SENDERS),
    ]
    for port, rates in PORTS.items():
        for rate in rates:
            cells = []
            for sender in SENDERS:
                of = means[(port, rate, 60, sender, 64)]
                delay = "-" if of["not whole"] > 99 else f"{of['p99']:.1f}"
                cells.append(f"{share(of['lost'])}; {delay}")
            lines.append(f"| {port} | {rate} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Runs what is asked for, and writes the page."""
    means = simulated()
    for port in PORTS:
        fill(PAGE, f"not whole: {port}", not_whole(means, port))
    fill(PAGE, "lost", lost(means))


if __name__ == "__main__":
    main()
