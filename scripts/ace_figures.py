"""Fills docs/results/ace-encoders.md: figures of the ACE paper that need pictures, encoders or packets.

python3 scripts/ace_figures.py [FOLDER [PART…]]

FOLDER has the clips of scripts/clips.sh, without it out/clips, and gets those of scripts/ace_clips.py. The
parts are sizes, complexity, realtime, slow, levels, overhead, adaptive, predictions, quality, latency, rates,
decisions, ablation, categories and quartiles; without any, all are measured. MIMOSA names the program; without it, target/play/mimosa.
MIMOSA_FFMPEG names an ffmpeg with libvmaf and the encoders; without it, that of the Python package
imageio-ffmpeg is taken. Needs the Python packages polars and matplotlib. Everything runs on one processor, one
after the other; times are this machine's: run it when nothing else runs.
"""

import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import ace_clips
import ace_hosted
import ace_paths
import ace_together
from ace_c import FILL, ROOT, ffmpeg, scaled
from ace_encoders import (
    AOM,
    CODECS,
    WARM_UP,
    Codec,
    at_equal_quality,
    beyond,
    encode,
    measured,
    quality,
    sizes,
    spread,
    x264,
)
from played import fill

PAGE = ROOT / "docs" / "results" / "ace-encoders.md"
Tables = dict[str, list[str]]
# Mbit/s of 1280x720 at 30 frames a second.
RATE = 4.0
LOW_RATE = 1.5
# Of each 90 frames, the game moves in so many where it stands still in the others.
MOVES, OF = 40, 90
# Frames of a clip for the encoders' presets, and the clips.
SHORT = 60
CLIPS = ("gaming", "sports")


def relative(codec: Codec, program: str, clip: Path, scratch: Path) -> list[float]:
    """The frames' sizes over their mean, at an average bitrate."""
    words = [*codec.preset(codec.realtime), *codec.rate(f"{RATE}M")]
    encode(program, clip, words, scratch / "sizes.mkv")
    lengths = sizes(program, scratch / "sizes.mkv")[WARM_UP:]
    mean = statistics.mean(lengths)
    return [length / mean for length in lengths]


def tails(program: str, clips: dict[str, Path], scratch: Path) -> Tables:
    """Figures 2 and 8: how sizes differ, by encoder and by category."""
    still = ace_clips.pausing(program, clips["gaming"], scratch, MOVES, OF)
    names = [*clips, "gaming with rests"]
    head = "| encoder | all | " + " | ".join(names) + " |"
    shares = [head, "|---|" + "--:|" * (1 + len(names))]
    spreads = [head.replace(" all |", ""), "|---|" + "--:|" * len(names)]
    for codec in CODECS:
        each = [
            relative(codec, program, clip, scratch) for clip in (*clips.values(), still)
        ]
        pooled = [size for of in each[:-1] for size in of]
        cells = [f"{beyond(of, 2):.1f}, {beyond(of, 5):.1f}" for of in (pooled, *each)]
        shares.append(f"| {codec.name} | {' | '.join(cells)} |")
        print(shares[-1], flush=True)
        cells = [f"{statistics.pstdev(of):.2f}" for of in each]
        spreads.append(f"| {codec.name} | {' | '.join(cells)} |")
    cells = []
    for clip in (*clips.values(), still):
        words = [*x264(CODECS[0].realtime), *buffered(RATE, 6)]
        encode(program, clip, words, scratch / "sizes.mkv")
        cells.append(f"{spread(sizes(program, scratch / 'sizes.mkv')[WARM_UP:]):.2f}")
    spreads.append(f"| x264, a buffer of six frames | {' | '.join(cells)} |")
    return {"tails": shares, "variation": spreads}


def buffered(megabits: float, frames: int) -> list[str]:
    """A bitrate that a buffer of so many frames evens out."""
    rate = [f"{1000 * megabits:.0f}k", f"{1000 * megabits * frames / 30:.0f}k"]
    return ["-b:v", rate[0], "-maxrate", rate[0], "-bufsize", rate[1]]


COMPLEXITY = [
    "| encoder | preset | ms a frame | smaller at equal VMAF, % | at equal PSNR, % |",
    "|---|---|--:|--:|--:|",
]


def complexity(program: str, clips: dict[str, Path], scratch: Path) -> Tables:
    """Figure 4 and appendix A: time, and size at equal quality, of the presets of four encoders."""
    lines = [*COMPLEXITY]
    small = [scaled(program, clips[name], "640x360", scratch) for name in CLIPS]
    for codec in CODECS:
        presets = codec.presets
        if codec.name == "x265":
            presets += ("medium, min-cu-size 16", "medium, min-cu-size 32")
        lines += beside_first(codec, presets, program, small, scratch)
    return {"complexity": lines}


def realtime(program: str, clips: dict[str, Path], scratch: Path) -> Tables:
    """Appendix A.4: the speeds of libaom's AV1 in real time."""
    small = [scaled(program, clips[name], "640x360", scratch) for name in CLIPS]
    lines = beside_first(AOM, AOM.presets, program, small, scratch)
    return {"realtime": [*COMPLEXITY, *lines]}


