"""Five encoders as ffmpeg has them: sizes, times, memory and quality, for scripts/ace_figures.py."""

import json
import math
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

Words = list[str]

# Frames at the beginning that do not count: the keyframe, and the search for a quantiser.
WARM_UP = 10
# Starts a program from a process so small that its own memory does not count as the program's.
LAUNCH = """
import os, sys
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(pid, 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


@dataclass(frozen=True)
class Codec:
    """How to drive an encoder with one thread, without looking ahead and without keyframes."""

    name: str
    preset: Callable[[str], Words]
    # From the quickest to the one with the most work.
    presets: tuple[str, ...]
    realtime: str
    rate: Callable[[str], Words]
    quality: Callable[[int], Words]
    qualities: tuple[int, ...]


def x264(preset: str) -> Words:
    """The words for x264 without lookahead, frames of two directions and the threads' delay."""
    words = ["-c:v", "libx264", "-preset", preset, "-tune", "zerolatency"]
    return [*words, "-g", "9999", "-sc_threshold", "0", "-threads", "1"]


def x265(preset: str) -> Words:
    """The words for x265 without lookahead and frames of two directions; a smallest block may follow the preset's name."""
    name, _, block = preset.partition(", min-cu-size ")
    words = ["-c:v", "libx265", "-preset", name, "-tune", "zerolatency", "-x265-params"]
    flags = "keyint=-1:scenecut=0:pools=none:frame-threads=1:log-level=0"
    return [*words, flags + (f":min-cu-size={block}" if block else "")]


def svt_av1(preset: str) -> Words:
    """The words for SVT-AV1 in its structure of low delay."""
    flags = "pred-struct=1:lookahead=0:keyint=-1:scd=0:lp=1"
    return ["-c:v", "libsvtav1", "-preset", preset, "-svtav1-params", flags]


def aom(preset: str) -> Words:
    """The words for libaom's AV1 in real time, whose preset is a speed."""
    words = ["-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", preset]
    return [*words, "-lag-in-frames", "0", "-g", "9999", "-threads", "1"]


def vp9(preset: str) -> Words:
    """The words for libvpx VP9, whose preset is a deadline and a speed."""
    deadline, speed = preset.split()
    words = ["-c:v", "libvpx-vp9", "-deadline", deadline, "-cpu-used", speed]
    return [*words, "-lag-in-frames", "0", "-g", "9999", "-threads", "1"]


def average(rate: str) -> Words:
    """The words for an average bitrate."""
    return ["-b:v", rate]


def constant(quality: int) -> Words:
    """The words for a quality in place of a bitrate."""
    return ["-crf", str(quality)]


def constant_av1(rate: str) -> Words:
    """SVT-AV1 keeps no average in the structure of low delay: CBR, with the flags of `svt_av1` again."""
    flags = svt_av1("0")[-1]
    return ["-b:v", rate, "-svtav1-params", f"{flags}:rc=2"]


CODECS = (
    Codec(
        "x264",
        x264,
        ("ultrafast", "superfast", "veryfast", "medium", "slower", "veryslow"),
        "superfast",
        average,
        constant,
        (20, 26, 32),
    ),
    Codec(
        "x265",
        x265,
        ("ultrafast", "superfast", "veryfast", "medium", "slow"),
        "ultrafast",
        average,
        constant,
        (22, 28, 34),
    ),
    Codec(
        "SVT-AV1",
        svt_av1,
        ("11", "10", "8", "6", "4"),
        "10",
        constant_av1,
        constant,
        (25, 38, 50),
    ),
    Codec(
        "VP9",
        vp9,
        ("realtime 8", "realtime 6", "realtime 5", "good 4", "good 2", "good 1"),
        "realtime 8",
        average,
        lambda quality: ["-b:v", "0", "-crf", str(quality)],
        (25, 36, 48),
    ),
)

