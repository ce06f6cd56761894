"""Fills the tables of docs/ace-c.md: clips through the encoder, with and without ACE-C.

python3 scripts/ace_c.py [FOLDER]

FOLDER has the clips of scripts/clips.sh, without it out/clips. MIMOSA names the program; without
it, target/play/mimosa. MIMOSA_FFMPEG names an ffmpeg with libvmaf; without it, that of the Python
package imageio-ffmpeg is taken. Times are this machine's: run it when nothing else runs.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIMOSA = Path(os.environ.get("MIMOSA", ROOT / "target" / "play" / "mimosa")).absolute()
PAGE = ROOT / "docs" / "ace-c.md"
FRAMES = 300
# A quarter of the pixels has 0.4 of the bits.
BITRATES = {"1280x720": 10.0, "960x540": 6.0, "640x360": 3.0}
# A tight buffer leaves a seventh of what it is given: this much more makes it as large.
FILL = 1.18
VARIANTS = {
    "CBR": ["--complexity", "c0"],
    "CBR, as large": ["--complexity", "c0"],
    "six frames, c0": ["--complexity", "c0", "--buffer-frames", "6"],
    "six frames, ACE-C": ["--complexity", "adaptive", "--buffer-frames", "6"],
    "six frames, c2": ["--complexity", "c2", "--buffer-frames", "6"],
}
CASES = [
    *[
        ("game", size, every, slices)
        for size in BITRATES
        for every in (1, 2)
        for slices in (1, 2)
    ],
    *[(clip, "1280x720", every, 1) for clip in ("slides", "scene") for every in (1, 2)],
]

Row = dict[str, float]


def ffmpeg() -> str:
    """One that has libvmaf."""
    if named := os.environ.get("MIMOSA_FFMPEG"):
        return named
    import imageio_ffmpeg

    return imageio_ffmpeg.get_ffmpeg_exe()


def scaled(program: str, clip: Path, size: str, scratch: Path) -> Path:
    """The clip in another size."""
    if size == "1280x720":
        return clip
    out = scratch / f"{clip.stem}-{size}.y4m"
    if not out.exists():
        words = [
            program,
            "-loglevel",
            "error",
            "-i",
            clip,
            "-frames:v",
            str(2 * FRAMES),
        ]
        subprocess.run([*words, "-s", size, "-y", out], check=True)
    return out


def vmaf(program: str, stream: Path, clip: Path, every: int, scratch: Path) -> float:
    """Mean of the frames."""
    log = scratch / "vmaf.json"
    graph = (
        f"[0:v]setpts=N/60/TB[got];[1:v]select='not(mod(n\\,{every}))',setpts=N/60/TB[wanted];"
        f"[got][wanted]libvmaf=n_threads=2:log_fmt=json:log_path={log}:shortest=1"
    )
    words = [program, "-loglevel", "error", "-f", "h264", "-i", stream, "-i", clip]
    subprocess.run([*words, "-lavfi", graph, "-f", "null", "-"], check=True)
    return json.loads(log.read_text())["pooled_metrics"]["vmaf"]["mean"]


def run(program: str, clip: Path, case: tuple, variant: str, scratch: Path) -> Row:
    """Encodes, and measures."""
    _, size, every, slices = case
    bitrate = BITRATES[size]
    words = [MIMOSA, "encode", clip, "--output", scratch / "out", "--json"]
    words += ["--bitrate", f"{bitrate * (FILL if 'large' in variant else 1):.2f}Mbit/s"]
    words += ["--pace", f"{bitrate * 1.25:.2f}Mbit/s", "--every", str(every)]
    words += ["--frames", str(FRAMES), "--threads", str(slices), *VARIANTS[variant]]
    said = json.loads(
        subprocess.run(words, check=True, capture_output=True, text=True).stdout
    )
    levels = said["levels_percent"]
    return {
        "p95": said["latency_ms"]["p95"],
        "p50": said["latency_ms"]["p50"],
        "p99": said["latency_ms"]["p99"],
        "encode": said["encoding_ms"]["p50"],
        "encode95": said["encoding_ms"]["p95"],
        "size": said["kilobits_per_frame"],
        "largest": said["largest_over_mean"],
        "vmaf": vmaf(program, scratch / "out" / "stream.h264", clip, every, scratch),
        "psnr": said["psnr_db"],
        "more": 100 - levels[0],
        "levels": "/".join(f"{level:.0f}" for level in levels),
        "correlation": said["prediction_correlation"],
    }


def table(results: dict) -> str:
    """The table of the page."""
    columns = "kbit a frame | largest | encoding p50, p95 | latency p50 | p95 | p99 "
    lines = [
        f"| clip | variant | {columns}| c0/c0+/c1/c2 % | VMAF | PSNR |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for (clip, size, every, slices), rows in results.items():
        name = f"{clip}, {size}, {60 // every} fps, {slices} slice{'s' if slices > 1 else ''}"
        for variant, row in rows.items():
            lines.append(
                f"| {name} | {variant} | {row['size']:.0f} | {row['largest']:.1f} "
                f"| {row['encode']:.1f}, {row['encode95']:.1f} | {row['p50']:.1f} "
                f"| {row['p95']:.1f} | {row['p99']:.1f} | {row['levels']} | {row['vmaf']:.1f} "
                f"| {row['psnr']:.2f} |"
            )
            name = ""
    return "\n".join(lines)


def main() -> None:
    """Runs everything and fills the page."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "out" / "clips")
    program = ffmpeg()
    results = {}
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        for case in CASES:
            clip = scaled(program, folder / f"{case[0]}.y4m", case[1], scratch)
            results[case] = {
                variant: run(program, clip, case, variant, scratch)
                for variant in VARIANTS
            }
            print(case, json.dumps(results[case], indent=1), flush=True)
    text = PAGE.read_text()
    filled = f"<!-- clips -->\n\n{table(results)}\n\n<!-- end -->"
    PAGE.write_text(
        re.sub(
            r"<!-- clips -->.*?<!-- end -->", lambda _: filled, text, flags=re.DOTALL
        )
    )


if __name__ == "__main__":
    main()
