"""Repeats the study of HTB and L4S on the real platform, and fills docs/results/study.md.

    .venv/bin/python scripts/study.py [--step SECONDS] [QUEUE-TCP-CONTROLLER]...

A host that streams dsda-doom's demos, the native client with ECN, `mimosa link` with the study's queues, and the kernel's
TCP, whose application writes 10 to 45 Mbit/s, more each step: section IV of P. Graff et al., "Improving Cloud Gaming
traffic QoS". The study's steps last a minute; here they last STEP seconds, and the simulations beside them as long.
What counts is, as there, all from the third step on. What was run stays in target/study, and is not run again. Without
cells as arguments, all are run; the page shows those that are there. As root: the link makes network namespaces.
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
# The longest demo of Freedoom: three minutes through a level with monsters.
WAD, DEMO = Path("/usr/share/games/doom/freedoom1.wad"), "DEMO4"
# What the TCP application writes from each step on, in Mbit/s, beginning with the second.
WRITES = [10, 20, 30, 40, 45]
GAME = (
    "dsda-doom -iwad freedoom1.wad -geom 640x360w -vidmode sw -nomusic -nosound -playdemo {demo} "
    "-assign uncapped_framerate=1 dsda_fps_limit=60 render_vsync=0"
)
SENDER = """
python3 "$TOOLS/study_tcp.py" "$CONGESTION" "$STEP" &
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
SIMULATED = """duration = "{seconds}s"

[link]
rate = "50Mbit/s"
one_way_delay = "15ms"
{queue}
[[flow]]
name = "game"
controller = "{controller}"
{params}max_bitrate = "30Mbit/s"
frame_noise = 0.1
ecn = "auto"

[[flow]]
name = "tcp"
kind = "tcp"
controller = "{tcp}"
start = "{step}s"
steps = [{steps}]
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


def measured(packets: polars.DataFrame, seconds: float) -> dict[str, float]:
    """The figures of one class: packets with `wait` in ms, null where the queue dropped them, and `size`."""
    passed = packets.filter(polars.col("wait").is_not_null())
    waits = passed["wait"]
    above = {
        f"above {ms}": 100 * float((waits > ms).mean()) for ms in (10, 20, 50, 100)
    }
    return {
        "mean": float(waits.mean()),
        "deviation": float(waits.std()),
        **above,
        "Mbit/s": float(passed["size"].sum()) * 8 / seconds / 1e6,
        "lost": 100 * (1 - len(passed) / len(packets)),
    }


def real(cell: str, step: int) -> dict:
    """Runs a cell on the real platform, and gives what was measured."""
    queue, tcp, controller = cell.rsplit("-", 2)
    folder = KEPT / f"{cell}-{step}"
    kept = folder / "figures.json"
    if kept.exists():
        return json.loads(kept.read_text(encoding="utf-8"))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
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
    figures = of_log(folder, step)
    kept.write_text(json.dumps(figures), encoding="utf-8")
    return figures


def of_log(folder: Path, step: int) -> dict:
    """The figures of a link's recording."""
    log = folder / "log.parquet"
    about = polars.read_parquet_metadata(log)
    zero = int(json.loads(about["link"])["begun_unix_ns"])
    began = int((folder / "began").read_text(encoding="utf-8"))
    begin = began - zero + 2 * step * 10**9
    end = began - zero + 6 * step * 10**9
    offered = polars.col("offered_ns")
    packets = polars.read_parquet(log).filter(
        polars.col("forward") & (offered >= begin) & (offered < end)
    )
    packets = packets.with_columns(
        wait=polars.col("queue_delay_ns") / 1e6, size=polars.col("size_bytes")
    )
    late = json.loads((folder / "end.json").read_text(encoding="utf-8"))["ways"][0]
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return {
        "game": measured(packets.filter(polars.col("protocol") == 17), 4 * step),
        "tcp": measured(packets.filter(polars.col("protocol") == 6), 4 * step),
        "late_us": late["late_us"],
        "shown": report["frames"]["shown"] / (6 * step),
    }


def simulated(cell: str, step: int) -> dict:
    """The same in simulation: means over seeds."""
    queue, tcp, controller = cell.rsplit("-", 2)
    folder = KEPT / f"{cell}-{step}-simulated"
    kept = folder / "figures.json"
    if kept.exists():
        return json.loads(kept.read_text(encoding="utf-8"))
    folder.mkdir(parents=True, exist_ok=True)
    times = [0, *range(2 * step, 6 * step, step)]
    steps = ", ".join(
        f'{{ at = "{at}s", rate = "{rate}Mbit/s" }}'
        for at, rate in zip(times, WRITES, strict=True)
    )
    params = CONTROLLERS[controller]
    text = SIMULATED.format(
        seconds=6 * step,
        step=step,
        queue=MAKE.QUEUES[queue],
        controller=controller,
        params=f"params = {{ {params} }}\n" if params else "",
        tcp=tcp,
        steps=steps,
    )
    (folder / "run.toml").write_text(text, encoding="utf-8")
    words = ["sim", "run.toml", "--seeds", f"1..{SEEDS}", "--packets", "p.parquet"]
    subprocess.run([MIMOSA, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    packets = polars.read_parquet(folder / "p.parquet").filter(
        polars.col("sent_ns") >= 2 * step * 10**9
    )
    packets = packets.with_columns(
        wait=polars.col("queue_delay_ns") / 1e6, size=polars.col("size_bytes")
    )
    (folder / "p.parquet").unlink()
    figures = {}
    for flow in ("game", "tcp"):
        each = [
            measured(
                packets.filter(
                    (polars.col("flow") == flow) & (polars.col("seed") == s)
                ),
                4 * step,
            )
            for s in range(1, SEEDS + 1)
        ]
        figures[flow] = {
            key: statistics.mean(one[key] for one in each) for key in each[0]
        }
    kept.write_text(json.dumps(figures), encoding="utf-8")
    return figures


def paper(queue: str, tcp: str) -> dict:
    """Table II's numbers, under the names of `measured`."""
    names = ["mean", "deviation", "above 10", "above 20", "above 50", "above 100"]
    places = [0, 1, 2, 3, 4, 5]
    both = MAKE.PAPER[queue, TCP[tcp]]
    return {
        flow: {
            **{name: row[at] for name, at in zip(names, places, strict=True)},
            "Mbit/s": row[6],
            "lost": row[10],
        }
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
