"""Fills the table of docs/how-it-works/encoder.md about encoders across a link.

python3 scripts/encoders.py

The demo's scene from a host to a headless native client across a link of 20 Mbit/s with a round trip of 20 ms,
coded by each encoder in turn, RUNS times; medians are written. The scene takes all it is granted. MIMOSA names
the program; without it, target/play/mimosa. Times are this machine's: run it when nothing else runs.
"""

from statistics import median

from played import ROOT, fill, play

SECONDS = 15
RUNS = 3
ROUND_TRIP = 20

NETWORK = """
[link]
rate = "20Mbit/s"
one_way_delay = "10ms"
queue = { kind = "droptail", limit = "500kB" }
"""

# Name and flags of the host.
X264 = ["--encoder", "x264"]
GSTREAMER = ["--encoder", "gstreamer", "--encoder-element"]
ENCODERS = (
    ("libx264 c0, in parts", X264),
    ("libx264 c0, whole", [*X264, "--encoder-parts", "1"]),
    ("libx264 c0, strict", [*X264, "--frame-sizes", "strict"]),
    ("libx264 c0+, in parts", [*X264, "--encoder-complexity", "c0+"]),
    ("libx264 c1, in parts", [*X264, "--encoder-complexity", "c1"]),
    ("libx264 c2, in parts", [*X264, "--encoder-complexity", "c2"]),
    ("OpenH264", ["--encoder", "openh264"]),
    ("SVT-AV1", ["--encoder", "svt-av1"]),
    ("GStreamer's x264enc", [*GSTREAMER, "x264enc"]),
    ("GStreamer's x265enc", [*GSTREAMER, "x265enc"]),
)
COLUMNS = (
    "encoded a second",
    "bitrate, Mbit/s",
    "of its grants, %",
    "frames above what they might have, %",
    "keyframes",
    "encoding, ms: p50",
    "p95",
    "frame delay less RTT, ms: p50",
    "p95",
)


def figures(flags: list[str]) -> list[float]:
    """What the columns say of one run of a host with these flags."""
    host = [*flags, "--finest-quantiser", "1", "--relief", "off"]
    report = play(NETWORK, host, SECONDS, record=True)["host"]
    encoder, delay = report["encoder"], report["frame_delay_ms"]
    return [
        report["frames"] / report["seconds"],
        report["bitrate_mbps"],
        100 * report["bitrate_mbps"] / report["target_mbps"],
        100 * report["budget_use"]["above"] / report["frames"],
        report["keyframes"],
        encoder["time_ms"]["p50"],
        encoder["time_ms"]["p95"],
        delay["p50"] - ROUND_TRIP,
        delay["p95"] - ROUND_TRIP,
    ]


def main() -> None:
    """Runs all, and writes the page."""
    runs: dict[str, list[list[float]]] = {name: [] for name, _ in ENCODERS}
    for _ in range(RUNS):
        for name, flags in ENCODERS:
            runs[name].append(figures(flags))
            print(name, [round(figure, 2) for figure in runs[name][-1]], flush=True)
    lines = [
        f"| encoder | {' | '.join(COLUMNS)} |",
        f"|---|{'--:|' * len(COLUMNS)}",
    ]
    for name, of_name in runs.items():
        cells = " | ".join(
            f"{median(column):.1f}" for column in zip(*of_name, strict=True)
        )
        lines.append(f"| {name} | {cells} |")
    fill(ROOT / "docs" / "how-it-works" / "encoder.md", "across a link", lines)


if __name__ == "__main__":
    main()
