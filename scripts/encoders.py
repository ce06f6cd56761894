"""Fills the tables of docs/how-it-works/encoder.md about encoders across a link.

python3 scripts/encoders.py [rates] [quality]

The demo's scene from a host to a headless native client across a link with a round trip of 20 ms, coded by each
encoder in turn. The scene takes all it is granted. `rates`: how much of a link of 20 Mbit/s each uses, and how late
its frames are, in medians of RUNS runs. `quality`: what its pictures are like over 6 Mbit/s, by VMAF, of one run.
Without either, both. MIMOSA names the program; without it, target/play/mimosa. Times are this machine's: run it when
nothing else runs.
"""

import json
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from statistics import mean, median, quantiles

from played import MIMOSA, ROOT, fill, play

PAGE = ROOT / "docs" / "how-it-works" / "encoder.md"
SECONDS = 15
RUNS = 3
ROUND_TRIP = 20
# Pictures that are kept for VMAF, and how many of them, the session's first, do not count.
PICTURES = 840
BEFORE = 300

NETWORK = """
[link]
rate = "{rate}Mbit/s"
one_way_delay = "10ms"
queue = {{ kind = "droptail", limit = "500kB" }}
"""

# Name and flags of the host.
# CABAC throughout: the adaptive choice would change to CAVLC over 20 Mbit/s.
X264 = ["--encoder", "x264", "--entropy-coding", "cabac"]
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
RATES = (
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
QUALITY = (
    "bitrate, Mbit/s",
    "of its grants, %",
    "VMAF: mean",
    "p5",
    "change a frame",
    "PSNR of Y, dB",
)


def hosted(rate: int, flags: list[str]) -> dict:
    """What a host with these flags recorded of a session across a link of so many Mbit/s."""
    host = [*flags, "--finest-quantiser", "1", "--relief", "off"]
    return play(NETWORK.format(rate=rate), host, SECONDS, record=True)["host"]


def use(report: dict) -> list[float]:
    """Bitrate in Mbit/s, and how much of the grants that is, in percent."""
    bitrate = report["bitrate_mbps"]
    return [bitrate, 100 * bitrate / report["target_mbps"]]


def rates(flags: list[str]) -> list[float]:
    """The columns of the first table of one run."""
    report = hosted(20, flags)
    encoder, delay = report["encoder"], report["frame_delay_ms"]
    return [
        report["frames"] / report["seconds"],
        *use(report),
        100 * report["budget_use"]["above"] / report["frames"],
        report["keyframes"],
        encoder["time_ms"]["p50"],
        encoder["time_ms"]["p95"],
        delay["p50"] - ROUND_TRIP,
        delay["p95"] - ROUND_TRIP,
    ]


def quality(flags: list[str]) -> list[float]:
    """The columns of the second table."""
    with tempfile.TemporaryDirectory() as name:
        pictures = Path(name) / "pictures"
        pictures.mkdir()
        kept = ["--record-pictures", str(pictures)]
        kept += ["--record-pictures-limit", str(PICTURES)]
        report = hosted(6, [*flags, *kept])
        (session,) = pictures.iterdir()
        out = Path(name) / "quality.json"
        words = [MIMOSA, "quality", "--recording", session]
        words += ["--metrics", "psnr,vmaf", "--json", out]
        subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
        (coded,) = (
            measured["per_frame"]
            for what, measured in json.loads(out.read_text())["measured"].items()
            if "coded" in what
        )
    frames = [frame for frame in coded if frame["frame"] >= BEFORE]
    vmaf = [frame["vmaf"] for frame in frames]
    changes = [abs(after - before) for before, after in pairwise(vmaf)]
    return [
        *use(report),
        mean(vmaf),
        quantiles(vmaf, n=20)[0],
        mean(changes),
        mean(frame["psnr"]["y"] for frame in frames),
    ]


def table(columns: tuple[str, ...], rows: dict[str, list[float]]) -> list[str]:
    """The lines of a table."""
    lines = [
        f"| encoder | {' | '.join(columns)} |",
        f"|---|{'--:|' * len(columns)}",
    ]
    for name, figures in rows.items():
        lines.append(
            f"| {name} | {' | '.join(f'{figure:.1f}' for figure in figures)} |"
        )
    return lines


def main() -> None:
    """Runs what is asked for, and writes the page."""
    wanted = sys.argv[1:] or ["rates", "quality"]
    if "rates" in wanted:
        runs: dict[str, list[list[float]]] = {name: [] for name, _ in ENCODERS}
        for _ in range(RUNS):
            for name, flags in ENCODERS:
                runs[name].append(rates(flags))
                print(name, [round(figure, 2) for figure in runs[name][-1]], flush=True)
        medians = {
            name: [median(column) for column in zip(*of_name, strict=True)]
            for name, of_name in runs.items()
        }
        fill(PAGE, "across a link", table(RATES, medians))
    if "quality" in wanted:
        rows = {}
        for name, flags in ENCODERS:
            rows[name] = quality(flags)
            print(name, [round(figure, 2) for figure in rows[name]], flush=True)
        fill(PAGE, "pictures across a link", table(QUALITY, rows))


if __name__ == "__main__":
    main()
