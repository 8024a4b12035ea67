"""Draws the README's figure from the GPU's record: which part of the floor each row reaches.

The floor is that of ceilings.py. `--check` compares the numbers that the picture carries in words
(figure_points.py) with the record's, without matplotlib, of which another release may draw a
little differently.

    python benchmarks/figure.py [--check]

Needs matplotlib to draw (the extra `figures`).
"""

from __future__ import annotations

import argparse
import html
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from figure_points import description_of, points_of
from record import read_record

RECORD = "gpu"
FIGURE = Path(__file__).resolve().parents[1] / "docs" / "fraction_of_floor.svg"
DESCRIPTION = re.compile(r"<dc:description>(.*?)</dc:description>", re.DOTALL)


def is_up_to_date(path: Path, description: str) -> bool:
    """Whether the picture is of these numbers."""
    found = DESCRIPTION.search(path.read_text()) if path.exists() else None
    return found is not None and html.unescape(found[1]) == description


def main(argv: Sequence[str] | None = None) -> None:
    """Draws the figure, or checks that it is of the record's numbers."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args(argv)
    record = read_record(RECORD)
    if record is None:
        sys.exit(f"there is no record '{RECORD}'")
    rows, facts = record
    points = points_of(rows)
    description = description_of(points, facts["device"])
    if not arguments.check:
        from figure_drawing import draw  # only this needs matplotlib

        draw(points, f"one {facts['device']}, torch {facts['torch']}", description, FIGURE)
    elif not is_up_to_date(FIGURE, description):
        sys.exit(f"docs/{FIGURE.name} is not what the record says: run benchmarks/figure.py")


if __name__ == "__main__":
    main()