def beside_first(
    codec: Codec,
    presets: tuple[str, ...],
    program: str,
    small: list[Path],
    scratch: Path,
) -> list[str]:
    """A row for each preset, beside the first one."""
    lines = []
    base = [points(codec, presets[0], program, clip, scratch) for clip in small]
    for preset in presets:
        each = [
            points(codec, preset, program, clip, scratch)
            if preset != presets[0]
            else of
            for clip, of in zip(small, base, strict=True)
        ]
        time = statistics.mean(point["ms"] for of in each for point in of)
        cells = [f"{time:.1f}"]
        for kind in ("vmaf", "psnr"):
            less = [
                at_equal_quality(curve(first, kind), curve(of, kind))
                for first, of in zip(base, each, strict=True)
            ]
            cells.append(f"{statistics.mean(less):.0f}")
        lines.append(f"| {codec.name} | {preset} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return lines


def slow(program: str, clips: dict[str, Path], scratch: Path) -> Tables:
    """Appendix A.3: what x265's preset slow gains on medium, by category."""
    head = "| category | times as long | smaller at equal VMAF, % | at equal PSNR, % |"
    lines = [head, "|---|--:|--:|--:|"]
    codec = next(codec for codec in CODECS if codec.name == "x265")
    for name, clip in clips.items():
        small = scaled(program, clip, "640x360", scratch)
        medium, more = (
            points(codec, preset, program, small, scratch)
            for preset in ("medium", "slow")
        )
        spent = [statistics.mean(point["ms"] for point in of) for of in (medium, more)]
        less = [
            at_equal_quality(curve(medium, kind), curve(more, kind))
            for kind in ("vmaf", "psnr")
        ]
        cells = [f"{spent[1] / spent[0]:.1f}", *(f"{each:.0f}" for each in less)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return {"slow": lines}


def points(
    codec: Codec, preset: str, program: str, clip: Path, scratch: Path
) -> list[dict[str, float]]:
    """Time, size and quality of a clip's first frames at each of the codec's qualities."""
    out = scratch / "points.mkv"
    reading = measured(
        [
            program,
            "-loglevel",
            "fatal",
            "-i",
            clip,
            "-frames:v",
            SHORT,
            "-f",
            "null",
            "-",
        ]
    )
    found = []
    for wanted in codec.qualities:
        words = [*codec.preset(preset), *codec.quality(wanted)]
        used = encode(program, clip, words, out, SHORT)
        seconds = used.seconds - reading.seconds
        got = quality(program, out, clip, scratch)
        found.append(
            {"ms": 1000 * seconds / SHORT, "bytes": sum(sizes(program, out)), **got}
        )
    return found


def curve(found: list[dict[str, float]], kind: str) -> list[tuple[float, float]]:
    """Quality and size of each point."""
    return [(point[kind], point["bytes"]) for point in found]


def compared(program: str, clips: dict[str, Path], scratch: Path) -> Tables:
    """Figure 12: VMAF at two bitrates."""
    lines = [
        "| Mbit/s | variant | " + " | ".join(clips) + " | mean |",
        "|--:|---|" + "--:|" * (len(clips) + 1),
    ]
    one = ("--complexity", "c0")
    for rate in (RATE, LOW_RATE):
        host = {
            "ACE-C, six frames": (rate, ace_hosted.ADAPTIVE),
            "c0, six frames": (rate, ace_hosted.PLAIN),
            "c0, one frame": (rate, one),
            "c0, one frame, as large": (rate * FILL, one),
        }
        other = {
            "libx264 `superfast`, ABR": [*x264("superfast"), "-b:v", f"{rate}M"],
            "libx264 `superfast`, one frame": [
                *x264("superfast"),
                *buffered(rate, 1),
            ],
            "libx264 `medium`, ABR": [*x264("medium"), "-b:v", f"{rate}M"],
            "libvpx VP8": [*vp8(), "-b:v", f"{rate}M"],
        }
        for name in (*host, *other):
            found = []
            for clip in clips.values():
                if name in host:
                    frames = ("--frames", str(ace_clips.RATE * 5))
                    megabits, flags = host[name]
                    run = ace_hosted.hosted(clip, megabits, (*flags, *frames), scratch)
                    stream = run.stream
                else:
                    stream = scratch / "quality.mkv"
                    encode(program, clip, other[name], stream, ace_clips.RATE * 5)
                found.append(quality(program, stream, clip, scratch)["vmaf"])
            cells = [f"{vmaf:.1f}" for vmaf in (*found, statistics.mean(found))]
            lines.append(f"| {rate:g} | {name} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return {"quality": lines}


def vp8() -> list[str]:
    """As libwebrtc has it: real time, speed 6, no lookahead."""
    words = ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "-6"]
    return [*words, "-lag-in-frames", "0", "-g", "9999", "-threads", "1"]


def main() -> None:
    """Runs what is asked for, and writes the page."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "out" / "clips")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    program = ffmpeg()
    clips = ace_clips.make(program, folder)
    game = clips["gaming"]
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        parts: dict[str, Callable[[], Tables]] = {
            "sizes": lambda: tails(program, clips, scratch),
            "complexity": lambda: complexity(program, clips, scratch),
            "realtime": lambda: realtime(program, clips, scratch),
            "slow": lambda: slow(program, clips, scratch),
            "levels": lambda: ace_hosted.levels(program, game, scratch),
            "overhead": lambda: ace_hosted.overhead(
                program, folder / "game.y4m", scratch
            ),
            "adaptive": lambda: ace_hosted.adaptive(program, clips, scratch),
            "predictions": lambda: ace_hosted.predictions(clips, scratch),
            "quality": lambda: compared(program, clips, scratch),
            "latency": lambda: ace_paths.latency(scratch),
            "rates": lambda: ace_paths.rates(scratch),
            "decisions": lambda: ace_together.decisions(program, game, scratch),
            "ablation": lambda: ace_together.ablation(program, game, scratch),
            "categories": lambda: ace_together.categories(program, clips, scratch),
            "quartiles": lambda: ace_together.quartiles(program, clips, scratch),
        }
        for part in sys.argv[2:] or parts:
            for mark, lines in parts[part]().items():
                fill(PAGE, mark, lines)


if __name__ == "__main__":
    main()
