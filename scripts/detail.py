"""Fills the table of docs/how-it-works/detail.md: clips with few bits, in full and in smaller size.

python3 scripts/detail.py [FOLDER]

FOLDER has the clips of scripts/clips.sh, without it out/clips. MIMOSA and MIMOSA_FFMPEG are as for
scripts/ace_c.py.
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from ace_c import FILL, MIMOSA, ROOT, ffmpeg, fill

PAGE = ROOT / "docs" / "how-it-works" / "detail.md"
CLIPS = ("game", "scene")
SIZES = ("1280x720", "960x540", "640x360")
BITRATES = (0.6, 1.0, 1.5, 2.2, 3.3)
FRAMES = 180
# The encoder has found its quantiser.
WARM_UP = 10


def scaled(program: str, clip: Path, size: str, scratch: Path) -> Path:
    """The clip in another size, made by means over areas as the host does."""
    out = scratch / f"{clip.stem}-{size}.y4m"
    words = [
        program,
        "-loglevel",
        "error",
        "-i",
        clip,
        "-frames:v",
        str(FRAMES),
        "-s",
        size,
    ]
    subprocess.run([*words, "-sws_flags", "area", "-y", out], check=True)
    return out


def measure(
    program: str, small: Path, clip: Path, bitrate: float, scratch: Path
) -> list[float]:
    """Quantiser, Mbit/s, and VMAF of the picture as large as it was."""
    words = [MIMOSA, "encode", small, "--output", scratch / "out", "--json"]
    words += ["--bitrate", f"{bitrate * FILL:.2f}Mbit/s", "--frames", str(FRAMES)]
    subprocess.run(words, check=True, capture_output=True)
    with (scratch / "out" / "frames.csv").open() as file:
        rows = list(csv.DictReader(file))[WARM_UP:]
    log = scratch / "vmaf.json"
    graph = (
        "[0:v]setpts=N/60/TB,scale=1280:720:flags=bilinear[got];[1:v]setpts=N/60/TB[wanted];"
        f"[got][wanted]libvmaf=n_threads=2:log_fmt=json:log_path={log}:shortest=1"
    )
    words = [
        program,
        "-loglevel",
        "fatal",
        "-f",
        "h264",
        "-i",
        scratch / "out" / "stream.h264",
    ]
    words += ["-i", clip, "-lavfi", graph, "-f", "null", "-"]
    subprocess.run(words, check=True)
    return [
        sum(float(row["quantiser"]) for row in rows) / len(rows),
        sum(int(row["coded_bytes"]) for row in rows) * 8 * 60 / len(rows) / 1e6,
        json.loads(log.read_text())["pooled_metrics"]["vmaf"]["mean"],
    ]


def main() -> None:
    """Runs everything and fills the page."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "out" / "clips")
    program = ffmpeg()
    heads = " | ".join(f"{size}: quantiser | VMAF" for size in SIZES)
    lines = [f"| clip | Mbit/s | {heads} |", "|---|" + "--:|" * (1 + 2 * len(SIZES))]
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        for clip in (folder / f"{stem}.y4m" for stem in CLIPS):
            smaller = [scaled(program, clip, size, scratch) for size in SIZES]
            for bitrate in BITRATES:
                found = [
                    measure(program, small, clip, bitrate, scratch) for small in smaller
                ]
                cells = " | ".join(
                    f"{quantiser:.1f} | {vmaf:.1f}" for quantiser, _, vmaf in found
                )
                rates = " to ".join(
                    f"{rate:.2f}"
                    for rate in sorted(
                        {min(r[1] for r in found), max(r[1] for r in found)}
                    )
                )
                lines.append(f"| {clip.stem} | {rates} | {cells} |")
                print(lines[-1], flush=True)
    PAGE.write_text(fill(PAGE.read_text(), "detail", "\n".join(lines)))


if __name__ == "__main__":
    main()
