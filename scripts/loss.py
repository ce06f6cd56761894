"""Fills the table of docs/loss.md that was measured over the real programs.

python3 scripts/loss.py

A host and a headless native client at the two ends of a link that loses packets, for each way
of keeping frames whole. MIMOSA names the program; without it, target/play/mimosa. Needs the
rights to make network namespaces. Times are this machine's: run it when nothing else runs.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MIMOSA = Path(os.environ.get("MIMOSA", ROOT / "target" / "play" / "mimosa")).absolute()
PAGE = ROOT / "docs" / "loss.md"
SECONDS = 20
ROUND_TRIPS = (20, 60)
LOSSES = (1, 5)
WAYS = ("retransmission", "fec", "joint")

NETWORK = """
[link]
rate = "20Mbit/s"
one_way_delay = "{delay}ms"
loss = {loss}
queue = {{ kind = "droptail", limit = "500kB" }}
"""
SERVE = """
"$MIMOSA" serve --bind "$MIMOSA_LINK_ADDRESS" --http-port 7080 --udp-port 7081 \\
    --token a-token-for-the-table --protection "$1" --sound off 2>serve.txt &
while ! [ -e over ]; do sleep 0.1; done
kill $!
wait
"""
PLAY = f"""
trap 'touch over' EXIT
sleep 2
"$MIMOSA" play "http://$MIMOSA_LINK_PEER:7080/#token=a-token-for-the-table" \\
    --headless --report report.json --seconds {SECONDS}
"""


def play(round_trip: int, loss: int, way: str) -> dict:
    """What the client reports of one run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        network = NETWORK.format(delay=round_trip / 2, loss=loss / 100)
        (folder / "path.toml").write_text(network)
        (folder / "serve.sh").write_text(SERVE)
        (folder / "play.sh").write_text(PLAY)
        words = [MIMOSA, "link", "run", "path.toml", "--isolated"]
        words += ["--peer", f"sh serve.sh {way}", "--", "sh", "play.sh"]
        environment = {
            **os.environ,
            "MIMOSA": str(MIMOSA),
            "XDG_CONFIG_HOME": str(folder),
        }
        subprocess.run(
            words, cwd=folder, env=environment, check=True, capture_output=True
        )
        return json.loads((folder / "report.json").read_text())


def row(round_trip: int, loss: int, way: str) -> str:
    """A line of the table."""
    report = play(round_trip, loss, way)
    frames, packets, late = report["frames"], report["packets"], report["lateness"]
    whole = frames["whole"] + frames["passed"]
    share = 100 * packets["lost"] / (packets["video"] + packets["lost"])
    over = [100 * late[f"over_{limit}_ms"] for limit in (33, 50, 100)]
    repair = 100 * packets["repair"] / packets["video"]
    again = 100 * packets["repeated"] / packets["video"]
    return (
        f"| {round_trip} ms | {loss} % | {way} | {whole} | {share:.1f} "
        f"| {100 * frames['passed'] / whole:.2f} | {late['p50']:.0f}, {late['p99']:.0f} "
        f"| {over[0]:.1f}, {over[1]:.1f}, {over[2]:.1f} | {repair:.1f} | {again:.1f} |"
    )


def main() -> None:
    """Runs all, and writes the page."""
    columns = "frames | packets lost, % | done without, % | later by, ms, p50, p99 "
    lines = [
        f"| round trip | loss | `protection` | {columns}"
        + "| over 33, 50, 100 ms, % | repair, % | again, % |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for round_trip in ROUND_TRIPS:
        for loss in LOSSES:
            for way in WAYS:
                lines.append(row(round_trip, loss, way))
                print(lines[-1], flush=True)
    text = PAGE.read_text()
    begin, end = "<!-- real programs -->", "<!-- end real programs -->"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    table = "\n".join(lines)
    PAGE.write_text(f"{before}{begin}\n\n{table}\n\n{end}{after}")


if __name__ == "__main__":
    main()
