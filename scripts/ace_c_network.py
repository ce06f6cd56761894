"""Fills the table of docs/algorithms/ace-c.md that was measured over the real programs.

python3 scripts/ace_c_network.py

dsda-doom's recorded demo from a host to a headless native client over an emulated link: the
default, and sizes that a buffer of six frames evens out, with ACE-C and without, by GCC and
ACE-N as in the paper. MIMOSA names the program; without it, target/play/mimosa. Times are this
machine's: run it when nothing else runs.
"""

import tempfile
from pathlib import Path

from played import ROOT, fill, play
from wad_lump import lump

SECONDS = 25
NETWORK = """
[link]
rate = "10Mbit/s"
one_way_delay = "10ms"
queue = { kind = "droptail", limit = "100kB" }
"""
WAD = Path("/usr/share/games/doom/freedoom1.wad")
GAME = (
    f"dsda-doom -iwad {WAD} -playdemo {{}} -nosound -geom 1280x720w -vidmode sw "
    "-assign uncapped_framerate=1 dsda_fps_limit=60 render_vsync=0"
)
PAPER = ["--controller", "gcc", "--pacer", "ace-n"]
SIX = [*PAPER, "--encoder-buffer-frames", "6"]
VARIANTS = {
    "`mimosa`, one frame": [],
    "`gcc` and ACE-N, one frame": PAPER,
    "`gcc` and ACE-N, six frames, c0": SIX,
    "`gcc` and ACE-N, six frames, ACE-C": [*SIX, "--encoder-complexity", "adaptive"],
}


def row(demo: Path, rate: int, name: str, flags: list[str]) -> str:
    """A line of the table."""
    common = [
        "--launch",
        GAME.format(demo),
        "--frames-per-second",
        str(rate),
        "--detail",
        "full",
    ]
    report = play(NETWORK, [*common, *flags], SECONDS)
    late, encode = report["lateness"], report["stages"]["encode"]
    frames = report["frames"]
    return (
        f"| {rate} | {name} | {report['bitrate']['p50'] / 1e6:.1f} | {encode['p50']:.1f} "
        f"| {late['p50']:.0f} | {late['p95']:.0f} | {late['p99']:.0f} "
        f"| {100 * late['over_100_ms']:.1f} | {frames['whole']}, {frames['passed']} |"
    )


def main() -> None:
    """Runs all, and writes the page."""
    lines = [
        "| fps | control and sizes | Mbit/s | encoding, ms | later by, ms, p50 | p95 | p99 "
        + "| over 100 ms, % | frames, and done without |",
        "|--:|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        demo = Path(folder) / "demo.lmp"
        demo.write_bytes(lump(WAD.read_bytes(), "DEMO2"))
        for rate in (30, 60):
            for name, flags in VARIANTS.items():
                lines.append(row(demo, rate, name, flags))
                print(lines[-1], flush=True)
    fill(ROOT / "docs" / "algorithms" / "ace-c.md", "network", lines)


if __name__ == "__main__":
    main()
