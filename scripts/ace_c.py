"""Fills the tables of docs/algorithms/ace-c.md: clips through the encoder, with and without ACE-C.

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
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIMOSA = Path(os.environ.get("MIMOSA", ROOT / "target" / "play" / "mimosa")).absolute()
PAGE = ROOT / "docs" / "algorithms" / "ace-c.md"
FRAMES = 300
# A quarter of the pixels has 0.4 of the bits.
BITRATES = {"1280x720": 10.0, "640x360": 3.0}
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
    ("game", "1280x720", 1, 1),
    ("game", "1280x720", 1, 2),
    ("game", "1280x720", 2, 1),
    ("game", "1280x720", 2, 2),
    ("game", "640x360", 2, 1),
    ("slides", "1280x720", 2, 1),
    ("scene", "1280x720", 2, 1),
]

# How packets leave, for sizes with and without ACE-C: the paper's figure 15.
PACERS = {
    "burst": 'pacer = "burst"',
    "1.1x": 'pacer = "1.1x"',
    "2.5x": 'pacer = "2.5x"',
    "ACE-N, `fill = 1.1`": 'pacer = "ace-n"\npacer_params = { fill = 1.1 }',
}
SCENARIO = """
duration = "60s"

[link]
rate = "12.5Mbit/s"
one_way_delay = "10ms"
queue = { kind = "droptail", limit = "100kB" }

[[flow]]
name = "game"
controller = "gcc"
fps = 30
start_bitrate = "10Mbit/s"
max_bitrate = "10Mbit/s"
frame_sizes = "sizes.txt"
"""

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
    words = [program, "-loglevel", "fatal", "-f", "h264", "-i", stream, "-i", clip]
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


def paced(program: str, folder: Path, scratch: Path) -> str:
    """Table of the pacers with sizes of the game, at the size where the levels cost least."""
    case = ("game", "640x360", 2, 1)
    clip = scaled(program, folder / "game.y4m", case[1], scratch)
    lines = [
        "| pacer | sizes | frame delay p50 | p95 | p99 | loss % | encoding p50, p95 | VMAF |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for variant in ("six frames, c0", "six frames, ACE-C"):
        row = run(program, clip, case, variant, scratch)
        with (scratch / "out" / "frames.csv").open() as file:
            sizes = [line.split(",")[4] for line in file][11:]
        (scratch / "sizes.txt").write_text("\n".join(sizes) + "\n")
        for name, pacer in PACERS.items():
            (scratch / "paced.toml").write_text(SCENARIO + pacer + "\n")
            words = [
                MIMOSA,
                "sim",
                scratch / "paced.toml",
                "--json",
                "-",
                "--seeds",
                "1..4",
            ]
            words += ["--from", "5s"]
            said = subprocess.run(
                words, check=True, capture_output=True, text=True
            ).stdout
            flows = [json.loads(line)["flows"][0] for line in said.splitlines()]

            def mean(
                value: Callable[[dict], float], flows: list[dict] = flows
            ) -> float:
                return sum(map(value, flows)) / len(flows)

            delays = [
                mean(lambda flow, part=part: flow["frame_delay_ms"][part])
                for part in ("p50", "p95", "p99")
            ]
            loss = 100 * mean(lambda flow: flow["loss_rate"])
            lines.append(
                f"| {name} | {variant.split(', ')[1]} | {delays[0]:.1f} | {delays[1]:.1f} "
                f"| {delays[2]:.1f} | {loss:.2f} | {row['encode']:.1f}, {row['encode95']:.1f} "
                f"| {row['vmaf']:.1f} |"
            )
    return "\n".join(lines)


def fill(page: str, mark: str, table: str) -> str:
    """The page with the table between its marks."""
    filled = f"<!-- {mark} -->\n\n{table}\n\n<!-- end {mark} -->"
    return re.sub(
        rf"<!-- {mark} -->.*?<!-- end {mark} -->",
        lambda _: filled,
        page,
        flags=re.DOTALL,
    )


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
        second = paced(program, folder, scratch)
    text = fill(PAGE.read_text(), "clips", table(results))
    PAGE.write_text(fill(text, "pacers", second))


if __name__ == "__main__":
    main()
