"""Keeps hosts busy for hours, and draws docs/figures/hours.svg and the table of docs/use/soak.md.

    sudo python3 scripts/hours.py [HOURS [SEED...]]   one hour, one host with seed 1
    python3 scripts/hours.py draw                     figure and table of what was measured last

Each seed has a host of its own; hosts run side by side. A host streams across an emulated link (`mimosa link`), in rounds of about a minute. In each round a player
and up to two viewers come, leave, are killed and fall asleep, the host itself sleeps, the link loses packets,
changes its rate and its delay and goes away, and the disk to which sessions are recorded fills up, all as the
seed says. Then the link heals, everybody leaves, and the host at rest is looked at: its memory, its open
files, its threads. Last, a player plays undisturbed for six seconds: what that player sees has to be as good as
in the first round. MIMOSA names the program; without it, target/play/mimosa. Needs root, for namespaces and a
small disk.
"""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from played import MIMOSA, ROOT, fill

PAGE = ROOT / "docs" / "use" / "soak.md"
FIGURE = ROOT / "docs" / "figures" / "hours.svg"
MEASURED = ROOT / "docs" / "figures" / "hours.json"
NETWORK = """[link]
rate = "20Mbit/s"
one_way_delay = "5ms"
queue = { kind = "droptail", limit = "100packets" }
"""
HEALED = ["--rate", "20Mbit/s", "--delay", "5ms", "--loss", "0"]
SERVE = "serve --bind 0.0.0.0 --http-port 7080 --size 320x180 --frames-per-second 30 --announce off --sound off"
# Seconds of faults in a round, and of the undisturbed play at its end.
STORM = 40
CALM = 6
# The host gives up a session that is silent for 15 s (crates/session/session).
SILENCE = 18
# Bytes of the disk for recordings: some rounds fill it.
DISK = "6m"


