"""Draws docs/figures/sound-skew.svg and fills the table of docs/how-it-works/sound.md.

python3 scripts/sound_figure.py

From what `npm --prefix web run measure:sound` has written to out/e2e as sound-loss-NAME.json:
by itself, with NAME=small FLAGS="--size 640x360", and with PLAYER=browser. Draws the second.
"""

import json

from played import ROOT, fill

MEASURED = ROOT / "out" / "e2e"
NAMES_OF_RUNS = {
    "page": "the page, 1280x720",
    "small": "the page, 640x360",
    "browser": "the browser, 1280x720",
}
DRAWN = "small"
FIGURE = ROOT / "docs" / "figures" / "sound-skew.svg"
WIDTH, HEIGHT = 820, 280
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 34, 40
MOST = 100
CURVES = {"skew": "#1f77b4", "jitter_buffer": "#9a9a9a"}
NAMES = {"skew": "skew", "jitter_buffer": "of it the wait for its turn"}
AIM = 40


def place(rows: list[dict]) -> tuple:
    """What makes points of seconds and milliseconds."""
    last = rows[-1]["at"]
    across, down = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(at: float) -> float:
        return LEFT + across * at / last

    def y(value: float) -> float:
        return TOP + down * (1 - min(max(value, 0), MOST) / MOST)

    return x, y, last


def draw(rows: list[dict]) -> str:
    """The figure."""
    x, y, last = place(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        + 'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for value in range(0, MOST + 1, 20):
        height = y(value)
        parts.append(
            f'<path d="M{LEFT} {height:.1f}H{WIDTH - RIGHT}" stroke="#dddddd"/>'
            f'<text x="{LEFT - 8}" y="{height + 4:.1f}" text-anchor="end">{value}</text>'
        )
    step = 60 if last > 180 else 10
    for second in range(0, int(last) + 1, step):
        parts.append(
            f'<text x="{x(second):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
            f"{second}</text>"
        )
    parts.append(
        f'<path d="M{LEFT} {y(AIM):.1f}H{WIDTH - RIGHT}" stroke="#d62728" '
        'stroke-dasharray="6 4"/>'
    )
    for number, (key, colour) in enumerate(reversed(CURVES.items())):
        points = [(row["at"], row[key]) for row in rows if row.get(key) is not None]
        if not points:
            continue
        line = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in points)
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
            f'<text x="{LEFT + 8 + 90 * (1 - number)}" y="20" fill="{colour}">'
            f"{NAMES[key]}</text>"
        )
    parts.append(
        f'<text x="{WIDTH - RIGHT}" y="20" text-anchor="end" fill="#d62728">aim</text>'
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 8}" text-anchor="end">seconds</text>'
        f'<text x="8" y="20">ms</text>'
    )
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    """Draws, and fills."""
    lines = [
        "| played by, and the picture | | lost | gaps | made up | stretched | seconds with any | without a stop | stops of a core | longest | skew, median | at most | under 40 ms |",
        "| --- | --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for name, what in NAMES_OF_RUNS.items():
        measured = json.loads((MEASURED / f"sound-loss-{name}.json").read_text())
        rows = measured["rows"]
        if name == DRAWN:
            FIGURE.write_text(draw(rows))
        skews = sorted(abs(row["skew"]) for row in rows if row["skew"] is not None)
        under = 100 * sum(skew < AIM for skew in skews) / len(skews)
        lines.append(
            f"| {what} | {measured['seconds']} s at {100 * measured['loss']:g} % "
            f"| {measured['packets_lost']} | {measured['gaps']} | {measured['made_up_ms']:.0f} ms "
            f"| {measured['stretched_ms']:.0f} ms | {measured['heard']} "
            f"| {measured['heard_without_a_stop']} | {measured['stops']} "
            f"| {measured['longest_stop_ms']:.0f} ms | {skews[len(skews) // 2]:.0f} ms "
            f"| {skews[-1]:.0f} ms | {under:.1f} % of the time |"
        )
    fill(ROOT / "docs" / "how-it-works" / "sound.md", "measured", lines)


if __name__ == "__main__":
    main()
