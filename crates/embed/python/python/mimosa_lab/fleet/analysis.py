"""Means with intervals, distributions over sessions, and the page.

Intervals are of 95 %, by a bootstrap that draws users, not sessions: sessions of one user are alike. A
mean over sessions is weighted by their frames for delays and stalls, and by their length for bitrates
and frame rates, so that it is the mean over all frames, or over all time. What the model of engagement
says counts once for each session.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import polars

from .engagement import Engagement
from .study import METRICS, MODELLED, Study

#: Colours of the arms, apart for all kinds of sight (Okabe and Ito).
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]


def estimates(study: Study, rows: polars.DataFrame) -> list[dict]:
    """For each population, arm and metric: mean, interval, and the ratio to the baseline with its own."""
    return _estimates(study, modelled(study, rows))


def _estimates(study: Study, rows: polars.DataFrame) -> list[dict]:
    """The estimates of rows that have the model's columns."""
    users = np.sort(rows["user"].unique().to_numpy())
    random = np.random.default_rng(study.seed)
    # How often each user is drawn, in each resample; the first is the sample itself.
    drawn = random.multinomial(
        len(users), np.full(len(users), 1 / len(users)), study.resamples
    )
    drawn = np.vstack([np.ones(len(users)), drawn])
    found = []
    names = [None, *(population.name for population in study.populations)]
    for population in names:
        chosen = (
            rows
            if population is None
            else rows.filter(polars.col("population") == population)
        )
        means = {
            arm.name: _means(
                study, chosen.filter(polars.col("arm") == arm.name), users, drawn
            )
            for arm in study.arms
        }
        for arm, by_metric in means.items():
            for metric, values in by_metric.items():
                with np.errstate(divide="ignore", invalid="ignore"):
                    ratio = values / means[study.baseline][metric]
                sessions = chosen.filter(polars.col("arm") == arm)
                found.append(
                    {
                        "population": population,
                        "arm": arm,
                        "metric": metric,
                        "sessions": len(sessions),
                        "mean": float(values[0]),
                        "interval": _interval(values),
                        "ratio": float(ratio[0]),
                        "ratio_interval": _interval(ratio),
                    }
                )
    return found


def modelled(study: Study, rows: polars.DataFrame) -> polars.DataFrame:
    """The rows with the columns of the model of engagement, where the study wants them."""
    if study.engagement is None:
        return rows
    stall, delay, bitrate = (
        rows[name].cast(float).to_numpy()
        for name in ("stall_100ms", "frame_delay_mean_ms", "bitrate_mbps")
    )
    return rows.with_columns(
        modelled_play_time=study.engagement.play_time(stall, delay, bitrate),
        modelled_complaints=study.engagement.complaints(stall),
    )


def _means(
    study: Study, rows: polars.DataFrame, users: np.ndarray, drawn: np.ndarray
) -> dict:
    """The mean of each metric in each resample."""
    place = np.searchsorted(users, rows["user"].to_numpy())
    found = {}
    for metric in study.columns:
        weight = np.ones(len(rows))
        if metric in METRICS:
            over = "seconds" if metric.endswith(("mbps", "fps")) else "frames"
            weight = rows[over].to_numpy().astype(float)
        value = rows[metric].cast(float).to_numpy()
        is_there = ~np.isnan(value)
        sums, weights = np.zeros(len(users)), np.zeros(len(users))
        np.add.at(sums, place[is_there], (value * weight)[is_there])
        np.add.at(weights, place[is_there], weight[is_there])
        with np.errstate(divide="ignore", invalid="ignore"):
            found[metric] = (drawn @ sums) / (drawn @ weights)
    return found


def _interval(values: np.ndarray) -> list[float]:
    values = values[1:][np.isfinite(values[1:])]
    if not len(values):
        return [float("nan"), float("nan")]
    return [float(edge) for edge in np.quantile(values, [0.025, 0.975])]


