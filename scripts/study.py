"""Repeats the study of HTB and L4S on the real platform, and fills docs/results/study.md.

    .venv/bin/python scripts/study.py [--step SECONDS] [QUEUE-TCP-CONTROLLER]...

A host that streams dsda-doom's demos, the native client with ECN, `mimosa link` with the study's queues, and the kernel's
TCP, whose application writes 10 to 45 Mbit/s, more each step: section IV of P. Graff et al., "Improving Cloud Gaming
traffic QoS". The study's steps last a minute; here they last STEP seconds, and the simulations beside them as long.
What counts is, as there, all from the third step on. What was run stays in target/study, and is not run again while it is
newer than the program. Without cells as arguments, all are run; the page shows those that are there. As root: the link makes network namespaces.
MIMOSA names the program, without it target/play/mimosa.
"""

import argparse
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars
from wad_lump import lump

ROOT = Path(__file__).resolve().parent.parent
MIMOSA = Path(os.environ.get("MIMOSA", ROOT / "target" / "play" / "mimosa")).absolute()
PAGE = ROOT / "docs" / "results" / "study.md"
KEPT = ROOT / "target" / "study"
TABLE = re.compile(r"(<!-- study: (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
QUEUES = ["drop-tail", "htb", "l4s"]
# The kernel has BBR's first version, the study had the second.
TCP = {"cubic": "cubic", "bbr": "bbr2"}
CONTROLLERS = {"scream": 'version = "2024"', "mimosa": ""}
SEEDS = 4
# What IP carries, by IANA's numbers.
TCP_NUMBER, UDP = 6, 17
# The longest demo of Freedoom: three minutes through a level with monsters.
WAD, DEMO = Path("/usr/share/games/doom/freedoom1.wad"), "DEMO4"
GAME = (
    "dsda-doom -iwad freedoom1.wad -geom 640x360w -vidmode sw -nomusic -nosound -playdemo {demo} "
    "-assign uncapped_framerate=1 dsda_fps_limit=60 render_vsync=0"
)
SENDER = """
python3 "$TOOLS/study_tcp.py" "$CONGESTION" "$STEP" $RATES &
tcp=$!
"$MIMOSA" serve --bind "$MIMOSA_LINK_ADDRESS" --http-port 7080 --udp-port 7081 --size 640x360 --launch "$GAME" \
    --sound off --controller "$CONTROLLER" ${PARAMS:+--params "$PARAMS"} --max-bitrate 30Mbit/s --relief off \
    --finest-quantiser 1 --announce off >urls.txt 2>host.txt &
host=$!
while ! [ -e over ]; do sleep 0.1; done
kill $host $tcp
wait
"""
RECEIVER = """
trap 'touch over' EXIT
for _ in $(seq 200); do
    url=$(sed -n 's/^play  *https/https/p' urls.txt)
    [ "$url" ] && break
    sleep 0.1
done
"$MIMOSA" play "$url" --headless --seconds $((6 * STEP)) --report report.json 2>client.txt &
date +%s%N >began
sleep "$STEP"
timeout $((5 * STEP)) python3 -c "
import os, socket
heard = socket.create_connection((os.environ['MIMOSA_LINK_PEER'], 5201))
while heard.recv(1 << 20):
    pass
"
wait
"""


def study():
    """The suite's own module, which has the queues and the tables' numbers."""
    spec = importlib.util.spec_from_file_location(
        "make", ROOT / "lab" / "htb-l4s" / "make.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MAKE = study()


def link(queue: str) -> str:
    """The link of a real run: its classes know the game by its protocol."""
    text = MAKE.QUEUES[queue].replace(
        'flows = ["game"]', 'match = [{ protocol = "udp" }]'
    )
    return f'[link]\nrate = "50Mbit/s"\none_way_delay = "15ms"\n{text}'


def kept(name: str, compute: Callable[[Path], dict]) -> dict:
    """What `compute` gave in the folder of this name, unless the program is newer: then it is called."""
    folder = KEPT / name
    figures = folder / "figures.json"
    if not figures.exists() or figures.stat().st_mtime < MIMOSA.stat().st_mtime:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        figures.write_text(json.dumps(compute(folder)), encoding="utf-8")
    return json.loads(figures.read_text(encoding="utf-8"))


def measured(packets: polars.DataFrame, seconds: float) -> dict[str, float]:
    """The figures of one class's packets, in a recording of a link or of a simulation."""
    passed = packets.filter(polars.col("queue_delay_ns").is_not_null())
    waits = passed["queue_delay_ns"] / 1e6
    above = {
        f"above {ms}": 100 * float((waits > ms).mean()) for ms in (10, 20, 50, 100)
    }
    return {
        "mean": float(waits.mean()),
        "deviation": float(waits.std()),
        **above,
        "Mbit/s": float(passed["size_bytes"].sum()) * 8 / seconds / 1e6,
        "lost": 100 * (1 - len(passed) / len(packets)),
    }


def real(cell: str, step: int) -> dict:
    """What was measured of a cell on the real platform."""
    return kept(f"{cell}-{step}", lambda folder: play(cell, step, folder))


def play(cell: str, step: int, folder: Path) -> dict:
    """Runs a cell on the real platform, and gives what was measured."""
    queue, tcp, controller = cell.rsplit("-", 2)
    demo = folder / "demo.lmp"
    demo.write_bytes(lump(WAD.read_bytes(), DEMO))
    (folder / "path.toml").write_text(link(queue), encoding="utf-8")
    (folder / "sender.sh").write_text(SENDER, encoding="utf-8")
    (folder / "receiver.sh").write_text(RECEIVER, encoding="utf-8")
    words = ["link", "run", "path.toml", "--isolated", "--log", "log.parquet"]
    words += ["--summary", "end.json", "--peer", "sh sender.sh"]
    settings = {
        "MIMOSA": str(MIMOSA),
        "TOOLS": str(ROOT / "scripts"),
        "CONGESTION": tcp,
        "STEP": str(step),
        "RATES": " ".join(str(rate) for _, rate in MAKE.STEPS),
        "GAME": GAME.format(demo=demo),
        "CONTROLLER": controller,
        "PARAMS": CONTROLLERS[controller],
        "XDG_CONFIG_HOME": str(folder),
        "XDG_STATE_HOME": str(folder),
        "PATH": f"{os.environ['PATH']}:/usr/games",
    }
    done = subprocess.run(
        [MIMOSA, *words, "--", "sh", "receiver.sh"],
        cwd=folder,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise SystemExit(f"{cell}: {done.stdout}")
    log = folder / "log.parquet"
    zero = json.loads(polars.read_parquet_metadata(log)["link"])["begun_unix_ns"]
    began = int((folder / "began").read_text(encoding="utf-8")) - int(zero)
    offered, second = polars.col("offered_ns"), 10**9
    packets = polars.read_parquet(log).filter(
        polars.col("forward")
        & (offered >= began + 2 * step * second)
        & (offered < began + 6 * step * second)
    )
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    of = polars.col("protocol")
    return {
        "game": measured(packets.filter(of == UDP), 4 * step),
        "tcp": measured(packets.filter(of == TCP_NUMBER), 4 * step),
        "shown": report["frames"]["shown"] / (6 * step),
    }


def simulated(cell: str, step: int) -> dict:
    """What a cell gives in simulation: means over seeds."""
    return kept(f"{cell}-{step}-simulated", lambda folder: simulate(cell, step, folder))


def simulate(cell: str, step: int, folder: Path) -> dict:
    """Simulates a cell, and gives means over seeds."""
    queue, tcp, controller = cell.rsplit("-", 2)
    own = f'name = "game"\ncontroller = "{controller}"\n'
    if params := CONTROLLERS[controller]:
        own += f"params = {{ {params} }}\n"
    text = MAKE.scenario(queue, TCP[tcp], step).replace('name = "game"\n', own)
    text = text.replace(f'controller = "{TCP[tcp]}"', f'controller = "{tcp}"')
    (folder / "run.toml").write_text(text, encoding="utf-8")
    words = ["sim", "run.toml", "--seeds", f"1..{SEEDS}", "--packets", "p.parquet"]
    subprocess.run([MIMOSA, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    packets = polars.read_parquet(folder / "p.parquet").filter(
        polars.col("sent_ns") >= 2 * step * 10**9
    )
    (folder / "p.parquet").unlink()
    figures = {}
    for flow in ("game", "tcp"):
        of_flow = packets.filter(polars.col("flow") == flow)
        each = [measured(one, 4 * step) for one in of_flow.partition_by("seed")]
        figures[flow] = {
            key: statistics.mean(one[key] for one in each) for key in each[0]
        }
    return figures


def paper(queue: str, tcp: str) -> dict:
    """Table II's numbers, under the names of `measured`."""
    names = ["mean", "deviation", "above 10", "above 20", "above 50", "above 100"]
    names += ["Mbit/s", "first quartile", "median", "third quartile", "lost"]
    both = MAKE.PAPER[queue, TCP[tcp]]
    return {
        flow: dict(zip(names, row, strict=True))
        for flow, row in zip(("game", "tcp"), both, strict=True)
    }


def row(title: str, figures: dict) -> str:
    """A row of a table."""
    cells = [title]
    for flow in ("game", "tcp"):
        of = figures[flow]
        cells += [
            f"{of['mean']:.1f} ± {of['deviation']:.1f}",
            f"{of['above 10']:.1f}, {of['above 20']:.1f}, {of['above 50']:.1f}",
            f"{of['Mbit/s']:.1f}",
            f"{of['lost']:.2f}",
        ]
    cells.append(f"{figures['shown']:.0f}" if "shown" in figures else "-")
    return f"| {' | '.join(cells)} |"


def table(queue: str, tcp: str, step: int) -> str:
    """The rows of a queue beside a TCP: the paper, and each controller simulated and real."""
    parts = ["wait, ms", "above 10, 20, 50 ms, %", "Mbit/s", "lost, %"]
    heads = [f"game: {part}" for part in parts] + [f"TCP: {part}" for part in parts]
    heads.append("pictures a second")
    lines = [f"| | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    lines.append(row(f"the paper, SCReAM, {MAKE.TCP[TCP[tcp]]}", paper(queue, tcp)))
    for controller, name in (("scream", "SCReAM"), ("mimosa", "Mimosa")):
        cell = f"{queue}-{tcp}-{controller}"
        if not (KEPT / f"{cell}-{step}" / "figures.json").exists():
            continue
        lines.append(row(f"{name}, simulated", simulated(cell, step)))
        lines.append(row(f"{name}, real", real(cell, step)))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", type=int, default=10)
    parser.add_argument("cells", nargs="*")
    chosen = parser.parse_args()
    every = [f"{q}-{t}-{c}" for q in QUEUES for t in TCP for c in CONTROLLERS]
    if unknown := set(chosen.cells) - set(every):
        raise SystemExit(f"there is no cell {unknown}; there is {', '.join(every)}")
    for cell in chosen.cells or every:
        figures = real(cell, chosen.step)
        print(cell, json.dumps(figures), file=sys.stderr, flush=True)
    text = PAGE.read_text(encoding="utf-8")

    def again(match: re.Match[str]) -> str:
        head, name, _, end = match.groups()
        queue, tcp = name.rsplit("-", 1)
        return f"{head}\n{table(queue, tcp, chosen.step)}\n\n{end}"

    PAGE.write_text(TABLE.sub(again, text), encoding="utf-8")


if __name__ == "__main__":
    main()
