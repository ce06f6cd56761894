"""Fills the table of docs/how-it-works/loss.md that was measured over the real programs.

python3 scripts/loss.py

The demo from a host to a headless native client, over a link that loses packets, for each way
of keeping frames whole. MIMOSA names the program; without it, target/play/mimosa. Times are
this machine's: run it when nothing else runs.
"""

from played import ROOT, fill, play

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


def row(round_trip: int, loss: int, way: str) -> str:
    """A line of the table."""
    network = NETWORK.format(delay=round_trip / 2, loss=loss / 100)
    report = play(network, ["--protection", way], SECONDS)
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
    fill(ROOT / "docs" / "how-it-works" / "loss.md", "real programs", lines)


if __name__ == "__main__":
    main()