# The AV1 encoder of the group that made libvpx. Appendix A.4 speaks of both.
AOM = Codec(
    "libaom AV1",
    aom,
    ("8", "7", "6", "5"),
    "8",
    average,
    lambda quality: ["-b:v", "0", "-crf", str(quality)],
    (25, 38, 50),
)


@dataclass(frozen=True)
class Used:
    """What a process used: seconds of a processor, and at most so many MB."""

    seconds: float
    megabytes: float


def measured(words: list) -> Used:
    """Runs a command to its end."""
    launch = [sys.executable, "-S", "-E", "-c", LAUNCH, *map(str, words)]
    done = subprocess.run(launch, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stderr}")
    seconds, kilobytes = done.stderr.splitlines()[-1].split()
    return Used(float(seconds), float(kilobytes) / 1024)


def encode(
    program: str, clip: Path, words: Words, out: Path, frames: int | None = None
) -> Used:
    """Encodes a clip, or so many of its first frames."""
    first = [] if frames is None else ["-frames:v", str(frames)]
    command = [program, "-loglevel", "fatal", "-i", clip, *first, *words, "-y", out]
    return measured(command)


def decode(program: str, stream: Path) -> Used:
    """Decodes a stream with one thread, and throws the pictures away."""
    command = [program, "-loglevel", "fatal", "-threads", "1", "-i", stream]
    return measured([*command, "-f", "null", "-"])


def sizes(program: str, stream: Path) -> list[int]:
    """Bytes of each frame."""
    words = [program, "-loglevel", "fatal", "-i", stream, "-c", "copy"]
    done = subprocess.run(
        [*words, "-f", "framecrc", "-"], check=True, capture_output=True, text=True
    )
    rows = [line.split(",") for line in done.stdout.splitlines() if line[0] != "#"]
    return [int(row[4]) for row in rows]


def quality(program: str, stream: Path, clip: Path, scratch: Path) -> dict[str, float]:
    """Means of VMAF, and of PSNR of the brightness, over the stream's frames."""
    log = scratch / "quality.json"
    graph = (
        "[0:v]settb=1/30,setpts=N[got];[1:v]settb=1/30,setpts=N[wanted];[got][wanted]libvmaf="
        f"feature=name=psnr:n_threads=1:log_fmt=json:log_path={log}:shortest=1"
    )
    words = [program, "-loglevel", "fatal", "-i", stream, "-i", clip, "-lavfi", graph]
    subprocess.run([*words, "-f", "null", "-"], check=True)
    pooled = json.loads(log.read_text())["pooled_metrics"]
    return {"vmaf": pooled["vmaf"]["mean"], "psnr": pooled["psnr_y"]["mean"]}


def spread(values: list[int]) -> float:
    """The coefficient of variation."""
    return statistics.pstdev(values) / statistics.mean(values)


def beyond(relative: list[float], times: float) -> float:
    """The share, in %, of sizes above so many times the target."""
    return 100 * sum(size > times for size in relative) / len(relative)


def at_equal_quality(
    base: list[tuple[float, float]], other: list[tuple[float, float]]
) -> float:
    """How much smaller `other` is than `base`, in %, at equal quality.

    Both have a quality and a size for each point. The logarithm of the size is taken as straight between
    points, and the difference as its mean over the qualities that both have.
    """
    low = max(min(quality for quality, _ in points) for points in (base, other))
    high = min(max(quality for quality, _ in points) for points in (base, other))
    if high <= low:
        return math.nan
    steps = [low + (high - low) * part / 50 for part in range(51)]
    differences = [between(other, at) - between(base, at) for at in steps]
    return 100 * (1 - math.exp(statistics.mean(differences)))


def between(points: list[tuple[float, float]], at: float) -> float:
    """The logarithm of the size at a quality."""
    points = sorted(points)
    for (low, small), (high, large) in pairwise(points):
        if at <= high or (high, large) == points[-1]:
            share = (at - low) / (high - low)
            return math.log(small) + share * (math.log(large) - math.log(small))
    raise ValueError("no two points")
