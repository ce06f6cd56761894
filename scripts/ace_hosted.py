"""The host's encoder with and without ACE-C, and its frames over simulated paths, for scripts/ace_figures.py."""

import csv
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import ace_paths
from ace_c import MIMOSA, scaled
from ace_clips import CATEGORIES
from ace_encoders import WARM_UP, Used, decode, measured, quality
from ace_paths import BUCKET, PACE

# Sizes evened out over six frames, which is the paper's average bitrate with a buffer, without and with ACE-C.
PLAIN = ("--complexity", "c0", "--buffer-frames", "6")
ADAPTIVE = ("--complexity", "adaptive", "--buffer-frames", "6")
# The paper calls a frame oversized from here on (section 6.7).
OVERSIZED = 1.6
# Frames that ACE-C's means are of (`mean_frames`).
MEAN_FRAMES = 30
# A quarter of the pixels has 0.4 of the bits, or a little less.
SCREENS = {"1280x720": 4.0, "640x360": 3.0, "320x180": 0.9}


@dataclass(frozen=True)
class Hosted:
    """A clip through `mimosa encode`."""

    rows: list[dict[str, str]]
    used: Used
    stream: Path

    @property
    def sizes(self) -> list[int]:
        """Bytes of each frame."""
        return self.ints("coded_bytes")

    @property
    def work(self) -> list[float]:
        """ms for each frame, prediction and encoding."""
        return [
            float(row["prediction_ms"]) + float(row["encoding_ms"]) for row in self.rows
        ]

    @property
    def levels(self) -> list[str]:
        """The level of each frame."""
        return [row["complexity"] for row in self.rows]

    def ints(self, name: str) -> list[int]:
        """A column."""
        return [int(row[name]) for row in self.rows]

    def share(self, level: str) -> float:
        """The share of frames with a level, in %."""
        return 100 * statistics.mean(other == level for other in self.levels)


def hosted(
    clip: Path, megabits: float, flags: tuple[str, ...], scratch: Path, every: int = 1
) -> Hosted:
    """Encodes a clip as a host would. The first frames do not count."""
    out = scratch / "hosted"
    words = [MIMOSA, "encode", clip, "--output", out, "--every", every, *flags]
    used = measured([*words, "--bitrate", f"{megabits}Mbit/s"])
    with (out / "frames.csv").open() as file:
        rows = list(csv.DictReader(file))
    return Hosted(rows[WARM_UP:], used, out / "stream.h264")


def middle(runs: Iterable[list[float]]) -> float:
    """The median, over runs, of the mean over frames."""
    return statistics.median(statistics.mean(run) for run in runs)


