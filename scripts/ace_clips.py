"""Clips of five kinds of content for scripts/ace_figures.py, from those of scripts/clips.sh.

The ACE paper takes the most watched videos of five categories (section 6.1): Gaming, Music, Sports, Vlog and
Lecture. Here each category has a stand-in that is made of free material. Only the game is what its category
says; the others have the motion and the cuts that the category's name makes one expect:

    gaming    the recorded round of Freedoom
    music     a cut every second, between the game, the scene, a fractal and a portrait
    sports    pans to and fro over a textured field with small figures, at up to 22 pixels a frame
    vlog      a portrait that drifts and breathes as in a hand-held camera, with grain
    lecture   slides, with the host's scene in a corner as the speaker

All in 1280x720 at 30 frames a second. The portrait is Grace Hopper's, in the public domain, as matplotlib
ships it.
"""

import importlib.util
import subprocess
from pathlib import Path

RATE = 30
SECONDS = 10
SIZE = "1280x720"
CATEGORIES = ("gaming", "music", "sports", "vlog", "lecture")
# From a screen's colours to the encoder's.
COLOURS = "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p,setsar=1"
# What a hand does: two slow swings in each direction, and a little zoom.
HAND = (
    "scale=1600:-1,crop=1280:720:"
    "x='160+90*sin(0.9*t)+14*sin(5.3*t)':y='260+60*sin(0.7*t+1)+10*sin(6.1*t)',"
    "noise=alls=5:allf=t:all_seed=1"
)
# 1.9 rad/s over 350 pixels to either side are at most 22 pixels a frame.
SWING = "crop=1280:720:x='360+350*sin(1.9*t)':y='60+50*sin(1.3*t)'"


def portrait() -> Path:
    """The photograph in matplotlib's package."""
    found = importlib.util.find_spec("matplotlib")
    if found is None or found.origin is None:
        raise SystemExit("the portrait is in the Python package matplotlib")
    data = Path(found.origin).parent / "mpl-data" / "sample_data"
    return data / "grace_hopper.jpg"


def still() -> list:
    """The portrait as an input that lasts."""
    return ["-loop", "1", "-framerate", RATE, "-t", SECONDS, "-i", portrait()]


def generated(source: str) -> list:
    """One of ffmpeg's own sources as an input."""
    return ["-f", "lavfi", "-t", SECONDS, "-i", source]


def category(name: str, folder: Path) -> tuple[list, str]:
    """The inputs and the graph that make a category's clip; the graph ends in [out]."""
    game, scene, slides = (
        ["-i", folder / f"{clip}.y4m"] for clip in ("game", "scene", "slides")
    )
    fractal = generated(f"mandelbrot=size={SIZE}:rate={RATE}:end_pts=200")
    slow = f"fps={RATE}"
    if name == "gaming":
        return game, f"[0:v]{slow}[out]"
    if name == "lecture":
        graph = f"[1:v]{slow},scale=320:180[who];[0:v]{slow}[page];[page][who]overlay=940:20[out]"
        return [*slides, *scene], graph
    if name == "vlog":
        return still(), f"[0:v]{HAND},{COLOURS}[out]"
    if name == "sports":
        field = generated(
            f"perlin=size=2000x840:rate={RATE}:octaves=7:persistence=0.75:seed=3:random_mode=seed"
        )
        graph = (
            "[0:v]trim=end_frame=1,noise=alls=35:all_seed=5,loop=loop=299:size=1,setpts=N,"
            "colorchannelmixer=rr=.35:gg=.8:bb=.3[field];"
            "[1:v]scale=2000:840:flags=neighbor,format=rgba,colorkey=black[who];"
            f"[field][who]overlay=shortest=1,{SWING},{COLOURS}[out]"
        )
        figures = generated(
            f"life=size=200x84:rate={RATE}:ratio=0.05:seed=7:mold=0:life_color=white:death_color=black"
        )
        return [*field, *figures], graph
    return [*game, *scene, *fractal, *still()], music()


def music() -> str:
    """The graph that cuts between four inputs each second."""
    shown = "abcdbadcab"
    looks = {"a": f"fps={RATE}", "b": f"fps={RATE}", "c": "null", "d": HAND}
    parts = []
    for number, (letter, look) in enumerate(looks.items()):
        seconds = [second for second, other in enumerate(shown) if other == letter]
        copies = "".join(f"[{letter}{second}]" for second in seconds)
        parts.append(f"[{number}:v]{look},{COLOURS},split={len(seconds)}{copies}")
    for second, letter in enumerate(shown):
        cut = f"trim=start={second}:end={second + 1},setpts=PTS-STARTPTS"
        parts.append(f"[{letter}{second}]{cut}[cut{second}]")
    cuts = "".join(f"[cut{second}]" for second in range(len(shown)))
    return ";".join(parts) + f";{cuts}concat=n={len(shown)}[out]"


def make(program: str, folder: Path) -> dict[str, Path]:
    """The clip of each category; those that exist are not made again."""
    clips = {}
    for name in CATEGORIES:
        clips[name] = folder / f"ace-{name}.y4m"
        if clips[name].exists():
            continue
        inputs, graph = category(name, folder)
        begun = folder / "begun.y4m"
        words = [program, "-loglevel", "error", *inputs, "-filter_complex", graph]
        words += ["-map", "[out]", "-frames:v", RATE * SECONDS, "-strict", -1]
        subprocess.run([*map(str, words), "-y", begun], check=True)
        begun.rename(clips[name])
    return clips


def pausing(program: str, clip: Path, folder: Path, moves: int, of: int) -> Path:
    """The clip, standing still after each `moves` frames until there are `of`."""
    out = folder / f"{clip.stem}-pausing.y4m"
    later = f"setpts='(floor(N/{moves})*{of}+mod(N\\,{moves}))/{RATE}/TB',fps={RATE}"
    words = [program, "-loglevel", "error", "-i", clip, "-vf", later]
    words += ["-frames:v", RATE * SECONDS, "-strict", "-1", "-y", out]
    subprocess.run([*map(str, words)], check=True)
    return out
