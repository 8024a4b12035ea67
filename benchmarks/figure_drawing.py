"""How the figure is drawn: for each row torch's dot, the tuned one, and a line between them.

Nothing in the file depends on the day, on chance or on settings of whoever draws, so that
drawing the same numbers again changes nothing. Text stays text, which keeps the file small.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import matplotlib
from figure_points import Point
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

SETTINGS = {"svg.hashsalt": "tunedops", "svg.fonttype": "none", "font.size": 9}
INCHES = (10, 4)
GAP = 2  # between families, in rows
DEFAULT_COLOR = "#767676"
TUNED_COLOR = "#0b62a8"


def draw(points: Sequence[Point], title: str, description: str, path: Path) -> None:
    """Writes the figure of these points."""
    with matplotlib.rc_context(dict(matplotlib.rcParamsDefault) | SETTINGS):
        figure = Figure(figsize=INCHES, layout="constrained")
        plot(figure.subplots(), points, title)
        metadata = {"Date": None, "Creator": None, "Description": description}
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata=metadata)


def plot(axes: Axes, points: Sequence[Point], title: str) -> None:
    """Puts the points and the families' names into the axes."""
    begin = 0
    places: list[int] = []
    centers: dict[str, float] = {}
    for family, members in groupby(points, key=lambda point: point.family):
        count = len(list(members))
        places += range(begin, begin + count)
        centers[family] = begin + (count - 1) / 2
        begin += count + GAP
    default = [point.default for point in points]
    tuned = [point.tuned for point in points]
    axes.vlines(places, default, tuned, color=TUNED_COLOR, linewidth=1)
    axes.scatter(
        places, default, s=14, facecolor="white", edgecolor=DEFAULT_COLOR, label="torch", zorder=2
    )
    axes.scatter(places, tuned, s=14, color=TUNED_COLOR, label="tuned", zorder=3)
    axes.axhline(1, color="black", linewidth=0.8, linestyle=":")
    axes.set_xticks(list(centers.values()), list(centers), rotation=20)
    axes.set_xlim(-GAP, begin)
    axes.set_ylim(0, 1.1 * max(1, *default, *tuned))
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    axes.set_ylabel("part of the floor")
    axes.set_title(title)
    axes.grid(axis="y", linewidth=0.3)
    axes.legend(loc="upper left", ncols=2)