def levels(program: str, clip: Path, scratch: Path) -> dict[str, list[str]]:
    """Figures 5, 27 and 28: what a level costs the encoder, and what its stream costs the decoder."""
    lines = [
        (
            "| size | level | encoding, ms | sender's processor, ms a frame | sender, MB "
            "| decoding, ms a frame | receiver, MB | VMAF |"
        ),
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for size, megabits in SCREENS.items():
        small = scaled(program, clip, size, scratch)
        for level in ("c0", "c0+", "c1", "c2"):
            flags = ("--complexity", level, "--buffer-frames", "6")
            runs = [hosted(small, megabits, flags, scratch) for _ in range(3)]
            received = [decode(program, runs[-1].stream) for _ in range(5)]
            count = len(runs[0].rows) + WARM_UP
            encoding = middle(
                [[float(row["encoding_ms"]) for row in run.rows] for run in runs]
            )
            cells = [
                f"{encoding:.1f}",
                f"{1000 * statistics.median(run.used.seconds for run in runs) / count:.1f}",
                f"{statistics.median(run.used.megabytes for run in runs):.0f}",
                f"{1000 * statistics.median(used.seconds for used in received) / count:.2f}",
                f"{statistics.median(used.megabytes for used in received):.0f}",
                f"{quality(program, runs[-1].stream, small, scratch)['vmaf']:.1f}",
            ]
            lines.append(f"| {size} | {level} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return {"levels": lines}


def overhead(program: str, game: Path, scratch: Path) -> dict[str, list[str]]:
    """Figures 22 and 29 to 31: processor and memory at both ends, at three bitrates and two frame rates."""
    lines = [
        (
            "| frames a second | Mbit/s | variant | sender's processor, % of one | sender, MB "
            "| receiver's, % | receiver, MB |"
        ),
        "|--:|--:|---|--:|--:|--:|--:|",
    ]
    for rate in (30, 60):
        for megabits in (2.0, 4.0, 8.0):
            for name, flags in (("without", PLAIN), ("with ACE-C", ADAPTIVE)):
                every = ("--frames", str(5 * rate))
                runs = [
                    hosted(game, megabits, (*flags, *every), scratch, 60 // rate)
                    for _ in range(3)
                ]
                received = [decode(program, runs[-1].stream) for _ in range(3)]
                cells = []
                for used in ([run.used for run in runs], received):
                    seconds = statistics.median(of.seconds for of in used)
                    cells.append(f"{100 * seconds / 5:.1f}")
                    megabytes = statistics.median(of.megabytes for of in used)
                    cells.append(f"{megabytes:.0f}")
                lines.append(
                    f"| {rate} | {megabits:.0f} | {name} | {' | '.join(cells)} |"
                )
                print(lines[-1], flush=True)
    lines += ["", "A second of a simulated stream takes, in ms of a processor:", ""]
    lines += ["| pacer | ms |", "|---|--:|"]
    for name, pacer in (("at the estimate", PACE), ("ACE-N", BUCKET)):
        lines.append(f"| {name} | {ace_paths.pacer_work(pacer, scratch):.2f} |")
    return {"overhead": lines}


def ratios(rows: list[dict[str, str]]) -> list[tuple[float, float]]:
    """For each frame the predicted size and that at the others' quality, both over the others'.

    The others are the frames before, as many as ACE-C's means are of. A frame of size F and error D would
    have had F (D / D')^0.8 at the error D' of others.
    """
    seen = [(int(row["coded_bytes"]), float(row["squared_error"])) for row in rows]
    found = []
    for place in range(MEAN_FRAMES, len(rows)):
        before = seen[place - MEAN_FRAMES : place]
        size, error = seen[place]
        others = statistics.mean(error for _, error in before)
        mean = statistics.mean(size for size, _ in before)
        share = float(rows[place]["predicted_share"])
        if share > 0 and error > 0 and others > 0:
            found.append((share, size * (error / others) ** 0.8 / mean))
    return found


def adaptive(program: str, clips: dict[str, Path], scratch: Path) -> dict:
    """Figure 23, and the levels of section 6.7: levels and times by category."""
    columns = "c0, % | smallest with more, of the mean | encoding c0, ms | ACE-C, ms | more, ms "
    work = [f"| size | category | {columns}|", "|---|---|--:|--:|--:|--:|--:|"]
    for size in ("1280x720", "640x360"):
        for name in CATEGORIES:
            clip = scaled(program, clips[name], size, scratch)
            # In turn: what the machine does besides changes.
            runs = [
                [
                    hosted(clip, SCREENS[size], flags, scratch)
                    for flags in (PLAIN, ADAPTIVE)
                ]
                for _ in range(5)
            ]
            plain, more = zip(*runs, strict=True)
            base, other = (middle([run.work for run in runs]) for runs in (plain, more))
            last = more[-1]
            raised = [
                length / statistics.mean(last.sizes)
                for length, level in zip(last.sizes, last.levels, strict=True)
                if level != "c0"
            ]
            least = f"{min(raised):.1f}" if raised else "-"
            c0 = statistics.median(run.share("c0") for run in more)
            work.append(
                f"| {size} | {name} | {c0:.1f} | {least} | {base:.1f} | {other:.1f} "
                f"| {other - base:+.1f} |"
            )
            print(work[-1], flush=True)
    return {"adaptive": work}


def predictions(clips: dict[str, Path], scratch: Path) -> dict[str, list[str]]:
    """Figure 19: how well sizes are predicted."""
    seen = [
        "| prediction | category | correlation | within a quarter, % | of oversized, % |",
        "|---|---|--:|--:|--:|",
    ]
    for kind, flags in (
        ("motion", ()),
        ("difference", ("--size-prediction", "difference")),
    ):
        pooled = []
        for name in CATEGORIES:
            run = hosted(clips[name], SCREENS["1280x720"], (*PLAIN, *flags), scratch)
            pairs = ratios(run.rows)
            pooled += pairs
            seen.append(f"| {kind} | {name} | {predicted(pairs)} |")
        seen.append(f"| {kind} | all | {predicted(pooled)} |")
    return {"predictions": seen}


def predicted(pairs: list[tuple[float, float]]) -> str:
    """The correlation, and the shares of all and of the oversized frames predicted within a quarter."""
    within = [0.8 <= actual / share <= 1.25 for share, actual in pairs]
    large = [
        hit
        for hit, (_, actual) in zip(within, pairs, strict=True)
        if actual > OVERSIZED
    ]
    of_large = f"{100 * statistics.mean(large):.0f} of {len(large)}" if large else "-"
    correlation = statistics.correlation(*zip(*pairs, strict=True))
    return f"{correlation:.2f} | {100 * statistics.mean(within):.0f} | {of_large}"