class Host:
    """The host under test, and the link around it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.link = f"hours{seed}"
        self.environment = {**os.environ, "MIMOSA": str(MIMOSA)}
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
            self.environment[name] = str(folder)
        (folder / "path.toml").write_text(NETWORK)
        self.disk = folder / "disk"
        self.disk.mkdir()
        run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", self.disk])
        run(
            [MIMOSA, "link", "up", self.link, "path.toml"],
            cwd=folder,
            env=self.environment,
        )
        log = (folder / "host.log").open("w")
        flags = [*SERVE.split(), "--record", str(self.disk)]
        self.program = self.begin(
            ["link", "exec", "sender", "--name", self.link, "--", MIMOSA, *flags],
            stdout=(folder / "urls.txt").open("w"),
            stderr=log,
        )
        self.pid = 0
        while not self.url("play"):
            time.sleep(0.1)
        self.pid = serving(self.disk)

    def begin(self, words: list, **streams: object) -> subprocess.Popen:
        """Starts `mimosa` with these arguments."""
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(
            [str(MIMOSA), *map(str, words)],
            cwd=self.folder,
            env=self.environment,
            **{**quiet, **streams},
        )

    def url(self, role: str) -> str:
        """The URL by which others reach the host in this role; empty until it is printed."""
        lines = (self.folder / "urls.txt").read_text().splitlines()
        urls = [line.split()[1] for line in lines if line.startswith(role)]
        return next((url for url in urls if "100.64" in url), "")

    def client(self, role: str, *flags: str) -> subprocess.Popen:
        """Starts a headless client at the other end of the link."""
        play = [MIMOSA, "play", self.url(role), "--headless", *flags]
        if role == "watch":
            play.append("--watch")
        words = ["link", "exec", "receiver", "--name", self.link, "--", *play]
        return self.begin(words, start_new_session=True)

    def set_link(self, *change: str) -> None:
        """Changes the link."""
        run([MIMOSA, "link", "set", self.link, *change], env=self.environment)

    def resting(self) -> dict[str, float]:
        """Memory in MB, open files and threads of the host."""
        place = Path("/proc") / str(self.pid)
        status = dict(
            line.split(":", 1) for line in (place / "status").read_text().splitlines()
        )
        return {
            "memory": int(status["VmRSS"].split()[0]) / 1000,
            "files": len(list((place / "fd").iterdir())),
            "threads": int(status["Threads"]),
        }

    def undisturbed(self) -> dict[str, float]:
        """What a player sees in some seconds without faults."""
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        self.client("play", "--seconds", str(CALM), "--report", str(report)).wait()
        seen = json.loads(report.read_text())
        return {
            "pictures": round(seen["frames"]["shown"] / CALM, 2),
            "total_p50": seen["stages"]["total"]["p50"],
            "interval_p99": round(seen["interval"]["p99"], 2),
        }

    def end(self) -> None:
        """Ends host and link."""
        if self.pid:
            os.kill(self.pid, signal.SIGTERM)
        self.program.wait()
        run([MIMOSA, "link", "down", self.link], env=self.environment)
        run(["umount", self.disk])


def run(words: list, **more: object) -> None:
    subprocess.run(
        [str(word) for word in words], check=True, capture_output=True, **more
    )


def serving(disk: Path) -> int:
    """The process of the host that records to this folder."""
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                words = (place / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            ours = words[:2] == [str(MIMOSA).encode(), b"serve"]
            if ours and str(disk).encode() in words:
                return int(place.name)
    raise RuntimeError("the host does not run")


def signalled(client: subprocess.Popen, what: signal.Signals) -> None:
    """Sends a signal to a client and to what started it."""
    if client.poll() is None:
        os.killpg(client.pid, what)


def storm(host: Host, draw: random.Random, counts: dict[str, int]) -> None:
    """Players, viewers and faults for some seconds; at the end nobody is left."""
    end = time.monotonic() + STORM
    clients: list[subprocess.Popen] = []
    waking: list[tuple[float, subprocess.Popen | int]] = []
    while time.monotonic() < end:
        clients = [client for client in clients if client.poll() is None]
        kind = draw.choice(
            ["player", "viewer", "leave", "kill", "sleep", "host sleeps", "loss"]
            + ["rate", "delay", "outage", "disk"]
        )
        counts[kind] = counts.get(kind, 0) + 1
        if kind == "player":
            clients.append(host.client("play"))
        elif kind == "viewer":
            clients.append(host.client("watch"))
        elif kind == "leave" and clients:
            signalled(draw.choice(clients), signal.SIGTERM)
        elif kind == "kill" and clients:
            signalled(draw.choice(clients), signal.SIGKILL)
        elif kind == "sleep" and clients:
            client = draw.choice(clients)
            signalled(client, signal.SIGSTOP)
            waking.append((time.monotonic() + draw.uniform(0.5, 20), client))
        elif kind == "host sleeps":
            os.kill(host.pid, signal.SIGSTOP)
            time.sleep(draw.uniform(0.2, 3))
            os.kill(host.pid, signal.SIGCONT)
        elif kind == "loss":
            host.set_link("--loss", f"{draw.uniform(0, 0.05):.3f}")
        elif kind == "rate":
            host.set_link("--rate", f"{draw.uniform(1, 20):.1f}Mbit/s")
        elif kind == "delay":
            host.set_link("--delay", f"{draw.uniform(1, 60):.0f}ms")
        elif kind == "outage":
            host.set_link("--rate", "0Mbit/s")
            time.sleep(draw.uniform(0.2, 5))
            host.set_link("--rate", "20Mbit/s")
        elif kind == "disk":
            full = host.disk / "full"
            if full.exists():
                for file in host.disk.iterdir():
                    file.unlink()
            else:
                subprocess.run(
                    ["dd", "if=/dev/zero", f"of={full}", "bs=1M"],
                    check=False,
                    capture_output=True,
                )
        for at, client in list(waking):
            if time.monotonic() >= at:
                signalled(client, signal.SIGCONT)
                waking.remove((at, client))
        time.sleep(draw.uniform(0.3, 2.5))
    host.set_link(*HEALED)
    for client in clients:
        signalled(client, signal.SIGKILL)
        client.wait()
    for file in host.disk.iterdir():
        file.unlink()


def measure(hours: float, seed: int) -> None:
    """Keeps the host of one seed busy, and writes down what was measured after each round."""
    folder = Path(tempfile.mkdtemp(prefix="mimosa-hours-"))
    host = Host(folder, seed)
    draw = random.Random(seed)
    begun = time.monotonic()
    rounds: list[dict[str, float]] = []
    counts: dict[str, int] = {}
    try:
        while time.monotonic() - begun < hours * 3600:
            storm(host, draw, counts)
            time.sleep(SILENCE)
            if host.program.poll() is not None:
                raise RuntimeError(f"the host has ended: {folder / 'host.log'}")
            hours_in = round((time.monotonic() - begun) / 3600, 4)
            row = {"hours": hours_in, **host.resting()}
            row |= host.undisturbed()
            rounds.append(row)
            print(json.dumps({"seed": seed, **row}), flush=True)
            logged = errors((folder / "host.log").read_text())
            keep({"seed": seed, "faults": counts, "errors": logged, "rounds": rounds})
    finally:
        host.end()
    shutil.rmtree(folder)


# What each host has measured, by seed; hosts are measured by a thread each.
HOSTS: dict[int, dict] = {}
KEEPING = threading.Lock()


def keep(measured: dict) -> None:
    """Writes down what the hosts have measured so far."""
    with KEEPING:
        HOSTS[measured["seed"]] = measured
        hosts = [HOSTS[seed] for seed in sorted(HOSTS)]
        text = json.dumps(hosts, indent=1)
        # A round on each line.
        rows = re.sub(r"\{[^{}]*\}", lambda row: " ".join(row.group().split()), text)
        MEASURED.write_text(rows + "\n")


def errors(log: str) -> dict[str, int]:
    """How often the host has logged each error."""
    found = re.findall(r"(?:ERROR |panicked).*", log)
    # What follows the words of a message is its `name=value`.
    return dict(Counter(re.sub(r" \w+=.*", "", line) for line in found))


# What is drawn: title, unit and colour of each curve.
CURVES = {
    "memory": ("memory at rest", "MB", "#1f77b4"),
    "files": ("open files at rest", "", "#2ca02c"),
    "threads": ("threads at rest", "", "#9467bd"),
    "total_p50": ("capture to screen, p50", "ms", "#d62728"),
}
WIDTH, PANEL, LEFT, RIGHT, GAP = 820, 110, 64, 16, 34


def panel(name: str, hosts: list[list[dict]], top: int) -> list[str]:
    """A curve for each host over the hours, on an axis that begins at zero."""
    title, unit, colour = CURVES[name]
    hosts = [known(rounds, name) for rounds in hosts]
    most = max(row[name] for rounds in hosts for row in rounds) * 1.15
    last = max(rounds[-1]["hours"] for rounds in hosts)
    across = WIDTH - LEFT - RIGHT
    bottom = top + PANEL
    parts = [
        f'<text x="{LEFT}" y="{top - 8}" font-weight="bold">{title}</text>',
        f'<path d="M{LEFT} {top}V{bottom}H{WIDTH - RIGHT}" fill="none" stroke="#999999"/>',
        f'<text x="{LEFT - 6}" y="{top + 10}" text-anchor="end">{most:.0f} {unit}</text>',
        f'<text x="{LEFT - 6}" y="{bottom}" text-anchor="end">0</text>',
        f'<text x="{WIDTH - RIGHT}" y="{bottom + 14}" text-anchor="end">{last:.1f} h</text>',
    ]
    for rounds in hosts:
        points = [
            f"{LEFT + across * row['hours'] / last:.1f} {top + PANEL * (1 - row[name] / most):.1f}"
            for row in rounds
        ]
        parts.append(
            f'<path d="M{"L".join(points)}" fill="none" stroke="{colour}" '
            f'stroke-width="1.2" stroke-opacity="{1 if len(hosts) == 1 else 0.6}"/>'
        )
    return parts


def known(rounds: list[dict], name: str) -> list[dict]:
    """The rounds that have this figure: few pictures have no latency."""
    return [row for row in rounds if row[name] is not None]


def slope(rounds: list[dict], name: str) -> float:
    """How much a figure grows in an hour: least squares over all but the first quarter."""
    rounds = known(rounds, name)
    late = rounds[len(rounds) // 4 :]
    mean = sum(row["hours"] for row in late) / len(late)
    level = sum(row[name] for row in late) / len(late)
    spread = sum((row["hours"] - mean) ** 2 for row in late)
    both = sum((row["hours"] - mean) * (row[name] - level) for row in late)
    return both / spread if spread else 0.0


def summed(hosts: list[dict], name: str) -> Counter:
    """Counts of all hosts together."""
    return sum((Counter(host[name]) for host in hosts), Counter())


def draw_all() -> None:
    measured = json.loads(MEASURED.read_text())
    hosts = [host["rounds"] for host in measured]
    parts = []
    for index, name in enumerate(CURVES):
        parts += panel(name, hosts, GAP + index * (PANEL + GAP + 8))
    height = GAP + len(CURVES) * (PANEL + GAP + 8)
    FIGURE.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'font-family="sans-serif" font-size="12">'
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
        + "".join(parts)
        + "</svg>\n"
    )
    faults, logged = summed(measured, "faults"), summed(measured, "errors")
    hours = [rounds[-1]["hours"] for rounds in hosts]
    seeds = ", ".join(str(host["seed"]) for host in measured)
    if len(hosts) == 1:
        who = f"One host with the seed {seeds} for {hours[0]:.1f} hours"
    else:
        who = (
            f"{len(hosts)} hosts with the seeds {seeds}, side by side for {min(hours):.1f} hours, "
            f"{sum(hours):.1f} hours in all"
        )
    lines = [
        f"{who}: {sum(map(len, hosts))} rounds and {sum(faults.values())} events: "
        + ", ".join(f"{name} {count}" for name, count in faults.items())
        + ". Errors in the logs: "
        + (", ".join(f"`{what}` {count}" for what, count in logged.items()) or "none")
        + ".",
        "",
        "| figure | first rounds | least | most | last rounds | growth in an hour, by host |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    named = {name: (title, unit) for name, (title, unit, _) in CURVES.items()}
    named |= {
        "pictures": ("pictures a second, of 30", ""),
        "interval_p99": ("time between pictures, p99", "ms"),
    }
    for name, (title, unit) in named.items():
        values = [[row[name] for row in known(rounds, name)] for rounds in hosts]
        digits = 0 if name in ("files", "threads") else 1
        first, last = (sum(v[i] for v in values) / len(values) for i in (0, -1))
        cells = [first, min(map(min, values)), max(map(max, values)), last]
        shown = " | ".join(f"{value:.{digits}f}" for value in cells)
        grows = sorted(slope(rounds, name) for rounds in hosts)
        growth = f"{grows[0]:+.2f}" + (
            f" to {grows[-1]:+.2f}" if len(grows) > 1 else ""
        )
        head = f"{title}, {unit}" if unit else title
        lines.append(f"| {head} | {shown} | {growth} |")
    fill(PAGE, "hours", lines)


def main(words: list[str]) -> None:
    if words != ["draw"]:
        hours, seeds = float((words or ["1"])[0]), [int(seed) for seed in words[1:]]
        busy = [
            threading.Thread(target=measure, args=(hours, seed))
            for seed in seeds or [1]
        ]
        for thread in busy:
            thread.start()
        for thread in busy:
            thread.join()
    draw_all()


if __name__ == "__main__":
    main(sys.argv[1:])