def write(study: Study, rows: polars.DataFrame, out: Path) -> Path:
    """Write `results.json`, `page.md` and the distributions into `out`; the path of the page."""
    rows = modelled(study, rows)
    found = _estimates(study, rows)
    text = json.dumps(found, indent=1).replace("NaN", "null")
    (out / "results.json").write_text(text + "\n", encoding="utf-8")
    hours, core = rows["seconds"].sum() / 3600, rows["cpu_seconds"].sum() / 3600
    design = (
        "every session in every arm"
        if study.is_paired
        else "each session in one arm at random"
    )
    lines = [
        f"# {study.title}",
        "",
        (
            f"{rows['session'].n_unique()} sessions of {rows['user'].n_unique()} users, {hours:.1f} hours of"
            f" play, {design}. Intervals are of 95 %, by {study.resamples} bootstrap samples of users; ratios are"
            f" to `{study.baseline}`, over the same samples. The analysis is part of the study"
            f" (SHA-256 {study.digest[:16]}), which was kept before the first session."
        ),
        "",
        f"The simulations took {core:.2f} hours of one core: {hours / core:.0f} times real time.",
    ]
    if study.engagement is not None:
        lines += ["", _about(study.engagement)]
    for population in [None, *(population.name for population in study.populations)]:
        lines += ["", f"## {population or 'All users'}", ""]
        lines += ["| arm | sessions | " + " | ".join(study.columns) + " |"]
        lines += ["|---|---|" + "---|" * len(study.columns)]
        for arm in study.arms:
            cells = [
                one
                for one in found
                if (one["population"], one["arm"]) == (population, arm.name)
            ]
            texts = [
                f"{_short(one['mean'])} ({_short(one['interval'][0])} to {_short(one['interval'][1])})"
                + ("" if arm.name == study.baseline else f"; × {_short(one['ratio'])}")
                for one in cells
            ]
            lines.append(
                f"| {arm.name} | {cells[0]['sessions']} | {' | '.join(texts)} |"
            )
        for metric in study.columns:
            name = f"cdf-{(population or 'all').lower().replace(' ', '-')}-{metric}.svg"
            drawing = _distribution(study, rows, population, metric)
            (out / name).write_text(drawing, encoding="utf-8")
            lines += ["", f"![{metric} over sessions]({name})"]
    page = out / "page.md"
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return page


def _about(engagement: Engagement) -> str:
    """What the model's columns are, and with which parameters."""
    parameters = ", ".join(
        f"`{name}` {value:g}" for name, value in asdict(engagement).items()
    )
    return (
        "`modelled_play_time` and `modelled_complaints` are what a model with the shape of Pudica's Fig. 2 makes of"
        " each session's stall rate, mean frame delay and bitrate. They are no measurement: no user played, most"
        " of the parameters are assumptions, and intervals contain no doubt about them. The playing time is a share"
        " of that without stalls and delay at the full bitrate; complaints are a multiple of those in sessions with"
        f" few stalls. Parameters: {parameters}."
    )


def _short(value: float) -> str:
    return f"{value:.3g}"


def _distribution(
    study: Study, rows: polars.DataFrame, population: str | None, metric: str
) -> str:
    """The share of sessions below each value, a line for each arm."""
    if population is not None:
        rows = rows.filter(polars.col("population") == population)
    arms = {
        arm.name: np.sort(
            rows.filter(polars.col("arm") == arm.name)[metric]
            .drop_nulls()
            .cast(float)
            .to_numpy()
        )
        for arm in study.arms
    }
    most = max(
        (np.quantile(values, 0.99) for values in arms.values() if len(values)),
        default=1.0,
    )
    most = most or 1.0
    width, height, left, top = 560, 300, 56, 16
    across, down = width - left - 130, height - top - 44
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'font-family="sans-serif" font-size="12">'
        ),
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = top + down * (1 - share)
        parts.append(f'<path d="M{left} {y:.1f}h{across}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{share:.0%}</text>'
        )
        x = left + across * share
        label = _short(most * share)
        parts.append(
            f'<text x="{x:.1f}" y="{top + down + 18}" text-anchor="middle">{label}</text>'
        )
    better = {**METRICS, **MODELLED}[metric]
    parts.append(
        f'<text x="{left + across / 2}" y="{height - 8}" text-anchor="middle">'
        f"{metric} of a session ({better} is better)</text>"
    )
    for number, (arm, values) in enumerate(arms.items()):
        colour = COLOURS[number % len(COLOURS)]
        if len(values):
            shares = np.linspace(0, 1, min(len(values), 200) + 1)[1:]
            at = np.quantile(values, shares, method="higher")
            points = " ".join(
                f"{left + across * min(value / most, 1):.1f},{top + down * (1 - share):.1f}"
                for value, share in zip(at, shares, strict=True)
            )
            parts.append(
                f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.8"/>'
            )
        y = top + 14 + 18 * number
        parts.append(
            f'<path d="M{left + across + 10} {y - 4}h16" stroke="{colour}" stroke-width="3"/>'
        )
        parts.append(f'<text x="{left + across + 32}" y="{y}">{arm}</text>')
    return "\n".join([*parts, "</svg>", ""])
